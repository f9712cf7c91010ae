"""How one lane slows down and recovers: its width, its pace, its rate buckets.

Every moment is handed in as seconds on one monotonic clock; nothing here reads a clock.
"""

from __future__ import annotations

import math

WINDOW_S = 60.0
"""A further cut is possible this long after the last cut; recovery begins this long after quiet."""
FASTEST_PER_S = 1000.0
SLOWEST_PER_S = 0.01

_PROBING_GROWTH = 1.3
_HOLDING_GROWTH = 0.03
_HOLDING_GROWTH_PER_START = 0.006
_HOLDING_CUT = 0.85
_LIMIT_FORGOTTEN = 0.9
_ALONE_S = 10.0
_ALONE_STARTS = 10.0
"""A refusal is a single one so many seconds, and so many starts, after the one before."""


class WidthControl:
    """The effective width: halved by signals, given back one by one when it is quiet."""

    __slots__ = ("_last_cut", "_next_step", "configured", "width")

    def __init__(self, configured: int) -> None:
        self.configured = configured
        self.width = configured
        self._last_cut: float | None = None
        self._next_step: float | None = None

    def signal(self, now: float, quiet_from: float) -> tuple[int, int] | None:
        """Counts one request to slow down. Returns (before, after) where the width is cut.

        `quiet_from` is when quiet can begin at the earliest: now, or the end of a Retry-After.
        """
        self._next_step = max(quiet_from + WINDOW_S, self._next_step or 0.0)
        if self._last_cut is not None and now - self._last_cut < WINDOW_S:
            return None
        before, after = self.width, max(1, self.width // 2)
        self._last_cut = now
        self.width = after
        return None if before == after else (before, after)

    def recover(self, now: float) -> tuple[int, int] | None:
        """Gives back one per quiet minute; returns (before, after) where something came back."""
        if self._next_step is None or now < self._next_step:
            return None
        steps = 1 + int((now - self._next_step) // WINDOW_S)
        before = self.width
        self.width = min(self.configured, before + steps)
        self._next_step = None if self.width == self.configured else self._next_step + steps * WINDOW_S
        return None if before == self.width else (before, self.width)

    @property
    def settled(self) -> bool:
        """True where nothing is left to give back."""
        return self._next_step is None

    def due_at(self) -> float | None:
        """When `recover` will next change something."""
        return self._next_step

    def resize(self, configured: int) -> tuple[int, int] | None:
        """A new configured width. A lane that was slowed down stays slowed down."""
        before = self.width
        slowed = self.width < self.configured
        self.configured = configured
        self.width = min(self.width, configured) if slowed else configured
        return None if before == self.width else (before, self.width)


class Pace:
    """The most starts per second while a lane is slowed down. No rate = no limit.

    The first signal sets it to the new width; each quiet second it grows by 30 % until the next
    signal, which cuts it by 15 %; from then on a quiet second in which it held a call back adds
    3 %. A second in which slow answers were all that was waited for proves nothing about the limit.
    Near the rate at which it was refused last, it adds no more than 0.6 % per start: at one call a
    second, 3 % a second would reach the limit again with every sixth call.
    """

    __slots__ = (
        "_binds", "_heard_at", "_holding", "_last_cut", "_last_start", "_limit", "_mark", "_named",
        "_next_start", "_rate", "_spacing",
    )  # fmt: skip

    def __init__(self) -> None:
        self._rate: float | None = None
        self._holding = False
        self._limit = 0.0
        self._named = False
        self._mark = 0.0
        self._last_cut = 0.0
        self._next_start = 0.0
        self._binds = False
        self._heard_at = self._last_start = -math.inf
        self._spacing = math.inf

    def alone(self, now: float) -> bool:
        """True where a refusal now would be the only one of a lane that has found its pace.

        Then a slower pace answers it. What is refused again soon after is no matter of pace.
        """
        rate = self.rate(now)
        if rate is None or self._named or not self._holding:
            return False
        return now - self._heard_at >= max(_ALONE_S, _ALONE_STARTS / rate)

    def signal(self, now: float, width: int) -> None:
        """One request to slow down; at most one cut per max(1 s, 1/pace)."""
        rate = self.rate(now)
        self._heard_at = now
        if rate is None or (self._named and rate > width):
            # Refused although its headers allowed more: they do not tell the whole limit.
            self._set(now, float(width), holding=False)
        elif now - self._last_cut >= max(1.0, 1.0 / rate):
            # Refusals in a row come from one limit; only slowly is it taken to be a lower one.
            # A pace that did not hold anything back is not what was refused: the last gap was.
            rate = min(rate, max(1.0, self._spacing))
            self._limit = max(rate, self._limit * _LIMIT_FORGOTTEN)
            self._set(now, rate * _HOLDING_CUT, holding=True)
        else:
            self._mark = now

    def set_rate(self, now: float, per_s: float) -> None:
        """The vendor's own headers named a rate.

        It does not undo what refusals have taught: while these rule, only a slower one is taken.
        """
        rate = self.rate(now)
        if rate is not None and not self._named and per_s >= rate:
            return
        if per_s >= FASTEST_PER_S and (rate is None or self._named):
            self.clear()
            return
        self._named = self._named or rate is None
        self._rate = _bounded(per_s)
        self._holding = True
        self._mark = now

    def _set(self, now: float, rate: float, *, holding: bool) -> None:
        self._rate = _bounded(rate)
        self._holding = holding
        self._named = False
        self._mark = self._last_cut = now
        self._next_start = max(self._next_start, now + 1.0 / self._rate)

    @property
    def holding(self) -> bool:
        """True where refusals have taught a pace."""
        return self._rate is not None and self._holding and not self._named

    def clear(self) -> None:
        """No limit any more."""
        self._rate = None
        self._named = False

    def rate(self, now: float) -> float | None:
        """Starts per second now, grown by the quiet seconds since the last signal."""
        if self._rate is None:
            return None
        quiet = int(now - self._mark)
        if quiet > 0:
            self._rate = min(FASTEST_PER_S, self._rate * self._growth(quiet, self._rate))
            self._mark += quiet
            self._binds = False
        return self._rate

    def _growth(self, quiet: int, rate: float) -> float:
        if not self._holding:
            # Bounded before the power, so that a night of quiet does not overflow.
            return float(_PROBING_GROWTH ** min(quiet, 1000))
        if not self._binds and not self._named:
            return 1.0
        near = self._limit * _HOLDING_CUT <= rate <= self._limit / _HOLDING_CUT
        growth = min(_HOLDING_GROWTH, _HOLDING_GROWTH_PER_START * rate) if near else _HOLDING_GROWTH
        # It held a call back for one gap at most, however long ago the last look was.
        seconds = min(quiet, 1000) if self._named else min(quiet, 1 + int(1.0 / rate))
        return float((1.0 + growth) ** seconds)

    def started(self, now: float) -> None:
        """One call was started."""
        gap, self._last_start = now - self._last_start, now
        self._spacing = 1.0 / gap if gap > 0 else math.inf
        rate = self.rate(now)
        if rate is not None:
            self._next_start = max(now, self._next_start) + 1.0 / rate

    def ready_at(self, now: float) -> float:
        """The first moment at which another call may start."""
        rate = self.rate(now)
        if rate is None:
            return now
        # The rate may have grown since the last start, so a wait is never longer than one gap.
        self._next_start = min(self._next_start, now + 1.0 / rate)
        self._binds = self._binds or self._next_start > now
        return self._next_start


def _bounded(rate: float) -> float:
    return min(FASTEST_PER_S, max(SLOWEST_PER_S, rate))


class TokenBucket:
    """Requests or tokens per minute. A request larger than the bucket is clamped, never stuck."""

    __slots__ = ("_capacity", "_level", "_mark", "_per_s")

    def __init__(self, per_minute: float, capacity: float | None = None) -> None:
        self._per_s = per_minute / 60.0
        self._capacity = max(1.0, capacity if capacity is not None else per_minute)
        self._level = self._capacity
        self._mark: float | None = None

    def _refill(self, now: float) -> None:
        if self._mark is not None and now > self._mark:
            self._level = min(self._capacity, self._level + (now - self._mark) * self._per_s)
        self._mark = now if self._mark is None else max(now, self._mark)

    def ready_at(self, now: float, amount: float = 1.0) -> float:
        """The first moment at which `amount` is there."""
        self._refill(now)
        missing = min(amount, self._capacity) - self._level
        # The tiny slack keeps a float remainder from asking for a wake-up that changes nothing.
        return now if missing <= 1e-6 else now + missing / self._per_s

    def take(self, now: float, amount: float = 1.0) -> None:
        """Takes `amount` (clamped to the bucket)."""
        self._refill(now)
        self._level -= min(amount, self._capacity)

    def correct(self, now: float, used: float, taken: float) -> None:
        """The call really used `used` where `taken` was taken; the level may become negative."""
        self._refill(now)
        self._level = min(self._capacity, self._level + min(taken, self._capacity) - used)
