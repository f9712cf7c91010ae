"""The history takes no more results: what was paid for is offered, with a window and without one."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

import pytest
from PySide6.QtCore import Signal
from PySide6.QtGui import QCloseEvent
from PySide6.QtWidgets import QPushButton, QWidget

from arena_desktop.app import create
from arena_desktop.desks.run_orders import RunOrder
from arena_desktop.dialogs.run_questions import RunQuestion
from arena_desktop.unsaved_run import UnsavedRun
from arena_desktop.widgets.strip import Message, Tone
from engine.domain import CallStatus, RunStatus
from engine.errors import ArenaError
from engine.execution.plan import make_plan
from engine.storage.store import Store
from tests.cli.calling import call
from tests.views.run_world import close_context, make_context, write_project

_FULL = "CREATE TRIGGER full BEFORE INSERT ON answers BEGIN SELECT RAISE(FAIL, 'full'); END"


def _statement(store: Path, statement: str) -> None:
    with Store.open(store) as opened:
        opened.database.connection.execute(statement)


def _answers(store: Path) -> int:
    with Store.open(store) as opened:
        return len([c for c in opened.calls(opened.resolve("last")) if c.status is CallStatus.OK])


class _Window(QWidget):
    """As much of a window as is needed."""

    close_requested = Signal(object)
    closed = 0

    def close(self) -> bool:
        event = QCloseEvent()
        self.close_requested.emit(event)
        self.closed += event.isAccepted()
        return event.isAccepted()


@pytest.fixture
def unsaved(tmp_path: Path, qtbot):
    """A run of the window's own desk over a history that takes no answer."""
    context = make_context(tmp_path / "home")
    store = tmp_path / "home" / "arena.sqlite"
    context.projects.open(write_project(tmp_path / "project"))
    qtbot.waitUntil(lambda: context.projects.preflight is not None, timeout=20000)
    _statement(store, _FULL)
    window, said = _Window(), []
    qtbot.addWidget(window)
    context.message_wanted.connect(said.append)
    keeper = UnsavedRun(window, context)  # type: ignore[arg-type]
    with qtbot.waitSignal(context.runs.ended, timeout=30000) as ended:
        context.runs.start()
    assert ended.args[0].unsaved > 0
    yield context, store, window, keeper, said
    close_context(context)


def _offer(said: list[Message]) -> Message:
    message = next(m for m in reversed(said) if m.key == "unsaved_run")
    assert (message.tone, message.can_close, len(message.buttons)) == (Tone.BAD, False, 2)
    return message


def test_tried_again_once_there_is_room(unsaved, qtbot) -> None:
    context, store, _window, keeper, said = unsaved
    again, _elsewhere = _offer(said).buttons
    before = len(said)
    again.action()  # still full: the offer stays
    qtbot.waitUntil(lambda: len(said) > before and context.background.busy == 0, timeout=20000)
    assert _offer(said)
    assert keeper.pending
    _statement(store, "DROP TRIGGER full")
    with qtbot.waitSignal(keeper.saved, timeout=20000) as saved:
        _offer(said).buttons[0].action()
    assert saved.args == [str(store)]
    assert said[-1].tone is Tone.GOOD
    assert not keeper.pending
    assert context.runs.unsaved is None
    assert _answers(store) > 0
    with Store.open(store) as opened:
        assert opened.run("last").info.status is RunStatus.ABORTED


def test_saved_in_another_file_at_the_second_try(unsaved, tmp_path: Path, qtbot) -> None:
    context, store, _window, keeper, said = unsaved
    before = len(said)
    keeper.save_to(store / "a file is no folder.sqlite")
    qtbot.waitUntil(lambda: len(said) > before and context.background.busy == 0, timeout=20000)
    assert keeper.pending
    assert "cannot be made" in _offer(said).text
    other = tmp_path / "other.sqlite"
    with qtbot.waitSignal(keeper.saved, timeout=20000):
        keeper.save_to(other)
    assert str(other) in said[-1].text
    assert _answers(other) > 0


def test_no_other_run_takes_the_place_of_unsaved_results(unsaved, qtbot) -> None:
    """What waits begins once they are saved; what is ordered meanwhile is refused with the reason."""
    context, store, _window, keeper, _said = unsaved
    runs, kept = context.runs, context.runs.unsaved
    refused: list[ArenaError] = []
    runs.failed.connect(refused.append)
    runs.start()
    runs.carry_on(runs.run_id, choice="new")
    assert [error.code for error in refused] == ["results_unsaved"] * 2
    opened = context.projects.current
    plan = make_plan(opened.project, context.projects.preflight)
    runs.waiting.add(RunOrder(opened.project, opened.prices, context.projects.preflight, plan))
    runs.waiting.freed.emit()
    assert (runs.busy, len(runs.waiting), runs.unsaved) == (False, 1, kept)
    _statement(store, "DROP TRIGGER full")
    with qtbot.waitSignals([keeper.saved, runs.began, runs.ended], timeout=30000):
        keeper.try_again()
    assert (len(runs.waiting), runs.unsaved) == (0, None)
    assert _answers(store) > 0


def test_closing_asks_before_anything_is_lost(unsaved, tmp_path: Path, qtbot) -> None:
    _context, _store, window, keeper, _said = unsaved

    def press(name: str) -> None:
        window.close()
        (question,) = window.findChildren(RunQuestion)
        button = question.findChild(QPushButton, name)
        assert button.accessibleName()
        with qtbot.waitSignal(question.chosen):
            button.click()
        qtbot.waitUntil(lambda: not window.findChildren(RunQuestion))

    press("button_keep_open")
    assert window.closed == 0
    press("button_lose_results")
    assert window.closed == 1
    with qtbot.waitSignal(keeper.saved, timeout=20000):
        keeper.save_to(tmp_path / "saved after all.sqlite")


def test_the_window_has_the_offer(tmp_path: Path, qtbot) -> None:
    """The strip of the real window, with both of its buttons for keyboard and screen reader."""
    home = tmp_path / "home"
    home.mkdir()
    _app, window = create([], home)
    window.show()
    qtbot.waitExposed(window)
    context = window.context
    _statement(context.results.path, _FULL)
    window.open_project(write_project(tmp_path / "project"))
    qtbot.waitUntil(lambda: context.projects.preflight is not None, timeout=20000)
    with qtbot.waitSignal(context.runs.ended, timeout=30000):
        context.runs.start()
    words = ("Try again", "Save in another file…")

    def shown() -> list[QPushButton]:
        return [b for b in window.findChildren(QPushButton) if b.text() in words and b.isVisible()]

    qtbot.waitUntil(lambda: len(shown()) == 2, timeout=10000)
    assert all(button.accessibleName() or button.text() for button in shown())
    _statement(context.results.path, "DROP TRIGGER full")
    again = next(button for button in shown() if button.text() == words[0])
    again.click()
    qtbot.waitUntil(lambda: not shown(), timeout=20000)
    assert _answers(context.results.path) > 0
    window.close()
    window.deleteLater()


def test_without_a_window_all_goes_to_another_disk(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    spare = tmp_path / "spare"
    spare.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spare))
    store = tmp_path / "arena.sqlite"
    _statement(store, _FULL)
    project = write_project(tmp_path / "project")
    said = call(capfd, "run", project, "--store", store, "--yes")
    assert said.code != 0
    (rescued,) = spare.rglob("arena.sqlite")
    assert str(rescued) in said.err
    assert _answers(rescued) > 0
    run_id = re.search(r"show (\S+) --store", said.err).group(1)
    assert call(capfd, "show", run_id, "--store", rescued).code == 0
