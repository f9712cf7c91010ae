"""Blind duels: fair pairs and sides, votes that can be taken back, results that claim no more than that."""

from __future__ import annotations

import random
from collections import Counter
from itertools import combinations, pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.domain import Cell
from engine.stats.duels import (
    LEFT,
    RIGHT,
    SKIP,
    TIE,
    Arena,
    Choice,
    Fixtures,
    Match,
    duel_result,
)

MODELS = ("a", "b", "c")


def arena(
    models: tuple[str, ...] = MODELS,
    cases: int = 20,
    trials: int = 1,
    *,
    standing: dict[str, float] | None = None,
    same: tuple[str, ...] = (),
    seed: int = 7,
) -> Arena:
    cells = tuple(
        Cell(model, f"c{case:02}", trial)
        for model in models
        for case in range(cases)
        for trial in range(1, trials + 1)
    )
    prints = {cell: "same" if cell.case_id in same else repr(cell) for cell in cells}
    return Arena(cells, prints, standing if standing is not None else dict.fromkeys(models, 0.5), seed)


def play(fixtures: Fixtures, count: int, choice: str = LEFT) -> list[Choice]:
    votes: list[Choice] = []
    for _ in range(count):
        match = fixtures.next_match(votes)
        if match is None:
            break
        votes.append(Choice(match.left, match.right, choice))
    return votes


def between(left: str, right: str, choice: str, number: int = 0) -> Choice:
    return Choice(Cell(left, f"c{number}", 1), Cell(right, f"c{number}", 1), choice)


def score(wins: int, losses: int, ties: int = 0, a: str = "a", b: str = "b") -> list[Choice]:
    """Votes between two models, half of them with the sides changed."""
    votes = [between(a, b, LEFT, n) if n % 2 else between(b, a, RIGHT, n) for n in range(wins)]
    votes += [between(a, b, RIGHT, n) if n % 2 else between(b, a, LEFT, n) for n in range(losses)]
    return votes + [between(a, b, TIE, n) for n in range(ties)]


def test_two_answers_to_the_same_case_and_trial_meet_once() -> None:
    fixtures = Fixtures(arena(cases=5, trials=2))
    votes = play(fixtures, 1000)
    assert len(votes) == fixtures.total == 3 * 5 * 2
    assert all(v.left.case_id == v.right.case_id and v.left.trial == v.right.trial for v in votes)
    assert len({frozenset((v.left, v.right)) for v in votes}) == len(votes)
    assert fixtures.next_match(votes) is None


def test_sides_are_balanced_within_every_pair_at_any_moment() -> None:
    fixtures = Fixtures(arena(cases=30))
    votes = play(fixtures, 90)
    for end in range(1, len(votes) + 1):
        for one, two in combinations(MODELS, 2):
            met = [v for v in votes[:end] if {v.left.model_key, v.right.model_key} == {one, two}]
            left = sum(v.left.model_key == one for v in met)
            assert abs(2 * left - len(met)) <= 1


def test_the_side_cannot_be_foreseen_from_the_name() -> None:
    firsts = Counter(
        Fixtures(arena(("a", "b"), seed=seed)).next_match([]).left.model_key for seed in range(200)
    )
    assert 70 <= firsts["a"] <= 130


def test_close_models_meet_first_and_most() -> None:
    standing = {"a": 0.90, "b": 0.88, "c": 0.40}
    votes = play(Fixtures(arena(cases=60, standing=standing)), 40)
    pairs = [frozenset((v.left.model_key, v.right.model_key)) for v in votes]
    assert set(pairs[:4]) == {frozenset("ab")}
    counts = Counter(pairs)
    assert counts[frozenset("ab")] >= 30
    assert counts[frozenset("bc")] >= 1
    assert counts[frozenset("ac")] >= 1


def test_models_of_unknown_standing_meet_too() -> None:
    votes = play(Fixtures(arena(standing={})), 30)
    counts = Counter(frozenset((v.left.model_key, v.right.model_key)) for v in votes)
    assert set(counts.values()) == {10}


def test_every_case_comes_before_any_case_again() -> None:
    votes = play(Fixtures(arena(("a", "b"), cases=10, trials=3)), 30)
    for start in (0, 10, 20):
        assert len({v.left.case_id for v in votes[start : start + 10]}) == 10


def test_a_case_is_not_shown_twice_in_a_row_where_it_can_be_avoided() -> None:
    votes = play(Fixtures(arena(cases=10)), 20)
    assert all(one.left.case_id != two.left.case_id for one, two in pairwise(votes))


def test_equal_answers_are_not_put_to_a_vote() -> None:
    fixtures = Fixtures(arena(cases=4, same=("c00", "c01")))
    votes = play(fixtures, 100)
    assert {v.left.case_id for v in votes} == {"c02", "c03"}
    assert fixtures.equal_answers == 6


def test_nobody_to_meet_is_no_match() -> None:
    assert Fixtures(arena(("a",))).next_match([]) is None
    assert Fixtures(Arena((), {}, {})).next_match([]) is None
    assert Fixtures(arena(same=tuple(f"c{n:02}" for n in range(20)))).total == 0


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 5), st.lists(st.sampled_from([LEFT, RIGHT, TIE, SKIP, "undo"]), max_size=40))
def test_an_undone_vote_brings_the_same_match_back(seed: int, moves: list[str]) -> None:
    fixtures = Fixtures(arena(cases=6, seed=seed))
    votes: list[Choice] = []
    shown: list[Match] = []
    for move in moves:
        match = fixtures.next_match(votes)
        assert match == Fixtures(arena(cases=6, seed=seed)).next_match(votes)
        if move == "undo":
            if votes:
                votes.pop()
                assert fixtures.next_match(votes) == shown.pop()
        elif match is not None:
            shown.append(match)
            votes.append(Choice(match.left, match.right, move))


def test_no_votes_say_nothing() -> None:
    result = duel_result([between("a", "b", SKIP)])
    assert (result.code, result.votes, result.skipped, result.rows) == ("no_votes", 0, 1, ())


def test_the_chance_of_two_models_is_the_share_of_votes() -> None:
    result = duel_result(score(15, 5))
    first, second = result.rows
    assert first.chance == pytest.approx(0.75)
    assert first.chance + second.chance == pytest.approx(1.0)
    assert first.interval.low + second.interval.high == pytest.approx(1.0)
    assert 0.5 < first.interval.low < 0.75 < first.interval.high < 1.0
    assert (first.wins, first.losses, first.ties) == (15, 5, 0)


def test_the_worked_example_of_the_statistics() -> None:
    votes = score(14, 6) + score(15, 3, 2, "a", "c") + score(11, 7, 2, "b", "c")
    result = duel_result(votes)
    assert [row.model_key for row in result.rows] == ["a", "b", "c"]
    assert (result.code, result.first, result.second) == ("too_close", "a", "b")
    assert result.rows[0].chance == pytest.approx((0.70882 + 0.79130) / 2, abs=1e-4)


@pytest.mark.parametrize(
    ("wins", "losses", "ties", "code"),
    [
        (3, 0, 0, "few_votes"),
        (5, 0, 0, "few_votes"),
        (6, 0, 0, "preferred"),
        (6, 6, 0, "too_close"),
        (7, 5, 0, "too_close"),
        (8, 2, 0, "too_close"),
        (0, 0, 12, "too_close"),
        (30, 10, 0, "preferred"),
        (21, 19, 20, "too_close"),
    ],
)
def test_what_the_votes_show(wins: int, losses: int, ties: int, code: str) -> None:
    assert duel_result(score(wins, losses, ties)).code == code


def test_how_many_more_votes_would_settle_it() -> None:
    close = duel_result(score(14, 10))
    assert close.code == "too_close"
    assert close.more is not None
    assert 150 < close.more < 350
    few = duel_result(score(2, 1))
    assert (few.code, few.more) == ("few_votes", 3)
    equal = duel_result(score(10, 10))
    assert (equal.more, equal.may_never) == (None, True)


def test_that_many_votes_more_do_settle_it() -> None:
    close = duel_result(score(16, 8))
    assert close.more is not None
    factor = 1 + close.more / 24
    assert duel_result(score(round(16 * factor), round(8 * factor))).code == "preferred"


def test_a_clean_sweep_stays_inside_the_scale() -> None:
    result = duel_result(score(10, 0))
    assert result.rough
    assert 0.5 < result.rows[0].interval.low < result.rows[0].chance < 1.0
    assert result.rows[1].wins == 0


def test_skipped_votes_change_nothing_but_their_count() -> None:
    votes = score(9, 3)
    with_skips = votes + [between("a", "b", SKIP, n) for n in range(5)]
    assert duel_result(with_skips).rows == duel_result(votes).rows
    assert duel_result(with_skips).skipped == 5


def test_sides_carry_no_weight() -> None:
    votes = score(9, 3, 2)
    turned = {LEFT: RIGHT, RIGHT: LEFT, TIE: TIE}
    mirrored = [Choice(v.right, v.left, turned[v.choice]) for v in votes]
    plain, other = duel_result(votes), duel_result(mirrored)
    assert [row.model_key for row in plain.rows] == [row.model_key for row in other.rows]
    assert plain.rows[0].chance == pytest.approx(other.rows[0].chance)


@pytest.mark.parametrize("models", [2, 4])
def test_equal_models_are_seldom_told_apart(models: int) -> None:
    rng = random.Random(5)
    names = tuple("abcd"[:models])
    claims = 0
    for _ in range(200):
        votes = []
        for number in range(40):
            left, right = rng.sample(names, 2)
            votes.append(between(left, right, rng.choice([LEFT, RIGHT, LEFT, RIGHT, TIE]), number))
        claims += duel_result(votes).code == "preferred"
    assert claims <= 16
