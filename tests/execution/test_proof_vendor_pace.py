"""Rate-limit headers set the pace: a service that tells what is left refuses next to nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from engine.execution.jobs import Job
from engine.execution.throttle import Pace
from engine.execution.vendor_pace import VendorPace, sustained_per_s
from providers.base import RateLimits, Request
from tests.execution.sim import Bad, Ok, Sim, plan, rate_limited
from tests.execution.worlds import FakeService, World, reply


@dataclass
class Telling(Sim):
    """A service with a bucket that tells with every reply what is left in it."""

    per_s: float = 1.0
    burst: float = 60.0
    tells: bool = True

    def __post_init__(self) -> None:
        self.level, self.at, self.refused, self.served = self.burst, 0.0, 0, 0
        self.vendor = VendorPace()
        self.service = self._serve
        super().__post_init__()

    def _serve(self, job: Job, now: float) -> Ok | Bad:
        self._fill(now)
        if self.level < 1.0:
            self.refused += 1
            return Bad(rate_limited(None), 0.02)
        self.level -= 1.0
        self.served += 1
        return Ok(0.5)

    def _fill(self, now: float) -> None:
        self.level = min(self.burst, self.level + (now - self.at) * self.per_s)
        self.at = now

    def _complete(self, job: Job, result: Ok | Bad) -> None:
        super()._complete(job, result)
        self._fill(self.now)
        limits = RateLimits(int(self.level), int(self.burst), (self.burst - self.level) / self.per_s)
        pace = self.vendor.heard(job.lane, limits if self.tells else None, None)
        if pace is not None:
            self.dispatcher.set_pace(job.lane, pace, self.now)


@pytest.mark.parametrize("width", [1, 4, 16, 64])
@pytest.mark.parametrize(("per_s", "burst"), [(1.0, 60.0), (12.0, 60.0), (12.0, 720.0), (0.2, 12.0)])
def test_a_service_that_tells_refuses_next_to_nothing(width: int, per_s: float, burst: float) -> None:
    cells = int(burst + 300 * per_s)
    models = {"A": "a"}
    quiet = Telling(plan(models, cells, {"a": width}, concurrency=64), per_s=per_s, burst=burst)
    quiet.run()
    assert len(quiet.answers) == cells
    assert quiet.refused <= width  # the first burst, before anything was told
    # Nobody waits for what could be had: the burst and all that comes in, within a tenth.
    could = max((cells - burst) / per_s, cells * 0.5 / width)
    assert quiet.now <= 1.15 * could + 10


def test_without_headers_the_same_service_refuses_more() -> None:
    told = Telling(plan({"A": "a"}, 360, {"a": 16}, concurrency=64), tells=False)
    told.run()
    assert told.refused > 16


def test_the_pace_of_a_bucket() -> None:
    assert sustained_per_s(59, 60, 1.0) == 59.0
    assert sustained_per_s(0, 60, 60.0) == pytest.approx(0.95)
    assert sustained_per_s(30, None, 10.0) == 3.0
    assert sustained_per_s(0, None, 10.0) == 0.1
    assert sustained_per_s(60, 60, 0.0) >= 1000


def test_the_scarcer_of_requests_and_tokens_rules() -> None:
    vendor = VendorPace()
    limits = RateLimits(5000, 5000, 0.0, tokens_remaining=0, tokens_limit=60_000, tokens_reset_s=60.0)
    assert vendor.heard("a", limits, None) == 1000.0  # nobody knows yet what a call takes
    assert vendor.heard("a", limits, 500) == pytest.approx(0.95 * 1000 / 500)
    assert vendor.heard("b", None, 100) is None


def test_headers_do_not_undo_what_refusals_have_taught() -> None:
    pace = Pace()
    pace.set_rate(0.0, 500.0)
    assert pace.rate(0.0) == 500.0
    pace.signal(1.0, 2)
    assert pace.rate(1.0) == 2.0
    pace.set_rate(1.5, 500.0)
    assert pace.rate(1.5) == 2.0
    pace.set_rate(1.6, 0.5)
    assert pace.rate(1.6) == 0.5
    pace.clear()
    pace.set_rate(2.0, 500.0)
    assert pace.rate(2.0) == 500.0


def test_a_healthy_account_has_no_pace_at_all() -> None:
    pace = Pace()
    pace.set_rate(0.0, 1e6)
    assert pace.rate(0.0) is None
    assert pace.ready_at(0.0) == 0.0


def test_a_whole_run_keeps_to_what_the_headers_say(tmp_path: Path, qapp) -> None:
    """Ten calls a second are told: the starts of a run with eight at once are spread out."""
    from dataclasses import replace

    starts: list[float] = []

    def answer(request: Request):
        import time

        starts.append(time.monotonic())
        return replace(reply("0"), limits=RateLimits(0, 600, 60.0 / 0.95))

    model = {"key": "open", "model": "gpt-x", "provider": "openai"}
    config = {"models": [model], "run": {"concurrency": 1, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, 12, FakeService(answer))
    assert world.run().info.completed == 12
    # Timers of a busy machine may be late but never early.
    assert starts[-1] - starts[1] >= 0.9
