"""A pretend world for the dispatcher: virtual time, services that answer, refuse or vanish."""

from __future__ import annotations

import heapq
import random
from collections.abc import Callable
from dataclasses import dataclass, field
from decimal import Decimal

from engine.domain import Cell
from engine.execution.budget import Ceilings, Used, Worst
from engine.execution.dispatcher import Dispatcher
from engine.execution.jobs import (
    Change,
    Decision,
    DispatchPlan,
    Ended,
    Fate,
    Grid,
    Job,
    JobKind,
    LanePlan,
    ModelPlan,
)
from engine.execution.retry import Failure
from providers.base import ErrorKind

USED = Used(Decimal(0), 10)


@dataclass(frozen=True)
class Ok:
    """The service answers after `latency_s`."""

    latency_s: float = 1.0
    used: Used = USED


@dataclass(frozen=True)
class Bad:
    """The service refuses after `latency_s`."""

    failure: Failure
    latency_s: float = 0.1


Service = Callable[[Job, float], Ok | Bad]


def rate_limited(wait_s: float | None = None) -> Failure:
    return Failure(ErrorKind.RATE_LIMIT, "slow down", 429, wait_s)


def grid(models: dict[str, str], cases: int, trials: int = 1) -> Grid:
    """`models`: key -> lane."""
    return Grid(
        tuple(ModelPlan(k, lane) for k, lane in models.items()), tuple(f"c{i}" for i in range(cases)), trials
    )


def plan(
    models: dict[str, str],
    cases: int,
    widths: dict[str, int],
    *,
    trials: int = 1,
    concurrency: int = 100,
    **more: object,
) -> DispatchPlan:
    lane_options: dict[str, dict[str, object]] = more.pop("lane_options", {})  # type: ignore[assignment]
    lanes = tuple(LanePlan(k, w, **lane_options.get(k, {})) for k, w in widths.items())  # type: ignore[arg-type]
    return DispatchPlan(grid(models, cases, trials), lanes, concurrency, **more)  # type: ignore[arg-type]


@dataclass
class Sim:
    """Runs a plan to its end in virtual time and remembers everything."""

    plan: DispatchPlan
    service: Service = lambda _job, _now: Ok()
    seed: int = 1
    now: float = 0.0
    started: list[tuple[float, Job]] = field(default_factory=list)
    answers: list[tuple[float, Cell]] = field(default_factory=list)
    failures: list[tuple[float, Cell, Decision]] = field(default_factory=list)
    changes: list[tuple[float, Change]] = field(default_factory=list)
    ended: list[Ended] = field(default_factory=list)
    peak: dict[str, int] = field(default_factory=dict)
    active: dict[str, int] = field(default_factory=dict)
    total_peak: int = 0

    def __post_init__(self) -> None:
        self.dispatcher = Dispatcher(self.plan, random.Random(self.seed), self.now)
        self._events: list[tuple[float, int, Job, Ok | Bad]] = []
        self._finished: set[Cell] = set()

    def run(self, until: float = 1e7, steps: int = 1_000_000) -> Sim:
        """Drives the run until it is over, nothing can happen, or `until`."""
        for _ in range(steps):
            self.ask()
            if self.dispatcher.over:
                return self
            moment = self._next_moment()
            if moment is None or moment > until:
                self.now = until if moment is not None else self.now
                return self
            assert moment >= self.now
            self.now = moment
            while self._events and self._events[0][0] <= self.now:
                _, _, job, result = heapq.heappop(self._events)
                self._complete(job, result)
        raise AssertionError("the run does not end")

    def ask(self) -> list[Job]:
        jobs = self.dispatcher.start_ready(self.now)
        for job in jobs:
            self.started.append((self.now, job))
            self.active[job.lane] = self.active.get(job.lane, 0) + 1
            self.peak[job.lane] = max(self.peak.get(job.lane, 0), self.active[job.lane])
            result = self.service(job, self.now)
            heapq.heappush(self._events, (self.now + result.latency_s, job.id, job, result))
        self.total_peak = max(self.total_peak, sum(self.active.values()))
        self._collect()
        return jobs

    def _next_moment(self) -> float | None:
        wake = self.dispatcher.wake_at(self.now)
        moments = [m for m in (wake, self._events[0][0] if self._events else None) if m is not None]
        if wake is not None and wake <= self.now and not self._events:
            raise AssertionError("asked to be woken in the past: a busy loop")
        return max(self.now, min(moments)) if moments else None

    def _complete(self, job: Job, result: Ok | Bad) -> None:
        self.active[job.lane] -= 1
        if isinstance(result, Ok):
            self.dispatcher.answered(job, self.now, result.used)
            self.dispatcher.free_lane(job)
            if job.kind is JobKind.CALL:
                self.dispatcher.finish(job)
                self._finish(job.cell)
                self.answers.append((self.now, job.cell))
            else:
                self.dispatcher.judge_done(job)
        else:
            decision = self.dispatcher.failed(job, result.failure, self.now)
            self.failures.append((self.now, job.cell, decision))
            if decision.fate in (Fate.FAILED, Fate.STOPPED):
                if job.kind is JobKind.CALL:
                    self.dispatcher.finish(job)
                    self._finish(job.cell)
                else:
                    self.dispatcher.judge_done(job)
        self._collect()

    def _finish(self, cell: Cell) -> None:
        assert cell not in self._finished, f"{cell} finished twice"
        self._finished.add(cell)

    def _collect(self) -> None:
        for ended in self.dispatcher.take_ended():
            self._finish(ended.cell)
            self.ended.append(ended)
        self.changes += [(self.now, change) for change in self.dispatcher.take_changes()]
        counts = self.dispatcher.counts()
        assert counts.queued >= 0
        assert counts.finished == len(self._finished) + len(self.plan.done)

    def order(self) -> str:
        """The first letters of the models in the order in which they started."""
        return "".join(job.cell.model_key[0] for _, job in self.started)


MONEY = Decimal("0.1")


def priced(_index: int) -> Worst:
    return Worst(MONEY, 100)


__all__ = ["MONEY", "Bad", "Ceilings", "Ok", "Sim", "grid", "plan", "priced", "rate_limited"]
