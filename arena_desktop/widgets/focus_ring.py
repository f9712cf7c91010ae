"""The focus ring: one overlay per window, drawn 2 px off the control, for keyboard focus only.

Qt tells by a window attribute whether the focus came by Tab or a shortcut; no application-wide
event filter is needed. Fields and tables draw their own focus.
"""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QRectF, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import (
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLabel,
    QLineEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from arena_desktop.theme import current

_OWN_FOCUS = (
    QLineEdit,
    QAbstractSpinBox,
    QComboBox,
    QTextEdit,
    QAbstractItemView,
    QAbstractScrollArea,
    QLabel,
)
_OFF = 2
_WIDTH = 2
_RADIUS = 8
_FOLLOWED = (
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.ParentChange,
)


class FocusRing(QWidget):
    """Make one per top-level window. Follows its widget through layouts and scrolling."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self.setObjectName("focus_ring")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._target: QWidget | None = None
        self._left: QWidget | None = None
        self._watched: list[QWidget] = []
        self.hide()
        QApplication.instance().focusChanged.connect(self._on_focus)

    @property
    def target(self) -> QWidget | None:
        """The widget with the ring, or None."""
        return self._target

    @property
    def left(self) -> QWidget | None:
        """The widget that had the ring before the last change, or None. It may be gone by now."""
        return self._left

    def focus(self, widget: QWidget) -> None:
        """Gives a widget the focus and the ring, for the first control of a page or a dialog."""
        widget.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.show_on(widget)

    def show_on(self, widget: QWidget | None) -> None:
        """Puts the ring around a widget of this window; None takes it away."""
        for watched in self._watched:
            if isValid(watched):
                watched.removeEventFilter(self)
        self._watched = []
        self._left, self._target = self._target, widget
        if widget is None:
            self.hide()
            return
        step: QWidget | None = widget
        while step is not None and step is not self.parentWidget():
            step.installEventFilter(self)
            self._watched.append(step)
            step = step.parentWidget()
        self._follow()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _FOLLOWED:
            self._follow()
        return False

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._target is None or not isValid(self._target):
            return
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QPen(current().color("accent"), _WIDTH))
        radius = (self._target.property("ring_radius") or _RADIUS) + _OFF
        box = QRectF(self.rect().translated(self._offset)).adjusted(1, 1, -1, -1)
        box.setSize(self._whole.toRectF().size())
        painter.drawRoundedRect(box.adjusted(0, 0, -2, -2), radius, radius)

    def _on_focus(self, _old: QWidget | None, new: QWidget | None) -> None:
        # The parts of a window lose the focus while it is taken down, and the ring may be gone by then.
        if not isValid(self):
            return
        window = self.parentWidget()
        if new is not None and not isValid(new):
            new = None
        if new is None or new.window() is not window:
            self.show_on(None)
            return
        keyboard = window.testAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange)
        # The attribute stays once set; taken back so that the next click tells the truth.
        window.setAttribute(Qt.WidgetAttribute.WA_KeyboardFocusChange, False)
        own = isinstance(new, _OWN_FOCUS) or new.property("own_focus")
        self.show_on(new if keyboard and not own else None)

    def _follow(self) -> None:
        target, window = self._target, self.parentWidget()
        if target is None or not isValid(target) or not target.isVisibleTo(window):
            self.hide()
            return
        room = _OFF + _WIDTH
        self._whole = QRect(target.mapTo(window, QPoint(0, 0)), target.size()).adjusted(
            -room, -room, room, room
        )
        shown = self._whole & self._clip(target, room)
        self._offset = self._whole.topLeft() - shown.topLeft()
        self.setGeometry(shown)
        self.setVisible(not shown.isEmpty())
        self.raise_()
        self.update()

    def _clip(self, target: QWidget, room: int) -> QRect:
        """What scroll areas on the way let through, with room for the ring itself."""
        window = self.parentWidget()
        clip = window.rect()
        step = target.parentWidget()
        while step is not None and step is not window:
            above = step.parentWidget()
            if isinstance(above, QAbstractScrollArea) and above.viewport() is step:
                clip &= QRect(step.mapTo(window, QPoint(0, 0)), step.size()).adjusted(
                    -room, -room, room, room
                )
            step = above
        return clip
