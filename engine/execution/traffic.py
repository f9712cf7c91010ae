"""What the services' answers mean for lanes and models: slow down, stop, go offline, come back.

Knows nothing of cells or slots; the dispatcher asks it and acts on its decision.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator

from providers.base import ErrorKind

from engine.execution.events import LaneState
from engine.execution.jobs import (
    JUDGE_LANE,
    Change,
    Decision,
    DispatchPlan,
    Fate,
    LaneChanged,
    SetAside,
)
from engine.execution.lanes import Lane
from engine.execution.retry import COUNTDOWN_S, SHORT_WAIT_S, WAITED_S, Failure, is_throttle
from engine.execution.standing import EQUAL_FAILURES, Standing

_NO_WAY = frozenset({ErrorKind.OFFLINE, ErrorKind.CONNECT, ErrorKind.CONNECT_TIMEOUT})
_LOST = _NO_WAY | {ErrorKind.TIMEOUT, ErrorKind.UNKNOWN}
"""What becomes of calls that are under way when the network goes. A probe that gets so far has found it."""
_DAY_REFUSALS = 2
_DOUBT_S = 10.0
"""So long a lane that finds no network waits for what the others find, before it is its own fault."""
_DOUBT_DELAY_S = 1.0
_JUDGE_DENIALS = 2


class Traffic:
    """All lanes of a run and who may still be asked. `changes` collects what there is to tell.

    `markers` are the lanes of what marks answers: the judge and models that make embeddings.
    """

    def __init__(self, plan: DispatchPlan, rng: random.Random) -> None:
        self._models = plan.grid.models
        self._concurrency = plan.concurrency
        self._rng = rng
        self._lanes = {p.id: Lane(p) for p in plan.lanes}
        self.markers = tuple(lane for lane in self._lanes.values() if _marks(lane))
        first_of: dict[str, Lane] = dict(self._lanes)
        for lane in self._lanes.values():
            if lane.plan.shares:
                # Where no model goes through that connection, the first that marks through it counts.
                shared = first_of.setdefault(lane.plan.shares, lane)
                lane.rpm, lane.tpm = shared.rpm, shared.tpm
        self._reached_at: float | None = None
        self.standing = Standing(plan.grid.models)
        self.changes: list[Change] = []

    def __iter__(self) -> Iterator[Lane]:
        return iter(self._lanes.values())

    def __getitem__(self, lane_id: str) -> Lane:
        return self._lanes[lane_id]

    def views(self, now: float) -> tuple[LaneState, ...]:
        """The state of every lane for the screen."""
        return tuple(lane.view(now) for lane in self)

    def pass_time(self, now: float, *, paused: bool = False) -> None:
        """Wakes what is due, gives back width, stops lanes that were silent for too long."""
        for lane in self:
            if paused:
                lane.hold(now)
            lane.queue.wake(now)
            change = lane.recover(now)
            if change:
                self.changes.append(LaneChanged(lane.id, *change, None, "recovered"))
            if lane.busy and not lane.stopped and lane.silent_too_long(now):
                code = "asked_to_slow_down" if lane.offline_since is None else "unreachable"
                self.stop_lane(lane, code, None)

    # ---- answers and failures

    def heard_answer(self, lane: Lane, member: int | None, now: float) -> None:
        """The lane's service answered a call of a model (or, with None, a judge request)."""
        lane.heard_answer()
        self._network_is_there(lane, now)
        if member is not None:
            lane.queue.turns.answered(member)
            self.standing.answered(member)

    def heard_failure(self, lane: Lane, started: float, failure: Failure, now: float) -> Decision | None:
        """What an attempt that began at `started` and failed says about its lane.

        Returns a decision where the lane decides over the cell: it goes back because the network
        is away, or it stops together with its lane. None: the cell's own rules decide.
        """
        if self._away(lane, started, failure, now):
            return Decision(Fate.REQUEUED, code="offline")
        if self._in_doubt(lane, failure, now):
            return Decision(Fate.REQUEUED, _DOUBT_DELAY_S, "offline")
        if failure.status is not None:
            self._network_is_there(lane, now)
        return self._slow_down(lane, failure, now) if is_throttle(failure) else None

    def throttle_delay_s(self, lane: Lane, failure: Failure) -> float:
        """A short Retry-After delays only its cell; a longer one has closed the lane."""
        wait = failure.wait_s
        if wait is None or wait > SHORT_WAIT_S or not lane.plan.retry.respect_retry_after:
            return 0.0
        return wait

    def _slow_down(self, lane: Lane, failure: Failure, now: float) -> Decision | None:
        if failure.day_quota:
            lane.day_refusals += 1
            if lane.day_refusals >= _DAY_REFUSALS:
                return self._give_up(lane, "day_quota", failure, None)
        wait = failure.wait_s if lane.plan.retry.respect_retry_after else None
        if wait is not None and wait > COUNTDOWN_S:
            return self._give_up(lane, "wait_too_long", failure, now + wait)
        closes_for = None
        if wait is not None and wait > SHORT_WAIT_S:
            closes_for = wait + self._rng.uniform(0, 1)
        closed_before = lane.closed_until
        cut = lane.slow_down(now, closes_for)
        until = lane.closed_until if lane.closed_until > max(now, closed_before) else None
        if cut or until:
            before, after = cut or (lane.control.width, lane.control.width)
            self.changes.append(LaneChanged(lane.id, before, after, until, failure.kind.value))
        return None

    def long_wait(self, lane: Lane, failure: Failure, now: float) -> Decision | None:
        """A server error with a wait above a minute: the lane is closed for it, or stopped."""
        wait = failure.wait_s
        if wait is None or wait <= WAITED_S or not lane.plan.retry.respect_retry_after:
            return None
        if wait > COUNTDOWN_S:
            return self._give_up(lane, "wait_too_long", failure, now + wait)
        lane.close(now + wait + self._rng.uniform(0, 1), "retry_after")
        self._tell(lane, "retry_after", lane.closed_until)
        return None

    def _give_up(self, lane: Lane, code: str, failure: Failure, until: float | None) -> Decision:
        self.stop_lane(lane, code, failure, until)
        return Decision(Fate.FAILED if _marks(lane) else Fate.STOPPED, code=code)

    def call_failed(self, member: int, failure: Failure) -> None:
        """A call of a model failed for good: it may have to be set aside."""
        change = self.standing.failed(member, failure)
        if change is not None:
            self._park(change)

    def judge_failed(self, lane: Lane, failure: Failure) -> None:
        """A judge request failed for good: the judge's lane may have to stop."""
        if failure.kind is ErrorKind.NOT_FOUND:
            self.stop_lane(lane, "model_unknown", failure)
        elif failure.denied:
            lane.denials += 1
            if lane.denials >= _JUDGE_DENIALS:
                code = "denied" if failure.kind is ErrorKind.AUTH else "no_credit"
                self.stop_lane(lane, code, failure)
        elif not lane.answered_once and failure.kind is not ErrorKind.BLOCKED:
            lane.equal = lane.equal + 1 if lane.cause == failure.cause else 1
            lane.cause = failure.cause
            if lane.equal >= EQUAL_FAILURES:
                self.stop_lane(lane, "same_failure", failure)

    # ---- lanes and models that stop

    def stop_lane(self, lane: Lane, code: str, failure: Failure | None, until: float | None = None) -> None:
        """No more calls on this lane until the user offers it again."""
        if _marks(lane) and lane.stopped:
            return  # what was under way fails for the same cause; that is told already
        lane.stopped = code
        if _marks(lane):
            self.changes.append(SetAside((), lane.id, code, failure, until))
            return
        change = self.standing.set_aside(self._members(lane.id), lane.id, code, failure, until)
        if change is not None:
            self._park(change)

    def _members(self, lane_id: str) -> list[int]:
        return [i for i, m in enumerate(self._models) if m.lane == lane_id]

    def _park(self, change: SetAside) -> None:
        lane = self._lanes[change.lane]
        members = self._members(lane.id)
        for member in members:
            if member in self.standing.aside:
                lane.queue.park(member)
        if all(m in self.standing.aside or m in self.standing.closed for m in members):
            lane.stopped = lane.stopped or change.code
        self.changes.append(change)

    def offer_again(self, keys: Iterable[str]) -> list[int]:
        """Forgets why models were set aside; returns their numbers, still parked."""
        wanted = set(keys)
        offered = [i for i, m in enumerate(self._models) if m.key in wanted and self.standing.offer_again(i)]
        for member in offered:
            self._lanes[self._models[member].lane].reopen()
        return offered

    # ---- the network

    def _away(self, lane: Lane, started: float, failure: Failure, now: float) -> bool:
        if lane.plan.local or failure.status is not None:
            return False
        if lane.offline_since is not None:
            return self._still_away(lane, started >= lane.offline_since, failure, now)
        if failure.kind is not ErrorKind.OFFLINE:
            return False
        if lane.unreachable_since is None:
            lane.unreachable_since = now
        remote = self._remote()
        if not all(r.unreachable_since is not None or r.offline_since is not None for r in remote):
            return False
        self._go_offline(remote, now)
        return True

    def _in_doubt(self, lane: Lane, failure: Failure, now: float) -> bool:
        """The lane finds no network, and no other has been heard since: the others will tell."""
        since = lane.unreachable_since
        if since is None or failure.kind is not ErrorKind.OFFLINE or lane.plan.local:
            return False
        heard = self._reached_at is not None and self._reached_at > since
        return not heard and now - since < _DOUBT_S

    def _still_away(self, lane: Lane, probe: bool, failure: Failure, now: float) -> bool:
        if not probe:
            return failure.kind in _LOST
        if failure.kind in _NO_WAY:
            lane.probe_failed(now)
            return True
        lane.probe_over()
        if failure.kind in _LOST:
            self._network_is_there(lane, now)
        return False

    def _remote(self) -> list[Lane]:
        return [lane for lane in self if not lane.plan.local and not lane.stopped and lane.busy]

    def _go_offline(self, lanes: Iterable[Lane], now: float) -> None:
        for lane in lanes:
            if lane.offline_since is None:
                lane.go_offline(now)
                self._tell(lane, "offline")

    def clock_jumped(self, now: float) -> None:
        """The computer slept: what is in flight on the network is lost, a probe finds out."""
        self._go_offline(self._remote(), now)

    def _network_is_there(self, heard_from: Lane, now: float) -> None:
        heard_from.unreachable_since = None
        if heard_from.plan.local:
            return
        self._reached_at = now
        if heard_from.offline_since is None:
            return
        for lane in self:
            if lane.offline_since is not None:
                lane.come_back()
                self._tell(lane, "online")

    # ---- what the user wants

    def set_width(self, lane_id: str, width: int) -> None:
        """A new width for a lane, clamped to 1 … concurrency."""
        lane = self._lanes[lane_id]
        before = lane.control.width
        change = lane.control.resize(max(1, min(width, self._concurrency)))
        self.changes.append(LaneChanged(lane_id, before, change[1] if change else before, None, "set"))

    def _tell(self, lane: Lane, reason: str, until: float | None = None) -> None:
        width = lane.control.width
        self.changes.append(LaneChanged(lane.id, width, width, until, reason))


def _marks(lane: Lane) -> bool:
    return lane.plan.marks or lane.id == JUDGE_LANE
