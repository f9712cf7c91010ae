"""The plan of a run: which cells, in which lanes, under which limits."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.config.schema import Budgets, Connection, RunSettings
from engine.domain import Case, SkippedModel
from engine.errors import UserError
from engine.execution.budget import Ceilings, Worst
from engine.execution.jobs import JUDGE_LANE, DispatchPlan, Grid, LanePlan, ModelPlan
from engine.execution.preflight import Preflight, ReadyModel
from engine.execution.retry import RetryPolicy
from engine.execution.widths import needs_network

if TYPE_CHECKING:
    from engine.project import Project


@dataclass(frozen=True, slots=True)
class Plan:
    """One run, ready to start. Order: trial, then case, then model.

    `seed` None = chance is drawn anew each time.
    """

    models: tuple[ReadyModel, ...]
    cases: tuple[Case, ...]
    trials: int
    concurrency: int
    lanes: tuple[LanePlan, ...]
    ceilings: Ceilings
    fail_fast: bool = False
    seed: int | None = None
    skipped: tuple[SkippedModel, ...] = ()
    lane_sources: Mapping[str, str] = field(default_factory=dict)
    judge: ReadyModel | None = None
    embedders: tuple[ReadyModel, ...] = ()

    @property
    def grid(self) -> Grid:
        """The cells as numbers."""
        return Grid(
            tuple(ModelPlan(m.entry.key, m.lane, m.credential) for m in self.models),
            tuple(case.id for case in self.cases),
            self.trials,
        )

    @property
    def planned(self) -> int:
        """runnable models x cases x trials."""
        return len(self.models) * len(self.cases) * self.trials

    @property
    def lane_widths(self) -> dict[str, int]:
        """Width by connection id."""
        return {lane.id: lane.width for lane in self.lanes}

    @property
    def concurrency_text(self) -> str:
        """`10 at once · anthropic 4 · openai 3`: the global cap, then each lane of this plan."""
        lanes = sorted(self.lane_widths.items())
        return " · ".join([f"{self.concurrency} at once", *(f"{lane} {width}" for lane, width in lanes)])

    def rng(self) -> random.Random:
        """The source of chance for jitter."""
        return random.Random(self.seed)  # noqa: S311 - jitter, not a secret

    def dispatch_plan(
        self, worst_of: Callable[[int], Worst], done: frozenset[int] = frozenset()
    ) -> DispatchPlan:
        """What the dispatcher needs of it."""
        return DispatchPlan(
            grid=self.grid,
            lanes=self.lanes,
            concurrency=self.concurrency,
            ceilings=self.ceilings,
            fail_fast=self.fail_fast,
            done=done,
            worst_of=worst_of,
        )


# Ten times the largest run anybody has described; a slip such as `--trials 1000000` ends here.
MOST_CALLS = 10_000_000


def make_plan(project: Project, preflight: Preflight, *, seed: int | None = None) -> Plan:
    """Makes the plan of a run. `seed` None = the project's own.

    Raises UserError: `project_faults` (faults of the project's files), `no_cases`, `no_models`,
    `bad_provider_concurrency`, `too_many_calls`, `all_skipped` (no model can run; each reason and
    fix is named).
    """
    _refuse_faults(preflight)
    if not preflight.ready:
        raise _all_skipped(preflight)
    run = project.config.run
    planned = len(preflight.ready) * len(project.cases) * run.trials
    if planned > MOST_CALLS:
        raise UserError(
            "too_many_calls",
            f"The plan has {planned:,} questions, more than the {MOST_CALLS:,} of one run.",
            hint="Use fewer trials, test cases or models.",
        )
    widths = preflight.lanes
    connections = {m.connection.id: m.connection for m in preflight.ready}
    lanes = [_lane(c, widths[c.id], run) for c in connections.values()]
    lanes += marking_lanes(preflight, run)
    return Plan(
        models=preflight.ready,
        cases=project.cases,
        trials=run.trials,
        concurrency=run.concurrency,
        lanes=tuple(lanes),
        ceilings=ceilings_of(project.config.budgets),
        fail_fast=run.fail_fast,
        seed=run.seed if seed is None else seed,
        skipped=preflight.skipped,
        lane_sources={width.lane: width.source for width in preflight.widths},
        judge=preflight.judge,
        embedders=preflight.embedders,
    )


def ceilings_of(budgets: Budgets) -> Ceilings:
    """The project's limits in the form the ledger wants."""
    return Ceilings(
        run_usd=budgets.max_run_usd,
        model_usd=budgets.max_model_usd,
        calls=budgets.max_calls,
        tokens=budgets.max_tokens,
        warn=budgets.on_exceed == "warn",
    )


def _lane(connection: Connection, width: int, run: RunSettings) -> LanePlan:
    limit, retry = connection.rate_limit, connection.retry
    # A connection says attempts (requests in all, at least one), a run says retries.
    retries = run.retries if retry.attempts is None else max(0, retry.attempts - 1)
    return LanePlan(
        id=connection.id,
        width=width,
        local=not needs_network(connection),
        rpm=limit.rpm,
        tpm=limit.tpm,
        burst=limit.burst,
        retry=RetryPolicy(
            retries=retries,
            backoff_s=run.retry_backoff_s if retry.backoff_s is None else retry.backoff_s,
            jitter=retry.jitter,
            respect_retry_after=retry.respect_retry_after,
        ),
    )


def marking_lanes(preflight: Preflight, run: RunSettings) -> list[LanePlan]:
    """The lanes of what marks answers."""
    widths = preflight.lanes
    judge = [] if preflight.judge is None else [(preflight.judge, JUDGE_LANE)]
    others = [(model, model.entry.key) for model in preflight.embedders]
    return [_marking_lane(model, lane, widths, run) for model, lane in (*judge, *others)]


def _marking_lane(model: ReadyModel, lane: str, widths: Mapping[str, int], run: RunSettings) -> LanePlan:
    """A lane of its own: its slowing down is no business of the models on the same connection."""
    connection = model.connection
    return replace(_lane(connection, widths[lane], run), id=lane, shares=connection.id, marks=True)


def _refuse_faults(preflight: Preflight) -> None:
    errors = preflight.errors
    if not errors:
        return
    own = {"no_cases", "no_models", "bad_provider_concurrency"}
    first = errors[0]
    if len(errors) == 1 and first.code in own:
        raise UserError(first.code, first.message, hint=first.fix)
    raise UserError(
        "project_faults",
        "The project has faults: " + " ".join(str(problem) for problem in errors),
        hint="Mend them and start again; nothing has been spent.",
        problems=errors,
    )


def _all_skipped(preflight: Preflight) -> UserError:
    lines = [f"{s.model_key}: {s.reason} {s.fix}".strip() for s in preflight.skipped]
    return UserError(
        "all_skipped",
        "No model can run. " + " ".join(lines),
        hint="Mend at least one of these; nothing has been spent.",
        skipped=preflight.skipped,
    )
