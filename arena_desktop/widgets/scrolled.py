"""Shows a widget that may be higher than its room."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QScrollArea, QWidget


class Scrolled(QScrollArea):
    """Scrolls up and down, never sideways, and paints nothing itself.

    The keyboard passes it by and goes to what stands in it, but with `stops` it can be moved by the
    arrow keys.
    """

    def __init__(self, body: QWidget, spoken: str, *, name: str = "", stops: bool = False) -> None:
        super().__init__()
        self.setObjectName(name)
        self.setAccessibleName(spoken)
        if not stops:
            self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setWidgetResizable(True)
        if not body.objectName():
            body.setObjectName("scroll_body")
        self.setWidget(body)
        body.setAutoFillBackground(False)
        self.viewport().setAutoFillBackground(False)
