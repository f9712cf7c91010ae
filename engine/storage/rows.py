"""What comes out of the store, as frozen records. What goes in is in `records`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from engine.domain import CallStatus, Case, Cell, Note, Outcome, RunInfo, RunStatus, ScoreState, SkippedModel
from engine.storage.records import BoardRow, Owner, RunModel, SpendWrite

# Looked up in a mapping, an enumeration member costs a fifth of a call of its class.
STATUSES = {member.value: member for member in CallStatus}
OUTCOMES = {member.value: member for member in Outcome}
SCORE_STATES = {member.value: member for member in ScoreState}

PREVIEW_CHARS = 200
"""Characters of an answer that a light row carries."""


@dataclass(frozen=True, slots=True)
class StoredEvent:
    """One lane or run event as it was stored, in order of `id`."""

    id: int
    at: datetime
    kind: str
    lane: str | None
    values: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class StoredRun:
    """One run without its calls. `board` and `verdict` are None until a result was computed."""

    info: RunInfo
    config: Mapping[str, Any]
    models: tuple[RunModel, ...]
    cases: tuple[Case, ...]
    skipped: tuple[SkippedModel, ...]
    notes: tuple[Note, ...]
    lanes: Mapping[str, Any]
    board: Mapping[str, Any] | None
    verdict: Mapping[str, Any] | None
    spend: tuple[SpendWrite, ...]
    owner: Owner | None
    seed: int | None
    app_version: str
    error: str | None = None


@dataclass(frozen=True, slots=True)
class UnfinishedCell:
    """A planned cell that has no answer and no final failure, in plan order.

    `state` is planned, running (was on its way when the run ended), stopped, or error where those
    that failed for good were asked for too.
    """

    cell: Cell
    fingerprint: str
    state: str


@dataclass(frozen=True, slots=True)
class CallFilter:
    """What a page of calls shows. Empty = everything.

    `state`: scored, errored, unscored. `text` is looked for in the answer, the case id, the
    question and the error, without regard to the case of ASCII letters. `differ` keeps the cases
    on which the models do not all pass or all fail. `marked` keeps calls with a mark of the user.
    """

    models: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    statuses: tuple[CallStatus, ...] = ()
    outcomes: tuple[Outcome, ...] = ()
    state: ScoreState | None = None
    passed: bool | None = None
    text: str = ""
    differ: bool = False
    marked: bool = False


@dataclass(frozen=True, slots=True)
class CallOrder:
    """Sort key of a page: plan, model, case, trial, status, outcome, score, latency, cost, tokens,
    attempts. Unknown values come last in both directions; equal ones keep plan order."""

    by: str = "plan"
    descending: bool = False


@dataclass(frozen=True, slots=True)
class CallRow:
    """One call for a table: everything but the full texts. `preview` is the start of the answer.

    `position` rises in plan order and names the row to the store; `length` counts the characters
    of the whole answer. `status` None = not under way or still on its way (see `state`).
    """

    position: int
    cell: Cell
    state: str
    status: CallStatus | None
    outcome: Outcome | None
    score_state: ScoreState | None
    score: float | None
    passed: bool | None
    reason: str
    preview: str
    length: int | None
    latency_ms: float | None
    input_tokens: int | None
    output_tokens: int | None
    cost_usd: Decimal | None
    attempts: int
    throttled: int
    error_kind: str | None
    error_message: str | None
    mark: str | None
    mark_score: float | None = None


@dataclass(frozen=True, slots=True)
class CallsPage:
    """A window on the calls of a run. `total` counts the calls of the run, `matching` those that
    pass the filter."""

    rows: tuple[CallRow, ...]
    matching: int
    total: int


@dataclass(frozen=True, slots=True)
class ModelPoint:
    """One model in one run, for a line over time."""

    run_id: str
    number: int
    started_at: datetime
    run_status: RunStatus
    label: str
    model: str
    reported: str | None
    row: BoardRow


@dataclass(frozen=True, slots=True)
class CaseMarks:
    """How one model did on one case over its trials; `score` None where nothing was scored."""

    case_id: str
    model_key: str
    trials: int
    scored: int
    passed: int
    errors: int
    score: float | None
    answered: int = 0


@dataclass(frozen=True, slots=True)
class FlakyCase:
    """A case that one model answered differently over the trials of one run."""

    run_id: str
    case_id: str
    model_key: str
    trials: int
    lowest: float
    highest: float
    mean: float


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case under two runs: mean score before and after, None where nothing was scored.

    `same_case` is False where the case itself changed between the runs.
    """

    case_id: str
    before: float | None
    after: float | None
    before_trials: int
    after_trials: int
    same_case: bool


@dataclass(frozen=True, slots=True)
class Drift:
    """A model's newest run against the mean of the runs before it, on the deciding metric."""

    model_key: str
    run_id: str
    score: float | None
    baseline: float | None
    baseline_runs: int
    status: str
    previous_status: str | None
