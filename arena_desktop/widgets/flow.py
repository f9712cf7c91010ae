"""A layout that puts widgets beside each other and goes on in the next line when there is no room.

With it no page gets wider than its window, whatever the text size or the language.
"""

from __future__ import annotations

from PySide6.QtCore import QMargins, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Lines of widgets, each line from the left, or from the right with `right`."""

    def __init__(
        self, parent: QWidget | None = None, *, gap: int = 8, line_gap: int = 8, right: bool = False
    ) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap, self._line_gap, self._right = gap, line_gap, right
        self.setContentsMargins(0, 0, 0, 0)

    def insertWidget(self, at: int, widget: QWidget) -> None:
        """Puts a widget at a place among the others."""
        self.addWidget(widget)
        self._items.insert(at, self._items.pop())
        self.invalidate()

    # QLayout

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)
        self.invalidate()

    def count(self) -> int:
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        if not 0 <= index < len(self._items):
            return None
        item = self._items.pop(index)
        self.invalidate()
        return item

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        return self._arrange(QRect(0, 0, width, 0), place=False)

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        self._arrange(rect, place=True)

    def sizeHint(self) -> QSize:
        """All in one line."""
        shown = self._shown()
        widths = sum(item.sizeHint().width() for item in shown) + self._gap * max(0, len(shown) - 1)
        height = max((item.sizeHint().height() for item in shown), default=0)
        return self._with_margins(QSize(widths, height))

    def minimumSize(self) -> QSize:
        """The widest alone in its line."""
        shown = self._shown()
        return self._with_margins(
            QSize(
                max((item.minimumSize().width() for item in shown), default=0),
                max((item.minimumSize().height() for item in shown), default=0),
            )
        )

    # inside

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if not item.isEmpty()]

    def _with_margins(self, size: QSize) -> QSize:
        margins: QMargins = self.contentsMargins()
        return size + QSize(margins.left() + margins.right(), margins.top() + margins.bottom())

    def _arrange(self, rect: QRect, *, place: bool) -> int:
        margins = self.contentsMargins()
        room = rect.adjusted(margins.left(), margins.top(), -margins.right(), -margins.bottom())
        top = room.y()
        for line in self._lines(room.width()):
            top += self._place_line(line, room, top, place=place) + self._line_gap
        return max(0, top - self._line_gap - rect.y()) + margins.bottom() if self._shown() else 0

    def _lines(self, width: int) -> list[list[tuple[QLayoutItem, int]]]:
        lines: list[list[tuple[QLayoutItem, int]]] = []
        used = 0
        for item in self._shown():
            wanted = max(item.minimumSize().width(), min(item.sizeHint().width(), width))
            if lines and used + self._gap + wanted <= width:
                lines[-1].append((item, wanted))
                used += self._gap + wanted
            else:
                lines.append([(item, wanted)])
                used = wanted
        return lines

    def _place_line(self, line: list[tuple[QLayoutItem, int]], room: QRect, top: int, *, place: bool) -> int:
        heights = [_height(item, width) for item, width in line]
        tallest = max(heights)
        if place:
            left = room.x()
            if self._right:
                left += room.width() - sum(width for _item, width in line) - self._gap * (len(line) - 1)
            for (item, width), height in zip(line, heights, strict=True):
                item.setGeometry(QRect(left, top + (tallest - height) // 2, width, height))
                left += width + self._gap
        return tallest


def _height(item: QLayoutItem, width: int) -> int:
    return item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
