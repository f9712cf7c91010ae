"""Work of the GUI thread in several turns of the event loop, so that no turn is a stand-still."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PySide6.QtCore import QObject, QTimer


class Turns(QObject):
    """Does pieces of work in their order, each in a turn of its own; other work replaces what is left.

    GUI thread only. What is left is dropped with the parent.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._left: deque[Callable[[], None]] = deque()
        self._timer = QTimer(self)
        self._timer.timeout.connect(self._next)

    def start(self, *pieces: Callable[[], None]) -> None:
        """Begins in the next turn; drops what is left of an earlier start."""
        self._left = deque(pieces)
        self._timer.start(0)

    def finish(self) -> None:
        """Does at once what is left, for whoever needs the whole now."""
        while self._left:
            self._next()

    @property
    def busy(self) -> bool:
        """Whether something is left to do."""
        return bool(self._left)

    def _next(self) -> None:
        if self._left:
            self._left.popleft()()
        if not self._left:
            self._timer.stop()
