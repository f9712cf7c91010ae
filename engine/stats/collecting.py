"""From calls to samples: the one place that reads `CallDone`.

The order in which calls arrive changes no digit. What is not finite (a score, a cost, a latency)
counts as not measured. Pure and cancellable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from engine.domain import CallDone, CallStatus, Outcome, ScoreState
from engine.errors import Cancelled
from engine.stats.arrays import count_by, sum_by
from engine.stats.samples import BUILT_IN, PER_CALLS, Counts, Grid, ModelSample, Ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_ASK_EVERY = 8192
_NAN = math.nan


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
    errored = estimated = priced = 0
    for call in row.calls:
        outcomes[call.outcome] = outcomes.get(call.outcome, 0) + 1
        if call.score is not None and call.score.state is ScoreState.ERRORED:
            errored += 1
        if call.answer is not None:
            estimated += call.answer.cost_source == "estimated"
            priced += call.answer.cost_usd is not None
    throttles = [call.throttled for call in row.calls] + [call.throttled for _, _, call in row.failed]
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
        throttled=sum(throttles),
        throttled_calls=sum(count > 0 for count in throttles),
        estimated_cost=estimated,
        correct=int(np.nansum(passed)) if len(passed) else 0,
        priced=priced,
    )


def _costs(row: _Rows) -> tuple[Decimal | None, Decimal | None]:
    """Everything spent on the model, and what its marked answers cost; None = not known.

    Failed attempts that cost something are part of the first.
    """
    total = marked = Decimal(0)
    for call in row.calls:
        cost = call.answer.cost_usd if call.answer is not None else None
        if cost is None or not cost.is_finite():
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


class _Table:
    """The answered calls of one model in canonical order, column by column."""

    def __init__(self, row: _Rows) -> None:
        import numpy as np

        table = np.array(row.columns, dtype=np.float64).reshape(-1, 7)
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        self.case = table[:, 0].astype(np.int64)
        self.score, self.passed, self.cost, self.latency, self.tokens = (table[:, n] for n in range(2, 7))
        self.marked = ~np.isnan(self.score)


def _ratios(
    table: _Table, answered: Floats, reached: Floats, means: tuple[Floats, Floats], grid: Grid
) -> dict[str, Ratio]:
    """The built-in metrics. One answer without a cost, a latency or a token count takes that metric away."""
    import numpy as np

    known = np.where(np.isnan(means[0]), 0.0, grid.weights)
    ratios = {
        "accuracy": Ratio(np.nan_to_num(means[0]) * known, known),
        "pass_rate": Ratio(np.nan_to_num(means[1]) * known, known),
        "reliability": Ratio(answered, reached),
    }
    columns = (
        ("cost", table.cost, PER_CALLS),
        ("latency", table.latency, 1.0),
        ("tokens", table.tokens, 1.0),
    )
    for name, column, unit in columns:
        if len(column) and bool(np.isfinite(column).all()):
            ratios[name] = Ratio(sum_by(table.case, column * unit, len(grid.case_ids)), answered)
    return ratios


def _sample(key: str, row: _Rows, grid: Grid) -> ModelSample:
    import numpy as np

    size, table = len(grid.case_ids), _Table(row)
    failed = np.array([place for place, _, _ in row.failed], dtype=np.int64)
    answered = count_by(table.case, size)
    reached = answered + count_by(failed, size)
    marked_case, marks = table.case[table.marked], table.score[table.marked]
    scored = count_by(marked_case, size)
    means = _means(marked_case, marks, scored), _means(marked_case, table.passed[table.marked], scored)
    custom = _custom(row, size)
    order = np.lexsort((table.case, table.latency))
    total_cost, scored_cost = _costs(row)
    first = min(row.failed, key=lambda item: item[:2], default=None)
    return ModelSample(
        key=key,
        counts=_counts(row, table.score, table.passed),
        answered=answered,
        reached=reached,
        scored=scored,
        score_means=means[0],
        pass_means=means[1],
        binary=bool(np.all((marks == 0.0) | (marks == 1.0))),
        within=_within(table.case, table.score, size),
        within_pass=_within(table.case, table.passed, size),
        ratios=_ratios(table, answered, reached, means, grid) | custom,
        latencies=table.latency[order],
        latency_case=table.case[order],
        total_cost=total_cost,
        scored_cost=scored_cost,
        first_error=first[2].error if first is not None else None,
        first_words=_first_words(row),
        custom=frozenset(custom),
    )


def _first_words(row: _Rows) -> Floats:
    """Milliseconds to the first word of every answer that was streamed, ascending."""
    import numpy as np

    told = [call.answer.first_token_ms for call in row.calls if call.answer is not None]
    return np.sort(np.array([ms for ms in told if ms is not None and math.isfinite(ms)], dtype=np.float64))


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
