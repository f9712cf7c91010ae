"""Draws whole rows of an `ArenaTable`: background, accent bar, content, hairline, focus ring."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QModelIndex, QPersistentModelIndex, QPoint, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPen
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QTableView, QWidget

from arena_desktop.cells import Column, Link, Role
from arena_desktop.theme import Tokens, current, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import card, device_ratio, hairline_width, rounded
from arena_desktop.widgets.cell_paint import cell_links, paint_cell
from arena_desktop.widgets.cell_pen import BOOK, Pen

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


@dataclass(slots=True)
class _Page:
    """What is the same for every cell of one page drawn, asked once instead of once a cell."""

    theme: Tokens
    first: int
    columns: list[Column[Any]]
    last_row: int
    ring: tuple[int, int] | None
    block: bool
    selected: dict[int, bool] = field(default_factory=dict)


class RowDelegate(QStyledItemDelegate):
    """One delegate for every column; text comes from the model only, so copy and speech say the same."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(view)
        self._view = view
        self._page: _Page | None = None
        self.hovered_row = -1
        self.keyboard = False

    def begin_page(self) -> None:
        """From here to `end_page` nothing changes but the cell."""
        self._page = self._make_page()

    def end_page(self) -> None:
        """The page is drawn."""
        self._page = None

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        page = self._page or self._make_page()
        rect, row, section = option.rect, index.row(), index.column()
        cell_box, first = QRectF(rect), section == page.first
        selected = self._row_selected(page, row)
        ground = self._ground(page, index, selected)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
        if ground is not None:
            painter.fillRect(rect, ground)
        if selected and first:
            bar = QRectF(cell_box.x(), cell_box.y(), _BAR, cell_box.height())
            painter.fillRect(bar, page.theme.color("accent"))
        if row != page.last_row:
            self._line(painter, cell_box, page.theme)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        pen = self._pen(painter, cell_box, page, section)
        pen.ground = ground or page.theme.color("surface")
        pen.selected = selected
        self._content(pen, page, row, section)
        if page.ring == (row, section):
            painter.setClipping(False)
            painter.setPen(QPen(page.theme.color("accent"), 2))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(cell_box.adjusted(4 if first else 2, 2, -2, -3), 5, 5)
        painter.restore()

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(
            super().sizeHint(option, index).width() + 2 * PADDING,
            self._view.verticalHeader().defaultSectionSize(),
        )

    def link_at(self, position: QPoint, option: QStyleOptionViewItem, index: Index) -> Link | None:
        """The link below a point of the viewport, or None."""
        pen = self._pen(None, QRectF(option.rect), self._make_page(), index.column())
        pen.muted = bool(index.data(Role.MUTED))
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

    def _make_page(self) -> _Page:
        BOOK.renew()
        view = self._view
        header, model, now = view.horizontalHeader(), view.model(), view.currentIndex()
        order = (header.logicalIndex(place) for place in range(header.count()))
        ring = self.keyboard and view.hasFocus() and now.isValid()
        return _Page(
            theme=current(),
            first=next((section for section in order if not header.isSectionHidden(section)), -1),
            columns=[model.column_at(section) for section in range(model.columnCount())],
            # Without a last line there is no row that leaves it out.
            last_row=model.rowCount() - 1 if view.property("last_line") is False else -1,
            ring=(now.row(), now.column()) if ring else None,
            block=view.selectionBehavior() == QTableView.SelectionBehavior.SelectItems,
        )

    def _content(self, pen: Pen, page: _Page, row: int, section: int) -> None:
        shown = self._view.model().shown(row, section)
        pen.muted = shown.muted
        if shown.check is not None:
            place = self.check_rect(pen.row, section == page.first)
            paint_check(pen.painter, pen.theme, place, shown.check)
            pen.box.setLeft(place.right() + 8)
        if shown.cell is not None:
            # Drawn after the line: the bracket of a tie runs over it.
            pen.painter.setClipRect(pen.row)
            paint_cell(pen, shown.cell, shown.text)
        elif shown.text:
            paint_cell(pen, None, shown.text.replace("\n", " ¶ "))

    def _pen(self, painter: QPainter | None, row: QRectF, page: _Page, section: int) -> Pen:
        column = page.columns[section]
        left = PADDING + (edge(column) if section == page.first else 0)
        return Pen(
            painter=painter,  # type: ignore[arg-type] - None only while links are looked for
            theme=page.theme,
            box=row.adjusted(left, 0, -PADDING, -1),
            row=row,
            ground=page.theme.color("surface"),
            column=column,
        )

    @staticmethod
    def _line(painter: QPainter, row: QRectF, theme: Tokens) -> None:
        ratio = device_ratio(painter)
        thick = hairline_width(ratio)
        below = round(row.bottom() * ratio) / ratio
        painter.fillRect(QRectF(row.x(), below - thick, row.width(), thick), theme.color("line"))

    def _ground(self, page: _Page, index: Index, selected: bool) -> QColor | None:
        if selected:
            chosen = self._view.selectionModel()
            # More than one cell: a block, whose cells stand out of their rows.
            many = page.block and not _is_one_cell(chosen.selection())
            return page.theme.color("tint2" if many and chosen.isSelected(index) else "tint")
        return page.theme.color("hover") if index.row() == self.hovered_row else None

    def _row_selected(self, page: _Page, row: int) -> bool:
        found = page.selected.get(row)
        if found is None:
            selection = self._view.selectionModel()
            found = selection is not None and selection.rowIntersectsSelection(row, QModelIndex())
            page.selected[row] = found
        return found


def _is_one_cell(selection: Any) -> bool:
    # Ranges instead of `indexes()`, which makes an object for every chosen cell.
    ranges = [selection.at(n) for n in range(min(2, selection.count()))]
    return len(ranges) == 1 and ranges[0].width() == 1 and ranges[0].height() == 1


def paint_check(painter: QPainter, theme: Tokens, place: QRectF, state: Qt.CheckState) -> None:
    """A check box as the style sheet draws it, for cells and heads."""
    if state == Qt.CheckState.Unchecked:
        card(painter, place, 4, theme.color("surface"), theme.color("line2"), 1.0)
        return
    rounded(painter, place, 4, theme.color("accent"))
    name = "check" if state == Qt.CheckState.Checked else "minus"
    theme_icons.draw(painter, name, theme["onAccent"], place.adjusted(1, 1, -1, -1))
