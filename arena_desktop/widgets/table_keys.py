"""The keys of an `ArenaTable` that Qt's own table does not know."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtGui import QKeyEvent, QKeySequence

from arena_desktop.cells import Role
from arena_desktop.widgets.cell_paint import links_of

if TYPE_CHECKING:
    from arena_desktop.widgets.table import ArenaTable

COPY_HEAD = QKeySequence("Ctrl+Shift+C")
_COPY_HEAD = COPY_HEAD[0]
_SORTS = {Qt.Key.Key_Up: Qt.SortOrder.AscendingOrder, Qt.Key.Key_Down: Qt.SortOrder.DescendingOrder}


def press_key(table: ArenaTable, event: QKeyEvent) -> bool:
    """Does what a key means; False leaves it to Qt."""
    key, index = event.key(), table.currentIndex()
    if _press_command(table, event):
        return True
    if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            table.add_pressed.emit()
        elif index.isValid():
            _enter(table, index)
    elif key == Qt.Key.Key_Insert and not event.modifiers():
        table.add_pressed.emit()
    elif key == Qt.Key.Key_Delete:
        table.delete_pressed.emit()
    elif key == Qt.Key.Key_Space and check_section(table) >= 0 and index.isValid():
        table.toggle_check(index.siblingAtColumn(check_section(table)))
    else:
        return False
    return True


def _press_command(table: ArenaTable, event: QKeyEvent) -> bool:
    """The keys that mean the table as a whole."""
    key = event.key()
    if event.matches(QKeySequence.StandardKey.Copy):
        # Qt's own copy would take the current cell only.
        table.copy()
    elif event.keyCombination() == _COPY_HEAD:
        table.copy(with_head=True)
    elif event.matches(QKeySequence.StandardKey.Find):
        # In a dialog; the main window has it in its menu.
        table.find()
    elif event.matches(QKeySequence.StandardKey.Paste):
        table.paste_pressed.emit()
    elif key in _SORTS and event.modifiers() & Qt.KeyboardModifier.AltModifier:
        table.sort_current(_SORTS[key])
    else:
        return False
    return True


def check_section(table: ArenaTable) -> int:
    """The column of check boxes, or -1."""
    sections = range(table.model().columnCount())
    return next((s for s in sections if table.rows.column_at(s).checked is not None), -1)


def _enter(table: ArenaTable, index: QModelIndex) -> None:
    links = links_of(index.data(Role.CELL))
    if links:
        table.link_clicked.emit(index.data(Role.RECORD), links[0].id)
    else:
        table.activated_row.emit(index.data(Role.RECORD))
