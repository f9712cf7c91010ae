"""Figures with their words: the fact column of a verdict, the counters of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.theme import F, current, text_scale
from arena_desktop.theme.paint import rounded
from arena_desktop.theme.switch import set_colour
from arena_desktop.widgets.labels import Label

_NO_LIMIT = 16_777_215


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure in words ("71 of 100") and the sentence below it."""

    figure: str
    sentence: str


class FactColumn(QWidget):
    """At most two facts: below each other in a column, or beside each other over the whole width."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        super().__init__()
        self._layout = QBoxLayout(QBoxLayout.Direction.TopToBottom, self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(14)
        self._facts = tuple(facts)
        self._column = False
        self.set_column(True)

    def set_facts(self, facts: Iterable[Fact]) -> None:
        """Other facts; more than two are not shown."""
        self._facts = tuple(facts)
        while (item := self._layout.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                old.setParent(None)
                old.deleteLater()
        for fact in self._facts[:2]:
            self._layout.addWidget(_FactBlock(fact), 0 if self._column else 1)
        if self._column:
            self._layout.addStretch(1)

    def set_column(self, column: bool) -> None:
        """A column of fixed width, or a row."""
        if column:
            self.setFixedWidth(self.column_width())
        if column == self._column:
            return
        self._column = column
        down, across = QBoxLayout.Direction.TopToBottom, QBoxLayout.Direction.LeftToRight
        self._layout.setDirection(down if column else across)
        if not column:
            # A fixed width would be left out of account when the height for the whole width is asked.
            self.setMinimumWidth(0)
            self.setMaximumWidth(_NO_LIMIT)
        self.set_facts(self._facts)

    @staticmethod
    def column_width() -> int:
        """The width as a column."""
        return round(232 * min(1.5, text_scale()) / 4) * 4


class _FactBlock(QWidget):
    def __init__(self, fact: Fact) -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        layout.addWidget(Label(fact.figure, "section", wrap=True))
        layout.addWidget(Label(fact.sentence, "caption", colour="text2", wrap=True))
        layout.addStretch(1)


class Counter(QWidget):
    """Caption with a coloured square, and a large figure. `square` is a token, empty for none."""

    def __init__(self, caption: str, *, square: str = "", name: str = "", ink: str = "text") -> None:
        super().__init__()
        self._square = square
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(2)
        self._caption = Label(caption, "caption", colour="text2")
        if square:
            self._caption.setContentsMargins(14, 0, 0, 0)
        self.figure = Label("–", "number", colour=ink, name=name)
        self.figure.setAccessibleDescription(caption)
        layout.addWidget(self._caption)
        layout.addWidget(self.figure)
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)

    def set_figure(self, text: str, *, ink: str = "text") -> None:
        """A new figure in place; nothing moves."""
        if self.figure.property("text_colour") != ink:
            set_colour(self.figure, ink)
        if self.figure.text() != text:
            self.figure.setText(text)
            self.figure.setAccessibleName(f"{self._caption.text()}: {text}")

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._square:
            metrics = QFontMetricsF(F("caption"))
            box = QRectF(0, metrics.height() / 2 - 4, 8, 8)
            rounded(QPainter(self), box, 2, current().color(self._square))
