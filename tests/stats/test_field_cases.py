"""Cases from public reports: ties, one case, extremes, constants, all errors, NaN."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from engine.stats.board import EntryStatus
from engine.stats.intervals import wilson
from engine.stats.leaderboard import board_to_json, build_board
from tests.stats.builders import board_input, failed, scored

CASES = Path(__file__).parent.parent / "data" / "cases"


def load(name: str) -> Any:
    return json.loads((CASES / name).read_text(encoding="utf-8"))


def calls_of(rows: dict[str, list[float]]):
    return [scored(key, f"c{n:03}", 1, float(v)) for key, row in rows.items() for n, v in enumerate(row)]


def strict(board) -> str:
    """The board as strict JSON: fails on any NaN or infinity."""
    return json.dumps(board_to_json(board), allow_nan=False)


def test_equal_scores_share_a_rank() -> None:
    data = load("scores_ties.json")
    for order in (1, -1):
        rows = {key: [score] for key, score in list(data["scores"].items())[::order]}
        board = build_board(board_input(calls_of(rows)))
        assert {entry.model_key: entry.rank for entry in board.entries} == data["ranks"]
    near = build_board(board_input(calls_of({"a": [0.1 + 0.2], "b": [0.3]})))
    assert [entry.rank for entry in near.entries] == [1, 1]


def test_a_single_case() -> None:
    board = build_board(board_input(calls_of(load("scores_single.json"))))
    (entry,) = board.entries
    assert (entry.passed_cases, entry.scored_cases) == (1, 1)
    assert entry.interval is not None
    assert (round(entry.interval.low, 2), entry.interval.high) == (0.21, 1.0)
    assert "nan" not in strict(board).lower()


@pytest.mark.parametrize("name", ["all_right", "all_wrong", "nine_of_ten"])
def test_extremes_keep_a_width(name: str) -> None:
    item = load("scores_extremes.json")[name]
    low, high = item["wilson95"]
    found = wilson(item["k"] / item["n"], item["n"])
    assert (found.low, found.high) == (pytest.approx(low, abs=5e-5), pytest.approx(high, abs=5e-5))


def test_constant_scores() -> None:
    board = build_board(board_input(calls_of(load("scores_constant.json"))))
    (pair,) = board.pairs
    assert (pair.delta, pair.p, pair.p_holm, pair.flip, pair.differing) == (0.0, 1.0, 1.0, 1.0, 0)
    assert [entry.deciding_mean for entry in board.entries] == [pytest.approx(0.7)] * 2
    assert all(
        entry.interval is not None and entry.interval.high > entry.interval.low for entry in board.entries
    )
    assert "nan" not in strict(board).lower()


def test_everything_failed() -> None:
    calls = [
        failed(row["model"], f"c{row['case']:03}", 1, status=row["status"])
        for row in load("results_all_errors.json")["results"]
    ]
    board = build_board(board_input(calls))
    assert {entry.status for entry in board.entries} == {EntryStatus.NO_DATA}
    assert all(entry.composite is None for entry in board.entries)
    assert all(entry.metrics["accuracy"].raw is None for entry in board.entries)
    assert len(board.verdict.reasons) == 1
    assert board.verdict.reasons[0].values["kind"] == "auth"
    strict(board)


def test_a_score_that_is_no_number_is_unscored() -> None:
    board = build_board(board_input(calls_of(load("scores_nan.json"))))
    order = [entry.model_key for entry in board.entries]
    assert order[:3] == ["delta", "alpha", "gamma"]
    assert set(order[3:]) == {"beta", "eps"}
    assert [entry.rank for entry in board.entries] == [1, 2, 3, None, None]
    assert board.winner == "delta"
    strict(board)
