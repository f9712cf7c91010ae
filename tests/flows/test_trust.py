"""A project with code of its own asks first, keeps a No, and asks again when the code changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from tests.flows.conftest import LONG_MS

CONFIG = """schema_version: 1
project: Own code
models:
  - {key: good, model: 'mock:oracle'}
tests: {paths: [tests.yaml]}
scorers: {default: polite}
"""
SCORER = """
def polite(output, reference, context):
    return {score}

SCORERS = {{"polite": polite}}
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "own"
    (folder / "scorers").mkdir(parents=True)
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "tests.yaml").write_text("tests:\n  - {id: a, input: hi, reference: hello}\n", encoding="utf-8")
    write_scorer(folder, "1.0")
    return folder


def write_scorer(folder: Path, score: str) -> None:
    (folder / "scorers" / "polite.py").write_text(SCORER.format(score=score), encoding="utf-8")


def question() -> QMessageBox | None:
    for widget in QApplication.topLevelWidgets():
        if widget.objectName() == "dialog_trust" and widget.isVisible():
            assert isinstance(widget, QMessageBox)
            return widget
    return None


def answer(qtbot: QtBot, name: str) -> None:
    qtbot.waitUntil(lambda: question() is not None, timeout=LONG_MS)
    asked = question()
    assert asked is not None
    assert "polite.py" in asked.informativeText()
    assert asked.defaultButton().objectName() == "button_trust_no"
    button = asked.findChild(QPushButton, name)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: question() is None, timeout=LONG_MS)


def keys(window: ArenaWindow) -> list[str]:
    return [message.key for message in window.window_strips.messages()]


def test_no_is_kept_and_said_and_changed_code_asks_again(
    window: ArenaWindow, qtbot: QtBot, project: Path
) -> None:
    window.open_project(project)
    answer(qtbot, "button_trust_no")
    qtbot.waitUntil(lambda: "trust" in keys(window), timeout=LONG_MS)

    with qtbot.waitSignal(window.project_opened, timeout=LONG_MS):
        window.open_project(project)
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    assert question() is None
    assert "trust" in keys(window)

    write_scorer(project, "0.5")
    window.open_project(project)
    answer(qtbot, "button_trust_no")


def test_yes_switches_the_code_on(window: ArenaWindow, qtbot: QtBot, project: Path) -> None:
    window.open_project(project)
    answer(qtbot, "button_trust_yes")
    trusted = lambda: (found := window.context.projects.preflight) is not None and found.code_trusted  # noqa: E731
    qtbot.waitUntil(trusted, timeout=LONG_MS)
    assert "trust" not in keys(window)
    window.context.runs.start()
    qtbot.waitUntil(lambda: window.context.results.result is not None, timeout=LONG_MS)
    result = window.context.results.result
    assert result is not None
    (call,) = window.context.results.store().calls(result.run_id)
    assert call.score is not None
    assert call.score.score == 1.0


def test_escape_is_no(window: ArenaWindow, qtbot: QtBot, project: Path) -> None:
    window.open_project(project)
    qtbot.waitUntil(lambda: question() is not None, timeout=LONG_MS)
    asked = question()
    assert asked is not None
    qtbot.keyClick(asked, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: "trust" in keys(window), timeout=LONG_MS)
    found = window.context.projects.preflight
    assert found is None or not found.code_trusted
