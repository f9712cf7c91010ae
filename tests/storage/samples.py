"""Small runs to store: complete records with every field set, and plain ones with nothing known."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

from engine.domain import (
    Answer,
    Attempt,
    CallDone,
    CallError,
    CallStatus,
    Case,
    CaseScore,
    Cell,
    CheckResult,
    CheckSpec,
    Note,
    Outcome,
    RunStatus,
    ScoreState,
    SkippedModel,
)
from engine.storage.records import BoardRow, DoneWrite, PlannedCell, RunFinish, RunHead, RunModel
from engine.storage.votes import StoredVote
from providers.base import Message, Usage

START = datetime(2026, 11, 3, 14, 5, 7, 123456, tzinfo=UTC)

FULL_CASE = Case(
    id="refund-after-40-days",
    input="I bought this 40 days ago… «Rückgabe»?",
    messages=(Message("system", "Be kind."), Message("user", "I bought this 40 days ago.")),
    reference={"answer": ["no refund", "voucher"], "limit": 40.5, "strict": None},
    context="You answer customers.",
    vars={"days": 40, "name": "Zoë", "nested": {"list": [1, 2.5, True, None]}},
    tags=("refund", "angry"),
    weight=2.5,
    group="refunds",
    checks=(
        CheckSpec("contains", {"value": "voucher"}, weight=2.0, must_pass=True, negate=True, reference="x"),
        CheckSpec("exact_match"),
    ),
    max_tokens=300,
    temperature=0.0,
    images=("a.png",),
    files=("b.txt",),
    metadata={"source": "mail"},
    file="tests.yaml",
    line=12,
    fingerprint="ab" * 32,
)

FULL_ANSWER = Answer(
    text="We offer a voucher.\n\x00\t\u202e🎫",
    outcome=Outcome.LENGTH,
    model_reported="model-2026-10-01",
    reasoning="He is late.",
    usage=Usage(input=120, output=45, cache_read=100, cache_write=7, reasoning=30, estimated=True),
    latency_ms=1834.25,
    first_token_ms=210.5,
    cost_usd=Decimal("0.00041230"),
    cost_source="computed",
    request_id="req_1",
    notes=(("model_differs", {"asked": "a", "answered": "b"}),),
)

FULL_SCORE = CaseScore(
    state=ScoreState.SCORED,
    score=0.75,
    passed=True,
    reason="It names the voucher.",
    metrics={"accuracy": 0.75, "length": 19.0},
    checks=(
        CheckResult(
            "contains",
            ScoreState.SCORED,
            score=1.0,
            passed=True,
            reason="It names the voucher.",
            reason_code="contains_all",
            detail={"found": ["voucher"], "place": 11},
            metrics={"accuracy": 1.0},
            weight=2.0,
            must_pass=True,
        ),
        CheckResult("judge", ScoreState.ERRORED, reason="The judge gave no mark.", reason_code="no_verdict"),
    ),
)

FULL_ATTEMPTS = (
    Attempt(1, START, 0.0, 12.5, CallError("rate_limit", "slow down", 429), throttled=True),
    Attempt(
        1, START + timedelta(seconds=3), 2.5, 30.0, CallError("timeout", "too slow"), cost_usd=Decimal("0.1")
    ),
    Attempt(2, START + timedelta(seconds=9), 4.0, 1834.25, cost_usd=Decimal("0.00041230")),
)


def full_call(cell: Cell) -> CallDone:
    """A call with every field set."""
    return CallDone(
        cell=cell,
        status=CallStatus.OK,
        outcome=Outcome.LENGTH,
        answer=FULL_ANSWER,
        score=FULL_SCORE,
        error=None,
        attempts=2,
        throttled=1,
        waited_s=6.5,
        started_at=START,
        finished_at=START + timedelta(seconds=11),
        attempt_log=FULL_ATTEMPTS,
    )


def plain_call(cell: Cell, score: float | None = 1.0, text: str = "yes") -> CallDone:
    """A scored call of which neither tokens nor cost are known."""
    mark = None
    if score is not None:
        mark = CaseScore(ScoreState.SCORED, score, score >= 0.5, "said so", {"accuracy": score})
    return CallDone(
        cell,
        CallStatus.OK,
        Outcome.COMPLETE,
        Answer(text, Outcome.COMPLETE),
        mark,
        attempts=1,
        finished_at=START,
    )


def failed_call(cell: Cell) -> CallDone:
    """A call that failed."""
    error = CallError("auth", "The key was refused.", 401)
    return CallDone(cell, CallStatus.ERROR, Outcome.FAILED, error=error, attempts=1, finished_at=START)


def stopped_call(cell: Cell) -> CallDone:
    """A call that was never made."""
    return CallDone(cell, CallStatus.STOPPED, Outcome.STOPPED)


def cells(models: tuple[str, ...], cases: tuple[str, ...], trials: int) -> Iterator[PlannedCell]:
    """Planned cells in plan order."""
    for trial in range(1, trials + 1):
        for case in cases:
            for model in models:
                yield PlannedCell(Cell(model, case, trial), f"print-{model}-{case}")


def head(
    run_id: str = "run_20261103_140507_aaaaaa",
    *,
    models: tuple[str, ...] = ("alpha", "beta"),
    cases: tuple[str, ...] = ("c1", "c2", "c3"),
    trials: int = 2,
    started: datetime = START,
    project: str = "Customer replies",
) -> RunHead:
    """A run of small cases."""
    return RunHead(
        run_id=run_id,
        project=project,
        project_root=Path("/projects/replies"),
        started_at=started,
        config={"project": project, "budgets": {"max_run_usd": "2.00"}},
        models=tuple(RunModel(key, key.title(), f"vendor/{key}", "openai") for key in models),
        cases=tuple(
            Case(id=case, input=f"question {case}", reference="yes", fingerprint=case * 8) for case in cases
        ),
        cells=list(cells(models, cases, trials)),
        trials=trials,
    )


def full_head() -> RunHead:
    """A run head with every field set."""
    plain = head(cases=(FULL_CASE.id,), trials=1)
    return replace(
        plain,
        cases=(FULL_CASE,),
        skipped=(SkippedModel("gamma", "no_key", "There is no key.", "Enter one."),),
        lanes={"openai": {"width": 3, "configured": 3}},
        notes=(Note("practice", {"why": "mock"}),),
        label="old prompt",
        practice=True,
        seed=7,
        app_version="0.1.0",
    )


def finish(status: RunStatus = RunStatus.COMPLETED, **scores: float | None) -> RunFinish:
    """The end of a run with one board row per given model, best first."""
    ranked = sorted(scores, key=lambda key: -(scores[key] or 0.0))
    rows = tuple(
        BoardRow(
            key, key.title(), "ranked", rank, scores[key], scores[key], metrics={"accuracy": scores[key]}
        )
        for rank, key in enumerate(ranked, 1)
    )
    return RunFinish(
        status=status,
        finished_at=START + timedelta(minutes=5),
        board={"entries": list(ranked)},
        rows=rows,
        winner=ranked[0] if ranked else None,
        verdict={"row": 1},
        notes=(Note("few_cases", {"cases": 3}),),
        lanes={"openai": {"width": 2, "waited_s": 1.5}},
        cost_usd=Decimal("0.92"),
        duration_s=300.0,
    )


def vote(
    vote_id: str, case: str, choice: str, left: str = "alpha", right: str = "beta", trial: int = 1
) -> StoredVote:
    """A blind vote between two models on one case."""
    return StoredVote(vote_id, Cell(left, case, trial), Cell(right, case, trial), choice, START)


def done_writes(plan: RunHead, score: float | None = 1.0) -> list[DoneWrite]:
    """One plain finished call for each planned cell."""
    return [DoneWrite(plan.run_id, plain_call(planned.cell, score)) for planned in plan.cells]
