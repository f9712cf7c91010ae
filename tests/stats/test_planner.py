"""How many more cases."""

from __future__ import annotations

import pytest

from engine.stats.planner import Noise, cases_needed, smallest_gap, split_noise, total_cases

EX6 = Noise(between=1 / 9, within=2 / 6)


@pytest.mark.parametrize(("trials", "cases"), [(1, 349), (3, 175), (5, 140), (10, 114)])
def test_example_6_cases(trials: int, cases: int) -> None:
    assert cases_needed(EX6, 0.10, trials=trials) == cases


@pytest.mark.parametrize(("trials", "gap"), [(1, 0.2641), (3, 0.1868), (5, 0.1671), (10, 0.1506)])
def test_example_6_smallest_gap(trials: int, gap: float) -> None:
    assert smallest_gap(EX6, 50, trials=trials) == pytest.approx(gap, abs=5e-5)


def test_example_1_noise() -> None:
    noise = split_noise(0.138047, 0.111111 + 0.083333, 3)
    assert noise.between == pytest.approx(0.073232, abs=2e-6)
    assert [cases_needed(noise, 0.277778, trials=t) for t in (1, 3, 5)] == [28, 15, 12]


def test_one_trial_puts_all_noise_into_the_cases() -> None:
    noise = split_noise(0.25, None, 1)
    assert noise.variance(1) == noise.variance(10) == 0.25


def test_more_pairs_need_more_cases() -> None:
    one, six = (cases_needed(EX6, 0.1, trials=1, pairs=pairs) or 0 for pairs in (1, 6))
    assert six > one


def test_bounds() -> None:
    assert total_cases(Noise(0.01, 0.0), 0.5, trials=1, pairs=1, cases=40) == 41
    assert total_cases(EX6, 0.0, trials=1, pairs=1, cases=40) is None
    assert total_cases(EX6, 0.01, trials=1, pairs=1, cases=400) is None  # above 10,000
    assert total_cases(Noise(0.1, 0.0), 0.02, trials=1, pairs=1, cases=10) is None  # above 100 x 10
    assert total_cases(Noise(0.1, 0.0), 0.02, trials=1, pairs=1, cases=30) == 1963
