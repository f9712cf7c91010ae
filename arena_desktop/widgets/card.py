"""Planes: the card, the hairline that divides it, and its head."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.theme import current
from arena_desktop.theme.paint import card, hline, vline
from arena_desktop.theme.tokens import RADIUS_CARD
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label

PADDING = 24
DENSE = 20
GAP = 16


class Card(QFrame):
    """A surface with a hairline edge, painted (style sheet edges blur at 1.25 to 1.75).

    `body` is its vertical layout. Never put a card in a card: divide with `Divider`.
    """

    def __init__(self, padding: int = PADDING, *, spacing: int = 12, name: str = "") -> None:
        super().__init__()
        self.body = QVBoxLayout(self)
        self.body.setContentsMargins(padding, padding - 4, padding, padding - 4)
        self.body.setSpacing(spacing)
        if name:
            self.setObjectName(name)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = current()
        painter = QPainter(self)
        card(painter, QRectF(self.rect()), RADIUS_CARD, theme.color("surface"), theme.color("line"))


class Divider(QWidget):
    """A hairline, horizontal or vertical, clean at every scale."""

    def __init__(self, *, vertical: bool = False, inset: int = 0) -> None:
        super().__init__()
        self._inset = inset
        self.set_vertical(vertical)

    def set_vertical(self, vertical: bool) -> None:
        """Turns it, for cards that change their direction when they get narrow."""
        self._vertical = vertical
        self.updateGeometry()
        fixed, free = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding
        self.setSizePolicy(*((fixed, free) if vertical else (free, fixed)))

    def sizeHint(self) -> QSize:
        return QSize(1, 0) if self._vertical else QSize(0, 1)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, line = QPainter(self), current().color("line")
        if self._vertical:
            vline(painter, 0, self._inset, self.height() - 2 * self._inset, line)
        else:
            hline(painter, self._inset, self.height(), self.width() - 2 * self._inset, line)


class CardHead(QWidget):
    """Section heading with a caption sentence below; `controls` is the layout at the right."""

    def __init__(self, title: str, caption: str = "") -> None:
        super().__init__()
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.setSpacing(0)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.title = Label(title, "section")
        self.caption = Label(caption, "caption", colour="text2", wrap=True)
        row.addWidget(self.title, 1)
        self.controls = FlowLayout(right=True)
        row.addLayout(self.controls)
        outer.addLayout(row)
        outer.addWidget(self.caption)
        self.caption.setVisible(bool(caption))

    def set_caption(self, text: str) -> None:
        """Another sentence; empty hides it."""
        self.caption.setText(text)
        self.caption.setVisible(bool(text))
