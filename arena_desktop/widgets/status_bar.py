"""The status bar: saved or not, what the project holds, and the run wherever the person is."""

from __future__ import annotations

from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QStatusBar, QWidget

from arena_desktop.theme import control_height, current, icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.tokens import STATUS_BAR
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import LOOK_CHANGES, ElidedLabel, Label
from arena_desktop.widgets.progress import RunProgress


class _IconLabel(QLabel):
    """A small icon in a token's colour."""

    def __init__(self) -> None:
        super().__init__()
        self._icon, self._tone = "", "text2"
        self._draw()

    def set_icon(self, icon: str, tone: str) -> None:
        self._icon, self._tone = icon, tone
        self._draw()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_icon"):
            self._draw()

    def _draw(self) -> None:
        size = icon_size(16)
        self.setFixedSize(size, size)
        if self._icon:
            colour = current()[self._tone]
            self.setPixmap(theme_icons.pixmap(self._icon, colour, size, self.devicePixelRatioF()))


class RunStatus(QWidget):
    """The permanent run widget: small bar, one sentence, "Cancel run". Hidden while nothing runs."""

    cancel_pressed = Signal()
    pressed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("status_run")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 12, 0)
        row.setSpacing(8)
        self.bar = RunProgress(self.tr("Progress of the run"), height=6, name="status_progress")
        self.bar.setFixedWidth(96)
        self.words = ElidedLabel("", "caption", colour="text2", name="status_run_text", fills=False)
        self.cancel = Button(self.tr("Cancel run…"), "quiet", name="status_cancel")
        self.cancel.setProperty("place", "bar")
        self.cancel.clicked.connect(self.cancel_pressed)
        row.addWidget(self.bar, alignment=Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(self.words)
        row.addWidget(self.cancel)
        self.hide()

    def show_run(self, text: str, counts: dict[str, int], *, calm: str = "") -> None:
        """The run as it stands."""
        self.words.setText(text)
        self.bar.set_counts(**counts)
        self.bar.set_calm(calm)
        self.show()

    def end_run(self) -> None:
        """No run any more."""
        self.hide()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        super().mouseReleaseEvent(event)
        if event.button() == Qt.MouseButton.LeftButton:
            self.pressed.emit()


class ArenaStatusBar(QStatusBar):
    """`set_saved` at the left, `set_summary` beside it, `run` at the right."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("status_bar")
        self.setSizeGripEnabled(False)
        holder = QWidget()
        row = QHBoxLayout(holder)
        row.setContentsMargins(14, 0, 0, 0)
        row.setSpacing(6)
        self._icon = _IconLabel()
        self.saved = Label("", "caption", colour="text2", name="label_saved")
        self.summary = ElidedLabel("", "caption", colour="text2", name="label_summary", fills=False)
        row.addWidget(self._icon)
        row.addWidget(self.saved)
        row.addSpacing(16)
        row.addWidget(self.summary)
        row.addStretch(1)
        self.addWidget(holder, 1)
        self.run = RunStatus()
        self.addPermanentWidget(self.run)
        self._apply_height()

    def set_saved(self, text: str, icon: str = "check", tone: str = "good") -> None:
        """Saved, saving, could not save. Empty text shows nothing."""
        self.saved.setText(text)
        self._icon.setVisible(bool(text))
        if text:
            self._icon.set_icon(icon, tone)

    def set_summary(self, text: str) -> None:
        """What the project holds."""
        self.summary.setText(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "run"):
            self._apply_height()

    def _apply_height(self) -> None:
        self.setFixedHeight(max(STATUS_BAR, control_height() + 2))
