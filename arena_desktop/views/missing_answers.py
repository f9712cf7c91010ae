"""Over the leaderboard of an ended run: models without a place because answers are missing, and a way on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena_desktop.cells import Tone
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.wording import ask_again as words
from engine.domain import RunStatus
from engine.stats.board import EntryStatus

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.views.result_parts import ResultFacts

KEY = "missing"
_WITHOUT_PLACE = frozenset({EntryStatus.INCOMPLETE, EntryStatus.NO_DATA})


def missing_message(context: AppContext, facts: ResultFacts) -> Message | None:
    """What is missing in a run that got to its end; None where nothing is or nobody could be asked."""
    board, info = facts.result.board, facts.info
    if board is None or facts.result.live or info.status is not RunStatus.COMPLETED:
        return None
    skipped = {skip.model_key for skip in facts.result.stored.skipped}
    short = [
        entry
        for entry in board.entries
        if entry.status in _WITHOUT_PLACE
        and entry.answered < entry.planned
        and entry.model_key not in skipped
    ]
    if not short:
        return None
    missing = info.planned - info.completed
    first = words.too_few([entry.label for entry in short])
    buttons: tuple[StripButton, ...] = ()
    project = context.projects.project
    here = project is not None and info.project_root == project.root
    if here and not context.runs.has(info.run_id):

        def ask() -> None:
            context.page_wanted.emit("run")
            context.runs.carry_on(info.run_id, retry_errors=True)

        buttons = (StripButton(words.ask_missing(missing), ask),)
    return Message(KEY, Tone.INFO, first, words.missing_text(missing), buttons)
