"""Comparisons by a judge: one ranking with intervals, unsteadiness, agreement with a person."""

from __future__ import annotations

import pytest

from engine.domain import Cell
from engine.stats.duels import LEFT, RIGHT, SKIP, TIE, Choice
from engine.stats.judged_pairs import Pair, pair_report


def met(a: str, b: str, wins: int, losses: int, ties: int = 0, **more: int) -> list[Pair]:
    results = ["win"] * wins + ["loss"] * losses + ["tie"] * ties
    return [Pair(Cell(a, f"c{n}", 1), b, result, **more) for n, result in enumerate(results)]


EX_7 = [*met("A", "B", 14, 6), *met("A", "C", 15, 3, 2), *met("B", "C", 11, 7, 2)]


def test_the_ranking_is_bradley_terry() -> None:
    report = pair_report(EX_7)
    assert report is not None
    assert [row.model_key for row in report.result.rows] == ["A", "B", "C"]
    assert (report.result.votes, report.pairs, report.votes) == (60, 60, 60)
    first = report.result.rows[0]
    assert (first.wins, first.losses, first.ties) == (29, 9, 2)
    # The mean chance against the two others, from the strengths .740570, -.149102, -.591468.
    assert first.chance == pytest.approx((0.7088443 + 0.7912097) / 2, abs=1e-4)
    assert first.interval.low < first.chance < first.interval.high


def test_who_tells_of_a_pair_changes_nothing() -> None:
    back = {"win": "loss", "loss": "win", "tie": "tie"}
    turned = [Pair(Cell(p.rival, p.cell.case_id, 1), p.cell.model_key, back[p.result]) for p in EX_7]
    one, two = pair_report(EX_7), pair_report(turned)
    assert one is not None
    assert two is not None
    assert one.result == two.result


def test_trials_of_one_test_are_one_vote() -> None:
    trials = [Pair(Cell("A", "c0", trial), "B", "win") for trial in range(1, 21)]
    report = pair_report(trials)
    assert report is not None
    assert (report.result.votes, report.pairs) == (1, 20)
    assert report.result.code == "few_votes"


def test_trials_that_disagree_are_weighed() -> None:
    pairs = [
        Pair(Cell("A", f"c{n}", trial), "B", "win" if trial < 3 else "loss")
        for n in range(10)
        for trial in (1, 2, 3)
    ]
    report = pair_report(pairs)
    assert report is not None
    assert report.result.rows[0].chance == pytest.approx(2 / 3, abs=1e-6)


def test_a_judge_that_always_flips_ranks_nobody() -> None:
    report = pair_report([*met("A", "B", 0, 0, 20, flips=1), *met("B", "C", 0, 0, 20, flips=1)])
    assert report is not None
    assert (report.votes, report.flipped) == (40, 40)
    assert {row.chance for row in report.result.rows} == {0.5}
    assert report.result.code == "too_close"


def test_what_needed_no_judge_counts_and_is_told_apart() -> None:
    report = pair_report([*met("A", "B", 5, 0, votes=0), *met("A", "C", 3, 2)])
    assert report is not None
    assert (report.pairs, report.unasked, report.votes) == (10, 5, 5)


def test_agreement_is_counted_where_both_named_a_winner() -> None:
    pairs = met("A", "B", 2, 1, 1)

    def own(number: int, choice: str, turned: bool = False) -> Choice:
        sides = (Cell("A", f"c{number}", 1), Cell("B", f"c{number}", 1))
        return Choice(*(sides[::-1] if turned else sides), choice)

    votes = [own(0, LEFT), own(1, RIGHT, turned=True), own(2, LEFT), own(3, LEFT), own(0, TIE), own(1, SKIP)]
    report = pair_report(pairs, [*votes, own(9, LEFT)])
    assert report is not None
    assert (report.both, report.same) == (3, 2)


def test_without_comparisons_there_is_no_ranking() -> None:
    assert pair_report([]) is None
