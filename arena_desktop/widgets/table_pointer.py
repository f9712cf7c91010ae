"""What lies below the mouse in an `ArenaTable`: a link, a check box, the row that is lit."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, Qt
from PySide6.QtWidgets import QStyleOptionViewItem, QTableView

from arena_desktop.cells import Link
from arena_desktop.widgets.table_delegate import RowDelegate
from arena_desktop.widgets.table_header import TableHeader


@dataclass(frozen=True, slots=True)
class Target:
    """Something that can be pressed. `link` None = the check box of the cell."""

    row: int
    column: int
    link: Link | None = None


class TablePointer:
    """Finds targets, keeps what the button went down on, lights rows, ticks boxes."""

    def __init__(self, view: QTableView, delegate: RowDelegate, header: TableHeader) -> None:
        self._view, self._delegate, self._header = view, delegate, header
        self._down: Target | None = None

    def target_at(self, position: QPoint) -> Target | None:
        """The link or check box below a point of the viewport, or None."""
        index = self._view.indexAt(position)
        if not index.isValid():
            return None
        if index.data(Qt.ItemDataRole.CheckStateRole) is not None:
            box = self._delegate.check_rect(self._view.visualRect(index).toRectF(), True)
            hit = position.x() <= box.right() + 8
            return Target(index.row(), index.column()) if hit else None
        option = QStyleOptionViewItem()
        option.rect = self._view.visualRect(index)
        link = self._delegate.link_at(position, option, index)
        return Target(index.row(), index.column(), link) if link is not None else None

    def press(self, position: QPoint) -> bool:
        """The button went down. True when it was on a check box, which the view must not handle."""
        self._down = self.target_at(position)
        return self._down is not None and self._down.link is None

    def release(self, position: QPoint) -> Target | None:
        """The button went up: the target, when it is the one the button went down on."""
        down, self._down = self._down, None
        return down if down is not None and down == self.target_at(position) else None

    def hover(self, position: QPoint) -> None:
        """The mouse moved: lights the row, shows the hand over a link."""
        self.light(self._view.rowAt(position.y()))
        target = self.target_at(position)
        hand = target is not None and target.link is not None
        shape = Qt.CursorShape.PointingHandCursor if hand else Qt.CursorShape.ArrowCursor
        self._view.viewport().setCursor(shape)

    def light(self, row: int) -> None:
        """Lights one row; -1 for none. Only the two rows concerned are drawn again."""
        view = self._view
        old, self._delegate.hovered_row = self._delegate.hovered_row, row
        for changed in {old, row} - {-1}:
            if view.model() is not None and changed < view.model().rowCount():
                top = view.rowViewportPosition(changed)
                view.viewport().update(0, top, view.viewport().width(), view.rowHeight(changed))

    def toggle(self, index: QModelIndex | QPersistentModelIndex) -> None:
        """Turns one check box."""
        state = Qt.CheckState(index.data(Qt.ItemDataRole.CheckStateRole))
        fresh = Qt.CheckState.Unchecked if state == Qt.CheckState.Checked else Qt.CheckState.Checked
        self._view.model().setData(index, fresh, Qt.ItemDataRole.CheckStateRole)
        self._header.viewport().update()

    def toggle_all(self, section: int) -> None:
        """Ticks all shown rows, or none when all are ticked."""
        model = self._view.model()
        on = self._header.check_state(section) != Qt.CheckState.Checked
        fresh = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
        # By persistent index: ticking may change which rows are shown.
        indexes = [QPersistentModelIndex(model.index(row, section)) for row in range(model.rowCount())]
        for index in indexes:
            if index.isValid():
                model.setData(QModelIndex(index), fresh, Qt.ItemDataRole.CheckStateRole)
        self._header.viewport().update()
