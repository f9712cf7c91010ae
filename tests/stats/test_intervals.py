"""Intervals of one model."""

from __future__ import annotations

import numpy as np
import pytest

from engine.stats.intervals import (
    Sample,
    clopper_pearson_upper,
    clustered,
    effective_n,
    mean_interval,
    percentile,
    wilson,
)

A = "010 110 111 111 111 111 100 111 111 111 011 111"
B = "000 111 101 111 111 000 000 011 111 111 000 001"


def sample(text: str, *, weights: list[float] | None = None, groups: list[int] | None = None) -> Sample:
    """Words of trials as one model's sample."""
    words = text.split()
    values = np.array([np.mean([float(d) for d in word]) for word in words])
    return Sample(
        values,
        np.ones(len(words)) if weights is None else np.array(weights, dtype=float),
        np.arange(len(words)) if groups is None else np.array(groups),
        np.array([float(len(word)) for word in words]),
        binary=True,
    )


@pytest.mark.parametrize(
    ("text", "deff", "n_eff", "low", "high"),
    [(A, 1.527273, 23.571429, 0.639500, 0.933744), (B, 2.536364, 14.193548, 0.314086, 0.773358)],
)
def test_wilson_at_the_effective_number(
    text: str, deff: float, n_eff: float, low: float, high: float
) -> None:
    data = sample(text)
    spread = clustered(data.values, data.weights, data.unit_of)
    assert spread is not None
    n = effective_n(data, spread)
    assert n == pytest.approx(n_eff, abs=5e-7)
    assert 36 / n == pytest.approx(deff, abs=5e-7)
    interval = mean_interval(data)
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(low, abs=5e-7), pytest.approx(high, abs=5e-7))


def test_identical_repeats_count_once() -> None:
    interval = mean_interval(sample(" ".join(["1" * 10] * 8)))
    assert interval is not None
    assert (round(interval.low, 2), interval.high) == (0.68, 1.0)


def test_one_trial_and_no_groups_is_plain_wilson() -> None:
    interval = mean_interval(sample("1 1 1 0 1 0 1 1"))
    assert interval == wilson(0.75, 8)


def test_groups_of_one_trial_widen_the_interval() -> None:
    alone = mean_interval(sample("1 1 1 1 0 0 0 0 1 1 1 1"))
    together = mean_interval(sample("1 1 1 1 0 0 0 0 1 1 1 1", groups=[0] * 4 + [1] * 4 + [2] * 4))
    assert alone is not None
    assert together is not None
    assert together.high - together.low > alone.high - alone.low
    assert together == wilson(8 / 12, 3)


def test_weights_count_in_the_interval() -> None:
    even = mean_interval(sample("1 1 1 0 1 0 1 1"))
    heavy = mean_interval(sample("1 1 1 0 1 0 1 1", weights=[20] + [1] * 7))
    ignored = mean_interval(sample("1 1 1 0 1 0 1 1 0 0", weights=[1] * 8 + [0, 0]))
    assert even is not None
    assert heavy is not None
    assert heavy.high - heavy.low > even.high - even.low
    assert ignored == even


def test_effective_number_stays_between_units_and_answers() -> None:
    """Case means that scatter less than coins would claim more answers than there are."""
    data = sample("01 10 01 10 01 10 01 11")
    spread = clustered(data.values, data.weights, data.unit_of)
    assert spread is not None
    assert effective_n(data, spread) == 16


@pytest.mark.parametrize(("hits", "n", "bound"), [(0, 5, 0.450720), (0, 30, 0.095034), (3, 200, 0.038310)])
def test_clopper_pearson(hits: int, n: int, bound: float) -> None:
    assert clopper_pearson_upper(hits, n) == pytest.approx(bound, abs=5e-7)


def test_clopper_pearson_without_evidence_is_one() -> None:
    assert clopper_pearson_upper(0, 0) == 1.0
    assert clopper_pearson_upper(4, 4) == 1.0


def graded(values: list[float]) -> Sample:
    size = len(values)
    return Sample(np.array(values), np.ones(size), np.arange(size), np.ones(size), binary=False)


def test_graded_scores_use_t() -> None:
    interval = mean_interval(graded([0.2, 0.4, 0.6, 0.8]))
    assert interval is not None
    assert interval.low == pytest.approx(0.5 - 3.182446 * 0.258199 / 2, abs=1e-5)
    assert interval.high == pytest.approx(0.5 + 3.182446 * 0.258199 / 2, abs=1e-5)
    clipped = mean_interval(graded([0.9, 1.0, 0.95, 0.2]))
    assert clipped is not None
    assert clipped.high == 1.0


@pytest.mark.parametrize("values", [[0.7] * 6, [0.7]])
def test_graded_scores_without_spread_keep_a_width(values: list[float]) -> None:
    interval = mean_interval(graded(values))
    expected = wilson(0.7, len(values))
    assert interval is not None
    assert (interval.low, interval.high) == (pytest.approx(expected.low), pytest.approx(expected.high))


def test_unbounded_values_have_no_interval_without_spread() -> None:
    data = Sample(
        np.array([800.0]), np.ones(1), np.zeros(1, dtype=int), np.ones(1), binary=False, bounded=False
    )
    assert mean_interval(data) is None


def test_nothing_has_no_interval() -> None:
    assert mean_interval(graded([])) is None


def test_fractional_equal_weights_give_a_whole_number_of_units() -> None:
    spread = clustered(np.zeros(5), np.full(5, 0.1), np.arange(5))
    assert spread is not None
    assert spread.units == 5


@pytest.mark.parametrize(
    ("values", "percent", "expected"),
    [
        ([100, 200, 300, 400], 95, 385),
        ([100, 200, 300, 400], 50, 250),
        (list(range(1, 21)), 95, 19.05),
        ([7], 95, 7),
        ([], 95, None),
    ],
)
def test_percentile(values: list[float], percent: float, expected: float | None) -> None:
    found = percentile(values, percent)
    assert found == (None if expected is None else pytest.approx(expected))
