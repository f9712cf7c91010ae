"""A layout that puts widgets beside each other and goes on in the next line when there is no room.

With it no page gets wider than its window, whatever the text size or the language.
"""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QMargins, QRect, QSize, Qt
from PySide6.QtWidgets import QLayout, QLayoutItem, QSpacerItem, QWidget


@dataclass(frozen=True, slots=True)
class _Placed:
    item: QLayoutItem
    width: int
    pushed: bool


class FlowLayout(QLayout):
    """Lines of widgets, each line from the left, or from the right with `right`."""

    # Here, because Qt's own constructor may already invalidate.
    _heights: dict[int, int] | None = None

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

    def addStretch(self, _factor: int = 0) -> None:
        """What comes after it stands at the right end of its line."""
        self.addItem(QSpacerItem(0, 0))

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
        # While a page is laid out its parents ask for the same widths hundreds of times.
        if self._heights is None:
            self._heights = {}
        height = self._heights.get(width)
        if height is None:
            height = self._heights[width] = self._arrange(QRect(0, 0, width, 0), place=False)
        return height

    def invalidate(self) -> None:
        self._heights = None
        super().invalidate()

    def setGeometry(self, rect: QRect) -> None:
        super().setGeometry(rect)
        if self.alignment() & Qt.AlignmentFlag.AlignVCenter:
            # A layout that asks for the middle is handed all of the room.
            spare = max(0, rect.height() - self.heightForWidth(rect.width()))
            rect = rect.adjusted(0, spare // 2, 0, 0)
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
        return [item for item in self._items if not item.isEmpty() and item.spacerItem() is None]

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

    def _lines(self, width: int) -> list[list[_Placed]]:
        lines: list[list[_Placed]] = []
        used = 0
        pushed = False
        for item in self._items:
            if item.spacerItem() is not None:
                pushed = True
                continue
            if item.isEmpty():
                continue
            wanted = max(item.minimumSize().width(), min(item.sizeHint().width(), width))
            if lines and used + self._gap + wanted <= width:
                lines[-1].append(_Placed(item, wanted, pushed))
                used += self._gap + wanted
            else:
                lines.append([_Placed(item, wanted, pushed)])
                used = wanted
            pushed = False
        return lines

    def _place_line(self, line: list[_Placed], room: QRect, top: int, *, place: bool) -> int:
        heights = [_height(each.item, each.width) for each in line]
        tallest = max(heights)
        if place:
            spare = room.width() - sum(each.width for each in line) - self._gap * (len(line) - 1)
            left = room.x() + (spare if self._right else 0)
            for each, height in zip(line, heights, strict=True):
                if each.pushed and not self._right:
                    left += spare
                each.item.setGeometry(QRect(left, top + (tallest - height) // 2, each.width, height))
                left += each.width + self._gap
        return tallest


def _height(item: QLayoutItem, width: int) -> int:
    return item.heightForWidth(width) if item.hasHeightForWidth() else item.sizeHint().height()
