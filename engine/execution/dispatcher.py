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

from providers.base import ErrorKind

from engine.domain import Cell
from engine.execution.admission import JUDGE_MEMBER, Admission
from engine.execution.budget import NOTHING, Carried, Fit, Ledger, Used, Worst
from engine.execution.cells import Cells
from engine.execution.events import LaneState
from engine.execution.fates import Fates
from engine.execution.flights import Flight, Flights
from engine.execution.jobs import (
    JUDGE_LANE,
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
from engine.execution.retry import Failure, is_throttle
from engine.execution.traffic import Traffic

_COMES_BACK = frozenset({Fate.RETRY, Fate.REQUEUED})
_JUDGES_GO_ON = frozenset({"cancelled", "budget"})
"""Ends of a run that still let judges finish what is paid for, as far as a ceiling allows."""


class Dispatcher:
    """Queue, lanes, due times and reservations of one run."""

    def __init__(
        self, plan: DispatchPlan, rng: random.Random, now: float, carried: Mapping[str, Carried] | None = None
    ) -> None:
        self._plan = plan
        self._now = now
        self.ledger = Ledger(plan.ceilings, carried)
        self._cells = Cells(plan.grid, plan.done)
        self._traffic = Traffic(plan, rng)
        self._admission = Admission(plan, self._traffic, self.ledger, self._cells)
        self._flights = Flights(plan, self._traffic, self.ledger, self._cells, self._admission)
        self._fates = Fates(self._traffic, self._cells, self._flights, rng)
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
        room = slots - len(self._flights)
        jobs: list[Job] = []
        while room > 0 and not self._idle_by_wish:
            pick = self._admission.next(now, judges_only=self._stopping is not None)
            if pick is None:
                break
            jobs.append(self._flights.admit(pick, now))
            room -= 1
        if self._admission.run_is_full and not self._idle_by_wish:
            self._run_is_full(now)
        self._admission.note_blocked(now, slots_free=room > 0 and not self._idle_by_wish)
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
        self._flights.settle(self._flights.of(job), used, now)
        self._cells.progress(job.item).count(throttled=False)
        member = self._flights.member(job)
        self._traffic.heard_answer(self._traffic[job.lane], None if member == JUDGE_MEMBER else member, now)

    def free_lane(self, job: Job) -> None:
        """The answer is committed: scoring holds only the global slot."""
        self._flights.free_lane(job)

    def finish(self, job: Job) -> None:
        """The call's record is committed: its slots are free and its cell is finished."""
        self._flights.release(job, self._now)
        self._cells.finish(job.index)

    def failed(self, job: Job, failure: Failure, now: float, used: Used | None = None) -> Decision:
        """An attempt failed. `used` is what the service reported to have charged for it."""
        flight = self._flights.of(job)
        throttled = is_throttle(failure)
        if used is None:
            used = NOTHING if failure.not_charged else Used()
        progress = self._cells.progress(job.item)
        decision = self._decide(flight, failure, now)
        self._flights.settle(flight, used, now, counts_as_call=not throttled)
        if decision.code != "offline":
            progress.count(throttled=throttled)
        progress.failure = failure
        if decision.fate in _COMES_BACK:
            progress.left_at = now
            self._flights.release(job, self._now)
            queue = self._traffic[job.lane].queue
            if decision.delay_s > 0:
                queue.push_due(now + decision.delay_s, self._flights.member(job), job.item)
            else:
                queue.push(self._flights.member(job), job.item)
        return decision

    def _decide(self, flight: Flight, failure: Failure, now: float) -> Decision:
        lane = self._traffic[flight.job.lane]
        if failure.kind is ErrorKind.CANCELLED:
            return Decision(Fate.STOPPED, code=self._stopping or "cancelled")
        decision = self._traffic.heard_failure(lane, flight.started, failure, now)
        if decision is None:
            ending = self._stopping is not None and not self._may_come_back(flight.job)
            decision = self._fates.decide(flight, lane, failure, now, ending=ending)
            if self._plan.fail_fast and flight.job.kind is JobKind.CALL and decision.fate is Fate.FAILED:
                self.stop("fail_fast", now)
        self._drop_stopped_judges(lane, failure)
        if self._stopping and decision.fate in _COMES_BACK and not self._may_come_back(flight.job):
            return Decision(Fate.STOPPED, code=self._stopping)
        return decision

    def _may_come_back(self, job: Job) -> bool:
        return job.kind is JobKind.JUDGE and self._judges_go_on

    # ---- judges

    def await_judges(self, job: Job) -> None:
        """The answer is committed and judges must mark it: no slot is held, the cell goes on."""
        self._flights.release(job, self._now)
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
        self._flights.release(job, self._now)
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
        return self._flights.jobs()

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
