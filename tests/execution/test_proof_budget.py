"""A budget is a ceiling: sixteen workers, random latencies, sizes and failures, two hundred seeds."""

from __future__ import annotations

import random
import threading
from decimal import Decimal
from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus
from engine.execution.budget import Ceilings, Used, Worst
from engine.execution.events import BudgetChanged
from engine.execution.jobs import JUDGE_LANE, DispatchPlan, Fate, Job, JobKind, LanePlan
from engine.execution.retry import Failure, RetryPolicy
from providers.base import ErrorKind, Finish, ProviderError, Reply, Request, Usage
from tests.execution.sim import Bad, Ok, Sim, grid, rate_limited
from tests.execution.worlds import FakeService, World

CENT = Decimal("0.01")


def _worst(seed: int, index: int) -> Worst:
    rng = random.Random(f"{seed}/{index}")
    return Worst(CENT * rng.randint(1, 40), rng.randint(50, 4000))


class _Vendor:
    """Answers after a random while with a random part of the worst case as its price."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.rng = random.Random(seed)
        self.billed = Decimal(0)

    def __call__(self, job: Job, now: float) -> Ok | Bad:
        worst = _worst(self.seed, job.index)
        assert worst.usd is not None
        latency = self.rng.expovariate(1.0)
        chance = self.rng.random()
        if chance < 0.10:
            return Bad(rate_limited(self.rng.choice([None, 1.0, 5.0])), 0.1)
        if chance < 0.20:
            # The time ran out: the vendor bills what it made of it, nobody knows how much.
            self.billed += worst.usd * Decimal(self.rng.randint(0, 100)) / 100
            return Bad(Failure(ErrorKind.TIMEOUT, "too slow"), latency)
        if chance < 0.25:
            return Bad(Failure(ErrorKind.BAD_REQUEST, "no", 400), latency)
        cost = worst.usd * Decimal(self.rng.randint(0, 100)) / 100
        self.billed += cost
        if chance < 0.35:
            return Ok(latency, Used(None, None))  # answered without usage
        return Ok(latency, Used(cost, self.rng.randint(1, worst.tokens)))


@pytest.mark.parametrize("block", range(8))
def test_spend_never_passes_the_ceiling(block: int) -> None:
    """Checked at every moment: what the vendor billed, and what the ledger counts, stay below."""
    for seed in range(block * 25, block * 25 + 25):
        rng = random.Random(-seed)
        ceiling = CENT * rng.randint(20, 600)
        model_ceiling = CENT * rng.randint(20, 400) if seed % 3 == 0 else None
        vendor = _Vendor(seed)
        plan = DispatchPlan(
            grid({f"M{i}": f"l{i % 3}" for i in range(5)}, 12, 2),
            tuple(LanePlan(f"l{i}", 8, retry=RetryPolicy(2, 0.5)) for i in range(3)),
            16,
            Ceilings(run_usd=ceiling, model_usd=model_ceiling),
            worst_of=lambda index, seed=seed: _worst(seed, index),
        )
        sim = Sim(plan, vendor, seed=seed)
        ledger = sim.dispatcher.ledger

        def watch(job: Job, now: float, sim: Sim = sim, vendor: _Vendor = vendor) -> Ok | Bad:
            result = vendor(job, now)
            assert ledger.run.committed <= ceiling, f"seed {sim.seed}"  # noqa: B023
            return result

        sim.service = watch
        sim.run()
        assert vendor.billed <= ledger.run.spent + ledger.run.kept <= ceiling, f"seed {seed}"
        if model_ceiling is not None:
            assert all(a.spent + a.kept <= model_ceiling for a in ledger.payers.values()), f"seed {seed}"
        assert sim.dispatcher.over
        assert sim.total_peak <= 16


def test_judge_calls_count_under_the_same_ceiling() -> None:
    """Two hundred seeds with a judge behind every answer: together they stay below."""
    for seed in range(200):
        rng = random.Random(seed)
        ceiling = CENT * rng.randint(30, 300)
        plan = DispatchPlan(
            grid({"A": "a", "B": "b"}, 10),
            (LanePlan("a", 4), LanePlan("b", 4), LanePlan(JUDGE_LANE, 3)),
            16,
            Ceilings(run_usd=ceiling),
            worst_of=lambda index, seed=seed: _worst(seed, index),
        )
        dispatcher = Sim(plan).dispatcher
        flying: list[Job] = []
        now = 0.0
        for _ in range(400):
            flying += dispatcher.start_ready(now)
            for dropped in dispatcher.take_dropped_judges():
                dispatcher.finish_cell(dropped.index)
            assert dispatcher.ledger.run.committed <= ceiling, f"seed {seed}"
            if not flying:
                break
            now += rng.random()
            job = flying.pop(rng.randrange(len(flying)))
            worst = dispatcher.ledger._open[job.id][1]
            assert worst.usd is not None
            dispatcher.answered(job, now, Used(worst.usd * rng.randint(0, 100) / 100, 1))
            dispatcher.free_lane(job)
            if job.kind is JobKind.JUDGE:
                dispatcher.judge_done(job)
                dispatcher.finish_cell(job.index)
            else:
                dispatcher.await_judges(job)
                dispatcher.add_judge(job.index, Worst(CENT * rng.randint(1, 30), 100))
        assert dispatcher.over, f"seed {seed}"
        assert dispatcher.ledger.run.spent <= ceiling


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_real_run_with_sixteen_workers_stays_below(seed: int, tmp_path: Path, qapp) -> None:
    """Real threads and a real store; every fourth request fails in some way."""
    lock = threading.Lock()
    rng = random.Random(seed)
    billed = [Decimal(0)]
    price = Decimal("0.001")  # per token, in and out

    def answer(request: Request) -> Reply:
        with lock:
            chance, output = rng.random(), rng.randint(1, request.max_tokens or 1)
        threading.Event().wait(chance / 200)
        if chance < 0.1:
            raise ProviderError(ErrorKind.CONNECT, "no connection")
        if chance < 0.2:
            raise ProviderError(ErrorKind.UNKNOWN, "boom", status=500)
        with lock:
            billed[0] += price * (5 + output)
        if chance < 0.25:
            raise ProviderError(ErrorKind.TIMEOUT, "too slow")
        return Reply("0", Finish.COMPLETE, "fake", Usage(5, output), latency_ms=1.0)

    config = {
        "models": [
            {
                "key": f"m{i}",
                "model": f"gpt-{i}",
                "provider": "openai",
                "max_tokens": 40,
                "card": {"input_usd_per_mtok": 1000, "output_usd_per_mtok": 1000},
            }
            for i in range(2)
        ],
        "run": {"concurrency": 16, "provider_concurrency": {"openai": 16}, "retry_backoff_s": 0.01},
        "budgets": {"max_run_usd": 4.0},
    }
    world = World(tmp_path, config, cases=60, service=FakeService(answer))
    stored = world.run()
    assert stored.info.status is RunStatus.STOPPED_BUDGET
    assert billed[0] <= Decimal("4.0")
    assert stored.info.cost_usd is not None
    assert stored.info.cost_usd <= Decimal("4.0")
    for event in world.of(BudgetChanged):
        assert (event.spent_usd or 0) + event.reserved_usd <= Decimal("4.0")
    known = sum(
        (c.answer.cost_usd or Decimal(0) for c in world.calls() if c.status is CallStatus.OK and c.answer),
        Decimal(0),
    )
    assert known <= billed[0]
    assert world.service is not None
    assert world.service.most_in_flight <= 16
    world.assert_each_once()


def test_fates_of_a_stopped_budget_are_stopped_and_never_failed() -> None:
    """What was not asked for lack of money is not an error of a model."""
    plan = DispatchPlan(
        grid({"A": "a"}, 20),
        (LanePlan("a", 4),),
        4,
        Ceilings(run_usd=CENT * 5),
        worst_of=lambda _index: Worst(CENT, 10),
    )
    sim = Sim(plan, lambda job, now: Ok(1.0, Used(CENT, 10))).run()
    assert len(sim.answers) == 5
    assert {ended.code for ended in sim.ended} == {"budget"}
    assert not [d for _, _, d in sim.failures if d.fate is Fate.FAILED]
