"""Writes into the open project in the background, says what was done; undo and redo of such steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import Tone
from arena_desktop.widgets.strip import Message, StripButton

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.edit_steps import EditStep
    from arena_desktop.desks.project_files import Written
    from engine.errors import ArenaError

_KEY = "project written"


def _tr(text: str) -> str:
    return QCoreApplication.translate("ProjectWriting", text)


def write_to_project(
    context: AppContext,
    step: Callable[[], Written],
    said: str,
    *,
    name: str = "",
    more: Callable[[EditStep], str] = lambda _made: "",
) -> None:
    """Does one step in the background, reads the project again and says `said` with an Undo button.

    Args:
        name: what the step does, as it follows "Undo:" in a menu; without one `said` stands there.
        more: gives a second sentence beside `said`.
    """

    def done(made: EditStep) -> None:
        context.projects.reload()
        undo = StripButton(_tr("Undo"), lambda: undo_edit(context, made), closes=True)
        buttons = (undo,) if made.edits else ()
        context.message_wanted.emit(Message(_KEY, Tone.GOOD, said, more(made), buttons, of_project=True))

    context.projects.edits.write(step, name or said.rstrip("."), done, lambda error: _say(context, error))


def undo_edit(context: AppContext, only: EditStep | None = None) -> None:
    """Takes the newest step back and says so with a Redo button. `only`: if that is the newest."""
    edits = context.projects.edits
    done, failed = _answers(context, _tr("Undone: {step}."), _tr("Redo"), redo_edit, lambda: edits.last)
    edits.undo(done, failed, only)


def redo_edit(context: AppContext, only: EditStep | None = None) -> None:
    """Does the step again that was undone last. `only`: if it is that one."""
    edits = context.projects.edits
    done, failed = _answers(context, _tr("Done again: {step}."), _tr("Undo"), undo_edit, lambda: edits.undone)
    edits.redo(done, failed, only)


def _answers(
    context: AppContext,
    said: str,
    back: str,
    turn: Callable[[AppContext, EditStep], None],
    stuck: Callable[[], EditStep | None],
) -> tuple[Callable[[EditStep], None], Callable[[ArenaError], None]]:
    """What follows a step that was taken back or done again: `said`, with the way `back`; or the fault."""

    def done(step: EditStep) -> None:
        context.projects.reload()
        button = StripButton(back, lambda: turn(context, step), closes=True)
        first = said.format(step=step.name)
        context.message_wanted.emit(Message(_KEY, Tone.GOOD, first, buttons=(button,), of_project=True))

    return done, lambda error: _say(context, error, stuck())


def _say(context: AppContext, error: ArenaError, stuck: EditStep | None = None) -> None:
    """Says what went wrong. `stuck`: the step that cannot be moved, in the way of those behind it."""
    buttons = ()
    if stuck is not None and error.code == "changed_on_disk":
        step, edits = stuck, context.projects.edits
        buttons = (StripButton(_tr("Forget this step"), lambda: edits.forget(step), closes=True),)
    context.message_wanted.emit(Message(_KEY, Tone.BAD, error.message, error.hint, buttons, of_project=True))
