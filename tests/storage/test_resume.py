"""Runs that ended early: who owns them, what is missing, how they are taken up again."""

from __future__ import annotations

import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from engine.domain import Case, Cell, RunStatus
from engine.errors import UserError
from engine.storage import owner
from engine.storage.records import (
    AnswerWrite,
    DoneWrite,
    Owner,
    PlannedCell,
    RunHead,
    SpendWrite,
    StartedWrite,
)
from engine.storage.rows import UnfinishedCell
from engine.storage.store import Store
from tests.storage import samples

CELLS = [planned.cell for planned in samples.head().cells]
RUN = samples.head().run_id
ELSEWHERE = Owner(1, "then", "another-computer")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "arena.sqlite") as opened:
        yield opened


def owned_by(who: Owner) -> RunHead:
    return replace(samples.head(), owner=who)


def gone() -> Owner:
    """A process of this computer that has ended."""
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        mark = owner.start_mark(process.pid)
        assert mark
        assert owner.is_alive(Owner(process.pid, mark, platform.node()))
    return Owner(process.pid, mark, platform.node())


def seen(store: Store, moment: datetime) -> None:
    with store.database.transaction() as connection:
        connection.execute("UPDATE runs SET seen_at = ?", (moment.isoformat(timespec="microseconds"),))


def test_this_process_is_alive_and_known_by_its_start() -> None:
    me = owner.this_process()
    assert me.pid == os.getpid()
    assert me.started == owner.start_mark(os.getpid())
    assert owner.is_alive(me)


def test_a_reused_pid_is_not_the_owner(store: Store) -> None:
    impostor = replace(owner.this_process(), started="an earlier process of this number")
    assert not owner.is_alive(impostor)
    store.create_run(owned_by(impostor))
    assert store.mark_interrupted() == [RUN]


def test_an_owner_without_a_known_start_counts_as_alive_in_doubt() -> None:
    assert owner.is_alive(replace(owner.this_process(), started=""))


def test_no_process_has_the_numbers_below_one() -> None:
    assert owner.start_mark(0) is None
    assert owner.start_mark(-1) is None


def test_the_run_of_a_process_that_ended_is_interrupted(store: Store) -> None:
    store.create_run(owned_by(gone()))
    store.write([DoneWrite(RUN, samples.plain_call(cell)) for cell in CELLS[:4]])
    store.write([DoneWrite(RUN, samples.failed_call(CELLS[4])), StartedWrite(RUN, CELLS[5], samples.START)])
    store.write([SpendWrite(RUN, "alpha", Decimal("0.3"), Decimal("0.2"))])
    assert store.mark_interrupted() == [RUN]
    stored = store.run(RUN)
    info = stored.info
    assert (info.status, info.completed, info.errors, info.stopped) == (RunStatus.INTERRUPTED, 4, 1, 7)
    assert info.finished_at == samples.START
    assert info.cost_usd == Decimal("0.3")
    assert stored.spend[0].reserved_usd == Decimal("0.2")
    assert stored.owner is None
    assert store.mark_interrupted() == []


def test_a_run_that_goes_on_is_left_alone(store: Store) -> None:
    store.create_run(samples.head())
    assert store.mark_interrupted() == []
    assert store.runs()[0].status is RunStatus.RUNNING


def test_a_run_on_another_computer_is_left_alone_while_it_gives_signs_of_life(store: Store) -> None:
    store.create_run(owned_by(ELSEWHERE))
    assert store.mark_interrupted() == []
    seen(store, datetime.now(UTC) - owner.SILENCE + timedelta(minutes=1))
    assert store.mark_interrupted() == []
    seen(store, datetime.now(UTC) - owner.SILENCE - timedelta(minutes=1))
    assert store.mark_interrupted() == [RUN]


def test_what_is_missing_comes_in_plan_order_and_nothing_answered_is_in_it(store: Store) -> None:
    store.create_run(owned_by(gone()))
    answer = samples.FULL_ANSWER
    store.write(
        [
            DoneWrite(RUN, samples.plain_call(CELLS[3])),
            DoneWrite(RUN, samples.failed_call(CELLS[1])),
            DoneWrite(RUN, samples.stopped_call(CELLS[2])),
            AnswerWrite(RUN, CELLS[0], answer),
            StartedWrite(RUN, CELLS[5], samples.START),
        ]
    )
    missing = store.unfinished(RUN)
    assert [(cell.cell, cell.state) for cell in missing] == [
        (CELLS[2], "stopped"),
        (CELLS[4], "planned"),
        (CELLS[5], "running"),
        *((cell, "planned") for cell in CELLS[6:]),
    ]
    assert missing[0].fingerprint == "print-alpha-c2"
    assert [write.cell for write in store.pending_scores(RUN)] == [CELLS[0]]
    assert store.planned(RUN) == list(samples.head().cells)


def test_taken_up_again_only_the_missing_cells_are_planned(store: Store) -> None:
    store.create_run(owned_by(gone()))
    store.write([DoneWrite(RUN, samples.plain_call(cell)) for cell in CELLS[:6]])
    store.write([DoneWrite(RUN, samples.stopped_call(cell)) for cell in CELLS[6:9]])
    store.finish_run(RUN, samples.finish(RunStatus.CANCELLED))
    assert store.runs()[0].stopped == 6
    taken = store.reopen_run(RUN)
    assert (taken.info.status, taken.info.finished_at, taken.owner) == (
        RunStatus.RUNNING,
        None,
        owner.this_process(),
    )
    assert (taken.info.completed, taken.info.stopped) == (6, 0)
    assert store.unfinished(RUN) == [
        UnfinishedCell(planned.cell, planned.fingerprint, "planned")
        for planned in list(samples.head().cells)[6:]
    ]
    store.write([DoneWrite(RUN, samples.plain_call(cell)) for cell in CELLS[6:]])
    store.finish_run(RUN, samples.finish(alpha=1.0))
    info = store.runs()[0]
    assert (info.status, info.completed, info.stopped) == (RunStatus.COMPLETED, 12, 0)
    assert info.duration_s == 600.0


def test_a_run_that_goes_on_cannot_be_taken_up_or_deleted(store: Store) -> None:
    store.create_run(samples.head())
    with pytest.raises(UserError) as caught:
        store.reopen_run(RUN)
    assert caught.value.code == "run_in_use"
    with pytest.raises(UserError) as caught:
        store.delete([RUN])
    assert caught.value.code == "run_in_use"


def test_a_run_in_the_bin_cannot_be_taken_up(store: Store) -> None:
    store.create_run(owned_by(gone()))
    store.mark_interrupted()
    store.delete([RUN])
    with pytest.raises(UserError) as caught:
        store.reopen_run(RUN)
    assert caught.value.code == "run_deleted"


def test_taken_up_with_the_project_of_today(store: Store) -> None:
    store.create_run(owned_by(gone()))
    store.write([DoneWrite(RUN, samples.plain_call(CELLS[0]))])
    today = samples.head(cases=("c1", "c2", "c3", "c4"))
    changed = tuple(replace(case, input=f"new {case.id}") for case in today.cases)
    today = replace(
        today,
        cases=changed,
        config={"project": "today"},
        cells=[PlannedCell(planned.cell, "new") for planned in today.cells],
    )
    taken = store.reopen_run(RUN, today)
    assert taken.config == {"project": "today"}
    # What the project has gained since is no part of the run.
    assert taken.cases == changed[:3]
    assert len(store.unfinished(RUN)) == len(CELLS) - 1
    assert {cell.fingerprint for cell in store.unfinished(RUN)} == {"new"}
    assert store.planned(RUN)[0] == PlannedCell(Cell("alpha", "c1", 1), "print-alpha-c1")
    store.write([DoneWrite(RUN, samples.plain_call(cell)) for cell in CELLS[1:]])
    assert store.runs()[0].completed == len(CELLS)


def test_the_cases_of_an_old_run_stay_as_they_were(store: Store) -> None:
    store.create_run(samples.head("run_a"))
    later = samples.head("run_b")
    later = replace(later, cases=tuple(replace(case, input="rewritten") for case in later.cases))
    store.create_run(later)
    assert [case.input for case in store.run("run_a").cases] == ["question c1", "question c2", "question c3"]
    assert isinstance(store.run("run_b").cases[0], Case)


def test_an_answer_that_is_paid_for_is_not_replaced_by_a_failure(store: Store) -> None:
    store.create_run(samples.head())
    scored = samples.plain_call(CELLS[0])
    store.write([DoneWrite(RUN, scored), DoneWrite(RUN, samples.failed_call(CELLS[0]))])
    assert store.calls(RUN) == [scored]
    # A failure gives way to a later failure.
    store.write([DoneWrite(RUN, samples.failed_call(CELLS[1]))])
    again = replace(samples.failed_call(CELLS[1]), attempts=3)
    store.write([DoneWrite(RUN, again)])
    assert store.calls(RUN) == [scored, again]
