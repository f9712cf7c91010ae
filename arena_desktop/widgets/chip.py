"""Chips: a state as word, icon and colour. For exceptions; the normal state is grey text."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from arena_desktop.cells import Tone
from arena_desktop.theme import F, Tokens, current, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import rounded
from arena_desktop.theme.tokens import CHIP

_COLOURS = {
    Tone.GOOD: ("good", "goodBg"),
    Tone.WARN: ("warn", "warnBg"),
    Tone.BAD: ("bad", "badBg"),
    Tone.INFO: ("accentText", "tint"),
    Tone.NEUTRAL: ("text2", "neutralBg"),
}
_ICONS = {Tone.GOOD: "check", Tone.WARN: "warn", Tone.BAD: "close"}
_ICON = 14
_EDGE = 7


def chip_icon(tone: Tone, icon: str) -> str:
    """The icon asked for or the usual one of the tone; may be empty."""
    return icon or _ICONS.get(tone, "")


def chip_size(text: str, tone: Tone, icon: str = "") -> QSize:
    """The size a chip needs."""
    metrics = QFontMetricsF(F("head"))
    width = metrics.horizontalAdvance(text) + 20 + (icon_size(_ICON) + 2 if chip_icon(tone, icon) else 0)
    height = max(CHIP, -(-int(metrics.height() + 6) // 2) * 2)
    return QSize(int(width + 0.999), height)


def paint_chip(painter: QPainter, rect: QRectF, theme: Tokens, text: str, tone: Tone, icon: str = "") -> None:
    """Draws a chip into `rect`, eliding its text when there is not enough room."""
    ink, ground = _COLOURS[tone]
    # A radius above half the height would turn into square corners.
    rounded(painter, rect, rect.height() / 2, theme.color(ground))
    left = rect.x() + 10
    name = chip_icon(tone, icon)
    if name:
        size = icon_size(_ICON)
        place = QRectF(rect.x() + _EDGE, rect.center().y() - size / 2, size, size)
        theme_icons.draw(painter, name, theme[ink], place)
        left = place.right() + 4
    painter.setFont(F("head"))
    painter.setPen(theme.color(ink))
    metrics = QFontMetricsF(painter.font())
    room = rect.right() - 8 - left
    box = QRectF(left, rect.y(), room + 4, rect.height())
    shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, room + 2)
    painter.drawText(box, Qt.AlignmentFlag.AlignVCenter, shown)


class Chip(QWidget):
    """A chip as a widget. Its accessible name is its text."""

    def __init__(self, text: str = "", tone: Tone = Tone.NEUTRAL, *, icon: str = "", name: str = "") -> None:
        super().__init__()
        self._text, self._tone, self._icon = text, tone, icon
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(text)
        if name:
            self.setObjectName(name)

    @property
    def text(self) -> str:
        """The word on it."""
        return self._text

    def set_chip(self, text: str, tone: Tone, icon: str = "") -> None:
        """Another state."""
        self._text, self._tone, self._icon = text, tone, icon
        self.setAccessibleName(text)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        return chip_size(self._text, self._tone, self._icon)

    def minimumSizeHint(self) -> QSize:
        return QSize(48, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        paint_chip(painter, QRectF(self.rect()), current(), self._text, self._tone, self._icon)
