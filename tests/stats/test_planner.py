"""How many more cases."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from engine.domain import CallDone
from engine.stats.leaderboard import build_board
from engine.stats.planner import Noise, cases_needed, smallest_gap, split_noise, total_cases
from tests.stats.builders import board_input, scored

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


def few(model: str, right: int, **fields: Any) -> list[CallDone]:
    """Ten marked answers, the first so many right."""
    return [scored(model, f"c{n:02}", 1, float(n < right), **fields) for n in range(10)]


@pytest.mark.parametrize(
    ("marking", "cost"),
    [
        (Decimal(0), Decimal("0.003")),
        # 30 answers were marked for 6 cents: one is marked for 0.2 cents, two models have two each.
        (Decimal("0.06"), Decimal("0.007")),
        (None, None),
    ],
)
def test_more_tests_are_priced_with_what_marks_them(marking: Decimal | None, cost: Decimal | None) -> None:
    """A cent and two cents per ten answers; 6 s and 3 s each in lanes of 2 and 1."""
    calls = few("a", 6, cost="0.001", latency=6_000.0) + few("b", 4, cost="0.002", latency=3_000.0)
    calls += few("c", 0, cost="0.009", latency=9_000.0)
    data = board_input(calls, widths={"a": 2, "b": 1, "c": 1}, marking_usd=marking)
    verdict = build_board(data).verdict
    assert (verdict.a, verdict.b, verdict.row) == ("a", "b", 3)
    planner = verdict.planner
    assert planner is not None
    assert planner.more_cases is not None
    more = planner.more_cases
    assert planner.cost_usd == (None if cost is None else cost * more)
    assert planner.minutes == pytest.approx(more * 3.0 / 60)


def test_two_models_of_one_connection_share_its_lane() -> None:
    calls = few("a", 6, latency=6_000.0) + few("b", 4, latency=3_000.0)
    data = board_input(calls, widths={"a": 2, "b": 2})
    entries = tuple(replace(entry, provider="one") for entry in data.entries)
    planner = build_board(replace(data, entries=entries)).verdict.planner
    assert planner is not None
    assert planner.more_cases is not None
    assert planner.minutes == pytest.approx(planner.more_cases * (3.0 + 1.5) / 60)


def test_a_model_without_a_price_leaves_the_price_unknown() -> None:
    calls = few("a", 6, cost="0.001") + few("b", 4, cost=None)
    planner = build_board(board_input(calls)).verdict.planner
    assert planner is not None
    assert (planner.cost_usd, planner.minutes) == (None, None)
