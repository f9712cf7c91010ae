"""The window's frame: rail, pages on first visit, focus ring, keys, strips, state."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractSlider,
    QApplication,
    QDialog,
    QLineEdit,
    QProgressBar,
    QWidget,
)

from arena_desktop.cells import Tone
from arena_desktop.main_window import MainWindow, PageEntry
from arena_desktop.settings import Settings
from arena_desktop.theme import current
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.rail import initials
from arena_desktop.widgets.rail_look import Mark
from arena_desktop.widgets.strip import Message
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, TableCard
from tests.widgets.people import make_table


class DemoPage(Page):
    """A button, a filtered table and a detail pane."""

    def __init__(self, name: str, title: str) -> None:
        super().__init__(name, title)
        self.header.controls.addWidget(Button("Run again", "primary", name="button_again"))
        self.table = ArenaTable(f"table_{name}", f"{title} table")
        model = make_table()
        model.setParent(self.table)
        self.table.setModel(model)
        self.filter = FilterBar(self.table)
        self.body.addWidget(self.filter)
        self.body.addWidget(TableCard(self.table), 1)
        self.detail = QLineEdit()
        self.detail.setAccessibleName("Detail")
        self.detail.setObjectName("detail")
        self.body.addWidget(self.detail)


@pytest.fixture
def window(qtbot, theme: Theme, settings: Settings) -> MainWindow:
    """A window with three pages and a project open."""
    made = MainWindow(
        settings,
        theme,
        [
            PageEntry("home", "Home", "home", lambda: DemoPage("home", "Home"), needs_project=False),
            PageEntry("project", "Project", "project", lambda: DemoPage("project", "Project"), "Set up"),
            PageEntry(
                "results", "Leaderboard", "results", lambda: DemoPage("results", "Leaderboard"), "Results"
            ),
        ],
    )
    qtbot.addWidget(made)
    made.set_project("Customer replies")
    made.show_page("home")
    with qtbot.waitActive(made):
        made.show()
        made.activateWindow()
    return made


def test_pages_are_built_on_first_visit(window: MainWindow, qtbot) -> None:
    assert set(window.built_pages()) == {"home"}
    with qtbot.waitSignal(window.page_changed) as changed:
        page = window.show_page("results")
    assert changed.args == ["results"]
    assert page.objectName() == "page_results"
    assert window.show_page("results") is page
    assert window.rail.current() == "results"
    with pytest.raises(KeyError):
        window.show_page("nowhere")


def test_the_rail_goes_through_sections_by_arrows_and_passes_headings(window: MainWindow) -> None:
    rail = window.rail.list
    rail.setFocus()
    for expected in ("project", "results"):
        QTest.keyClick(rail, Qt.Key.Key_Down)
        assert window.current_page() == expected
    QTest.keyClick(rail, Qt.Key.Key_Home)
    assert window.current_page() == "home"


def test_without_a_project_only_home_can_be_used(window: MainWindow) -> None:
    window.set_project("")
    rail = window.rail.list
    rail.setFocus()
    QTest.keyClick(rail, Qt.Key.Key_Down)
    assert window.current_page() == "home"
    window.menus.action("action_page_results").trigger()
    assert window.current_page() == "home"
    assert not window.menus.action("action_run").isEnabled()
    assert window.windowTitle() == "Agent Arena[*]"


def test_a_section_is_marked_as_soon_as_its_project_is_there(window: MainWindow) -> None:
    window.set_project("")
    window.show_page("results")
    assert window.rail.current() == "home"
    window.set_project("Customer replies")
    assert window.rail.current() == "results"
    assert window.current_page() == "results"


def test_marks_are_spoken(window: MainWindow) -> None:
    window.rail.set_mark("project", Mark.ATTENTION)
    window.rail.set_share("results", "55 %")
    model = window.rail.list.model()
    spoken = [
        str(model.index(row, 0).data(Qt.ItemDataRole.AccessibleTextRole) or "")
        for row in range(model.rowCount())
    ]
    assert "Project, needs attention" in spoken
    assert "Leaderboard, 55 %" in spoken
    window.rail.set_mark("project", Mark.UNSAVED)
    assert window.rail.mark("project") is Mark.UNSAVED


def test_title_and_dot_say_what_is_not_saved(window: MainWindow) -> None:
    window.set_project("Customer replies", unsaved=True, progress="43 %")
    assert window.windowTitle() == "43 % - Customer replies[*] - Agent Arena"
    assert window.isWindowModified()


@pytest.mark.parametrize(
    ("name", "letters"),
    [
        ("Customer replies", "CR"),
        ("invoices", "IN"),
        ("a-b c", "AB"),
        ("", ""),
        ("§", "§"),
        ("Ärzte Post", "ÄP"),
    ],
)
def test_initials(name: str, letters: str) -> None:
    assert initials(name) == letters


def test_control_and_number_goes_to_a_section(window: MainWindow) -> None:
    QTest.keySequence(window, "Ctrl+3")
    assert window.current_page() == "results"


def test_f6_walks_list_page_and_detail(window: MainWindow) -> None:
    page = window.built_pages()["home"]
    window.rail.list.setFocus()
    seen = []
    for _step in range(3):
        QTest.keySequence(window, "F6")
        focus = QApplication.focusWidget()
        if focus is window.rail.list:
            seen.append("list")
        elif focus is page.detail:
            seen.append("detail")
        else:
            seen.append("page" if page.isAncestorOf(focus) else "?")
    assert seen == ["page", "detail", "list"]


def test_control_f_goes_to_the_filter(window: MainWindow) -> None:
    QTest.keySequence(window, "Ctrl+F")
    assert window.built_pages()["home"].filter.field.hasFocus()


def test_tab_reaches_everything_once_and_comes_back(window: MainWindow) -> None:
    start = window.rail.project
    start.setFocus()
    seen: list[QWidget] = []
    for _step in range(80):
        QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        now = QApplication.focusWidget()
        if now is start:
            break
        seen.append(now)
    else:
        pytest.fail("Tab never came back")
    assert len(seen) == len(set(seen))
    page = window.built_pages()["home"]
    for wanted in (window.rail.list, window.rail.settings, page.table, page.detail, page.filter.field):
        assert wanted in seen


def test_the_ring_comes_by_keys_and_not_by_the_mouse(window: MainWindow) -> None:
    page = window.built_pages()["home"]
    button = page.findChild(Button, "button_again")
    QTest.mouseClick(button, Qt.MouseButton.LeftButton)
    button.setFocus(Qt.FocusReason.MouseFocusReason)
    assert window.focus_ring.target is None
    window.rail.settings.setFocus(Qt.FocusReason.OtherFocusReason)
    QTest.keyClick(window.rail.settings, Qt.Key.Key_Tab)
    ring = window.focus_ring
    assert ring.target is QApplication.focusWidget()
    assert ring.isVisible()
    where = ring.target.mapTo(window, QPoint(0, 0))
    assert ring.geometry().topLeft() == where - QPoint(4, 4)
    picture = window.grab().toImage()
    middle = ring.geometry().center().x()
    assert picture.pixelColor(middle, ring.geometry().top() + 1) == current().color("accent")


def test_the_ring_follows_and_leaves_with_its_control(window: MainWindow) -> None:
    page = window.built_pages()["home"]
    button = page.findChild(Button, "button_again")
    button.setFocus(Qt.FocusReason.ShortcutFocusReason)
    ring = window.focus_ring
    assert ring.isVisible()
    before = ring.geometry()
    window.resize(window.width() + 100, window.height())
    QApplication.processEvents()
    assert ring.geometry() == before.translated(100, 0)
    button.hide()
    assert not ring.isVisible()


def test_fields_show_their_focus_without_a_ring(window: MainWindow) -> None:
    window.built_pages()["home"].detail.setFocus(Qt.FocusReason.TabFocusReason)
    assert window.focus_ring.target is None


def test_messages_travel_with_the_page_and_escape_closes_the_newest(window: MainWindow) -> None:
    window.show_message(Message("offline", Tone.WARN, "There is no internet connection."))
    page = window.show_page("results")
    assert page.isAncestorOf(window.window_strips)
    assert window.window_strips.isVisible()
    page.setFocus()
    QTest.keyClick(window, Qt.Key.Key_Escape)
    assert not window.window_strips.isVisible()


def test_every_visible_control_has_a_spoken_name(window: MainWindow) -> None:
    counts = {"done": 1, "failed": 0, "under_way": 1, "waiting": 2}
    window.status.run.show_run("Running 25 %", counts)
    window.show_message(Message("k", Tone.BAD, "OpenAI did not accept the access key."))
    kinds = (QAbstractButton, QLineEdit, QAbstractItemView, QAbstractSlider, QProgressBar)
    nameless = []
    for widget in window.findChildren(QWidget):
        if not isinstance(widget, kinds) or not widget.isVisible() or widget.objectName().startswith("qt_"):
            continue
        if widget.parent().objectName().startswith("qt_scrollarea"):
            continue
        name = QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
        if not name or name == type(widget).__name__ or "object" in name:
            nameless.append(widget)
    assert nameless == []


def test_appearance_is_switched_live_and_kept(window: MainWindow, theme: Theme, settings: Settings) -> None:
    window.menus.action("action_appearance_dark").trigger()
    assert theme.appearance is Appearance.DARK
    assert settings.appearance == "dark"
    picture = window.grab().toImage()
    for spot in (
        QPoint(4, 4),
        QPoint(100, window.height() - 80),
        QPoint(600, 500),
        QPoint(300, window.height() - 8),
    ):
        assert picture.pixelColor(spot).lightnessF() < 0.2, spot


def test_text_size_keys(window: MainWindow, theme: Theme, settings: Settings) -> None:
    for keys, percent in (("Ctrl++", 110), ("Ctrl+=", 120), ("Ctrl+-", 110), ("Ctrl+0", 100)):
        QTest.keySequence(window, keys)
        assert theme.text_percent == settings.text_percent == percent, keys


def test_narrow_windows_tell_their_pages(window: MainWindow) -> None:
    page = window.built_pages()["home"]
    window.resize(1000, 700)
    QApplication.processEvents()
    assert page.narrow
    assert window.show_page("project").narrow
    window.resize(1280, 800)
    QApplication.processEvents()
    assert not page.narrow


def test_size_and_section_are_kept(window: MainWindow, settings: Settings) -> None:
    window.resize(1111, 777)
    window.show_page("results")
    window.close()
    again = Settings(settings.path)
    assert again.last_page == "results"
    assert not again.bytes_of("geometry").isEmpty()


def test_a_listener_may_keep_the_window_open(window: MainWindow) -> None:
    window.close_requested.connect(lambda event: event.ignore())
    assert not window.close()
    assert window.isVisible()
    window.close_requested.disconnect()


def test_every_action_has_a_name_and_no_key_is_given_twice(window: MainWindow) -> None:
    keys: list[str] = []
    for action in window.menus.all_actions():
        assert action.objectName().startswith("action_")
        keys += [key.toString() for key in action.shortcuts()]
    assert len(keys) == len(set(keys))
    for name in ("new_project", "open_project", "run", "cancel", "pause", "settings", "export", "compare"):
        assert window.menus.action(f"action_{name}").text()


# ---- the keyboard stays on the page


def test_the_keyboard_stays_on_the_page_when_its_button_goes_away(window: MainWindow, qtbot) -> None:
    page = window.page("home")
    again, stop = page.findChild(Button, "button_again"), Button("Pause", name="button_pause")
    page.body.addWidget(stop)
    page.lands_on = ("button_nowhere", "button_pause")
    window.focus_ring.focus(again)
    again.hide()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is stop)
    qtbot.waitUntil(lambda: window.focus_ring.target is stop)


def test_who_came_by_mouse_gets_no_ring_elsewhere(window: MainWindow, qtbot) -> None:
    page = window.page("home")
    again, stop = page.findChild(Button, "button_again"), Button("Pause", name="button_pause")
    page.body.addWidget(stop)
    page.lands_on = ("button_pause",)
    QTest.mouseClick(again, Qt.MouseButton.LeftButton)
    again.hide()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is stop)
    QApplication.processEvents()
    assert window.focus_ring.target is None


def test_the_keyboard_never_stays_in_a_control_that_nobody_sees(window: MainWindow, qtbot) -> None:
    home, results = window.page("home"), window.show_page("results")
    gone = results.findChild(Button, "button_again")
    gone.setFocus()
    window.show_page("home")
    gone.hide()
    first = home.findChild(Button, "button_again")
    first.setFocus()
    # A stack of pages gives the keyboard back to what had it last, seen or not.
    window.show_page("results")
    qtbot.waitUntil(lambda: results.isAncestorOf(QApplication.focusWidget()))
    qtbot.waitUntil(lambda: QApplication.focusWidget().isVisible())


def test_who_goes_on_by_tab_is_left_alone(window: MainWindow, qtbot) -> None:
    page = window.page("home")
    again = page.findChild(Button, "button_again")
    page.lands_on = ("button_again",)
    window.focus_ring.focus(again)
    QTest.keyClick(again, Qt.Key.Key_Tab)
    QApplication.processEvents()
    now = QApplication.focusWidget()
    assert now is not again
    assert page.isAncestorOf(now)


def test_a_control_that_goes_away_behind_a_question_leaves_the_keyboard_on_the_page(
    window: MainWindow, qtbot
) -> None:
    page = window.page("home")
    again, stop = page.findChild(Button, "button_again"), Button("Pause", name="button_pause")
    page.body.addWidget(stop)
    page.lands_on = ("button_pause",)
    again.setFocus()
    asked = QDialog(window)
    asked.setModal(True)
    with qtbot.waitActive(asked):
        asked.show()
        asked.activateWindow()
    again.hide()
    QApplication.processEvents()
    with qtbot.waitActive(window):
        asked.close()
        window.activateWindow()
    qtbot.waitUntil(lambda: QApplication.focusWidget() is stop)
