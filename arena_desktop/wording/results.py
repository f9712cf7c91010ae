"""The words around a stored run: its state, its notes, the bundle for documents."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording.reasons import note_sentence, reason_sentence
from engine.domain import RunStatus

if TYPE_CHECKING:
    from engine.export.run_document import Sentences
    from engine.stats.board import Leaderboard


def _tr(text: str) -> str:
    return QCoreApplication.translate("Results", text)


def state_word(status: RunStatus) -> str:
    """The state of a run as the history shows it."""
    words = {
        RunStatus.RUNNING: _tr("Running"),
        RunStatus.COMPLETED: _tr("Complete"),
        RunStatus.CANCELLED: _tr("Stopped by you"),
        RunStatus.STOPPED_BUDGET: _tr("Stopped at your limit"),
        RunStatus.FAILED_FAST: _tr("Stopped at the first failure"),
        RunStatus.ABORTED: _tr("Ended by a fault"),
        RunStatus.INTERRUPTED: _tr("Interrupted"),
    }
    return words[status]


def label_map(board: Leaderboard | None) -> dict[str, str]:
    """Model key to the name people know."""
    return {entry.model_key: entry.label for entry in board.entries} if board else {}


def run_words(board: Leaderboard | None) -> Sentences:
    """The sentences a document of this board needs."""
    from arena_desktop.wording.verdict_rows import verdict_sentence
    from engine.export.run_document import Sentences

    names = label_map(board)
    return Sentences(
        verdict=verdict_sentence(board) if board else _tr("No answer has been marked yet."),
        reason=lambda reason: reason_sentence(reason, names),
        note=lambda note: note_sentence(note, names),
    )
