"""A person changes how answers are marked, by keyboard: tries it, saves, marks a saved run again, undoes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QComboBox, QDialog, QPlainTextEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.dialogs.change_checks import ChangeChecksDialog
from arena_desktop.theme import dark
from arena_desktop.theme.switch import Appearance
from arena_desktop.widgets.labels import Label
from engine.scoring.registry import CHECKS
from tests.flows import audit
from tests.flows.conftest import LONG_MS
from tests.flows.test_main_job import press, tab_to
from tests.views.setup_world import forbidden

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

BUTTONS = {"dialog_change_checks": "button_change_checks", "dialog_change_margin": "button_change_margin"}
SCREEN = (1280, 720)


def settle(window: ArenaWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=LONG_MS)
    for _ in range(4):
        QApplication.processEvents()


def open_scoring(window: ArenaWindow, qtbot: QtBot) -> None:
    window.activateWindow()
    window.open_sample("support-triage")
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    window.show_page("scoring")
    settle(window, qtbot)


def the_dialog(name: str) -> QDialog | None:
    found = (w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible())
    return next((dialog for dialog in found if dialog.objectName() == name), None)


@contextmanager
def opened(window: ArenaWindow, qtbot: QtBot, name: str) -> Iterator[QDialog]:
    button = window.page("scoring").findChild(QPushButton, BUTTONS[name])
    assert button is not None
    qtbot.keyClick(button, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: the_dialog(name) is not None, timeout=LONG_MS)
    dialog = the_dialog(name)
    assert dialog is not None
    dialog.activateWindow()
    settle(window, qtbot)
    yield dialog
    left = the_dialog(name)
    if left is not None:
        left.close()
    qtbot.waitUntil(lambda: the_dialog(name) is None, timeout=LONG_MS)


def everything(dialog: QDialog) -> Iterator[str]:
    """Shows each part of the dialog that a person can unfold, for each kind of check."""
    if not isinstance(dialog, ChangeChecksDialog):
        yield ""
        return
    dialog.list.button_add.click()
    (row, _other) = dialog.list.rows()
    part = dialog.findChild(QPushButton, "button_try")
    assert part is not None
    part.click()
    for kind in CHECKS:
        row.combo.setCurrentIndex(row.combo.findData(kind))
        assert row.form is not None
        row.form.more.set_open(True)
        dialog.look_now()
        QApplication.processEvents()
        yield kind


def run_the_sample(window: ArenaWindow, qtbot: QtBot) -> None:
    window.open_sample("support-triage")
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    window.context.runs.start(quick=True)
    qtbot.waitUntil(lambda: window.context.results.result is not None, timeout=LONG_MS)


def choose_and_try(page: QWidget, qtbot: QtBot) -> None:
    """Opens the dialog, chooses another way of marking, and looks at what it says about an answer."""
    page.findChild(QPushButton, "button_change_weights").setFocus(Qt.FocusReason.TabFocusReason)
    tab_to("button_change_checks", most=80)
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: the_dialog("dialog_change_checks") is not None, timeout=LONG_MS)
    dialog = the_dialog("dialog_change_checks")
    assert isinstance(dialog, ChangeChecksDialog)
    qtbot.waitUntil(lambda: QApplication.focusWidget() is dialog.list.rows()[0].combo, timeout=LONG_MS)
    QTest.keyClicks(QApplication.focusWidget(), "Men")
    assert dialog.list.rows()[0].combo.currentText() == "Mentions"
    tab_to("button_try")
    press(Qt.Key.Key_Space)
    tab_to("edit_try_answer")
    tester = dialog.findChild(QWidget, "card_tester")
    assert tester is not None
    offered = tester.findChild(QComboBox, "combo_check")
    qtbot.waitUntil(lambda: offered.currentText() == "Mentions", timeout=LONG_MS)
    right = tester.findChild(QPlainTextEdit, "edit_try_right").toPlainText()
    QTest.keyClicks(QApplication.focusWidget(), f"It could be {right}, or billing, or delivery")
    reason = tester.findChild(Label, "label_try_reason")
    qtbot.waitUntil(lambda: "all of 1" in reason.text() or right in reason.text(), timeout=LONG_MS)
    assert tester.findChild(QWidget, "chip_try").isVisible()


def test_label_marking_becomes_contains_by_keyboard_and_back(
    window: ArenaWindow, find: Callable[..., QWidget], qtbot: QtBot
) -> None:
    context = window.context
    window.activateWindow()
    run_the_sample(window, qtbot)
    project = context.projects.project
    assert project is not None
    before = project.config_file.read_bytes()
    window.show_page("scoring")
    settle(window, qtbot)
    page = window.page("scoring")
    choose_and_try(page, qtbot)
    tab_to("button_change_checks_now")
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: project.config_file.read_bytes() != before, timeout=LONG_MS)
    changed = before.replace(b"default: classification", b"default: contains")
    assert project.config_file.read_bytes() == changed, "one word of the file is another"
    qtbot.waitUntil(lambda: context.projects.project is not project, timeout=LONG_MS)
    settle(window, qtbot)
    # A desktop gives the keyboard back to the window; this plugin leaves it nowhere.
    with qtbot.waitActive(window):
        window.activateWindow()
    assert "The way of marking was changed." in " ".join(audit.words(window))
    assert "Mentions" in audit.words(page)

    button_again = find("button_rescore", QPushButton)
    qtbot.waitUntil(button_again.isEnabled, timeout=LONG_MS)
    with qtbot.waitSignal(context.rescoring.done, timeout=LONG_MS):
        button_again.setFocus(Qt.FocusReason.TabFocusReason)
        press(Qt.Key.Key_Space)
    settle(window, qtbot)
    result = context.results.result
    assert result is not None
    calls = context.results.store().iter_calls(result.run_id)
    marked = {check.type for call in calls if call.score is not None for check in call.score.checks}
    assert marked == {"contains"}

    window.show_page("scoring")
    with qtbot.waitSignal(context.projects.examined, timeout=LONG_MS):
        button = next(b for b in audit.shown(window, QPushButton) if b.text() == "Undo")
        button.setFocus(Qt.FocusReason.TabFocusReason)
        press(Qt.Key.Key_Space)
    assert project.config_file.read_bytes() == before
    assert "Is the right label" in audit.words(window.page("scoring"))


def test_the_gap_that_matters_is_changed_and_said(window: ArenaWindow, qtbot: QtBot) -> None:
    open_scoring(window, qtbot)
    with opened(window, qtbot, "dialog_change_margin"):
        QTest.keyClicks(QApplication.focusWidget(), "8")
        tab_to("button_keep_margin")
        with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
            press(Qt.Key.Key_Space)
    settle(window, qtbot)
    said = audit.words(window.page("scoring"))
    assert "A gap of less than 8 points of 100 does not matter to you." in said


@pytest.mark.parametrize("name", BUTTONS)
def test_the_dialogs_are_for_ear_and_keyboard_and_in_plain_words(
    window: ArenaWindow, qtbot: QtBot, name: str
) -> None:
    open_scoring(window, qtbot)
    with opened(window, qtbot, name) as dialog:
        start = dialog.focusWidget()
        assert start is not None
        for kind in everything(dialog):
            assert audit.nameless(dialog) == [], kind
            assert forbidden(audit.words(dialog)) == [], kind
            start.setFocus()
            stops, stuck = audit.tab_round(start, 90)
            assert stuck is None, f"{kind}: stuck at {audit.called(stuck)}"
            missed = [
                audit.called(c)
                for c in audit.reachable(dialog)
                if not any(audit.covers(stop, c) for stop in stops)
            ]
            assert missed == [], kind
            places = [(s.mapTo(dialog, s.rect().topLeft()).y() // 24, s) for s in stops if s.isVisible()]
            top = [place for place, _stop in places]
            assert sum(after < before - 2 for before, after in pairwise(top)) <= 1, kind
        qtbot.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Escape)
        qtbot.waitUntil(lambda: the_dialog(name) is None, timeout=LONG_MS)


@pytest.mark.parametrize("name", BUTTONS)
def test_the_dialogs_are_whole_at_200_per_cent_and_dark_in_the_dark(
    window: ArenaWindow, qtbot: QtBot, name: str
) -> None:
    window.menus.zoom_requested.emit(10)
    window.menus.appearance_chosen.emit(Appearance.DARK)
    try:
        open_scoring(window, qtbot)
        with opened(window, qtbot, name) as dialog:
            assert dialog.width() <= SCREEN[0]
            assert dialog.height() <= SCREEN[1]
            dialog.resize(SCREEN[0] - 40, SCREEN[1] - 40)
            found: dict[str, list[str]] = {}
            for kind in everything(dialog):
                settle(window, qtbot)
                found[kind] = [
                    *audit.clipped(dialog),
                    *audit.small_text(dialog),
                    *audit.sideways(dialog),
                    *audit.light_patches(dialog.grab().toImage(), dark()),
                ]
            assert {kind: faults for kind, faults in found.items() if faults} == {}
    finally:
        window.menus.appearance_chosen.emit(Appearance.LIGHT)
        window.menus.zoom_requested.emit(0)
