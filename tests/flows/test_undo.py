"""Edits of a project taken back and done again by keyboard, also where a file is not as it was."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QLineEdit, QPlainTextEdit, QPushButton, QSlider, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.desks.project_tests import NewTest
from arena_desktop.dialogs.add_tests import add_to_project
from tests.flows.conftest import LONG_MS
from tests.views.setup_world import CONFIG, TESTS

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Find = Callable[..., QWidget]
CTRL, SHIFT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier
FILES = ("config.yaml", "tests.yaml")


class Editor:
    """Somebody at the keyboard, with a project open."""

    def __init__(self, window: ArenaWindow, folder: Path, qtbot: QtBot) -> None:
        self.window, self.folder, self._bot = window, folder, qtbot
        self.edits = window.context.projects.edits

    def bytes(self) -> dict[str, bytes]:
        """The project as it lies on the disk."""
        return {path.name: path.read_bytes() for path in sorted(self.folder.iterdir())}

    def press(self, key: Qt.Key, how: Qt.KeyboardModifier = CTRL) -> None:
        """One key, and all that comes of it."""
        QTest.keyClick(QApplication.focusWidget() or self.window, key, how)
        self.rest()

    def rest(self) -> None:
        """Until nothing is under way."""
        QApplication.processEvents()
        busy = self.window.context.background
        self._bot.waitUntil(lambda: not self.edits.busy and not busy.busy, timeout=LONG_MS)
        QApplication.processEvents()

    def weigh(self) -> None:
        """Changes what matters most, by keyboard."""
        self.window.show_page("scoring")
        button = self.window.findChild(QPushButton, "button_change_weights")
        button.setFocus()
        QTest.keyClick(button, Qt.Key.Key_Space)
        dialog = self._dialog()
        QTest.keyClick(dialog.findChild(QSlider), Qt.Key.Key_Left)
        QTest.keyClick(dialog.findChild(QPushButton, "button_keep_weights"), Qt.Key.Key_Space)
        self.rest()
        # A screen without a window manager gives the window behind a dialog nothing back.
        self.window.activateWindow()
        self._bot.waitUntil(self.window.isActiveWindow)

    def add_tests(self, count: int) -> None:
        """Adds tests as the sheet does."""
        add_to_project(self.window.context, [NewTest(f"Question {n}?", "yes") for n in range(count)])
        self.rest()

    def said(self) -> list[str]:
        """The strips of the window."""
        return [f"{m.first} {m.text}".strip() for m in self.window.window_strips.messages()]

    def _dialog(self) -> QDialog:
        found: list[QDialog] = []

        def look() -> bool:
            found[:] = [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]
            return bool(found)

        self._bot.waitUntil(look)
        return found[0]


@pytest.fixture
def editor(window: ArenaWindow, tmp_path: Path, qtbot: QtBot) -> Iterator[Editor]:
    folder = tmp_path / "replies"
    folder.mkdir()
    for name, text in zip(FILES, (f"# mine\n{CONFIG}", TESTS), strict=True):
        (folder / name).write_text(text, encoding="utf-8")
    window.activateWindow()
    with qtbot.waitSignal(window.project_opened, timeout=LONG_MS):
        window.open_project(folder)
    made = Editor(window, folder, qtbot)
    made.rest()
    yield made
    folder.chmod(0o755)


def test_steps_go_back_and_again_by_keyboard(editor: Editor) -> None:
    undo, redo = (editor.window.menus.action(f"action_{name}") for name in ("undo", "redo"))
    assert (undo.isVisible(), undo.isEnabled(), redo.isEnabled()) == (True, False, False)
    at_first = editor.bytes()
    editor.weigh()
    assert undo.text() == "&Undo: change what matters most"
    weighed = editor.bytes()
    assert weighed["config.yaml"] != at_first["config.yaml"]
    assert weighed["config.yaml"].startswith(b"# mine\n")
    editor.add_tests(31)
    added = editor.bytes()
    assert set(added) == {*FILES, "added-tests.yaml"}
    assert undo.text() == "&Undo: add 31 tests"

    editor.press(Qt.Key.Key_Z)
    assert editor.bytes() == weighed
    assert "Undone: add 31 tests." in editor.said()
    editor.press(Qt.Key.Key_Z)
    assert editor.bytes() == at_first
    assert editor.window.context.projects.project.config.metrics.weights["accuracy"] == 0.6
    assert (undo.text(), undo.isEnabled()) == ("&Undo", False)
    editor.press(Qt.Key.Key_Y)
    assert editor.bytes() == weighed
    editor.press(Qt.Key.Key_Z, CTRL | SHIFT)
    assert editor.bytes() == added
    assert (redo.text(), redo.isEnabled()) == ("&Redo", False)


def test_the_strip_and_the_keys_share_the_steps(editor: Editor) -> None:
    at_first = editor.bytes()
    editor.add_tests(1)
    strip = editor.window.window_strips.messages()[0]
    assert [button.text for button in strip.buttons] == ["Undo"]
    editor.press(Qt.Key.Key_Z)
    assert editor.bytes() == at_first
    # The strip of the step that is gone can do no harm, and the one that says so brings it back.
    strip.buttons[0].action()
    editor.rest()
    assert editor.bytes() == at_first
    again = editor.window.window_strips.messages()[0]
    assert [button.text for button in again.buttons] == ["Redo"]
    again.buttons[0].action()
    editor.rest()
    assert len(editor.window.context.projects.project.cases) == 5


@pytest.mark.parametrize("how", ["changed", "removed", "read-only"])
def test_a_file_that_is_not_as_it_was_is_left_alone(
    editor: Editor, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor.weigh()
    config = editor.folder / "config.yaml"
    if how == "changed":
        config.write_bytes(config.read_bytes() + b"# theirs\n")
    elif how == "removed":
        config.unlink()
    else:
        editor.folder.chmod(0o555)
        if os.access(editor.folder, os.W_OK):
            # Nothing is read-only for the system's own user: the disk refuses in its place.
            monkeypatch.setattr("engine.config.saving._replace", _refuse)
    before = editor.bytes()
    editor.press(Qt.Key.Key_Z)
    assert editor.bytes() == before
    wanted = {
        "changed": "config.yaml was changed by another program since. Nothing was overwritten.",
        "removed": "config.yaml was removed by another program since. Nothing was overwritten.",
        "read-only": "config.yaml cannot be written: Permission denied.",
    }
    assert any(text.startswith(wanted[how]) for text in editor.said()), editor.said()
    # The step is still there for when the file is as it was, and can be put out of the way.
    assert editor.edits.last is not None
    buttons = editor.window.window_strips.messages()[0].buttons
    assert [button.text for button in buttons] == ([] if how == "read-only" else ["Forget this step"])
    if buttons:
        buttons[0].action()
        assert editor.edits.last is None
        assert editor.bytes() == before


def _refuse(*_args: object, **_named: object) -> None:
    raise PermissionError(13, "Permission denied")


def test_a_text_field_keeps_its_own_keys(editor: Editor) -> None:
    editor.add_tests(1)
    added = editor.bytes()
    editor.window.show_page("cases")
    field = editor.window.page("cases").findChild(QLineEdit, "edit_filter")
    field.setFocus()
    QTest.keyClicks(field, "coat")
    editor.press(Qt.Key.Key_Z)
    assert field.text() != "coat"
    editor.press(Qt.Key.Key_Y)
    assert field.text() == "coat"
    for _ in range(5):
        editor.press(Qt.Key.Key_Z)
    assert (field.text(), editor.bytes()) == ("", added)
    # A field that can only be read has nothing of its own to take back.
    pane = QPlainTextEdit(editor.window, readOnly=True)
    pane.show()
    pane.setFocus()
    editor.press(Qt.Key.Key_Z)
    assert editor.bytes() != added


def test_a_dialog_keeps_the_keys_from_the_project_behind_it(editor: Editor) -> None:
    editor.add_tests(1)
    added = editor.bytes()
    editor.window.show_page("scoring")
    editor.window.findChild(QPushButton, "button_change_weights").click()
    dialog = editor._dialog()
    slider = dialog.findChild(QSlider)
    slider.setFocus()
    for key in (Qt.Key.Key_Z, Qt.Key.Key_Y):
        QTest.keyClick(slider, key, CTRL)
        editor.rest()
    assert editor.bytes() == added
    dialog.reject()


def test_another_project_has_no_steps(editor: Editor, qtbot: QtBot) -> None:
    editor.add_tests(1)
    other = editor.folder.parent / "other"
    other.mkdir()
    for name in FILES:
        (other / name).write_bytes((editor.folder / name).read_bytes())
    with qtbot.waitSignal(editor.window.project_opened, timeout=LONG_MS):
        editor.window.open_project(other)
    before = editor.bytes()
    editor.press(Qt.Key.Key_Z)
    assert editor.bytes() == before
    assert not editor.window.menus.action("action_undo").isEnabled()


def test_what_was_said_of_a_project_leaves_with_it(editor: Editor) -> None:
    window = editor.window
    editor.weigh()
    said = [message for message in window.window_strips.messages() if message.of_project]
    assert [button.text for message in said for button in message.buttons] == ["Undo"]
    window.context.projects.reload()
    editor.rest()
    assert said[0] in window.window_strips.messages()
    window.open_sample("support-triage")
    editor.rest()
    assert not [message for message in window.window_strips.messages() if message.of_project]
