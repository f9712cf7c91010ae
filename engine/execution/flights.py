"""The jobs of a run that hold slots: admitted, settled with their account, released.

Part of the dispatcher's state machine: no threads, moments are handed in.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.execution.admission import JUDGE_MEMBER, Admission, Pick
from engine.execution.budget import Ledger, Used
from engine.execution.cells import Cells
from engine.execution.jobs import CeilingReached, DispatchPlan, Job, JobKind
from engine.execution.traffic import Traffic


@dataclass(slots=True)
class Flight:
    """A job that holds slots."""

    job: Job
    started: float
    tokens: int
    lane_held: bool = True
    settled: bool = False


class Flights:
    """All jobs in flight. Each takes a lane's slot and a reservation, and gives both back once."""

    def __init__(
        self, plan: DispatchPlan, traffic: Traffic, ledger: Ledger, cells: Cells, admission: Admission
    ) -> None:
        self._plan, self._traffic, self._ledger = plan, traffic, ledger
        self._cells, self._admission = cells, admission
        self._by_id: dict[int, Flight] = {}
        self._last_id = 0

    def __len__(self) -> int:
        return len(self._by_id)

    def jobs(self) -> list[Job]:
        """Jobs that hold slots, oldest first."""
        return [flight.job for flight in self._by_id.values()]

    def of(self, job: Job) -> Flight:
        """The flight of a job. Raises RuntimeError where it holds no slot."""
        flight = self._by_id.get(job.id)
        if flight is None:
            raise RuntimeError(f"job {job.id} of {job.cell} holds no slot")
        return flight

    def member(self, job: Job) -> int:
        """Who is asked in the queue of the job's lane: the number of a model, or the judge."""
        return JUDGE_MEMBER if job.kind is JobKind.JUDGE else self._plan.grid.model_of(job.index)

    def admit(self, pick: Pick, now: float) -> Job:
        """Takes the slots and the money for what was picked."""
        index = self._cells.index_of(pick.item)
        progress = self._cells.progress(pick.item)
        progress.come_back(now)
        self._last_id += 1
        job = Job(
            id=self._last_id,
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
        self._ledger.reserve(job.id, job.payer, pick.worst)
        self._by_id[job.id] = Flight(job, now, pick.worst.tokens)
        self._cells.begin(index)
        return job

    def settle(self, flight: Flight, used: Used, now: float, *, counts_as_call: bool = True) -> None:
        """What an attempt used takes the place of what was reserved for it."""
        job = flight.job
        flight.settled = True
        if used.usd is None and not self._ledger.ceilings.any and job.kind is JobKind.CALL:
            # Without ceilings nothing was reserved, but what may have been charged must be told.
            self._ledger.assume(job.id, self._plan.worst_of(job.index))
        self._ledger.settle(job.id, used, counts_as_call=counts_as_call)
        lane = self._traffic[job.lane]
        if lane.tpm is not None and used.tokens is not None:
            lane.tpm.correct(now, used.tokens, flight.tokens)
        warned = self._ledger.warning(job.payer)
        if warned is not None and warned not in {lane.id for lane in self._traffic.markers}:
            self._traffic.changes.append(CeilingReached(warned, warned=True))
        if job.kind is JobKind.CALL:
            self._admission.settled(self.member(job))

    def free_lane(self, job: Job) -> None:
        """Gives the lane's slot back and keeps the global one."""
        flight = self.of(job)
        if flight.lane_held:
            flight.lane_held = False
            self._traffic[job.lane].give_back()

    def release(self, job: Job, now: float) -> None:
        """Gives back all that is still held."""
        flight = self.of(job)
        del self._by_id[job.id]
        if not flight.settled:
            self.settle(flight, Used(), now)
        if flight.lane_held:
            self._traffic[job.lane].give_back()
        self._cells.leave(job.index)
