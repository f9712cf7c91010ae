"""The verdict in words: the model it compares with, and whole points that round as people expect."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from arena_desktop.wording import formats
from arena_desktop.wording.board import chart_sentence, strong_pieces, why_lines
from arena_desktop.wording.compare import change_spoken
from arena_desktop.wording.gaps import gap_range
from arena_desktop.wording.recommendation import recommendation
from arena_desktop.wording.run_start import left_out_reason
from arena_desktop.wording.verdict import facts, verdict_words
from arena_desktop.wording.verdict_rows import planner_sentence, verdict_sentence
from engine.stats.board import Entry, EntryStatus, Interval, Leaderboard, PairResult, Planner, Reason, Verdict
from engine.stats.compare import ModelChange, SideFigures
from engine.stats.leaderboard import build_board
from tests.stats.builders import board_input, config_with, scored


def entry(key: str, rank: int, passed: int, scored: int) -> Entry:
    return Entry(
        model_key=key,
        label=key.title(),
        status=EntryStatus.RANKED,
        rank=rank,
        passed_cases=passed,
        scored_cases=scored,
    )


def board(*entries: Entry, rival: str) -> Leaderboard:
    first = entries[0].model_key
    verdict = Verdict(row=4, code="better", leader=first, a=first, b=rival)
    return Leaderboard(entries=entries, verdict=verdict, winner=first)


def test_the_rival_is_counted_on_the_tests_it_answered_and_explained() -> None:
    said = recommendation(
        board(entry("aster", 1, 39, 40), entry("birch", 2, 29, 40), entry("dune", 3, 27, 37), rival="dune")
    )
    assert said.startswith("Aster passed 39 of your 40 tests.")
    assert "Of the others Dune was right most often: it passed 27 of the 37 tests it answered." in said


def test_the_second_place_needs_no_explanation() -> None:
    said = recommendation(board(entry("aster", 1, 39, 40), entry("birch", 2, 29, 40), rival="birch"))
    assert "Birch passed 29." in said


def test_as_many_is_no_difference() -> None:
    tied = board(entry("aster", 1, 11, 20), entry("birch", 2, 11, 20), rival="birch")
    unknown = dict.fromkeys(("se", "t", "df", "p", "p_holm", "flip", "ci95", "ci90"))
    pair = PairResult("aster", "birch", 0.0, **unknown, units=20, differing=8, row=7, unit_count=20)
    said = recommendation(replace(tied, verdict=replace(tied.verdict, row=7, code="too_close", pair=pair)))
    assert "Birch passed as many. With 20 tests they cannot be told apart." in said


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.725, "73"), (0.975, "98"), (0.7249, "72"), (-0.085, "-9"), (0.0, "0"), (-0.001, "0")],
)
def test_a_half_counts_up(share: float, words: str) -> None:
    assert formats.points(share) == words


def test_a_missing_key_is_called_a_key() -> None:
    assert left_out_reason([("no_key", "The variable A_KEY is not set.")]) == "It has no access key."
    assert left_out_reason([("no_key", "a"), ("no_key", "b")]) == "They have no access key."
    assert left_out_reason([("not_reachable", "Nothing answered.")]) == "Nothing answered."
    assert left_out_reason([("no_key", "a"), ("not_reachable", "b")]) == ""


def test_one_model_alone_is_not_recommended_over_others() -> None:
    alone = entry("aster", 1, 2, 3)
    found = Leaderboard(
        entries=(alone,), verdict=Verdict(row=None, code="only_one", leader="aster"), winner="aster"
    )
    said = verdict_words(found)
    assert said.headline == "Only Aster could be ranked."
    assert said.lead == "There is nothing to compare it with. Aster passed 2 of your 3 tests."


def test_all_ruled_out_says_why_and_says_it_once() -> None:
    out = replace(
        entry("aster", 1, 4, 10),
        status=EntryStatus.FAILED,
        rank=None,
        composite=0.4,
        failures=(Reason("gate_accuracy", {"measured": 0.4, "required": 0.95}),),
    )
    found = Leaderboard(entries=(out,), verdict=Verdict(row=None, code="none_ranked"), winner=None)
    said = verdict_words(found)
    assert said.headline == "No model can be recommended."
    assert said.lead.startswith("Aster: ")
    assert said.headline not in said.lead
    assert said.sentence.startswith("No model can be recommended. Aster: ")
    assert chart_sentence(found) == "All models with a score are ruled out."
    few = replace(out, status=EntryStatus.INCOMPLETE, failures=())
    assert chart_sentence(replace(found, entries=(few,))) == "No model has answered enough tests for a place."


def test_many_without_a_place_are_counted() -> None:
    def without(key: str, status: EntryStatus) -> Entry:
        return replace(entry(key, 1, 4, 10), status=status, rank=None, failures=(Reason("incomplete", {}),))

    kinds = [EntryStatus.INCOMPLETE, EntryStatus.INCOMPLETE, EntryStatus.FAILED, EntryStatus.NO_DATA]
    rows = tuple(without(f"m{number}", kind) for number, kind in enumerate(kinds))
    found = Leaderboard(entries=rows, verdict=Verdict(row=None, code="none_ranked"), winner=None)
    assert verdict_words(found).lead == "2 answered too few tests. 1 breaks a must-have. 1 has no result."


def test_a_very_short_wait_is_not_called_nothing() -> None:
    assert formats.waiting(0.4) == "under 0.01 s"
    assert formats.waiting(20) == "0.02 s"


@pytest.mark.parametrize(
    ("cost", "minutes", "said"),
    [
        ("0.40", 6.0, "About 40 more tests would settle it, about $0.40, about 6 minutes."),
        ("0", 0.2, "About 40 more tests would settle it, for free, less than a minute."),
        (None, 90.0, "About 40 more tests would settle it, about 1 hour 30 minutes."),
        ("3", None, "About 40 more tests would settle it, about $3.00."),
    ],
)
def test_more_tests_come_with_their_price_and_their_time(
    cost: str | None, minutes: float | None, said: str
) -> None:
    planner = Planner(40, 90, cost_usd=None if cost is None else Decimal(cost), minutes=minutes)
    assert planner_sentence(planner) == said
    whole = board(entry("aster", 1, 11, 20), entry("birch", 2, 11, 20), rival="birch")
    planned = replace(whole, verdict=replace(whole.verdict, row=7, planner=planner))
    (fact,) = facts(planned)
    assert f"{fact.figure} {fact.meaning.replace('the first two', 'it')}." == said


@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        (7.2, 0.0, "It costs $0.72 for 100 answers; Birch is free."),
        (0.0, 7.2, "It is free; Birch costs $0.72 for 100 answers."),
        (49.0, 10.0, "It costs 4.9 times as much as Birch: $4.90 for 100 answers instead of $1.00."),
        (10.0, 49.0, "It costs less than Birch: $1.00 for 100 answers instead of $4.90."),
    ],
)
def test_what_the_choice_costs_is_said_with_figures(mine: float, theirs: float, said: str) -> None:
    one = replace(entry("aster", 1, 39, 40), cost_per_1k_usd=mine)
    other = replace(entry("birch", 2, 29, 40), cost_per_1k_usd=theirs)
    assert recommendation(board(one, other, rival="birch")).endswith(said)


def test_fewer_tests_than_there_are_are_not_called_yours() -> None:
    whole = board(entry("aster", 1, 1_139, 1_140), entry("birch", 2, 29, 1_140), rival="birch")
    assert recommendation(replace(whole, cases=1_140)).startswith("Aster passed 1139 of your 1140 tests.")
    part = replace(whole, cases=2_000)
    assert recommendation(part).startswith("Aster passed 1139 of the 1140 tests that are marked.")
    assert strong_pieces(part) == ("1139 of the 1140 tests that are marked",)


def by_speed(*, outside: bool) -> Leaderboard:
    """Aster is faster on every one of 30 tests, Birch is right more often."""
    calls = []
    for number in range(30):
        wobble = number % 3 * 10.0
        calls.append(scored("aster", f"c{number:02}", 1, float(number < 5), latency=200.0 + wobble))
        calls.append(scored("birch", f"c{number:02}", 1, 1.0, latency=900.0))
    weights = {"accuracy": 1.0} if outside else {"latency": 1.0}
    return build_board(board_input(calls, config=config_with(weights, deciding="latency")))


def test_a_gap_in_seconds_is_told_in_seconds() -> None:
    made = by_speed(outside=False)
    assert made.verdict.row == 4
    assert verdict_sentence(made) == "ASTER is better on your tests: about 0.7 s."
    assert "On “Speed” the difference is about 0.7 s." in recommendation(made)


def test_the_one_that_decides_is_not_said_to_be_right_where_speed_decides() -> None:
    made = by_speed(outside=True)
    assert made.winner == "birch"
    said = recommendation(made)
    gap = "about 0.7 s"
    assert f"By your weights BIRCH comes first, although ASTER is better on “Speed”: {gap}." in said
    assert "right" not in said


@pytest.mark.parametrize(("deciding", "told"), [("accuracy", True), ("latency", False)])
def test_a_change_is_told_in_points_only_where_it_is_in_points(deciding: str, told: bool) -> None:
    unknown = dict.fromkeys(("se", "t", "df", "p", "p_holm", "flip", "ci90"))
    pair = PairResult(
        "after", "before", 0.2, **unknown, ci95=Interval(0.1, 0.3), units=20, differing=8, row=4
    )
    side = SideFigures(0.5, 20, 10, None)
    said = change_spoken(ModelChange("m", side, side, pair, ("a",), ()), deciding)
    assert ("between 10 and 30 points" in said) is told


@pytest.mark.parametrize(
    ("metric", "ends", "said"),
    [
        ("accuracy", (0.28, 0.04, 0.51), "about 28 points (4 to 51)"),
        ("latency", (-700.0, -900.0, -500.0), "about 0.7 s (0.5 s to 0.9 s)"),
        ("cost", (-5.0, -8.0, -2.0), "about $0.50 per 100 answers ($0.20 to $0.80)"),
        ("tone", (0.5, 0.25, 0.75), "about 0.5 (0.25 to 0.75)"),
    ],
)
def test_a_gap_has_the_unit_of_its_metric(metric: str, ends: tuple[float, float, float], said: str) -> None:
    unknown = dict.fromkeys(("se", "t", "df", "p", "p_holm", "flip", "ci90"))
    delta, low, high = ends
    pair = PairResult("a", "b", delta, **unknown, ci95=Interval(low, high), units=20, differing=8, row=4)
    assert gap_range(pair, metric) == said


def test_values_that_read_alike_are_no_strength() -> None:
    calls = [
        scored(key, f"c{number}", 1, 1.0, latency=wait)
        for key, wait in (("a", 801.0), ("b", 812.0))
        for number in range(8)
    ]
    made = build_board(board_input(calls, config=config_with({"latency": 1.0}, deciding="latency")))
    assert why_lines(made) == [("caution", "On what was measured it reads the same as the others.")]


def test_models_that_never_differ_are_not_said_to_differ_on_only_none() -> None:
    calls = [scored(key, f"c{number}", 1, 1.0) for key in "ab" for number in range(8)]
    assert verdict_sentence(build_board(board_input(calls))).startswith(
        "Not enough tests to tell: they differed on none of 8."
    )
