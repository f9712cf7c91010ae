"""Against services that allow so many calls and no more: few refusals, little time lost, nobody else held up.

All in virtual time with a simulated service, so that the figures are exact and no machine is too slow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import pytest

from engine.execution.jobs import Job
from tests.execution.sim import Bad, Ok, Sim, plan, rate_limited


@dataclass
class Bucket:
    """A service with a token bucket; `tells` adds a Retry-After in whole seconds to a refusal."""

    per_s: float
    burst: float
    tells: bool = True
    latency_s: float = 0.5
    lane: str = "a"
    log: list[tuple[float, bool]] = field(default_factory=list)
    level: float = 0.0
    at: float = 0.0

    def __post_init__(self) -> None:
        self.level = self.burst

    def __call__(self, job: Job, now: float) -> Ok | Bad:
        if job.lane != self.lane:
            return Ok(1.0)
        self.level = min(self.burst, self.level + (now - self.at) * self.per_s)
        self.at = now
        served = self.level >= 1.0
        self.log.append((now, served))
        if served:
            self.level -= 1.0
            return Ok(self.latency_s)
        wait = math.ceil((1.0 - self.level) / self.per_s) if self.tells else None
        return Bad(rate_limited(wait), 0.02)

    def refused(self, since: float = 0.0) -> float:
        """The share of refusals among the calls from a moment on."""
        late = [served for at, served in self.log if at >= since]
        return late.count(False) / len(late)

    def used(self, since: float, until: float) -> float:
        """The share of what was allowed that was used."""
        served = sum(served for at, served in self.log if since <= at <= until)
        return served / ((until - since) * self.per_s)


@pytest.mark.parametrize("width", [1, 3, 8, 16])
@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("burst", [1.0, 60.0])
@pytest.mark.parametrize("latency_s", [0.05, 0.5])
def test_sixty_calls_a_minute(width: int, tells: bool, burst: float, latency_s: float) -> None:
    """After the first minute at most 5 % refusals and at least 85 % of what is allowed."""
    service = Bucket(1.0, burst, tells, latency_s)
    sim = Sim(plan({"A": "a"}, 600, {"a": width}, concurrency=16), service).run()
    assert len(sim.answers) == 600
    assert service.refused(since=60.0) <= 0.05
    assert service.used(60.0, sim.now) >= 0.85


@pytest.mark.parametrize(("width", "latency_s"), [(4, 2.0), (16, 5.0), (4, 10.0), (16, 30.0), (64, 30.0)])
@pytest.mark.parametrize("tells", [True, False])
def test_sixty_calls_a_minute_of_slow_answers(width: int, latency_s: float, tells: bool) -> None:
    """A service that takes long for an answer is used as well: the lane does not stay narrow for ever.

    What can be used is what is allowed, or what the width lets through where that is less.
    """
    service = Bucket(1.0, 1.0, tells, latency_s)
    sim = Sim(plan({"A": "a"}, 1500, {"a": width}, concurrency=64), service).run()
    assert len(sim.answers) == 1500
    assert service.refused(since=60.0) <= 0.05
    # Width comes back one a minute, so what needs fifty at once is looked at later.
    assert service.used(900.0, sim.now - latency_s) >= 0.85 * min(1.0, width / latency_s)


@pytest.mark.parametrize("at_once", [2, 5])
def test_a_service_that_counts_calls_at_once(at_once: int) -> None:
    """No rate, but so many at the same time: it is kept busy, with few refusals."""
    under_way: list[float] = []
    refused = 0

    def service(job: Job, now: float) -> Ok | Bad:
        nonlocal refused
        under_way[:] = [end for end in under_way if end > now]
        if len(under_way) >= at_once:
            refused += 1
            return Bad(rate_limited(), 0.05)
        under_way.append(now + 4.0)
        return Ok(4.0)

    sim = Sim(plan({"A": "a"}, 600, {"a": 16}, concurrency=64), service).run()
    assert len(sim.answers) == 600
    assert sim.now < 1.6 * 600 * 4.0 / at_once
    assert refused <= 0.2 * 600


@pytest.mark.parametrize("width", [3, 4, 8, 16, 32, 64])
@pytest.mark.parametrize("tells", [True, False])
@pytest.mark.parametrize("latency_s", [0.05, 0.2, 1.0])
def test_twelve_calls_a_second(width: int, tells: bool, latency_s: float) -> None:
    """At most 10 % refusals in all, the first burst included."""
    service = Bucket(12.0, 12.0, tells, latency_s)
    sim = Sim(plan({"A": "a"}, 1200, {"a": width}, concurrency=64), service).run()
    assert len(sim.answers) == 1200
    assert service.refused() <= 0.10
    if width / latency_s > 12:
        # Whoever could use it all is not kept from it for long.
        assert service.used(0.0, sim.now) >= 0.5


def _time_of_b(service: Bucket | None, *, b_width: int, concurrency: int) -> float:
    models = {"B": "b"} if service is None else {"A": "a", "B": "b"}
    widths = {"b": b_width} if service is None else {"a": 4, "b": b_width}

    def only_b(job: Job, now: float) -> Ok:
        return Ok(1.0)

    sim = Sim(plan(models, 100, widths, concurrency=concurrency), service or only_b).run()
    return max(at for at, cell in sim.answers if cell.model_key == "B")


@pytest.mark.parametrize("per_s", [0.05, 0.2, 1.0])
@pytest.mark.parametrize("tells", [True, False])
def test_a_throttled_lane_delays_another_by_less_than_a_tenth(per_s: float, tells: bool) -> None:
    alone = _time_of_b(None, b_width=4, concurrency=8)
    beside = _time_of_b(Bucket(per_s, 1.0, tells), b_width=4, concurrency=8)
    assert beside < 1.1 * alone


def test_a_lane_that_takes_a_minute_per_answer_delays_another_by_less_than_a_tenth() -> None:
    alone = _time_of_b(None, b_width=4, concurrency=8)
    beside = _time_of_b(Bucket(1000.0, 1000.0, latency_s=60.0), b_width=4, concurrency=8)
    assert beside < 1.1 * alone


def test_retries_that_wait_hold_nobody_up() -> None:
    """The whole lane A waits for retries of a minute; lane B does not even notice."""

    def service(job: Job, now: float) -> Ok | Bad:
        if job.lane == "a" and job.attempt == 1:
            return Bad(rate_limited(55.0), 0.01)
        return Ok(1.0)

    sim = Sim(plan({"A": "a", "B": "b"}, 40, {"a": 4, "b": 2}, concurrency=4), service).run()
    assert max(at for at, cell in sim.answers if cell.model_key == "B") <= 21.0
    assert len(sim.answers) == 80


def test_the_pace_is_found_again_when_a_limit_is_lifted() -> None:
    """After five minutes at 60 a minute the account is raised to 600 a minute: the lane speeds up."""
    service = Bucket(1.0, 1.0, latency_s=0.05)

    def raised(job: Job, now: float) -> Ok | Bad:
        if now >= 300.0:
            service.per_s = 10.0
        return service(job, now)

    sim = Sim(plan({"A": "a"}, 6000, {"a": 16}, concurrency=16), raised).run(until=900.0)
    last_minute = sum(served for at, served in service.log if 840.0 <= at < 900.0)
    assert last_minute >= 300
    assert sim.now == 900.0
