"""One lane: the slots of a connection, and every reason why it may not start a call now."""

from __future__ import annotations

from engine.execution.events import LaneState
from engine.execution.jobs import LanePlan
from engine.execution.lane_queue import LaneQueue
from engine.execution.throttle import Pace, TokenBucket, WidthControl

SILENT_S = 900.0
"""A lane that only says "slow down" for this long is stopped."""
_PROBE_FIRST_S = 5.0
_PROBE_LONGEST_S = 60.0


class Lane:
    """A connection's lane. Not thread-safe; moments are seconds on the run's monotonic clock."""

    def __init__(self, plan: LanePlan) -> None:
        self.plan = plan
        self.id = plan.id
        self.queue = LaneQueue()
        self.control = WidthControl(plan.width)
        self.pace = Pace()
        self.rpm = TokenBucket(plan.rpm, plan.burst) if plan.rpm else None
        self.tpm = TokenBucket(plan.tpm) if plan.tpm else None
        self.active = 0
        self.throttled = 0
        self.max_in_flight = 0
        self.waited_s = 0.0
        self.stopped: str | None = None
        self.day_refusals = 0
        self.denials = 0
        self.cause: tuple[str, int | None] | None = None
        self.equal = 0
        self.answered_once = False
        self.closed_until = 0.0
        self.closed_reason: str | None = None
        self.unreachable_since: float | None = None
        self.offline_since: float | None = None
        self._silent_since: float | None = None
        self._held_until = 0.0
        self._probe_at = 0.0
        self._probe_gap = _PROBE_FIRST_S
        self._probing = False
        self._blocked_since: float | None = None

    # slots

    def take(self, now: float, tokens: int) -> None:
        """One attempt starts: a slot, and its share of pace and buckets."""
        self.active += 1
        self.max_in_flight = max(self.max_in_flight, self.active)
        self.pace.started(now)
        if self.rpm:
            self.rpm.take(now)
        if self.tpm:
            self.tpm.take(now, tokens)
        if self.offline_since is not None:
            self._probing = True

    def give_back(self) -> None:
        """One slot is free again."""
        if self.active < 1:
            raise RuntimeError(f"lane {self.id}: a slot was given back twice")
        self.active -= 1
        if not self.active:
            self._probing = False  # also after a probe that told nothing, such as one that was cut

    def opens_at(self, now: float, tokens: int) -> float | None:
        """The first moment at which time alone lets another call start; None = time alone cannot."""
        if self.stopped or self.active >= self.control.width:
            return None
        at = max(now, self.closed_until, self.pace.ready_at(now))
        if self.offline_since is not None:
            if self._probing:
                return None
            at = max(at, self._probe_at)
        if self.rpm:
            at = max(at, self.rpm.ready_at(now))
        if self.tpm:
            at = max(at, self.tpm.ready_at(now, tokens))
        return at

    # what the service said

    def heard_answer(self) -> None:
        """The service answered: whatever silence there was is over."""
        self.answered_once = True
        self.unreachable_since = None
        self.day_refusals = self.denials = 0
        self._silent_since = None
        self._probing = False

    def slow_down(self, now: float, closes_for_s: float | None) -> tuple[int, int] | None:
        """One request to slow down; with a wait, nothing starts for so long. Returns a width cut.

        A single refusal at a pace that was found is answered by the pace alone: otherwise a service
        with slow answers, which needs width, would be asked by one call at a time for ever.
        """
        self.throttled += 1
        if self._silent_since is None:
            self._silent_since = now
        if closes_for_s is not None:
            self.close(now + closes_for_s, "retry_after")
        cut = None if self.pace.alone(now) else self.control.signal(now, max(now, self.closed_until))
        self.pace.signal(now, self.control.width)
        return cut

    def close(self, until: float, reason: str) -> None:
        """Nothing starts before `until`; a later end wins."""
        if until > self.closed_until:
            self.closed_until, self.closed_reason = until, reason

    def recover(self, now: float) -> tuple[int, int] | None:
        """Gives back width after quiet minutes; at full width a pace that was never tested ends."""
        slowed = not self.control.settled
        change = self.control.recover(now)
        if slowed and self.control.settled and not self.pace.holding:
            self.pace.clear()
        return change

    def silent_deadline(self) -> float | None:
        """When patience ends: 15 minutes without an answer while it only asked to slow down."""
        since = self._silent_since
        if since is None and not self.answered_once:
            # A lane that is away from the start must end some day; one that answered comes back.
            since = self.offline_since
        return None if since is None else max(since, self._held_until) + SILENT_S

    def hold(self, now: float) -> None:
        """The run is paused: nothing was asked until now, so no silence counts."""
        self._held_until = now

    def silent_too_long(self, now: float) -> bool:
        """True where patience has ended."""
        deadline = self.silent_deadline()
        return deadline is not None and now >= deadline

    @property
    def busy(self) -> bool:
        """True where the lane has calls in flight or items that may start."""
        return self.active > 0 or self.queue.has_work()

    def reopen(self) -> None:
        """The user offered the lane again: forget why it was stopped."""
        self.stopped = None
        self._silent_since = None
        self.day_refusals = self.denials = 0
        self.closed_until = 0.0
        if self.offline_since is not None:
            self.come_back()

    # offline

    def go_offline(self, now: float) -> None:
        """The network is away: only a probe may start, 5 s from now, then with growing gaps."""
        self.offline_since = now
        self._silent_since = None
        self._probe_gap = _PROBE_FIRST_S
        self._probe_at = now + self._probe_gap
        self._probing = False

    def probe_failed(self, now: float) -> None:
        """Still away: the next probe after a longer gap."""
        self._probing = False
        self._probe_gap = min(_PROBE_LONGEST_S, self._probe_gap * 2)
        self._probe_at = now + self._probe_gap

    def probe_over(self) -> None:
        """The probe came back without saying whether the network is there."""
        self._probing = False

    def come_back(self) -> None:
        """The network is there again."""
        self.offline_since = None
        self.unreachable_since = None
        self._probing = False

    # what the screen shows

    def note_blocked(self, now: float, blocked: bool) -> None:
        """Sums the time in which a cell and a slot were ready but the lane was not."""
        if blocked and self._blocked_since is None:
            self._blocked_since = now
        elif not blocked and self._blocked_since is not None:
            self.waited_s += now - self._blocked_since
            self._blocked_since = None

    def next_change(self) -> float | None:
        """When the lane changes by itself: recovery or the end of patience."""
        if self.stopped or not self.busy:
            return None
        moments = [m for m in (self.control.due_at(), self.silent_deadline()) if m is not None]
        return min(moments, default=None)

    def view(self, now: float) -> LaneState:
        """The state for the screen."""
        until, reason = self._closure(now)
        return LaneState(
            id=self.id,
            active=self.active,
            width=self.control.width,
            configured=self.control.configured,
            waiting=self.queue.ready_count(),
            closed_for_s=None if until is None else max(0.0, until - now),
            reason=reason,
            throttled=self.throttled,
            waited_s=self.waited_s + (now - self._blocked_since if self._blocked_since is not None else 0.0),
            max_in_flight=self.max_in_flight,
        )

    def _closure(self, now: float) -> tuple[float | None, str | None]:
        if self.stopped:
            return None, "stopped"
        if self.offline_since is not None:
            return max(now, self._probe_at), "offline"
        if self.closed_until > now:
            return self.closed_until, self.closed_reason
        if self.control.width < self.control.configured:
            return None, "throttled"
        limits = [b.ready_at(now) for b in (self.rpm, self.tpm) if b is not None]
        if limits and max(limits) > now:
            return max(limits), "limit"
        return None, None
