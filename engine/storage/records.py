"""What goes into the store, as frozen records. What comes out again is in `rows`.

A run is opened with one `RunHead`; everything that happens in it is a `Write`; it is closed with
one `RunFinish`. Writes are made for group commit: each says the whole truth about one thing, so
that applying it again changes nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeAlias

from engine.domain import (
    Answer,
    Attempt,
    CallDone,
    Case,
    CaseScore,
    Cell,
    Note,
    RunStatus,
    SkippedModel,
)

TEXT_LIMIT = 200_000
"""Characters of one answer (and of its reasoning) that are kept; how many were cut is kept too."""


def new_run_id(now: datetime | None = None) -> str:
    """A run id that sorts by start: `run_YYYYMMDD_HHMMSS_` in UTC and six random hex digits."""
    moment = (now or datetime.now(UTC)).astimezone(UTC)
    return f"run_{moment:%Y%m%d_%H%M%S}_{secrets.token_hex(3)}"


@dataclass(frozen=True, slots=True)
class Owner:
    """The process that carries out a run.

    `started` is an opaque mark of the process's own start, so that a pid which the system has
    given to another process is not taken for the owner; empty = the system does not tell.
    """

    pid: int
    started: str
    host: str


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """One planned call. `fingerprint` covers all that could change its answer."""

    cell: Cell
    fingerprint: str


@dataclass(frozen=True, slots=True)
class RunModel:
    """One compared entry: its key in this project and what it stood for at the time."""

    key: str
    label: str = ""
    model: str = ""
    provider: str = ""


@dataclass(frozen=True, slots=True)
class RunHead:
    """Everything that is known before the first call. Stored in one transaction.

    `config` is the snapshot without secrets; `models` are all compared entries in project
    order, skipped ones included; `number_above` is the highest number that a run of the project has in
    another file; `cells` come in plan order and are read once, so a generator
    will do. `lanes` maps a connection id to its width or to a mapping of figures. `owner` None
    means this process.
    """

    run_id: str
    project: str
    project_root: Path | None
    started_at: datetime
    config: Mapping[str, Any]
    models: tuple[RunModel, ...]
    cases: tuple[Case, ...]
    cells: Iterable[PlannedCell]
    number_above: int = 0
    trials: int = 1
    skipped: tuple[SkippedModel, ...] = ()
    lanes: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()
    label: str = ""
    practice: bool = False
    seed: int | None = None
    app_version: str = ""
    owner: Owner | None = None


@dataclass(frozen=True, slots=True)
class StartedWrite:
    """The cell is under way. Optional: lets a later reader tell "was on its way" from "never begun"."""

    run_id: str
    cell: Cell
    at: datetime


@dataclass(frozen=True, slots=True)
class AnswerWrite:
    """An answer that has arrived and is paid for; not scored yet.

    `counts` False keeps the answer beside the one that counts (asked again after a score).
    """

    run_id: str
    cell: Cell
    answer: Answer
    attempts: int = 1
    throttled: int = 0
    waited_s: float = 0.0
    started_at: datetime | None = None
    finished_at: datetime | None = None
    attempt_log: tuple[Attempt, ...] = ()
    counts: bool = True


@dataclass(frozen=True, slots=True)
class ScoreWrite:
    """A mark for the cell's counting answer. Earlier marks stay as history; this one becomes current.

    `origin` is `run` or `rescore`. A `run` score also finishes the cell.
    """

    run_id: str
    cell: Cell
    score: CaseScore
    at: datetime
    origin: str = "run"


@dataclass(frozen=True, slots=True)
class DoneWrite:
    """The finished cell. Complete by itself: an answer or score not yet stored is stored with it.

    `counts` False: only the answer is kept, beside the one that counts; the cell is untouched.
    """

    run_id: str
    done: CallDone
    counts: bool = True


@dataclass(frozen=True, slots=True)
class AttemptWrite:
    """One HTTP request of a call, written when it is over (or when it begins, then again)."""

    run_id: str
    cell: Cell
    attempt: Attempt


@dataclass(frozen=True, slots=True)
class EventWrite:
    """Something that happened to a lane or to the run: throttled, closed, set_aside, paused, stopping…"""

    run_id: str
    at: datetime
    kind: str
    lane: str | None = None
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SpendWrite:
    """The account of one model as it stands now; replaces the one before.

    `purpose` is `model` or `judge`. `spent_usd` is settled cost; `reserved_usd` is what calls in
    flight may still cost plus reservations that were never settled. Written in the same
    `submit` as the answer it settles, the two are committed together. `unpriced_calls` > 0 means
    that the sums are a lower bound.
    """

    run_id: str
    model_key: str
    spent_usd: Decimal
    reserved_usd: Decimal
    calls: int = 0
    tokens: int = 0
    unpriced_calls: int = 0
    purpose: str = "model"


@dataclass(frozen=True, slots=True)
class BoardRow:
    """One leaderboard row as columns, for history queries. None = not measured.

    `metrics` holds the raw values by metric name; `score` is the deciding metric's raw value.
    """

    model_key: str
    label: str
    status: str
    rank: int | None = None
    composite: float | None = None
    score: float | None = None
    low: float | None = None
    high: float | None = None
    coverage: float | None = None
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    cost_usd: Decimal | None = None
    cost_per_1k_usd: float | None = None
    scored_cases: int = 0
    passed_cases: int = 0
    metrics: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunFinish:
    """How a run ended and what came out. `board` is `board_to_json` of the leaderboard.

    `duration_s` is of this session; the store adds up the sessions of a resumed run.
    `cost_usd` None = not known.
    """

    status: RunStatus
    finished_at: datetime
    board: Mapping[str, Any] | None = None
    rows: tuple[BoardRow, ...] = ()
    winner: str | None = None
    verdict: Mapping[str, Any] | None = None
    notes: tuple[Note, ...] = ()
    lanes: Mapping[str, Any] = field(default_factory=dict)
    cost_usd: Decimal | None = None
    duration_s: float = 0.0
    error: str | None = None


@dataclass(frozen=True, slots=True)
class FinishWrite:
    """The end of a run as a write, so that it follows every other write in order."""

    run_id: str
    finish: RunFinish


Write: TypeAlias = (
    StartedWrite | AnswerWrite | ScoreWrite | DoneWrite | AttemptWrite | EventWrite | SpendWrite | FinishWrite
)
