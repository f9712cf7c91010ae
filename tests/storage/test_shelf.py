"""The user's own history and those inside projects, read as one."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from engine import paths
from engine.domain import Case
from engine.errors import ArenaError
from engine.storage.known_stores import KEPT, NAME, known_stores, remember_store
from engine.storage.shelf import Shelf
from engine.storage.store import Store
from tests.storage import samples
from tests.storage.samples import START

PROJECT = "Customer replies"


def add(store: Store, run_id: str, day: int, above: int = 0, **scores: float | None) -> None:
    """A finished run with an answer to everything."""
    head = samples.head(run_id, started=START + timedelta(days=day), project=PROJECT, models=tuple(scores))
    head = replace(head, number_above=above, cells=tuple(head.cells))
    store.create_run(head)
    for number, score in enumerate(scores.values()):
        writes = samples.done_writes(head, score)
        store.write(writes[number :: len(scores)])
    result = samples.finish(**scores)
    store.finish_run(run_id, replace(result, finished_at=head.started_at + timedelta(minutes=1)))


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    """Runs 1 and 3 in the main history, 2 and 4 in a project's own."""
    main = Store.open(tmp_path / "home" / "arena.sqlite")
    own = tmp_path / "project" / "own.sqlite"
    with Store.open(own) as other:
        add(other, "run_2", 2, above=1, m=0.5)
        add(other, "run_4", 4, above=3, m=1.0)
    add(main, "run_1", 1, m=0.5)
    add(main, "run_3", 3, above=2, m=0.5)
    made = Shelf(main)
    assert made.add(own)
    yield made
    made.close()


def test_runs_of_both_come_newest_first_with_their_file_and_numbers(shelf: Shelf, tmp_path: Path) -> None:
    found = shelf.runs(PROJECT)
    assert [(run.run_id, run.number) for run in found] == [
        ("run_4", 4), ("run_3", 3), ("run_2", 2), ("run_1", 1),
    ]  # fmt: skip
    assert found[0].store == tmp_path / "project" / "own.sqlite"
    assert [run.run_id for run in shelf.runs(PROJECT, 1)] == ["run_4"]


def test_one_run_is_found_in_its_file(shelf: Shelf) -> None:
    assert shelf.of("run_2").path.name == "own.sqlite"
    assert shelf.of("run_1") is shelf.main
    assert shelf.of("nothing") is shelf.main
    assert shelf.run("run_4").info.run_id == "run_4"
    assert shelf.find("last", PROJECT)[1] == "run_4"
    with pytest.raises(ArenaError) as caught:
        shelf.run("nothing")
    assert caught.value.code == "run_not_found"


def test_a_models_results_over_both_are_one_history(shelf: Shelf) -> None:
    points = shelf.model_history(PROJECT)
    assert [(point.run_id, point.row.score) for point in points] == [
        ("run_4", 1.0), ("run_3", 0.5), ("run_2", 0.5), ("run_1", 0.5),
    ]  # fmt: skip
    assert len(shelf.model_history(PROJECT, limit=2)) == 2
    assert set(shelf.deciding_metrics(PROJECT)) == {"run_1", "run_2", "run_3", "run_4"}
    (drift,) = shelf.drift(PROJECT)
    assert (drift.run_id, drift.score, drift.baseline, drift.baseline_runs) == ("run_4", 1.0, 0.5, 3)


def test_cases_of_runs_in_two_files_are_held_against_each_other(shelf: Shelf, tmp_path: Path) -> None:
    changes = shelf.case_changes(("run_1", "m"), ("run_2", "m"))
    assert changes
    assert all(change.same_case for change in changes)
    (other,) = shelf.stores[1:]
    head = samples.head("run_5", started=START + timedelta(days=5), project=PROJECT, models=("m",))
    changed = tuple(replace(case, input="Another question") for case in head.cases)
    other.create_run(replace(head, cases=changed))
    changes = shelf.case_changes(("run_1", "m"), ("run_5", "m"))
    assert changes
    assert not any(change.same_case for change in changes)
    assert isinstance(changed[0], Case)


def test_the_bin_is_that_of_each_file(shelf: Shelf) -> None:
    shelf.delete(["run_1", "run_2"])
    assert [run.run_id for run in shelf.runs(PROJECT)] == ["run_4", "run_3"]
    shelf.restore(["run_2"])
    assert [run.run_id for run in shelf.runs(PROJECT)] == ["run_4", "run_3", "run_2"]
    assert shelf.purge() == 1
    assert len(shelf.runs(include_deleted=True)) == 3


def test_what_died_in_a_projects_own_history_is_found(shelf: Shelf) -> None:
    (other,) = shelf.stores[1:]
    head = samples.head("run_9", started=START, project=PROJECT, models=("m",))
    other.create_run(replace(head, owner=samples.full_head().owner))
    with other.database.transaction() as connection:
        connection.execute("UPDATE runs SET owner_pid = -1 WHERE run_id = 'run_9'")
    assert shelf.mark_interrupted() == ["run_9"]
    assert shelf.run("run_9").info.status == "interrupted"


def test_a_file_that_cannot_be_written_is_read(
    shelf: Shelf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "locked" / "old.sqlite"
    with Store.open(path) as store:
        add(store, "run_7", 7, m=0.5)
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda place, how: how != os.W_OK and allowed(place, how))
    assert shelf.add(path)
    assert shelf.of("run_7").read_only
    assert shelf.runs(PROJECT, 1)[0].run_id == "run_7"
    assert shelf.mark_interrupted() == []


def test_a_damaged_file_hides_no_other_and_is_told(shelf: Shelf, tmp_path: Path) -> None:
    bad = tmp_path / "bad.sqlite"
    bad.write_bytes(b"this is no store" * 500)
    assert not shelf.add(bad)
    assert shelf.faults[bad].code == "store_damaged"
    assert len(shelf.runs(PROJECT)) == 4
    assert not shelf.add(tmp_path / "not there.sqlite")
    assert list(shelf.faults) == [bad]


def test_files_leave_the_shelf_and_are_closed_by_whom_they_are_given_to(shelf: Shelf) -> None:
    (gone,) = shelf.take_out([])
    assert [run.run_id for run in shelf.runs(PROJECT)] == ["run_3", "run_1"]
    assert gone.has_run("run_2")
    gone.close()


def test_histories_inside_projects_are_remembered_newest_first(tmp_path: Path) -> None:
    assert known_stores() == []
    one, two = tmp_path / "one.sqlite", tmp_path / "two.sqlite"
    for path in (one, two, one, tmp_path / "gone.sqlite"):
        if path.name != "gone.sqlite":
            path.touch()
        remember_store(path)
    assert known_stores() == [one, two]
    for number in range(KEPT + 5):
        remember_store(tmp_path / f"{number}.sqlite")
    assert len(json.loads((paths.home() / NAME).read_text(encoding="utf-8"))) == KEPT


@pytest.mark.parametrize("text", ["", "{}", '["relative.sqlite", 3]', "\x00"])
def test_a_list_that_cannot_be_read_is_an_empty_one(text: str) -> None:
    (paths.home() / NAME).write_text(text, encoding="utf-8")
    assert known_stores() == []
