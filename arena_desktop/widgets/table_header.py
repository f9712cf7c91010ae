"""The head of a table: plain words, a chevron at the sorted column, a check box over check columns."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QMouseEvent, QPainter
from PySide6.QtWidgets import QHeaderView, QTableView

from arena_desktop.cells import Align, Column, Role
from arena_desktop.theme import current, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import draw_shape, hline
from arena_desktop.theme.tokens import TABLE_HEAD
from arena_desktop.widgets.cell_paint import MARK, marks_step
from arena_desktop.widgets.cell_pen import BOOK
from arena_desktop.widgets.table_delegate import PADDING, check_size, edge, paint_check

_CHEVRON = 14
_SHARED = 8


class TableHeader(QHeaderView):
    """Draws from the column data, never from the widget, so nothing drawn leaks into copied text."""

    check_clicked = Signal(int)
    """The check box in a head was clicked (section)."""

    def __init__(self, view: QTableView) -> None:
        super().__init__(Qt.Orientation.Horizontal, view)
        self.setSectionsClickable(True)
        self.setSectionsMovable(True)
        self.setHighlightSections(False)
        self.setStretchLastSection(False)
        self.setMouseTracking(True)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.setAccessibleName(self.tr("Column heads"))
        self._pressed_check = -1

    def sizeHint(self) -> QSize:
        BOOK.renew()
        needed = BOOK.metrics("head").height() + 20
        return QSize(super().sizeHint().width(), max(TABLE_HEAD, -(-int(needed) // 4) * 4))

    def needed_width(self, section: int) -> int:
        """The width at which a head shows its whole title."""
        BOOK.renew()
        column = self._column(section)
        if column is None:
            return 2 * PADDING
        width = BOOK.metrics("head").horizontalAdvance(column.title) + 2 * PADDING + 4
        if column.sortable and column.align is not Align.RIGHT:
            # The chevron may use most of the padding.
            width += _CHEVRON + 4 - _SHARED
        return int(width + 0.999)

    def paintSection(self, painter: QPainter, rect: QRect, section: int) -> None:
        BOOK.renew()
        column = self._column(section)
        theme = current()
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        hline(painter, rect.x(), rect.y() + rect.height(), rect.width(), theme.color("line3"))
        if column is not None and rect.isValid():
            self._paint_content(painter, QRectF(rect), section, column)
        painter.restore()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        section = self.logicalIndexAt(event.position().toPoint())
        self._pressed_check = section if self._over_check(event.position().toPoint(), section) else -1
        if self._pressed_check < 0:
            super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        pressed, self._pressed_check = self._pressed_check, -1
        if pressed >= 0:
            if self._over_check(event.position().toPoint(), pressed):
                self.check_clicked.emit(pressed)
            return
        super().mouseReleaseEvent(event)

    def check_state(self, section: int) -> Qt.CheckState:
        """All, some or none of the shown rows of a check column."""
        model = self.model()
        seen: set[Qt.CheckState] = set()
        for row in range(model.rowCount()):
            check = model.shown(row, section).check
            if check is not None:
                seen.add(check)
            if len(seen) > 1:
                return Qt.CheckState.PartiallyChecked
        return seen.pop() if seen else Qt.CheckState.Unchecked

    def _paint_content(self, painter: QPainter, rect: QRectF, section: int, column: Column) -> None:
        theme = current()
        first = self.visualIndex(section) == self._first_visible()
        box = rect.adjusted(PADDING + (edge(column) if first else 0), 0, -PADDING, 0)
        if column.checked is not None and not column.title:
            size = check_size()
            place = QRectF(box.x() - 1, box.center().y() - size / 2, size, size)
            paint_check(painter, theme, place, self.check_state(section))
            return
        if column.head_models:
            self._paint_models(painter, box, column.head_models)
        sorted_by = self._sorted()
        is_sorted = sorted_by is not None and sorted_by[0] == column.id
        painter.setFont(BOOK.font("head"))
        painter.setPen(theme.color("text" if is_sorted else "text2"))
        metrics = BOOK.metrics("head")
        room = box.width() - (_CHEVRON + 4 - _SHARED if is_sorted else 0)
        text = metrics.elidedText(column.title, Qt.TextElideMode.ElideRight, room + 1)
        width = metrics.horizontalAdvance(text)
        left = box.right() - width if column.align is Align.RIGHT else box.x()
        painter.drawText(QRectF(left, box.y(), width + 2, box.height()), Qt.AlignmentFlag.AlignVCenter, text)
        if is_sorted:
            name = "up" if sorted_by[1] == Qt.SortOrder.AscendingOrder else "down"
            at = left - _CHEVRON - 4 if column.align is Align.RIGHT else left + width + 4
            theme_icons.draw(
                painter, name, theme["text"], QRectF(at, box.center().y() - 7, _CHEVRON, _CHEVRON)
            )

    def _paint_models(self, painter: QPainter, box: QRectF, models: tuple[int, ...]) -> None:
        theme = current()
        step = marks_step()
        left = box.right() - step * len(models) + step / 2
        for index in models:
            centre = QPointF(left, box.center().y())
            draw_shape(painter, theme.model_shape(index), centre, icon_size(MARK), theme.model_color(index))
            left += step

    def _over_check(self, position: QPoint, section: int) -> bool:
        column = self._column(section)
        if column is None or column.checked is None or column.title:
            return False
        left = self.sectionViewportPosition(section)
        return left <= position.x() <= left + PADDING + check_size() + 16

    def _first_visible(self) -> int:
        return next((n for n in range(self.count()) if not self.isSectionHidden(self.logicalIndex(n))), 0)

    def _column(self, section: int) -> Column | None:
        model = self.model()
        return (
            model.headerData(section, Qt.Orientation.Horizontal, Role.COLUMN) if model is not None else None
        )

    def _sorted(self) -> tuple[str, Qt.SortOrder] | None:
        model = self.model()
        return model.sorted_by() if hasattr(model, "sorted_by") else None
