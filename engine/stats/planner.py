"""How many more cases would settle a gap: sample size for a paired comparison at 80 % power."""

from __future__ import annotations

import math
from dataclasses import dataclass

from engine.stats.special import normal_quantile

ALPHA = 0.05
POWER = 0.80
NEVER_ABOVE = 10_000
NEVER_FACTOR = 100
_SAME = 1e-12


@dataclass(frozen=True, slots=True)
class Noise:
    """What a paired difference varies by, per case.

    `between` (omega squared) is the spread of the true differences, `within` the two models'
    trial variances added. With one trial the two cannot be told apart: all is in `between`.
    """

    between: float
    within: float

    def variance(self, trials: float) -> float:
        """Variance of one case's difference when each model is asked `trials` times."""
        return self.between + self.within / trials


def split_noise(variance: float, within: float | None, trials: float) -> Noise:
    """Splits the observed variance of the case differences. `within` None = one trial per case."""
    if within is None:
        return Noise(max(0.0, variance), 0.0)
    return Noise(max(0.0, variance - within / trials), within)


def _z(pairs: int) -> float:
    return normal_quantile(1.0 - ALPHA / max(1, pairs) / 2.0) + normal_quantile(POWER)


def cases_needed(noise: Noise, gap: float, *, trials: float, pairs: int = 1) -> int | None:
    """Cases at which a gap of that size is found 4 times in 5. None where there is no gap."""
    if abs(gap) <= _SAME:
        return None
    needed = _z(pairs) ** 2 * noise.variance(trials) / (gap * gap)
    # A quotient that is whole but for rounding must not be rounded up to the next number.
    return math.ceil(needed - 1e-9) if math.isfinite(needed) else None


def smallest_gap(noise: Noise, cases: int, *, trials: float, pairs: int = 1) -> float:
    """The smallest gap that so many cases would find 4 times in 5."""
    return _z(pairs) * math.sqrt(noise.variance(trials) / cases)


def total_cases(noise: Noise, gap: float, *, trials: float, pairs: int, cases: int) -> int | None:
    """As `cases_needed`, at least one more than there are; None = may never separate."""
    needed = cases_needed(noise, gap, trials=trials, pairs=pairs)
    if needed is None or needed > NEVER_ABOVE or needed > NEVER_FACTOR * cases:
        return None
    return max(needed, cases + 1)
