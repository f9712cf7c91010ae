"""Equal models must seldom be called unequal. The full table is in tests/bench/stats_bench.py."""

from __future__ import annotations

import numpy as np
import pytest

from tests.stats.simulate import Null, draw, share_of_false_claims


@pytest.mark.parametrize(
    "kind",
    [
        Null(models=6, cases=40),
        Null(models=4, cases=20, trials=3),
        Null(models=8, cases=30, graded=True),
        Null(models=4, cases=60, groups=4),
        Null(models=4, cases=40, groups=4, uneven=True),
    ],
)
def test_false_claims_are_rare(kind: Null) -> None:
    """Over all pairs of 200 projects: 6 % and three standard errors; without Holm it is 20 % and more."""
    headline, any_pair = share_of_false_claims(kind, 200)
    assert any_pair <= 0.06 + 3 * (0.06 * 0.94 / 200) ** 0.5
    assert headline <= any_pair


def test_the_simulated_models_are_equal() -> None:
    rng = np.random.default_rng(2)
    means = np.mean(
        [draw(Null(models=4, cases=50, groups=5), rng)[0].mean(axis=1) for _ in range(300)], axis=0
    )
    assert np.ptp(means) < 0.02
