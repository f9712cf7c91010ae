"""The main job from the first start to a saved run: sample, run, cancel, partial note, history."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QLabel, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from engine.domain import RunStatus
from tests.flows.conftest import LONG_MS

ROOT = Path(__file__).resolve().parents[2]
Find = Callable[..., QWidget]


def open_sample(window: ArenaWindow, find: Find, qtbot: QtBot) -> None:
    card = find("card_sample", QPushButton)
    with qtbot.waitSignal(window.project_opened, timeout=LONG_MS):
        qtbot.keyClick(card, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)


def top_level(name: str) -> QWidget | None:
    return next((w for w in QApplication.topLevelWidgets() if w.objectName() == name and w.isVisible()), None)


def child(name: str) -> QWidget | None:
    for parent in QApplication.topLevelWidgets():
        found = parent.findChild(QWidget, name)
        if found is not None and found.isVisible():
            return found
    return None


def show_json(run_id: str) -> dict:
    """What the command line says of a stored run, in a process of its own."""
    command = [sys.executable, "-m", "arena_desktop", "show", run_id, "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=dict(os.environ), capture_output=True, text=True, timeout=60, check=True
    )
    document: dict = json.loads(done.stdout)
    return document


def test_the_first_start_shows_three_cards_and_no_dialog(
    window: ArenaWindow, find: Find, qtbot: QtBot
) -> None:
    for name in ("card_sample", "card_new", "card_open"):
        assert find(name, QPushButton).isVisible()
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
    qtbot.waitUntil(lambda: window.focusWidget() is find("card_sample"))


def test_sample_run_cancel_history(window: ArenaWindow, find: Find, qtbot: QtBot) -> None:
    open_sample(window, find, qtbot)
    assert window.current_page() == "run"
    qtbot.waitUntil(lambda: find("button_run", QPushButton).isEnabled(), timeout=LONG_MS)
    qtbot.keyClick(find("button_run", QPushButton), Qt.Key.Key_Space)

    runs, progress = window.context.runs, lambda: window.context.runs.progress
    qtbot.waitUntil(lambda: runs.running and progress().done >= 40, timeout=LONG_MS)
    seen = progress()
    assert seen.total == 240
    assert seen.done + seen.failed + seen.stopped + seen.running + seen.waiting == seen.total
    assert find("progress_run").isVisible()
    assert find("label_cost").isVisible()

    qtbot.mouseClick(find("button_cancel", QPushButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: child("button_finish_then_stop") is not None, timeout=LONG_MS)
    finish = child("button_finish_then_stop")
    assert finish is not None
    qtbot.mouseClick(finish, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not runs.running, timeout=LONG_MS)
    assert progress().status is RunStatus.CANCELLED

    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)
    result = window.context.results.result
    assert result is not None
    info = result.stored.info
    assert 0 < info.completed < 240
    assert info.completed + info.errors + info.stopped == info.planned == 240
    page = window.page("results")
    partial = f"{info.completed + info.errors} of 240"
    qtbot.waitUntil(
        lambda: any(partial in label.text() for label in page.findChildren(QLabel) if label.isVisible()),
        timeout=LONG_MS,
    )

    window.show_page("history")
    table = find("table_history")
    qtbot.waitUntil(lambda: table.model() is not None and table.model().rowCount() == 1, timeout=LONG_MS)
    window.context.results.show(None)
    table.setFocus()
    table.setCurrentIndex(table.model().index(0, 1))
    qtbot.keyClick(table, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.context.results.result is not None, timeout=LONG_MS)
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)

    opened = window.context.results.result
    assert opened is not None
    assert opened.board is not None
    said = show_json(opened.run_id)
    assert said["status"] == "cancelled"
    assert said["completed"] == info.completed
    assert said["winner"] == opened.board.winner
    on_screen = {entry.model_key: (entry.rank, entry.composite) for entry in opened.board.entries}
    assert {e["model_key"]: (e["rank"], e["composite"]) for e in said["leaderboard"]} == on_screen


def test_the_whole_sample_ends_with_its_known_truth(window: ArenaWindow, find: Find, qtbot: QtBot) -> None:
    open_sample(window, find, qtbot)
    window.context.runs.start()
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)
    qtbot.waitUntil(lambda: bool(find("label_verdict").text()), timeout=LONG_MS)
    assert find("label_verdict").text() == "Use Aster Large for this project."
    assert "39 of your 40 tests" in find("label_recommendation").text()
    model = find("table_leaderboard").model()
    qtbot.waitUntil(lambda: model.rowCount() == 7, timeout=LONG_MS)
    first = [model.index(0, column).data() for column in range(model.columnCount())]
    assert "Aster Large" in first
    assert "39 of 40" in first


def test_a_saved_run_opens_without_its_project(window: ArenaWindow, find: Find, qtbot: QtBot) -> None:
    open_sample(window, find, qtbot)
    window.context.runs.start(quick=True)
    qtbot.waitUntil(lambda: window.context.results.result is not None, timeout=LONG_MS)
    result = window.context.results.result
    assert result is not None
    window.context.projects.close()
    window.context.results.show(None)
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(result.run_id)
    assert window.current_page() == "results"
    qtbot.waitUntil(lambda: find("table_leaderboard").model().rowCount() == 7, timeout=LONG_MS)


def test_closing_the_window_during_a_run_asks(window: ArenaWindow, find: Find, qtbot: QtBot) -> None:
    open_sample(window, find, qtbot)
    window.context.runs.start()
    qtbot.waitUntil(lambda: window.context.runs.progress.done > 3, timeout=LONG_MS)
    window.close()
    assert window.isVisible()
    qtbot.waitUntil(lambda: top_level("dialog_close_run") is not None, timeout=LONG_MS)
    stop = child("button_stop_and_close")
    assert stop is not None
    qtbot.mouseClick(stop, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=LONG_MS)
    (info,) = (item for item in _stored(window))
    assert info.status is RunStatus.CANCELLED
    assert info.completed > 0


def _stored(window: ArenaWindow) -> list:
    from engine.storage.store import Store

    with Store.open(window.context.results.path) as store:
        return store.runs()


@pytest.mark.parametrize("what", ["missing", "no_config"])
def test_a_folder_that_is_no_project_is_a_strip(
    window: ArenaWindow, qtbot: QtBot, tmp_path: Path, what: str
) -> None:
    folder = tmp_path / "letters"
    if what == "no_config":
        folder.mkdir()
    window.open_project(folder)
    qtbot.waitUntil(lambda: bool(window.window_strips.messages()), timeout=LONG_MS)
    (message,) = window.window_strips.messages()
    assert "letters" in message.first
    assert window.current_page() == "home"


def test_a_project_with_faults_opens_and_does_not_run(
    window: ArenaWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = tmp_path / "p"
    folder.mkdir()
    (folder / "config.yaml").write_text("modles: []\n", encoding="utf-8")
    with qtbot.waitSignal(window.project_opened, timeout=LONG_MS):
        window.open_project(folder)
    assert window.current_page() == "project"
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    with qtbot.waitSignal(window.context.runs.failed, timeout=LONG_MS):
        window.context.runs.start()
    assert not window.context.runs.running


def test_a_store_that_cannot_be_read_is_a_sentence(qtbot: QtBot, tmp_path: Path) -> None:
    from arena_desktop.app import create

    home = tmp_path / "home"
    home.mkdir()
    (home / "arena.sqlite").write_bytes(b"not a database at all " * 100)
    _app, window = create([], home)
    assert isinstance(window, ArenaWindow)
    window.show()
    with qtbot.waitSignal(window.project_opened, timeout=LONG_MS):
        window.open_project(ROOT / "projects" / "support-triage")
    qtbot.waitUntil(lambda: bool(window.window_strips.messages()), timeout=LONG_MS)
    said = " ".join(f"{m.first} {m.text}" for m in window.window_strips.messages())
    assert "arena.sqlite" in said
    # Pages that would like to read it go without, and end no program.
    for page in ("run", "results", "history"):
        window.context.page_wanted.emit(page)
        qtbot.waitUntil(lambda: window.context.background.busy == 0, timeout=LONG_MS)
    window.close()
