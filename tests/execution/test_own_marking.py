"""A person's marks: kept, taken back, making the checks that wait for a person, held against a judge."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain import Cell, ScoreState
from engine.errors import UserError
from engine.execution.own_marking import BY_CHECKS, BY_JUDGE, give_mark, read_marks
from engine.execution.rescore import Tools, rebuild_board, rescore
from engine.stats.board_json import board_from_json
from engine.stats.own_marks import OwnView
from engine.storage.store import Store
from tests.execution.test_rescore import CASES, JUDGED, Judge, changed, world
from tests.storage import samples

CELL = Cell("plain", "c0", 1)
BY_HAND = [{**case, "checks": [{"type": "contains"}, {"type": "manual"}]} for case in CASES]


def test_a_mark_beside_the_checks_changes_no_score(tmp_path: Path) -> None:
    made = world(tmp_path)
    before = made.calls()
    with Store.open(made.store_path) as store:
        assert give_mark(store, "last", CELL, "bad") is False
        assert read_marks(store, "last").own == {CELL: OwnView(False)}
    assert made.calls() == before


def test_a_mark_makes_the_check_that_waits_for_a_person(tmp_path: Path) -> None:
    made = world(tmp_path, cases=BY_HAND)
    with Store.open(made.store_path) as store:
        assert give_mark(store, "last", CELL, "good", 0.6) is True
        call = store.call("last", CELL)
        assert call is not None
        assert call.score is not None
        assert call.score.score == pytest.approx(0.8)
        assert call.score.checks[1].reason_code == "marked"
        assert give_mark(store, "last", CELL, "bad") is True
        assert give_mark(store, "last", CELL, "bad") is False
        history = [score.score for score in store.score_history("last", CELL)]
    assert history == [0.5, pytest.approx(0.8), 1.0]


def test_a_mark_taken_back_leaves_the_check_waiting(tmp_path: Path) -> None:
    made = world(tmp_path, cases=BY_HAND)
    with Store.open(made.store_path) as store:
        first = store.call("last", CELL)
        give_mark(store, "last", CELL, "good")
        assert give_mark(store, "last", CELL, None) is True
        call = store.call("last", CELL)
        assert read_marks(store, "last").own == {}
    assert call is not None
    assert first is not None
    assert call.score is not None
    assert first.score is not None
    assert call.score.checks[1].state is ScoreState.UNSCORED
    assert (call.score.score, call.score.passed) == (first.score.score, first.score.passed)


def test_the_board_follows_marks_made_by_hand(tmp_path: Path) -> None:
    only = [{**case, "checks": [{"type": "manual"}]} for case in CASES]
    made = world(tmp_path, cases=only)
    before = made.stored()
    assert board_from_json(before.board).verdict.code == "nothing_scored"
    with Store.open(made.store_path) as store:
        for case in ("c0", "c1", "c2"):
            give_mark(store, "last", Cell("plain", case, 1), "good")
            give_mark(store, "last", Cell("wordy", case, 1), "bad")
        board = rebuild_board(store, "last")
        assert store.runs()[0].winner == "plain"
    stored = made.stored()
    assert board_from_json(stored.board) == board
    assert board.winner == "plain"
    assert stored.config == before.config
    assert "unscored" in [note.code for note in before.notes]
    assert "unscored" not in [note.code for note in stored.notes]


def test_a_run_that_goes_on_keeps_its_board(tmp_path: Path) -> None:
    made = world(tmp_path)
    config = made.stored().config
    with Store.open(tmp_path / "other.sqlite") as store:
        store.create_run(replace(samples.head("run_1"), config=config))
        with pytest.raises(UserError) as caught:
            rebuild_board(store, "run_1")
    assert caught.value.code == "run_in_use"


def test_without_a_judge_the_checks_are_the_rater(tmp_path: Path) -> None:
    made = world(tmp_path)
    with Store.open(made.store_path) as store:
        give_mark(store, "last", CELL, "good")
        give_mark(store, "last", Cell("wordy", "c0", 1), "good")
        book = read_marks(store, "last")
    assert book.by == BY_CHECKS
    assert (book.report.both, book.report.too_kind, book.report.too_strict) == (2, 0, 1)
    assert (book.report.passed, book.report.rated) == (3, 6)


def test_a_judge_is_the_rater_where_there_is_one(tmp_path: Path) -> None:
    made = world(tmp_path)
    project = changed(made, cases=JUDGED)
    with Store.open(made.store_path) as store:
        rescore(store, "last", project, Tools(judge=Judge(good=False)))
        give_mark(store, "last", CELL, "good")
        book = read_marks(store, "last")
    assert book.by == BY_JUDGE
    assert (book.report.both, book.report.too_strict) == (1, 1)
    assert (book.report.passed, book.report.rated) == (0, 6)
    assert book.run_id == made.stored().info.run_id
