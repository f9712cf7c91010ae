"""From calls to samples: the one place that reads `CallDone`.

The order in which calls arrive changes no digit. What is not finite (a score, a cost, a latency)
counts as not measured. Pure and cancellable.
"""

from __future__ import annotations

import math
from array import array
from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from engine.domain import CallDone, CallError, CallStatus, Outcome, ScoreState
from engine.errors import Cancelled
from engine.stats.arrays import count_by, sum_by
from engine.stats.samples import BUILT_IN, PER_CALLS, Counts, Grid, ModelSample, Ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_ASK_EVERY = 8192
MOST_MEASURE = 1e100
_NAN = math.nan
_COLUMNS = 8


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
    """The calls of one model as growing columns and sums: no call is kept, however many there are."""

    def __init__(self) -> None:
        self.columns = array("d")
        self.custom: list[tuple[str, int, int, float]] = []
        self.failed = array("q")
        self.first_failed: tuple[int, int, CallError | None] | None = None
        self.first_words = array("d")
        self.outcomes: dict[Outcome, int] = {}
        self.answered = self.stopped = self.score_errors = self.estimated = self.priced = 0
        self.throttled = self.throttled_calls = 0
        self.unpriced = 0
        self.spent = self.spent_on_marked = Decimal(0)

    def add(self, call: CallDone, case: int) -> None:
        """Takes one call; `case` is its place in the grid."""
        for attempt in call.attempt_log:
            if attempt.error is not None and attempt.cost_usd is not None:
                self.spent += attempt.cost_usd
        if call.status is CallStatus.STOPPED:
            self.stopped += 1
            return
        self.throttled += call.throttled
        self.throttled_calls += call.throttled > 0
        trial = call.cell.trial
        if call.status is CallStatus.ERROR:
            self.failed.append(case)
            if self.first_failed is None or (case, trial) < self.first_failed[:2]:
                self.first_failed = (case, trial, call.error)
            return
        self._add_answer(call, case)

    def _add_answer(self, call: CallDone, case: int) -> None:
        answer = call.answer
        score, passed = _score(call)
        cost = answer.cost_usd if answer is not None else None
        latency = bounded(answer.latency_ms) if answer is not None else _NAN
        # Loading a model is not its speed: such an answer is left out of all times.
        timed = answer is None or not (answer.notes and answer.holds_loading)
        self.columns.extend(
            (
                case,
                call.cell.trial,
                score,
                passed,
                _NAN if cost is None else float(cost),
                latency,
                _tokens(call),
                timed,
            )
        )
        self.answered += 1
        self.outcomes[call.outcome] = self.outcomes.get(call.outcome, 0) + 1
        self._add_cost(call, cost)
        if answer is not None:
            self.estimated += answer.cost_source == "estimated"
            self.priced += cost is not None
            first = answer.first_token_ms
            if timed and first is not None and math.isfinite(first):
                self.first_words.append(first)
        if call.score is not None and call.score.state is ScoreState.ERRORED:
            self.score_errors += 1
        if call.score is not None and call.score.metrics and score == score:
            self._emit(call, case)

    def _add_cost(self, call: CallDone, cost: Decimal | None) -> None:
        if cost is None or not cost.is_finite():
            self.unpriced += 1
            return
        self.spent += cost
        if call.score is not None and call.score.state is ScoreState.SCORED:
            self.spent_on_marked += cost

    def _emit(self, call: CallDone, case: int) -> None:
        for name, value in call.score.metrics.items() if call.score is not None else ():
            if isinstance(value, bool) or not isinstance(value, (int, float)) or name in BUILT_IN:
                continue
            if math.isfinite(value):
                self.custom.append((name, case, call.cell.trial, bounded(value)))


def bounded(value: float) -> float:
    """A measure as it is reckoned with. Squares, sums and quotients of larger and of tinier ones leave
    the range of floats, and one answer would cost the leaderboard; that it is huge, or next to nothing,
    is all that counts of such a number."""
    if not math.isfinite(value):
        return value  # not measured
    number = max(-MOST_MEASURE, min(MOST_MEASURE, float(value)))
    return number if abs(number) * MOST_MEASURE >= 1.0 else 0.0


def collect(
    grid: Grid,
    keys: Sequence[str],
    calls: Iterable[CallDone],
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

    unscored = int(np.count_nonzero(np.isnan(scores)))
    return Counts(
        answered=row.answered,
        errors=len(row.failed),
        stopped=row.stopped,
        refused=row.outcomes.get(Outcome.REFUSED, 0),
        empty=row.outcomes.get(Outcome.EMPTY, 0),
        cut_off=row.outcomes.get(Outcome.LENGTH, 0),
        score_errors=row.score_errors,
        unscored=max(0, unscored - row.score_errors),
        throttled=row.throttled,
        throttled_calls=row.throttled_calls,
        estimated_cost=row.estimated,
        correct=int(np.nansum(passed)) if len(passed) else 0,
        priced=row.priced,
    )


def _costs(row: _Rows) -> tuple[Decimal | None, Decimal | None]:
    """Everything spent on the model, and what its marked answers cost; None = not known.

    Failed attempts that cost something are part of the first.
    """
    if row.unpriced or not (row.answered or len(row.failed)):
        return None, None
    return row.spent, row.spent_on_marked


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

        table = np.array(row.columns, dtype=np.float64).reshape(-1, _COLUMNS)
        table = table[np.lexsort((table[:, 1], table[:, 0]))]
        self.case = table[:, 0].astype(np.int64)
        self.score, self.passed, self.cost, latency, self.tokens = (table[:, n] for n in range(2, 7))
        timed = table[:, 7] == 1.0
        self.latency, self.latency_case = latency[timed], self.case[timed]
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
    size = len(grid.case_ids)
    timed = answered if len(table.latency) == len(table.case) else count_by(table.latency_case, size)
    columns = (
        ("cost", table.cost * PER_CALLS, table.case, answered),
        ("latency", table.latency, table.latency_case, timed),
        ("tokens", table.tokens, table.case, answered),
    )
    for name, column, case, counted in columns:
        if len(column) and bool(np.isfinite(column).all()):
            ratios[name] = Ratio(sum_by(case, column, size), counted)
    return ratios


def _sample(key: str, row: _Rows, grid: Grid) -> ModelSample:
    import numpy as np

    size, table = len(grid.case_ids), _Table(row)
    failed = np.array(row.failed, dtype=np.int64)
    answered = count_by(table.case, size)
    reached = answered + count_by(failed, size)
    marked_case, marks = table.case[table.marked], table.score[table.marked]
    scored = count_by(marked_case, size)
    means = _means(marked_case, marks, scored), _means(marked_case, table.passed[table.marked], scored)
    custom = _custom(row, size)
    order = np.lexsort((table.latency_case, table.latency))
    total_cost, scored_cost = _costs(row)
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
        latency_case=table.latency_case[order],
        total_cost=total_cost,
        scored_cost=scored_cost,
        first_error=row.first_failed[2] if row.first_failed is not None else None,
        first_words=_first_words(row),
        custom=frozenset(custom),
    )


def _first_words(row: _Rows) -> Floats:
    """Milliseconds to the first word of every answer that was streamed, ascending."""
    import numpy as np

    return np.sort(np.array(row.first_words, dtype=np.float64))


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
