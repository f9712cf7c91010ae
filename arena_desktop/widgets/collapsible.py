"""A part that unfolds: "More choices", "Latest answers". The head is a quiet button with a chevron."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.widgets.buttons import Button


class Collapsible(QWidget):
    """`content` is the layout that is shown when open. Nothing slides: it is there or not."""

    toggled = Signal(bool)

    def __init__(self, title: str, *, opened: bool = False, name: str = "") -> None:
        super().__init__()
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        row = QHBoxLayout()
        self.head = Button(title, "quiet", icon="right", name=name)
        self.head.clicked.connect(lambda: self.set_open(not self.is_open()))
        row.addWidget(self.head)
        row.addStretch(1)
        layout.addLayout(row)
        self._holder = QWidget()
        self.content = QVBoxLayout(self._holder)
        self.content.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self._holder)
        self._open = not opened
        self.set_open(opened)

    def is_open(self) -> bool:
        """Whether the content is shown."""
        return self._open

    def set_open(self, opened: bool) -> None:
        """Shows or hides the content; spoken as the button's description."""
        if opened == self._open:
            return
        self._open = opened
        self._holder.setVisible(opened)
        self.head.set_icon("down" if opened else "right")
        self.head.setAccessibleDescription(self.tr("open") if opened else self.tr("closed"))
        self.toggled.emit(opened)
