"""Draws whole rows of an `ArenaTable`: background, accent bar, content, hairline, focus ring."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from arena_desktop.cells import Column, Link, Role
from arena_desktop.theme import Tokens, current, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import card, hline, rounded
from arena_desktop.widgets.cell_paint import Pen, cell_links, paint_cell

PADDING = 12
_BAR = 3
_NARROW_COLUMN = 72
Index = QModelIndex | QPersistentModelIndex


def check_size() -> int:
    """The side of a check box in a table."""
    return icon_size(16)


def edge(column: Column) -> int:
    """More padding at the outer edge of a first column; less where it is narrow."""
    return 4 if column.width <= _NARROW_COLUMN else 8


class RowDelegate(QStyledItemDelegate):
    """One delegate for every column; text comes from roles only, so copy and speech say the same."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self._view = view
        self.hovered_row = -1
        self.keyboard = False

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme, row = current(), QRectF(option.rect)
        selected = self._row_selected(index)
        ground = self._ground(theme, index, selected)
        if ground is not None:
            painter.fillRect(option.rect, ground)
        visual_first, _last = self._edges(index.column())
        if selected and visual_first:
            painter.fillRect(QRectF(row.x(), row.y(), _BAR, row.height()), theme.color("accent"))
        pen = self._pen(painter, option, index, theme)
        pen.ground = ground or theme.color("surface")
        pen.selected = selected
        last_row = index.row() == index.model().rowCount() - 1
        if not (last_row and self._view.property("last_line") is False):
            hline(painter, row.x(), row.bottom(), row.width(), theme.color("line"))
        # After the line: the bracket of a tie runs over it.
        painter.setClipRect(option.rect)
        self._content(pen, index)
        painter.setClipping(False)
        if self._has_ring(index):
            ring = row.adjusted(2 if not visual_first else 4, 2, -2, -3)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(ring, 5, 5)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(
            super().sizeHint(option, index).width() + 2 * PADDING,
            self._view.verticalHeader().defaultSectionSize(),
        )

    def link_at(self, position: QPoint, option: QStyleOptionViewItem, index: Index) -> Link | None:
        """The link below a point of the viewport, or None."""
        pen = self._pen(None, option, index, current())
        for link, place in cell_links(pen, index.data(Role.CELL)):
            if place.contains(position):
                return link
        return None

    def check_rect(self, cell: QRectF, first: bool) -> QRectF:
        """Where the check box of a cell stands."""
        left = cell.x() + (4 if first else 0) + PADDING - 1
        size = check_size()
        return QRectF(left, cell.center().y() - size / 2, size, size)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        editor = super().createEditor(parent, option, index)
        if editor is not None:
            column: Column = index.model().headerData(index.column(), Qt.Orientation.Horizontal, Role.COLUMN)
            editor.setAccessibleName(column.title)
        return editor

    def updateEditorGeometry(self, editor: QWidget, option: QStyleOptionViewItem, index: Index) -> None:
        editor.setGeometry(option.rect.adjusted(2, 2, -2, -3))

    # inside

    def _content(self, pen: Pen, index: Index) -> None:
        state = index.data(Qt.ItemDataRole.CheckStateRole)
        if state is not None:
            place = self.check_rect(pen.row, self._edges(index.column())[0])
            paint_check(pen.painter, pen.theme, place, Qt.CheckState(state))
            pen.box.setLeft(place.right() + 8)
        text = index.data(Qt.ItemDataRole.DisplayRole)
        cell = index.data(Role.CELL)
        if cell is not None or text:
            paint_cell(pen, cell, str(text or "").replace("\n", " ¶ "))

    def _pen(
        self, painter: QPainter | None, option: QStyleOptionViewItem, index: Index, theme: Tokens
    ) -> Pen:
        row = QRectF(option.rect)
        first, _last = self._edges(index.column())
        column = index.model().headerData(index.column(), Qt.Orientation.Horizontal, Role.COLUMN)
        box = row.adjusted(PADDING + (edge(column) if first else 0), 0, -PADDING, -1)
        return Pen(
            painter=painter,  # type: ignore[arg-type] - None only while links are looked for
            theme=theme,
            box=box,
            row=row,
            ground=theme.color("surface"),
            column=column,
            muted=bool(index.data(Role.MUTED)),
        )

    def _ground(self, theme: Tokens, index: Index, selected: bool) -> QColor | None:
        if selected:
            block = self._view.selectionBehavior() == QTableView.SelectionBehavior.SelectItems
            many = block and len(self._view.selectionModel().selection().indexes()) > 1
            cell = many and self._view.selectionModel().isSelected(index)
            return theme.color("tint2" if cell else "tint")
        return theme.color("hover") if index.row() == self.hovered_row else None

    def _row_selected(self, index: Index) -> bool:
        selection = self._view.selectionModel()
        return selection is not None and selection.rowIntersectsSelection(index.row(), QModelIndex())

    def _has_ring(self, index: Index) -> bool:
        return self.keyboard and self._view.hasFocus() and self._view.currentIndex() == index

    def _edges(self, section: int) -> tuple[bool, bool]:
        header = self._view.horizontalHeader()
        shown = [
            at
            for at in (header.logicalIndex(n) for n in range(header.count()))
            if not header.isSectionHidden(at)
        ]
        return (section == shown[0], section == shown[-1]) if shown else (False, False)


def paint_check(painter: QPainter, theme: Tokens, place: QRectF, state: Qt.CheckState) -> None:
    """A check box as the style sheet draws it, for cells and heads."""
    if state == Qt.CheckState.Unchecked:
        card(painter, place, 4, theme.color("surface"), theme.color("line2"), 1.0)
        return
    rounded(painter, place, 4, theme.color("accent"))
    name = "check" if state == Qt.CheckState.Checked else "minus"
    theme_icons.draw(painter, name, theme["onAccent"], place.adjusted(1, 1, -1, -1))
