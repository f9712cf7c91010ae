"""A lost network is noticed by one lane after the other: none of them pays for it."""

from __future__ import annotations

import pytest

from engine.execution.jobs import Fate, Job, LaneChanged
from engine.execution.retry import Failure, RetryPolicy
from providers.base import ErrorKind
from tests.execution.sim import Bad, Ok, Sim, plan

AWAY = Failure(ErrorKind.OFFLINE, "no such name")
NO_RETRY = {"retry": RetryPolicy(retries=0)}
LANES = {"a": NO_RETRY, "b": NO_RETRY, "c": NO_RETRY}
MODELS = {"A": "a", "B": "b", "C": "c"}


def test_lanes_that_notice_at_different_moments_lose_no_cell() -> None:
    """The network is away from 5 s to 65 s; lane c is in a long call and notices last."""

    def service(job: Job, now: float) -> Ok | Bad:
        latency = 8.0 if job.lane == "c" else 0.5
        gone = 5.0 <= now < 65.0 or now < 5.0 <= now + latency
        return Bad(AWAY, latency if job.lane == "c" else 0.05) if gone else Ok(latency)

    sim = Sim(plan(MODELS, 20, dict.fromkeys("abc", 2), lane_options=LANES), service).run()
    assert len(sim.answers) == 60
    assert {decision.fate for _, _, decision in sim.failures} == {Fate.REQUEUED}
    told = [change.reason for _, change in sim.changes if isinstance(change, LaneChanged)]
    assert set(told) == {"offline", "online"}


def test_a_name_that_does_not_exist_is_a_fault_of_its_lane_once_others_answer() -> None:
    def service(job: Job, now: float) -> Ok | Bad:
        return Bad(AWAY, 0.05) if job.lane == "a" else Ok(1.0)

    sim = Sim(plan(MODELS, 10, dict.fromkeys("abc", 1), lane_options=LANES), service).run()
    failed = [at for at, cell, d in sim.failures if cell.model_key == "A" and d.fate is Fate.FAILED]
    assert failed
    assert min(failed) < 5.0
    assert len(sim.answers) == 20
    assert sim.dispatcher.over


def test_the_doubt_ends_though_nobody_else_is_heard() -> None:
    """The others are in calls of ten minutes: after ten seconds the lane stands for itself."""

    def service(job: Job, now: float) -> Ok | Bad:
        return Bad(AWAY, 0.05) if job.lane == "a" else Ok(600.0)

    sim = Sim(plan(MODELS, 1, dict.fromkeys("abc", 1), lane_options=LANES), service).run()
    (failed,) = [at for at, _, d in sim.failures if d.fate is Fate.FAILED]
    assert 10.0 <= failed <= 12.0
    assert len([d for _, _, d in sim.failures if d.fate is Fate.REQUEUED]) <= 12


@pytest.mark.parametrize("kind", [ErrorKind.TIMEOUT, ErrorKind.UNKNOWN])
def test_a_service_that_hangs_after_sleep_is_its_own_fault_and_the_run_ends(kind: ErrorKind) -> None:
    """A probe that was connected and not answered has found the network: its cell's own rules decide.

    Otherwise the run would ask, and perhaps pay, once a minute for ever.
    """

    def service(job, now):
        return Ok(1.0) if now < 5 else Bad(Failure(kind, "silent"), 30.0)

    sim = Sim(plan({"A": "a"}, 10, {"a": 1}, lane_options={"a": {"retry": RetryPolicy(1, 1.0)}}), service)
    sim.run(until=6.0)
    sim.dispatcher.clock_jumped(sim.now)
    sim.run(until=5000.0)
    assert sim.dispatcher.over
    assert len(sim.answers) == 5
    # What was under way came back for nothing, then each was asked twice.
    assert len(sim.failures) == 11


def test_a_network_that_stays_away_after_sleep_is_waited_for() -> None:
    def service(job, now):
        return Ok(1.0) if now < 5 or now > 4000 else Bad(Failure(ErrorKind.CONNECT_TIMEOUT, "gone"), 10.0)

    sim = Sim(plan({"A": "a"}, 10, {"a": 2}), service)
    sim.run(until=6.0)
    sim.dispatcher.clock_jumped(sim.now)
    sim.run()
    assert len(sim.answers) == 10


def test_a_probe_that_is_cut_is_followed_by_another() -> None:
    """A call that a connector gives up by itself says nothing about the network, and ends the probe."""
    cut: list[Job] = []

    def service(job, now):
        if not cut:
            cut.append(job)
            return Bad(Failure(ErrorKind.CANCELLED, "given up"), 1.0)
        return Ok(1.0)

    sim = Sim(plan({"A": "a"}, 5, {"a": 3}), service)
    sim.dispatcher.clock_jumped(0.0)
    sim.run()
    assert len(sim.answers) == 4
    assert sim.dispatcher.over
