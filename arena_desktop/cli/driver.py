"""Drives a run from the command line: an event loop without a window, one live line, Ctrl-C twice."""

from __future__ import annotations

import signal
import socket
import sys
import tempfile
import time
from pathlib import Path
from types import FrameType

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier

import engine.plain_imports  # noqa: F401 - must follow Qt and go before all others
from arena_desktop.cli.output import say
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.wording import formats
from arena_desktop.wording.reasons import error_words
from engine.errors import ArenaError, WorldError
from engine.execution.controller import RunController
from engine.execution.events import Event, ModelSetAside, RunFinished, Throttled
from engine.execution.request import RunRequest

LINE_EVERY_S = 0.2
LINE_EVERY_QUIETLY_S = 5.0


class Driver(QObject):
    """Shows the run on standard error and hands Ctrl-C on: once ends after the calls in flight, twice now."""

    def __init__(self, controller: RunController, quiet: bool) -> None:
        super().__init__()
        self._controller = controller
        self._quiet = quiet
        self._live = sys.stderr.isatty()
        self._progress = RunProgress(time.monotonic)
        self._last_line = 0.0
        self._width = 0
        self._interrupts = 0
        self.finished: RunFinished | None = None
        controller.events.connect(self.take)
        controller.finished.connect(self.end)

    def take(self, events: tuple[Event, ...]) -> None:
        """Counts a batch of events and shows what a person should know."""
        self._progress.take(events)
        for event in events:
            if isinstance(event, Throttled):
                self._note(f"{event.lane} asked us to slow down: {event.before} -> {event.after} at once")
            elif isinstance(event, ModelSetAside):
                cause = error_words(event.error.kind, event.error.status) if event.error else ""
                who = ", ".join(event.model_keys) or event.lane
                self._note(f"{who} gets no more questions. {cause}")
        self._show()

    def end(self, finished: RunFinished) -> None:
        """The run is over and stored."""
        self.finished = finished
        self._clear()
        QCoreApplication.quit()

    def interrupt(self) -> None:
        """Ctrl-C: first awaits what is in flight, then gives it up."""
        self._interrupts += 1
        if self._interrupts == 1:
            self._note("Stopping after the questions on their way. Ctrl-C again stops now.")
            self._controller.cancel()
        else:
            self._note("Stopping now.")
            self._controller.stop_now()

    def _show(self) -> None:
        now = time.monotonic()
        every = LINE_EVERY_S if self._live else LINE_EVERY_QUIETLY_S
        if self._quiet or now - self._last_line < every:
            return
        self._last_line = now
        line = self._line()
        if self._live:
            sys.stderr.write("\r" + line.ljust(self._width))
            sys.stderr.flush()
            self._width = len(line)
        else:
            say(line)

    def _line(self) -> str:
        progress = self._progress
        finished = progress.done + progress.failed + progress.stopped
        parts = [
            f"{finished} of {progress.total}",
            f"{progress.running} on their way",
            f"{progress.waiting} waiting",
        ]
        if progress.failed:
            parts.append(f"{progress.failed} failed")
        left = progress.seconds_left()
        if left is not None and progress.waiting:
            parts.append(f"{formats.about_time(left)} left")
        parts.append(f"spent {formats.money(progress.spent_usd)}")
        return ", ".join(parts)

    def _note(self, text: str) -> None:
        self._clear()
        say(text, quiet=self._quiet)

    def _clear(self) -> None:
        if self._live and self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()
            self._width = 0


class _CtrlC:
    """Makes Ctrl-C reach the driver although Qt's loop sleeps in C; puts everything back at the end."""

    def __init__(self, driver: Driver) -> None:
        self._ours, self._theirs = socket.socketpair()
        for end in (self._ours, self._theirs):
            end.setblocking(False)
        self._driver = driver

    def __enter__(self) -> None:
        self._before = signal.signal(signal.SIGINT, self._on_signal)
        self._fd_before = signal.set_wakeup_fd(self._theirs.fileno())
        self._notifier = QSocketNotifier(self._ours.fileno(), QSocketNotifier.Type.Read)
        self._notifier.activated.connect(self._drain)

    def __exit__(self, *_exc: object) -> None:
        self._notifier.setEnabled(False)
        signal.set_wakeup_fd(self._fd_before)
        signal.signal(signal.SIGINT, self._before)
        self._ours.close()
        self._theirs.close()

    def _on_signal(self, _number: int, _frame: FrameType | None) -> None:
        self._driver.interrupt()

    def _drain(self) -> None:
        self._ours.recv(64)


def attend(controller: RunController, driver: Driver) -> None:
    """Starts the controller and stays until it has ended, handing Ctrl-C on. Needs an application."""
    with _CtrlC(driver):
        controller.start_in_thread()
        QCoreApplication.exec()
    controller.wait()


def drive(request: RunRequest, *, quiet: bool) -> str:
    """Carries out a run and returns its id once everything is stored.

    Raises the ArenaError that kept it from starting.
    """
    _ = QCoreApplication.instance() or QCoreApplication(sys.argv[:1])
    controller = RunController(request)
    driver = Driver(controller, quiet)
    attend(controller, driver)
    if controller.failure is not None:
        raise controller.failure
    if driver.finished is not None and driver.finished.error:
        raise _not_saved(controller, driver.finished)
    return controller.run_id


def saved_elsewhere(controller: RunController, finished: RunFinished) -> str:
    """Nobody can be asked, and the process ends: what is in memory goes to another disk, if there is one.

    Returns where it is, or that it is lost.
    """
    path = Path(tempfile.mkdtemp(prefix="arena-results-")) / "arena.sqlite"
    try:
        controller.rescue(path)
    except (ArenaError, OSError) as error:
        return f"{finished.unsaved} results are lost, for {path} could not be written either ({error})."
    return f"All results are in {path}: see `show {controller.run_id} --store {path}`. Move it soon."


def _not_saved(controller: RunController, finished: RunFinished) -> WorldError:
    hint = f"What is saved stays: see `show {controller.run_id}`, or carry on with `run --resume`."
    if finished.unsaved:
        hint = saved_elsewhere(controller, finished)
    message = f"The run could not be saved in full: {finished.error}"
    return WorldError("run_not_saved", message, hint=hint)
