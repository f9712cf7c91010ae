"""How one item of the rail is drawn; the list in Settings looks the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import (
    QFontMetricsF,
    QPainter,
    QPen,
)

from arena_desktop.theme import F, Tokens, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import rounded

INSET = 8


class Mark(StrEnum):
    """What stands at the right of an item."""

    NONE = ""
    UNSAVED = "unsaved"
    ATTENTION = "attention"


@dataclass(frozen=True, slots=True)
class ItemLook:
    """How one rail item is drawn."""

    text: str
    icon: str
    current: bool = False
    hovered: bool = False
    enabled: bool = True
    mark: str = ""
    share: str = ""
    ring: bool = False


def paint_item(painter: QPainter, theme: Tokens, box: QRectF, look: ItemLook) -> None:
    """Draws an item of a list like the rail (also used by the list in Settings)."""
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pill = box.adjusted(INSET, 1, -INSET, -1)
    if look.current:
        rounded(painter, pill, 8, theme.color("tint2"))
    elif look.hovered and look.enabled:
        rounded(painter, pill, 8, theme.color("press"))
    ink = "dis" if not look.enabled else "accentText" if look.current else "text"
    icon_ink = "dis" if not look.enabled else "accentText" if look.current else "text2"
    size = icon_size(19)
    place = QRectF(pill.x() + 12, pill.center().y() - size / 2, size, size)
    theme_icons.draw(painter, look.icon, theme[icon_ink], place)
    font = F("strong" if look.current else "name")
    painter.setFont(font)
    painter.setPen(theme.color(ink))
    left, right = pill.x() + size + 23, pill.right() - 12
    if look.enabled:
        right -= _paint_mark(painter, theme, look, right, pill.center().y())
    painter.setFont(font)
    painter.setPen(theme.color(ink))
    text = QFontMetricsF(font).elidedText(look.text, Qt.TextElideMode.ElideRight, right - left)
    painter.drawText(
        QRectF(left, pill.y(), right - left + 2, pill.height()), Qt.AlignmentFlag.AlignVCenter, text
    )
    if look.ring:
        painter.setPen(QPen(theme.color("accent"), 2))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(pill.adjusted(1, 1, -1, -1), 7, 7)


def _paint_mark(painter: QPainter, theme: Tokens, look: ItemLook, right: float, middle: float) -> float:
    """Draws the mark at the right end; returns the room it took."""
    if look.share:
        font = F("head")
        width = QFontMetricsF(font).horizontalAdvance(look.share)
        painter.setFont(font)
        painter.setPen(theme.color("accentText"))
        painter.drawText(
            QRectF(right - width, middle - 12, width + 2, 24), Qt.AlignmentFlag.AlignVCenter, look.share
        )
        return width + 8
    if look.mark == Mark.UNSAVED:
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("accent"))
        painter.drawEllipse(QPointF(right - 5, middle), 3.5, 3.5)
        return 20
    if look.mark == Mark.ATTENTION:
        size = icon_size(16)
        theme_icons.draw(
            painter, "warn", theme["warn"], QRectF(right + 3 - size, middle - size / 2, size, size)
        )
        return size + 8
    return 0
