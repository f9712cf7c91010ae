"""Widths: halving, recovery, pace, Retry-After, buckets, silence."""

from __future__ import annotations

import itertools

import pytest

from engine.execution.jobs import LaneChanged, LanePlan, SetAside
from engine.execution.lanes import Lane
from engine.execution.retry import Failure, RetryPolicy
from engine.execution.throttle import Pace, TokenBucket, WidthControl
from providers.base import ErrorKind
from tests.execution.sim import Bad, Ok, Sim, plan, rate_limited


def test_width_is_halved_once_per_window() -> None:
    control = WidthControl(6)
    assert control.signal(0, 0) == (6, 3)
    assert control.signal(10, 10) is None
    assert control.signal(59.9, 59.9) is None
    assert control.width == 3
    # The window counts from the cut, not from the signals in between.
    assert control.signal(60, 60) == (3, 1)


@pytest.mark.parametrize(("width", "after"), [(6, 3), (5, 2), (4, 2), (3, 1), (1, 1)])
def test_halving_never_goes_below_one(width: int, after: int) -> None:
    control = WidthControl(width)
    control.signal(0, 0)
    assert control.width == after


def test_width_comes_back_one_by_one_after_the_last_signal() -> None:
    control = WidthControl(6)
    control.signal(0, 0)
    control.signal(30, 30)
    assert control.recover(89) is None
    assert control.recover(90) == (3, 4)
    assert control.recover(149) is None
    assert control.recover(150) == (4, 5)
    assert control.recover(1000) == (5, 6)
    assert control.recover(2000) is None
    assert control.settled


def test_recovery_waits_for_the_end_of_a_retry_after() -> None:
    control = WidthControl(4)
    control.signal(0, 200)
    assert control.recover(259) is None
    assert control.recover(260) == (2, 3)


def test_a_slowed_lane_stays_slowed_when_its_width_is_changed() -> None:
    control = WidthControl(8)
    control.signal(0, 0)
    assert control.resize(6) is None
    assert (control.width, control.configured) == (4, 6)
    assert control.resize(2) == (4, 2)
    assert WidthControl(2).resize(5) == (2, 5)


def test_pace_starts_at_the_new_width_and_grows_while_quiet() -> None:
    pace = Pace()
    assert pace.ready_at(0) == 0
    pace.signal(0, 4)
    assert pace.rate(0.5) == 4
    assert pace.rate(2) == pytest.approx(4 * 1.3**2)
    before = pace.rate(2)
    assert before is not None
    pace.signal(2.5, 2)
    assert pace.rate(2.5) == pytest.approx(before * 0.85)
    assert pace.ready_at(2.6) > 2.6
    assert pace.rate(3.5) == pytest.approx(before * 0.85 * 1.03)
    pace.started(3.5)
    assert pace.ready_at(3.6) > 3.6
    assert pace.rate(4.5) == pytest.approx(before * 0.85 * 1.03**2)


def test_a_pace_that_holds_nothing_back_does_not_grow() -> None:
    """Seconds in which slow answers were waited for prove nothing about the limit."""
    pace = Pace()
    pace.signal(0, 2)
    pace.signal(1.5, 1)
    held = pace.rate(1.5)
    assert held is not None
    assert pace.rate(500) == held
    # Held back once and then forgotten for minutes: that was one gap, not minutes.
    pace.started(500)
    assert pace.ready_at(500) > 500
    assert held < pace.rate(900) <= held * 1.03


def test_two_calls_that_were_too_close_tell_the_pace() -> None:
    """Far below its pace a lane is refused for one short gap: the pace falls to that, at once."""
    pace = Pace()
    pace.signal(0, 8)
    assert pace.rate(60) == 1000
    pace.started(90)
    pace.started(90.5)
    pace.signal(90.6, 4)
    assert pace.rate(90.6) == pytest.approx(2.0 * 0.85)


def test_a_single_refusal_at_a_found_pace_costs_no_width() -> None:
    """A slower pace answers it; what is refused again at once is no matter of pace."""
    lane = Lane(LanePlan("a", 8))
    lane.slow_down(0.0, None)
    lane.slow_down(2.0, None)
    assert (lane.control.width, lane.pace.holding) == (4, True)
    lane.recover(62.0)
    assert lane.control.width == 5
    before = lane.pace.rate(100.0)
    assert lane.slow_down(100.0, None) is None
    assert lane.pace.rate(100.0) < before
    lane.recover(122.0)
    assert lane.control.width == 6  # it goes on recovering
    assert lane.slow_down(130.0, None) is None
    assert lane.slow_down(131.5, None) == (6, 3)


def test_pace_is_cut_once_per_burst() -> None:
    pace = Pace()
    pace.signal(0, 4)
    for _ in range(20):
        pace.signal(0.2, 4)
    assert pace.rate(0.2) == 4
    slow = Pace()
    slow.set_rate(0, 0.1)
    slow.signal(5, 1)
    assert slow.rate(5) == pytest.approx(0.1 * 1.03**5)
    slow.signal(11, 1)
    assert slow.rate(11) == pytest.approx(0.1 * 1.03**11 * 0.85)


def test_pace_spaces_the_starts() -> None:
    pace = Pace()
    pace.set_rate(0, 2.0)
    starts = []
    now = 0.0
    for _ in range(3):
        now = pace.ready_at(now)
        pace.started(now)
        starts.append(round(now, 3))
    assert starts[0] == 0.0
    assert all(0.4 <= b - a <= 0.5 for a, b in itertools.pairwise(starts))


def test_a_night_of_quiet_does_not_overflow_the_pace() -> None:
    pace = Pace()
    pace.signal(0, 1)
    assert pace.rate(1e7) == 1000


def test_a_bucket_refills_and_is_corrected() -> None:
    bucket = TokenBucket(60)
    for _ in range(60):
        assert bucket.ready_at(0) == 0
        bucket.take(0)
    assert bucket.ready_at(0) == pytest.approx(1.0)
    tokens = TokenBucket(6000)
    tokens.take(0, 5000)
    assert tokens.ready_at(0, 2000) == pytest.approx(10.0)
    tokens.correct(0, used=1000, taken=5000)
    assert tokens.ready_at(0, 2000) == 0


def test_a_request_larger_than_the_bucket_does_not_wait_for_ever() -> None:
    bucket = TokenBucket(100)
    assert bucket.ready_at(0, 1_000_000) == 0
    bucket.take(0, 1_000_000)
    assert bucket.ready_at(0, 1) == pytest.approx(0.6)


def test_burst_is_the_capacity() -> None:
    bucket = TokenBucket(60, 2)
    bucket.take(0)
    bucket.take(0)
    assert bucket.ready_at(0) == pytest.approx(1.0)


def test_a_slot_is_not_given_back_twice() -> None:
    lane = Lane(LanePlan("a", 2))
    lane.take(0, 0)
    lane.give_back()
    with pytest.raises(RuntimeError, match="twice"):
        lane.give_back()


# ---- through the dispatcher


def test_a_short_retry_after_delays_only_its_cell() -> None:
    first = []

    def service(job, now):
        if not first:
            first.append(job.cell)
            return Bad(rate_limited(1.5), 0.0)
        return Ok(0.5)

    sim = Sim(plan({"A": "a"}, 6, {"a": 4}, lane_options={"a": {}}), service).run()
    again = [t for t, job in sim.started if job.cell == first[0]]
    assert again[1] >= 1.5
    assert any(0 < t < 1.5 for t, job in sim.started)
    assert len(sim.answers) == 6


def test_a_longer_retry_after_closes_the_lane_until_then_and_blocks_nobody_else() -> None:
    def service(job, now):
        return Bad(rate_limited(30), 0.0) if job.lane == "a" and now < 30 else Ok(1.0)

    sim = Sim(plan({"A": "a", "B": "b"}, 10, {"a": 1, "b": 1}), service).run()
    a_starts = [t for t, job in sim.started if job.lane == "a"]
    assert a_starts[0] == 0
    assert 30 <= a_starts[1] <= 31
    b_ends = [t for t, cell in sim.answers if cell.model_key == "B"]
    assert max(b_ends) == pytest.approx(10.0)
    change = next(c for _, c in sim.changes if isinstance(c, LaneChanged))
    assert change.until is not None
    assert 30 <= change.until <= 31
    assert change.reason == "rate_limit"


def test_a_throttled_cell_goes_first_and_uses_up_no_retry() -> None:
    refusals = {"c0": 7}

    def service(job, now):
        if refusals.get(job.cell.case_id, 0):
            refusals[job.cell.case_id] -= 1
            return Bad(rate_limited(), 0.1)
        return Ok(0.1)

    options = {"a": {"retry": RetryPolicy(retries=0)}}
    sim = Sim(plan({"A": "a"}, 4, {"a": 1}, lane_options=options), service).run()
    assert [job.cell.case_id for _, job in sim.started] == ["c0"] * 8 + ["c1", "c2", "c3"]
    assert len(sim.answers) == 4


def test_throttles_are_counted_apart_from_attempts() -> None:
    tallies = []
    refusals = [3]

    def service(job, now):
        if refusals[0]:
            refusals[0] -= 1
            return Bad(rate_limited(), 0.1)
        return Ok(0.1)

    sim = Sim(plan({"A": "a"}, 1, {"a": 1}), service)
    original = sim.dispatcher.free_lane
    sim.dispatcher.free_lane = lambda job: (tallies.append(sim.dispatcher.tally(job)), original(job))[1]  # type: ignore[method-assign]
    sim.run()
    assert (tallies[0].attempts, tallies[0].throttled) == (1, 3)
    assert tallies[0].waited_s > 0


def test_a_throttle_storm_ends() -> None:
    """A service that allows two starts per second and a lane eight wide: all get through."""
    recent: list[float] = []

    def service(job, now):
        recent[:] = [t for t in recent if t > now - 1.0]
        if len(recent) >= 2:
            return Bad(rate_limited(), 0.05)
        recent.append(now)
        return Ok(0.5)

    sim = Sim(plan({"A": "a"}, 200, {"a": 8}), service).run()
    assert len(sim.answers) == 200
    assert len(sim.failures) < 120
    # 200 cells at two per second would take 100 s.
    assert sim.now < 250


def test_one_cut_per_minute_whatever_the_number_of_signals() -> None:
    sim = Sim(
        plan({"A": "a"}, 50, {"a": 16}), lambda job, now: Bad(rate_limited(), 0.2) if now < 130 else Ok()
    )
    sim.run()
    cuts = [t for t, c in sim.changes if isinstance(c, LaneChanged) and c.after < c.before]
    assert len(cuts) >= 2
    assert all(b - a >= 60 for a, b in itertools.pairwise(cuts))


def test_a_lane_without_an_answer_for_a_quarter_of_an_hour_is_stopped() -> None:
    def service(job, now):
        return Bad(rate_limited(), 0.5) if job.lane == "a" else Ok(1.0)

    sim = Sim(plan({"A": "a", "B": "b"}, 3, {"a": 2, "b": 1}), service).run()
    assert 900 <= sim.now < 1000
    aside = [c for _, c in sim.changes if isinstance(c, SetAside)]
    assert [(c.models, c.code) for c in aside] == [(("A",), "asked_to_slow_down")]
    assert {e.code for e in sim.ended} == {"asked_to_slow_down"}
    assert len([c for _, c in sim.answers if c.model_key == "B"]) == 3


def test_a_wait_above_ten_minutes_stops_the_lane() -> None:
    sim = Sim(plan({"A": "a"}, 3, {"a": 1}), lambda job, now: Bad(rate_limited(3600))).run()
    assert len(sim.started) == 1
    aside = next(c for _, c in sim.changes if isinstance(c, SetAside))
    assert aside.code == "wait_too_long"
    assert aside.until == pytest.approx(3600.1)


def test_a_day_quota_refused_twice_stops_the_lane_and_others_go_on() -> None:
    quota = Failure(ErrorKind.RATE_LIMIT, "daily", 429, 1.0, day_quota=True)

    def service(job, now):
        return Bad(quota, 0.1) if job.lane == "a" else Ok(1.0)

    sim = Sim(plan({"A": "a", "B": "b"}, 5, {"a": 1, "b": 1}), service).run()
    assert len([1 for _, job in sim.started if job.lane == "a"]) == 2
    assert len(sim.answers) == 5
    assert {e.code for e in sim.ended} == {"day_quota"}


def test_rpm_is_kept_and_waiting_is_reported() -> None:
    options = {"a": {"rpm": 60.0, "burst": 1.0}}
    sim = Sim(plan({"A": "a"}, 5, {"a": 5}, lane_options=options), lambda job, now: Ok(0.1)).run()
    starts = [t for t, _ in sim.started]
    assert all(b - a >= 0.999 for a, b in itertools.pairwise(starts))
    assert sim.dispatcher.lane_views(sim.now)[0].waited_s == pytest.approx(4.0, abs=0.1)


def test_growing_a_lane_lets_more_start_and_shrinking_interrupts_nobody() -> None:
    sim = Sim(plan({"A": "a"}, 40, {"a": 3}, concurrency=10), lambda job, now: Ok(10.0))
    sim.ask()
    assert len(sim.started) == 3
    sim.dispatcher.set_width("a", 50)
    sim.ask()
    assert len(sim.started) == 10
    sim.dispatcher.set_width("a", 1)
    sim.run(until=10.0)
    assert sim.dispatcher.lane_views(sim.now)[0].width == 1
    assert len(sim.started) == 11
    assert not sim.ended
