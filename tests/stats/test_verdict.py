"""The rows of the verdict, the tied group and the headline pair."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from engine.config.schema import Config, Constraints, MetricRule, Statistics
from engine.domain import Case
from engine.stats.board import PairResult
from engine.stats.leaderboard import build_board
from engine.stats.verdict import verdict_row
from tests.stats.builders import board_input, config_with, failed, patterns, scored

EX1 = {
    "A": "010 110 111 111 111 111 100 111 111 111 011 111",
    "B": "000 111 101 111 111 000 000 011 111 111 000 001",
}
EX10 = {
    "A": " ".join("11111111111111111100"),
    "B": " ".join("11111111111111110011"),
    "C": " ".join("11111111110000000000"),
    "D": " ".join("11111000000000000011"),
}


def board(rows: dict[str, str], *, trials: int = 1, margin: float = 0.05, **fields):
    config = fields.pop("config", Config())
    config = replace(config, statistics=Statistics(margin=margin))
    return build_board(board_input(patterns(rows), config=config, trials=trials, **fields))


def test_example_1_is_row_4() -> None:
    verdict = board(EX1, trials=3).verdict
    assert (verdict.row, verdict.code, verdict.a, verdict.b) == (4, "better", "A", "B")
    assert verdict.tied == ("A",)
    assert verdict.planner is None
    assert verdict.pair is not None
    assert verdict.pair.flip == 12 / 256


@pytest.mark.parametrize("trials", [1, 3, 10])
def test_example_2_is_row_3_however_often_it_is_repeated(trials: int) -> None:
    rows = {
        "A": " ".join(["1" * trials] * 6 + ["0" * trials] * 2),
        "B": " ".join(["1" * trials] * 4 + ["0" * trials] * 4),
    }
    verdict = board(rows, trials=trials).verdict
    assert (verdict.row, verdict.code) == (3, "few_differences")
    assert verdict.pair is not None
    assert (verdict.pair.differing, verdict.pair.units) == (2, 8)
    assert verdict.planner is not None
    assert verdict.planner.total_cases == 27


def test_example_10() -> None:
    found = board(EX10)
    assert found.verdict.tied == ("A", "B")
    assert (found.verdict.row, found.verdict.a, found.verdict.b) == (3, "A", "B")
    assert found.verdict.pair is not None
    assert found.verdict.pair.differing == 4
    holm = {(pair.a, pair.b): pair.p_holm for pair in found.pairs}
    expected = {("A", "B"): 1, ("A", "C"): 0.009901, ("A", "D"): 0.009901, ("B", "C"): 0.009901,
                ("B", "D"): 0.000716, ("C", "D"): 0.534866}  # fmt: skip
    assert holm == {pair: pytest.approx(p, abs=5e-7) for pair, p in expected.items()}
    assert [entry.tied for entry in found.entries] == [True, True, False, False]


def test_row_1_fewer_than_five_units() -> None:
    verdict = board({"a": "1 1 1 1", "b": "0 0 0 0"}).verdict
    assert (verdict.row, verdict.code) == (1, "not_enough_tests")
    assert verdict.planner is not None
    assert (verdict.planner.more_cases, verdict.planner.total_cases) == (1, 5)


def test_row_1_counts_groups_and_not_cases() -> None:
    cases = [Case(id=f"c{n:03}", group=str(n % 3)) for n in range(12)]
    verdict = board({"a": "1 " * 12, "b": "0 " * 12}, cases=cases).verdict
    assert verdict.row == 1
    assert verdict.pair is not None
    assert verdict.pair.units == 3


def test_row_1_counts_effective_units_of_weighted_cases() -> None:
    cases = [Case(id=f"c{n:03}", weight=50.0 if n == 0 else 1.0) for n in range(12)]
    verdict = board({"a": "1 " * 12, "b": "0 " * 12}, cases=cases).verdict
    assert verdict.row == 1
    assert verdict.pair is not None
    assert verdict.pair.units < 2
    assert verdict.pair.unit_count == 12


def test_row_2_hardly_any_difference_over_many() -> None:
    verdict = board({"a": "1 " * 200, "b": "1 " * 197 + "0 " * 3}).verdict
    assert (verdict.row, verdict.code) == (2, "same_few_differences")
    assert verdict.pair is not None
    assert (verdict.pair.differing, verdict.pair.unit_count) == (3, 200)
    assert verdict.planner is None


def test_row_4_and_5_by_the_margin() -> None:
    rows = {"a": "1 " * 40, "b": "1 " * 30 + "0 " * 10}
    assert board(rows).verdict.row == 4
    slight = board(rows, margin=0.4).verdict
    assert (slight.row, slight.code) == (5, "slightly_better")
    assert slight.tied == ("a", "b")


def test_row_6_and_7_by_the_margin() -> None:
    rows = {"a": "1 0 1 0 1 0 1 1 " + "1 " * 40, "b": "0 1 0 1 0 1 0 1 " + "1 " * 40}
    close = board(rows).verdict
    assert (close.row, close.code) == (7, "too_close")
    assert close.planner is not None
    assert close.planner.more_cases is not None or close.planner.may_never
    same = board(rows, margin=0.15).verdict
    assert (same.row, same.code) == (6, "same")


def _pair(**fields) -> PairResult:
    plain = PairResult("a", "b", 0.3, 0.1, 3.0, 11.0, 0.01, 0.01, 0.01, None, None, 12.0, 8, None, 12, 12)
    return replace(plain, **fields)


def test_sign_flip_must_agree_below_20_units_only() -> None:
    assert verdict_row(_pair(), 0.05) == 4
    assert verdict_row(_pair(flip=0.2), 0.05) == 7
    assert verdict_row(_pair(flip=0.2, units=20.0), 0.05) == 4


def test_the_headline_is_the_best_other_member_of_the_tied_group() -> None:
    rows = {"a": "1 " * 30 + "0 " * 10, "b": "1 " * 29 + "0 1 " + "0 " * 9, "z": "0 " * 40}
    found = board(rows)
    assert found.verdict.tied == ("a", "b") or found.verdict.tied == ("b", "a")
    assert "z" not in (found.verdict.a, found.verdict.b)


def test_alone_at_the_top_it_is_compared_with_the_next() -> None:
    found = board({"a": "1 " * 40, "b": "1 " * 20 + "0 " * 20, "c": "0 " * 40})
    assert found.verdict.tied == ("a",)
    assert (found.verdict.a, found.verdict.b) == ("a", "b")


def test_nothing_ranked_gives_the_reasons_once() -> None:
    calls = [failed(key, f"c00{n}", 1) for key in ("alpha", "beta") for n in range(3)]
    found = build_board(board_input(calls))
    assert (found.verdict.row, found.verdict.code) == (None, "none_ranked")
    (reason,) = found.verdict.reasons
    assert reason.code == "every_call_failed"
    assert reason.values["models"] == ["alpha", "beta"]
    assert reason.values["kind"] == "auth"
    assert found.winner is None


def test_all_ruled_out_gives_the_reasons() -> None:
    config = replace(Config(), constraints=Constraints(min_accuracy=0.9))
    found = build_board(board_input(patterns({"a": "1 0", "b": "0 0"}), config=config))
    assert found.verdict.code == "none_ranked"
    assert [reason.values["measured"] for reason in found.verdict.reasons] == [0.5, 0.0]


def test_one_ranked() -> None:
    found = board({"a": "1 0 1"})
    assert (found.verdict.row, found.verdict.code, found.verdict.leader) == (None, "only_one", "a")
    assert found.winner == "a"


def test_nothing_marked_yet() -> None:
    calls = [scored(key, "c000", 1, None) for key in "ab"]
    assert build_board(board_input(calls)).verdict.code == "nothing_scored"


def test_a_winner_outside_the_tied_group_is_told() -> None:
    calls = []
    for n in range(40):
        calls.append(scored("right", f"c{n:03}", 1, 1.0, cost="0.1"))
        calls.append(scored("cheap", f"c{n:03}", 1, float(n < 26), cost="0.001"))
    found = build_board(board_input(calls, config=config_with({"accuracy": 0.3, "cost": 0.7})))
    assert found.winner == "cheap"
    assert found.verdict.leader == "right"
    assert found.verdict.tied == ("right",)
    assert found.verdict.outside is not None
    assert found.verdict.outside.delta == pytest.approx(0.35)
    weakness = next(reason for reason in found.recommendation if reason.code == "weakness")
    assert (weakness.values["metric"], weakness.values["other"]) == ("accuracy", "right")
    strength = next(reason for reason in found.recommendation if reason.code == "strength")
    assert strength.values["ratio"] == pytest.approx(0.01)
    assert strength.values["deciding_difference"] == pytest.approx(-0.35)


def test_the_leader_is_the_best_by_mean_and_ties_go_by_composite_then_key() -> None:
    calls = [scored("a", f"c{n:03}", 1, 1.0, cost="0.9") for n in range(8)]
    calls += [scored("b", f"c{n:03}", 1, 1.0, cost="0.1") for n in range(8)]
    found = build_board(board_input(calls, config=config_with({"accuracy": 0.5, "cost": 0.5})))
    assert found.verdict.leader == "b"


def test_a_deciding_metric_where_less_is_better() -> None:
    calls = []
    for n in range(30):
        calls.append(scored("fast", f"c{n:03}", 1, 1.0, latency=100.0 + n))
        calls.append(scored("slow", f"c{n:03}", 1, 1.0, latency=300.0 + 3 * n))
    found = build_board(board_input(calls, config=config_with(deciding="latency")))
    assert (found.verdict.row, found.verdict.leader) == (4, "fast")
    assert found.verdict.pair is not None
    assert found.verdict.pair.delta is not None
    assert found.verdict.pair.delta < 0


def test_planner_says_what_it_costs() -> None:
    rows = {"a": "1 1 1 0 1 1 0 1", "b": "1 0 1 1 0 0 1 0"}
    calls = patterns({"a": rows["a"]}, cost="0.01", latency=6000.0)
    calls += patterns({"b": rows["b"]}, cost="0.03", latency=2000.0)
    found = build_board(board_input(calls, widths={"a": 2, "b": 1}))
    planner = found.verdict.planner
    assert planner is not None
    assert planner.more_cases is not None
    assert planner.cost_usd == Decimal(planner.more_cases) * Decimal("0.04")
    assert planner.minutes == pytest.approx(planner.more_cases * 3.0 / 60)
    unknown = build_board(board_input([*calls, scored("b", "c000", 2, 0.0, cost=None)])).verdict.planner
    assert unknown is not None
    assert (unknown.cost_usd, unknown.minutes) == (None, None)


def test_planner_advises_on_trials_only_where_they_were_repeated() -> None:
    once = board({"a": "1 1 1 0 1 1 0 1", "b": "1 0 1 1 0 0 1 0"}).verdict.planner
    assert once is not None
    assert once.by_trials == {}
    text = {"A": EX1["A"], "B": "010 111 101 111 111 010 000 011 111 111 010 011"}
    often = board(text, trials=3).verdict.planner
    assert often is not None
    assert often.by_trials[1] > often.by_trials[3] > often.by_trials[10]


def test_no_gap_may_never_separate() -> None:
    planner = board(EX10).verdict.planner
    assert planner is not None
    assert planner.may_never
    assert planner.more_cases is None


def test_unequal_case_weights_count() -> None:
    cases = [Case(id=f"c{n:03}", weight=2.0 if n < 10 else 1.0) for n in range(20)]
    rules = {"cost": MetricRule(target=1.0)}
    config = config_with({"accuracy": 1.0}, rules=rules)
    found = board({"a": "1 " * 20, "b": "0 " * 10 + "1 " * 10}, cases=cases, config=config)
    assert found.pairs[0].delta == pytest.approx(2 / 3)
    assert found.pairs[0].units == pytest.approx(30**2 / 50)
