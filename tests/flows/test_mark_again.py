"""Marking a saved run again by a second AI in the whole window: price, yes and no, a stop, closing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QDialog, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog
from arena_desktop.rescore_bar import KEY
from arena_desktop.widgets.strip import Message
from engine.storage.store import Store
from tests.flows.conftest import LONG_MS
from tests.views.run_world import run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts
from tests.views.test_mark_again import PRICED, TESTS, config

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")
Find = Callable[..., QWidget]
SLOW = "latency_ms: 150, sleep: true"


def prepared(window: ArenaWindow, folder: Path, qtbot: QtBot, now: str) -> str:
    """A run by another rubric, shown, and its project open."""
    context = window.context
    run_id = run_now(write_project(folder, config("Old"), TESTS), context.results.path)
    write_project(folder, now, TESTS)
    with qtbot.waitSignal(context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(run_id)
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=LONG_MS)
    return run_id


def message(window: ArenaWindow) -> Message:
    return next(m for m in window.window_strips.messages() if m.key == KEY)


def press(find: Find, qtbot: QtBot) -> None:
    button = find("page_results").findChild(QPushButton, "button_rescore")
    assert button is not None
    assert button.isEnabled()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def question(qtbot: QtBot) -> ConfirmCostDialog:
    found: list[ConfirmCostDialog] = []

    def there() -> bool:
        found[:] = [w for w in QApplication.topLevelWidgets() if isinstance(w, ConfirmCostDialog)]
        return any(dialog.isVisible() for dialog in found)

    qtbot.waitUntil(there, timeout=LONG_MS)
    return next(dialog for dialog in found if dialog.isVisible())


def test_a_price_a_yes_and_the_result(window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot) -> None:
    run_id = prepared(window, tmp_path / "replies", qtbot, config("New", PRICED))
    press(find, qtbot)
    dialog = question(qtbot)
    assert dialog.button_pay.text().startswith("Mark for about $")
    assert dialog.button_keep.text() == "Do not mark"
    assert dialog.focusWidget() is dialog.button_keep
    assert nameless(dialog) == []
    assert forbidden(texts(dialog)) == []
    with qtbot.waitSignal(window.context.rescoring.done, timeout=LONG_MS):
        qtbot.keyClick(dialog.button_pay, Qt.Key.Key_Space)
    assert message(window).first == "4 answers were marked again. No mark changed."
    with Store.open(window.context.results.path, read_only=True) as store:
        assert store.run(run_id).config["judge"]["rubric"] == "New"
    assert not window.context.rescoring.running


def test_a_no_leaves_all_and_offers_what_is_free(
    window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot
) -> None:
    run_id = prepared(window, tmp_path / "replies", qtbot, config("New", PRICED))
    press(find, qtbot)
    dialog = question(qtbot)
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    said = message(window)
    assert said.first == "Nothing was asked, and all marks are as they were."
    with Store.open(window.context.results.path, read_only=True) as store:
        assert store.run(run_id).config["judge"]["rubric"] == "Old"
    with qtbot.waitSignal(window.context.rescoring.done, timeout=LONG_MS):
        said.buttons[0].action()
    assert "4 marks of the second AI stayed as they were: it was not asked again." in message(window).text


def test_a_stop_says_how_to_go_on(window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot) -> None:
    slow = config("New", "run: {provider_concurrency: {mock: 1}}", SLOW)
    prepared(window, tmp_path / "replies", qtbot, slow)
    press(find, qtbot)
    desk = window.context.rescoring
    qtbot.waitUntil(lambda: desk.progress is not None and desk.progress.marked >= 1, timeout=LONG_MS)
    assert message(window).first == "The second AI is marking the answers again."
    with qtbot.waitSignal(desk.done, timeout=LONG_MS):
        message(window).buttons[0].action()
        assert message(window).first == "Stopping. Marks that are begun are finished."
    assert "You stopped it. Mark again to make the rest." in message(window).text


def test_closing_the_window_finishes_what_is_begun(
    window: ArenaWindow, find: Find, tmp_path: Path, qtbot: QtBot
) -> None:
    slow = config("New", "run: {provider_concurrency: {mock: 1}}", SLOW)
    run_id = prepared(window, tmp_path / "replies", qtbot, slow)
    press(find, qtbot)
    desk = window.context.rescoring
    qtbot.waitUntil(lambda: desk.asking, timeout=LONG_MS)
    window.close()
    assert window.isVisible()
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=LONG_MS)
    assert not [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
    with Store.open(window.context.results.path, read_only=True) as store:
        assert "marking_cut_off" not in [note.code for note in store.run(run_id).notes]
