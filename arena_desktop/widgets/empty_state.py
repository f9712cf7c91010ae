"""Empty places: a drawing, one heading, one sentence, one button."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.theme import current
from arena_desktop.theme.paint import rounded
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import Label

_BANDS = ((0.72, 0.94, 0.86), (0.66, 0.90, 0.80), (0.40, 0.70, 0.55))
_EMPTY_BANDS = ((0.62, 0.90), (0.50, 0.84), (0.30, 0.60))


class ScoreDrawing(QWidget):
    """Three score lines; dashed and empty, or filled as after a run. Decoration only."""

    def __init__(self, *, filled: bool = False) -> None:
        super().__init__()
        self._filled = filled
        self.setFixedSize(224, 92)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        for row in range(3):
            middle = 14 + row * 32
            rounded(painter, QRectF(0, middle - 1, self.width(), 2), 1, theme.color("track"))
            if self._filled:
                low, high, at = _BANDS[row]
                self._band(painter, low, high, at, middle, muted=row == 2)
            else:
                low, high = _EMPTY_BANDS[row]
                box = QRectF(self.width() * low, middle - 6, self.width() * (high - low), 12)
                pen = QPen(theme.color("line2"), 1.4)
                pen.setDashPattern([3, 2.2])
                painter.setPen(pen)
                painter.setBrush(theme.color("page"))
                painter.drawRoundedRect(box, 6, 6)

    def _band(
        self, painter: QPainter, low: float, high: float, at: float, middle: float, *, muted: bool
    ) -> None:
        theme, width = current(), self.width()
        box = QRectF(width * low, middle - 5, width * (high - low), 10)
        rounded(painter, box, 5, theme.color("bandOff" if muted else "band"))
        centre = QPointF(width * at, middle)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.color("page"))
        painter.drawEllipse(centre, 9, 9)
        painter.setBrush(theme.color("text3" if muted else "accent"))
        painter.drawEllipse(centre, 7, 7)


class EmptyState(QWidget):
    """What stands where nothing is yet. `pressed` = the button."""

    pressed = Signal()

    def __init__(
        self,
        heading: str,
        sentence: str,
        button: str = "",
        *,
        icon: str = "",
        filled: bool = False,
        drawing: bool = True,
    ) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 24)
        layout.setSpacing(8)
        layout.addStretch(2)
        middle = Qt.AlignmentFlag.AlignHCenter
        if drawing:
            layout.addWidget(ScoreDrawing(filled=filled), 0, middle)
            layout.addSpacing(16)
        self.heading = Label(heading, "section")
        self.sentence = Label(sentence, "lead", colour="text2", wrap=True)
        for label in (self.heading, self.sentence):
            label.setAlignment(middle)
            layout.addWidget(label)
            # Shown before it has a parent, a widget is a window of its own for a moment.
            label.setVisible(bool(label.text()))
        self.button = Button(button, "primary", icon=icon, name="button_empty")
        self.button.clicked.connect(self.pressed)
        layout.addSpacing(12)
        layout.addWidget(self.button, 0, middle)
        self.button.setVisible(bool(button))
        layout.addStretch(3)

    def set_texts(self, heading: str, sentence: str, button: str = "") -> None:
        """Other words."""
        for label, text in ((self.heading, heading), (self.sentence, sentence)):
            label.setText(text)
            label.setVisible(bool(text))
        self.button.setText(button)
        self.button.setVisible(bool(button))

    def minimumSizeHint(self) -> QSize:
        return QSize(200, super().minimumSizeHint().height())
