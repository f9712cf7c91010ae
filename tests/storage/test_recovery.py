"""A damaged history: the program starts, the file is kept, what can be read comes along."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from engine.domain import RunStatus
from engine.errors import WorldError
from engine.storage.recovery import NewStart, set_aside, start_anew
from engine.storage.store import Store
from tests.storage import samples
from tests.storage.samples import START

CASES = Path(__file__).parents[1] / "data" / "cases"
NOW = datetime(2026, 12, 1, 8, 30, 15, tzinfo=UTC)
RUNS = 6
CALLS = 400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.sqlite"


@pytest.fixture
def filled(path: Path) -> Path:
    """A store with six finished runs of 400 calls."""
    with Store.open(path) as store:
        for number in range(RUNS):
            head = samples.head(
                f"run_{number}",
                cases=tuple(f"c{n}" for n in range(CALLS // 4)),
                started=START + timedelta(days=number),
            )
            store.create_run(head)
            store.write(samples.done_writes(head))
            store.finish_run(head.run_id, samples.finish(alpha=0.9, beta=0.8))
    return path


def pages_of(path: Path, table: str) -> list[int]:
    """Numbers of the pages of a table's tree, its first page first."""
    connection = sqlite3.connect(path)
    first = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    connection.close()
    content = path.read_bytes()
    pages, todo = [], [first]
    while todo:
        page = todo.pop(0)
        pages.append(page)
        start = (page - 1) * 4096
        if content[start] == 5:  # an inner page of a table tree
            count = int.from_bytes(content[start + 3 : start + 5], "big")
            for cell in range(count):
                place = start + int.from_bytes(content[start + 12 + 2 * cell : start + 14 + 2 * cell], "big")
                todo.append(int.from_bytes(content[place : place + 4], "big"))
            todo.append(int.from_bytes(content[start + 8 : start + 12], "big"))
    return pages


def overwrite(path: Path, pages: list[int]) -> bytes:
    content = bytearray(path.read_bytes())
    for page in pages:
        content[(page - 1) * 4096 : page * 4096] = b"\xa5" * 4096
    path.write_bytes(content)
    return bytes(content)


def begin(path: Path) -> NewStart:
    """Opens a store that is damaged, as the program does."""
    with pytest.raises(WorldError) as caught:
        Store.open(path)
    assert caught.value.code == "store_damaged"
    return start_anew(path, NOW)


def test_the_damaged_history_of_the_field(path: Path) -> None:
    shutil.copyfile(CASES / "history_damaged.db", path)
    before = path.read_bytes()
    start = begin(path)
    assert start.set_aside == path.with_name("arena.damaged-20261201-083015.sqlite")
    assert start.set_aside.read_bytes() == before
    assert (start.complete, start.partial) == ((), ())
    start.store.create_run(samples.head())
    assert len(start.store.runs()) == 1
    start.store.close()
    assert sorted(file.name for file in path.parent.glob("*.sqlite*")) == [
        "arena.damaged-20261201-083015.sqlite",
        "arena.sqlite",
    ]


def lost_answers(path: Path) -> None:
    overwrite(path, pages_of(path, "answers")[5:7])


def lost_first_page_of_cells(path: Path) -> None:
    overwrite(path, pages_of(path, "cells")[1:2])


def lost_root_of_answers(path: Path) -> None:
    overwrite(path, pages_of(path, "answers")[:1])


@pytest.mark.parametrize("damage", [lost_answers, lost_first_page_of_cells, lost_root_of_answers])
def test_what_can_be_read_comes_along(filled: Path, damage: Callable[[Path], None]) -> None:
    with Store.open(filled) as store:
        before = {run.run_id: store.calls(run.run_id) for run in store.runs()}
    damage(filled)
    content = filled.read_bytes()
    start = begin(filled)
    assert start.set_aside.read_bytes() == content
    store = start.store
    assert store.check() == ()
    assert {run.run_id for run in store.runs()} == set(before)
    assert set(start.complete) | set(start.partial) == set(before)
    assert start.partial
    for run in store.runs():
        calls = store.calls(run.run_id)
        # Nothing is invented: every call that is there was there.
        assert {call.cell for call in calls} <= {call.cell for call in before[run.run_id]}
        assert all(call in before[run.run_id] for call in calls)
        if run.run_id in start.complete:
            assert run.status is RunStatus.COMPLETED
            assert calls == before[run.run_id]
        else:
            assert run.status is RunStatus.INTERRUPTED
            assert len(calls) + len(store.unfinished(run.run_id)) == run.planned
    if damage is not lost_root_of_answers:
        assert sum(len(store.calls(run.run_id)) for run in store.runs()) > RUNS * CALLS * 0.8
    store.close()


def test_a_stale_log_beside_a_sound_file_costs_nothing(filled: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    with Store.open(other) as store:
        store.create_run(samples.head("run_other", cases=tuple(f"x{n}" for n in range(200))))
        store.database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        store.write(samples.done_writes(samples.head("run_other", cases=("x1", "x2"))))
        # The log of another file, as after putting back only one file of a backup.
        shutil.copyfile(other.with_name("other.sqlite-wal"), tmp_path / "log")
    shutil.copyfile(tmp_path / "log", filled.with_name("arena.sqlite-wal"))
    start = begin(filled)
    assert len(start.complete) == RUNS
    assert start.partial == ()
    assert start.set_aside.with_name(start.set_aside.name + "-wal").exists()
    start.store.close()


def test_two_on_the_same_second_do_not_overwrite_each_other(path: Path) -> None:
    names = []
    for content in (b"one", b"two"):
        path.write_bytes(content)
        names.append(set_aside(path, NOW))
    assert [name.read_bytes() for name in names] == [b"one", b"two"]
