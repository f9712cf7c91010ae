"""Questions over many runs, the bin, finding runs, and several files as one history."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from engine.domain import Cell, RunStatus
from engine.errors import UserError
from engine.storage.housekeeping import BACKUPS_KEPT, keep_backup
from engine.storage.records import DoneWrite
from engine.storage.rows import CaseChange, FlakyCase
from engine.storage.shelf import Shelf
from engine.storage.store import Store
from tests.storage import samples
from tests.storage.samples import START

CASES = Path(__file__).parents[1] / "data" / "cases"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "arena.sqlite") as opened:
        yield opened


def add(
    store: Store, run_id: str, day: int, project: str = "Customer replies", **scores: float | None
) -> None:
    """A finished run `day` days after the first."""
    head = samples.head(
        run_id, started=START + timedelta(days=day), project=project, models=tuple(scores) or ("m",)
    )
    store.create_run(head)
    result = samples.finish(**scores)
    store.finish_run(run_id, replace(result, finished_at=head.started_at + timedelta(minutes=1)))


def test_runs_come_newest_first_and_are_numbered_within_their_project(store: Store) -> None:
    add(store, "run_1", 1, alpha=0.5)
    add(store, "run_3", 3, alpha=0.5)
    add(store, "run_2", 2, project="Invoices", alpha=0.5)
    assert [(run.run_id, run.number) for run in store.runs()] == [("run_3", 2), ("run_2", 1), ("run_1", 1)]
    assert [run.run_id for run in store.runs("Customer replies")] == ["run_3", "run_1"]
    assert [run.run_id for run in store.runs("/projects/replies", 1)] == ["run_3"]
    assert store.runs("nothing") == []


def test_runs_are_found_by_beginning_and_as_the_last(store: Store) -> None:
    add(store, "run_20261103_aaa", 1, alpha=0.5)
    add(store, "run_20261103_aab", 2, alpha=0.5)
    add(store, "run_20261104_aaa", 3, project="Invoices", alpha=0.5)
    assert store.resolve("run_20261104") == "run_20261104_aaa"
    assert store.resolve("last") == "run_20261104_aaa"
    assert store.resolve("last", "Customer replies") == "run_20261103_aab"
    assert store.run("run_20261103_aaa").info.run_id == "run_20261103_aaa"
    with pytest.raises(UserError) as caught:
        store.resolve("run_20261103")
    assert caught.value.code == "run_ambiguous"
    assert "run_20261103_aab" in caught.value.message
    for reference in ("", "run_%", "run_2026110_", "aaa"):
        with pytest.raises(UserError) as caught:
            store.resolve(reference)
        assert caught.value.code == "run_not_found"


def test_a_deleted_run_is_hidden_can_be_restored_and_goes_for_good(store: Store) -> None:
    add(store, "run_1", 1, alpha=0.5)
    add(store, "run_2", 2, alpha=0.5)
    store.write([DoneWrite("run_2", samples.plain_call(Cell("alpha", "c1", 1)))])
    store.delete(["run_2"])
    assert [run.run_id for run in store.runs()] == ["run_1"]
    assert [run.run_id for run in store.runs(include_deleted=True)] == ["run_2", "run_1"]
    assert store.runs(include_deleted=True)[0].deleted_at is not None
    assert store.resolve("last") == "run_1"
    assert store.model_history("Customer replies", "alpha")[0].run_id == "run_1"
    store.restore(["run_2"])
    assert store.runs()[0].run_id == "run_2"
    assert store.runs()[0].deleted_at is None
    store.delete(["run_2"])
    assert store.purge() == 1
    assert store.purge() == 0
    assert [run.run_id for run in store.runs(include_deleted=True)] == ["run_1"]
    with pytest.raises(UserError):
        store.run("run_2")
    # Its number does not come back.
    add(store, "run_3", 3, alpha=0.5)
    assert store.runs()[0].number == 3


def test_a_purge_leaves_nothing_behind_and_shortens_the_file(store: Store) -> None:
    head = samples.head("run_big", cases=tuple(f"c{n}" for n in range(300)))
    store.create_run(head)
    add(store, "run_1", 1, alpha=0.5)
    store.write([DoneWrite("run_big", samples.full_call(planned.cell)) for planned in head.cells])
    store.finish_run("run_big", samples.finish(alpha=0.5))
    store.database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    before = store.path.stat().st_size
    store.delete(["run_big"])
    assert store.purge() == 1
    store.database.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert store.path.stat().st_size < before / 3
    connection = store.database.connection
    for table in ("answers", "scores", "attempts", "events"):
        assert connection.execute(f"SELECT count(*) FROM {table}").fetchone()[0] == 0, table
    assert connection.execute("SELECT count(*) FROM case_contents").fetchone()[0] == 3
    assert store.check() == ()


def test_a_purge_that_was_cut_short_hides_the_run_and_is_completed_later(store: Store) -> None:
    add(store, "run_1", 1, alpha=0.5)
    store.delete(["run_1"])
    with store.database.transaction() as connection:
        connection.execute("UPDATE runs SET purged = 1")
        connection.execute("DELETE FROM cells WHERE id % 2")
    assert store.runs(include_deleted=True) == []
    with pytest.raises(UserError):
        store.restore(["run_1"])
    assert store.purge() == 1


def test_a_model_over_time(store: Store) -> None:
    add(store, "run_1", 1, alpha=0.5, beta=0.7)
    add(store, "run_2", 2, alpha=0.9, beta=None)
    store.write([DoneWrite("run_2", samples.full_call(Cell("alpha", "c1", 1)))])
    store.finish_run("run_2", samples.finish(RunStatus.CANCELLED, alpha=0.9, beta=None))
    points = store.model_history("Customer replies", "alpha")
    assert [(point.run_id, point.number, point.row.score, point.row.rank) for point in points] == [
        ("run_2", 2, 0.9, 1),
        ("run_1", 1, 0.5, 2),
    ]
    newest = points[0]
    assert (newest.started_at, newest.run_status) == (START + timedelta(days=2), RunStatus.CANCELLED)
    assert (newest.label, newest.model, newest.reported) == ("Alpha", "vendor/alpha", "model-2026-10-01")
    assert points[1].reported is None
    assert [point.row.model_key for point in store.model_history("Customer replies")] == [
        "alpha",
        "beta",
        "beta",
        "alpha",
    ]
    assert len(store.model_history("Customer replies", limit=3)) == 3


def test_flaky_cases_widest_first_and_never_across_runs(store: Store) -> None:
    marks = {"c1": (1.0, 0.0), "c2": (0.5, 0.75), "c3": (1.0, 1.0)}
    for run_id, trial_of in (("run_a", 0), ("run_b", 1)):
        head = samples.head(run_id, models=("alpha",))
        store.create_run(head)
        for case, scores in marks.items():
            for trial in (1, 2):
                score = scores[trial - 1] if run_id == "run_a" else scores[trial_of]
                store.write([DoneWrite(run_id, samples.plain_call(Cell("alpha", case, trial), score))])
    assert store.flaky_cases("run_a") == [
        FlakyCase("run_a", "c1", "alpha", 2, 0.0, 1.0, 0.5),
        FlakyCase("run_a", "c2", "alpha", 2, 0.5, 0.75, 0.625),
    ]
    assert [case.case_id for case in store.flaky_cases("run_a", 1)] == ["c1"]
    assert store.flaky_cases("run_b") == []


def test_what_got_worse_between_two_releases_of_a_model(store: Store) -> None:
    before = {"c1": 1.0, "c2": 1.0, "c3": 0.5, "c4": 1.0}
    after = {"c1": 0.5, "c2": 0.0, "c3": 1.0, "c5": 0.0}
    for run_id, model, scores in (("run_a", "m-4", before), ("run_b", "m-5", after)):
        head = samples.head(run_id, models=(model,), cases=tuple(scores), trials=2)
        if run_id == "run_b":
            head = replace(head, cases=(replace(head.cases[0], input="rewritten"), *head.cases[1:]))
        store.create_run(head)
        store.write(
            [
                DoneWrite(run_id, samples.plain_call(Cell(model, case, trial), score))
                for case, score in scores.items()
                for trial in (1, 2)
            ]
        )
    changes = store.case_changes(("run_a", "m-4"), ("run_b", "m-5"))
    assert changes == [
        CaseChange("c1", 1.0, 0.5, 2, 2, same_case=False),
        CaseChange("c2", 1.0, 0.0, 2, 2, same_case=True),
        CaseChange("c3", 0.5, 1.0, 2, 2, same_case=True),
    ]
    assert store.regressions(("run_a", "m-4"), ("run_b", "m-5")) == [changes[1]]


def test_a_case_without_a_mark_is_neither_better_nor_worse(store: Store) -> None:
    for run_id in ("run_a", "run_b"):
        store.create_run(samples.head(run_id, models=("alpha",), cases=("c1",), trials=1))
    store.write([DoneWrite("run_a", samples.plain_call(Cell("alpha", "c1", 1)))])
    store.write([DoneWrite("run_b", samples.failed_call(Cell("alpha", "c1", 1)))])
    pair = (("run_a", "alpha"), ("run_b", "alpha"))
    assert store.case_changes(*pair) == [CaseChange("c1", 1.0, None, 1, 0, same_case=True)]
    assert store.regressions(*pair) == []


def test_drift_is_held_against_the_mean_of_earlier_runs(store: Store) -> None:
    for day, score in enumerate((0.1, 0.4, 0.8), 1):
        add(store, f"run_{day}", day, alpha=score, gone=0.5)
    add(store, "run_9", 9, alpha=0.5, new=0.9)
    drifts = {drift.model_key: drift for drift in store.drift("Customer replies", back=2)}
    assert set(drifts) == {"alpha", "new"}
    alpha, new = drifts["alpha"], drifts["new"]
    assert (alpha.run_id, alpha.score, alpha.baseline_runs) == ("run_9", 0.5, 2)
    assert alpha.baseline == pytest.approx(0.6)
    assert (alpha.status, alpha.previous_status) == ("ranked", "ranked")
    assert (new.score, new.baseline, new.baseline_runs, new.previous_status) == (0.9, None, 0, None)
    assert store.drift("nothing") == []


def test_a_run_is_copied_whole_and_only_once(store: Store, tmp_path: Path) -> None:
    full = samples.full_head()
    cell = next(iter(full.cells)).cell
    with Store.open(tmp_path / "other.sqlite") as other:
        add(other, "run_filler", 0, alpha=0.5)
        other.create_run(full)
        other.write([DoneWrite(full.run_id, samples.full_call(cell))])
        beside = replace(samples.full_call(cell), answer=replace(samples.FULL_ANSWER, text="again"))
        other.write([DoneWrite(full.run_id, beside, counts=False)])
        other.finish_run(full.run_id, samples.finish(alpha=0.5))
        expected = other.run(full.run_id)
        answers = other.answers(full.run_id, cell)
    add(store, "run_own", 1, alpha=0.1)
    add(store, "run_own_too", 2, alpha=0.1)
    assert store.copy_from(tmp_path / "other.sqlite", [full.run_id]) == [full.run_id]
    assert store.copy_from(tmp_path / "other.sqlite", [full.run_id]) == []
    copied = store.run(full.run_id)
    # Number 2 is taken here.
    assert copied == replace(expected, info=replace(expected.info, number=3, store=store.path))
    assert store.calls(full.run_id) == [samples.full_call(cell)]
    assert store.answers(full.run_id, cell) == answers
    assert store.board_rows(full.run_id) == list(samples.finish(alpha=0.5).rows)
    assert store.check() == ()
    assert store.copy_from(tmp_path / "other.sqlite") == ["run_filler"]
    add(store, "run_next", 3, alpha=0.1)
    assert [run.number for run in store.runs()] == [5, 2, 1, 4, 3]


def test_a_copied_run_that_shares_cases_keeps_its_own(store: Store, tmp_path: Path) -> None:
    with Store.open(tmp_path / "other.sqlite") as other:
        other.create_run(samples.head("run_b", cases=("x", "c2", "c1")))
        expected = other.run("run_b").cases
    store.create_run(samples.head("run_a"))
    store.copy_from(tmp_path / "other.sqlite")
    assert store.run("run_b").cases == expected
    assert store.run("run_a").cases == samples.head().cases
    with store.database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM case_contents").fetchone()[0] == 4


def test_several_files_are_one_history(store: Store, tmp_path: Path) -> None:
    add(store, "run_1", 1, alpha=0.5)
    add(store, "run_3", 3, alpha=0.5)
    project = tmp_path / "project.sqlite"
    with Store.open(project) as other:
        add(other, "run_2", 2, alpha=0.5)
        other.copy_from(store.path, ["run_1"])
    shutil.copyfile(CASES / "history_damaged.db", tmp_path / "damaged.sqlite")
    shelf = Shelf(store)
    assert shelf.add(project)
    assert shelf.add(project)
    assert not shelf.add(tmp_path / "damaged.sqlite")
    assert not shelf.add(tmp_path / "missing.sqlite")
    assert {path.name: fault.code for path, fault in shelf.faults.items()} == {
        "damaged.sqlite": "store_damaged",
    }
    assert [(run.run_id, run.store) for run in shelf.runs()] == [
        ("run_3", store.path),
        ("run_2", project),
        ("run_1", store.path),
    ]
    assert [run.run_id for run in shelf.runs("Customer replies", 2)] == ["run_3", "run_2"]
    found, run_id = shelf.find("run_2")
    assert (found.path, found.run(run_id).info.run_id) == (project, "run_2")
    assert shelf.find("last")[1] == "run_3"
    with pytest.raises(UserError):
        shelf.find("run_9")
    (gone,) = shelf.take_out([])
    gone.close()
    assert [run.run_id for run in shelf.runs()] == ["run_3", "run_1"]
    shelf.close()


def test_the_last_run_of_an_empty_history_is_not_found(store: Store) -> None:
    with pytest.raises(UserError) as caught:
        Shelf(store).find("last")
    assert caught.value.code == "run_not_found"


def test_safety_copies_are_made_once_a_day_and_the_newest_are_kept(store: Store) -> None:
    add(store, "run_1", 1, alpha=0.5)
    start = datetime(2026, 11, 1, tzinfo=UTC)
    made = [keep_backup(store.database, start + timedelta(days=day)) for day in range(BACKUPS_KEPT + 2)]
    assert keep_backup(store.database, start + timedelta(days=BACKUPS_KEPT + 1, hours=5)) is None
    last = made[-1]
    assert last is not None
    assert sorted(last.parent.iterdir()) == sorted(path for path in made[-BACKUPS_KEPT:] if path)
    with Store.open(last, read_only=True) as copy:
        assert copy.runs()[0].run_id == "run_1"
    assert store.keep_backup() is not None


def test_the_cost_of_a_running_run_is_what_is_known_of_it(store: Store) -> None:
    head = samples.head()
    store.create_run(head)
    assert store.runs()[0].cost_usd == Decimal(0)
    store.write([DoneWrite(head.run_id, samples.full_call(Cell("alpha", "c1", 1)))])
    assert store.runs()[0].cost_usd == Decimal("0.00041230")
    store.write([DoneWrite(head.run_id, samples.plain_call(Cell("beta", "c1", 1)))])
    assert store.runs()[0].cost_usd is None


def test_each_run_names_the_metric_that_decided_it(store: Store) -> None:
    said = {
        "run_a": ('{"deciding": "latency"}', "{}"),
        "run_b": (None, '{"metrics": {"deciding": "pass_rate"}}'),
        "run_c": ("damaged", "{}"),
    }
    for day, run in enumerate(said):
        add(store, run, day)
    with sqlite3.connect(store.database.path) as connection:
        for run, (board, config) in said.items():
            connection.execute(
                "UPDATE run_details SET board = ?, config = ?"
                " WHERE run = (SELECT id FROM runs WHERE run_id = ?)",
                (board, config, run),
            )
    found = store.deciding_metrics("Customer replies")
    assert found == {"run_a": "latency", "run_b": "pass_rate", "run_c": "accuracy"}
