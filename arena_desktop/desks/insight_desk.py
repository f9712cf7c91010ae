"""What a stored run shows beyond its board: why answers failed, what wavers, what tells models apart."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from arena_desktop.background import Background, Job
from arena_desktop.desks.duel_desk import choices_of
from arena_desktop.desks.result_desk import Result, ResultDesk
from engine.domain import Case
from engine.errors import ArenaError
from engine.execution.own_marking import MarkBook, read_marks
from engine.stats.failure_groups import FailureGroup, failure_groups
from engine.stats.judged_pairs import Pair, PairReport, pair_report
from engine.storage.rows import CaseMarks, FlakyCase
from engine.storage.store import Store

FLAKY_AT_MOST = 50


@dataclass(frozen=True, slots=True)
class Separating:
    """A case on which the two of the verdict differ: their mean scores, None where not marked."""

    case_id: str
    first: float | None
    second: float | None


@dataclass(frozen=True, slots=True)
class Insights:
    """Everything the section shows about one run. `first` and `second` are the two of the verdict.

    `differing` of `units` tests differ between those two; `flaky` are the widest first, at most
    `FLAKY_AT_MOST`. `pairs` is what a judge said of the models' answers against each other.
    """

    run_id: str
    groups: tuple[FailureGroup, ...]
    flaky: tuple[FlakyCase, ...]
    separating: tuple[Separating, ...]
    marks: MarkBook
    names: dict[str, str]
    cases: dict[str, Case]
    first: str | None = None
    second: str | None = None
    differing: int = 0
    units: int = 0
    trials: int = 1
    pairs: PairReport | None = None


class InsightDesk(QObject):
    """Reads in the background; the newest question wins. GUI thread only."""

    read = Signal(object)
    """Insights of the run that was asked for last."""
    failed = Signal(object)
    """ArenaError: they cannot be read."""

    def __init__(self, background: Background, results: ResultDesk) -> None:
        super().__init__()
        self._background, self._results = background, results

    def load(self, result: Result) -> None:
        """Looks into a run; `read` follows."""
        store = self._results.store

        def work(job: Job) -> Insights:
            return read_insights(store(result.run_id), result, lambda: job.stopped)

        self._background.run(work, self._on_read, self._on_failed, name="insights", replace=True, slow=True)

    def _on_read(self, found: Insights) -> None:
        self.read.emit(found)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)


def read_insights(store: Store, result: Result, should_stop: Callable[[], bool]) -> Insights:
    """Reads everything about one run. For a background thread; raises Cancelled on a yes."""
    stored, board = result.stored, result.board
    run_id = stored.info.run_id
    verdict = board.verdict if board is not None else None
    pair = verdict.pair if verdict is not None else None
    first, second = (verdict.a, verdict.b) if verdict is not None and pair is not None else (None, None)
    separating: tuple[Separating, ...] = ()
    if board is not None and first is not None and second is not None:
        separating = _separating(store.case_marks(run_id), board.differing_cases, first, second)
    return Insights(
        run_id=run_id,
        groups=failure_groups(store.failed_calls(run_id), should_stop=should_stop),
        flaky=tuple(store.flaky_cases(run_id, FLAKY_AT_MOST)),
        separating=separating,
        marks=read_marks(store, run_id),
        names={model.key: model.label or model.key for model in stored.models},
        cases={case.id: case for case in stored.cases},
        first=first,
        second=second,
        differing=pair.differing if pair is not None else 0,
        units=pair.unit_count if pair is not None else 0,
        trials=stored.info.trials,
        pairs=_pairs(store, run_id),
    )


def _pairs(store: Store, run_id: str) -> PairReport | None:
    """What a judge said of pairs of models, beside the person's blind votes."""
    pairs = [Pair(p.cell, p.rival, p.result, p.votes, p.flips) for p in store.judged_pairs(run_id)]
    return pair_report(pairs, choices_of(store.votes(run_id))) if pairs else None


def _separating(
    marks: list[CaseMarks], cases: tuple[str, ...], first: str, second: str
) -> tuple[Separating, ...]:
    scores = {(mark.case_id, mark.model_key): mark.score for mark in marks}
    return tuple(
        Separating(case_id, scores.get((case_id, first)), scores.get((case_id, second))) for case_id in cases
    )
