"""Paired comparison of two models over the cases both answered, and Holm over all pairs.

Formulas: spec 05 "Statistics", the general weighted and grouped form. Pure; numpy arrays are
never changed. `should_stop` is asked between blocks of work; a yes raises `Cancelled`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.errors import Cancelled
from engine.stats.arrays import count_by, sum_by
from engine.stats.board import Interval
from engine.stats.intervals import clustered
from engine.stats.special import t_quantile, t_two_sided

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

EXACT_UP_TO = 16
FLIPS = 9_999
_BLOCK_CELLS = 1 << 16
_SAME = 1e-12
_TIE = 1e-9


@dataclass(frozen=True, slots=True)
class Difference:
    """a - b over the shared cases. `unit_sums` spans all units of the run, 0 where nothing is shared.

    `units` is the effective number, `unit_count` the plain one, `differing` counts units with at
    least one case on which the two differ; on `higher` cases a is above, on `lower` b. None = not
    computable.
    """

    cases: int
    units: float
    unit_count: int
    differing: int
    delta: float | None
    se: float | None
    t: float | None
    df: float | None
    p: float | None
    ci95: Interval | None
    ci90: Interval | None
    unit_sums: Floats
    higher: int = 0
    lower: int = 0


def _test(delta: float, se: float, df: float) -> tuple[float | None, float]:
    """t (None where infinite) and the two-sided p."""
    if se > 0.0:
        return delta / se, t_two_sided(delta / se, df)
    return (None, 0.0) if abs(delta) > _SAME else (0.0, 1.0)


def _interval(delta: float, se: float, df: float, confidence: float) -> Interval | None:
    half = t_quantile(confidence, df) * se if se > 0.0 else 0.0
    return Interval(delta - half, delta + half) if math.isfinite(half) else None


def difference(a: Floats, b: Floats, weights: Floats, unit_of: Ints) -> Difference:
    """Compares two rows of case means (NaN = no answer) with case weights and unit numbers."""
    import numpy as np

    span = int(unit_of.max()) + 1 if len(unit_of) else 0
    shared = ~np.isnan(a) & ~np.isnan(b) & (weights > 0.0)
    gaps = a[shared] - b[shared]
    gaps[np.abs(gaps) <= _SAME] = 0.0
    unit = unit_of[shared]
    spread = clustered(gaps, weights[shared], unit)
    sums = sum_by(unit, weights[shared] * gaps, span)
    if spread is None:
        return Difference(0, 0.0, 0, 0, None, None, None, None, None, None, None, sums)
    differing = int(np.count_nonzero(count_by(unit[gaps != 0.0])))
    delta = 0.0 if abs(spread.mean) <= _SAME else spread.mean
    head = (int(shared.sum()), spread.units, spread.unit_count, differing, delta)
    sides = (int(np.count_nonzero(gaps > 0.0)), int(np.count_nonzero(gaps < 0.0)))
    if spread.se is None:
        return Difference(*head, None, None, None, None, None, None, sums, *sides)
    df = spread.units - 1.0
    t, p = _test(delta, spread.se, df)
    ci95, ci90 = (_interval(delta, spread.se, df, level) for level in (0.95, 0.90))
    return Difference(*head, spread.se, t, df, p, ci95, ci90, sums, *sides)


def _exact_flip(sums: Sequence[float]) -> float:
    import numpy as np

    totals = np.zeros(1)
    for value in sums:
        totals = np.concatenate((totals + value, totals - value))
    seen = abs(math.fsum(sums))
    edge = seen - _TIE * max(1.0, seen)
    return float(np.count_nonzero(np.abs(totals) >= edge) / len(totals))


def _seeded_flips(columns: Floats, seed: Sequence[int], should_stop: Callable[[], bool] | None) -> Floats:
    """p of every column at once: the same 9,999 turnings of the units serve all pairs."""
    import numpy as np

    rng = np.random.default_rng([*seed, 1])
    seen = np.abs(columns.sum(axis=0))
    edge = seen - _TIE * np.maximum(1.0, seen)
    hits = np.zeros(columns.shape[1])
    rows = max(1, _BLOCK_CELLS // max(1, columns.shape[0]))
    for start in range(0, FLIPS, rows):
        if should_stop is not None and should_stop():
            raise Cancelled
        shape = (min(rows, FLIPS - start), columns.shape[0])
        signs = rng.integers(0, 2, size=shape, dtype=np.int8).astype(np.float64) * 2.0 - 1.0
        hits += np.count_nonzero(np.abs(signs @ columns) >= edge, axis=0)
    return (hits + 1.0) / (FLIPS + 1.0)


def sign_flips(
    unit_sums: Sequence[Floats], *, seed: Sequence[int] = (0,), should_stop: Callable[[], bool] | None = None
) -> list[float]:
    """The sign-flip p of each pair, from its signed unit sums over one common list of units.

    Exact over the non-zero sums where there are at most 16, else seeded: (r + 1) / (R + 1) with
    R = 9,999. No difference at all gives 1.
    """
    import numpy as np

    result = [1.0] * len(unit_sums)
    many = []
    for index, sums in enumerate(unit_sums):
        moving = sums[np.abs(sums) > _SAME]
        if len(moving) > EXACT_UP_TO:
            many.append(index)
        elif len(moving):
            result[index] = _exact_flip([float(value) for value in moving])
    if many:
        columns = np.stack([unit_sums[index] for index in many], axis=1)
        for index, p in zip(many, _seeded_flips(columns, seed, should_stop), strict=True):
            result[index] = float(p)
    return result


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Holm's adjusted p values, in the order given. None counts as a comparison and stays None."""
    order = sorted(range(len(p_values)), key=lambda i: (1.0 if p_values[i] is None else p_values[i], i))
    result: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for place, index in enumerate(order):
        p = p_values[index]
        if p is None:
            continue
        floor = max(floor, min(1.0, (len(p_values) - place) * p))
        result[index] = floor
    return result
