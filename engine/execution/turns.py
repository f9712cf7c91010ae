"""Whose turn it is in a lane where the service refuses one model and answers another.

Many services limit each model by itself. A refused call goes back to the front of its lane, so
one model without any allowance would keep all others of its connection from ever being asked.
"""

from __future__ import annotations

REFUSALS = 3
"""So many refusals in a row, with no answer in between, and a model lets the others go first."""
LONG_CLOSURE_S = 60.0
"""One refusal that closes the lane for so long counts as many as that."""
FIRST_GAP_S = 15.0
LONGEST_GAP_S = 600.0


class Turns:
    """Which models of one lane step back, and until when. Not thread-safe; its lane owns it.

    A model that steps back is asked only while no other of its lane is ready. After a quarter of a
    minute, and then with gaps that double, its turn comes in plan order again, so that a limit of
    the whole lane keeps no model back for long; an answer ends it at once.
    """

    __slots__ = ("_back_at", "_refusals")

    def __init__(self) -> None:
        self._refusals: dict[int, tuple[int, float]] = {}
        self._back_at: dict[int, float] = {}

    def refused(self, member: int, started: float, now: float, opens_at: float) -> None:
        """A model's call that began at `started` was asked to slow down; the lane is closed until
        `opens_at`, if that is later than now. Calls under way together count as one.
        """
        before, counted_at = self._refusals.get(member, (0, started))
        if started < counted_at:
            return
        if member in self._back_at:
            return  # asked because nobody else was ready: that tells nothing more
        count = before + (REFUSALS if opens_at - now >= LONG_CLOSURE_S else 1)
        self._refusals[member] = (count, now)
        if count >= REFUSALS:
            gap = min(LONGEST_GAP_S, FIRST_GAP_S * 2.0 ** min(count - REFUSALS, 10))
            self._back_at[member] = max(now, opens_at) + gap

    def answered(self, member: int) -> None:
        """The service answered a model: nothing before counts."""
        if self._refusals:
            self._refusals.pop(member, None)
            self._back_at.pop(member, None)

    def pass_time(self, now: float) -> None:
        """Ends what is over."""
        if self._back_at:
            for member in [m for m, at in self._back_at.items() if at <= now]:
                del self._back_at[member]

    def steps_back(self, member: int) -> bool:
        """True where others go first."""
        return member in self._back_at
