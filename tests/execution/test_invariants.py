"""Whatever happens in whatever order: the promises of the dispatcher hold."""

from __future__ import annotations

import random
from decimal import Decimal

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from engine.execution.budget import Ceilings, Used, Worst
from engine.execution.dispatcher import Dispatcher
from engine.execution.jobs import (
    JUDGE_LANE,
    DispatchPlan,
    Fate,
    Grid,
    Job,
    JobKind,
    LaneChanged,
    LanePlan,
    ModelPlan,
)
from engine.execution.retry import Failure, RetryPolicy
from providers.base import ErrorKind

WORST = Decimal("0.10")
KINDS = st.sampled_from(list(ErrorKind))
FAILURES = st.builds(
    Failure,
    kind=KINDS,
    status=st.sampled_from([None, 400, 401, 404, 408, 429, 500, 503, 529]),
    wait_s=st.sampled_from([None, None, 0.0, 1.0, 5.0, 61.0, 601.0]),
    should_retry=st.sampled_from([None, None, None, False]),
    day_quota=st.sampled_from([False, False, False, True]),
)


class DispatcherMachine(RuleBasedStateMachine):
    """Random services, users and clocks against one dispatcher."""

    @initialize(
        widths=st.lists(st.integers(1, 5), min_size=1, max_size=3),
        models=st.integers(1, 4),
        cases=st.integers(1, 8),
        trials=st.integers(1, 2),
        concurrency=st.integers(1, 6),
        ceiling=st.sampled_from([None, None, Decimal("0.35"), Decimal("2")]),
        model_ceiling=st.sampled_from([None, None, Decimal("0.25")]),
        fail_fast=st.sampled_from([False, False, False, True]),
        seed=st.integers(0, 99),
    )
    def begin(
        self, widths, models, cases, trials, concurrency, ceiling, model_ceiling, fail_fast, seed
    ) -> None:
        lanes = [
            LanePlan(
                f"l{i}",
                min(w, concurrency),
                local=i == 2,
                rpm=120.0 if i == 1 else None,
                tpm=5e3 if i == 1 else None,
                retry=RetryPolicy(retries=1, backoff_s=1.0),
            )
            for i, w in enumerate(widths)
        ]
        self.judged = seed % 3 == 0
        if self.judged:
            lanes.append(LanePlan(JUDGE_LANE, 1))
        grid = Grid(
            tuple(ModelPlan(f"m{i}", f"l{i % len(widths)}") for i in range(models)),
            tuple(f"c{i}" for i in range(cases)),
            trials,
        )
        self.concurrency = concurrency
        self.ceilings = Ceilings(run_usd=ceiling, model_usd=model_ceiling)
        self.now = 0.0
        self.rng = random.Random(seed)
        plan = DispatchPlan(
            grid, tuple(lanes), concurrency, self.ceilings, fail_fast, worst_of=lambda _i: Worst(WORST, 50)
        )
        self.d = Dispatcher(plan, random.Random(seed), 0.0)
        self.total = grid.total
        self.flying: dict[int, Job] = {}
        self.lane_free: set[int] = set()
        self.judging: dict[int, int] = {}
        self.finished: list[object] = []
        self.cuts: dict[str, float] = {}
        self.width_set: set[str] = set()
        self.stopped = False

    # ---- what may happen

    @rule()
    def ask(self) -> None:
        budget_before = self.d.stopping
        for job in self.d.start_ready(self.now):
            assert job.id not in self.flying
            self.flying[job.id] = job
            assert budget_before is None or job.kind is JobKind.JUDGE
            assert not self.d.paused
        self._collect()

    @rule(seconds=st.sampled_from([0.01, 0.5, 1.0, 7.0, 31.0, 61.0, 300.0]))
    def time_passes(self, seconds: float) -> None:
        self.now += seconds

    @precondition(lambda self: self._unanswered())
    @rule(part=st.floats(0, 1), data=st.data())
    def an_answer_comes(self, part: float, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(self._unanswered()))
        known = data.draw(st.booleans())
        self.d.answered(job, self.now, Used(WORST * Decimal(str(round(part, 2))), 40) if known else Used())
        self.d.free_lane(job)
        self.lane_free.add(job.id)
        if job.kind is JobKind.JUDGE:
            self._judge_is_done(job)
        elif self.judged:
            self.d.await_judges(job)
            del self.flying[job.id]
            self.judging[job.index] = 1
            self.d.add_judge(job.index, Worst(WORST, 10))
        self._collect()

    @precondition(lambda self: [j for j in self.flying.values() if j.id in self.lane_free])
    @rule(data=st.data())
    def a_mark_is_committed(self, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from([j for j in self.flying.values() if j.id in self.lane_free]))
        self._finish(job)

    @precondition(lambda self: self._unanswered())
    @rule(failure=FAILURES, data=st.data())
    def an_attempt_fails(self, failure: Failure, data: st.DataObject) -> None:
        job = data.draw(st.sampled_from(self._unanswered()))
        decision = self.d.failed(job, failure, self.now)
        if decision.fate in (Fate.RETRY, Fate.REQUEUED):
            assert not self.stopped or job.kind is JobKind.JUDGE
            del self.flying[job.id]
        elif job.kind is JobKind.JUDGE:
            self._judge_is_done(job)
        else:
            self._finish(job)
        self._collect()

    @rule(lane=st.integers(0, 2), width=st.integers(0, 9))
    def a_width_is_set(self, lane: int, width: int) -> None:
        if any(v.id == f"l{lane}" for v in self.d.lane_views(self.now)):
            self.d.set_width(f"l{lane}", width)
            self._collect()

    @rule()
    def pause_or_go_on(self) -> None:
        if self.d.paused:
            self.d.resume()
        else:
            self.d.pause()

    @rule()
    def models_are_offered_again(self) -> None:
        self.d.offer_again([f"m{i}" for i in range(4)])

    @rule()
    def the_computer_slept(self) -> None:
        self.now += 3600
        self.d.clock_jumped(self.now)
        self._collect()

    @precondition(lambda self: not self.stopped)
    @rule(sure=st.integers(0, 9))
    def cancel(self, sure: int) -> None:
        if sure == 0:
            self.d.stop("cancelled", self.now)
            self._collect()

    # ---- what always holds

    @invariant()
    def slots_are_never_exceeded(self) -> None:
        if not hasattr(self, "d"):
            return
        assert len(self.flying) <= self.concurrency
        for view in self.d.lane_views(self.now):
            mine = [j for j in self.flying.values() if j.lane == view.id and j.id not in self.lane_free]
            assert view.active == len(mine)
            assert view.width <= view.configured <= max(self.concurrency, view.configured)
            assert view.width >= 1

    @invariant()
    def counts_add_up(self) -> None:
        if not hasattr(self, "d"):
            return
        counts = self.d.counts()
        assert counts.queued >= 0
        assert counts.finished == len(self.finished) == len(set(self.finished))
        assert counts.running == len({j.index for j in self.flying.values()})

    @invariant()
    def money_never_passes_the_ceiling(self) -> None:
        if not hasattr(self, "d"):
            return
        ledger = self.d.ledger
        if self.ceilings.run_usd is not None:
            assert ledger.run.committed <= self.ceilings.run_usd
        if self.ceilings.model_usd is not None:
            models = [a for payer, a in ledger.payers.items() if payer != JUDGE_LANE]
            assert all(a.committed <= self.ceilings.model_usd for a in models)
        assert ledger.in_flight == len(self._unanswered())
        if self.ceilings.any:
            assert ledger.run.open == WORST * len(self._unanswered())

    def teardown(self) -> None:
        """From any state, once everything answers, the run ends with every cell finished once."""
        if not hasattr(self, "d"):
            return
        if self.d.paused:
            self.d.resume()
        for _ in range(3000):
            before = len(self.finished)
            self.ask()
            if self.d.over and not self.judging:
                break
            moved = len(self.finished) > before
            for job in list(self.flying.values()):
                if job.id not in self.lane_free:
                    self.d.answered(job, self.now, Used(Decimal(0), 1))
                    self.d.free_lane(job)
                    self.lane_free.add(job.id)
                if job.kind is JobKind.JUDGE:
                    self._judge_is_done(job)
                else:
                    self._finish(job)
                moved = True
            wake = self.d.wake_at(self.now)
            if not moved and not self.d.over:
                assert wake is not None, "nothing can ever happen again"
                self.now = max(self.now + 0.001, wake)
        assert self.d.over
        assert len(set(self.finished)) == self.total
        assert self.d.counts().running == 0

    # ---- inside

    def _unanswered(self) -> list[Job]:
        return [j for j in self.flying.values() if j.id not in self.lane_free]

    def _finish(self, job: Job) -> None:
        self.d.finish(job)
        del self.flying[job.id]
        self.lane_free.discard(job.id)
        assert job.cell not in self.finished
        self.finished.append(job.cell)

    def _judge_is_done(self, job: Job) -> None:
        self.d.judge_done(job)
        del self.flying[job.id]
        self.lane_free.discard(job.id)
        self._marked(job.index)

    def _marked(self, index: int) -> None:
        del self.judging[index]
        self.d.finish_cell(index)
        cell = self.d.cell(index)
        assert cell not in self.finished
        self.finished.append(cell)

    def _collect(self) -> None:
        for drop in self.d.take_dropped_judges():
            self._marked(drop.index)
        for ended in self.d.take_ended():
            assert ended.cell not in self.finished
            self.finished.append(ended.cell)
        for change in self.d.take_changes():
            cut = isinstance(change, LaneChanged) and change.after < change.before
            if cut and change.reason != "set":
                last = self.cuts.get(change.lane)
                assert last is None or self.now - last >= 60
                self.cuts[change.lane] = self.now
        self.stopped = self.d.stopping is not None


DispatcherMachine.TestCase.settings = settings(
    max_examples=100,
    stateful_step_count=40,
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.too_slow],
)
TestDispatcher = DispatcherMachine.TestCase
