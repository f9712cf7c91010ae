"""What a run tells while it goes on. Every event carries the run id and a rising sequence number.

Times are seconds on the run's monotonic clock unless they say UTC.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from engine.domain import CallDone, CallError, Cell, RunStatus, SkippedModel


@dataclass(frozen=True, slots=True)
class LaneState:
    """One lane now. `width` is the effective width, `configured` the one it recovers to.

    `closed_for_s` > 0: nothing starts for that long, `reason` says why: throttled, retry_after,
    offline, stopped, limit. `waiting` counts cells that could run but for this lane.
    """

    id: str
    active: int
    width: int
    configured: int
    waiting: int
    closed_for_s: float | None = None
    reason: str | None = None
    throttled: int = 0
    waited_s: float = 0.0
    max_in_flight: int = 0


@dataclass(frozen=True, slots=True)
class Event:
    """Base of all events."""

    run_id: str
    seq: int


@dataclass(frozen=True, slots=True)
class Earlier:
    """What one model has behind it when a run is carried on: answers, failures, marks."""

    done: int = 0
    failed: int = 0
    scored: int = 0
    passed: int = 0


@dataclass(frozen=True, slots=True)
class Planned(Event):
    """First event of a run. `total` = models x cases x trials over runnable models.

    Of a run that is carried on, `already_done` calls need no call any more; `earlier` splits them
    by model. Where only some calls of a saved run are asked, `again` are these.
    """

    total: int
    models: tuple[str, ...]
    cases: int
    trials: int
    skipped: tuple[SkippedModel, ...]
    lanes: Mapping[str, int]
    lane_of: Mapping[str, str]
    concurrency: int
    already_done: int = 0
    earlier: Mapping[str, Earlier] = field(default_factory=dict)
    again: tuple[Cell, ...] = ()


@dataclass(frozen=True, slots=True)
class QueueChanged(Event):
    """Counts now: queued = total - finished - running, never negative."""

    running: int
    queued: int
    finished: int
    total: int
    lanes: tuple[LaneState, ...]
    retrying: int = 0


@dataclass(frozen=True, slots=True)
class Started(Event):
    """The cell holds its lane's slot and a global slot."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Retrying(Event):
    """The cell goes back to the queue and is due in `delay_s`."""

    cell: Cell
    attempt: int
    delay_s: float
    error: CallError


@dataclass(frozen=True, slots=True)
class Throttled(Event):
    """A lane changed its width or was closed: `before` -> `after`."""

    lane: str
    before: int
    after: int
    until_s: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Answered(Event):
    """An answer is stored and not yet scored."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class Scored(Event):
    """A stored answer has its mark."""

    cell: Cell


@dataclass(frozen=True, slots=True)
class CallFinished(Event):
    """The cell is finished and durable. Exactly one per planned cell."""

    done: CallDone


@dataclass(frozen=True, slots=True)
class BudgetChanged(Event):
    """Spend so far and what calls in flight may still cost. None = not known."""

    spent_usd: Decimal | None
    reserved_usd: Decimal
    ceiling_usd: Decimal | None
    unpriced_calls: int = 0
    by_model: Mapping[str, Decimal | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelSetAside(Event):
    """A model or lane gets no more calls in this run, or not for now.

    `code`: denied, no_credit, model_unknown, same_failure, asked_to_slow_down, unreachable,
    wait_too_long, day_quota, budget_model. `until`: when the service wants to be asked again.
    """

    model_keys: tuple[str, ...]
    lane: str | None
    code: str
    error: CallError | None
    until: datetime | None = None


@dataclass(frozen=True, slots=True)
class RunStopping(Event):
    """The run is ending early: cancelled, stop_now, budget, fail_fast, abort."""

    reason: str
    in_flight: int


@dataclass(frozen=True, slots=True)
class Preparing(Event):
    """Something is made ready while the run goes on: `what` is `sandbox`, `state` preparing, ready,
    missing or failed with its `reason`. Answers that need it are marked once it is ready."""

    what: str
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class RunPaused(Event):
    """Paused or continued."""

    paused: bool


@dataclass(frozen=True, slots=True)
class RunFinished(Event):
    """Last event of a run; leaderboard and verdict are stored.

    `unsaved`: so many results are kept in memory only, because the store could not take them.
    """

    status: RunStatus
    planned: int
    completed: int
    errors: int
    stopped: int
    cost_usd: Decimal | None
    duration_s: float
    error: str | None = None
    unsaved: int = 0
