"""What the sections of the settings are made of: the section itself, its rows, small marks."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from PySide6.QtCore import QEvent, QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QHBoxLayout,
    QLabel,
    QLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.settings import Settings
from arena_desktop.theme import current, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.labels import LOOK_CHANGES, Label
from arena_desktop.widgets.scrolled import Scrolled

W = TypeVar("W", bound=QWidget)


def clear(layout: QLayout) -> None:
    """Takes everything out of a layout and ends the widgets."""
    while (item := layout.takeAt(0)) is not None:
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.deleteLater()
        elif inner is not None:
            clear(inner)


class Mark(QWidget):
    """A small icon beside words that say the same."""

    def __init__(self, icon: str, tone: str = "text2", size: int = 16) -> None:
        super().__init__()
        self._icon, self._tone, self._size = icon, tone, size
        self._fit()

    def set_mark(self, icon: str, tone: str) -> None:
        """Another icon."""
        self._icon, self._tone = icon, tone
        self.update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES:
            self._fit()

    def _fit(self) -> None:
        self.setFixedSize(icon_size(self._size), icon_size(self._size))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme_icons.draw(QPainter(self), self._icon, current()[self._tone], QRectF(self.rect()))


class Note(QWidget):
    """A grey sentence with a small icon."""

    def __init__(self, icon: str, text: str = "", *, role: str = "body", name: str = "") -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(Mark(icon), 0, Qt.AlignmentFlag.AlignTop)
        self.label = Label(text, role, colour="text2", wrap=True, name=name)
        row.addWidget(self.label, 1)


class Section(QWidget):
    """One section of the settings: title, then `body`. It scrolls when it is higher than the window.

    `opened()` is called each time it is shown, for what is looked up only then.
    """

    def __init__(self, name: str, title: str, icon: str) -> None:
        super().__init__()
        self.setObjectName(f"section_{name}")
        self.setAccessibleName(title)
        self.section_name, self.title, self.icon = name, title, icon
        inner = QWidget()
        self.area = Scrolled(inner, title)
        outer = QVBoxLayout(self)
        outer.setContentsMargins(0, 0, 0, 0)
        outer.addWidget(self.area)
        self.inner = QVBoxLayout(inner)
        self.inner.setContentsMargins(24, 24, 24, 8)
        self.inner.setSpacing(16)
        self.inner.addWidget(Label(title, "title", name="section_title"))
        self.body = QVBoxLayout()
        self.body.setSpacing(16)
        self.inner.addLayout(self.body, 1)

    def opened(self) -> None:
        """The section is on show now."""

    def rows(self) -> list[SettingRow]:
        """Its rows, for the search."""
        return self.findChildren(SettingRow)

    def words(self) -> str:
        """Everything that stands in it, for the search."""
        labels = [label.text() for label in self.findChildren(QLabel)]
        buttons = [button.text() for button in self.findChildren(QAbstractButton)]
        return "\n".join((self.title, *labels, *buttons)).casefold()


class SettingRow(QWidget):
    """One setting: words left, its field right, a dot and "Reset" while it is not as at first."""

    def __init__(self, title: str, help_text: str = "") -> None:
        super().__init__()
        self._changed = False
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 12, 16, 12)
        row.setSpacing(12)
        words = QVBoxLayout()
        words.setSpacing(2)
        self.title = Label(title, "name", wrap=True)
        words.addWidget(self.title)
        if help_text:
            words.addWidget(Label(help_text, "caption", colour="text2", wrap=True))
        row.addLayout(words, 1)
        self.reset = Button(self.tr("Reset"), "quiet")
        self.reset.setAccessibleName(self.tr("Reset: {setting}").format(setting=title))
        self.reset.hide()
        row.addWidget(self.reset)
        self.place = row

    def set_field(self, field: QWidget) -> None:
        """Puts the field at the right end and names it after the row."""
        self.title.setBuddy(field)
        if not field.accessibleName():
            field.setAccessibleName(self.title.text())
        self.place.addWidget(field)

    def set_changed(self, changed: bool) -> None:
        """Whether it differs from how it was at first."""
        self._changed = changed
        self.reset.setVisible(changed)
        self.update()

    def follow(self, settings: Settings, key: str, show: Callable[[], None]) -> None:
        """Keeps dot, Reset and field (`show`) in step with a preference, whoever changes it."""
        self._key, self._show, self._settings = key, show, settings
        # A method, so that Qt lets go of it with the row.
        settings.changed.connect(self._on_changed)
        self.reset.clicked.connect(self._on_reset)
        self._on_changed(key)

    def _on_changed(self, key: str) -> None:
        if key == self._key:
            self._show()
            self.set_changed(self._settings.is_changed(key))

    def _on_reset(self) -> None:
        self._settings.reset(self._key)

    def words(self) -> str:
        """What the search looks at."""
        return "\n".join(label.text() for label in self.findChildren(QLabel)).casefold()

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._changed:
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(current().color("accent"))
        middle = self.title.y() + min(self.title.height(), self.title.fontMetrics().height()) / 2
        painter.drawEllipse(QPointF(11, middle), 3, 3)


class RowCard(Card):
    """Rows on a card, hairlines between them; a hidden row takes its hairline along."""

    def __init__(self) -> None:
        super().__init__(padding=0, spacing=0)
        self.body.setContentsMargins(1, 2, 1, 2)
        self._rows: list[tuple[QWidget, Divider | None]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)

    def add_row(self, row: W) -> W:
        """Adds a row at the end."""
        line = Divider() if self._rows else None
        if line is not None:
            self.body.addWidget(line)
        self.body.addWidget(row)
        self._rows.append((row, line))
        return row

    def clear(self) -> None:
        """Takes all rows out."""
        clear(self.body)
        self._rows = []

    def show_rows(self, wanted: Callable[[QWidget], bool]) -> None:
        """Shows the rows that are wanted; the card itself hides with its last row."""
        above = False
        for row, line in self._rows:
            shown = wanted(row)
            row.setVisible(shown)
            if line is not None:
                line.setVisible(shown and above)
            above = above or shown
        self.setVisible(above or not self._rows)
