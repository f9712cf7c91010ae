"""The field a key is pasted into: hidden unless asked, never given out again by copy, cut or drag."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QKeyEvent, QKeySequence, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QMenu

from arena_desktop.widgets.buttons import IconButton
from engine.key_text import clean_pasted_key

_EYE = 28
_KEY = QKeySequence.StandardKey
_GIVING_OUT = (_KEY.Copy, _KEY.Cut)


class KeyField(QLineEdit):
    """A password field with an eye. Spaces and line breaks around a pasted key are taken off silently.

    What stands in it is only ever what was pasted just now; a kept key is never put here.
    """

    key_changed = Signal(str)
    """The key, cleaned; empty where there is none."""

    def __init__(self, spoken: str) -> None:
        super().__init__()
        self.setObjectName("edit_api_key")
        self.setAccessibleName(spoken)
        self.setEchoMode(QLineEdit.EchoMode.Password)
        # What is typed here must not be learned by an input method or offered again.
        self.setInputMethodHints(
            Qt.InputMethodHint.ImhHiddenText
            | Qt.InputMethodHint.ImhSensitiveData
            | Qt.InputMethodHint.ImhNoPredictiveText
            | Qt.InputMethodHint.ImhNoAutoUppercase
        )
        self.setDragEnabled(False)
        self.setTextMargins(0, 0, _EYE + 4, 0)
        self.setMaxLength(20_000)
        self.eye = IconButton("eye", self.tr("Show what I pasted"), name="button_show_key")
        self.eye.setParent(self)
        self.eye.setProperty("place", "field")
        self.eye.setCheckable(True)
        self.eye.setCursor(Qt.CursorShape.ArrowCursor)
        self.eye.toggled.connect(self._on_eye)
        self.textChanged.connect(lambda _text: self.key_changed.emit(self.key()))

    def key(self) -> str:
        """The key as it would be kept."""
        return clean_pasted_key(self.text())[0]

    def forget(self) -> None:
        """Empties the field, its undo list too, and hides what is typed next."""
        self.setText("")
        self.eye.setChecked(False)

    # Qt

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.eye.setFixedSize(_EYE, min(_EYE, self.height() - 4))
        self.eye.move(QPoint(self.width() - _EYE - 4, (self.height() - self.eye.height()) // 2))

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if any(event.matches(key) for key in _GIVING_OUT):
            event.accept()
            return
        super().keyPressEvent(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        # On some systems a marked text is on the selection clipboard at once.
        if self.echoMode() == QLineEdit.EchoMode.Password:
            super().mouseMoveEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if self.echoMode() == QLineEdit.EchoMode.Password:
            super().mouseDoubleClickEvent(event)

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(self.tr("Paste")).triggered.connect(self.paste)
        clear = menu.addAction(self.tr("Empty the field"))
        clear.setEnabled(bool(self.text()))
        clear.triggered.connect(self.forget)
        menu.popup(event.globalPos())

    def _on_eye(self, shown: bool) -> None:
        mode = QLineEdit.EchoMode.Normal if shown else QLineEdit.EchoMode.Password
        self.deselect()
        self.setEchoMode(mode)
        self.eye.set_icon("eye", self.tr("Hide what I pasted") if shown else self.tr("Show what I pasted"))
