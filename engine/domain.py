"""The words of the house as frozen records: cases, cells, answers, scores, runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from pathlib import Path
from typing import Any, NamedTuple

from providers.base import Message, Usage


class Severity(StrEnum):
    """`error` keeps the project from running, `warning` does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault in a project file. Lines and columns count from 1; None = the whole file.

    `message` says what, `fix` says how to mend it; both are plain sentences. `code` is stable.
    """

    severity: Severity
    message: str
    fix: str = ""
    file: str = ""
    line: int | None = None
    column: int | None = None
    path: str = ""
    code: str = ""

    def __str__(self) -> str:
        place = ":".join(str(p) for p in (self.file, self.line) if p not in ("", None))
        head = ": ".join(p for p in (place, self.path) if p)
        tail = f"{self.message} {self.fix}".strip()
        return f"{head}: {tail}" if head else tail


@dataclass(frozen=True, slots=True)
class CheckSpec:
    """One check on a case. `reference` None means: the case's own reference."""

    type: str
    options: Mapping[str, Any] = field(default_factory=dict)
    weight: float = 1.0
    must_pass: bool = False
    negate: bool = False
    reference: Any = None


@dataclass(frozen=True, slots=True)
class Case:
    """One test case. Either `input` or `messages` is asked; `checks` is never empty.

    `reference` is text, a list of accepted texts, or a JSON value. `context` replaces the
    default instructions. `fingerprint` is hex SHA-256 over all that could change the answer
    or its mark. `file` and `line` say where it was written. `own_checks`: its file says how it is
    marked; else it goes by the project.
    """

    id: str
    input: str = ""
    messages: tuple[Message, ...] | None = None
    reference: Any = None
    context: str | None = None
    vars: Mapping[str, Any] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    weight: float = 1.0
    group: str | None = None
    checks: tuple[CheckSpec, ...] = ()
    max_tokens: int | None = None
    temperature: float | None = None
    images: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    metadata: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""
    line: int | None = None
    fingerprint: str = ""
    own_checks: bool = field(default=False, compare=False)


class Cell(NamedTuple):
    """One planned call: model x case x trial. `trial` counts from 1."""

    model_key: str
    case_id: str
    trial: int


class CallStatus(StrEnum):
    """What became of a call."""

    OK = "ok"
    ERROR = "error"
    STOPPED = "stopped"


class Outcome(StrEnum):
    """How an answered or failed call ended (spec: outcome of a call)."""

    COMPLETE = "complete"
    LENGTH = "length"
    EMPTY = "empty"
    REFUSED = "refused"
    BLOCKED = "blocked"
    FAILED = "failed"
    STOPPED = "stopped"


class ScoreState(StrEnum):
    """`errored`: the check itself failed. `unscored`: nobody has marked it yet."""

    SCORED = "scored"
    ERRORED = "errored"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check said. `score` is 0..1 or None unless `state` is scored.

    `reason` is one plain sentence; `reason_code` with `detail` lets the screen word it anew.
    """

    type: str
    state: ScoreState
    score: float | None = None
    passed: bool | None = None
    reason: str = ""
    reason_code: str = ""
    detail: Mapping[str, Any] = field(default_factory=dict)
    metrics: Mapping[str, float] = field(default_factory=dict)
    weight: float = 1.0
    must_pass: bool = False


@dataclass(frozen=True, slots=True)
class CaseScore:
    """The mark of one answer: weighted mean of its checks, must-pass ones gate it."""

    state: ScoreState
    score: float | None = None
    passed: bool | None = None
    reason: str = ""
    metrics: Mapping[str, float] = field(default_factory=dict)
    checks: tuple[CheckResult, ...] = ()


@dataclass(frozen=True, slots=True)
class CallError:
    """Why a call failed: `kind` as providers.base.ErrorKind, or scorer/engine codes."""

    kind: str
    message: str
    status: int | None = None


@dataclass(frozen=True, slots=True)
class Attempt:
    """One HTTP request of a call. `wait_s` is what was waited before it."""

    number: int
    started_at: datetime
    wait_s: float = 0.0
    latency_ms: float | None = None
    error: CallError | None = None
    throttled: bool = False
    cost_usd: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back and was paid for, before it is scored. `cost_usd` None = not known."""

    text: str
    outcome: Outcome
    model_reported: str | None = None
    reasoning: str | None = None
    usage: Usage = field(default_factory=Usage)
    latency_ms: float = 0.0
    first_token_ms: float | None = None
    cost_usd: Decimal | None = None
    cost_source: str = "unknown"  # reported, computed, estimated, free, unknown
    request_id: str | None = None
    notes: tuple[tuple[str, Mapping[str, Any]], ...] = ()

    @property
    def holds_loading(self) -> bool:
        """True where its times may hold the loading of the model, which is not the model's speed."""
        return bool(self.notes) and any(code == "loading_included" for code, _ in self.notes)


@dataclass(frozen=True, slots=True)
class CallDone:
    """A finished cell: exactly one per planned cell. This is the row the store keeps.

    `attempts` counts HTTP requests that were not throttled, `throttled` those that were;
    `waited_s` is all waiting for lanes, limits and retries.
    """

    cell: Cell
    status: CallStatus
    outcome: Outcome
    answer: Answer | None = None
    score: CaseScore | None = None
    error: CallError | None = None
    attempts: int = 0
    throttled: int = 0
    waited_s: float = 0.0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempt_log: tuple[Attempt, ...] = ()


class RunStatus(StrEnum):
    """States of a run."""

    RUNNING = "running"
    COMPLETED = "completed"
    CANCELLED = "cancelled"
    STOPPED_BUDGET = "stopped_budget"
    FAILED_FAST = "failed_fast"
    ABORTED = "aborted"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class SkippedModel:
    """A model left out before anything was spent. `code`: no_key, not_reachable, not_served,
    extra_missing, no_trust, breaks_gate, unknown_kind, not_built, build_failed."""

    model_key: str
    code: str
    reason: str
    fix: str = ""


@dataclass(frozen=True, slots=True)
class Note:
    """Something the reader of a result must know: a code and its values."""

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """The head of a stored run, without its calls.

    `number` counts within the project. `winner_score` is the winner's deciding metric,
    `duration_s` the time under way over all sessions. `store` is the file it was read from.
    """

    run_id: str
    project: str
    project_root: Path | None
    status: RunStatus
    started_at: datetime
    finished_at: datetime | None
    planned: int
    completed: int
    errors: int
    stopped: int
    cost_usd: Decimal | None
    winner: str | None
    label: str = ""
    number: int = 0
    models: int = 0
    cases: int = 0
    trials: int = 1
    practice: bool = False
    winner_score: float | None = None
    duration_s: float | None = None
    deleted_at: datetime | None = None
    store: Path | None = None
