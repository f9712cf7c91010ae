"""The menus of an `ArenaTable`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QMenu, QWidget

from arena_desktop.cells import Column, Link, Role
from arena_desktop.widgets.cell_paint import links_of

if TYPE_CHECKING:
    from arena_desktop.widgets.column_widths import ColumnWidths
    from arena_desktop.widgets.table import ArenaTable


def tr(text: str) -> str:
    """Translates in the context of the table."""
    return QCoreApplication.translate("ArenaTable", text)


def sorted_words(column: Column[Any] | None, order: Qt.SortOrder) -> str:
    """How a table is sorted now, for a screen reader."""
    if column is None:
        return tr("In the original order")
    up = order == Qt.SortOrder.AscendingOrder
    words = tr("Sorted by {column}, smallest first") if up else tr("Sorted by {column}, largest first")
    return words.format(column=column.title)


def columns_menu(table: ArenaTable, widths: ColumnWidths, parent: QWidget) -> QMenu:
    """A menu with a tick per column that may be hidden."""
    menu = QMenu(parent)
    for column in widths.columns():
        if not column.can_hide or not column.title:
            continue
        action = menu.addAction(column.title)
        action.setCheckable(True)
        action.setChecked(not widths.is_hidden(column.id))
        action.toggled.connect(lambda on, column_id=column.id: table.hide_column(column_id, not on))
    menu.addSeparator()
    menu.addAction(tr("Show as at first")).triggered.connect(table.reset_looks)
    return menu


def row_menu(table: ArenaTable) -> QMenu:
    """The menu of the current row: its links, the page's own entries, copy, sorting, columns."""
    menu = QMenu(table)
    record = table.current_record()
    if record is not None:
        _add_links(table, menu, record)
        table.fill_row_menu(menu, record)
        if not menu.isEmpty():
            menu.addSeparator()
    menu.addAction(table.action_copy)
    menu.addAction(table.action_copy_head)
    menu.addSeparator()
    _add_sorting(table, menu)
    menu.addAction(tr("Filter…")).triggered.connect(table.find)
    columns = table.columns_menu(menu)
    columns.setTitle(tr("Columns"))
    menu.addMenu(columns)
    return menu


def _add_links(table: ArenaTable, menu: QMenu, record: Any) -> None:
    row = table.currentIndex().row()
    found: list[Link] = []
    for section in table.shown_sections():
        found += links_of(table.model().index(row, section).data(Role.CELL))
    for link in found:
        action = menu.addAction(link.text)
        action.triggered.connect(lambda _checked=False, name=link.id: table.link_clicked.emit(record, name))


def _add_sorting(table: ArenaTable, menu: QMenu) -> None:
    section = table.currentIndex().column()
    column = table.rows.column_at(section) if section >= 0 else None
    if column is not None and column.sortable and column.title:
        text = tr("Sort by {column}").format(column=column.title)
        menu.addAction(text).triggered.connect(lambda: table.sort_next(section))
    original = menu.addAction(tr("Original order"))
    original.setEnabled(table.rows.sorted_by() is not None)
    original.triggered.connect(lambda: table.sort_by(None))
