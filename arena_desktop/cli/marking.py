"""Marking a saved run again by a judge, from the command line: its price, a live line, Ctrl-C twice."""

from __future__ import annotations

import sys

from PySide6.QtCore import QCoreApplication

import engine.plain_imports  # noqa: F401 - must follow Qt and go before all others
from arena_desktop.cli.driver import Driver, attend, saved_elsewhere
from arena_desktop.cli.output import say
from arena_desktop.desks.marking_controller import MarkingController
from arena_desktop.wording import formats
from arena_desktop.wording import mark_again as words
from engine.domain import RunStatus
from engine.errors import UserError, WorldError
from engine.execution.events import Event, Scored
from engine.execution.mark_again import MarkAgain
from engine.execution.rescore import Rescored


class MarkingDriver(Driver):
    """Shows how many answers are marked."""

    def __init__(self, controller: MarkingController, found: MarkAgain, quiet: bool) -> None:
        self._answers, self._marked = found.answers, 0
        super().__init__(controller, quiet)

    def take(self, events: tuple[Event, ...]) -> None:
        """Counts a batch of events and shows what a person should know."""
        self._marked += sum(isinstance(event, Scored) for event in events)
        super().take(events)

    def _line(self) -> str:
        spent = formats.money(self._progress.spent_usd)
        return f"Marked {min(self._marked, self._answers)} of {self._answers}, the run has cost {spent}"


def confirm(found: MarkAgain, *, yes: bool, quiet: bool) -> None:
    """Tells the price. Raises UserError where the project wants a yes for it and none was given."""
    say(f"{words.counts_sentence(found)} {words.price_sentence(found)}", quiet=quiet)
    if found.confirm and not yes:
        raise UserError(
            "confirmation_needed",
            f"Marking this run again needs your yes. {words.price_sentence(found)}",
            hint="Start it again with --yes, or with --no-judge to keep the marks of the second AI.",
            reasons=[note.code for note in found.confirm],
        )


def mark(found: MarkAgain, *, quiet: bool) -> tuple[Rescored, RunStatus, int]:
    """Asks the judge. Returns the result, how it ended and how many answers were marked.

    Raises the ArenaError that kept it from starting or broke it off.
    """
    _ = QCoreApplication.instance() or QCoreApplication(sys.argv[:1])
    controller = MarkingController(found)
    driver = MarkingDriver(controller, found, quiet)
    attend(controller, driver)
    if controller.failure is not None:
        raise controller.failure
    finished = driver.finished
    if controller.rescored is None or finished is None:
        told = finished.error if finished is not None else None
        hint = "The marks made until then are kept. Mark the run again for the rest."
        if finished is not None and finished.unsaved:
            hint = saved_elsewhere(controller, finished)
        message = f"Marking again broke off: {told or 'the reason is not known'}"
        raise WorldError("marking_broke_off", message, hint=hint)
    return controller.rescored, finished.status, finished.completed
