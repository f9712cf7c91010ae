"""Small makers of cases, calls and boards for the tests of the statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Any

from engine.config.schema import Config, Metrics, ModelEntry
from engine.domain import (
    Answer,
    CallDone,
    CallError,
    CallStatus,
    Case,
    CaseScore,
    Cell,
    Outcome,
    ScoreState,
)
from engine.stats.leaderboard import BoardInput
from providers.base import Usage


def cases_named(count: int, **fields: Any) -> tuple[Case, ...]:
    """So many cases named c00, c01 and so on."""
    return tuple(Case(id=f"c{number:03}", input="?", **fields) for number in range(count))


def scored(
    model: str,
    case: str,
    trial: int,
    score: float | None,
    *,
    cost: str | None = "0.001",
    latency: float = 100.0,
    tokens: tuple[int | None, int | None] = (10, 5),
    outcome: Outcome = Outcome.COMPLETE,
    metrics: Mapping[str, float] | None = None,
    state: ScoreState | None = None,
    passed: bool | None = None,
) -> CallDone:
    """An answered call; a score of None is one that nobody has marked."""
    known = state or (ScoreState.UNSCORED if score is None else ScoreState.SCORED)
    answer = Answer(
        text="answer",
        outcome=outcome,
        usage=Usage(input=tokens[0], output=tokens[1]),
        latency_ms=latency,
        cost_usd=None if cost is None else Decimal(cost),
    )
    if passed is None and score is not None:
        passed = score >= 0.5
    mark = CaseScore(known, score, passed, metrics=metrics or {})
    return CallDone(Cell(model, case, trial), CallStatus.OK, outcome, answer, mark, attempts=1)


def failed(model: str, case: str, trial: int, *, kind: str = "auth", status: int | None = 401) -> CallDone:
    """A call that brought nothing."""
    error = CallError(kind, "The key was refused.", status)
    return CallDone(Cell(model, case, trial), CallStatus.ERROR, Outcome.FAILED, error=error, attempts=1)


def stopped(model: str, case: str, trial: int) -> CallDone:
    """A call that was never made."""
    return CallDone(Cell(model, case, trial), CallStatus.STOPPED, Outcome.STOPPED)


def patterns(rows: Mapping[str, str], **fields: Any) -> list[CallDone]:
    """Calls from words of digits: one word per case, one digit per trial."""
    calls = []
    for model, text in rows.items():
        for number, word in enumerate(text.split()):
            for trial, digit in enumerate(word, start=1):
                calls.append(scored(model, f"c{number:03}", trial, float(digit), **fields))
    return calls


def config_with(weights: Mapping[str, float] | None = None, **metrics: Any) -> Config:
    """A config with these weights and metric settings."""
    return replace(Config(), metrics=Metrics(weights=dict(weights or {"accuracy": 1.0}), **metrics))


def board_input(
    calls: Sequence[CallDone],
    *,
    cases: Sequence[Case] | None = None,
    config: Config | None = None,
    models: Sequence[str] | None = None,
    trials: int = 1,
    **fields: Any,
) -> BoardInput:
    """Everything a board needs; cases and models are those of the calls unless given."""
    keys = models if models is not None else sorted({call.cell.model_key for call in calls})
    ids = sorted({call.cell.case_id for call in calls})
    return BoardInput(
        config=config or Config(),
        entries=tuple(ModelEntry(model=key, key=key, label=key.upper()) for key in keys),
        cards=fields.pop("cards", {}),
        cases=tuple(cases) if cases is not None else tuple(Case(id=name) for name in ids),
        calls=tuple(calls),
        trials=trials,
        **fields,
    )
