"""What would change the result, against brute force."""

from __future__ import annotations

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config.schema import MetricRule
from engine.stats.board import Leaderboard
from engine.stats.leaderboard import BoardInput, build_board, what_if
from engine.stats.what_if import preview
from tests.stats.builders import board_input, config_with, scored

WEIGHTS = {"accuracy": 0.6, "cost": 0.25, "latency": 0.15}
RULES = {"cost": MetricRule(target=10.0), "latency": MetricRule(target=4000.0)}
GRID = [1.03**step for step in range(-200, 201)]


def run(seed: int, models: int, *, unknown: bool = False) -> BoardInput:
    rng = random.Random(seed)
    calls = []
    for number in range(models):
        cost, wait = f"{rng.uniform(0.0005, 0.009):.5f}", rng.uniform(200, 3500)
        right = rng.randint(2, 8)
        hide = unknown and number == 0
        price = None if hide else cost
        calls += [
            scored(f"m{number}", f"c{case}", 1, float(case < right), cost=price, latency=wait)
            for case in range(8)
        ]
    return board_input(calls, config=config_with(WEIGHTS, rules=RULES if seed % 2 else {}))


def winner_at(data: BoardInput, metric: str, factor: float) -> str | None:
    weights = {name: weight * (factor if name == metric else 1.0) for name, weight in WEIGHTS.items()}
    board = build_board(data)
    return next(iter(preview(board, data.config, weights))).model_key


def brute_force(data: BoardInput, board: Leaderboard) -> float | None:
    """The distance |log factor| of the nearest grid point at which another model leads."""
    best = None
    for metric in WEIGHTS:
        for factor in GRID:
            weights = {name: weight * (factor if name == metric else 1.0) for name, weight in WEIGHTS.items()}
            leader = preview(board, data.config, weights)[0].model_key
            if leader != board.winner:
                distance = abs(math.log(factor))
                best = distance if best is None else min(best, distance)
    return best


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("unknown", [False, True])
def test_the_nearest_change_is_the_one_brute_force_finds(seed: int, unknown: bool) -> None:
    data = run(seed, 2 + seed % 4, unknown=unknown)
    board = build_board(data)
    found, brute = board.weight_change, brute_force(data, board)
    if brute is None:
        far = found is None or found.factor == 0.0 or abs(math.log(found.factor)) >= max(map(math.log, GRID))
        assert far
        return
    assert found is not None
    assert found.factor > 0.0
    distance = abs(math.log(found.factor))
    step = math.log(1.03)
    assert distance <= brute + 1e-9
    assert distance > brute - step - 1e-9
    beyond = found.factor * (1.001 if found.factor > 1.0 else 0.999)
    assert winner_at(data, found.metric, beyond) == found.leader
    before = 1.0 + (found.factor - 1.0) * 0.999
    assert winner_at(data, found.metric, before) == board.winner
    share = WEIGHTS[found.metric] * found.factor
    rest = 1.0 - WEIGHTS[found.metric]
    assert found.share_after == pytest.approx(share / (share + rest))
    assert found.share_before == pytest.approx(WEIGHTS[found.metric])


def test_nothing_changes_with_one_metric_or_one_model() -> None:
    alone = board_input([scored("a", "c0", 1, 1.0)], config=config_with(WEIGHTS))
    assert build_board(alone).weight_change is None
    single = board_input([scored("a", "c0", 1, 1.0), scored("b", "c0", 1, 0.0)])
    assert build_board(single).weight_change is None


def test_a_model_best_in_everything_cannot_be_overtaken() -> None:
    calls = [scored("best", "c0", 1, 1.0, cost="0.001", latency=10.0)]
    calls += [scored("worst", "c0", 1, 0.0, cost="0.002", latency=20.0)]
    assert build_board(board_input(calls, config=config_with(WEIGHTS))).weight_change is None


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 500),
    weights=st.fixed_dictionaries({name: st.floats(0.01, 5) for name in WEIGHTS}),
    unknown=st.booleans(),
)
def test_preview_gives_the_ranks_of_the_board(seed: int, weights: dict[str, float], unknown: bool) -> None:
    data = run(seed, 4, unknown=unknown)
    board = what_if(data, weights)
    shown = preview(build_board(data), data.config, weights)
    assert [(item.model_key, item.rank) for item in shown] == [(e.model_key, e.rank) for e in board.entries]
    for item, entry in zip(shown, board.entries, strict=True):
        assert item.composite == pytest.approx(entry.composite)
