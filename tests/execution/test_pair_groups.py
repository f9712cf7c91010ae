"""Groups of answers that wait for each other, driven without a run: any order gives the same marks."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config.schema import Judge
from engine.domain import Answer, Case, Cell, Outcome
from engine.execution.jobs import Grid, ModelPlan
from engine.execution.pair_groups import Asked, Earlier, Known, Met, PairGroups, Steps
from engine.scoring.pairs import PairTerms, Verdict, pair_terms

CASE = Case(id="c", input="say")
TERMS = pair_terms({}, "models", Judge(model="j"))


def grid(keys: str) -> Grid:
    return Grid(tuple(ModelPlan(key, "lane") for key in keys), ("c",), 1)


def answer(text: str) -> Answer:
    return Answer(text, Outcome.COMPLETE)


def verdict(asked: Asked) -> Verdict:
    """The model that comes first in the alphabet is better, but for one pair that flips."""
    if {asked.question.first, asked.question.second} == {"a", "c"}:
        return Verdict("A")
    return Verdict("A" if asked.question.first < asked.question.second else "B")


class Play:
    """Takes steps in an order drawn by lot, and notes what comes of them."""

    def __init__(self, groups: PairGroups, rng: random.Random) -> None:
        self.groups, self.rng = groups, rng
        self.due: list[Asked] = []
        self.asked: list[Asked] = []
        self.met: dict[str, Met | None] = {}

    def take(self, steps: Steps) -> None:
        self.due += steps.due
        self.asked += steps.due
        for complete in steps.over:
            assert complete.cell.model_key not in self.met
            self.met[complete.cell.model_key] = complete.met

    def judge_one(self) -> None:
        one = self.due.pop(self.rng.randrange(len(self.due)))
        self.take(self.groups.said(one, verdict(one)))


def play(keys: str, texts: dict[str, str | None], terms: PairTerms, seed: int) -> Play:
    game = Play(PairGroups(grid(keys), {"c": CASE}), random.Random(seed))
    coming = list(keys)
    game.rng.shuffle(coming)
    while coming or game.due:
        if coming and (not game.due or game.rng.random() < 0.5):
            key = coming.pop()
            text = texts[key]
            said = None if text is None else answer(text)
            wanted = (terms,) if text else ()
            game.take(game.groups.answered(Cell(key, "c", 1), said, wanted))
        else:
            game.judge_one()
    return game


@settings(max_examples=60, deadline=None)
@given(
    st.integers(2, 5),
    st.lists(st.sampled_from(["own", "same", "", None]), min_size=5, max_size=5),
    st.sampled_from(["models", "a", "b"]),
    st.integers(0, 10**6),
)
def test_any_order_gives_the_same_marks_and_asks_the_same_once(
    size: int, kinds: list[str | None], against: str, seed: int
) -> None:
    keys = "abcde"[:size]
    texts = {key: f"own {key}" if kind == "own" else kind for key, kind in zip(keys, kinds, strict=False)}
    terms = pair_terms({}, against, Judge(model="j"))
    first, second = (play(keys, texts, terms, number) for number in (seed, seed + 1))
    assert first.met == second.met
    assert set(first.met) == {key for key, text in texts.items() if text}
    assert all(met is not None for met in first.met.values())
    asked = [one.question for one in first.asked]
    assert len(asked) == len(set(asked))
    assert set(asked) == {one.question for one in second.asked}
    assert {(q.first, q.second) for q in asked} == {(q.second, q.first) for q in asked}


def test_nobody_waits_for_one_who_will_not_come() -> None:
    groups = PairGroups(grid("ab"), {"c": CASE})
    assert groups.answered(Cell("a", "c", 1), answer("x"), (TERMS,)) == Steps()
    steps = groups.answered(Cell("b", "c", 1), None)
    (complete,) = steps.over
    assert complete.met is not None
    assert complete.met[TERMS.place][0].how == "absent"


def test_a_question_that_is_left_leaves_both_marks() -> None:
    groups = PairGroups(grid("abc"), {"c": CASE})
    for key in "abc":
        steps = groups.answered(Cell(key, "c", 1), answer(key), (TERMS,))
    due = [*steps.due]
    over = [complete for asked in due for complete in groups.left(asked).over]
    assert over[0].cell.model_key == "c"
    assert over[0].met is None


def test_known_verdicts_count_for_the_same_words_only() -> None:
    game = play("ab", {"a": "x", "b": "y"}, TERMS, 1)
    known = tuple(Known(one.question, verdict(one), one.prints) for one in game.asked)
    for texts, asked in (({"a": "x", "b": "y"}, 0), ({"a": "x", "b": "z"}, 2)):
        groups = PairGroups(grid("ab"), {"c": CASE}, earlier=Earlier(known={("c", 1): known}))
        steps = [groups.answered(Cell(key, "c", 1), answer(text), (TERMS,)) for key, text in texts.items()]
        assert sum(len(step.due) for step in steps) == asked


def test_earlier_answers_are_met_once_they_are_read() -> None:
    groups = PairGroups(grid("ab"), {"c": CASE}, earlier=Earlier(done=frozenset({0})))
    assert groups.answered(Cell("b", "c", 1), answer("y"), (TERMS,)) == Steps()
    steps = groups.earlier(("c", 1), {"a": answer("x"), "gone": answer("z")})
    assert {frozenset((q.question.first, q.question.second)) for q in steps.due} == {
        frozenset("ab"),
        frozenset(("b", "gone")),
    }
    again = groups.asks(Cell("a", "c", 1), (TERMS,))
    assert {frozenset((q.question.first, q.question.second)) for q in again.due} == {frozenset(("a", "gone"))}


def test_where_nothing_earlier_comes_nobody_waits_for_it() -> None:
    groups = PairGroups(grid("ab"), {"c": CASE}, earlier=Earlier(done=frozenset({0})))
    groups.answered(Cell("b", "c", 1), answer("y"), (TERMS,))
    (complete,) = groups.nothing_earlier().over
    assert complete.met is not None
    late = groups.asks(Cell("a", "c", 1), (TERMS,))
    assert [(one.cell.model_key, one.met) for one in late.over] == [("a", None)]


@pytest.mark.parametrize("nobody", ["a", "b"])
def test_the_judge_itself_is_nobodys_rival(nobody: str) -> None:
    groups = PairGroups(grid("abc"), {"c": CASE}, nobody=[nobody])
    due = []
    for key in "abc":
        wanted = () if key == nobody else (TERMS,)
        due += groups.answered(Cell(key, "c", 1), answer(key), wanted).due
    assert len(due) == 2
    assert all(nobody not in (one.question.first, one.question.second) for one in due)


def test_other_tests_are_not_looked_at() -> None:
    groups = PairGroups(grid("ab"), {})
    assert groups.answered(Cell("a", "c", 1), answer("x")) == Steps()
