"""Where the keyboard is after each step of the main job."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from tests.flows.conftest import LONG_MS

Find = Callable[..., QWidget]


def test_after_run_the_keyboard_is_at_pause_and_then_on_the_result(
    window: ArenaWindow, find: Find, qtbot: QtBot
) -> None:
    window.activateWindow()
    window.open_sample("support-triage")
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    run = find("button_run", QPushButton)
    qtbot.waitUntil(run.isEnabled, timeout=LONG_MS)
    window.show_page("home")
    window.menus.action("action_run").trigger()
    assert QApplication.focusWidget() is run
    qtbot.keyClick(run, Qt.Key.Key_Return)
    pause = find("button_pause", QPushButton)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is pause, timeout=LONG_MS)
    qtbot.waitUntil(lambda: window.context.runs.progress.done > 0, timeout=LONG_MS)
    window.context.runs.stop_now()
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)
    results = window.page("results")
    qtbot.waitUntil(lambda: results.isAncestorOf(QApplication.focusWidget()), timeout=LONG_MS)
    assert QApplication.focusWidget().isVisible()
