"""Questions about many calls: counted where they lie, found by index, given up when nobody waits."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain import CallDone, CaseScore, CheckResult, ScoreState
from engine.errors import Cancelled
from engine.storage.records import DoneWrite
from engine.storage.rows import CallFilter
from engine.storage.store import Store
from tests.storage import samples

HEAD = samples.head(cases=tuple(f"c{n}" for n in range(40)), trials=2)
MANUAL = CheckResult(type="manual", state=ScoreState.SCORED, score=1.0, passed=True)
JUDGE = CheckResult(type="llm_judge", state=ScoreState.SCORED, score=0.0, passed=False)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "arena.sqlite") as opened:
        opened.create_run(HEAD)
        opened.write([DoneWrite(HEAD.run_id, call(n)) for n in range(len(HEAD.cells))])
        yield opened


def call(number: int) -> CallDone:
    """Every third passes; every tenth has a mark made by hand beside, every seventh a judge's no."""
    cell = HEAD.cells[number].cell
    made = samples.plain_call(cell, float(number % 3 == 0), text=f"answer {number}")
    checks = (*([MANUAL] if number % 10 == 0 else []), *([JUDGE] if number % 7 == 0 else []))
    return replace(
        made, score=CaseScore(ScoreState.SCORED, made.score.score, made.score.passed, checks=checks)
    )


def test_a_rater_is_counted_as_if_every_answer_were_read(store: Store) -> None:
    marked = [HEAD.cells[number].cell for number in (0, 1, 7, 14, 21)]
    for cell in marked:
        store.set_mark(HEAD.run_id, cell, "good")
    calls = store.calls(HEAD.run_id)
    judged = {c.cell: False for c in calls if any(check.type == "llm_judge" for check in c.score.checks)}
    by_hand = {c.cell for c in calls if any(check.type == "manual" for check in c.score.checks)}
    whole = {c.cell: bool(c.score.passed) for c in calls if c.cell not in by_hand}
    for told, rated in (
        (judged, store.rated_by(HEAD.run_id, ("llm_judge", "pairwise_judge"))),
        (whole, store.rated_as_a_whole(HEAD.run_id, ("manual",))),
    ):
        counts: dict[str, tuple[int, int]] = {}
        for cell, passed in told.items():
            before = counts.get(cell.model_key, (0, 0))
            counts[cell.model_key] = (before[0] + passed, before[1] + 1)
        assert rated.counts == counts
        assert rated.marked == {cell: told[cell] for cell in marked if cell in told}
    assert store.rated_by(HEAD.run_id, ("exact",)).counts == {}


def test_the_calls_of_a_case_are_found_by_index_however_long_the_run_is(store: Store) -> None:
    found = store.calls(HEAD.run_id, case_id="c7")
    assert [c.cell for c in found] == [p.cell for p in HEAD.cells if p.cell.case_id == "c7"]
    assert all(c.attempt_log == samples.plain_call(c.cell, 1.0).attempt_log for c in found)
    with store.database.reading() as connection:
        read = connection.total_changes
        plans: list[str] = []
        connection.set_trace_callback(plans.append)
        store.calls(HEAD.run_id, case_id="c7")
        connection.set_trace_callback(None)
        for statement in plans:
            if "FROM cells" not in statement:
                continue
            steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {statement}")]
            assert not any("cells_in_plan_order" in step for step in steps)
            assert any("run=? AND model=? AND run_case=?" in step for step in steps)
        assert connection.total_changes == read


def test_the_requests_of_calls_that_lie_far_apart_are_their_own(store: Store) -> None:
    full = [samples.full_call(HEAD.cells[number].cell) for number in (0, 1, 158)]
    store.write([DoneWrite(HEAD.run_id, done) for done in full])
    for case in {done.cell.case_id for done in full}:
        told = {c.cell: c.attempt_log for c in store.calls(HEAD.run_id, case_id=case)}
        for done in full:
            if done.cell.case_id == case:
                assert told[done.cell] == done.attempt_log != ()


def test_cases_are_named_by_any_number_of_ids(store: Store) -> None:
    many = tuple(f"c{n}" for n in range(100_000))
    assert len(store.call_ids(HEAD.run_id, CallFilter(cases=many))) == len(HEAD.cells)
    assert len(store.call_ids(HEAD.run_id, CallFilter(cases=("c1", "c2"), models=("alpha",)))) == 4
    assert store.matching_cases(HEAD.run_id, CallFilter(text="answer 15")) == {
        HEAD.cells[number].cell.case_id for number in (15, *range(150, 160))
    }
    assert store.call_count(HEAD.run_id) == len(HEAD.cells)


def test_a_question_nobody_waits_for_ends_and_leaves_the_connection_sound(store: Store) -> None:
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return True

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("engine.storage.stopping._STEPS", 50)
        with pytest.raises(Cancelled):
            store.call_ids(HEAD.run_id, CallFilter(text="answer"), should_stop=stop)
    assert asked
    assert len(store.call_ids(HEAD.run_id, CallFilter(text="answer"))) == len(HEAD.cells)
    assert len(store.matching_cases(HEAD.run_id, CallFilter(text="answer"), should_stop=lambda: False)) == 40
