"""What becomes of a job whose attempt failed for a reason of its own, not of its lane.

Part of the dispatcher's state machine: no threads, moments and chance are handed in.
"""

from __future__ import annotations

import random

from engine.execution.cells import Cells
from engine.execution.flights import Flight, Flights
from engine.execution.jobs import Decision, Fate, Job, JobKind
from engine.execution.lanes import Lane
from engine.execution.retry import Action, Failure, classify, retry_delay_s
from engine.execution.traffic import Traffic


class Fates:
    """Decides between another try, waiting in line again, and the end."""

    def __init__(self, traffic: Traffic, cells: Cells, flights: Flights, rng: random.Random) -> None:
        self._traffic, self._cells, self._flights, self._rng = traffic, cells, flights, rng

    def decide(self, flight: Flight, lane: Lane, failure: Failure, now: float, *, ending: bool) -> Decision:
        """The fate of a job. `ending`: the run ends, and the job may not come back in it."""
        action, job = classify(failure), flight.job
        progress = self._cells.progress(job.item)
        policy = lane.plan.retry
        used_up = action is Action.RETRY and progress.retries >= policy.retries
        if action is Action.FINAL or (used_up and not ending):
            return self._final(job, lane, failure)
        if job.kind is JobKind.CALL and self._flights.member(job) in self._traffic.standing.closed:
            return Decision(Fate.STOPPED, code="budget_model")
        if job.kind is JobKind.JUDGE and lane.stopped:
            return Decision(Fate.FAILED, code=lane.stopped)
        if action is Action.THROTTLE:
            lane.queue.turns.refused(self._flights.member(job), flight.started, now, lane.closed_until)
            return Decision(Fate.REQUEUED, self._traffic.throttle_delay_s(lane, failure), "throttled")
        stopped = self._traffic.long_wait(lane, failure, now)
        if stopped is not None:
            return stopped
        progress.retries += 1
        return Decision(Fate.RETRY, retry_delay_s(failure, progress.retries - 1, policy, self._rng))

    def _final(self, job: Job, lane: Lane, failure: Failure) -> Decision:
        if job.kind is JobKind.JUDGE:
            self._traffic.judge_failed(lane, failure)
        else:
            self._traffic.call_failed(self._flights.member(job), failure)
        return Decision(Fate.FAILED)
