"""The main job by keyboard only and without a network; a window that stays alive and comes back."""

from __future__ import annotations

import html
import itertools
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from time import perf_counter

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QComboBox,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPushButton,
    QSplitter,
    QWidget,
)
from pytestqt.qtbot import QtBot

from arena_desktop.app import create
from arena_desktop.arena_window import ArenaWindow
from arena_desktop.settings import Settings
from tests.flows import audit
from tests.flows.conftest import LONG_MS

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Find = Callable[..., QWidget]
TICK_MS = 10
LONGEST_GAP_S = 0.25


def press(key: Qt.Key, modifier: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """One key, to whatever has the keyboard."""
    QTest.keyClick(QApplication.focusWidget() or QApplication.activeWindow(), key, modifier)
    QApplication.processEvents()


def tab_to(name: str, most: int = 40) -> QWidget:
    """Presses Tab until the control of that object name has the keyboard."""
    for _ in range(most):
        now = QApplication.focusWidget()
        if now is not None and now.objectName() == name:
            return now
        press(Qt.Key.Key_Tab)
    stop = QApplication.focusWidget()
    raise AssertionError(f"{name} was not reached; the keyboard is at {audit.called(stop) if stop else None}")


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """No connection at all; returns whom somebody tried to reach."""
    tried: list[object] = []

    def refuse(_self: socket.socket, address: object) -> None:
        tried.append(address)
        raise OSError("there is no network here")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    return tried


def answer_file_dialog(target: Path) -> QTimer:
    """Gives the next file dialog a path and Enter. Gives up after a while, so that no test hangs."""
    timer = QTimer(interval=50)
    tried: list[QFileDialog] = []

    def look() -> None:
        dialog = next((w for w in QApplication.topLevelWidgets() if isinstance(w, QFileDialog)), None)
        if dialog is None or not dialog.isVisible():
            if tried:
                timer.stop()
            return
        tried.append(dialog)
        field = dialog.findChild(QLineEdit, "fileNameEdit")
        if field is None or len(tried) > 100:
            dialog.reject()
            return
        # Typed letters would open a list of proposals, which takes the Enter for itself.
        field.setText(str(target))
        QTest.keyClick(field, Qt.Key.Key_Return)

    timer.timeout.connect(look)
    timer.start()
    return timer


def test_the_main_job_needs_only_the_keyboard_and_no_network(
    window: ArenaWindow, find: Find, qtbot: QtBot, tmp_path: Path, offline: list[object]
) -> None:
    window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is find("card_sample"), timeout=LONG_MS)
    press(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    qtbot.waitUntil(lambda: find("button_run", QPushButton).isEnabled(), timeout=LONG_MS)
    tab_to("button_run")
    press(Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)
    qtbot.waitUntil(lambda: bool(find("label_verdict", QLabel).text()), timeout=LONG_MS)
    said = [label.text() for label in audit.shown(window, QLabel)]
    assert "Use Aster Large for this project." in said
    assert any("Practice" in text for text in said)

    target = tmp_path / "report.html"
    typing = answer_file_dialog(target)
    press(Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(target.is_file, timeout=LONG_MS)
    qtbot.waitUntil(lambda: not typing.isActive(), timeout=LONG_MS)
    report = html.unescape(target.read_text(encoding="utf-8"))
    assert "Use Aster Large for this project." in report
    assert offline == []


def test_a_picked_block_is_copied_as_it_is_shown(window: ArenaWindow, find: Find, qtbot: QtBot) -> None:
    _run_the_sample(window, qtbot)
    table = find("table_leaderboard")
    table.setFocus(Qt.FocusReason.TabFocusReason)
    table.selectAll()
    board = QApplication.clipboard()
    window.menus.action("action_copy").trigger()
    plain, lines = board.text(), board.text().split("\n")
    assert "<table" in board.mimeData().html()
    assert len(lines) == table.model().rowCount() == 7
    assert any("Aster Large" in line and "39 of 40" in line for line in lines)
    window.menus.action("action_copy_head").trigger()
    head, *rest = board.text().split("\n")
    assert "Model" in head.split("\t")
    assert "\n".join(rest) == plain


def _run_the_sample(window: ArenaWindow, qtbot: QtBot, *, quick: bool = False) -> None:
    window.open_sample("support-triage")
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    window.context.runs.start(quick=quick)
    qtbot.waitUntil(lambda: window.context.results.result is not None, timeout=LONG_MS)
    table = window.page("results").findChild(QWidget, "table_leaderboard")
    assert table is not None
    window.show_page("results")
    qtbot.waitUntil(lambda: table.model().rowCount() == 7, timeout=LONG_MS)


def test_the_window_stays_alive_during_a_run(window: ArenaWindow, qtbot: QtBot) -> None:
    window.open_sample("support-triage")
    qtbot.waitUntil(lambda: window.context.projects.preflight is not None, timeout=LONG_MS)
    window.show_page("run")
    ticks: list[float] = []
    clock = QTimer(interval=TICK_MS)
    clock.timeout.connect(lambda: ticks.append(perf_counter()))
    window.context.runs.start()
    qtbot.waitUntil(lambda: window.context.runs.running, timeout=LONG_MS)
    clock.start()
    qtbot.waitUntil(lambda: not window.context.runs.running, timeout=LONG_MS)
    clock.stop()
    gaps = sorted(later - sooner for sooner, later in itertools.pairwise(ticks))
    assert len(gaps) > 20
    # Other programs may take the processor for a moment; a window that blocks does it again and again.
    assert gaps[-3] < LONGEST_GAP_S, [round(gap, 3) for gap in gaps[-5:]]


# ---- what comes back at the next start


@pytest.fixture
def windows(tmp_path: Path, qtbot: QtBot) -> Iterator[Callable[[], ArenaWindow]]:
    """Starts the program again in the same home; each window is closed before the next."""
    made: list[ArenaWindow] = []

    def start() -> ArenaWindow:
        if made:
            made[-1].close()
        _app, window = create([], tmp_path / "home")
        assert isinstance(window, ArenaWindow)
        window.show()
        qtbot.waitExposed(window)
        made.append(window)
        return window

    yield start
    for window in made:
        window.close()
        window.deleteLater()


def test_size_and_columns_come_back(windows: Callable[[], ArenaWindow], qtbot: QtBot) -> None:
    first = windows()
    first.resize(960, 666)
    _run_the_sample(first, qtbot, quick=True)
    head = first.page("results").findChild(QWidget, "table_leaderboard").horizontalHeader()
    hidden = [n for n in range(head.count()) if head.isSectionHidden(n)]
    last = max(n for n in range(head.count()) if n not in hidden)
    head.moveSection(head.visualIndex(last), 1)
    run_id = first.context.results.result.run_id  # type: ignore[union-attr]

    second = windows()
    assert (second.width(), second.height()) == (960, 666)
    with qtbot.waitSignal(second.run_opened, timeout=LONG_MS):
        second.open_run(run_id)
    again = second.page("results").findChild(QWidget, "table_leaderboard")
    qtbot.waitUntil(lambda: again.model().rowCount() == 7, timeout=LONG_MS)
    assert again.horizontalHeader().visualIndex(last) == 1


def test_the_look_and_the_text_size_come_back(windows: Callable[[], ArenaWindow]) -> None:
    from arena_desktop.theme import current
    from arena_desktop.theme.switch import Appearance

    first = windows()
    usual = QApplication.font().pointSizeF()
    first.menus.appearance_chosen.emit(Appearance.DARK)
    first.menus.zoom_requested.emit(3)
    try:
        second = windows()
        assert current().dark
        assert second.context.settings.text_percent == 130
        assert QApplication.font().pointSizeF() > 1.2 * usual
    finally:
        second.menus.appearance_chosen.emit(Appearance.LIGHT)
        second.menus.zoom_requested.emit(0)


def test_a_window_saved_on_a_missing_screen_comes_back_where_it_is_seen(
    windows: Callable[[], ArenaWindow], tmp_path: Path
) -> None:
    first = windows()
    first.move(QPoint(9000, 9000))
    first.close()
    kept = Settings(tmp_path / "home" / "settings.ini")
    assert not kept.bytes_of("geometry").isEmpty()
    second = windows()
    screen = second.screen().availableGeometry()
    assert screen.intersects(second.frameGeometry())
    assert screen.contains(second.frameGeometry().topLeft() + QPoint(60, 10))


# ---- the project and the page of the last time


def _project(folder: Path) -> Path:
    folder.mkdir()
    (folder / "config.yaml").write_text('project: Mine\nmodels: ["mock:echo"]\n', encoding="utf-8")
    tests = "".join(
        f"- {{id: t{n}, input: Question {n}, reference: a, tags: [tag{n % 2}]}}\n" for n in range(6)
    )
    (folder / "tests.yaml").write_text(tests, encoding="utf-8")
    return folder


def test_filters_and_handles_come_back(
    windows: Callable[[], ArenaWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    first = windows()
    first.resize(1300, 800)
    with qtbot.waitSignal(first.project_opened, timeout=LONG_MS):
        first.open_project(_project(tmp_path / "mine"))
    page = first.show_page("cases")
    qtbot.waitUntil(lambda: page.rows.total_count() == 6, timeout=LONG_MS)
    page.findChild(QComboBox, "combo_tag").setCurrentIndex(2)
    page.bar.field.setText("question 3")
    page.bar.apply()
    page.table.sort_by("question")
    splitter = page.findChild(QSplitter, "splitter_cases")
    splitter.moveSplitter(500, 1)
    sizes = splitter.sizes()

    second = windows()
    qtbot.waitUntil(lambda: second.current_page() == "cases", timeout=LONG_MS)
    again = second.page("cases")
    qtbot.waitUntil(lambda: again.rows.total_count() == 6, timeout=LONG_MS)
    assert again.findChild(QComboBox, "combo_tag").currentData() == "tag1"
    assert (again.bar.field.text(), again.rows.shown_count()) == ("question 3", 1)
    assert again.table.rows.sorted_by()[0] == "question"
    # The screen of the tests is smaller than the window was.
    second.resize(1300, 800)
    qtbot.waitUntil(lambda: again.findChild(QSplitter, "splitter_cases").sizes() == sizes)


def test_the_project_and_the_page_come_back(
    windows: Callable[[], ArenaWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    first = windows()
    with qtbot.waitSignal(first.project_opened, timeout=LONG_MS):
        first.open_project(_project(tmp_path / "mine"))
    first.show_page("cases")
    again = windows()
    qtbot.waitUntil(lambda: again.context.projects.project is not None, timeout=LONG_MS)
    assert again.context.projects.project.config.project == "Mine"
    assert again.current_page() == "cases"
    again.context.projects.close()
    third = windows()
    qtbot.waitUntil(lambda: not third.context.background.busy, timeout=LONG_MS)
    assert (third.current_page(), third.context.projects.project) == ("home", None)


@pytest.mark.parametrize("how", ["moved", "spoilt"])
def test_a_start_without_the_last_project_is_home_and_says_why_once(
    windows: Callable[[], ArenaWindow], tmp_path: Path, qtbot: QtBot, how: str
) -> None:
    first = windows()
    folder = _project(tmp_path / "mine")
    with qtbot.waitSignal(first.project_opened, timeout=LONG_MS):
        first.open_project(folder)
    first.close()
    if how == "moved":
        folder.rename(tmp_path / "elsewhere")
    else:
        (folder / "config.yaml").unlink()
    again = windows()
    qtbot.waitUntil(lambda: bool(again.window_strips.messages()), timeout=LONG_MS)
    message = again.window_strips.messages()[0]
    assert (
        message.first
        == {
            "moved": "The project that was open last is not where it was.",
            "spoilt": "The project that was open last cannot be opened.",
        }[how]
    )
    assert "mine" in message.text
    assert (again.current_page(), again.context.projects.project) == ("home", None)
    third = windows()
    qtbot.waitUntil(lambda: not third.context.background.busy, timeout=LONG_MS)
    assert not third.window_strips.messages()


def test_nothing_is_opened_after_an_end_that_was_none(
    windows: Callable[[], ArenaWindow], tmp_path: Path, qtbot: QtBot
) -> None:
    first = windows()
    with qtbot.waitSignal(first.project_opened, timeout=LONG_MS):
        first.open_project(_project(tmp_path / "mine"))
    first.close()
    settings = Settings(tmp_path / "home" / "settings.ini")
    assert settings.last_project == str(tmp_path / "mine")
    settings.is_going_on = True
    settings.sync()
    again = windows()
    qtbot.waitUntil(lambda: not again.context.background.busy, timeout=LONG_MS)
    assert (again.current_page(), again.context.projects.project) == ("home", None)


def test_the_list_of_recent_projects_says_where_they_are_in_short(
    windows: Callable[[], ArenaWindow], tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    window = windows()
    (tmp_path / "Documents").mkdir()
    with qtbot.waitSignal(window.project_opened, timeout=LONG_MS):
        window.open_project(_project(tmp_path / "Documents" / "mine"))
    menu = window.menus.recent_menu
    menu.aboutToShow.emit()
    assert [(entry.text(), entry.toolTip()) for entry in menu.actions()] == [("Mine", "Documents / mine")]
    assert menu.toolTipsVisible()
