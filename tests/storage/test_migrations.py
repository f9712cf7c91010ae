"""From one version of the file to the next: whole or not at all, with a copy first."""

from __future__ import annotations

import shutil
import sqlite3
import threading
from pathlib import Path

import pytest

from engine.domain import Cell
from engine.errors import UserError, WorldError
from engine.storage import migrations
from engine.storage.database import Database
from engine.storage.migrations import MIGRATIONS, Migration, bring_up_to_date
from engine.storage.store import Store
from tests.storage import samples

RELEASED = Path(__file__).parents[1] / "data" / "stores"


def _add_colour(connection: sqlite3.Connection) -> None:
    connection.execute("ALTER TABLE runs ADD COLUMN colour TEXT")
    connection.execute("UPDATE runs SET colour = 'blue'")


def _break_down(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE half (x)")
    connection.execute("UPDATE runs SET label = 'half'")
    raise sqlite3.OperationalError("the power went")


NOW = migrations.SCHEMA_VERSION
NEXT = (*MIGRATIONS, Migration(NOW + 1, _add_colour))
BROKEN = (*MIGRATIONS, Migration(NOW + 1, _break_down))


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "arena.sqlite"
    with Store.open(path) as store:
        store.create_run(samples.head())
    return path


def state(path: Path) -> tuple[int, list[str], list[str]]:
    """Version, tables and labels of a file."""
    connection = sqlite3.connect(path)
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    tables = [row[0] for row in connection.execute("SELECT name FROM sqlite_master ORDER BY name")]
    labels = [row[0] for row in connection.execute("SELECT label FROM runs")]
    connection.close()
    return version, tables, labels


def test_a_step_is_taken_after_a_dated_copy(old: Path) -> None:
    before = state(old)
    database = Database(old)
    backup = bring_up_to_date(database, NEXT)
    colour = database.connection.execute("SELECT colour FROM runs").fetchone()[0]
    database.close()
    assert colour == "blue"
    assert state(old)[0] == NOW + 1
    assert backup is not None
    assert backup.name.startswith(f"arena.v{NOW}-20")
    assert backup.parent == old.parent
    assert state(backup) == before


def test_a_step_that_fails_changes_nothing(old: Path) -> None:
    before = state(old)
    database = Database(old)
    with pytest.raises(WorldError):
        bring_up_to_date(database, BROKEN)
    database.close()
    assert state(old) == before
    with Store.open(old) as store:
        assert store.runs()[0].label == ""


def test_without_room_for_the_copy_nothing_is_changed(old: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Database, target: Path) -> None:
        raise WorldError("disk_full", "The disk is full.")

    monkeypatch.setattr(Database, "copy_to", full)
    before = state(old)
    database = Database(old)
    with pytest.raises(WorldError):
        bring_up_to_date(database, NEXT)
    database.close()
    assert state(old) == before


def test_a_current_file_is_neither_copied_nor_changed(old: Path) -> None:
    before = old.read_bytes()
    with Store.open(old) as store:
        assert store.backup is None
    assert old.read_bytes() == before
    assert [file.name for file in old.parent.glob("*.sqlite")] == ["arena.sqlite"]


def test_an_old_file_is_not_changed_by_reading(old: Path) -> None:
    database = Database(old, read_only=True)
    with pytest.raises(UserError) as caught:
        bring_up_to_date(database, NEXT)
    database.close()
    assert caught.value.code == "store_older"


def test_two_programs_that_start_at_once_make_one_store(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    gate = threading.Barrier(4)
    faults: list[BaseException] = []

    def start() -> None:
        gate.wait()
        try:
            with Store.open(path) as store:
                store.runs()
        except BaseException as error:
            faults.append(error)

    threads = [threading.Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert state(path)[0] == migrations.SCHEMA_VERSION


def test_the_versions_rise_by_one() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


@pytest.mark.parametrize("released", sorted(RELEASED.glob("v*.sqlite")), ids=lambda path: path.stem)
def test_every_released_file_still_opens(released: Path, tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    shutil.copyfile(released, path)
    with Store.open(path) as store:
        assert store.check() == ()
        newest, oldest = store.runs()
        assert (newest.run_id, newest.status, newest.completed, newest.errors) == ("run_b", "cancelled", 1, 1)
        stored = store.run(oldest.run_id)
        assert stored.cases == samples.full_head().cases
        assert store.calls(oldest.run_id) == [samples.full_call(next(iter(samples.full_head().cells)).cell)]
        assert store.board_rows(oldest.run_id) == list(samples.finish(alpha=0.75, beta=None).rows)


def test_an_old_file_gains_marks_and_votes(tmp_path: Path) -> None:
    path = tmp_path / "arena.sqlite"
    shutil.copyfile(RELEASED / "v1.sqlite", path)
    with Store.open(path) as store:
        assert store.backup is not None
        assert store.own_marks("run_b") == []
        assert store.votes("run_b") == []
        store.set_mark("run_b", Cell("alpha", "c1", 1), "good", 0.75)
        store.add_vote("run_b", samples.vote("v1", "c1", "left"))
        assert [mark.score for mark in store.own_marks("run_b")] == [0.75]
        assert [vote.choice for vote in store.votes("run_b")] == ["left"]


def test_a_file_of_each_version_is_kept() -> None:
    kept = {int(path.stem[1:]) for path in RELEASED.glob("v*.sqlite")}
    assert kept == {step.version for step in MIGRATIONS}
