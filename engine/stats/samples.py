"""What the statistics are computed from: per model, what each case gave, as arrays.

Arrays are in a canonical order (cases by id, answers by case and trial). Made by `collecting`. Pure.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING

from engine.domain import CallError, Case
from engine.stats.intervals import Sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

PER_CALLS = 1000.0
BUILT_IN = ("accuracy", "pass_rate", "reliability", "cost", "latency", "latency_p95", "tokens")
SHARES = frozenset({"accuracy", "pass_rate", "reliability"})
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
    """Calls of one model by what became of them. `correct` answers are scored and
    passed; `throttled` counts the signals, `throttled_calls` the calls that met one."""

    answered: int = 0
    errors: int = 0
    stopped: int = 0
    refused: int = 0
    empty: int = 0
    cut_off: int = 0
    score_errors: int = 0
    unscored: int = 0
    throttled: int = 0
    throttled_calls: int = 0
    estimated_cost: int = 0
    correct: int = 0
    priced: int = 0


@dataclass(frozen=True, slots=True)
class ModelSample:
    """All that one model's calls said. Per-case arrays follow `Grid.case_ids`.

    `ratios` holds every metric but latency_p95, known or not; an unknown one is missing.
    `latencies` ascends, `latency_case` is the case of each, `first_words` (ms) ascends too. `within` and
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
    first_words: Floats | None = None
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


def cases_reached(samples: Iterable[ModelSample]) -> int:
    """How many cases any of the models has been asked."""
    import numpy as np

    arrays = [sample.reached for sample in samples]
    return int(np.count_nonzero(np.sum(arrays, axis=0))) if arrays else 0


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
