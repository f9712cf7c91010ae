"""The verdict tells the truth: what the words say is what the numbers allow, in every situation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from arena_desktop.wording.verdict import VerdictWords, verdict_words
from engine.config.schema import Config, Constraints
from engine.domain import RunStatus, SkippedModel
from engine.stats.board import EntryStatus, Leaderboard
from engine.stats.leaderboard import build_board
from tests.stats.builders import board_input, cases_named, config_with, failed, patterns, scored, stopped
from tests.views.setup_world import FORBIDDEN

CERTAIN = ("best by", "best model", "clearly", "proven", "certainly", "guarantee")


def told(board: Leaderboard) -> str:
    """Everything that the verdict card says."""
    words = verdict_words(board)
    facts = " ".join(f"{fact.figure} {fact.meaning}" for fact in words.facts)
    return f"{words.chip} {words.headline} {words.lead} {words.sentence} {words.recommendation} {facts}"


def pattern(right: int, total: int, shift: int = 0) -> str:
    """So many right of so many, the wrong ones beginning at `shift`."""
    marks = ["1"] * total
    for number in range(total - right):
        marks[(shift + number) % total] = "0"
    return " ".join(marks)


def clear_win() -> Leaderboard:
    return build_board(board_input(patterns({"a": pattern(39, 40), "b": pattern(15, 40, 3)})))


def tie() -> Leaderboard:
    return build_board(board_input(patterns({"a": pattern(30, 40), "b": pattern(29, 40, 20)})))


def few_tests() -> Leaderboard:
    return build_board(board_input(patterns({"a": "1 1 1", "b": "1 0 1"})))


def the_same() -> Leaderboard:
    row = pattern(50, 60)
    return build_board(board_input(patterns({"a": row, "b": row})))


def one_model() -> Leaderboard:
    return build_board(board_input(patterns({"a": pattern(30, 40)})))


def all_ruled_out() -> Leaderboard:
    config = replace(Config(), constraints=Constraints(min_accuracy=0.99))
    return build_board(board_input(patterns({"a": pattern(20, 40), "b": pattern(10, 40)}), config=config))


def none_measured() -> Leaderboard:
    calls = [failed(model, case.id, 1) for model in "ab" for case in cases_named(10)]
    return build_board(board_input(calls))


def nobody_marked() -> Leaderboard:
    calls = [scored(model, case.id, 1, None) for model in "ab" for case in cases_named(10)]
    return build_board(board_input(calls))


def going_on() -> Leaderboard:
    done = patterns({"a": pattern(19, 20), "b": pattern(6, 20)})
    return build_board(board_input(done, planned=80, status=RunStatus.RUNNING))


def cut_short() -> Leaderboard:
    done = patterns({"a": pattern(19, 20), "b": pattern(6, 20)})
    late = [stopped(model, f"c{n:03}", 1) for model in "ab" for n in range(20, 40)]
    return build_board(board_input([*done, *late], planned=80, status=RunStatus.CANCELLED))


def unknown_cost() -> Leaderboard:
    calls = [
        *patterns({"a": pattern(39, 40)}, cost=None),
        *patterns({"b": pattern(15, 40, 3)}, cost="0.01"),
    ]
    return build_board(board_input(calls, config=config_with({"accuracy": 0.7, "cost": 0.3})))


SITUATIONS: tuple[Callable[[], Leaderboard], ...] = (
    clear_win,
    tie,
    few_tests,
    the_same,
    one_model,
    all_ruled_out,
    none_measured,
    nobody_marked,
    going_on,
    cut_short,
    unknown_cost,
)
EVERY = pytest.mark.parametrize("made", SITUATIONS, ids=[made.__name__ for made in SITUATIONS])


@EVERY
def test_the_headline_recommends_exactly_the_winner_of_the_board(made: Callable[[], Leaderboard]) -> None:
    board = made()
    headline = verdict_words(board).headline
    names = {entry.model_key: entry.label for entry in board.entries}
    recommended = headline.startswith("Use ")
    assert recommended is (
        board.winner is not None and board.verdict.row not in (1, 3, None) and not board.verdict.so_far
    ) or (board.verdict.code == "only_one")
    if board.winner is None:
        assert not any(f"Use {name} " in headline for name in names.values())
    else:
        assert names[board.winner] in headline


@EVERY
def test_every_verdict_says_something_and_no_forbidden_word(made: Callable[[], Leaderboard]) -> None:
    board = made()
    words = verdict_words(board)
    assert words.chip
    assert words.headline.endswith(".")
    assert words.lead or words.chip == "Not marked yet"
    assert words.lead != words.headline
    assert [word for word in FORBIDDEN if word in told(board)] == []


@EVERY
def test_what_cannot_be_told_apart_is_never_called_better(made: Callable[[], Leaderboard]) -> None:
    board = made()
    said = told(board).lower()
    assert [word for word in CERTAIN if word in said] == []
    if board.verdict.row in (1, 2, 3, 6, 7, None):
        assert "is better on your tests" not in said
        assert "a clear difference" not in said


def test_a_clear_win_says_how_large_it_is() -> None:
    board = clear_win()
    words = verdict_words(board)
    assert board.verdict.row == 4
    assert (words.chip, words.kind) == ("A clear difference", "good")
    assert words.headline == "Use A for this project."
    assert "A passed 39 of your 40 tests." in words.lead
    assert "most likely between" in words.lead


def test_a_tie_says_how_many_tests_it_would_take() -> None:
    board = tie()
    words = verdict_words(board)
    assert board.verdict.row in (3, 7)
    assert words.kind in ("info", "warn")
    assert "too small to tell apart" in words.lead
    assert any("more test" in fact.figure or "May never" in fact.figure for fact in words.facts)


def test_with_few_tests_the_headline_itself_is_careful() -> None:
    words = verdict_words(few_tests())
    assert words.chip == "Not enough tests to tell"
    assert "cannot settle it" in words.headline


def test_models_that_do_the_same_are_told_so() -> None:
    assert "practically the same" in told(the_same()).lower()


def test_one_model_alone_is_compared_with_nobody() -> None:
    words = verdict_words(one_model())
    assert words.chip == "Nothing to compare with"
    assert "Only A could be ranked" in words.sentence


def test_where_all_are_ruled_out_nobody_is_recommended_and_the_reasons_stand_there() -> None:
    board = all_ruled_out()
    assert board.winner is None
    assert {entry.status for entry in board.entries} == {EntryStatus.FAILED}
    words = verdict_words(board)
    assert words.headline == "No model can be recommended."
    assert "A:" in words.sentence
    assert "B:" in words.sentence


def test_without_an_answer_there_is_no_figure_at_all() -> None:
    board = none_measured()
    words = verdict_words(board)
    assert words.headline == "No model can be recommended."
    assert all(entry.composite is None for entry in board.entries)
    assert "0 of" not in told(board)


def test_unmarked_answers_are_no_wrong_answers() -> None:
    assert verdict_words(nobody_marked()).headline == "No answer has been marked yet."


def test_a_run_that_was_cut_short_says_what_is_missing() -> None:
    board = cut_short()
    words = verdict_words(board)
    assert board.winner is None
    assert words.headline == "No model can be recommended."
    assert "A: It answered only 20 of 40 tests, too few for a place." in words.lead
    assert "B: " in words.lead


def test_a_run_that_goes_on_says_so_first() -> None:
    board = going_on()
    assert board.verdict.so_far
    words = verdict_words(board)
    assert words.headline == "So far A comes first."
    assert words.sentence.startswith("So far:")


def test_an_unknown_price_is_not_compared_and_is_never_free() -> None:
    board = unknown_cost()
    said = told(board)
    assert next(entry for entry in board.entries if entry.model_key == "a").cost_per_1k_usd is None
    assert "free" not in said
    assert "costs" not in said


def test_a_model_that_was_left_out_is_named_with_its_reason() -> None:
    calls = patterns({"a": pattern(30, 40)})
    skipped = SkippedModel("b", "no_key", "There is no access key.", "Add one.")
    board = build_board(board_input(calls, models=["a", "b"], skipped=(skipped,)))
    left = next(entry for entry in board.entries if entry.model_key == "b")
    assert left.status in (EntryStatus.NO_DATA, EntryStatus.FAILED)
    assert left.failures
    assert verdict_words(board).headline != "Use B for this project."


def test_the_words_hold_all_their_parts() -> None:
    words = verdict_words(clear_win())
    assert isinstance(words, VerdictWords)
    assert words.recommendation.startswith(words.headline)
    assert len(words.facts) <= 2
