"""A person's own marks: what they say about the judge, and the results under them."""

from __future__ import annotations

import pytest

from engine.domain import CallStatus, Cell, ScoreState
from engine.stats.leaderboard import build_board
from engine.stats.own_marks import OwnView, rater_report, with_own_marks
from tests.stats.builders import board_input, failed, scored


def rated(*groups: tuple[int, bool, bool | None]) -> tuple[dict[Cell, bool], dict[Cell, OwnView]]:
    """Answers in groups of (how many, rater passed, person passed or None)."""
    judge: dict[Cell, bool] = {}
    own: dict[Cell, OwnView] = {}
    for count, passed, mine in groups:
        for _ in range(count):
            cell = Cell("a" if len(judge) % 2 else "b", f"c{len(judge)}", 1)
            judge[cell] = passed
            if mine is not None:
                own[cell] = OwnView(mine)
    return judge, own


def test_agreement_is_over_what_both_marked() -> None:
    report = rater_report(*rated((20, True, True), (5, True, False), (10, False, False), (15, False, True)))
    assert report.both == 50
    assert report.agreement is not None
    assert report.agreement.share == pytest.approx(0.6)
    assert report.agreement.kappa == pytest.approx(0.2)
    assert (report.too_kind, report.too_strict) == (5, 15)


def test_the_rate_is_put_right_by_the_marks() -> None:
    judge, own = rated((45, True, True), (10, True, False), (5, False, True), (40, False, False))
    more, _ = rated(*[(40, True, None), (60, False, None)])
    unmarked = {Cell("a", f"more{n}", 1): passed for n, passed in enumerate(more.values())}
    report = rater_report(judge | unmarked, own)
    assert (report.passed, report.rated, report.observed) == (95, 200, 0.475)
    assert report.corrected is not None
    assert report.corrected.sensitivity == pytest.approx(0.9)
    assert report.corrected.specificity == pytest.approx(0.8)
    assert report.corrected.rate == pytest.approx((0.475 + 0.8 - 1) / 0.7)
    assert report.corrected.interval.low < report.corrected.rate < report.corrected.interval.high


def test_too_few_marks_correct_nothing() -> None:
    report = rater_report(*rated((5, True, True), (4, False, False), (50, True, None)))
    assert report.agreement is not None
    assert report.corrected is None
    assert all(model.corrected is None for model in report.models)


def test_without_marks_nothing_is_claimed() -> None:
    report = rater_report(*rated((5, True, None)))
    assert (report.agreement, report.both, report.corrected) == (None, 0, None)
    assert rater_report({}, {}).observed is None


def test_marks_on_answers_that_the_rater_left_out_are_counted_apart() -> None:
    report = rater_report({Cell("a", "c0", 1): True}, {Cell("a", "c1", 1): OwnView(True)})
    assert (report.both, report.waiting) == (0, 1)


def test_each_model_has_its_own_rate() -> None:
    judge, own = rated((30, True, True), (30, False, False))
    report = rater_report(judge, own)
    assert {model.model_key: (model.passed, model.rated) for model in report.models} == {
        "a": (15, 30),
        "b": (15, 30),
    }
    assert all(model.corrected is not None for model in report.models)


def test_own_marks_take_the_place_of_the_checks() -> None:
    calls = [scored("a", "c0", 1, 0.0), scored("a", "c1", 1, 1.0), scored("a", "c2", 1, None)]
    own = {
        Cell("a", "c0", 1): OwnView(True),
        Cell("a", "c1", 1): OwnView(False, 0.25),
        Cell("a", "c2", 1): OwnView(True, 0.75),
    }
    seen = list(with_own_marks(calls, own))
    marks = [(call.score.score, call.score.passed) for call in seen if call.score]
    assert marks == [(1.0, True), (0.25, False), (0.75, True)]
    assert seen[2].score is not None
    assert seen[2].score.state is ScoreState.SCORED


def test_a_board_under_own_marks_can_have_another_winner() -> None:
    calls = [scored(model, f"c{n}", 1, float(model == "a")) for model in "ab" for n in range(4)]
    own = {call.cell: OwnView(call.cell.model_key == "b") for call in calls}
    assert build_board(board_input(calls)).winner == "a"
    assert build_board(board_input(list(with_own_marks(calls, own)))).winner == "b"


def test_a_failure_is_not_marked() -> None:
    call = failed("a", "c0", 1)
    (seen,) = with_own_marks([call], {call.cell: OwnView(True)})
    assert seen == call
    assert seen.status is CallStatus.ERROR
