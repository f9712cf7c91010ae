"""Figures with their words: the fact column of a verdict, the counters of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from PySide6.QtCore import QRectF
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.theme import F, current, text_scale
from arena_desktop.theme.paint import rounded
from arena_desktop.theme.switch import set_colour
from arena_desktop.widgets.labels import Label


@dataclass(frozen=True, slots=True)
class Fact:
    """A figure in words ("71 of 100") and the sentence below it."""

    figure: str
    sentence: str


class FactColumn(QWidget):
    """At most two facts below each other."""

    def __init__(self, facts: Iterable[Fact] = ()) -> None:
        super().__init__()
        self._layout = QVBoxLayout(self)
        self._layout.setContentsMargins(0, 0, 0, 0)
        self._layout.setSpacing(2)
        self.setFixedWidth(round(232 * min(1.5, text_scale())))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Preferred)
        self.set_facts(facts)

    def set_facts(self, facts: Iterable[Fact]) -> None:
        """Other facts; more than two are not shown."""
        while (item := self._layout.takeAt(0)) is not None:
            if item.widget() is not None:
                item.widget().deleteLater()
        for number, fact in enumerate(tuple(facts)[:2]):
            if number:
                self._layout.addSpacing(12)
            self._layout.addWidget(Label(fact.figure, "section", wrap=True))
            self._layout.addWidget(Label(fact.sentence, "caption", colour="text2", wrap=True))
        self._layout.addStretch(1)


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
