"""Rows of a form: a label with its help, a field, and what is wrong with it below."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QRectF
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QGridLayout,
    QHBoxLayout,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.theme import F, current, icon_size, scaled
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.switch import set_colour
from arena_desktop.widgets.fields import set_state
from arena_desktop.widgets.labels import LOOK_CHANGES, Label

LABEL_WIDTH = 216


class FieldNote(QWidget):
    """The sentence with icon below a field with a fault; hidden while there is none."""

    def __init__(self) -> None:
        super().__init__()
        self._tone = "warn"
        self._row = QHBoxLayout(self)
        self._apply_margin()
        self._label = Label("", "caption", colour="warn", wrap=True)
        self._row.addWidget(self._label)
        self.hide()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_row"):
            self._apply_margin()

    def _apply_margin(self) -> None:
        self._row.setContentsMargins(icon_size(14) + 8, 0, 0, 0)

    @property
    def text(self) -> str:
        """What it says."""
        return self._label.text()

    def show_note(self, field: QWidget, tone: str, text: str) -> None:
        """Marks `field` ("bad" or "warn") and says why; an empty text takes both away."""
        set_state(field, tone if text else "")
        self._tone = tone or "warn"
        set_colour(self._label, self._tone)
        self._label.setText(text)
        self.setVisible(bool(text))
        field.setAccessibleDescription(text)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        theme, painter = current(), QPainter(self)
        name = "warn" if self._tone == "warn" else "bad"
        metrics = QFontMetricsF(F("caption"))
        size = icon_size(14)
        place = QRectF(0, max(0.0, (metrics.height() - size) / 2), size, size)
        theme_icons.draw(painter, name, theme[self._tone], place)


class FormGrid(QWidget):
    """Rows of a page: label left (216 wide) with help below it, field right. Names and buddies are set.

    With `above` the label stands above the field, for panes.
    """

    def __init__(self, *, above: bool = False) -> None:
        super().__init__()
        self._above = above
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(4 if above else 14)
        self._grid.setColumnStretch(0 if above else 1, 1)
        if not above:
            self._grid.setColumnMinimumWidth(0, scaled(LABEL_WIDTH))
        self._rows = 0

    def add(self, label: str, field: QWidget, *, help_text: str = "", note: FieldNote | None = None) -> Label:
        """Adds a row. `label` may hold an & for its key. Returns the label."""
        words = Label(label, "head" if self._above else "name", colour="text2" if self._above else "text")
        words.setBuddy(field)
        if not field.accessibleName():
            field.setAccessibleName(label.replace("&", ""))
        if help_text:
            field.setToolTip(field.toolTip() or help_text)
        if self._above:
            self._add_above(words, field, help_text, note)
        else:
            self._add_beside(words, field, help_text, note)
        return words

    def _add_above(self, words: Label, field: QWidget, help_text: str, note: FieldNote | None) -> None:
        parts: list[QWidget] = [words, field]
        if help_text:
            parts.append(Label(help_text, "caption", colour="text2", wrap=True))
        if note is not None:
            parts.append(note)
        for part in parts:
            self._grid.addWidget(part, self._rows, 0)
            self._rows += 1
        self._grid.setRowMinimumHeight(self._rows, 8)
        self._rows += 1

    def _add_beside(self, words: Label, field: QWidget, help_text: str, note: FieldNote | None) -> None:
        left = QVBoxLayout()
        left.setContentsMargins(0, 7, 0, 0)
        left.setSpacing(2)
        left.addWidget(words)
        if help_text:
            left.addWidget(Label(help_text, "caption", colour="text2", wrap=True))
        left.addStretch(1)
        self._grid.addLayout(left, self._rows, 0)
        if note is None:
            self._grid.addWidget(field, self._rows, 1)
        else:
            right = QVBoxLayout()
            right.setSpacing(4)
            right.addWidget(field)
            right.addWidget(note)
            self._grid.addLayout(right, self._rows, 1)
        self._rows += 1
