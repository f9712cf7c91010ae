"""What may start now, and when to ask again: the heart of a run as a plain state machine.

No Qt, no threads, no sleep, no clock: moments are handed in as seconds on one monotonic clock,
and so is the source of chance. The Qt controller and tests with a fake clock drive the same
object. Not thread-safe: one thread owns it. Every event costs O(log n) in the planned cells.

How a job walks: `start_ready` admits it (it holds a global slot and its lane's slot); then
either `answered` -> `free_lane` (the answer is committed) -> `finish` (the mark is committed),
or `failed`, which says whether the cell comes back by itself or must be recorded and finished.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from providers.base import ErrorKind

from engine.domain import Cell
from engine.execution.budget import NOTHING, Carried, Fit, Ledger, Used, Worst
from engine.execution.events import LaneState
from engine.execution.interleave import SmoothRoundRobin
from engine.execution.jobs import (
    JUDGE_LANE,
    CeilingReached,
    Change,
    Counts,
    Decision,
    DispatchPlan,
    Ended,
    Fate,
    Job,
    JobKind,
    JudgeDropped,
    Stopping,
    Tally,
)
from engine.execution.lanes import Lane
from engine.execution.retry import (
    Action,
    Failure,
    classify,
    is_throttle,
    retry_delay_s,
)
from engine.execution.traffic import Traffic

_JUDGE = -1
_COMES_BACK = frozenset({Fate.RETRY, Fate.REQUEUED})


@dataclass(slots=True)
class _Flight:
    """A job that holds slots."""

    job: Job
    started: float
    tokens: int
    lane_held: bool = True
    settled: bool = False


@dataclass(slots=True)
class _Progress:
    """What a cell or judge job went through between its attempts."""

    tally: Tally = field(default_factory=Tally)
    retries: int = 0
    left_at: float | None = None
    failure: Failure | None = None


class Dispatcher:
    """Queue, lanes, due times and reservations of one run."""

    def __init__(
        self, plan: DispatchPlan, rng: random.Random, now: float, carried: Mapping[str, Carried] | None = None
    ) -> None:
        self._plan = plan
        self._grid = plan.grid
        self._rng = rng
        self.ledger = Ledger(plan.ceilings, carried)
        self._traffic = Traffic(plan, rng)
        self._robin: SmoothRoundRobin[str] = SmoothRoundRobin()
        self._flights: dict[int, _Flight] = {}
        self._running: dict[int, int] = {}
        self._progress: dict[int, _Progress] = {}
        self._judged: dict[int, tuple[int, Worst]] = {}
        self._scoring: set[int] = set()
        self._total = plan.grid.total
        self._state = bytearray(self._total)
        self._finished = 0
        self._next_job = 0
        self._next_item = self._total
        self._paused = False
        self._stopping: str | None = None
        self._held: set[int] = set()
        self._waiting_for_budget: tuple[str, int] | None = None
        self._ended: list[Ended] = []
        self._dropped: list[JudgeDropped] = []
        self._load(plan)
        self._now = now

    def _load(self, plan: DispatchPlan) -> None:
        models = len(self._grid.models)
        for number, model in enumerate(self._grid.models):
            items: Iterable[int] = range(number, self._total, models)
            if plan.done:
                items = [i for i in items if i not in plan.done]
            self._traffic[model.lane].queue.load(number, list(items))
        for index in plan.done:
            self._state[index] = 1
        self._finished = len(plan.done)

    # ---- asking

    def start_ready(self, now: float, capacity: int | None = None) -> list[Job]:
        """Admits everything that may start now, up to `capacity` jobs in flight at once."""
        self._now = now
        self._traffic.pass_time(now)
        self._drop_stopped_judges()
        slots = self._plan.concurrency if capacity is None else min(capacity, self._plan.concurrency)
        jobs: list[Job] = []
        while not self._paused and not self._stopping and len(self._flights) < slots:
            job = self._admit_next(now)
            if job is None:
                break
            jobs.append(job)
        self._note_blocked(now, slots)
        self._end_parked_when_idle()
        return jobs

    def wake_at(self, now: float) -> float | None:
        """When to ask again if nothing happens before; None = only an event can change anything."""
        moments: list[float] = []
        for lane in self._traffic:
            change = lane.next_change()
            if change is not None:
                moments.append(change)
            if self._paused or self._stopping:
                continue
            due = lane.queue.next_due()
            if due is not None:
                moments.append(due)
            if self._waiting_for_budget is None and lane.queue.head() is not None:
                at = lane.opens_at(now, self._head_tokens(lane))
                if at is not None and at > now:
                    moments.append(at)
        return min(moments, default=None)

    def _admit_next(self, now: float) -> Job | None:
        while True:
            pick = self._choose(now)
            if pick is None:
                return None
            lane, item, member = pick
            payer = JUDGE_LANE if member == _JUDGE else self._grid.models[member].key
            worst = self._worst(item, lane)
            fit = self.ledger.fits(payer, worst)
            if fit is Fit.YES:
                return self._admit(lane, item, member, worst, now)
            if fit is Fit.RUN_FULL:
                self._run_is_full(lane, item, now)
                return None
            self._model_is_full(lane, member)

    def _choose(self, now: float) -> tuple[Lane, int, int] | None:
        judge = self._traffic.judge
        if judge is not None and self._opens(judge, now):
            return (judge, *_present(judge.queue.head()))
        if self._waiting_for_budget is not None:
            lane_id, item = self._waiting_for_budget
            lane = self._traffic[lane_id]
            head = lane.queue.head()
            if head is not None and head[0] == item and self._opens(lane, now):
                return (lane, *head)
            self._waiting_for_budget = None
        able = [lane for lane in self._traffic if lane is not judge and self._opens(lane, now)]
        if not able:
            return None
        lane = self._traffic[self._robin.pick([(lane.id, lane.control.width) for lane in able])]
        return (lane, *_present(lane.queue.head()))

    def _opens(self, lane: Lane, now: float) -> bool:
        if lane.queue.head() is None:
            return False
        at = lane.opens_at(now, self._head_tokens(lane))
        return at is not None and at <= now

    def _head_tokens(self, lane: Lane) -> int:
        if lane.tpm is None:
            return 0
        head = lane.queue.head()
        return 0 if head is None else self._worst(head[0], lane).tokens

    def _worst(self, item: int, lane: Lane) -> Worst:
        if item >= self._total:
            return self._judged[item][1]
        if lane.tpm is None and not self.ledger.ceilings.any:
            return Worst()
        return self._plan.worst_of(item)

    def _run_is_full(self, lane: Lane, item: int, now: float) -> None:
        if self.ledger.in_flight:
            self._waiting_for_budget = (lane.id, item)
        else:
            self.stop("budget", now)

    def _model_is_full(self, lane: Lane, member: int) -> None:
        payer = self._grid.models[member].key
        lane.queue.park(member)
        if self.ledger.payer_in_flight(payer):
            self._held.add(member)
            return
        self._traffic.standing.closed.add(member)
        self._traffic.changes.append(CeilingReached(payer, warned=False))
        for item in lane.queue.drain(member):
            self._end(item, "budget_model")

    def _admit(self, lane: Lane, item: int, member: int, worst: Worst, now: float) -> Job:
        self._waiting_for_budget = None
        lane.queue.pop(member)
        judge = member == _JUDGE
        index = self._judged[item][0] if judge else item
        progress = self._progress.setdefault(item, _Progress())
        if progress.left_at is not None:
            waited = progress.tally.waited_s + now - progress.left_at
            progress.tally = replace(progress.tally, waited_s=waited)
            progress.left_at = None
        self._next_job += 1
        job = Job(
            id=self._next_job,
            kind=JobKind.JUDGE if judge else JobKind.CALL,
            index=index,
            cell=self._grid.cell(index),
            lane=lane.id,
            payer=JUDGE_LANE if judge else self._grid.models[member].key,
            attempt=progress.tally.attempts + progress.tally.throttled + 1,
            item=item,
            waited_s=progress.tally.waited_s,
        )
        lane.take(now, worst.tokens)
        self.ledger.reserve(job.id, job.payer, worst)
        self._flights[job.id] = _Flight(job, now, worst.tokens)
        self._running[index] = self._running.get(index, 0) + 1
        return job

    def _note_blocked(self, now: float, slots: int) -> None:
        free = not self._paused and not self._stopping and len(self._flights) < slots
        for lane in self._traffic:
            blocked = free and lane.active < lane.control.width and lane.queue.head() is not None
            lane.note_blocked(now, blocked and self._waiting_for_budget is None)

    def _end_parked_when_idle(self) -> None:
        if self._flights or self._scoring or self._paused or self._stopping:
            return
        if any(lane.queue.has_work() for lane in self._traffic):
            return
        for lane in self._traffic:
            for item in lane.queue.drain():
                self._end(item, "set_aside")

    # ---- what happened

    def answered(self, job: Job, now: float, used: Used) -> None:
        """The service answered; the answer is not committed yet, so both slots are still held."""
        flight = self._flight(job)
        lane = self._traffic[job.lane]
        self._settle(flight, used, now)
        self._count(job, throttled=False)
        self._traffic.heard_answer(lane, self._grid.model_of(job.index) if job.kind is JobKind.CALL else None)

    def free_lane(self, job: Job) -> None:
        """The answer is committed: scoring holds only the global slot."""
        flight = self._flight(job)
        if flight.lane_held:
            flight.lane_held = False
            self._traffic[job.lane].give_back()

    def finish(self, job: Job) -> None:
        """The call's record is committed: its slots are free and its cell is finished."""
        self._release(job)
        self._finish_index(job.index)

    def await_judges(self, job: Job) -> None:
        """The answer is committed and judges must mark it: no slot is held, the cell goes on."""
        self._release(job)
        self._scoring.add(job.index)

    def add_judge(self, index: int, worst: Worst) -> int:
        """Queues one judge request for a cell that awaits judges; returns its item number."""
        item = self._next_item
        self._next_item += 1
        self._judged[item] = (index, worst)
        lane = self._traffic[JUDGE_LANE]
        if self._stopping or lane.stopped:
            self._drop_judge(item, self._stopping or lane.stopped or "", None)
        else:
            lane.queue.push(_JUDGE, item)
        return item

    def judge_done(self, job: Job) -> None:
        """What the judge said is committed, or its job is given up: its slots are free."""
        self._release(job)
        self._forget_judge(job.item)

    def finish_cell(self, index: int) -> None:
        """All marks of a cell that awaited judges are committed."""
        self._scoring.remove(index)
        self._finish_index(index)

    def failed(self, job: Job, failure: Failure, now: float, used: Used | None = None) -> Decision:
        """An attempt failed. `used` is what the service reported to have charged for it."""
        flight = self._flight(job)
        throttled = is_throttle(failure)
        if used is None:
            used = NOTHING if failure.not_charged else Used()
        decision = self._decide(flight, failure, now)
        self._settle(flight, used, now, counts_as_call=not throttled)
        if decision.code != "offline":
            self._count(job, throttled=throttled)
        progress = self._progress[job.item]
        progress.failure = failure
        if decision.fate in _COMES_BACK:
            progress.left_at = now
            self._release(job, forget=False)
            member = self._member(job)
            queue = self._traffic[job.lane].queue
            if decision.delay_s > 0:
                queue.push_due(now + decision.delay_s, member, job.item)
            else:
                queue.push(member, job.item)
        return decision

    def _member(self, job: Job) -> int:
        return _JUDGE if job.kind is JobKind.JUDGE else self._grid.model_of(job.index)

    def _decide(self, flight: _Flight, failure: Failure, now: float) -> Decision:
        lane = self._traffic[flight.job.lane]
        if failure.kind is ErrorKind.CANCELLED:
            return Decision(Fate.STOPPED, code=self._stopping or "cancelled")
        decision = self._traffic.heard_failure(lane, flight.started, failure, now)
        if decision is None:
            decision = self._own_fate(flight.job, lane, failure, now)
        self._drop_stopped_judges(failure)
        if self._stopping and decision.fate in _COMES_BACK:
            return Decision(Fate.STOPPED, code=self._stopping)
        return decision

    def _own_fate(self, job: Job, lane: Lane, failure: Failure, now: float) -> Decision:
        action = classify(failure)
        progress = self._progress[job.item]
        policy = lane.plan.retry
        used_up = action is Action.RETRY and progress.retries >= policy.retries
        if action is Action.FINAL or (used_up and not self._stopping):
            return self._final(job, lane, failure, now)
        if job.kind is JobKind.CALL and self._member(job) in self._traffic.standing.closed:
            return Decision(Fate.STOPPED, code="budget_model")
        if job.kind is JobKind.JUDGE and lane.stopped:
            return Decision(Fate.FAILED, code=lane.stopped)
        if action is Action.THROTTLE:
            return Decision(Fate.REQUEUED, self._traffic.throttle_delay_s(lane, failure), "throttled")
        stopped = self._traffic.long_wait(lane, failure, now)
        if stopped is not None:
            return stopped
        progress.retries += 1
        return Decision(Fate.RETRY, retry_delay_s(failure, progress.retries - 1, policy, self._rng))

    def _final(self, job: Job, lane: Lane, failure: Failure, now: float) -> Decision:
        if job.kind is JobKind.JUDGE:
            self._traffic.judge_failed(lane, failure)
            return Decision(Fate.FAILED)
        self._traffic.call_failed(self._member(job), failure)
        if self._plan.fail_fast:
            self.stop("fail_fast", now)
        return Decision(Fate.FAILED)

    def _drop_stopped_judges(self, failure: Failure | None = None) -> None:
        lane = self._traffic.judge
        if lane is not None and lane.stopped:
            for item in lane.queue.drain():
                self._drop_judge(item, lane.stopped, failure)

    # ---- what the user wants

    def stop(self, reason: str, now: float) -> None:
        """Starts nothing more. Cells without a slot end now; those in flight are awaited."""
        if self._stopping:
            return
        self._now = now
        self._stopping = reason
        self._traffic.changes.append(Stopping(reason))
        for lane in self._traffic:
            for item in lane.queue.drain():
                self._end(item, reason)

    def pause(self) -> None:
        """Starts nothing until `resume`; lanes keep their state."""
        self._paused = True

    def resume(self) -> None:
        """Goes on after `pause`."""
        self._paused = False

    def set_width(self, lane_id: str, width: int) -> None:
        """A new width for a lane, clamped to 1 … concurrency. Running calls are not touched."""
        self._traffic.set_width(lane_id, width)

    def offer_again(self, keys: Iterable[str]) -> None:
        """Lets set-aside models be asked again; their lanes open."""
        for member in self._traffic.offer_again(keys):
            if member not in self._held:
                self._traffic[self._grid.models[member].lane].queue.unpark(member)

    def clock_jumped(self, now: float) -> None:
        """The computer slept: the lanes that need the network wait for a probe."""
        self._traffic.clock_jumped(now)

    def set_pace(self, lane_id: str, per_s: float, now: float) -> None:
        """The vendor's rate-limit headers named how many calls per second may start."""
        self._traffic[lane_id].pace.set_rate(now, per_s)

    # ---- what there is to tell

    def take_changes(self) -> list[Change]:
        """What changed since the last asking."""
        changes, self._traffic.changes = self._traffic.changes, []
        return changes

    def take_ended(self) -> list[Ended]:
        """Cells that ended without a slot since the last asking; each is finished already."""
        ended, self._ended = self._ended, []
        return ended

    def take_dropped_judges(self) -> list[JudgeDropped]:
        """Judge jobs that will not be asked; their cells still await `finish_cell`."""
        dropped, self._dropped = self._dropped, []
        return dropped

    def tally(self, job: Job) -> Tally:
        """What the job's cell went through so far."""
        progress = self._progress.get(job.item)
        return progress.tally if progress else Tally()

    def counts(self) -> Counts:
        """The counts for the screen."""
        retrying = sum(lane.queue.due_count() for lane in self._traffic)
        return Counts(self._total, self._finished, len(self._running), retrying)

    def lane_views(self, now: float) -> tuple[LaneState, ...]:
        """The state of every lane."""
        return self._traffic.views(now)

    def in_flight(self) -> list[Job]:
        """Jobs that hold slots, oldest first."""
        return [flight.job for flight in self._flights.values()]

    @property
    def stopping(self) -> str | None:
        """Why the run ends early, if it does."""
        return self._stopping

    @property
    def paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._paused

    @property
    def over(self) -> bool:
        """True where every cell is finished and no slot is held."""
        return self._finished == self._total and not self._flights

    # ---- inside

    def _flight(self, job: Job) -> _Flight:
        flight = self._flights.get(job.id)
        if flight is None:
            raise RuntimeError(f"job {job.id} of {job.cell} holds no slot")
        return flight

    def _release(self, job: Job, *, forget: bool = True) -> None:
        flight = self._flight(job)
        del self._flights[job.id]
        if not flight.settled:
            self._settle(flight, Used(), self._now)
        if flight.lane_held:
            self._traffic[job.lane].give_back()
        left = self._running[job.index] - 1
        if left:
            self._running[job.index] = left
        else:
            del self._running[job.index]
        if forget and job.kind is JobKind.CALL:
            self._progress.pop(job.item, None)

    def _settle(self, flight: _Flight, used: Used, now: float, *, counts_as_call: bool = True) -> None:
        job = flight.job
        flight.settled = True
        if used.usd is None and not self.ledger.ceilings.any and job.kind is JobKind.CALL:
            # Without ceilings nothing was reserved, but what may have been charged must be told.
            self.ledger.assume(job.id, self._plan.worst_of(job.index))
        self.ledger.settle(job.id, used, counts_as_call=counts_as_call)
        lane = self._traffic[job.lane]
        if lane.tpm is not None and used.tokens is not None:
            lane.tpm.correct(now, used.tokens, flight.tokens)
        warned = self.ledger.warning(job.payer)
        if warned is not None:
            self._traffic.changes.append(CeilingReached(warned, warned=True))
        if job.kind is JobKind.CALL:
            member = self._grid.model_of(job.index)
            if member in self._held:
                self._held.discard(member)
                if member not in self._traffic.standing.aside:
                    lane.queue.unpark(member)

    def _count(self, job: Job, *, throttled: bool) -> None:
        progress = self._progress[job.item]
        tally = progress.tally
        progress.tally = replace(
            tally,
            attempts=tally.attempts + (not throttled),
            throttled=tally.throttled + throttled,
        )

    def _finish_index(self, index: int) -> None:
        if self._state[index]:
            raise RuntimeError(f"{self._grid.cell(index)} was finished twice")
        self._state[index] = 1
        self._finished += 1
        self._progress.pop(index, None)

    def _end(self, item: int, code: str) -> None:
        if item >= self._total:
            self._drop_judge(item, code, None)
            return
        progress = self._progress.get(item) or _Progress()
        aside = self._traffic.standing.aside.get(self._grid.model_of(item))
        self._ended.append(
            Ended(
                index=item,
                cell=self.cell(item),
                code=aside.code if aside else code,
                tally=progress.tally,
                failure=progress.failure or (aside.failure if aside else None),
                until=aside.until if aside else None,
            )
        )
        self._finish_index(item)

    def cell(self, index: int) -> Cell:
        """The cell at a place of the plan order."""
        return self._grid.cell(index)

    def _drop_judge(self, item: int, code: str, failure: Failure | None) -> None:
        self._dropped.append(JudgeDropped(item, self._judged[item][0], code, failure))
        self._forget_judge(item)

    def _forget_judge(self, item: int) -> None:
        self._judged.pop(item, None)
        self._progress.pop(item, None)


def _present(head: tuple[int, int] | None) -> tuple[int, int]:
    if head is None:
        raise RuntimeError("an open lane has no item")
    return head
