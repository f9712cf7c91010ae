"""Every page and dialog after a real run of the sample: by ear, by keyboard, large, in the dark, in words."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import shiboken6
from PySide6.QtCore import QElapsedTimer, QEvent, QEventLoop, QObject, Qt, QTimer
from PySide6.QtGui import QFont
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from arena_desktop.app import create
from arena_desktop.arena_window import ArenaWindow
from arena_desktop.theme import dark
from arena_desktop.theme.switch import Appearance
from arena_desktop.widgets.clipboard import from_tsv
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.table import ArenaTable
from tests.flows import audit
from tests.flows.conftest import LONG_MS
from tests.views.setup_world import forbidden

PAGES = (
    "home",
    "project",
    "cases",
    "models",
    "scoring",
    "run",
    "results",
    "answers",
    "history",
    "compare",
    "duel",
)
DIALOGS = ("action_settings", "action_new_project", "action_shortcuts")
MOST_TABS = 80
CTRL = Qt.KeyboardModifier.ControlModifier
SCREEN = (1280, 720)
# The answers of many models stand beside each other and are scrolled sideways, each one 260 px or wider.
SIDE_BY_SIDE = "Answers side by side"

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


class Shown(QObject):
    """Notes every window that appears."""

    def __init__(self) -> None:
        super().__init__()
        self.windows: list[str] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget) and watched.isWindow():
            self.windows.append(audit.called(watched))
        return False


class Walked:
    """A window whose pages were all built, and which windows flashed up on the way."""

    def __init__(self, window: ArenaWindow, home: Path, appeared: list[str]) -> None:
        self.window, self.home, self.appeared = window, home, appeared

    def show(self, qtbot: QtBot, page: str) -> QWidget:
        """Shows a page and waits until what it reads is there."""
        shown = self.window.show_page(page)
        settle(qtbot, self.window)
        return shown


def settle(qtbot: QtBot, window: ArenaWindow) -> None:
    """Until no work goes on behind the window and everything is laid out."""
    qtbot.waitUntil(lambda: not window.context.background.busy, timeout=LONG_MS)
    for _ in range(4):
        QApplication.processEvents()


def until(true: Callable[[], bool]) -> None:
    """For the fixture of the whole module, which cannot have a qtbot."""
    loop, clock = QEventLoop(), QElapsedTimer()
    look = QTimer(interval=20)
    look.timeout.connect(lambda: loop.quit() if true() or clock.hasExpired(LONG_MS) else None)
    clock.start()
    look.start()
    loop.exec()
    assert true(), "the window took too long"


@pytest.fixture(scope="module")
def _walked(qapp: QApplication, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Walked]:
    home = tmp_path_factory.mktemp("walked")
    usual = qapp.font()
    # As large as desktops have it; the platform without a screen takes a smaller one.
    qapp.setFont(QFont(usual.family(), 10))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("ARENA_KEYRING", "memory")
        patch.setenv("ARENA_HOME", str(home))
        _app, window = create([], home)
        assert isinstance(window, ArenaWindow)
        window.resize(1280, 720)
        window.show()
        window.activateWindow()
        shown, context = Shown(), window.context
        qapp.installEventFilter(shown)
        window.open_sample("support-triage")
        until(lambda: context.projects.preflight is not None)
        for _ in range(2):
            context.runs.start(quick=True)
            until(lambda: context.runs.running)
            until(lambda: not context.runs.running)
            until(lambda: context.results.result is not None)
        for page in PAGES:
            window.show_page(page)
            until(lambda: not context.background.busy)
        qapp.removeEventFilter(shown)
        yield Walked(window, home, shown.windows)
        window.menus.appearance_chosen.emit(Appearance.LIGHT)
        window.close()
        window.deleteLater()
    qapp.setFont(usual)


@pytest.fixture
def walked(_walked: Walked, monkeypatch: pytest.MonkeyPatch) -> Walked:
    """The window of this module, in its own home again and in front."""
    monkeypatch.setenv("ARENA_HOME", str(_walked.home))
    _walked.window.activateWindow()
    return _walked


@pytest.fixture
def large(walked: Walked) -> Iterator[Walked]:
    """The same at 200 % text."""
    walked.window.menus.zoom_requested.emit(10)
    yield walked
    walked.window.menus.zoom_requested.emit(0)


@pytest.fixture
def in_the_dark(walked: Walked) -> Iterator[Walked]:
    """The same after the switch to dark, live."""
    walked.window.menus.appearance_chosen.emit(Appearance.DARK)
    yield walked
    walked.window.menus.appearance_chosen.emit(Appearance.LIGHT)


@contextmanager
def opened(walked: Walked, qtbot: QtBot, action: str) -> Iterator[QDialog]:
    """A dialog that a menu opens, closed afterwards."""
    before = set(dialogs())
    walked.window.menus.action(action).trigger()
    qtbot.waitUntil(lambda: bool(set(dialogs()) - before), timeout=LONG_MS)
    (dialog,) = set(dialogs()) - before
    dialog.activateWindow()
    settle(qtbot, walked.window)
    yield dialog
    if shiboken6.isValid(dialog):
        dialog.close()
    qtbot.waitUntil(lambda: set(dialogs()) == before, timeout=LONG_MS)


@pytest.fixture(params=DIALOGS)
def dialog(request: pytest.FixtureRequest, walked: Walked, qtbot: QtBot) -> Iterator[QDialog]:
    """Each of them."""
    with opened(walked, qtbot, request.param) as shown:
        yield shown


def dialogs() -> list[QDialog]:
    return [w for w in QApplication.topLevelWidgets() if isinstance(w, QDialog) and w.isVisible()]


def unreached(root: QWidget, stops: list[QWidget]) -> list[str]:
    controls = audit.reachable(root)
    assert controls
    return [audit.called(c) for c in controls if not any(audit.covers(stop, c) for stop in stops)]


# ---- what is built must not be seen being built


def test_no_part_of_a_page_appears_as_a_window_of_its_own(walked: Walked) -> None:
    assert walked.appeared == []


# ---- by ear


@pytest.mark.parametrize("page", PAGES)
def test_every_control_has_a_spoken_name(walked: Walked, qtbot: QtBot, page: str) -> None:
    walked.show(qtbot, page)
    assert audit.nameless(walked.window) == []


def test_every_control_of_a_dialog_has_a_spoken_name(dialog: QDialog) -> None:
    assert audit.nameless(dialog) == []


# ---- by keyboard


@pytest.mark.parametrize("page", PAGES)
def test_tab_reaches_every_control_once_and_nothing_traps(walked: Walked, qtbot: QtBot, page: str) -> None:
    walked.show(qtbot, page)
    start = walked.window.rail.list
    start.setFocus(Qt.FocusReason.TabFocusReason)
    stops, stuck = audit.tab_round(start, MOST_TABS)
    assert stuck is None, f"stuck at {audit.called(stuck)} after {len(stops)}"
    assert unreached(walked.window, stops) == []
    again = [audit.called(stop) for stop, other in itertools.combinations(stops, 2) if stop is other]
    assert again == []


def test_tab_goes_round_in_a_dialog(dialog: QDialog) -> None:
    start = dialog.focusWidget()
    assert start is not None, "no control of the dialog has the focus"
    stops, stuck = audit.tab_round(start, MOST_TABS)
    assert stuck is None, f"stuck at {audit.called(stuck)} after {len(stops)}"
    assert unreached(dialog, stops) == []


def test_escape_closes_a_dialog(dialog: QDialog, qtbot: QtBot) -> None:
    shown = len(dialogs())
    qtbot.keyClick(dialog.focusWidget() or dialog, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: len(dialogs()) == shown - 1, timeout=LONG_MS)


# ---- in large text


def test_nothing_is_cut_at_200_per_cent(large: Walked, qtbot: QtBot) -> None:
    found: dict[str, list[str]] = {}
    for page in PAGES:
        large.show(qtbot, page)
        found[page] = [
            *audit.clipped(large.window),
            *audit.small_text(large.window),
            *audit.sideways(large.window, but=SIDE_BY_SIDE),
            *audit.outside(large.window, but=SIDE_BY_SIDE),
        ]
    for action in DIALOGS:
        with opened(large, qtbot, action) as dialog:
            assert dialog.width() <= SCREEN[0]
            assert dialog.height() <= SCREEN[1]
            # The screen of these tests is smaller than the one that the check is about.
            dialog.resize(SCREEN[0] - 40, SCREEN[1] - 40)
            settle(qtbot, large.window)
            found[action] = [*audit.clipped(dialog), *audit.small_text(dialog), *audit.sideways(dialog)]
    assert {place: faults for place, faults in found.items() if faults} == {}


def test_nothing_is_cut_in_the_smallest_window(walked: Walked, qtbot: QtBot) -> None:
    found: dict[str, list[str]] = {}
    walked.window.resize(960, 600)
    try:
        for page in PAGES:
            walked.show(qtbot, page)
            found[page] = [
                *audit.clipped(walked.window),
                *audit.sideways(walked.window, but=SIDE_BY_SIDE),
                *audit.outside(walked.window, but=SIDE_BY_SIDE),
            ]
    finally:
        walked.window.resize(1280, 720)
    assert {page: faults for page, faults in found.items() if faults} == {}


# ---- in the dark


def test_the_dark_has_no_light_patch(in_the_dark: Walked, qtbot: QtBot) -> None:
    found: dict[str, list[str]] = {}
    for page in PAGES:
        in_the_dark.show(qtbot, page)
        found[page] = audit.light_patches(in_the_dark.window.grab().toImage(), dark())
    for action in DIALOGS:
        with opened(in_the_dark, qtbot, action) as dialog:
            found[action] = audit.light_patches(dialog.grab().toImage(), dark())
    assert {place: faults for place, faults in found.items() if faults} == {}


# ---- in plain words


@pytest.mark.parametrize("page", PAGES)
def test_no_forbidden_word_stands_on_a_page(walked: Walked, qtbot: QtBot, page: str) -> None:
    walked.show(qtbot, page)
    said = audit.words(walked.window)
    assert len(said) > 20
    assert forbidden(said) == []


def test_no_forbidden_word_stands_in_a_dialog(dialog: QDialog) -> None:
    assert forbidden(audit.words(dialog)) == []


def test_no_forbidden_word_stands_in_a_menu(walked: Walked) -> None:
    actions = walked.window.menus.all_actions()
    assert len(actions) > 20
    assert forbidden([text for action in actions for text in (action.text(), action.toolTip())]) == []


# ---- the eyes of these tests see


def test_the_audit_finds_what_it_looks_for(qtbot: QtBot) -> None:
    faulty = QWidget()
    qtbot.addWidget(faulty)
    layout = QVBoxLayout(faulty)
    layout.addWidget(nameless := QPushButton())
    nameless.setObjectName("button_nameless")
    layout.addWidget(cut := QPushButton("Much too long for its place"))
    cut.setFixedWidth(30)
    layout.addWidget(trap := QPlainTextEdit())
    trap.setAccessibleName("A field that takes every Tab for itself")
    layout.addWidget(tiny := QLabel("Cannot be read"))
    tiny.setStyleSheet("font-size: 3px")
    row = QHBoxLayout()
    row.addWidget(skipped := QPushButton("Not by keyboard"))
    skipped.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    layout.addLayout(row)
    with qtbot.waitActive(faulty):
        faulty.show()
        faulty.activateWindow()
    nameless.setFocus()
    stops, stuck = audit.tab_round(nameless, MOST_TABS)
    assert any("button_nameless" in text for text in audit.nameless(faulty))
    assert any("Much too long" in text for text in audit.clipped(faulty))
    assert any("Cannot be read" in text for text in audit.small_text(faulty))
    assert stuck is trap
    assert "Not by keyboard" in " ".join(unreached(faulty, stops))
    picture = faulty.grab().toImage()
    picture.fill(Qt.GlobalColor.white)
    assert audit.light_patches(picture, dark())
    cut.setText("This endpoint has no token")
    assert forbidden(audit.words(faulty)) == ["This endpoint has no token"] * 2


def test_the_module_window_lives_in_its_own_home(walked: Walked) -> None:
    assert Path(os.environ["ARENA_HOME"]) == walked.home
    assert (walked.home / "arena.sqlite").is_file()


# ---- tables


@contextmanager
def opened_up(walked: Walked, qtbot: QtBot, page: QWidget) -> Iterator[None]:
    """Details unfolded and charts as tables, and back again."""
    names = ("button_details", "button_latest", "chart_leaderboard_as_table", "chart_history_as_table")
    buttons = [button for name in names if (button := page.findChild(QPushButton, name)) is not None]
    for button in buttons:
        button.click()
    settle(qtbot, walked.window)
    try:
        yield
    finally:
        for button in buttons:
            button.click()
        settle(qtbot, walked.window)


@pytest.mark.parametrize(
    ("page", "names"),
    [
        ("home", ["table_recent"]),
        ("cases", ["table_cases"]),
        ("models", ["table_models"]),
        ("run", ["table_lanes", "table_latest"]),
        ("results", ["table_leaderboard", "chart_leaderboard_table", "table_score_pairs"]),
        ("answers", ["table_tests"]),
        ("history", ["table_history", "chart_history_table"]),
        ("compare", ["table_compare"]),
    ],
)
def test_every_table_copies_finds_sorts_and_has_a_menu(
    walked: Walked, qtbot: QtBot, page: str, names: list[str]
) -> None:
    shown, missed = walked.show(qtbot, page), []
    with opened_up(walked, qtbot, shown):
        tables = [t for t in shown.findChildren(ArenaTable) if t.isVisible() and t.rows.total_count()]
        assert [n for n in names if n not in [table.objectName() for table in tables]] == []
        for table in tables:
            missed += [f"{table.objectName()}: {what}" for what in lacks(table, qtbot)]
    assert missed == []


def lacks(table: ArenaTable, qtbot: QtBot) -> list[str]:
    """What a table does not do that all do."""
    found, rows, board = [], table.rows.shown_count(), QApplication.clipboard()
    table.setFocus()
    table.selectAll()
    QTest.keyClick(table, Qt.Key.Key_C, CTRL)
    qtbot.waitUntil(lambda: bool(board.text()))
    plain = from_tsv(board.text())
    QTest.keyClick(table, Qt.Key.Key_C, CTRL | Qt.KeyboardModifier.ShiftModifier)
    head, *rest = from_tsv(board.text())
    if len(plain) != rows or rest != plain or len(head) != len(plain[0]):
        found.append("copy")
    menu = table.row_menu()
    words = [action.text() for action in menu.actions()]
    if not {"Copy", "Copy with column heads", "Filter…", "Columns"} <= set(words):
        found.append(f"menu {words}")
    menu.deleteLater()
    section = next(s for s in table.shown_sections() if table.rows.column_at(s).title)
    table.setCurrentIndex(table.model().index(0, section))
    before = table.rows.sorted_by()
    QTest.keyClick(table, Qt.Key.Key_Down, Qt.KeyboardModifier.AltModifier)
    column = table.rows.column_at(section)
    if column.sortable and table.rows.sorted_by() == before:
        found.append("sort")
    table.sort_by(None)
    QTest.keyClick(table, Qt.Key.Key_F, CTRL)
    field = QApplication.focusWidget()
    if not isinstance(field, FilterField):
        return [*found, "filter"]
    QTest.keyClicks(field, "no row says this")
    QTest.keyClick(field, Qt.Key.Key_Return)
    try:
        qtbot.waitUntil(lambda: table.rows.shown_count() == 0, timeout=2_000)
    except TimeoutError:
        found.append("filter hides nothing")
    QTest.keyClick(field, Qt.Key.Key_Escape)
    QTest.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: table.rows.shown_count() == rows)
    if field.objectName() == "edit_find":
        QTest.keyClick(field, Qt.Key.Key_Escape)
        if QApplication.focusWidget() is not table:
            found.append("Esc")
    return found
