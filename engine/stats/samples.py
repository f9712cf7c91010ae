"""Calls turned into arrays: per model, what each case gave. The one place that reads `CallDone`.

Arrays are in a canonical order (cases by id, answers by case and trial), so that the order in which
calls arrive changes no digit. Scores that are not finite are unscored. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from engine.domain import CallDone, CallError, CallStatus, Case, Outcome, ScoreState
from engine.errors import Cancelled
from engine.stats.arrays import count_by, sum_by
from engine.stats.intervals import Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

PER_CALLS = 1000.0
BUILT_IN = ("accuracy", "pass_rate", "reliability", "cost", "latency", "latency_p95", "tokens")
SHARES = frozenset({"accuracy", "pass_rate", "reliability"})
_ASK_EVERY = 8192
_NAN = math.nan
_WEIGHTED = frozenset({"accuracy", "pass_rate"})


@dataclass(frozen=True, slots=True)
class Grid:
    """The planned cases in order of id: weights, and the unit (group, or the case itself) of each."""

    case_ids: tuple[str, ...]
    weights: Floats
    unit_of: Ints
    tags: tuple[tuple[str, ...], ...]

    @property
    def units(self) -> int:
        """How many units there are."""
        return int(self.unit_of.max()) + 1 if len(self.unit_of) else 0


@dataclass(frozen=True, slots=True)
class Ratio:
    """A metric as a quotient of sums, case by case: sum(top) / sum(bottom). NaN never occurs."""

    top: Floats
    bottom: Floats

    def value(self) -> float | None:
        """The metric over all cases; None where nothing was measured."""
        bottom = math.fsum(self.bottom)
        return math.fsum(self.top) / bottom if bottom > 0.0 else None

    def by_case(self) -> Floats:
        """The case's own value, NaN where it was not measured."""
        import numpy as np

        result = np.full(len(self.top), np.nan)
        np.divide(self.top, self.bottom, out=result, where=self.bottom > 0.0)
        return result


@dataclass(frozen=True, slots=True)
class Counts:
    """Calls of one model by what became of them. `correct` answers are scored and passed."""

    answered: int = 0
    errors: int = 0
    stopped: int = 0
    refused: int = 0
    empty: int = 0
    cut_off: int = 0
    score_errors: int = 0
    unscored: int = 0
    throttled: int = 0
    estimated_cost: int = 0
    correct: int = 0


@dataclass(frozen=True, slots=True)
class ModelSample:
    """All that one model's calls said. Per-case arrays follow `Grid.case_ids`.

    `ratios` holds every metric but latency_p95, known or not; an unknown one is missing.
    `latencies` ascends, `latency_case` is the case of each. `within` and
    `within_pass` are the mean variance between the trials of a case, None with one trial per case.
    """

    key: str
    counts: Counts
    answered: Floats
    reached: Floats
    scored: Floats
    score_means: Floats
    pass_means: Floats
    binary: bool
    within: float | None
    within_pass: float | None
    ratios: Mapping[str, Ratio]
    latencies: Floats
    latency_case: Ints
    total_cost: Decimal | None
    scored_cost: Decimal | None
    first_error: CallError | None = None
    custom: frozenset[str] = field(default_factory=frozenset)


def make_grid(cases: Sequence[Case]) -> Grid:
    """The grid of a run's cases. Groups and cases without a group are units; order does not matter."""
    import numpy as np

    ordered = sorted(cases, key=lambda case: case.id)
    names = [("g", case.group) if case.group is not None else ("c", case.id) for case in ordered]
    number = {name: index for index, name in enumerate(sorted(set(names)))}
    return Grid(
        tuple(case.id for case in ordered),
        np.array([float(case.weight) for case in ordered], dtype=np.float64),
        np.array([number[name] for name in names], dtype=np.int64),
        tuple(case.tags for case in ordered),
    )


def _tokens(call: CallDone) -> float:
    usage = call.answer.usage if call.answer is not None else None
    if usage is None or usage.input is None or usage.output is None:
        return _NAN
    return float(usage.input + usage.output)


def _score(call: CallDone) -> tuple[float, float]:
    """Score and pass as numbers, NaN where the answer has no mark."""
    mark = call.score
    if mark is None or mark.state is not ScoreState.SCORED or mark.score is None:
        return _NAN, _NAN
    score = float(mark.score)
    if not math.isfinite(score):
        return _NAN, _NAN
    passed = mark.passed if mark.passed is not None else score >= 0.5
    return score, 1.0 if passed else 0.0


class _Rows:
    """The answered calls of one model as growing columns."""

    def __init__(self) -> None:
        self.columns: list[tuple[int, int, float, float, float, float, float]] = []
        self.custom: list[tuple[str, int, int, float]] = []
        self.calls: list[CallDone] = []
        self.failed: list[tuple[int, int, CallDone]] = []
        self.stopped = 0

    def add(self, call: CallDone, case: int) -> None:
        """Takes one call; `case` is its place in the grid."""
        if call.status is CallStatus.STOPPED:
            self.stopped += 1
            return
        trial = call.cell.trial
        if call.status is CallStatus.ERROR:
            self.failed.append((case, trial, call))
            return
        answer = call.answer
        score, passed = _score(call)
        cost = float(answer.cost_usd) if answer is not None and answer.cost_usd is not None else _NAN
        latency = float(answer.latency_ms) if answer is not None else _NAN
        self.columns.append((case, trial, score, passed, cost, latency, _tokens(call)))
        self.calls.append(call)
        if call.score is not None and call.score.metrics and score == score:
            self._emit(call, case)

    def _emit(self, call: CallDone, case: int) -> None:
        for name, value in call.score.metrics.items() if call.score is not None else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or name in BUILT_IN:
                continue
            if math.isfinite(value):
                self.custom.append((name, case, call.cell.trial, float(value)))


def collect(
    grid: Grid,
    keys: Sequence[str],
    calls: Sequence[CallDone],
    *,
    should_stop: Callable[[], bool] | None = None,
) -> dict[str, ModelSample]:
    """Sorts the calls into one sample per model key. Calls of other models or cases are left out."""
    rows = {key: _Rows() for key in keys}
    place = {case_id: index for index, case_id in enumerate(grid.case_ids)}
    for number, call in enumerate(calls):
        if number % _ASK_EVERY == 0 and should_stop is not None and should_stop():
            raise Cancelled
        row = rows.get(call.cell.model_key)
        case = place.get(call.cell.case_id)
        if row is not None and case is not None:
            row.add(call, case)
    samples = {}
    for key, row in rows.items():
        if should_stop is not None and should_stop():
            raise Cancelled
        samples[key] = _sample(key, row, grid)
    return samples


def _counts(row: _Rows, scores: Floats, passed: Floats) -> Counts:
    import numpy as np

    outcomes: dict[Outcome, int] = {}
    errored = throttled = estimated = 0
    for call in row.calls:
        outcomes[call.outcome] = outcomes.get(call.outcome, 0) + 1
        throttled += call.throttled
        if call.score is not None and call.score.state is ScoreState.ERRORED:
            errored += 1
        if call.answer is not None and call.answer.cost_source == "estimated":
            estimated += 1
    unscored = int(np.count_nonzero(np.isnan(scores)))
    return Counts(
        answered=len(row.calls),
        errors=len(row.failed),
        stopped=row.stopped,
        refused=outcomes.get(Outcome.REFUSED, 0),
        empty=outcomes.get(Outcome.EMPTY, 0),
        cut_off=outcomes.get(Outcome.LENGTH, 0),
        score_errors=errored,
        unscored=unscored - errored if unscored > errored else 0,
        throttled=throttled + sum(call.throttled for _, _, call in row.failed),
        estimated_cost=estimated,
        correct=int(np.nansum(passed)) if len(passed) else 0,
    )


def _costs(row: _Rows) -> tuple[Decimal | None, Decimal | None]:
    """Everything spent on the model, and what its marked answers cost; None = not known.

    Failed attempts that cost something are part of the first.
    """
    total = marked = Decimal(0)
    for call in row.calls:
        cost = call.answer.cost_usd if call.answer is not None else None
        if cost is None:
            return None, None
        total += cost
        if call.score is not None and call.score.state is ScoreState.SCORED:
            marked += cost
    every = row.calls + [call for _, _, call in row.failed]
    for call in every:
        for attempt in call.attempt_log:
            if attempt.error is not None and attempt.cost_usd is not None:
                total += attempt.cost_usd
    return (total, marked) if every else (None, None)


def _within(case: Ints, scores: Floats, size: int) -> float | None:
    """Mean over the cases of the variance between their trials, ddof 1."""
    import numpy as np

    keep = ~np.isnan(scores)
    case, scores = case[keep], scores[keep]
    count = count_by(case, size)
    mean = sum_by(case, scores, size) / np.maximum(count, 1.0)
    square = sum_by(case, (scores - mean[case]) ** 2, size)
    several = count >= 2.0
    if not several.any():
        return None
    return float((square[several] / (count[several] - 1.0)).mean())


def _sample(key: str, row: _Rows, grid: Grid) -> ModelSample:
    import numpy as np

    size = len(grid.case_ids)
    table = np.array(row.columns, dtype=np.float64).reshape(-1, 7)
    table = table[np.lexsort((table[:, 1], table[:, 0]))]
    case = table[:, 0].astype(np.int64)
    score, passed, cost, latency, tokens = (table[:, column] for column in range(2, 7))
    failed = np.array([place for place, _, _ in row.failed], dtype=np.int64)
    answered = count_by(case, size)
    reached = answered + count_by(failed, size)
    has_mark = ~np.isnan(score)
    scored = count_by(case[has_mark], size)
    means = _means(case[has_mark], score[has_mark], scored)
    passes = _means(case[has_mark], passed[has_mark], scored)
    known = np.where(scored > 0.0, grid.weights, 0.0)
    ratios = {
        "accuracy": Ratio(np.nan_to_num(means) * known, known),
        "pass_rate": Ratio(np.nan_to_num(passes) * known, known),
        "reliability": Ratio(answered, reached),
    }
    for name, column, unit in (("cost", cost, PER_CALLS), ("latency", latency, 1.0), ("tokens", tokens, 1.0)):
        if len(column) and not np.isnan(column).any():
            ratios[name] = Ratio(sum_by(case, column * unit, size), answered)
    ratios |= _custom(row, size)
    order = np.lexsort((case, latency))
    total_cost, scored_cost = _costs(row)
    marks = score[has_mark]
    first = min(row.failed, key=lambda item: item[:2], default=None)
    return ModelSample(
        key=key,
        counts=_counts(row, score, passed),
        answered=answered,
        reached=reached,
        scored=scored,
        score_means=means,
        pass_means=passes,
        binary=bool(np.all((marks == 0.0) | (marks == 1.0))),
        within=_within(case, score, size),
        within_pass=_within(case, passed, size),
        ratios=ratios,
        latencies=latency[order],
        latency_case=case[order],
        total_cost=total_cost,
        scored_cost=scored_cost,
        first_error=first[2].error if first is not None else None,
        custom=frozenset(ratios) - set(BUILT_IN),
    )


def cases_reached(samples: Iterable[ModelSample]) -> int:
    """How many cases any of the models has been asked."""
    import numpy as np

    arrays = [sample.reached for sample in samples]
    return int(np.count_nonzero(np.sum(arrays, axis=0))) if arrays else 0


def _means(case: Ints, values: Floats, count: Floats) -> Floats:
    """Mean per case, NaN where there is none."""
    import numpy as np

    result = np.full(len(count), np.nan)
    sums = sum_by(case, values, len(count))
    np.divide(sums, count, out=result, where=count > 0.0)
    return result


def _custom(row: _Rows, size: int) -> dict[str, Ratio]:
    import numpy as np

    result = {}
    emitted = sorted(row.custom)
    for name in sorted({item[0] for item in emitted}):
        case = np.array([item[1] for item in emitted if item[0] == name], dtype=np.int64)
        value = np.array([item[3] for item in emitted if item[0] == name], dtype=np.float64)
        result[name] = Ratio(sum_by(case, value, size), count_by(case, size))
    return result


def deciding_values(sample: ModelSample, metric: str) -> Floats:
    """Case means of the metric a verdict goes by, NaN where the case has none.

    latency_p95 has no value per case; its case value is the mean latency of the case.
    """
    import numpy as np

    if metric == "accuracy":
        return sample.score_means
    if metric == "pass_rate":
        return sample.pass_means
    ratio = sample.ratios.get("latency" if metric == "latency_p95" else metric)
    return ratio.by_case() if ratio is not None else np.full(len(sample.answered), np.nan)


def deciding_sample(sample: ModelSample, metric: str, grid: Grid) -> Sample:
    """The same values as `intervals.Sample`, over the cases that have one."""
    import numpy as np

    values = deciding_values(sample, metric)
    trials = sample.scored if metric in _WEIGHTED else sample.reached
    keep = ~np.isnan(values) & (grid.weights > 0.0)
    binary = metric in ("pass_rate", "reliability") or (metric == "accuracy" and sample.binary)
    return Sample(
        values[keep],
        grid.weights[keep],
        grid.unit_of[keep],
        np.maximum(trials[keep], 1.0),
        binary,
        metric in SHARES,
    )
