"""Chance of coming first and the composite's interval, from seeded resamples of the cases.

All models are resampled together (paired); cases of one group stay together. Pure and cancellable:
`should_stop` is asked between blocks, a yes raises `Cancelled`. Memory stays bounded by blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import Cancelled
from engine.stats.arrays import count_by, sum_by
from engine.stats.board import Interval
from engine.stats.metrics import MIN, Reading
from engine.stats.normalise import NO_RANGE
from engine.stats.ranking import SAME_COMPOSITE
from engine.stats.samples import Grid, ModelSample, Ratio

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_BLOCK_CELLS = 1 << 16
_TAIL_SHARE = 0.10
_TAIL_LEAST = 64
_P95 = 0.95


@dataclass(frozen=True, slots=True)
class Resampling:
    """How to resample: number of draws, seeds, and the share the interval holds."""

    draws: int = 2000
    seed: Sequence[int] = (0,)
    confidence: float = 0.95
    should_stop: Callable[[], bool] | None = None


@dataclass(frozen=True, slots=True)
class Chance:
    """What the resamples say of one model. Draws in which several are best are split evenly."""

    first: float
    composite: Interval


@dataclass(frozen=True, slots=True)
class _Column:
    """One metric of one model, summed to units, or its ordered latencies for the p95."""

    top: Floats | None = None
    bottom: Floats | None = None
    slowest: Floats | None = None
    unit: Ints | None = None


def _active_units(samples: Sequence[ModelSample], grid: Grid) -> tuple[Ints, int]:
    """A number for each case's unit, over the units that were asked at all; the rest share -1."""
    import numpy as np

    reached = sum_by(grid.unit_of, np.sum([sample.reached for sample in samples], axis=0), grid.units)
    number = np.where(reached > 0.0, np.cumsum(reached > 0.0) - 1, -1)
    return number[grid.unit_of], int(np.count_nonzero(reached))


def _column(sample: ModelSample, name: str, unit_of: Ints, units: int) -> _Column | None:
    if name == "latency_p95":
        if "latency" not in sample.ratios:
            return None
        return _Column(slowest=sample.latencies[::-1], unit=unit_of[sample.latency_case][::-1])
    ratio: Ratio | None = sample.ratios.get(name)
    if ratio is None or float(ratio.bottom.sum()) <= 0.0:
        return None
    asked = unit_of >= 0
    place = unit_of[asked]
    return _Column(
        top=sum_by(place, ratio.top[asked], units), bottom=sum_by(place, ratio.bottom[asked], units)
    )


def _slow_share(column: _Column, counts: Floats) -> Floats:
    """The p95 of every draw: order statistics of the drawn answers, counted from the slowest."""
    import numpy as np

    slowest, unit = column.slowest, column.unit
    if slowest is None or unit is None:
        return np.full(len(counts), np.nan)
    per_unit = count_by(unit, counts.shape[1])
    total = counts @ per_unit
    position = (total - 1.0) * _P95
    below = np.floor(position)
    from_top = total - 1.0 - below
    tail = min(len(slowest), max(_TAIL_LEAST, int(len(slowest) * _TAIL_SHARE)))
    seen = np.cumsum(counts[:, unit[:tail]], axis=1)
    if tail < len(slowest) and bool((seen[:, -1] <= from_top).any()):
        tail = len(slowest)
        seen = np.cumsum(counts[:, unit], axis=1)
    low = slowest[np.minimum(np.argmax(seen > from_top[:, None], axis=1), tail - 1)]
    high = slowest[np.argmax(seen > np.maximum(from_top - 1.0, 0.0)[:, None], axis=1)]
    result = low + (high - low) * (position - below)
    return np.where(total > 0.0, result, np.nan)


def _values(columns: Sequence[_Column | None], counts: Floats) -> Floats:
    """One metric of all models over all draws: draws x models, NaN = unknown."""
    import numpy as np

    result = np.full((counts.shape[0], len(columns)), np.nan)
    for index, column in enumerate(columns):
        if column is None:
            continue
        if column.top is None or column.bottom is None:
            result[:, index] = _slow_share(column, counts)
            continue
        bottom = counts @ column.bottom
        np.divide(counts @ column.top, bottom, out=result[:, index], where=bottom > 0.0)
    return result


def _normalised(values: Floats, reading: Reading) -> Floats:
    """As `normalise.normalise`, over whole arrays; the min-max range is that of each draw."""
    import numpy as np

    lower = reading.direction == MIN
    if reading.mode in ("target", "budget") and reading.target is not None:
        target = reading.target
        if target <= 0.0:
            return np.where(np.isnan(values), np.nan, (values <= target) if lower else (values >= target))
        share = values / target
        return np.clip(1.0 - share if lower else share, 0.0, 1.0)
    if reading.mode != "minmax":
        return np.clip(values, 0.0, 1.0)
    low = np.fmin.reduce(values, axis=1)[:, None]
    high = np.fmax.reduce(values, axis=1)[:, None]
    width = high - low
    flat = ~(width >= NO_RANGE)
    share = (high - values if lower else values - low) / np.where(flat, 1.0, width)
    return np.where(np.isnan(values), np.nan, np.where(flat, 1.0, share))


def _composites(
    columns: Mapping[str, Sequence[_Column | None]],
    shares: Mapping[str, float],
    readings: Mapping[str, Reading],
    counts: Floats,
) -> Floats:
    import numpy as np

    size = (len(counts), len(next(iter(columns.values()))))
    total, used = np.zeros(size), np.zeros(size)
    for name, share in shares.items():
        normal = _normalised(_values(columns[name], counts), readings[name])
        known = ~np.isnan(normal)
        total += np.where(known, normal, 0.0) * share
        used += known * share
    result = np.full(size, np.nan)
    np.divide(total, used, out=result, where=used > 0.0)
    return result


def _drawn(rng: np.random.Generator, rows: int, units: int) -> Floats:
    """How often each unit is in each of `rows` resamples of as many units as there are."""
    import numpy as np

    picks = rng.integers(0, units, size=(rows, units))
    flat = (picks + (np.arange(rows) * units)[:, None]).ravel()
    return np.bincount(flat, minlength=rows * units).reshape(rows, units).astype(np.float64)


def chances(
    samples: Sequence[ModelSample],
    grid: Grid,
    shares: Mapping[str, float],
    readings: Mapping[str, Reading],
    how: Resampling,
) -> dict[str, Chance]:
    """Resamples the units and says how often each of the given models has the best composite.

    Only these models span a min-max range. A metric unknown for a model stays unknown in every
    draw. Empty without models, units or weights.
    """
    import numpy as np

    if not samples or not grid.units or not shares:
        return {}
    unit_of, units = _active_units(samples, grid)
    if not units:
        return {}
    columns = {name: [_column(sample, name, unit_of, units) for sample in samples] for name in shares}
    rng = np.random.default_rng([*how.seed, 2])
    rows = max(1, _BLOCK_CELLS // units)
    blocks = []
    for start in range(0, how.draws, rows):
        if how.should_stop is not None and how.should_stop():
            raise Cancelled
        counts = _drawn(rng, min(rows, how.draws - start), units)
        blocks.append(_composites(columns, shares, readings, counts))
    return _summary([sample.key for sample in samples], np.concatenate(blocks), how.confidence)


def _summary(keys: Sequence[str], composites: Floats, confidence: float) -> dict[str, Chance]:
    import numpy as np

    best = np.fmax.reduce(composites, axis=1)[:, None]
    first = composites >= best - SAME_COMPOSITE
    ties = first.sum(axis=1)
    split = np.where(ties > 0, 1.0 / np.maximum(ties, 1), 0.0)
    won = (first * split[:, None]).sum(axis=0)
    counted = max(1, int(np.count_nonzero(ties)))
    edge = (1.0 - confidence) / 2.0 * 100.0
    result = {}
    for index, key in enumerate(keys):
        known = composites[:, index][~np.isnan(composites[:, index])]
        if len(known):
            low, high = np.percentile(known, [edge, 100.0 - edge])
            result[key] = Chance(float(won[index]) / counted, Interval(float(low), float(high)))
    return result
