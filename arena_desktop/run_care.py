"""What is done around a run: the computer stays awake, and whoever looks elsewhere is told of its end.

Between a run and one that waits for its turn the computer stays awake as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QApplication

from arena_desktop.desks.run_desk import RunDesk
from arena_desktop.desks.run_orders import WaitingRun
from arena_desktop.keep_awake import Awake, KeepAwake
from arena_desktop.notify import Notifier
from arena_desktop.settings import Settings
from arena_desktop.wording import run_queue as queue_words
from arena_desktop.wording.results import state_word
from engine.domain import RunStatus

if TYPE_CHECKING:
    from engine.execution.events import RunFinished

LONG_RUN_S = 60.0
"""Shorter runs end while their person still looks."""


def in_front() -> bool:
    """Whether one of the program's windows is the one that is looked at."""
    return QApplication.activeWindow() is not None


class RunCare(QObject):
    """Follows the run desk and the settings. GUI thread only; nothing in it waits."""

    _awake_told = Signal(object)

    def __init__(
        self,
        runs: RunDesk,
        settings: Settings,
        awake: KeepAwake,
        notifier: Notifier,
        *,
        looking: Callable[[], bool] = in_front,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """`looking` says whether a window of the program is in front, `now` gives monotonic seconds."""
        super().__init__()
        self._runs, self._settings = runs, settings
        self._awake, self._notifier = awake, notifier
        self._looking, self._now = looking, now
        self._began_at: float | None = None
        runs.began.connect(self._on_began)
        runs.state_changed.connect(self._see_to_sleep)
        runs.ended.connect(self._on_ended)
        runs.waiting.held.connect(self._on_held)
        # From the thread that asks the system, so through a signal.
        self._awake_told.connect(self._on_awake)
        awake.told = self._awake_told.emit
        settings.changed.connect(self._see_to_sleep)

    def close(self) -> None:
        """The program ends: the computer may sleep again."""
        self._awake.end()

    @Slot()
    def _on_began(self, _began: object) -> None:
        self._began_at = self._now()
        self._see_to_sleep()

    @Slot()
    def _see_to_sleep(self, _what: object = None) -> None:
        runs = self._runs
        if runs.busy and not runs.paused and self._settings.keep_awake:
            self._awake.begin()
        else:
            self._awake.end()
            runs.kept_awake = None

    @Slot(object)
    def _on_awake(self, state: Awake) -> None:
        """The Run page says it; a late answer about a run that is over says nothing."""
        if self._awake.state is state:
            self._runs.kept_awake = state is Awake.HELD

    @Slot(object)
    def _on_held(self, entry: WaitingRun) -> None:
        """A run could not start by itself: whoever looks elsewhere learns of it."""
        if self._settings.notify_failed and not self._looking():
            self._notifier.send(queue_words.held_sentence(entry), queue_words.held_text(entry))

    @Slot(object)
    def _on_ended(self, finished: RunFinished) -> None:
        self._see_to_sleep()
        took = 0.0 if self._began_at is None else self._now() - self._began_at
        if self._wanted(finished, took) and not self._looking():
            self._notifier.send(self._title(finished), self._text(finished))

    def _wanted(self, finished: RunFinished, took_s: float) -> bool:
        if finished.status is RunStatus.ABORTED:
            return self._settings.notify_failed
        return self._settings.notify_done and took_s >= LONG_RUN_S

    def _title(self, finished: RunFinished) -> str:
        began = self._runs.current
        name = began.project.config.project if began is not None else ""
        state = state_word(finished.status)
        return f"{name}: {state}" if name else state

    def _text(self, finished: RunFinished) -> str:
        text = self.tr("{done} of {planned} answers are in.")
        told = text.format(done=finished.completed, planned=finished.planned)
        if not finished.errors:
            return told
        if finished.errors == 1:
            return f"{told} {self.tr('1 question failed.')}"
        return f"{told} {self.tr('{count} questions failed.').format(count=finished.errors)}"
