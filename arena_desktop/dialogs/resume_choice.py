"""Asked before a run is carried on with a project that has changed. The default answer asks nothing."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import resume as words
from engine.execution.resume import NEW, SNAPSHOT

_WIDTH = 560


class ResumeChoiceDialog(QDialog):
    """`chosen` carries `snapshot` or `new`; Esc, Enter and "Not now" choose nothing."""

    chosen = Signal(str)

    def __init__(self, parent: QWidget, title: str, changes: Sequence[str]) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_resume_choice")
        self.setWindowTitle(self.tr("Carry on with a changed project"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._ring = FocusRing(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(8)
        layout.addWidget(Label(title, "title", wrap=True, name="label_resume_title").selectable())
        for number, line in enumerate(changes, start=1):
            layout.addWidget(Label(line, wrap=True, name=f"label_resume_change_{number}").selectable())
        layout.addSpacing(8)
        for text in (words.as_planned_text(), words.as_now_text()):
            layout.addWidget(Label(text, colour="text2", wrap=True))
        layout.addSpacing(12)
        layout.addLayout(self._buttons())
        self.button_later.setFocus()

    def _buttons(self) -> FlowLayout:
        row = FlowLayout(right=True)
        self.button_later = Button(self.tr("Not now"), "quiet", name="button_resume_later")
        self.button_later.clicked.connect(self.reject)
        self.button_new = Button(self.tr("Ask as it is now"), name="button_resume_new")
        self.button_new.clicked.connect(lambda: self._choose(NEW))
        self.button_snapshot = Button(self.tr("Ask as planned"), "primary", name="button_resume_snapshot")
        self.button_snapshot.clicked.connect(lambda: self._choose(SNAPSHOT))
        for button in (self.button_later, self.button_new, self.button_snapshot):
            row.addWidget(button)
        self.button_later.setDefault(True)
        return row

    def showEvent(self, event: QShowEvent) -> None:
        # A small screen may have made it narrower than it wished, and its lines wrap more often.
        self.resize(self.width(), self.layout().totalHeightForWidth(self.width()))
        super().showEvent(event)

    def sizeHint(self) -> QSize:
        width = scaled(_WIDTH)
        # Wrapped lines need their height at this width, not at the one they would like.
        return QSize(width, self.layout().totalHeightForWidth(width))

    def _choose(self, choice: str) -> None:
        self.accept()
        self.chosen.emit(choice)
