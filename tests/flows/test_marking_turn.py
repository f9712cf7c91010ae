"""Marking again and running take turns: one asks, the other waits in the same line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.rescore_bar import KEY
from arena_desktop.widgets.strip import Message
from engine.domain import RunStatus
from engine.storage.store import Store
from tests.flows.conftest import LONG_MS
from tests.flows.test_mark_again import prepared, press, question
from tests.flows.test_waiting import SLOW, going, opened
from tests.views.run_world import made_tests, write_project
from tests.views.setup_world import forbidden, nameless, texts
from tests.views.test_mark_again import PRICED, config

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")
Find = Callable[..., QWidget]
SLOW_JUDGE = "latency_ms: 60, sleep: true"
_FULL = "CREATE TRIGGER full BEFORE INSERT ON scores BEGIN SELECT RAISE(FAIL, 'full'); END"


def message(window: ArenaWindow, key: str) -> Message | None:
    return next((m for m in window.window_strips.messages() if m.key == key), None)


@pytest.fixture
def waits(window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot) -> str:
    """A run goes on, and a saved run of another project waits to be marked again; the id of that."""
    run_id = prepared(window, tmp_path / "replies", qtbot, config("New", PRICED))
    going(window, qtbot, write_project(tmp_path / "slow", SLOW, made_tests(60)))
    with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
        window.open_project(tmp_path / "replies")
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(run_id)
    qtbot.waitUntil(lambda: window.context.background.busy == 0, timeout=LONG_MS)
    press(find, qtbot)
    qtbot.mouseClick(question(qtbot).button_pay, Qt.MouseButton.LeftButton)
    return run_id


def test_a_marking_waits_for_the_run_and_starts_by_itself(
    window: ArenaWindow, waits: str, find: Find, qtbot: QtBot
) -> None:
    context = window.context
    assert context.runs.running
    assert not context.rescoring.running
    assert message(window, KEY) is None
    told = message(window, "run_ordered")
    assert told is not None
    assert told.first == "Replies waits to be marked again."
    window.show_page("run")
    line = find("card_waiting")
    assert find("label_waiting_title").text() == "1 waits its turn"  # type: ignore[attr-defined]
    said = find("label_waiting_1").text()  # type: ignore[attr-defined]
    assert said.startswith("Replies, 4 answers of run 1 to be marked again, up to $")
    assert nameless(line) == []
    assert forbidden(texts(line)) == []

    beside: list[bool] = []
    context.rescoring.progressed.connect(lambda *_counts: beside.append(context.runs.running))
    with qtbot.waitSignal(context.rescoring.done, timeout=LONG_MS):
        context.runs.stop_now()
    assert beside
    assert not any(beside)
    assert not context.runs.busy
    assert not context.runs.waiting.entries
    with Store.open(context.results.path, read_only=True) as store:
        assert store.run(waits).config["judge"]["rubric"] == "New"


def test_it_is_asked_for_once_and_can_be_taken_out_and_back(
    window: ArenaWindow, waits: str, find: Find, qtbot: QtBot
) -> None:
    context = window.context
    with qtbot.waitSignal(context.rescoring.failed) as caught:
        context.rescoring.start(waits)
    assert caught.args[0].code == "waits_already"
    window.show_page("run")
    qtbot.keyClick(find("button_remove_waiting_1", QPushButton), Qt.Key.Key_Space)
    told = message(window, "runs_removed")
    assert told is not None
    assert told.first == "Replies will not be marked again."
    told.buttons[0].action()
    assert context.runs.waiting.holds_marking(waits)
    context.runs.waiting.remove_all()


def test_a_run_waits_for_the_marking(window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot) -> None:
    slow = config("New", "run: {provider_concurrency: {mock: 1}}", SLOW_JUDGE)
    prepared(window, tmp_path / "replies", qtbot, slow)
    context = window.context
    press(find, qtbot)
    qtbot.waitUntil(lambda: context.rescoring.asking, timeout=LONG_MS)
    opened(window, qtbot, tmp_path / "replies")
    assert find("button_run", QPushButton).text().startswith("Run in turn")  # type: ignore[attr-defined]
    qtbot.keyClick(find("button_run"), Qt.Key.Key_Space)
    assert context.rescoring.asking
    assert not context.runs.running
    assert [entry.order.name for entry in context.runs.waiting.entries] == ["Replies"]
    with qtbot.waitSignal(context.runs.began, timeout=LONG_MS) as began:
        pass
    assert not context.rescoring.asking
    assert began.args[0].waited
    qtbot.waitUntil(lambda: not context.runs.busy, timeout=LONG_MS)


@pytest.mark.parametrize("elsewhere", [False, True])
def test_marks_that_a_full_disk_could_not_take_are_offered_to_be_saved(
    window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot, elsewhere: bool
) -> None:
    run_id = prepared(window, tmp_path / "replies", qtbot, config("New"))
    context = window.context
    with Store.open(context.results.path) as store:
        store.database.connection.execute(_FULL)
    with qtbot.waitSignal(context.rescoring.unsaved, timeout=LONG_MS):
        press(find, qtbot)
    told = message(window, "unsaved_run")
    assert told is not None
    assert told.first == "The new marks are not saved."
    assert "stay in memory until the program is closed" in told.text
    assert message(window, KEY) is None
    with qtbot.waitSignal(context.rescoring.failed, timeout=LONG_MS) as caught:
        context.rescoring.start(run_id)
    assert caught.args[0].code == "results_unsaved"
    place = context.results.path
    if not elsewhere:
        with Store.open(place) as store:
            store.database.connection.execute("DROP TRIGGER full")
    with qtbot.waitSignal(window._unsaved.saved, timeout=LONG_MS):
        if elsewhere:
            place = tmp_path / "other.sqlite"
            window._unsaved.save_to(place)
        else:
            told.buttons[0].action()
    said = message(window, "unsaved_run")
    assert said is not None
    assert said.first == "The new marks are saved, with their run."
    assert str(place) in said.text
    with Store.open(place, read_only=True) as store:
        stored = store.run(run_id)
        assert stored.config["judge"]["rubric"] == "New"
        assert "marking_cut_off" not in [note.code for note in stored.notes]
        assert stored.info.status is RunStatus.COMPLETED
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=LONG_MS)
    assert context.runs.unsaved is None
