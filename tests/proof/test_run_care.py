"""Around a run: the computer is kept awake, and its end is told when nobody looks. Fakes for both systems."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QIcon

from arena_desktop.desks.run_desk import RunDesk
from arena_desktop.desks.waiting_runs import WaitingRuns
from arena_desktop.keep_awake import Awake, KeepAwake, system_hold
from arena_desktop.notify import BusWay, Notifier, TrayWay
from arena_desktop.run_care import RunCare
from arena_desktop.settings import Settings
from engine.domain import RunStatus
from engine.execution.events import RunFinished


class FakeSystem:
    """Stands for the system's power management."""

    def __init__(self, allows: bool = True, error: Exception | None = None) -> None:
        self.allows, self.error = allows, error
        self.held = 0
        self.let_go = threading.Event()

    @contextmanager
    def hold(self) -> Iterator[bool]:
        if self.error is not None:
            raise self.error
        self.held += 1
        try:
            yield self.allows
        finally:
            self.held -= 1
            self.let_go.set()


class FakeDesk(QObject):
    """The part of the run desk that is followed."""

    began = Signal(object)
    ended = Signal(object)
    state_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.running = self.paused = self.busy = False
        self.current = self.kept_awake = None
        self.waiting = WaitingRuns()

    def begin(self) -> None:
        self.running = self.busy = True
        self.began.emit(object())
        self.state_changed.emit()

    def pause(self, paused: bool) -> None:
        self.paused = paused
        self.state_changed.emit()

    def end(self, finished: RunFinished) -> None:
        self.running = self.paused = self.busy = False
        self.ended.emit(finished)
        self.state_changed.emit()


class FakeWay:
    """A way to show notices that keeps what it was given."""

    def __init__(self, there: bool = True, error: Exception | None = None) -> None:
        self.there, self.error = there, error
        self.sent: list[tuple[str, str]] = []

    def available(self) -> bool:
        return self.there

    def send(self, title: str, text: str) -> None:
        if self.error is not None:
            raise self.error
        self.sent.append((title, text))


class Stage:
    """A run desk, settings and both fakes, put together."""

    def __init__(self, tmp_path: Path) -> None:
        self.system, self.way = FakeSystem(), FakeWay()
        self.awake = KeepAwake(self.system.hold)
        self.desk = FakeDesk()
        self.settings = Settings(tmp_path / "settings.ini")
        self.now, self.looking = 0.0, False
        self.care = RunCare(
            self.desk,  # type: ignore[arg-type]
            self.settings,
            self.awake,
            Notifier([self.way]),
            looking=lambda: self.looking,
            now=lambda: self.now,
        )

    def run(self, seconds: float, status: RunStatus = RunStatus.COMPLETED, errors: int = 0) -> None:
        self.desk.begin()
        self.now += seconds
        self.desk.end(RunFinished("r", 9, status, 20, 20 - errors, errors, 0, None, seconds))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_the_fake_desk_is_like_the_real_one() -> None:
    for name in ("began", "ended", "state_changed", "running", "busy", "paused", "current"):
        assert hasattr(RunDesk, name)


def test_awake_from_the_beginning_to_the_end_of_a_run(stage: Stage, qtbot) -> None:
    stage.desk.begin()
    qtbot.waitUntil(lambda: stage.awake.state is Awake.HELD)
    assert stage.system.held == 1
    qtbot.waitUntil(lambda: stage.desk.kept_awake is True)
    stage.desk.end(RunFinished("r", 1, RunStatus.COMPLETED, 1, 1, 0, 0, None, 1.0))
    assert stage.system.let_go.wait(5)
    assert stage.system.held == 0
    assert stage.awake.state is Awake.OFF
    assert stage.desk.kept_awake is None


def test_what_the_system_refuses_is_known_to_the_desk(stage: Stage, qtbot) -> None:
    stage.system.allows = False
    stage.desk.begin()
    qtbot.waitUntil(lambda: stage.desk.kept_awake is False)


def test_awake_until_the_next_one_has_begun(stage: Stage, qtbot) -> None:
    stage.desk.begin()
    qtbot.waitUntil(lambda: stage.system.held == 1)
    stage.desk.running = False  # the next one is being looked at
    stage.desk.state_changed.emit()
    assert stage.system.held == 1
    stage.desk.end(RunFinished("r", 1, RunStatus.COMPLETED, 1, 1, 0, 0, None, 1.0))
    qtbot.waitUntil(lambda: stage.system.held == 0)


def test_a_paused_run_lets_the_computer_sleep(stage: Stage, qtbot) -> None:
    stage.desk.begin()
    qtbot.waitUntil(lambda: stage.system.held == 1)
    stage.desk.pause(True)
    qtbot.waitUntil(lambda: stage.system.held == 0)
    stage.desk.pause(False)
    qtbot.waitUntil(lambda: stage.system.held == 1)
    stage.care.close()
    qtbot.waitUntil(lambda: stage.system.held == 0)


def test_the_setting_counts_and_may_change_during_a_run(stage: Stage, qtbot) -> None:
    stage.settings.keep_awake = False
    stage.desk.begin()
    assert stage.awake.state is Awake.OFF
    stage.settings.keep_awake = True
    qtbot.waitUntil(lambda: stage.system.held == 1)
    stage.settings.keep_awake = False
    qtbot.waitUntil(lambda: stage.system.held == 0)


@pytest.mark.parametrize("system", [FakeSystem(allows=False), FakeSystem(error=OSError("no bus"))])
def test_a_system_that_refuses_stops_nothing(system: FakeSystem, qtbot) -> None:
    awake = KeepAwake(system.hold)
    awake.begin()
    qtbot.waitUntil(lambda: awake.state is Awake.REFUSED)
    awake.begin()
    awake.end()
    awake.end()
    assert awake.state is Awake.OFF


def test_a_system_that_answers_late_is_waited_for_by_nobody(qtbot) -> None:
    asked, answer = threading.Event(), threading.Event()

    @contextmanager
    def hold() -> Iterator[bool]:
        asked.set()
        assert answer.wait(20)
        yield True

    awake = KeepAwake(hold)
    awake.begin()
    assert asked.wait(5)
    assert awake.state is Awake.ASKED
    awake.end()
    answer.set()
    assert awake.state is Awake.OFF


def test_the_systems_own_way_can_be_tried_anywhere() -> None:
    with system_hold() as allowed:
        assert allowed in (True, False)


@pytest.mark.parametrize("errors", [0, 1, 3])
def test_the_end_of_a_long_run_is_told_while_nobody_looks(stage: Stage, errors: int) -> None:
    stage.run(61.0, errors=errors)
    ((title, text),) = stage.way.sent
    assert title == "Complete"
    assert f"{20 - errors} of 20" in text
    assert ("failed" in text) == bool(errors)


def test_a_short_run_or_one_that_is_looked_at_is_not_told(stage: Stage) -> None:
    stage.run(59.0)
    stage.looking = True
    stage.run(600.0)
    assert stage.way.sent == []


def test_the_settings_decide_what_is_told(stage: Stage) -> None:
    stage.settings.notify_done = False
    stage.run(600.0)
    assert stage.way.sent == []
    stage.run(1.0, RunStatus.ABORTED)
    assert len(stage.way.sent) == 1
    stage.settings.notify_failed = False
    stage.run(1.0, RunStatus.ABORTED)
    assert len(stage.way.sent) == 1


def test_the_first_way_that_is_there_is_taken() -> None:
    away, here = FakeWay(there=False), FakeWay()
    assert Notifier([away, here]).send("a", "b")
    assert (away.sent, here.sent) == ([], [("a", "b")])


def test_a_way_that_breaks_is_passed_over() -> None:
    broken, here = FakeWay(error=RuntimeError("no tray")), FakeWay()
    assert Notifier([broken, here]).send("a", "b")
    assert here.sent == [("a", "b")]
    assert not Notifier([FakeWay(there=False)]).send("a", "b")


def test_the_bus_is_told_on_a_thread_of_its_own_and_may_fail() -> None:
    told: list[tuple[str, ...]] = []
    done = threading.Event()
    threads: list[str] = []

    def tell(*words: str) -> None:
        told.append(words)
        threads.append(threading.current_thread().name)
        done.set()
        raise ConnectionError("nobody is there")

    BusWay("Arena", tell).send("Complete", "20 of 20")
    assert done.wait(5)
    assert told == [("Arena", "Complete", "20 of 20")]
    assert threads == ["notice"]


def test_the_tray_is_tried_only_where_there_is_one(qapp, qtbot) -> None:
    tray = TrayWay(QIcon)
    assert not tray.available()  # there is no tray without a screen
    assert not Notifier([tray]).send("a", "b")
