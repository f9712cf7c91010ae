"""A person's own marks and blind votes: kept, taken back, copied, gone with their run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.domain import CallStatus, Cell, CheckResult, Outcome, ScoreState
from engine.errors import ArenaError
from engine.scoring import combine
from engine.storage.records import DoneWrite, ScoreWrite
from engine.storage.recovery import start_anew
from engine.storage.salvage import salvage
from engine.storage.store import Store
from engine.storage.votes import OwnMark
from tests.storage import samples
from tests.storage.samples import START, vote

RELEASED = Path(__file__).parents[1] / "data" / "stores"
CELL = Cell("alpha", "c1", 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "arena.sqlite") as opened:
        head = samples.head("run_1")
        opened.create_run(head)
        opened.write(samples.done_writes(head))
        opened.finish_run("run_1", samples.finish(alpha=0.9, beta=0.8))
        yield opened


def test_thumbs_and_scores_are_kept_and_taken_back(store: Store) -> None:
    store.set_mark("run_1", CELL, "good")
    store.set_mark("run_1", Cell("beta", "c2", 2), "bad", 0.25)
    assert store.own_marks("run_1") == [
        OwnMark(CELL, "good"),
        OwnMark(Cell("beta", "c2", 2), "bad", 0.25),
    ]
    page = store.calls_page("run_1")
    assert [(row.mark, row.mark_score) for row in page.rows if row.mark] == [("good", None), ("bad", 0.25)]
    store.set_mark("run_1", Cell("beta", "c2", 2), None)
    store.set_mark("run_1", CELL, "bad", 0.0)
    assert store.own_marks("run_1") == [OwnMark(CELL, "bad", 0.0)]


@pytest.mark.parametrize(("mark", "score"), [("great", None), ("good", 1.5), ("good", -0.1), (None, 0.5)])
def test_a_mark_that_means_nothing_is_refused(store: Store, mark: str | None, score: float | None) -> None:
    with pytest.raises(ValueError, match=r"mark|score"):
        store.set_mark("run_1", CELL, mark, score)
    assert store.own_marks("run_1") == []


def test_votes_come_in_the_order_they_were_given(store: Store) -> None:
    given = [vote("b", "c1", "left"), vote("a", "c2", "tie"), vote("c", "c1", "skip", "beta", "alpha", 2)]
    for one in given:
        store.add_vote("run_1", one)
    assert store.votes("run_1") == given


def test_the_same_vote_counts_once_and_can_be_taken_back(store: Store) -> None:
    store.add_vote("run_1", vote("a", "c1", "left"))
    store.add_vote("run_1", vote("a", "c1", "left"))
    store.add_vote("run_1", vote("b", "c2", "right"))
    assert store.withdraw_vote("run_1", "a") is True
    assert store.withdraw_vote("run_1", "a") is False
    assert [one.vote_id for one in store.votes("run_1")] == ["b"]


def test_a_vote_names_planned_answers_and_a_known_choice(store: Store) -> None:
    with pytest.raises(ArenaError, match="no planned call"):
        store.add_vote("run_1", vote("a", "c9", "left"))
    with pytest.raises(ValueError, match="both"):
        store.add_vote("run_1", vote("a", "c1", "both"))
    assert store.votes("run_1") == []


def test_votes_and_marks_travel_with_their_run(store: Store, tmp_path: Path) -> None:
    store.set_mark("run_1", CELL, "good", 0.75)
    store.add_vote("run_1", vote("a", "c2", "right"))
    with Store.open(tmp_path / "other.sqlite") as other:
        other.create_run(samples.head("run_0"))
        other.copy_from(store.path)
        assert other.own_marks("run_1") == [OwnMark(CELL, "good", 0.75)]
        assert other.votes("run_1") == [vote("a", "c2", "right")]
        assert other.votes("run_0") == []


def test_runs_are_copied_from_a_file_of_the_version_before(store: Store, tmp_path: Path) -> None:
    old = tmp_path / "old.sqlite"
    shutil.copyfile(RELEASED / "v1.sqlite", old)
    assert "run_b" in store.copy_from(old)
    assert len(store.calls("run_b")) == 2
    assert store.votes("run_b") == []


def test_votes_go_with_their_run(store: Store) -> None:
    store.add_vote("run_1", vote("a", "c2", "right"))
    store.delete(["run_1"])
    assert store.purge() == 1
    assert store.database.connection.execute("SELECT count(*) FROM votes").fetchone()[0] == 0
    assert store.check() == ()


def test_what_can_be_read_of_a_file_of_the_version_before_is_saved(tmp_path: Path) -> None:
    old = tmp_path / "old.sqlite"
    shutil.copyfile(RELEASED / "v1.sqlite", old)
    with Store.open(tmp_path / "new.sqlite") as store:
        salvage(old, store.database)
        assert [run.run_id for run in store.runs()] != []
        assert len(store.calls("run_b")) == 2


def test_votes_of_a_damaged_history_come_along(store: Store, tmp_path: Path) -> None:
    store.add_vote("run_1", vote("a", "c2", "right"))
    store.set_mark("run_1", CELL, "good", 0.75)
    path = store.path
    store.close()
    start_anew(path)
    with Store.open(path) as new:
        assert new.votes("run_1") == [vote("a", "c2", "right")]
        assert new.own_marks("run_1") == [OwnMark(CELL, "good", 0.75)]


def check(kind: str, state: ScoreState, passed: bool | None, code: str, **more: object) -> CheckResult:
    score = None if passed is None else float(passed)
    return CheckResult(kind, state, score, passed, f"{code}.", code, **more)  # type: ignore[arg-type]


def score_of(store: Store, cell: Cell, *checks: CheckResult) -> None:
    store.write([ScoreWrite("run_1", cell, combine(checks), START, "rescore")])


def test_failed_calls_tell_the_check_that_decided(store: Store) -> None:
    scored, errored = ScoreState.SCORED, ScoreState.ERRORED
    score_of(
        store,
        CELL,
        check("contains", scored, True, "mentioned"),
        check("length", scored, False, "too_long"),
        check("llm_judge", scored, False, "judge_failed_it", must_pass=True),
    )
    score_of(
        store,
        Cell("alpha", "c2", 1),
        check("contains", scored, False, "not_mentioned"),
        check("llm_judge", errored, None, "judge_unreadable"),
    )
    score_of(store, Cell("beta", "c2", 1), check("contains", scored, True, "mentioned"))
    store.write([DoneWrite("run_1", samples.failed_call(Cell("beta", "c3", 2)))])
    found = {call.cell: call for call in store.failed_calls("run_1")}
    assert list(found) == [CELL, Cell("alpha", "c2", 1)]
    telling = [call.score.checks[0].reason_code for call in found.values() if call.score]
    assert telling == ["judge_failed_it", "judge_unreadable"]
    assert all(call.answer is None for call in found.values())


def test_failed_calls_hold_those_that_brought_nothing(tmp_path: Path) -> None:
    with Store.open(tmp_path / "arena.sqlite") as store:
        store.create_run(samples.head("run_1"))
        store.write([DoneWrite("run_1", samples.failed_call(CELL))])
        store.write([DoneWrite("run_1", samples.stopped_call(Cell("beta", "c1", 1)))])
        (call,) = store.failed_calls("run_1")
    assert (call.status, call.outcome) == (CallStatus.ERROR, Outcome.FAILED)
    assert call.error is not None
    assert call.error.kind == "auth"


def test_what_a_judge_said_is_read_answer_by_answer(store: Store) -> None:
    scored = ScoreState.SCORED
    score_of(
        store,
        CELL,
        check("contains", scored, False, "not_mentioned"),
        check("llm_judge", scored, True, "judge_passed"),
    )
    score_of(
        store,
        Cell("beta", "c1", 1),
        check("llm_judge", scored, True, "judge_passed"),
        check("llm_judge", scored, False, "judge_failed_it"),
    )
    score_of(store, Cell("beta", "c2", 1), check("llm_judge", ScoreState.ERRORED, None, "judge_failed"))
    assert store.check_marks("run_1", ("llm_judge", "pairwise_judge")) == {
        CELL: (True, 1.0),
        Cell("beta", "c1", 1): (False, 0.5),
    }
