"""Writes into the open project in the background, says what was done and offers to take it back."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.project_files import Written, take_back
from arena_desktop.widgets.strip import Message, StripButton
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_KEY = "project written"


def _tr(text: str) -> str:
    return QCoreApplication.translate("ProjectWriting", text)


def write_to_project(context: AppContext, step: Callable[[], Written], said: str) -> None:
    """Does one step in the background, reads the project again and says `said` with an Undo button."""

    def work(_job: Job) -> Written:
        return step()

    def done(written: Written) -> None:
        context.projects.reload()
        undo = StripButton(_tr("Undo"), lambda: _take_back(context, written), closes=True)
        context.message_wanted.emit(Message(_KEY, Tone.GOOD, said, buttons=(undo,)))

    context.background.run(work, done, lambda error: _say(context, error), name="write to project")


def _take_back(context: AppContext, written: Written) -> None:
    def work(_job: Job) -> None:
        take_back(written)

    def done(_nothing: None) -> None:
        context.projects.reload()
        context.message_wanted.emit(Message(_KEY, Tone.GOOD, _tr("Everything is as it was before.")))

    context.background.run(work, done, lambda error: _say(context, error), name="take back")


def _say(context: AppContext, error: Exception) -> None:
    if not isinstance(error, ArenaError):
        raise error
    context.message_wanted.emit(Message(_KEY, Tone.BAD, error.message, error.hint))
