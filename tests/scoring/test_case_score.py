"""How several checks become one mark, and what outcomes of a call mean for it."""

from __future__ import annotations

import pytest

from engine.domain import Answer, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring import ScoringContext, combine, final_outcome, score_case, visible_answer, with_mark

OK = ScoreState.SCORED


def _result(
    score: float | None,
    *,
    weight: float = 1.0,
    must: bool = False,
    state: ScoreState = OK,
    passed: bool | None = None,
) -> CheckResult:
    if score is not None and passed is None:
        passed = score >= 0.5
    return CheckResult("t", state, score, passed, f"because {score}", weight=weight, must_pass=must)


def test_the_weighted_mean() -> None:
    score = combine([_result(1.0, weight=3), _result(0.0)])
    assert (score.score, score.passed, score.state) == (0.75, True, OK)
    assert combine([_result(1.0), _result(0.0, weight=3)]).passed is False


def test_one_check_keeps_its_own_pass() -> None:
    assert combine([_result(0.7, passed=False)]).passed is False
    assert combine([_result(0.3, passed=True)]).passed is True


def test_a_must_pass_check_gates_whatever_else_holds() -> None:
    score = combine([_result(1.0, weight=9), _result(0.4, must=True)])
    assert (score.score, score.passed, score.reason) == (0.0, False, "because 0.4")
    assert combine([_result(1.0), _result(1.0, must=True)]).score == 1.0
    errored = _result(None, state=ScoreState.ERRORED)
    assert combine([errored, _result(0.0, must=True)]).score == 0.0


def test_an_errored_check_that_counts_makes_the_case_errored() -> None:
    errored = _result(None, state=ScoreState.ERRORED)
    assert combine([_result(1.0), errored]).state is ScoreState.ERRORED
    assert combine([_result(1.0), errored]).score is None
    light = _result(None, state=ScoreState.ERRORED, weight=0)
    assert combine([_result(1.0), light]).score == 1.0
    gate = _result(None, state=ScoreState.ERRORED, weight=0, must=True)
    assert combine([_result(1.0), gate]).state is ScoreState.ERRORED


def test_a_check_nobody_has_marked_is_left_out() -> None:
    waiting = _result(None, state=ScoreState.UNSCORED)
    assert combine([_result(1.0), waiting]).score == 1.0
    assert combine([waiting]).state is ScoreState.UNSCORED
    gate = _result(None, state=ScoreState.UNSCORED, must=True)
    assert combine([_result(1.0), gate]).state is ScoreState.UNSCORED


def test_weights_of_nothing_count_alike() -> None:
    assert combine([_result(1.0, weight=0), _result(0.0, weight=0)]).score == 0.5


def test_a_case_without_checks_is_unscored() -> None:
    assert combine([]).state is ScoreState.UNSCORED


def test_a_persons_mark_counts_like_any_other() -> None:
    score = combine([_result(1.0), _result(None, state=ScoreState.UNSCORED)])
    marked = with_mark(score, 1, 0.0, "Too rude")
    assert (marked.score, marked.checks[1].reason) == (0.5, "Too rude")
    with pytest.raises(ValueError, match="within 0"):
        with_mark(score, 1, 1.5)


CHECKS = (
    CheckSpec("contains", reference="x"),
    CheckSpec("contains", reference="x", negate=True),
    CheckSpec("manual"),
)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (Answer("", Outcome.EMPTY), "no_answer"),
        (Answer(" \n", Outcome.COMPLETE), "no_answer"),
        (Answer("<think>x</think>", Outcome.COMPLETE), "only_reasoning"),
        (Answer("<think>x", Outcome.LENGTH), "only_reasoning"),
        (Answer("", Outcome.EMPTY, reasoning="x"), "only_reasoning"),
        (Answer("I cannot help with x", Outcome.REFUSED), "refused"),
    ],
)
def test_no_answer_is_marked_zero_by_every_check(answer: Answer, code: str) -> None:
    score = score_case(Case(id="c", checks=CHECKS), answer, ScoringContext())
    assert (score.state, score.score, score.passed) == (OK, 0.0, False)
    assert {result.reason_code for result in score.checks} == {code}


@pytest.mark.parametrize("outcome", [Outcome.BLOCKED, Outcome.FAILED, Outcome.STOPPED])
def test_without_an_answer_there_is_no_mark(outcome: Outcome) -> None:
    score = score_case(Case(id="c", checks=CHECKS), Answer("x", outcome), ScoringContext())
    assert (score.state, score.score, score.checks) == (ScoreState.UNSCORED, None, ())


def test_a_cut_off_answer_is_marked_and_flagged() -> None:
    case = Case(id="c", checks=(CheckSpec("contains", reference="x"),))
    score = score_case(case, Answer("x and more", Outcome.LENGTH), ScoringContext())
    assert score.passed
    assert score.checks[0].detail["cut_off"] is True
    assert score.reason.endswith("The answer was cut off.")


@pytest.mark.parametrize(
    ("text", "visible"),
    [
        ("<think>a</think>b", "b"),
        ("\n <think>\na\n</think>\n\nb", "b"),
        ("<THINK>a</THINK><think>b</think>c", "c"),
        ("<thinking>a</thinking>b", "b"),
        ("<think>never ends", ""),
        ("some reasoning\n</think>\nLisbon", "Lisbon"),
        ("The tag </think> ends it", "The tag </think> ends it"),
        ("b <think>a</think>", "b <think>a</think>"),
        ("  plain ", "  plain "),
        ("<thinker>a", "<thinker>a"),
    ],
)
def test_reasoning_at_the_start_is_not_the_answer(text: str, visible: str) -> None:
    assert visible_answer(text) == visible
    assert visible_answer(text, keep_reasoning=True) == text


@pytest.mark.parametrize(("said", "kept"), [(True, Outcome.COMPLETE), (False, Outcome.EMPTY)])
def test_the_outcome_and_the_mark_read_the_same_option_of_the_project(said: bool, kept: Outcome) -> None:
    options = {"contains": {"keep_reasoning": said}}
    case = Case(id="a", reference="Paris", checks=(CheckSpec("contains"),))
    answer = Answer("<think>Paris</think>", Outcome.COMPLETE)
    assert final_outcome(answer, case.checks, options) is kept
    assert score_case(case, answer, ScoringContext(options)).passed is said


def test_the_outcome_to_record() -> None:
    only = Answer("<think>a</think>", Outcome.COMPLETE)
    assert final_outcome(only) is Outcome.EMPTY
    assert final_outcome(only, [CheckSpec("contains", {"keep_reasoning": True})]) is Outcome.COMPLETE
    written_as_text = [CheckSpec("contains", {"keep_reasoning": "yes"})]
    assert final_outcome(only, written_as_text) is Outcome.COMPLETE
    assert final_outcome(Answer("x", Outcome.LENGTH)) is Outcome.LENGTH
    assert final_outcome(Answer("", Outcome.REFUSED)) is Outcome.REFUSED
