"""Whether the computer slept between two looks at the wall clock."""

from __future__ import annotations

from collections.abc import Callable

SLEPT_S = 30.0
"""A jump of the wall clock by this much between two looks means that the computer slept."""


class SleepWatch:
    """Looks at a wall clock (seconds since the epoch) that a run looks at every second or so."""

    def __init__(self, wall: Callable[[], float]) -> None:
        self._wall = wall
        self._last = wall()

    def slept(self) -> bool:
        """True where the clock has jumped ahead since the last look. A clock set back is no sleep."""
        now, before = self._wall(), self._last
        self._last = now
        return now - before > SLEPT_S
