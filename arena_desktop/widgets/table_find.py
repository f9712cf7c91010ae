"""Finding in a table that has no filter field of its own: a row that comes with Ctrl+F and goes with Esc."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.widgets.buttons import IconButton
from arena_desktop.widgets.filter_bar import FilterBar
from arena_desktop.widgets.table import ArenaTable


class FindRow(QWidget):
    """Filter field, count, columns and a cross. Closing it shows all rows again."""

    def __init__(self, table: ArenaTable) -> None:
        super().__init__()
        self.setObjectName("row_find")
        self._table = table
        row = QHBoxLayout(self)
        row.setContentsMargins(16, 8, 8, 8)
        row.setSpacing(8)
        self.bar = FilterBar(table, name="edit_find", passing=True)
        self.bar.field.setAccessibleName(
            self.tr("Filter: {table}").format(table=table.accessibleName() or self.tr("this table"))
        )
        row.addWidget(self.bar, 1)
        self.button_close = IconButton("close", self.tr("Close the filter"), name="button_close_find")
        self.button_close.clicked.connect(self.close_row)
        row.addWidget(self.button_close, 0, Qt.AlignmentFlag.AlignTop)
        self.hide()

    def open(self) -> None:
        """Shows it, with the keyboard in the field."""
        self.show()
        self.bar.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.bar.field.selectAll()

    def close_row(self) -> None:
        """Shows all rows again and gives the keyboard back to the table."""
        self.bar.field.clear()
        self.bar.apply()
        self.hide()
        self._table.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # The field itself takes the Esc that empties it.
        if event.key() == Qt.Key.Key_Escape:
            self.close_row()
        else:
            super().keyPressEvent(event)


def with_find_row(table: ArenaTable) -> QWidget:
    """A table that stands on no card of its own, with its row for finding above it."""
    holder = QWidget()
    column = QVBoxLayout(holder)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(0)
    row = FindRow(table)
    table.find_wanted.connect(row.open)
    column.addWidget(row)
    column.addWidget(table, 1)
    return holder
