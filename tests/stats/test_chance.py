"""Chance of coming first, against a slow resampling written out answer by answer."""

from __future__ import annotations

import random
import subprocess
import sys

import numpy as np
import pytest

from engine.config.schema import MetricRule
from engine.domain import Case
from engine.stats.board import Leaderboard
from engine.stats.chance import Resampling, _drawn, chances
from engine.stats.collecting import collect
from engine.stats.leaderboard import BoardInput, build_board
from engine.stats.metrics import reading
from engine.stats.normalise import composite, field_range, terms
from engine.stats.samples import make_grid
from tests.stats.builders import board_input, config_with, failed, scored

DRAWS = 200


def project(seed: int, weights: dict[str, float], *, groups: bool, cases: int = 12) -> BoardInput:
    rng = random.Random(seed)
    listed = [
        Case(id=f"c{n:03}", weight=rng.choice([1.0, 2.0]), group=str(n // 3) if groups else None)
        for n in range(cases)
    ]
    calls = []
    for model in ("a", "b", "c"):
        for case in listed:
            for trial in (1, 2):
                if rng.random() < 0.1:
                    calls.append(failed(model, case.id, trial))
                    continue
                price = None if model == "c" else f"{rng.uniform(0.001, 0.004):.4f}"
                wait = rng.lognormvariate(5, 1)
                calls.append(
                    scored(model, case.id, trial, float(rng.random() < 0.6), cost=price, latency=wait)
                )
    rules = {"latency": MetricRule(target=500.0)}
    return board_input(calls, cases=listed, config=config_with(weights, rules=rules), trials=2)


def slow_composites(data: BoardInput, board: Leaderboard) -> np.ndarray:
    """Every draw rebuilt from repeated answers with the functions of the board itself."""
    grid = make_grid(data.cases)
    counts = _drawn(np.random.default_rng([0, 0, 2]), DRAWS, grid.units)
    readings = {name: reading(name, data.config.metrics.rules) for name in board.weights}
    result = []
    for draw in counts:
        times = draw[grid.unit_of].astype(int)
        raw = {key: _raw(data, grid, times, key) for key in "abc"}
        spans = {name: field_range(values.get(name) for values in raw.values()) for name in readings}
        values = [composite(terms(raw[key], readings, board.weights, spans)) for key in "abc"]
        result.append([np.nan if value is None else value for value in values])
    return np.array(result)


def _raw(data: BoardInput, grid, times: np.ndarray, key: str) -> dict[str, float | None]:
    place = {name: index for index, name in enumerate(grid.case_ids)}
    mine = [call for call in data.calls if call.cell.model_key == key]
    answers = [call for call in mine for _ in range(times[place[call.cell.case_id]]) if call.answer]
    tried = sum(times[place[call.cell.case_id]] for call in mine)
    if not answers:
        return dict.fromkeys(("accuracy", "cost", "latency", "latency_p95", "reliability"))
    waits = [call.answer.latency_ms for call in answers]
    costs = [call.answer.cost_usd for call in answers]
    top = bottom = 0.0
    for name, index in place.items():
        scores = [call.score.score for call in mine if call.cell.case_id == name and call.score]
        if scores:
            top += times[index] * grid.weights[index] * float(np.mean(scores))
            bottom += times[index] * grid.weights[index]
    return {
        "accuracy": top / bottom,
        "cost": None if key == "c" else float(np.mean([float(cost) for cost in costs])) * 1000,
        "latency": float(np.mean(waits)),
        "latency_p95": float(np.percentile(waits, 95)),
        "reliability": len(answers) / tried,
    }


@pytest.mark.parametrize("groups", [False, True])
@pytest.mark.parametrize(
    "weights",
    [
        {"accuracy": 1.0},
        {"accuracy": 0.5, "cost": 0.3, "latency": 0.2},
        {"accuracy": 0.4, "latency_p95": 0.4, "reliability": 0.2},
    ],
)
def test_against_slow_resampling(weights: dict[str, float], groups: bool) -> None:
    data = project(3, weights, groups=groups)
    board = build_board(data)
    slow = slow_composites(data, board)
    grid = make_grid(data.cases)
    samples = collect(grid, ["a", "b", "c"], data.calls)
    readings = {name: reading(name, data.config.metrics.rules) for name in weights}
    found = chances(list(samples.values()), grid, board.weights, readings, Resampling(DRAWS, (0, 0)))
    best = slow >= np.nanmax(slow, axis=1)[:, None] - 1e-9
    first = (best / best.sum(axis=1)[:, None]).mean(axis=0)
    assert [found[key].first for key in "abc"] == pytest.approx(list(first))
    low, high = np.nanpercentile(slow, [2.5, 97.5], axis=0)
    assert [found[key].composite.low for key in "abc"] == pytest.approx(list(low))
    assert [found[key].composite.high for key in "abc"] == pytest.approx(list(high))


def test_the_p95_of_a_draw_that_needs_more_than_the_slowest_answers() -> None:
    """All slow answers in one case: a draw without it must look further down, also over many answers."""
    cases = [Case(id=f"c{n:03}") for n in range(6)]
    calls = [
        scored(model, case.id, trial, 1.0, latency=(1000.0 if number == 0 else 10.0) + trial)
        for model in "ab"
        for number, case in enumerate(cases)
        for trial in range(1, 201)
    ]
    config = config_with({"latency_p95": 1.0}, rules={"latency_p95": MetricRule(target=2000.0)})
    board = build_board(board_input(calls, cases=cases, config=config, trials=200))
    span = board.entries[0].composite_interval
    assert span is not None
    assert span.high == pytest.approx(1 - np.percentile(10.0 + np.arange(1, 201), 95) / 2000, abs=1e-3)


def test_numpy_is_imported_only_when_a_board_is_built() -> None:
    code = (
        "import sys; import engine.stats.leaderboard, engine.stats.compare, engine.stats.verdict_file, "
        "engine.stats.votes, engine.stats.gates; sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
