"""One model that the service refuses does not keep the others of its connection from being asked."""

from __future__ import annotations

from collections import Counter

import pytest

from engine.execution.jobs import SetAside
from engine.execution.turns import FIRST_GAP_S, LONGEST_GAP_S, Turns
from tests.execution.sim import Bad, Ok, Sim, plan, rate_limited
from tests.execution.test_proof_rates import Bucket


@pytest.mark.parametrize("first", ["refused", "served"])
@pytest.mark.parametrize("width", [1, 2, 8])
@pytest.mark.parametrize("wait_s", [None, 1.0, 30.0, 590.0])
def test_a_model_without_any_allowance_stops_only_itself(
    first: str, width: int, wait_s: float | None
) -> None:
    """Services limit each model by itself: the other's calls are answered before patience ends."""
    models = ("refused", "served") if first == "refused" else ("served", "refused")

    def service(job, now):
        return Bad(rate_limited(wait_s), 0.1) if job.cell.model_key == "refused" else Ok(1.0)

    sim = Sim(plan(dict.fromkeys(models, "a"), 20, {"a": width}), service).run()
    assert Counter(cell.model_key for _, cell in sim.answers) == {"served": 20}
    assert {ended.cell.model_key for ended in sim.ended} == {"refused"}
    assert {ended.code for ended in sim.ended} == {"asked_to_slow_down"}


def test_a_long_run_loses_little_to_a_model_that_is_refused() -> None:
    def service(job, now):
        return Bad(rate_limited(), 0.1) if job.cell.model_key == "refused" else Ok(1.0)

    sim = Sim(plan({"refused": "a", "served": "a"}, 1500, {"a": 1}), service).run()
    asked = [t for t, job in sim.started if job.cell.model_key == "refused"]
    last = max(t for t, _ in sim.answers)
    assert last < 1.1 * 1500
    assert sum(t < last for t in asked) <= 12
    aside = next(change for _, change in sim.changes if isinstance(change, SetAside))
    assert aside.code == "asked_to_slow_down"


@pytest.mark.parametrize("width", [2, 8, 16])
@pytest.mark.parametrize("tells", [True, False])
def test_a_limit_of_the_whole_lane_keeps_its_models_together(width: int, tells: bool) -> None:
    """A prefix of the run still compares about the same cases: nobody runs far ahead."""
    sim = Sim(plan({"A": "a", "B": "a", "C": "a"}, 200, {"a": width}), Bucket(1.0, 1.0, tells)).run()
    assert len(sim.answers) == 600
    counts, apart = Counter(dict.fromkeys("ABC", 0)), 0
    for _, cell in sim.answers:
        counts[cell.model_key] += 1
        apart = max(apart, max(counts.values()) - min(counts.values()))
    assert apart <= 25


def test_three_refusals_one_after_the_other_and_an_answer_ends_it() -> None:
    turns = Turns()
    for at in (0.0, 1.0):
        turns.refused(1, at, at + 0.5, 0.0)
    turns.refused(1, 1.2, 1.7, 0.0)  # it began before the one before was refused
    assert not turns.steps_back(1)
    turns.refused(1, 2.0, 2.5, 0.0)
    assert turns.steps_back(1)
    assert not turns.steps_back(2)
    turns.answered(1)
    assert not turns.steps_back(1)
    turns.refused(1, 3.0, 3.5, 0.0)
    assert not turns.steps_back(1)


def test_the_gaps_double_and_end() -> None:
    turns = Turns()
    now, gaps = 0.0, []
    turns.refused(1, now, now, now + 300.0)  # one that closes the lane for minutes is enough
    for _ in range(9):
        assert turns.steps_back(1)
        began = now
        turns.refused(1, now, now, 0.0)  # asked because nobody else was ready: no new gap
        while turns.steps_back(1):
            now += 1.0
            turns.pass_time(now)
        gaps.append(now - began)
        turns.refused(1, now, now, 0.0)
    assert gaps[0] == 300.0 + FIRST_GAP_S
    assert gaps[1:4] == [30.0, 60.0, 120.0]
    assert gaps[-1] == LONGEST_GAP_S


# ---- patience


def test_a_pause_does_not_use_up_the_patience_with_a_lane() -> None:
    """Refused once, paused for an hour: nothing was asked meanwhile, so it goes on afterwards."""
    sim = Sim(plan({"A": "a"}, 5, {"a": 2}), lambda job, now: Bad(rate_limited(), 0.1) if now < 5 else Ok())
    sim.run(until=4.0)
    sim.dispatcher.pause()
    for minute in range(1, 61):
        sim.now = 4.0 + 60.0 * minute
        sim.ask()
        wake = sim.dispatcher.wake_at(sim.now)
        assert wake is None or wake > sim.now
    sim.dispatcher.resume()
    sim.run()
    assert len(sim.answers) == 5


def test_a_pause_that_nobody_looked_at_counts_neither() -> None:
    sim = Sim(plan({"A": "a"}, 5, {"a": 2}), lambda job, now: Bad(rate_limited(), 0.1) if now < 5 else Ok())
    sim.run(until=4.0)
    sim.dispatcher.pause()
    sim.now = 5000.0
    sim.dispatcher.resume()
    sim.run()
    assert len(sim.answers) == 5


def test_patience_ends_after_a_pause_all_the_same() -> None:
    sim = Sim(plan({"A": "a"}, 2, {"a": 1}), lambda job, now: Bad(rate_limited(), 0.1))
    sim.run(until=60.0)
    sim.dispatcher.pause()
    sim.now = 5000.0
    sim.ask()
    sim.dispatcher.resume()
    sim.run()
    assert 5900 <= sim.now <= 5910
    assert {ended.code for ended in sim.ended} == {"asked_to_slow_down"}
