"""One lane: the queue of a connection, its slots, and every reason why it may not start now."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from engine.execution.events import LaneState
from engine.execution.jobs import LanePlan
from engine.execution.throttle import Pace, TokenBucket, WidthControl

SILENT_S = 900.0
"""A lane that only says "slow down" for this long is stopped."""
_PROBE_FIRST_S = 5.0
_PROBE_LONGEST_S = 60.0


class LaneQueue:
    """Items of one lane: ready ones by member (model) in plan order, and retries by due time.

    Every operation is O(log n) in the items and O(members) in the models of the lane.
    """

    __slots__ = ("_due", "_parked", "_ready")

    def __init__(self) -> None:
        self._ready: dict[int, list[int]] = {}
        self._due: list[tuple[float, int, int]] = []
        self._parked: set[int] = set()

    def load(self, member: int, items: list[int]) -> None:
        """Sets the items of a member; `items` must be sorted."""
        self._ready[member] = items

    def push(self, member: int, item: int) -> None:
        """Puts an item back at its place in plan order: before everything later."""
        heapq.heappush(self._ready.setdefault(member, []), item)

    def push_due(self, due: float, member: int, item: int) -> None:
        """An item that is ready from `due` on. A parked member's items need no moment."""
        if member in self._parked:
            self.push(member, item)
        else:
            heapq.heappush(self._due, (due, item, member))

    def wake(self, now: float) -> None:
        """Moves what is due to the ready items."""
        while self._due and self._due[0][0] <= now:
            _, item, member = heapq.heappop(self._due)
            self.push(member, item)

    def next_due(self) -> float | None:
        """The earliest due time."""
        return self._due[0][0] if self._due else None

    def head(self) -> tuple[int, int] | None:
        """(item, member) that is first in plan order among members that are not parked."""
        best: tuple[int, int] | None = None
        for member, items in self._ready.items():
            if items and member not in self._parked and (best is None or items[0] < best[0]):
                best = (items[0], member)
        return best

    def pop(self, member: int) -> int:
        """Takes the member's first item."""
        return heapq.heappop(self._ready[member])

    def park(self, member: int) -> None:
        """Keeps the member's items but starts none of them."""
        self._parked.add(member)
        mine = [entry for entry in self._due if entry[2] == member]
        if mine:
            self._due = [entry for entry in self._due if entry[2] != member]
            heapq.heapify(self._due)
            for _, item, _ in mine:
                self.push(member, item)

    def unpark(self, member: int) -> None:
        """Lets the member's items start again."""
        self._parked.discard(member)

    def drain(self, member: int | None = None) -> Iterator[int]:
        """Takes out all items, or those of one member, in plan order."""
        members = list(self._ready) if member is None else [member]
        due = [entry for entry in self._due if member is None or entry[2] == member]
        if due:
            self._due = [entry for entry in self._due if member is not None and entry[2] != member]
            heapq.heapify(self._due)
        taken = [item for _, item, _ in due]
        for m in members:
            taken += self._ready.pop(m, [])
        yield from sorted(taken)

    def ready_count(self) -> int:
        """Items that could start now but for the lane."""
        return sum(len(items) for m, items in self._ready.items() if m not in self._parked)

    def due_count(self) -> int:
        """Items that wait for their moment."""
        return len(self._due)

    def has_work(self) -> bool:
        """True where some item may start now or later by itself."""
        return self.head() is not None or self.next_due() is not None

    def holds_any(self) -> bool:
        """True where any item is left, parked ones included."""
        return bool(self._due) or any(self._ready.values())


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
        """One request to slow down; with a wait, nothing starts for so long. Returns a width cut."""
        self.throttled += 1
        if self._silent_since is None:
            self._silent_since = now
        if closes_for_s is not None:
            self.close(now + closes_for_s, "retry_after")
        cut = self.control.signal(now, max(now, self.closed_until))
        self.pace.signal(now, self.control.width)
        return cut

    def close(self, until: float, reason: str) -> None:
        """Nothing starts before `until`; a later end wins."""
        if until > self.closed_until:
            self.closed_until, self.closed_reason = until, reason

    def recover(self, now: float) -> tuple[int, int] | None:
        """Gives back width after quiet minutes; at full width the pace ends."""
        slowed = not self.control.settled
        change = self.control.recover(now)
        if slowed and self.control.settled:
            self.pace.clear()
        return change

    def silent_deadline(self) -> float | None:
        """When patience ends: 15 minutes without an answer while it only asked to slow down."""
        since = self._silent_since
        if since is None and not self.answered_once:
            # A lane that is away from the start must end some day; one that answered comes back.
            since = self.offline_since
        return None if since is None else since + SILENT_S

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
