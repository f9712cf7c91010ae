"""What every cell of a table is drawn with: a pen, and fonts that are made once instead of once a cell.

A page of a table is a few hundred texts. Making their fonts, measuring and shortening them took
longer than drawing them, so both are kept as long as the application's font stays the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, singledispatch

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QGuiApplication, QPainter, QPainterPath

from arena_desktop.cells import Column, Link
from arena_desktop.theme import F, Tokens, icon_size, scaled
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import draw_shape, shape_path

_TEXTS_KEPT = 4_096
_LONG = 400
"""Longer texts are shortened anew each time: few are drawn twice, and they would fill the memory."""


class FontBook:
    """Fonts, their measures and shortened texts by role, for one application font. GUI thread only."""

    def __init__(self) -> None:
        self._key = ""
        self._fonts: dict[str, tuple[QFont, QFontMetricsF]] = {}
        self._texts: dict[tuple[str, str, float], tuple[str, float]] = {}
        self._sizes: dict[tuple[Callable[[float], int], float], int] = {}

    def renew(self) -> None:
        """Forgets everything when the application has got another font; call before each page drawn."""
        key = QGuiApplication.font().key()
        if key != self._key:
            self._key = key
            for kept in (self._fonts, self._texts, self._sizes):
                kept.clear()

    def font(self, role: str) -> QFont:
        """The font of a role. Treat as read-only."""
        return self._pair(role)[0]

    def metrics(self, role: str) -> QFontMetricsF:
        """The measures of a role's font. Treat as read-only."""
        return self._pair(role)[1]

    def fitted(self, role: str, text: str, width: float) -> tuple[str, float]:
        """The text as it fits into `width`, with an ellipsis where it is cut, and its own width."""
        key = (role, text, width)
        found = self._texts.get(key)
        if found is not None:
            return found
        metrics = self._pair(role)[1]
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, width)
        result = (shown, metrics.horizontalAdvance(shown))
        if len(text) <= _LONG:
            if len(self._texts) >= _TEXTS_KEPT:
                self._texts.clear()
            self._texts[key] = result
        return result

    def icon_size(self, pixels: float) -> int:
        """An icon size of the design, grown with the text."""
        return self._size(icon_size, pixels)

    def scaled(self, pixels: float) -> int:
        """A width of the design, grown with the text."""
        return self._size(scaled, pixels)

    def _pair(self, role: str) -> tuple[QFont, QFontMetricsF]:
        pair = self._fonts.get(role)
        if pair is None:
            font = F(role)
            pair = self._fonts[role] = (font, QFontMetricsF(font))
        return pair

    def _size(self, rule: Callable[[float], int], pixels: float) -> int:
        size = self._sizes.get((rule, pixels))
        if size is None:
            size = self._sizes[(rule, pixels)] = rule(pixels)
        return size


BOOK = FontBook()


@dataclass(slots=True)
class Pen:
    """What a cell is drawn with. `box` is the padded content, `row` the full height of the row."""

    painter: QPainter
    theme: Tokens
    box: QRectF
    row: QRectF
    ground: QColor
    column: Column
    muted: bool = False
    selected: bool = False
    links: list[tuple[Link, QRectF]] | None = None
    """When set, nothing is drawn and the places of links are collected."""

    @property
    def ink(self) -> str:
        """The token of ordinary text in this row."""
        return "text3" if self.muted else self.column.tone

    def text(
        self, text: str, box: QRectF, role: str = "body", ink: str | None = None, *, right: bool = False
    ) -> float:
        """One line, elided with the font used. Returns the width drawn."""
        shown, width = BOOK.fitted(role, text, box.width() + 0.5)
        if self.links is None:
            self.painter.setFont(BOOK.font(role))
            self.painter.setPen(self.theme.color(ink or self.ink))
            # Two pixels of air: overhanging letters would be cut otherwise.
            airy = box.adjusted(-2 if right else 0, 0, 0 if right else 2, 0)
            self.painter.drawText(airy, _RIGHT if right else _LEFT, shown)
        return width

    def icon(self, name: str, ink: str, left: float) -> None:
        """An icon in the middle of the row."""
        size = BOOK.icon_size(16)
        if self.links is None:
            colour = self.theme["text3"] if self.muted else self.theme[ink]
            place = QRectF(left, self.box.center().y() - size / 2, size, size)
            theme_icons.draw(self.painter, name, colour, place)

    def shape(self, shape: str, centre: QPointF, size: float, colour: QColor) -> None:
        """The mark of a model. The painter smooths edges already, as it does for all content of a cell."""
        if shape == "ring":
            draw_shape(self.painter, shape, centre, size, colour)
            return
        self.painter.fillPath(_outline(shape, size).translated(centre), colour)

    def link_row(self, links: tuple[Link, ...], left: float, *, right: bool = False) -> None:
        """Links beside each other from `left`, or at the right end of the cell."""
        if not links:
            return
        metrics = BOOK.metrics("button")
        gap = 10.0
        widths = [metrics.horizontalAdvance(link.text) for link in links]
        if right:
            left = self.box.right() - sum(widths) - gap * (len(links) - 1)
        for link, width in zip(links, widths, strict=True):
            place = QRectF(left, self.box.y(), min(width, self.box.right() - left), self.box.height())
            if place.width() < 12:
                break
            if self.links is not None:
                self.links.append((link, place))
            else:
                self.text(link.text, place, "button", "accentText")
            left += width + gap


_LEFT = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
_RIGHT = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter


@singledispatch
def draw(cell: object, pen: Pen) -> None:
    """Draws one payload; the modules beside this one register a function for each."""
    raise TypeError(f"no drawing for {type(cell).__name__}")


@lru_cache(maxsize=64)
def _outline(shape: str, size: float) -> QPainterPath:
    return shape_path(shape, QPointF(0.0, 0.0), size)
