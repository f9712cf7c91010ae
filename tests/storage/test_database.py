"""How the file is opened, kept private, shared and refused."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.errors import ArenaError, UserError, WorldError
from engine.storage import database as database_module
from engine.storage import migrations
from engine.storage.database import Database
from engine.storage.faults import from_os, from_sqlite
from engine.storage.records import DoneWrite
from engine.storage.store import Store, check_store
from tests.storage import samples

CASES = Path(__file__).parents[1] / "data" / "cases"


def refused(path: Path, *, read_only: bool = False) -> ArenaError:
    """The error with which opening is refused."""
    with pytest.raises(ArenaError) as caught:
        Store.open(path, read_only=read_only)
    assert str(path) in caught.value.message
    assert caught.value.hint
    return caught.value


def fill(path: Path, run_id: str = "run_a") -> None:
    """A store with one finished run."""
    with Store.open(path) as store:
        head = samples.head(run_id)
        store.create_run(head)
        store.write(samples.done_writes(head))
        store.finish_run(run_id, samples.finish(alpha=1.0))


def break_table(path: Path, table: str) -> bytes:
    """Overwrites the first page of a table; returns the content of the file then."""
    connection = sqlite3.connect(path)
    page = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
    size = connection.execute("PRAGMA page_size").fetchone()[0]
    connection.close()
    content = bytearray(path.read_bytes())
    content[(page - 1) * size : page * size] = b"\xa5" * size
    path.write_bytes(content)
    return bytes(content)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "arena.sqlite"


def test_a_new_store_is_durable_logged_and_private(path: Path) -> None:
    with Store.open(path) as store:
        connection = store.database.connection
        assert store.database.settle_journal() == "wal"
        assert connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        assert connection.execute("PRAGMA foreign_keys").fetchone()[0] == 1
        assert connection.execute("PRAGMA auto_vacuum").fetchone()[0] == 2
        store.create_run(samples.head())
        for file in path.parent.glob("arena.sqlite*"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600, file


def test_nothing_is_left_beside_the_file_after_closing(path: Path) -> None:
    fill(path)
    content = path.read_bytes()
    with Store.open(path, read_only=True) as store:
        assert len(store.runs()) == 1
    assert check_store(path) is None
    assert path.read_bytes() == content
    assert [file.name for file in path.parent.glob("arena.sqlite*")] == ["arena.sqlite"]


@pytest.mark.skipif(sys.platform == "win32", reason="Windows keeps files private by their folder")
def test_a_file_that_others_could_read_is_made_private(path: Path) -> None:
    fill(path)
    path.chmod(0o644)
    Store.open(path).close()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_names_with_signs_of_addresses_are_plain_names(tmp_path: Path) -> None:
    for name in ("a b?mode=memory.sqlite", "50% #1.sqlite", "é„.sqlite"):
        fill(tmp_path / name)
        assert (tmp_path / name).stat().st_size > 0


def test_a_network_folder_gets_a_rollback_journal(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_module, "log_allowed", lambda _: False)
    with Store.open(path) as store:
        assert store.database.settle_journal() == "delete"
        assert store.database.connection.execute("PRAGMA synchronous").fetchone()[0] == 2
        store.create_run(samples.head())
    assert [file.name for file in path.parent.glob("arena.sqlite*")] == ["arena.sqlite"]


def test_a_store_that_moved_to_a_network_folder_changes_its_journal(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(path)
    monkeypatch.setattr(database_module, "log_allowed", lambda _: False)
    with Store.open(path) as store:
        assert store.database.settle_journal() == "delete"
        assert len(store.calls("run_a")) == 12


def test_the_damaged_history_of_the_field_is_refused_and_left_alone(path: Path) -> None:
    shutil.copyfile(CASES / "history_damaged.db", path)
    before = path.read_bytes()
    assert refused(path).code == "store_damaged"
    assert path.read_bytes() == before


def test_a_store_with_overwritten_pages_is_refused_and_left_alone(path: Path) -> None:
    fill(path)
    content = break_table(path, "answers")
    assert refused(path).code == "store_damaged"
    assert path.read_bytes() == content


def test_a_file_that_is_no_database_is_refused(path: Path) -> None:
    path.write_text("a letter, not a database, but long enough to look at " * 40)
    assert refused(path).code == "store_damaged"


def test_a_database_of_another_program_is_refused(path: Path) -> None:
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE notes (text)")
    other.commit()
    other.close()
    before = path.read_bytes()
    error = refused(path)
    assert isinstance(error, UserError)
    assert error.code == "store_foreign"
    assert path.read_bytes() == before


def test_a_newer_file_is_refused_with_both_versions(path: Path) -> None:
    fill(path)
    later = sqlite3.connect(path)
    later.execute("PRAGMA user_version=7")
    later.close()
    error = refused(path)
    assert error.code == "store_newer"
    assert "version 7" in error.message
    assert f"version {migrations.SCHEMA_VERSION}" in error.message
    assert (error.details["found"], error.details["known"]) == (7, migrations.SCHEMA_VERSION)


def test_damage_found_later_has_the_same_name(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    break_table(path, "cells")
    monkeypatch.setattr(migrations, "CHECKED_AT_OPEN_BYTES", 0)
    with Store.open(path) as store:
        assert store.check()
        with pytest.raises(WorldError) as caught:
            store.calls("run_a")
        assert caught.value.code == "store_damaged"


def test_a_sound_store_says_so(path: Path) -> None:
    fill(path)
    with Store.open(path) as store:
        assert store.check() == ()


def test_a_missing_file_is_not_made_by_reading(path: Path) -> None:
    assert refused(path, read_only=True).code == "store_missing"
    assert not path.exists()


def test_reading_only_refuses_every_change(path: Path) -> None:
    fill(path)
    with Store.open(path, read_only=True) as store:
        assert store.read_only
        assert len(store.calls("run_a")) == 12
        with pytest.raises(WorldError) as caught:
            store.set_label("run_a", "x")
        assert caught.value.code == "store_readonly"
        with pytest.raises(sqlite3.OperationalError):
            store.database.connection.execute("UPDATE runs SET label = 'x'")


def test_reading_beside_a_writer_sees_what_is_committed(path: Path) -> None:
    head = samples.head()
    with Store.open(path) as writer, Store.open(path, read_only=True) as reader:
        writer.create_run(head)
        writes = samples.done_writes(head)
        with writer.database.transaction():
            assert reader.runs()[0].completed == 0
        writer.write(writes[:5])
        assert reader.runs()[0].completed == 5


def test_errors_are_named_by_their_codes(path: Path) -> None:
    names = {
        sqlite3.SQLITE_FULL: "disk_full",
        sqlite3.SQLITE_READONLY_DBMOVED: "store_readonly",
        sqlite3.SQLITE_BUSY_SNAPSHOT: "store_locked",
        sqlite3.SQLITE_CORRUPT_VTAB: "store_damaged",
        sqlite3.SQLITE_NOTADB: "store_damaged",
        sqlite3.SQLITE_IOERR_READ: "store_unreachable",
        sqlite3.SQLITE_CANTOPEN: "store_unreachable",
        sqlite3.SQLITE_CONSTRAINT_UNIQUE: "store_failed",
    }
    for code, name in names.items():
        error = sqlite3.OperationalError("database or disk is not what it seems")
        error.sqlite_errorcode = code
        fault = from_sqlite(error, path)
        assert fault.code == name
        assert str(path) in fault.message
        assert fault.hint
    assert from_sqlite(sqlite3.ProgrammingError("closed"), path).code == "store_failed"
    assert from_os(OSError(28, "No space left on device"), path).code == "disk_full"
    assert from_os(PermissionError(13, "denied"), path).code == "store_readonly"
    assert from_os(OSError(112, "host is down"), path).code == "store_unreachable"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 900 kB, where the system lets us make one."""
    if sys.platform != "linux" or os.getuid() != 0:
        pytest.skip("a small file system can only be mounted by root on Linux")
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=900k,mode=700", "tmpfs", str(folder)],
        capture_output=True,
        check=False,
    )
    if mounted.returncode != 0:
        pytest.skip("this system does not let us mount a small file system")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)


def test_a_full_disk_is_named_and_costs_nothing_that_was_saved(small_disk: Path) -> None:
    path = small_disk / "arena.sqlite"
    head = samples.head(cases=tuple(f"c{number}" for number in range(200)), trials=1)
    with Store.open(path) as store:
        store.create_run(head)
        writes = [
            DoneWrite(head.run_id, samples.plain_call(planned.cell, text=f"{planned.cell} " * 100))
            for planned in head.cells
        ]
        saved, fault = 0, None
        while fault is None and saved < len(writes):
            try:
                store.write(writes[saved : saved + 10])
                saved += 10
            except WorldError as error:
                fault = error.code
        assert fault == "disk_full"
        assert 0 < saved < len(writes)
        assert len(store.calls(head.run_id)) == saved
        assert store.check() == ()


def test_a_file_that_may_not_grow_is_full(path: Path) -> None:
    with Store.open(path) as store:
        head = samples.head(cases=tuple(f"c{number}" for number in range(200)))
        pages = store.database.connection.execute("PRAGMA page_count").fetchone()[0]
        store.database.connection.execute(f"PRAGMA max_page_count={pages + 2}")
        with pytest.raises(WorldError) as caught:
            store.create_run(head)
        assert caught.value.code == "disk_full"
        assert store.runs() == []


def test_a_file_that_cannot_be_written_is_named(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(path)
    path.chmod(0o400)
    if os.access(path, os.W_OK):
        # Root may write everything: ask as if it might not.
        monkeypatch.setattr(database_module.os, "access", lambda *_: False)
    assert refused(path).code == "store_readonly"


def test_a_place_where_no_file_can_be_made_is_named(tmp_path: Path) -> None:
    blocker = tmp_path / "file"
    blocker.write_text("not a folder")
    with pytest.raises(WorldError) as caught:
        Store.open(blocker / "arena.sqlite")
    assert caught.value.code in ("home_unwritable", "store_unreachable")


def test_a_lock_that_lasts_is_named(path: Path) -> None:
    fill(path)
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    try:
        database = Database(path, busy_timeout_s=0.05)
        with pytest.raises(WorldError) as caught, database.transaction():
            pytest.fail("the lock was not respected")
        assert caught.value.code == "store_locked"
        database.close()
    finally:
        holder.close()


def test_an_error_inside_a_transaction_undoes_all_of_it(path: Path) -> None:
    with Store.open(path) as store:
        store.create_run(samples.head())

        def half_a_change() -> None:
            with store.database.transaction() as connection:
                connection.execute("UPDATE runs SET label = 'half'")
                raise RuntimeError("stop")

        with pytest.raises(RuntimeError):
            half_a_change()
        assert store.runs()[0].label == ""


def test_each_thread_has_a_connection_and_ended_threads_give_theirs_back(path: Path) -> None:
    with Store.open(path) as store:
        own = store.database.connection
        seen: list[sqlite3.Connection] = []

        def use() -> None:
            store.runs()
            seen.append(store.database.connection)

        for _ in range(3):
            thread = threading.Thread(target=use)
            thread.start()
            thread.join()
        assert own not in seen
        assert len({id(connection) for connection in seen}) == 3
        # The connections of the first two threads were closed when the next one came.
        for connection in seen[:2]:
            with pytest.raises(sqlite3.ProgrammingError):
                connection.execute("SELECT 1")


def test_a_closed_store_says_so(path: Path) -> None:
    store = Store.open(path)
    store.close()
    store.close()
    with pytest.raises(WorldError, match="closed"):
        store.runs()


def test_a_copy_is_whole_private_and_never_overwrites(path: Path, tmp_path: Path) -> None:
    fill(path)
    target = tmp_path / "copy.sqlite"
    with Store.open(path) as store:
        store.database.copy_to(target)
        with pytest.raises(WorldError):
            store.database.copy_to(target)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    with Store.open(target) as copy:
        assert len(copy.calls("run_a")) == 12


KILLED = """
import os, sys
from pathlib import Path
from engine.storage.records import DoneWrite
from engine.storage.store import Store, check_store
from tests.storage import samples

store = Store.open(Path(sys.argv[1]))
head = samples.head(cases=tuple(f"c{n}" for n in range(3000)), trials=1, models=("alpha",))
store.create_run(head)
calls = [DoneWrite(head.run_id, samples.plain_call(p.cell, text="x" * 3000)) for p in head.cells]
for start in range(0, len(calls), 10):
    store.write(calls[start:start + 10])
    print(start // 10 + 1, flush=True)
"""


@pytest.mark.parametrize("journal", ["wal", "delete"])
def test_a_killed_writer_leaves_whole_batches_only(path: Path, journal: str) -> None:
    script = KILLED
    if journal == "delete":
        script = "import engine.storage.database as d; d.log_allowed = lambda _: False" + script
    told = 0
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, cwd=Path(__file__).parents[2]
    ) as writer:
        assert writer.stdout is not None
        for line in writer.stdout:
            told = int(line)
            if told == 25:
                writer.kill()
    assert 25 <= told < 300
    with Store.open(path) as store:
        assert store.check() == ()
        stored = store.calls("last")
        # What was said to be durable is there, and at most one batch that was not yet told.
        assert told * 10 <= len(stored) <= told * 10 + 10
        assert len(stored) % 10 == 0
        assert [call.cell.case_id for call in stored] == [f"c{number}" for number in range(len(stored))]
        assert store.mark_interrupted() == [samples.head().run_id]
        info = store.runs()[0]
        assert (info.status, info.completed, info.stopped) == ("interrupted", len(stored), 3000 - len(stored))
        assert len(store.unfinished("last")) == 3000 - len(stored)


def test_a_store_on_a_medium_that_cannot_be_written_is_read(small_disk: Path) -> None:
    path = small_disk / "arena.sqlite"
    with Store.open(path) as store:
        store.create_run(samples.head())
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    assert refused(path).code == "store_readonly"
    with Store.open(path, read_only=True) as store:
        assert store.runs()[0].planned == 12
    assert refused(small_disk / "new.sqlite").code in ("store_readonly", "home_unwritable")


def test_the_check_of_a_file_says_what_is_wrong_and_changes_nothing(path: Path) -> None:
    assert check_store(path) is None
    assert not path.exists()
    fill(path)
    assert check_store(path) is None
    content = break_table(path, "answers")
    fault = check_store(path)
    assert fault is not None
    assert str(path) in fault
    assert path.read_bytes() == content
    path.write_text("no database at all " * 100)
    with pytest.raises(WorldError) as caught:
        check_store(path)
    assert caught.value.code == "store_damaged"
