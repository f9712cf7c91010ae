"""Finding and sorting by keyboard in any table, and a filter that is remembered only where it is seen."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QVBoxLayout, QWidget

from arena_desktop.settings import Settings
from arena_desktop.theme.switch import Theme
from arena_desktop.widgets.filter_bar import FilterBar
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.widgets.table_find import with_find_row
from tests.widgets.people import ROWS, make_table

CTRL, ALT = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.AltModifier
DOWN, UP = Qt.SortOrder.DescendingOrder, Qt.SortOrder.AscendingOrder


def a_table() -> ArenaTable:
    view = ArenaTable("table_test", "Models")
    model = make_table(ROWS)
    model.setParent(view)
    view.setModel(model)
    return view


@pytest.fixture
def show(qtbot, theme: Theme) -> Callable[..., QWidget]:
    """Shows widgets in a window of their own, in front."""
    windows: list[QWidget] = []

    def put(*widgets: QWidget) -> QWidget:
        window = QWidget()
        windows.append(window)
        qtbot.addWidget(window)
        column = QVBoxLayout(window)
        for widget in widgets:
            column.addWidget(widget)
        window.resize(700, 400)
        with qtbot.waitActive(window):
            window.show()
            window.activateWindow()
        return window

    return put


@pytest.mark.parametrize("holder", [TableCard, with_find_row])
def test_a_table_without_a_field_finds_by_keyboard(show, qtbot, holder: Callable) -> None:
    view = a_table()
    window = show(holder(view))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_F, CTRL)
    field = QApplication.focusWidget()
    assert (field.objectName(), field.accessibleName()) == ("edit_find", "Filter: Models")
    QTest.keyClicks(field, "gamma")
    QTest.keyClick(field, Qt.Key.Key_Return)
    assert [row.key for row in view.rows.shown_rows()] == ["c"]
    QTest.keyClick(field, Qt.Key.Key_Down)
    assert QApplication.focusWidget() is view
    QTest.keyClick(view, Qt.Key.Key_F, CTRL)
    # The first Esc empties the field, the second closes the row.
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: view.rows.shown_count() == 4)
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Escape)
    assert QApplication.focusWidget() is view
    assert not window.findChild(QWidget, "row_find").isVisible()


def test_closing_the_row_shows_everything_again(show) -> None:
    view = a_table()
    window = show(TableCard(view))
    view.find()
    QTest.keyClicks(QApplication.focusWidget(), "nothing like it")
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    assert not view.isVisible()
    window.findChild(QWidget, "button_close_find").click()
    assert (view.isVisible(), view.rows.shown_count()) == (True, 4)


def test_a_table_with_a_field_of_its_own_goes_there(show) -> None:
    view = a_table()
    bar = FilterBar(view)
    window = show(bar, TableCard(view))
    view.setFocus()
    QTest.keyClick(view, Qt.Key.Key_F, CTRL)
    assert QApplication.focusWidget() is bar.field
    assert window.findChild(QWidget, "row_find") is None
    QTest.keyClick(bar.field, Qt.Key.Key_Down)
    assert QApplication.focusWidget() is view


def test_the_column_of_the_current_cell_is_sorted_by_keyboard(show) -> None:
    view = a_table()
    show(TableCard(view))
    view.select_key("a")
    view.setCurrentIndex(view.model().index(view.currentIndex().row(), 2))
    for key, wanted in (
        (Qt.Key.Key_Down, ("score", DOWN)),
        (Qt.Key.Key_Up, ("score", UP)),
        (Qt.Key.Key_Up, None),
    ):
        QTest.keyClick(view, key, ALT)
        assert view.rows.sorted_by() == wanted
        assert view.current_record().key == "a"
    # A column of check boxes has no order.
    view.setCurrentIndex(view.model().index(0, 0))
    QTest.keyClick(view, Qt.Key.Key_Down, ALT)
    assert view.rows.sorted_by() is None


def test_a_remembered_filter_stands_in_its_field(show, settings: Settings, qtbot) -> None:
    view = a_table()
    bar = FilterBar(view)
    show(bar, TableCard(view))
    view.remember(settings)
    bar.field.setText("gamma")
    bar.apply()
    qtbot.waitUntil(lambda: settings.view_state("table_test").get("filter") == "gamma")
    # Also where the bar was there before the table was told to remember.
    again = a_table()
    other = FilterBar(again)
    show(other, TableCard(again))
    again.remember(Settings(settings.path))
    assert (other.field.text(), other.count.text(), again.rows.shown_count()) == ("gamma", "1 of 4 shown", 1)


def test_a_passing_filter_is_not_remembered(show, settings: Settings, qtbot) -> None:
    view = a_table()
    show(TableCard(view))
    view.remember(settings)
    view.find()
    QTest.keyClicks(QApplication.focusWidget(), "gamma")
    QTest.keyClick(QApplication.focusWidget(), Qt.Key.Key_Return)
    view.sort_by("score", DOWN)
    qtbot.waitUntil(lambda: settings.view_state("table_test").get("sort") == ["score", DOWN.value])
    assert settings.view_state("table_test")["filter"] == ""


def test_each_project_has_a_filter_of_its_own(show, settings: Settings, tmp_path: Path) -> None:
    view = a_table()
    bar = FilterBar(view)
    show(bar, TableCard(view))
    one, two = tmp_path / "one", tmp_path / "two"
    view.remember(settings, one)
    bar.field.setText("gamma")
    bar.apply()
    view.remember(settings, one)
    assert bar.field.text() == "gamma"
    view.remember(settings, two)
    assert (bar.field.text(), view.rows.shown_count()) == ("", 4)
    view.remember(settings, one)
    assert (bar.field.text(), view.rows.shown_count()) == ("gamma", 1)
