"""The drawing and pointing half of an `ArenaTable`: rows as one, links, check boxes, the lit row."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPaintEvent
from PySide6.QtWidgets import QTableView, QWidget

from arena_desktop.cells import Role
from arena_desktop.theme import row_height
from arena_desktop.theme.tokens import TABLE_ROW, TABLE_ROW_LIST, TABLE_ROW_TWO_LINES
from arena_desktop.widgets.table_delegate import RowDelegate
from arena_desktop.widgets.table_header import TableHeader
from arena_desktop.widgets.table_pointer import TablePointer
from arena_desktop.widgets.table_setup import set_up

_ROWS = {1: TABLE_ROW, 2: TABLE_ROW_TWO_LINES, 3: TABLE_ROW_LIST}


class DrawnTable(QTableView):
    """Draws with `RowDelegate`; presses on links and check boxes mean what is drawn there.

    `lines` of a row as for `ArenaTable`.
    """

    activated_row = Signal(object)
    """Enter or a double click on a row: its record."""
    link_clicked = Signal(object, str)
    """Record and id of a link in a cell, by mouse, key or menu."""

    def __init__(self, *, lines: int, cells: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lines = lines
        self._fit_rows = 0
        self._delegate = RowDelegate(self)
        self._header = TableHeader(self)
        self._pointer = TablePointer(self, self._delegate, self._header)
        self.setItemDelegate(self._delegate)
        self.setHorizontalHeader(self._header)
        self._header.check_clicked.connect(self._pointer.toggle_all)
        set_up(self, cells=cells)

    def toggle_check(self, index: QModelIndex) -> None:
        """Turns one check box."""
        self._pointer.toggle(index)

    # size

    def fit_rows(self, most: int = 1000) -> None:
        """Makes the table as high as its rows (at most `most`), for pages that scroll as a whole."""
        self._fit_rows = most
        self.setProperty("last_line", False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._apply_height()

    @property
    def fits_rows(self) -> bool:
        """Whether the table is as high as its rows."""
        return self._fit_rows > 0

    def sizeHint(self) -> QSize:
        if not self._fit_rows:
            return super().sizeHint()
        return QSize(super().sizeHint().width(), self._wanted_height())

    # Qt events

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._set_keyboard(False)
        position = event.position().toPoint()
        if self._pointer.press(position):
            # Qt would ask the style for the place of the box; ours is drawn by the delegate.
            self.setCurrentIndex(self.indexAt(position))
            return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        target = self._pointer.release(event.position().toPoint())
        if target is not None:
            index = self.model().index(target.row, target.column)
            if target.link is None:
                self._pointer.toggle(index)
                return
            self.link_clicked.emit(index.data(Role.RECORD), target.link.id)
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        if index.isValid() and self._pointer.target_at(position) is None:
            self.activated_row.emit(index.data(Role.RECORD))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._pointer.hover(event.position().toPoint())

    def paintEvent(self, event: QPaintEvent) -> None:
        self._delegate.begin_page()
        try:
            super().paintEvent(event)
        finally:
            self._delegate.end_page()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer.light(-1)

    # inside

    def _set_keyboard(self, on: bool) -> None:
        if self._delegate.keyboard != on:
            self._delegate.keyboard = on
            self.viewport().update()

    def _apply_row_height(self) -> None:
        height = row_height(_ROWS[self._lines], min(2, self._lines))
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)
        self._apply_height()

    def _wanted_height(self) -> int:
        shown = min(self._fit_rows, self.model().rowCount() if self.model() is not None else 0)
        return self._header.sizeHint().height() + shown * self.verticalHeader().defaultSectionSize()

    def _apply_height(self) -> None:
        if self._fit_rows:
            self.setFixedHeight(self._wanted_height())
