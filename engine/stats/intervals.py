"""Intervals of one value: Wilson, Clopper-Pearson, Student t; and the percentile.

Pure. Nothing here returns NaN: what cannot be computed is None.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.stats.arrays import sum_by
from engine.stats.board import Interval
from engine.stats.special import beta_quantile, normal_quantile, t_quantile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

_SAME = 1e-12


def percentile(ordered: Sequence[float] | Floats, percent: float) -> float | None:
    """The percentile of an ascending sequence, interpolated between neighbours; None when empty.

    Position (n - 1) * percent / 100: [100, 200, 300, 400] has p95 385.
    """
    if not len(ordered):
        return None
    position = (len(ordered) - 1) * percent / 100.0
    below = int(position)
    above = min(below + 1, len(ordered) - 1)
    return float(ordered[below] + (ordered[above] - ordered[below]) * (position - below))


def wilson(share: float, n: float, confidence: float = 0.95) -> Interval:
    """Wilson's interval of a share seen in `n` > 0 answers; `n` may be an effective number."""
    z = normal_quantile(0.5 + confidence / 2.0)
    bottom = 1.0 + z * z / n
    centre = (share + z * z / (2.0 * n)) / bottom
    half = z * math.sqrt(max(0.0, share * (1.0 - share)) / n + z * z / (4.0 * n * n)) / bottom
    low = 0.0 if share <= 0.0 else max(0.0, centre - half)
    return Interval(low, 1.0 if share >= 1.0 else min(1.0, centre + half))


def clopper_pearson_upper(hits: int, n: int, confidence: float = 0.95) -> float:
    """The one-sided upper bound of a share of which `hits` of `n` were seen; 1 without evidence."""
    if n <= 0 or hits >= n:
        return 1.0
    return beta_quantile(confidence, hits + 1.0, float(n - hits))


@dataclass(frozen=True, slots=True)
class Clustered:
    """A weighted mean with its cluster-robust error.

    `units` is the effective number n_e = (sum s)^2 / sum s^2 over the units' total weights,
    `unit_count` the plain one. `se` is None below two units. `unit_sums` holds, per unit,
    the sum of weight x value: what a sign flip turns.
    """

    mean: float
    se: float | None
    units: float
    unit_count: int
    unit_sums: Floats


def clustered(values: Floats, weights: Floats, unit_of: Ints) -> Clustered | None:
    """Weighted mean and SE of case values whose units (groups) move together.

    SE = sqrt(sum_u (sum_{i in u} w_i (x_i - mean))^2) / sum w * sqrt(n_e / (n_e - 1)); with equal
    weights and units this is sd / sqrt(N), or the usual C / (C - 1) for groups. Cases of weight 0
    are left out. None when nothing is left.
    """
    import numpy as np

    keep = weights > 0.0
    values, weights = values[keep], weights[keep]
    if not len(values):
        return None
    _, unit = np.unique(unit_of[keep], return_inverse=True)
    total = math.fsum(weights)
    mean = math.fsum(weights * values) / total
    sizes = sum_by(unit, weights)
    # Equal weights that are no binary fractions must still give a whole number of units.
    units = round(total * total / float((sizes * sizes).sum()), 9)
    rest = sum_by(unit, weights * (values - mean))
    se = None
    if units > 1.0:
        se = math.sqrt(float((rest * rest).sum())) / total * math.sqrt(units / (units - 1.0))
        se = 0.0 if se <= _SAME * max(1.0, abs(mean)) else se
    sums = sum_by(unit, weights * values)
    return Clustered(mean, se, units, len(sizes), sums)


@dataclass(frozen=True, slots=True)
class Sample:
    """One model's case means with what the interval needs.

    `trials` counts the answers behind each mean. `binary`: every single answer is 0 or 1.
    `bounded`: values lie in 0..1 by nature.
    """

    values: Floats
    weights: Floats
    unit_of: Ints
    trials: Floats
    binary: bool
    bounded: bool = True


def effective_n(sample: Sample, spread: Clustered) -> float:
    """n_eff = N * T / deff, kept between the units and the answers (both as effective numbers)."""
    keep = sample.weights > 0.0
    weights, trials = sample.weights[keep], sample.trials[keep]
    answers = float(weights.sum()) ** 2 / float((weights * weights / trials).sum())
    plain = spread.mean * (1.0 - spread.mean)
    single = float(trials.max()) <= 1.0 and spread.unit_count == len(weights)
    if single:
        return spread.units
    if not spread.se or plain <= _SAME:
        return spread.units
    return min(max(plain / (spread.se * spread.se), spread.units), answers)


def mean_interval(sample: Sample, confidence: float = 0.95) -> Interval | None:
    """The interval of one model's mean: Wilson at n_eff for pass or fail, else Student t.

    A graded sample without any spread, or of one unit, has no t interval; for scores in 0..1
    Wilson at the number of units is the honest, wider answer, and it never shows a width of 0.
    """
    spread = clustered(sample.values, sample.weights, sample.unit_of)
    if spread is None:
        return None
    if sample.binary:
        return wilson(spread.mean, effective_n(sample, spread), confidence)
    if not spread.se:
        return wilson(spread.mean, spread.units, confidence) if sample.bounded else None
    half = t_quantile(confidence, spread.units - 1.0) * spread.se
    low, high = spread.mean - half, spread.mean + half
    if sample.bounded:
        return Interval(max(0.0, low), min(1.0, high))
    return Interval(low, high) if math.isfinite(half) else None
