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
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from providers.base import ErrorKind

from engine.domain import Cell
from engine.execution.admission import JUDGE_MEMBER, Admission, Pick
from engine.execution.budget import NOTHING, Carried, Fit, Ledger, Used, Worst
from engine.execution.cells import Cells
from engine.execution.events import LaneState
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
from engine.execution.retry import Action, Failure, classify, is_throttle, retry_delay_s
from engine.execution.traffic import Traffic

_COMES_BACK = frozenset({Fate.RETRY, Fate.REQUEUED})
_JUDGES_GO_ON = frozenset({"cancelled", "budget"})
"""Ends of a run that still let judges finish what is paid for, as far as a ceiling allows."""


@dataclass(slots=True)
class _Flight:
    """A job that holds slots."""

    job: Job
    started: float
    tokens: int
    lane_held: bool = True
    settled: bool = False


class Dispatcher:
    """Queue, lanes, due times and reservations of one run."""

    def __init__(
        self, plan: DispatchPlan, rng: random.Random, now: float, carried: Mapping[str, Carried] | None = None
    ) -> None:
        self._plan = plan
        self._rng = rng
        self._now = now
        self.ledger = Ledger(plan.ceilings, carried)
        self._cells = Cells(plan.grid, plan.done)
        self._traffic = Traffic(plan, rng)
        self._admission = Admission(plan, self._traffic, self.ledger, self._cells)
        self._flights: dict[int, _Flight] = {}
        self._next_job = 0
        self._paused = self._resumed = False
        self._stopping: str | None = None
        self._judges_stopped = False
        self._marker_failures: dict[str, Failure] = {}
        models = len(plan.grid.models)
        for number, model in enumerate(plan.grid.models):
            items: Iterable[int] = range(number, self._cells.total, models)
            if plan.done:
                items = [i for i in items if i not in plan.done]
            self._traffic[model.lane].queue.load(number, list(items))

    # ---- asking

    def start_ready(self, now: float, capacity: int | None = None) -> list[Job]:
        """Admits everything that may start now, up to `capacity` jobs in flight at once."""
        self._now = now
        self._traffic.pass_time(now, paused=self._paused or self._resumed)
        self._resumed = False
        self._drop_stopped_judges()
        slots = self._plan.concurrency if capacity is None else min(capacity, self._plan.concurrency)
        jobs: list[Job] = []
        while not self._idle_by_wish and len(self._flights) < slots:
            pick = self._admission.next(now, judges_only=self._stopping is not None)
            if pick is None:
                break
            jobs.append(self._admit(pick, now))
        if self._admission.run_is_full and not self._idle_by_wish:
            self._run_is_full(now)
        self._admission.note_blocked(now, slots_free=not self._idle_by_wish and len(self._flights) < slots)
        self._end_parked_when_idle()
        return jobs

    def _run_is_full(self, now: float) -> None:
        """No room under the ceiling: first no model is asked any more, then no judge."""
        if self._stopping is None:
            self.stop("budget", now)
        for lane in self._traffic.markers:
            head = lane.queue.head()
            if head and self.ledger.fits(lane.id, self._cells.judge_worst(head[0])) is Fit.RUN_FULL:
                self.stop_judges()
                return

    @property
    def _idle_by_wish(self) -> bool:
        """True where nothing may start: paused, or ending without judges to finish."""
        return self._paused or (self._stopping is not None and not self._judges_go_on)

    @property
    def _judges_go_on(self) -> bool:
        return self._stopping in _JUDGES_GO_ON and not self._judges_stopped

    def wake_at(self, now: float) -> float | None:
        """When to ask again if nothing happens before; None = only an event can change anything."""
        moments: list[float | None] = []
        for lane in self._traffic:
            moments.append(lane.next_change())
            if not self._idle_by_wish and (self._stopping is None or lane in self._traffic.markers):
                moments.append(lane.queue.next_due())
                at = self._admission.opens_at(lane, now)
                moments.append(at if at is not None and at > now else None)
        return min((moment for moment in moments if moment is not None), default=None)

    def _admit(self, pick: Pick, now: float) -> Job:
        index = self._cells.index_of(pick.item)
        progress = self._cells.progress(pick.item)
        progress.come_back(now)
        self._next_job += 1
        job = Job(
            id=self._next_job,
            kind=JobKind.JUDGE if pick.member == JUDGE_MEMBER else JobKind.CALL,
            index=index,
            cell=self._plan.grid.cell(index),
            lane=pick.lane.id,
            payer=pick.payer,
            attempt=progress.attempts + progress.throttled + 1,
            item=pick.item,
            waited_s=progress.waited_s,
        )
        pick.lane.take(now, pick.worst.tokens)
        self.ledger.reserve(job.id, job.payer, pick.worst)
        self._flights[job.id] = _Flight(job, now, pick.worst.tokens)
        self._cells.begin(index)
        return job

    def _end_parked_when_idle(self) -> None:
        """Nothing can start any more but what is set aside: the run ends without it."""
        if self._flights or self._cells.scoring - self._cells.held or self._idle_by_wish:
            return
        if not any(lane.queue.has_work() for lane in self._traffic):
            self._end_queued("set_aside")

    def _end_queued(self, code: str) -> None:
        aside = self._traffic.standing.aside
        for lane in self._traffic:
            if lane in self._traffic.markers and self._judges_go_on:
                continue
            for item in lane.queue.drain():
                self._cells.end(item, code, aside.get(self._plan.grid.model_of(item)))

    # ---- what happened

    def answered(self, job: Job, now: float, used: Used) -> None:
        """The service answered; the answer is not committed yet, so both slots are still held."""
        flight = self._flight(job)
        self._settle(flight, used, now)
        self._cells.progress(job.item).count(throttled=False)
        member = self._member(job)
        self._traffic.heard_answer(self._traffic[job.lane], None if member == JUDGE_MEMBER else member, now)

    def free_lane(self, job: Job) -> None:
        """The answer is committed: scoring holds only the global slot."""
        flight = self._flight(job)
        if flight.lane_held:
            flight.lane_held = False
            self._traffic[job.lane].give_back()

    def finish(self, job: Job) -> None:
        """The call's record is committed: its slots are free and its cell is finished."""
        self._release(job)
        self._cells.finish(job.index)

    def failed(self, job: Job, failure: Failure, now: float, used: Used | None = None) -> Decision:
        """An attempt failed. `used` is what the service reported to have charged for it."""
        flight = self._flight(job)
        throttled = is_throttle(failure)
        if used is None:
            used = NOTHING if failure.not_charged else Used()
        progress = self._cells.progress(job.item)
        decision = self._decide(flight, failure, now)
        self._settle(flight, used, now, counts_as_call=not throttled)
        if decision.code != "offline":
            progress.count(throttled=throttled)
        progress.failure = failure
        if decision.fate in _COMES_BACK:
            progress.left_at = now
            self._release(job)
            queue = self._traffic[job.lane].queue
            if decision.delay_s > 0:
                queue.push_due(now + decision.delay_s, self._member(job), job.item)
            else:
                queue.push(self._member(job), job.item)
        return decision

    def _decide(self, flight: _Flight, failure: Failure, now: float) -> Decision:
        lane = self._traffic[flight.job.lane]
        if failure.kind is ErrorKind.CANCELLED:
            return Decision(Fate.STOPPED, code=self._stopping or "cancelled")
        decision = self._traffic.heard_failure(lane, flight.started, failure, now)
        if decision is None:
            decision = self._own_fate(flight, lane, failure, now)
        self._drop_stopped_judges(lane, failure)
        if self._stopping and decision.fate in _COMES_BACK and not self._may_come_back(flight.job):
            return Decision(Fate.STOPPED, code=self._stopping)
        return decision

    def _may_come_back(self, job: Job) -> bool:
        return job.kind is JobKind.JUDGE and self._judges_go_on

    def _own_fate(self, flight: _Flight, lane: Lane, failure: Failure, now: float) -> Decision:
        action, job = classify(failure), flight.job
        progress = self._cells.progress(job.item)
        policy = lane.plan.retry
        used_up = action is Action.RETRY and progress.retries >= policy.retries
        ending = self._stopping and not self._may_come_back(job)
        if action is Action.FINAL or (used_up and not ending):
            return self._final(job, lane, failure, now)
        if job.kind is JobKind.CALL and self._member(job) in self._traffic.standing.closed:
            return Decision(Fate.STOPPED, code="budget_model")
        if job.kind is JobKind.JUDGE and lane.stopped:
            return Decision(Fate.FAILED, code=lane.stopped)
        if action is Action.THROTTLE:
            lane.queue.turns.refused(self._member(job), flight.started, now, lane.closed_until)
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

    # ---- judges

    def await_judges(self, job: Job) -> None:
        """The answer is committed and judges must mark it: no slot is held, the cell goes on."""
        self._release(job)
        self._cells.scoring.add(job.index)

    def add_judge(self, index: int, worst: Worst, lane_id: str = JUDGE_LANE) -> int:
        """Queues one request of a lane that marks, for a cell that awaits judges; returns its item number."""
        item = self._cells.new_judge(index, worst)
        lane = self._traffic[lane_id]
        if lane.stopped or (self._stopping and not self._judges_go_on):
            failure = self._marker_failures.get(lane_id)
            self._cells.drop_judge(item, lane.stopped or self._stopping or "", failure)
        else:
            lane.queue.push(JUDGE_MEMBER, item)
        return item

    def judge_done(self, job: Job) -> None:
        """What the judge said is committed, or its job is given up: its slots are free."""
        self._release(job)
        self._cells.forget_judge(job.item)

    def judge_again(self, index: int) -> None:
        """A finished cell of an earlier session awaits judges; `finish_cell` ends that too."""
        self._cells.scoring.add(index)

    def hold(self, index: int, *, held: bool) -> None:
        """Whether a cell that awaits judges waits for calls of other models first."""
        if held:
            self._cells.held.add(index)
        else:
            self._cells.held.discard(index)

    def finish_cell(self, index: int) -> None:
        """All marks of a cell that awaited judges are committed."""
        self._cells.scoring.remove(index)
        self._cells.held.discard(index)
        if not self._cells.is_finished(index):
            self._cells.finish(index)

    def stop_judges(self) -> None:
        """No judge is asked any more either; what waits is dropped."""
        self._judges_stopped = True
        for lane in self._traffic.markers:
            for item in lane.queue.drain():
                self._cells.drop_judge(item, self._stopping or "cancelled", None)

    def drop_judges(self, keep: Callable[[int], bool]) -> None:
        """Drops what waits to be asked for marks in a run that ends, but the items to keep."""
        for lane in self._traffic.markers:
            for item in list(lane.queue.drain()):
                if keep(item):
                    lane.queue.push(JUDGE_MEMBER, item)
                else:
                    self._cells.drop_judge(item, self._stopping or "cancelled", None)

    def _drop_stopped_judges(self, asked: Lane | None = None, failure: Failure | None = None) -> None:
        for lane in self._traffic.markers:
            if not lane.stopped:
                continue
            if lane is asked and failure is not None:
                self._marker_failures.setdefault(lane.id, failure)
            for item in lane.queue.drain():
                self._cells.drop_judge(item, lane.stopped, self._marker_failures.get(lane.id))

    # ---- what the user wants

    def stop(self, reason: str, now: float) -> None:
        """Starts nothing more. Cells without a slot end now; those in flight are awaited."""
        if self._stopping:
            return
        self._now = now
        self._stopping = reason
        self._traffic.changes.append(Stopping(reason))
        self._end_queued(reason)

    def pause(self) -> None:
        """Starts nothing until `resume`; lanes keep their state."""
        self._paused = True

    def resume(self) -> None:
        """Goes on after `pause`."""
        self._resumed = self._resumed or self._paused
        self._paused = False

    def set_width(self, lane_id: str, width: int) -> None:
        """A new width for a lane, clamped to 1 … concurrency. Running calls are not touched."""
        self._traffic.set_width(lane_id, width)

    def set_pace(self, lane_id: str, per_s: float, now: float) -> None:
        """The vendor's rate-limit headers named how many calls per second may start."""
        self._traffic[lane_id].pace.set_rate(now, per_s)

    def offer_again(self, keys: Iterable[str]) -> None:
        """Lets set-aside models be asked again; their lanes open."""
        for member in self._traffic.offer_again(keys):
            self._admission.unpark(member)

    def clock_jumped(self, now: float) -> None:
        """The computer slept: the lanes that need the network wait for a probe."""
        self._traffic.clock_jumped(now)

    # ---- what there is to tell

    def take_changes(self) -> list[Change]:
        """What changed since the last asking."""
        changes, self._traffic.changes = self._traffic.changes, []
        return changes

    def take_ended(self) -> list[Ended]:
        """Cells that ended without a slot since the last asking; each is finished already."""
        ended, self._cells.ended = self._cells.ended, []
        return ended

    def take_dropped_judges(self) -> list[JudgeDropped]:
        """Judge jobs that will not be asked; their cells still await `finish_cell`."""
        dropped, self._cells.dropped = self._cells.dropped, []
        return dropped

    def cell(self, index: int) -> Cell:
        """The cell at a place of the plan order."""
        return self._plan.grid.cell(index)

    def tally(self, job: Job) -> Tally:
        """What the job's cell went through so far."""
        return self._cells.tally(job.item)

    def counts(self) -> Counts:
        """The counts for the screen."""
        return self._cells.counts(sum(lane.queue.due_count() for lane in self._traffic))

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
        """True where every cell is finished, none is marked anew and no slot is held."""
        finished = self._cells.finished == self._cells.total
        return finished and not self._flights and not self._cells.scoring

    # ---- inside

    def _member(self, job: Job) -> int:
        return JUDGE_MEMBER if job.kind is JobKind.JUDGE else self._plan.grid.model_of(job.index)

    def _flight(self, job: Job) -> _Flight:
        flight = self._flights.get(job.id)
        if flight is None:
            raise RuntimeError(f"job {job.id} of {job.cell} holds no slot")
        return flight

    def _release(self, job: Job) -> None:
        flight = self._flight(job)
        del self._flights[job.id]
        if not flight.settled:
            self._settle(flight, Used(), self._now)
        if flight.lane_held:
            self._traffic[job.lane].give_back()
        self._cells.leave(job.index)

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
        if warned is not None and warned not in {lane.id for lane in self._traffic.markers}:
            self._traffic.changes.append(CeilingReached(warned, warned=True))
        if job.kind is JobKind.CALL:
            self._admission.settled(self._member(job))
