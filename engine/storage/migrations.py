"""The versions of the store file and the way from one to the next.

Each step is one explicit transaction: it is done whole or not at all. Before the first step on
a file that already holds runs, a dated copy is put beside it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.config.output_places import HISTORY_ID
from engine.errors import UserError
from engine.storage import schema_v1, schema_v2
from engine.storage.database import CHECKED_AT_OPEN_BYTES, CHECKED_WITH_LOG_BYTES, Database, has_log
from engine.storage.faults import store_fault, translated

APPLICATION_ID = HISTORY_ID


@dataclass(frozen=True, slots=True)
class Migration:
    """One step to `version`. `apply` may run statements only: it must not begin or commit."""

    version: int
    apply: Callable[[sqlite3.Connection], None]


def _create(connection: sqlite3.Connection) -> None:
    for statement in schema_v1.STATEMENTS:
        connection.execute(statement)


def _add_own_judgement(connection: sqlite3.Connection) -> None:
    for statement in schema_v2.STATEMENTS:
        connection.execute(statement)


MIGRATIONS: tuple[Migration, ...] = (Migration(1, _create), Migration(2, _add_own_judgement))

SCHEMA_VERSION = MIGRATIONS[-1].version
"""The version this program writes."""


def bring_up_to_date(database: Database, migrations: Sequence[Migration] = MIGRATIONS) -> Path | None:
    """Makes the file one of the newest version; returns the dated copy if there was need for one.

    Raises `store_newer` for a file of a later program, `store_foreign` for a database of another
    program, and the faults of the file. On every error the file is as it was.
    """
    newest = migrations[-1].version
    found = known_version(database, newest)
    database.refuse_if_damaged(CHECKED_AT_OPEN_BYTES)
    database.settle_journal()
    if found == newest:
        return None
    if database.read_only:
        raise _older(database.path, found, newest)
    backup = _dated_copy(database, found) if found else None
    for migration in migrations:
        _step(database, migration)
    return backup


def look_first(path: Path) -> None:
    """Refuses a file that is not fit to be opened for writing, without the least change to it.

    Needed where a log lies beside the file: the last connection that could write would fold the
    log into it when it closes, and a log that belongs to another file would spoil a sound one.
    """
    with translated(path):
        if not (path.exists() and has_log(path)):
            return
    database = Database(path, read_only=True)
    try:
        known_version(database, SCHEMA_VERSION)
        database.refuse_if_damaged(CHECKED_WITH_LOG_BYTES)
    finally:
        database.close()


def known_version(database: Database, newest: int) -> int:
    """The file's version, 0 for an empty file. Raises `store_newer`, `store_foreign`, `store_damaged`."""
    found = _version(database)
    if found > newest:
        raise _newer(database.path, found, newest)
    return found


def _version(database: Database) -> int:
    with database.reading() as connection:
        application = int(connection.execute("PRAGMA application_id").fetchone()[0])
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        tables = int(connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0])
    if application == APPLICATION_ID:
        return version
    if application == 0 and version == 0 and tables == 0:
        return 0
    if faults := database.check():
        raise store_fault("store_damaged", database.path, faults[0])
    raise UserError(
        "store_foreign",
        f"{database.path} is a database of another program, so it is left alone.",
        hint="Choose another file for the history.",
        path=str(database.path),
    )


def _step(database: Database, migration: Migration) -> None:
    with database.transaction() as connection:
        # Another process may have taken this step while we waited for the lock.
        if int(connection.execute("PRAGMA user_version").fetchone()[0]) >= migration.version:
            return
        migration.apply(connection)
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version={migration.version}")


def _dated_copy(database: Database, version: int) -> Path:
    moment = datetime.now(UTC)
    stem = f"{database.path.stem}.v{version}-{moment:%Y%m%d-%H%M%S}"
    target = database.path.with_name(f"{stem}{database.path.suffix}")
    count = 1
    while target.exists():
        count += 1
        target = database.path.with_name(f"{stem}-{count}{database.path.suffix}")
    database.copy_to(target)
    return target


def _newer(path: Path, found: int, known: int) -> UserError:
    return UserError(
        "store_newer",
        f"The history file {path} was written by a newer version of this program: "
        f"it has version {found}, this program knows up to version {known}.",
        hint="Update this program, or choose another file for the history.",
        path=str(path),
        found=found,
        known=known,
    )


def _older(path: Path, found: int, known: int) -> UserError:
    return UserError(
        "store_older",
        f"The history file {path} has version {found} and must be brought to version {known} first, "
        "but it was opened for reading only.",
        hint="Open it once where it can be written; a dated copy is made before anything is changed.",
        path=str(path),
        found=found,
        known=known,
    )
