"""Projects in which all models are equally good: how often does the verdict claim one is better?

Each project draws case difficulties, then every model's answers from the same chances, and goes
through the shipped pair test, Holm and rows. Used by a small test and by the benchmark.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING

from engine.stats.paired import difference, holm, sign_flips
from engine.stats.verdict import FLIP_BELOW, Contestant, as_pair, standing, verdict_row

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True, slots=True)
class Null:
    """One kind of project. `groups`: cases share a difficulty and a mood of the model in groups of
    that size (0 = none); `uneven`: group sizes and case weights differ widely."""

    models: int
    cases: int
    trials: int = 1
    graded: bool = False
    groups: int = 0
    uneven: bool = False


def draw(kind: Null, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Case means (models x cases), weights and unit numbers of one project."""
    import numpy as np

    unit = np.arange(kind.cases)
    weights = np.ones(kind.cases)
    if kind.groups:
        unit = np.arange(kind.cases) // kind.groups
        if kind.uneven:
            unit = np.sort(rng.integers(0, max(1, kind.cases // kind.groups), size=kind.cases))
    if kind.uneven:
        weights = rng.choice([1.0, 1.0, 1.0, 3.0, 10.0], size=kind.cases)
    spread = rng.normal(0.6, 1.5, size=int(unit.max()) + 1)[unit]
    mood = rng.normal(0.0, 1.0, size=(kind.models, int(unit.max()) + 1))[:, unit] if kind.groups else 0.0
    chance = 1.0 / (1.0 + np.exp(-(spread + mood) * np.ones((kind.models, 1))))
    if kind.graded:
        answers = np.clip(chance + rng.normal(0.0, 0.25, size=(kind.trials, *chance.shape)), 0.0, 1.0)
        return np.round(answers, 1).mean(axis=0), weights, unit
    return (rng.random((kind.trials, *chance.shape)) < chance).mean(axis=0), weights, unit


def claims(kind: Null, rng: np.random.Generator, margin: float = 0.05) -> tuple[bool, bool]:
    """Whether the headline claims "better" (rows 4 and 5), and whether any pair of the project does."""

    values, weights, unit = draw(kind, rng)
    means = (values * weights).sum(axis=1) / weights.sum()
    rows = [Contestant(f"m{n}", float(means[n]), None, values[n]) for n in range(kind.models)]
    ordered = standing(rows)
    both = list(combinations(ordered, 2))
    seen = [difference(a.values, b.values, weights, unit) for a, b in both]
    adjusted = holm([item.p for item in seen])
    found = {}
    for (a, b), item, p_holm in zip(both, seen, adjusted, strict=True):
        # The rows look at the sign flip below 20 units only; above it would be wasted time.
        flip = sign_flips([item.unit_sums])[0] if item.units < FLIP_BELOW else None
        found[a.key, b.key] = verdict_row(as_pair(a, b, item, flip, p_holm), margin)
    leader = ordered[0].key
    tied = [leader, *(c.key for c in ordered[1:] if found[leader, c.key] != 4)]
    other = tied[1] if len(tied) > 1 else ordered[1].key
    return found[leader, other] in (4, 5), any(row in (4, 5) for row in found.values())


def share_of_false_claims(kind: Null, projects: int, seed: int = 1) -> tuple[float, float]:
    """Shares of projects whose headline, and any of whose pairs, claims a difference."""
    import numpy as np

    rng = np.random.default_rng(
        [seed, kind.models, kind.cases, kind.trials, kind.graded, kind.groups, kind.uneven]
    )
    results = [claims(kind, rng) for _ in range(projects)]
    return sum(r[0] for r in results) / projects, sum(r[1] for r in results) / projects
