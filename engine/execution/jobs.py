"""What the dispatcher is given and what it says: grid, lanes, jobs, decisions, changes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

from engine.config.embedder_key import is_embedder
from engine.domain import Cell
from engine.execution.budget import Ceilings, Worst
from engine.execution.retry import Failure, RetryPolicy

JUDGE_LANE = "marking AI"
"""Id of the judge's own lane and payer, in words that no connection or model is called by."""


def is_marker(lane: str) -> bool:
    """Whether a lane or payer is one that marks: the judge's, or that of a model for embeddings."""
    return lane == JUDGE_LANE or is_embedder(lane)


class JobKind(StrEnum):
    """A `call` asks a model; a `judge` job marks an answer that is paid for already."""

    CALL = "call"
    JUDGE = "judge"


@dataclass(frozen=True, slots=True)
class LanePlan:
    """One connection's share of the run. `width` is clamped to the run's concurrency already.

    `local`: the service runs on this computer, so the network being away does not stop it.
    `shares`: the lane whose calls per minute count together with those of this one, because both
    go through one connection. `marks`: its jobs mark answers; they go before new calls and are on
    an account of their own, by the lane's id.
    """

    id: str
    width: int
    local: bool = False
    rpm: float | None = None
    tpm: float | None = None
    burst: float | None = None
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    shares: str = ""
    marks: bool = False


@dataclass(frozen=True, slots=True)
class ModelPlan:
    """One runnable model. Models that share `credential` share a key and an endpoint."""

    key: str
    lane: str
    credential: str = ""


@dataclass(frozen=True, slots=True)
class Grid:
    """All planned cells as numbers: trial, then case, then model."""

    models: tuple[ModelPlan, ...]
    cases: tuple[str, ...]
    trials: int

    @property
    def total(self) -> int:
        """models x cases x trials."""
        return len(self.models) * len(self.cases) * self.trials

    def cell(self, index: int) -> Cell:
        """The cell at a place of the plan order."""
        rest, model = divmod(index, len(self.models))
        trial, case = divmod(rest, len(self.cases))
        return Cell(self.models[model].key, self.cases[case], trial + 1)

    def model_of(self, index: int) -> int:
        """Number of the cell's model."""
        return index % len(self.models)

    def index(self) -> Callable[[Cell], int | None]:
        """A look-up from cell to place; None where the grid does not hold the cell."""
        models = {m.key: i for i, m in enumerate(self.models)}
        cases = {c: i for i, c in enumerate(self.cases)}

        def find(cell: Cell) -> int | None:
            model, case = models.get(cell.model_key), cases.get(cell.case_id)
            if model is None or case is None or not 1 <= cell.trial <= self.trials:
                return None
            return ((cell.trial - 1) * len(cases) + case) * len(models) + model

        return find


@dataclass(frozen=True, slots=True)
class DispatchPlan:
    """Everything the dispatcher needs to know before a run.

    `done` are places that need no call any more (resume). `worst_of` is asked for the worst case
    of a place when it is about to start; it is called only where a ceiling or tpm is set.
    """

    grid: Grid
    lanes: tuple[LanePlan, ...]
    concurrency: int
    ceilings: Ceilings = field(default_factory=Ceilings)
    fail_fast: bool = False
    done: frozenset[int] = frozenset()
    worst_of: Callable[[int], Worst] = lambda _index: Worst()


@dataclass(frozen=True, slots=True)
class Job:
    """One attempt that was admitted and holds its slots. `index` is the place of its cell."""

    id: int
    kind: JobKind
    index: int
    cell: Cell
    lane: str
    payer: str
    attempt: int
    item: int
    waited_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Tally:
    """What a cell went through so far."""

    attempts: int = 0
    throttled: int = 0
    waited_s: float = 0.0


class Fate(StrEnum):
    """What becomes of a cell whose attempt failed."""

    RETRY = "retry"
    REQUEUED = "requeued"
    FAILED = "failed"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Decision:
    """The answer to a failed attempt.

    `retry` and `requeued`: the slots are free again and the cell comes back by itself after
    `delay_s`. `failed` and `stopped`: the cell must be recorded and then finished.
    """

    fate: Fate
    delay_s: float = 0.0
    code: str = ""


@dataclass(frozen=True, slots=True)
class Ended:
    """A cell that ended without holding a slot: it was never asked, or not again."""

    index: int
    cell: Cell
    code: str
    tally: Tally
    failure: Failure | None = None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class JudgeDropped:
    """A judge job that will not be asked; the answer it belongs to stays unmarked."""

    item: int
    index: int
    code: str
    failure: Failure | None = None


@dataclass(frozen=True, slots=True)
class LaneChanged:
    """A lane changed its width, or was closed until a moment."""

    lane: str
    before: int
    after: int
    until: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class SetAside:
    """Models that get no more calls for now; the user may offer them again."""

    models: tuple[str, ...]
    lane: str
    code: str
    failure: Failure | None
    until: float | None = None


@dataclass(frozen=True, slots=True)
class Stopping:
    """The run ends early."""

    reason: str


@dataclass(frozen=True, slots=True)
class CeilingReached:
    """A model was closed, or a warning ceiling was passed. `payer` "run" is the whole run."""

    payer: str
    warned: bool


Change = LaneChanged | SetAside | Stopping | CeilingReached


@dataclass(frozen=True, slots=True)
class Counts:
    """queued = total - finished - running, never negative."""

    total: int
    finished: int
    running: int
    retrying: int

    @property
    def queued(self) -> int:
        """Neither finished nor holding a slot."""
        return self.total - self.finished - self.running
