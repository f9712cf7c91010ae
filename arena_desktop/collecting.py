"""Circles of objects are collected on the GUI thread only, a little at a time.

Python collects on whichever thread happens to allocate. A worker that reads 100,000 answers then
stops all threads for 30 ms while it looks at every object of the window, and a Qt object whose last
reference goes in such a collection would be destroyed on a thread that it does not belong to.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable
from typing import Protocol

from PySide6.QtCore import QObject, QTimer

TICK_MS = 300
YOUNG = 5_000
"""So many new objects are looked at together, which takes about a millisecond."""
MIDDLE_EVERY = 10
FULL_EVERY_S = 60.0


class Collecting(Protocol):
    """What is used of the module `gc`."""

    def collect(self, generation: int = 2, /) -> int: ...
    def get_count(self) -> tuple[int, int, int]: ...
    def disable(self) -> None: ...
    def enable(self) -> None: ...


class Collector(QObject):
    """Takes the collections over from `start` to `stop`. GUI thread only; make one per program."""

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        collecting: Collecting = gc,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(parent)
        self._gc = collecting
        self._clock = clock
        self._young = self._middle = 0
        self._last_full = clock()
        self._timer = QTimer(self)
        self._timer.setInterval(TICK_MS)
        self._timer.timeout.connect(self.tick)

    def start(self) -> None:
        """From here on nobody else collects."""
        self._gc.disable()
        self._timer.start()

    def stop(self) -> None:
        """Gives the collections back to the interpreter."""
        self._timer.stop()
        self._gc.enable()

    def tick(self) -> None:
        """Looks at what is new, now and then at what has stayed, and once a minute at most at all."""
        if self._gc.get_count()[0] < YOUNG:
            return
        if self._middle >= MIDDLE_EVERY and self._clock() - self._last_full >= FULL_EVERY_S:
            self._gc.collect(2)
            self._young = self._middle = 0
            self._last_full = self._clock()
        elif self._young >= MIDDLE_EVERY:
            self._gc.collect(1)
            self._young = 0
            self._middle += 1
        else:
            self._gc.collect(0)
            self._young += 1
