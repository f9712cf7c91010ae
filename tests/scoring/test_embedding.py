"""Texts compared by embeddings: the formula, and everything that must be no mark."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.domain import Answer, CallError, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring.base import ScoringContext
from engine.scoring.score import run_check
from engine.scoring.seams import EmbedAsk, EmbedSaid
from engine.scoring.try_check import try_check

Vectors = Mapping[str, Sequence[float]]


def mark(
    vectors: Vectors | EmbedSaid,
    answer: str = "a",
    reference: Any = "b",
    asked: list[EmbedAsk] | None = None,
    outcome: Outcome = Outcome.COMPLETE,
    **options: Any,
) -> CheckResult:
    def embed(ask: EmbedAsk) -> EmbedSaid:
        if asked is not None:
            asked.append(ask)
        if isinstance(vectors, EmbedSaid):
            return vectors
        return EmbedSaid(tuple(vectors[text] for text in ask.texts))

    negate = options.pop("negate", False)
    spec = CheckSpec("similarity", {"method": "embedding", "model": "vec", **options}, negate=negate)
    case = Case(id="c", reference=reference, checks=(spec,))
    return run_check(spec, Answer(answer, outcome), case, ScoringContext(embed=embed))


@pytest.mark.parametrize(
    ("left", "right", "score"),
    [
        ([1.0, 0.0], [2.0, 0.0], 1.0),
        ([1.0, 0.0], [0.0, 3.0], 0.0),
        ([1.0, 0.0], [-1.0, 0.0], 0.0),
        ([3.0, 4.0], [4.0, 3.0], 0.96),
        ([1.0, 1.0], [1.0, 0.0], math.sqrt(0.5)),
        ([1e200, 1e200], [1e200, 0.0], math.sqrt(0.5)),
        ([1e-200, 1e-200], [1e-200, 0.0], math.sqrt(0.5)),
    ],
)
def test_the_score_is_the_cosine_clipped_to_0_and_1(
    left: list[float], right: list[float], score: float
) -> None:
    result = mark({"a": left, "b": right})
    assert result.state is ScoreState.SCORED
    assert result.score == pytest.approx(score, abs=1e-12)
    assert result.passed is (score >= 0.75)
    assert result.metrics == {"similarity": result.score}
    assert result.detail["method"] == "embedding"


numbers = st.floats(-1e6, 1e6).filter(lambda value: value == 0 or abs(value) > 1e-6)


@given(st.integers(1, 8).flatmap(lambda n: st.tuples(*[st.lists(numbers, min_size=n, max_size=n)] * 2)))
def test_any_two_usable_vectors_give_a_mark_within_0_and_1_that_turns_with_their_order(
    pair: tuple[list[float], list[float]],
) -> None:
    left, right = pair
    forth, back = mark({"a": left, "b": right}), mark({"a": right, "b": left})
    if any(left) and any(right):
        assert 0.0 <= (forth.score or 0.0) <= 1.0
        assert forth.score == pytest.approx(back.score, abs=1e-12)
    else:
        assert (forth.state, forth.reason_code) == (ScoreState.ERRORED, "embedding_zero")


def test_the_nearest_of_several_right_answers_counts_and_each_text_is_asked_once() -> None:
    asked: list[EmbedAsk] = []
    vectors = {"a": [1.0, 0.0], "x": [0.0, 1.0], "y": [2.0, 0.1]}
    result = mark(vectors, reference=["x", "y", "x", " ", "a"], asked=asked)
    assert (result.score, result.detail["nearest"]) == (1.0, "a")
    assert asked == [EmbedAsk("vec", ("a", "x", "y"))]


@pytest.mark.parametrize(
    ("vectors", "code"),
    [
        ({"a": [math.nan], "b": [1.0]}, "embedding_bad"),
        ({"a": [math.inf], "b": [1.0]}, "embedding_bad"),
        ({"a": [1.0], "b": [1.0, 0.0]}, "embedding_bad"),
        ({"a": [], "b": [1.0]}, "embedding_zero"),
        ({"a": [0.0, 0.0], "b": [1.0, 0.0]}, "embedding_zero"),
        ({"a": [1.0, 0.0], "b": [0.0, 0.0]}, "embedding_zero"),
        (EmbedSaid(([1.0],)), "embedding_bad"),
        (EmbedSaid(), "embedding_bad"),
        (EmbedSaid(error=CallError("timeout", "No answer in time.")), "embedding_failed"),
    ],
)
@pytest.mark.parametrize("negate", [False, True])
def test_what_cannot_be_compared_is_errored_and_never_0(
    vectors: Vectors | EmbedSaid, code: str, negate: bool
) -> None:
    result = mark(vectors, negate=negate)
    assert (result.state, result.score, result.passed) == (ScoreState.ERRORED, None, None)
    assert (result.type, result.reason_code) == ("similarity", code)
    assert result.reason.endswith(".")


def test_an_empty_answer_is_0_without_asking() -> None:
    for text, outcome in (("", Outcome.EMPTY), ("  \n", Outcome.COMPLETE), ("No.", Outcome.REFUSED)):
        asked: list[EmbedAsk] = []
        result = mark({}, text, asked=asked, outcome=outcome)
        assert (result.state, result.score, result.passed, asked) == (ScoreState.SCORED, 0.0, False, [])


def test_a_blank_right_answer_is_a_fault_of_the_test() -> None:
    asked: list[EmbedAsk] = []
    assert mark({}, reference=[" ", "\n"], asked=asked).reason_code == "reference_blank"
    assert asked == []


def test_turned_around_it_is_one_minus_the_score() -> None:
    result = mark({"a": [1.0, 0.0], "b": [0.6, 0.8]}, negate=True, threshold=0.7)
    assert result.score == pytest.approx(0.4)
    assert result.passed is True


def test_without_a_connection_it_says_so() -> None:
    check = {"type": "similarity", "method": "embedding", "model": "vec"}
    assert try_check(check, "a", "b").reason_code == "no_embedding"


@pytest.mark.parametrize(
    ("right", "threshold", "says"),
    [
        ([0.6, 0.8], 0.6, "60 of 100 alike in meaning, enough for the 60 it takes."),
        ([0.6, 0.8], 0.601, "60 of 100 alike in meaning, less than the 60.1 it takes."),
        ([0.79999, 0.6000133], 0.8, "79.9 of 100 alike in meaning, less than the 80 it takes."),
    ],
)
def test_the_sentence_never_contradicts_the_mark(right: list[float], threshold: float, says: str) -> None:
    assert mark({"a": [1.0, 0.0], "b": right}, threshold=threshold).reason == f"The answer is {says}"
