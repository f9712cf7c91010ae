"""Bradley-Terry strengths from votes and pairwise verdicts. Pure.

P(i beats j) = 1 / (1 + exp(theta_j - theta_i)); a tie is half a win each; strengths sum to 0.
Errors are sandwich errors: they stay right where ties make the votes less scattered than coins.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.stats.arrays import sum_by

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

RIDGE = 0.5
_STEPS = 200
_SMALL = 1e-13
_LONGEST = 2.0


@dataclass(frozen=True, slots=True)
class Vote:
    """One comparison. `outcome` is 1 where `a` won, 0 where `b` won, 0.5 for a tie."""

    a: str
    b: str
    outcome: float


@dataclass(frozen=True, slots=True)
class Strengths:
    """What the votes say. `ridged`: someone won or lost everything (or was never compared with the
    rest), so strengths are held back by a ridge and errors are rough. Without votes both are empty."""

    theta: Mapping[str, float]
    se: Mapping[str, float]
    covariance: Mapping[tuple[str, str], float]
    ridged: bool = False

    def gap(self, a: str, b: str) -> tuple[float, float]:
        """theta_a - theta_b and its error."""
        variance = self.covariance[a, a] + self.covariance[b, b] - 2.0 * self.covariance[a, b]
        return self.theta[a] - self.theta[b], math.sqrt(max(0.0, variance))


def _reach(size: int, edges: Sequence[tuple[int, int]]) -> set[int]:
    """Everyone that can be reached from the first along the edges."""
    onward: dict[int, list[int]] = {}
    for start, end in edges:
        onward.setdefault(start, []).append(end)
    seen, waiting = {0}, [0]
    while waiting:
        for end in onward.get(waiting.pop(), []):
            if end not in seen:
                seen.add(end)
                waiting.append(end)
    return seen if size else set()


def _settled(size: int, pairs: Sequence[tuple[int, int, float]]) -> bool:
    """Whether finite strengths exist: everyone beat someone of every division of the field (Ford)."""
    beaten = [(i, j) for i, j, y in pairs if y > 0.0] + [(j, i) for i, j, y in pairs if y < 1.0]
    back = [(end, start) for start, end in beaten]
    return len(_reach(size, beaten)) == size and len(_reach(size, back)) == size


class _Fit:
    """The votes as arrays, and the likelihood's slope and curvature at given strengths."""

    def __init__(self, size: int, pairs: Sequence[tuple[int, int, float]], ridge: float) -> None:
        import numpy as np

        self.size, self.ridge = size, ridge
        table = np.array(pairs, dtype=np.float64).reshape(-1, 3)
        self.i, self.j = table[:, 0].astype(np.int64), table[:, 1].astype(np.int64)
        self.y = table[:, 2]

    def chance(self, theta: Floats) -> Floats:
        import numpy as np

        return np.asarray(1.0 / (1.0 + np.exp(theta[self.j] - theta[self.i])), dtype=np.float64)

    def slope(self, theta: Floats) -> Floats:
        rest = self.y - self.chance(theta)
        return sum_by(self.i, rest, self.size) - sum_by(self.j, rest, self.size) - self.ridge * theta

    def _spread(self, weight: Floats) -> Floats:
        """sum of weight * (e_i - e_j)(e_i - e_j)' over the votes."""
        import numpy as np

        result = np.zeros((self.size, self.size))
        np.add.at(result, (self.i, self.i), weight)
        np.add.at(result, (self.j, self.j), weight)
        np.add.at(result, (self.i, self.j), -weight)
        np.add.at(result, (self.j, self.i), -weight)
        return result

    def curvature(self, theta: Floats) -> Floats:
        import numpy as np

        p = self.chance(theta)
        return np.asarray(self._spread(p * (1.0 - p)) + self.ridge * np.eye(self.size), dtype=np.float64)

    def scatter(self, theta: Floats) -> Floats:
        return self._spread((self.y - self.chance(theta)) ** 2)


def _solve(fit: _Fit) -> Floats:
    """Newton's method with bounded steps; the likelihood has one summit."""
    import numpy as np

    theta = np.zeros(fit.size)
    ones = np.ones((fit.size, fit.size)) / fit.size
    for _ in range(_STEPS):
        step = np.linalg.solve(fit.curvature(theta) + ones, fit.slope(theta))
        longest = float(np.abs(step).max())
        theta = theta + (step if longest <= _LONGEST else step * (_LONGEST / longest))
        theta -= theta.mean()
        if longest < _SMALL:
            break
    return theta


def bradley_terry(votes: Sequence[Vote]) -> Strengths:
    """Strengths of everyone who was compared. Comparisons with oneself are left out."""
    import numpy as np

    kept = [vote for vote in votes if vote.a != vote.b]
    names = sorted({vote.a for vote in kept} | {vote.b for vote in kept})
    if not names:
        return Strengths({}, {}, {})
    number = {name: index for index, name in enumerate(names)}
    pairs = sorted((number[vote.a], number[vote.b], vote.outcome) for vote in kept)
    ridged = not _settled(len(names), pairs)
    fit = _Fit(len(names), pairs, RIDGE if ridged else 0.0)
    theta = _solve(fit)
    ones = np.ones((fit.size, fit.size)) / fit.size
    bread = np.linalg.inv(fit.curvature(theta) + ones) - (0.0 if ridged else 1.0) * ones
    cover = bread @ fit.scatter(theta) @ bread
    return Strengths(
        {name: float(theta[index]) for name, index in number.items()},
        {name: math.sqrt(max(0.0, float(cover[index, index]))) for name, index in number.items()},
        {(a, b): float(cover[number[a], number[b]]) for a in names for b in names},
        ridged,
    )
