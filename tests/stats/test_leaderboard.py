"""The board: metrics, statuses, ranks, notes, chances."""

from __future__ import annotations

import json
from dataclasses import replace
from decimal import Decimal

import pytest

from engine.config.schema import Config, Constraints, MetricRule, Statistics
from engine.domain import Case, Outcome, RunStatus, ScoreState, SkippedModel
from engine.errors import Cancelled, UserError
from engine.stats.board import Entry, EntryStatus, Leaderboard
from engine.stats.leaderboard import board_from_json, board_to_json, build_board, what_if
from tests.stats.builders import board_input, cases_named, config_with, failed, patterns, scored, stopped


def entry(board: Leaderboard, key: str) -> Entry:
    return next(item for item in board.entries if item.model_key == key)


def raw(board: Leaderboard, key: str, metric: str) -> float | None:
    return entry(board, key).metrics[metric].raw


def codes(items) -> list[str]:
    return [item.code for item in items]


def test_accuracy_is_the_weighted_mean_of_case_means() -> None:
    cases = (Case(id="c000", weight=3.0), Case(id="c001"), Case(id="c002", weight=0.0))
    calls = [scored("a", "c000", 1, 1.0), scored("a", "c000", 2, 0.0), scored("a", "c001", 1, 1.0)]
    calls += [scored("a", "c002", 1, 0.0)]
    board = build_board(board_input(calls, cases=cases, trials=2))
    assert raw(board, "a", "accuracy") == (3 * 0.5 + 1 * 1.0) / 4
    assert raw(board, "a", "pass_rate") == (3 * 0.5 + 1 * 1.0) / 4
    assert entry(board, "a").deciding_mean == 0.625


def test_an_error_is_not_a_wrong_answer() -> None:
    calls = [scored("a", f"c00{n}", 1, 1.0) for n in range(9)] + [failed("a", "c009", 1)]
    board = build_board(board_input(calls))
    row = entry(board, "a")
    assert raw(board, "a", "accuracy") == 1.0
    assert raw(board, "a", "reliability") == 0.9
    assert (row.answered, row.errors, row.coverage) == (9, 1, 0.9)
    assert {item.code: dict(item.values) for item in row.warnings}["errors"] == {
        "count": 1, "of": 10, "weighted": False
    }  # fmt: skip
    assert codes(board.notes) == ["errors_unweighted"]


def test_stopped_calls_count_neither_for_nor_against() -> None:
    calls = [scored("a", "c000", 1, 1.0), stopped("a", "c001", 1)]
    board = build_board(board_input(calls, status=RunStatus.CANCELLED))
    assert raw(board, "a", "reliability") == 1.0
    assert entry(board, "a").stopped == 1
    note = next(note for note in board.notes if note.code == "stopped_early")
    assert note.values == {"status": "cancelled", "finished": 1, "planned": 2}


def test_cost_is_unknown_as_soon_as_one_answer_has_none() -> None:
    calls = [scored("a", "c000", 1, 1.0, cost="0.002"), scored("a", "c001", 1, 1.0, cost="0.004")]
    calls += [scored("b", "c000", 1, 1.0, cost="0.002"), scored("b", "c001", 1, 0.0, cost=None)]
    config = config_with({"accuracy": 0.5, "cost": 0.5}, rules={"cost": MetricRule(target=6.0)})
    board = build_board(board_input(calls, config=config))
    a, b = entry(board, "a"), entry(board, "b")
    assert (a.cost_per_1k_usd, a.total_cost_usd, a.cost_per_correct_usd) == (3.0, Decimal("0.006"), 0.003)
    assert (b.cost_per_1k_usd, b.total_cost_usd, b.cost_per_correct_usd) == (None, None, None)
    assert a.composite == 0.75
    assert b.composite == 0.5
    assert "metric_unknown" in codes(b.warnings)
    note = next(note for note in board.notes if note.code == "cost_unknown")
    assert note.values["models"] == ["b"]


def test_free_is_known_and_is_zero() -> None:
    board = build_board(board_input([scored("a", "c000", 1, 1.0, cost="0")]))
    assert entry(board, "a").cost_per_1k_usd == 0.0
    assert entry(board, "a").total_cost_usd == 0


def test_latency_tokens_and_percentiles() -> None:
    calls = [scored("a", f"c00{n}", 1, 1.0, latency=ms) for n, ms in enumerate([400, 100, 300, 200])]
    board = build_board(board_input(calls))
    row = entry(board, "a")
    assert (row.latency_p50_ms, row.latency_p95_ms) == (250, 385)
    assert (raw(board, "a", "latency"), raw(board, "a", "tokens")) == (250, 15)
    assert (row.latency_max_ms, row.total_tokens, row.priced_calls) == (400, 60, 4)
    assert row.first_token_p50_ms is None
    unknown = build_board(board_input([scored("a", "c000", 1, 1.0, tokens=(None, 5))]))
    assert raw(unknown, "a", "tokens") is None


def test_custom_metrics_are_means_with_their_direction() -> None:
    calls = [scored("a", "c000", 1, 1.0, metrics={"abs_error": 2.0, "flag": True, "cost": 9.0})]
    calls += [scored("a", "c001", 1, 1.0, metrics={"abs_error": 4.0, "odd": float("nan")})]
    calls += [scored("b", f"c00{n}", 1, 1.0, metrics={"abs_error": 1.0}) for n in range(2)]
    board = build_board(board_input(calls, config=config_with({"abs_error": 1.0})))
    assert raw(board, "a", "abs_error") == 3.0
    assert raw(board, "a", "cost") == 1.0
    assert "flag" not in entry(board, "a").metrics
    assert "odd" not in entry(board, "a").metrics
    assert board.winner == "b"


def test_what_is_not_marked_is_left_out() -> None:
    calls = [scored("a", "c000", 1, 1.0), scored("a", "c001", 1, None)]
    calls += [scored("a", "c002", 1, None, state=ScoreState.ERRORED)]
    board = build_board(board_input(calls))
    row = entry(board, "a")
    assert raw(board, "a", "accuracy") == 1.0
    assert (row.scored_cases, row.passed_cases, row.score_errors) == (1, 1, 1)
    assert {"score_errors", "unscored"} <= set(codes(row.warnings))
    assert {"score_errors", "unscored"} <= set(codes(board.notes))


def test_outcomes_are_counted() -> None:
    calls = [
        scored("a", "c000", 1, 0.0, outcome=Outcome.EMPTY),
        scored("a", "c001", 1, 0.0, outcome=Outcome.REFUSED),
        scored("a", "c002", 1, 1.0, outcome=Outcome.LENGTH),
    ]
    row = entry(build_board(board_input(calls)), "a")
    assert (row.empty, row.refused, row.cut_off) == (1, 1, 1)
    assert raw(build_board(board_input(calls)), "a", "accuracy") == pytest.approx(1 / 3)


def test_tags_are_weighted_too() -> None:
    cases = (Case(id="c000", weight=3.0, tags=("x",)), Case(id="c001", tags=("x", "y")))
    calls = [scored("a", "c000", 1, 1.0), scored("a", "c001", 1, 0.0)]
    row = entry(build_board(board_input(calls, cases=cases)), "a")
    assert row.by_tag == {"x": 0.75, "y": 0.0}


def test_disqualified_models_never_move_a_range() -> None:
    calls = []
    for key, cost, score in (("a", "0.001", 1.0), ("b", "0.003", 1.0), ("bad", "0.9", 0.0)):
        calls += [scored(key, f"c00{n}", 1, score, cost=cost) for n in range(4)]
    config = config_with({"accuracy": 0.5, "cost": 0.5})
    config = replace(config, constraints=Constraints(min_accuracy=0.5))
    board = build_board(board_input(calls, config=config))
    assert [(e.model_key, e.status, e.rank) for e in board.entries] == [
        ("a", EntryStatus.RANKED, 1),
        ("b", EntryStatus.RANKED, 2),
        ("bad", EntryStatus.FAILED, None),
    ]
    assert entry(board, "b").metrics["cost"].normalized == 0.0
    (reason,) = entry(board, "bad").failures
    assert (reason.code, reason.values["measured"], reason.values["required"]) == ("gate_accuracy", 0.0, 0.5)


def test_single_model_and_tie_field_score_1_in_min_max() -> None:
    config = config_with({"cost": 1.0})
    alone = build_board(board_input([scored("a", "c000", 1, 1.0)], config=config))
    assert entry(alone, "a").composite == 1.0
    tie = [scored(key, "c000", 1, 1.0) for key in "ab"]
    assert [e.composite for e in build_board(board_input(tie, config=config)).entries] == [1.0, 1.0]


def test_few_lucky_answers_do_not_beat_many() -> None:
    """2 of 2 answered must not beat 9 of 10."""
    calls = [scored("few", f"c00{n}", 1, 1.0) for n in range(2)]
    calls += [failed("few", f"c00{n}", 1) for n in range(2, 10)]
    calls += [scored("many", f"c00{n}", 1, float(n > 0)) for n in range(10)]
    board = build_board(board_input(calls))
    assert [(e.model_key, e.status, e.rank) for e in board.entries] == [
        ("many", EntryStatus.RANKED, 1),
        ("few", EntryStatus.INCOMPLETE, None),
    ]
    assert board.winner == "many"
    assert board.verdict.code == "only_one"
    warning = entry(board, "few").warnings[0]
    assert (warning.code, warning.values["answered"], warning.values["planned"]) == ("incomplete", 2, 10)
    assert "incomplete" in codes(board.notes)


def test_while_a_run_goes_on_coverage_is_of_the_cases_asked_so_far() -> None:
    calls = [scored(key, f"c00{n}", 1, 1.0) for key in ("a", "b") for n in range(3)]
    calls += [scored("late", "c000", 1, 1.0)]
    data = board_input(calls, cases=cases_named(10), status=RunStatus.RUNNING)
    board = build_board(data)
    statuses = {e.model_key: e.status for e in board.entries}
    assert statuses == {"a": EntryStatus.RANKED, "b": EntryStatus.RANKED, "late": EntryStatus.INCOMPLETE}
    assert board.verdict.so_far
    assert entry(board, "a").coverage == 0.3
    done = build_board(replace(data, status=RunStatus.CANCELLED))
    assert {e.status for e in done.entries} == {EntryStatus.INCOMPLETE}
    assert done.verdict.code == "none_ranked"
    assert not done.verdict.so_far


def test_a_skipped_model_stays_with_its_reason_as_only_failure() -> None:
    skipped = (SkippedModel("b", "no_key", "No key is stored for OpenAI.", "Add the key."),)
    constraints = Constraints(min_accuracy=0.5, privacy_required=("dpa",), allow_unknown_card=True)
    config = replace(Config(), constraints=constraints)
    board = build_board(
        board_input([scored("a", "c000", 1, 1.0)], models=["a", "b"], skipped=skipped, config=config)
    )
    row = entry(board, "b")
    assert (row.status, row.rank, row.composite) == (EntryStatus.NO_DATA, None, None)
    assert codes(row.failures) == ["no_key"]
    assert row.failures[0].values["reason"] == "No key is stored for OpenAI."
    assert row.planned == 0
    assert board.planned == 1


def test_every_call_failed_quotes_the_first_error() -> None:
    calls = [failed("a", "c001", 1, kind="timeout", status=None), failed("a", "c000", 1)]
    board = build_board(board_input(calls))
    (reason,) = entry(board, "a").failures
    assert (reason.code, reason.values["kind"], reason.values["status"]) == ("every_call_failed", "auth", 401)
    assert entry(board, "a").status is EntryStatus.NO_DATA


def test_only_one_ranked_among_ruled_out_is_no_comparison() -> None:
    calls = [scored("a", "c000", 1, 1.0), scored("b", "c000", 1, 0.0)]
    config = replace(Config(), constraints=Constraints(min_accuracy=0.5))
    board = build_board(board_input(calls, config=config))
    note = next(note for note in board.notes if note.code == "only_one_ranked")
    assert note.values == {"model": "a", "failed": ["b"]}


def test_waits_are_told() -> None:
    board = build_board(board_input([scored("a", "c000", 1, 1.0)], waits={"openai": 12.5, "other": 0.2}))
    assert [(n.code, dict(n.values)) for n in board.notes] == [
        ("waited", {"lane": "openai", "seconds": 12.5})
    ]


def test_min_max_metrics_are_named_as_relative() -> None:
    calls = [scored(key, "c000", 1, 1.0) for key in "ab"]
    board = build_board(board_input(calls, config=config_with({"accuracy": 0.5, "cost": 0.5})))
    assert board.relative == ("cost",)
    assert "relative_scores" in codes(board.notes)


def test_chance_first_and_composite_interval() -> None:
    rows = {"a": "1 " * 30 + "0 " * 10, "b": "1 " * 20 + "0 " * 20}
    board = build_board(board_input(patterns(rows)))
    a, b = entry(board, "a"), entry(board, "b")
    assert a.chance_first is not None
    assert b.chance_first is not None
    assert a.chance_first + b.chance_first == pytest.approx(1.0)
    assert a.chance_first > 0.99
    assert a.composite_interval is not None
    assert a.composite_interval.low == pytest.approx(0.75 - 1.96 * (0.75 * 0.25 / 40) ** 0.5, abs=0.03)
    assert a.composite_interval.low < 0.75 < a.composite_interval.high


def test_equal_models_share_the_chance() -> None:
    board = build_board(board_input(patterns({"a": "1 0 1 1 0 1", "b": "1 0 1 1 0 1"})))
    assert [e.chance_first for e in board.entries] == [0.5, 0.5]
    assert [e.rank for e in board.entries] == [1, 1]


def test_the_composite_of_the_board_is_that_of_the_undrawn_cases() -> None:
    """With a single unit every draw is the run itself: interval and composite coincide."""
    cases = tuple(Case(id=f"c00{n}", group="one") for n in range(4))
    calls = []
    for key, cost, base in (("a", "0.001", 300.0), ("b", "0.004", 100.0), ("c", "0.002", 150.0)):
        calls += [scored(key, f"c00{n}", 1, float(n % 2), cost=cost, latency=base + 50 * n) for n in range(4)]
    weights = {"accuracy": 0.4, "cost": 0.2, "latency": 0.2, "latency_p95": 0.2}
    rules = {"latency": MetricRule(target=1000.0)}
    board = build_board(board_input(calls, cases=cases, config=config_with(weights, rules=rules)))
    for row in board.entries:
        assert row.composite_interval is not None
        assert row.composite_interval.low == pytest.approx(row.composite)
        assert row.composite_interval.high == pytest.approx(row.composite)


def test_statistics_can_be_turned_off() -> None:
    config = replace(Config(), statistics=Statistics(enabled=False))
    board = build_board(board_input(patterns({"a": "1 1", "b": "0 1"}), config=config))
    assert [e.chance_first for e in board.entries] == [None, None]
    assert "statistics_off" in codes(board.notes)


def test_the_seed_repeats_the_numbers() -> None:
    calls = patterns({"a": "1 0 1 1 0 1 1", "b": "0 1 1 1 0 0 1"})
    one, two = (build_board(board_input(calls)) for _ in range(2))
    other = build_board(board_input(calls, config=replace(Config(), statistics=Statistics(seed=5))))
    assert one == two
    assert other.entries[0].chance_first != one.entries[0].chance_first


def test_it_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        build_board(board_input(patterns({"a": "1 0"})), should_stop=lambda: True)


def test_stopping_is_noticed_at_every_stage() -> None:
    calls = patterns({"a": "1 " * 40, "b": "0 " * 40})
    asked = 0

    def count() -> bool:
        nonlocal asked
        asked += 1
        return False

    build_board(board_input(calls), should_stop=count)
    assert asked >= 3
    for last in range(1, asked + 1):
        left = iter([False] * (last - 1))
        with pytest.raises(Cancelled):
            build_board(board_input(calls), should_stop=lambda left=left: next(left, True))


def test_json_round_trip() -> None:
    calls = patterns({"a": "101 111 010 111 000 111", "b": "000 111 101 111 000 001"})
    calls += [failed("c", "c000", 1), scored("d", "c000", 1, 1.0, cost=None)]
    config = config_with({"accuracy": 0.6, "cost": 0.4})
    skipped = (SkippedModel("e", "no_key", "No key.", "Add it."),)
    keys = list("abcde")
    board = build_board(
        board_input(
            calls,
            config=config,
            trials=3,
            models=keys,
            skipped=skipped,
            waits={"x": 3.0},
            widths=dict.fromkeys(keys, 2),
            cases=cases_named(6, tags=("t",)),
        )
    )
    text = json.dumps(board_to_json(board), allow_nan=False)
    assert board_from_json(json.loads(text)) == board


def test_an_unreadable_board_says_so() -> None:
    board = board_to_json(build_board(board_input(patterns({"a": "1"}))))
    with pytest.raises(UserError, match="format"):
        board_from_json({**board, "format": 99})
    with pytest.raises(UserError, match="damaged"):
        board_from_json({**board, "entries": [{"model_key": "a"}]})


def test_what_if_is_the_same_function_under_other_weights() -> None:
    calls = [scored("good", f"c00{n}", 1, 1.0, cost="0.01") for n in range(5)]
    calls += [scored("cheap", f"c00{n}", 1, float(n > 1), cost="0.001") for n in range(5)]
    data = board_input(calls, config=config_with({"accuracy": 0.9, "cost": 0.1}))
    assert build_board(data).winner == "good"
    assert what_if(data, {"accuracy": 0.1, "cost": 0.9}).winner == "cheap"


def test_without_an_answer_there_is_no_zero() -> None:
    calls = [failed("a", "c000", 1), scored("b", "c000", 1, 1.0)]
    board = build_board(board_input(calls, config=config_with({"accuracy": 0.5, "reliability": 0.5})))
    row = entry(board, "a")
    assert (row.status, row.composite, row.errors) == (EntryStatus.NO_DATA, None, 1)
    assert {term.raw for term in row.metrics.values()} == {None}


def test_a_deciding_metric_that_nothing_measures_is_told() -> None:
    board = build_board(board_input([scored("a", "c000", 1, 1.0)], config=config_with(deciding="style")))
    assert board.verdict.code == "nothing_scored"
    assert [(n.code, dict(n.values)) for n in board.notes] == [("deciding_unmeasured", {"metric": "style"})]


def test_cases_on_which_the_headline_pair_differs() -> None:
    rows = {"a": "1 1 1 0 11 01", "b": "1 0 1 1 01 01"}
    board = build_board(board_input(patterns(rows), trials=2))
    assert board.differing_cases == ("c001", "c003", "c004")
    (pair,) = board.pairs
    assert (pair.higher, pair.lower, pair.cases) == (2, 1, 6)


def test_numbers_that_are_not_finite_are_not_measured() -> None:
    calls = [scored("a", "c000", 1, 1.0, cost="NaN", latency=float("inf"))]
    row = entry(build_board(board_input(calls)), "a")
    assert (row.cost_per_1k_usd, row.total_cost_usd, row.latency_p95_ms) == (None, None, None)


def test_calls_of_other_models_and_cases_are_left_out() -> None:
    calls = [scored("a", "c000", 1, 1.0), scored("gone", "c000", 1, 0.0), scored("a", "old", 1, 0.0)]
    board = build_board(board_input(calls, models=["a"], cases=cases_named(1)))
    assert [e.model_key for e in board.entries] == ["a"]
    assert raw(board, "a", "accuracy") == 1.0
    assert board.finished == 1


def test_no_models_and_no_cases_is_an_empty_board() -> None:
    board = build_board(board_input([]))
    assert (board.entries, board.winner, board.verdict.code) == ((), None, "none_ranked")


def test_time_to_the_first_word_is_of_the_streamed_answers() -> None:
    calls = [scored("a", f"c00{n}", 1, 1.0) for n in range(3)]
    for number, first in ((0, 20.0), (1, 40.0)):
        answer = calls[number].answer
        assert answer is not None
        calls[number] = replace(calls[number], answer=replace(answer, first_token_ms=first))
    assert entry(build_board(board_input(calls)), "a").first_token_p50_ms == 30.0


def test_throttles_are_counted_as_signals_and_as_calls() -> None:
    calls = [replace(scored("a", f"c00{n}", 1, 1.0), throttled=n) for n in range(3)]
    row = entry(build_board(board_input(calls)), "a")
    assert row.throttled == 3
    assert [dict(w.values) for w in row.warnings if w.code == "throttled"] == [{"count": 2, "of": 3}]


@pytest.mark.parametrize("huge", [1.7e308, 1e200, -1.7e308])
@pytest.mark.parametrize("other", [-1.7e308, 5e-324, 1.0])
@pytest.mark.parametrize("deciding", ["own", "accuracy"])
def test_a_measure_beyond_all_reckoning_costs_no_board(huge: float, other: float, deciding: str) -> None:
    """As an answer of two hundred nines gives, or a scorer of the project's own."""
    calls = []
    for number in range(6):
        calls.append(scored("a", f"c{number}", 1, 1.0, metrics={"own": huge}, latency=1e308))
        calls.append(scored("b", f"c{number}", 1, float(number % 2), metrics={"own": other}, latency=5e-324))
    config = config_with({deciding: 2.0, "own": 2.0, "latency": 1.0})
    board = build_board(board_input(calls, config=config))
    assert json.loads(json.dumps(board_to_json(board), allow_nan=False))
    assert {item.rank for item in board.entries} <= {1, 2}
    best = max(board.entries, key=lambda item: item.metrics["own"].raw or 0.0)
    assert huge == other or (best.model_key == "a") == (huge > other)
    assert best.metrics["own"].normalized == 1.0
