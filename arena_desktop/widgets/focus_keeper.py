"""Keeps the keyboard on the page when the control that had it goes away.

Qt hands the keyboard to the next control in its chain, which after "Run" is the project button at the
top of the window or the close button of a message; and a stack of pages gives it to the control
that a page had last, even if that one is hidden by now, where no key arrives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeGuard

from PySide6.QtCore import QObject, Qt, QTimer
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.page import Page, first_focus


class FocusKeeper(QObject):
    """Make one per main window, after its ring; `page` gives the page on show. GUI thread only."""

    def __init__(self, window: QWidget, ring: FocusRing, page: Callable[[], QWidget | None]) -> None:
        super().__init__(window)
        self._window, self._ring, self._page = window, ring, page
        self._ringed = False
        self._last: QWidget | None = None
        self._before: QWidget | None = None
        # Only once the event is over it shows what stays hidden and what comes instead.
        self._later = QTimer(self, singleShot=True, interval=0)
        self._later.timeout.connect(self._look)
        QApplication.instance().focusChanged.connect(self._on_focus)

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        # The parts of a window lose the focus while it is taken down.
        if not isValid(self) or not isValid(self._ring):
            return
        if self._is_ours(old) and not self._later.isActive():
            # What Qt moves by itself looks like Tab; the ring around what is gone tells who came by keyboard.
            self._ringed = self._ring.left is old
        # While a question stands in front nobody is told what happens to the control behind it.
        before = old if self._is_ours(old) else self._last
        gone = before is not None and not (isValid(before) and usable(before))
        if self._is_ours(new):
            self._last = new
        if gone or (self._is_ours(new) and not usable(new)):
            self._before = before
        if self._before is not None:
            self._later.start()

    def _is_ours(self, widget: QWidget | None) -> TypeGuard[QWidget]:
        return widget is not None and isValid(widget) and widget.window() is self._window

    def _look(self) -> None:
        page, now = self._page(), QApplication.focusWidget()
        asked = QApplication.activeModalWidget() or QApplication.activePopupWidget()
        if asked is not None or not self._window.isActiveWindow() or not isinstance(page, Page):
            return
        old, self._before = self._before, None
        if now is not None and usable(now) and old is not None and isValid(old) and usable(old):
            return
        stays = now is not None and usable(now) and page.isAncestorOf(now)
        target = page.landing() or (None if stays else first_focus(page))
        if target is None:
            return
        if self._ringed:
            self._ring.focus(target)
        else:
            target.setFocus(Qt.FocusReason.OtherFocusReason)


def usable(widget: QWidget) -> bool:
    """Whether keys that go to a widget can mean anything to the person."""
    return widget.isVisible() and widget.isEnabled()
