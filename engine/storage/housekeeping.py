"""Finding runs by reference, closing abandoned ones, the bin, and copies for safety."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from engine.domain import Cell, RunStatus
from engine.errors import ArenaError, UserError
from engine.storage import codec, heads
from engine.storage.database import Database

_FIND_CELL = """SELECT c.id FROM cells c
    JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
    WHERE m.run = ? AND m.model_key = ? AND k.run = m.run AND k.case_id = ?
        AND c.run = m.run AND c.trial = ?"""

_PAGES_AT_ONCE = 2_000
_CELLS_AT_ONCE = 2_000

BACKUPS_KEPT = 3
"""How many safety copies stay."""


def run_condition(project: str | None, *, include_deleted: bool) -> tuple[str, tuple[str, ...]]:
    """The WHERE clause over `runs r` for a project's name or folder."""
    clauses = ["r.purged = 0"] if include_deleted else ["r.deleted_at IS NULL"]
    values: tuple[str, ...] = ()
    if project is not None:
        clauses.append("(r.project = ? OR r.project_root = ?)")
        values = (project, project)
    return " AND ".join(clauses), values


def resolve(connection: sqlite3.Connection, reference: str, project: str | None = None) -> str:
    """The complete run id for an id, the unique beginning of one, or "last".

    Raises UserError `run_not_found` or `run_ambiguous`.
    """
    if reference == "last":
        where, values = run_condition(project, include_deleted=False)
        row = connection.execute(
            f"SELECT r.run_id FROM runs r WHERE {where} ORDER BY r.started_at DESC, r.id DESC LIMIT 1",  # noqa: S608
            values,
        ).fetchone()
        if row is None:
            raise heads.not_found(reference)
        return str(row[0])
    if connection.execute("SELECT 1 FROM runs WHERE run_id = ? AND purged = 0", (reference,)).fetchone():
        return reference
    rows = connection.execute(
        "SELECT run_id FROM runs WHERE substr(run_id, 1, ?) = ? AND purged = 0 ORDER BY run_id LIMIT 4",
        (len(reference), reference),
    ).fetchall()
    if not rows or not reference:
        raise heads.not_found(reference)
    if len(rows) > 1:
        names = ", ".join(row[0] for row in rows[:3])
        raise UserError(
            "run_ambiguous",
            f"{reference!r} could be more than one run: {names}{' and more' if len(rows) > 3 else ''}.",
            hint="Give more of the run id.",
            reference=reference,
        )
    return str(rows[0][0])


def row(connection: sqlite3.Connection, reference: str) -> int:
    """The row number of the run that is meant."""
    found = connection.execute("SELECT id FROM runs WHERE run_id = ? AND purged = 0", (reference,)).fetchone()
    if found is None:
        run_id = resolve(connection, reference)
        found = connection.execute("SELECT id FROM runs WHERE run_id = ?", (run_id,)).fetchone()
    return int(found[0])


def cell_row(connection: sqlite3.Connection, run: int, cell: Cell) -> int:
    """The row number of a planned call. Raises ArenaError `cell_unknown`."""
    found = connection.execute(_FIND_CELL, (run, *cell)).fetchone()
    if found is None:
        raise ArenaError("cell_unknown", f"{cell} is no planned call of this run.")
    return int(found[0])


def orphans(connection: sqlite3.Connection) -> list[tuple[int, str]]:
    """Runs that say `running` though nobody carries them out: row numbers and ids."""
    rows = connection.execute(
        "SELECT id, run_id, seen_at, owner_pid, owner_started, owner_host FROM runs WHERE status = ?",
        (RunStatus.RUNNING.value,),
    ).fetchall()
    return [(run, run_id) for run, run_id, seen, *who in rows if heads.is_gone(who, seen)]


def delete(connection: sqlite3.Connection, runs: Sequence[int]) -> None:
    """Puts runs into the bin. Raises UserError `run_in_use` for one that is going on."""
    now = codec.time_text(datetime.now(UTC))
    for run in runs:
        refuse_running(connection, run)
        connection.execute("UPDATE runs SET deleted_at = ? WHERE id = ? AND deleted_at IS NULL", (now, run))


def refuse_running(connection: sqlite3.Connection, run: int) -> None:
    """Raises UserError `run_in_use` for a run whose owner is alive: it goes on, or is marked again."""
    run_id, status, seen, *who = connection.execute(
        "SELECT run_id, status, seen_at, owner_pid, owner_started, owner_host FROM runs WHERE id = ?",
        (run,),
    ).fetchone()
    if heads.is_in_use(run_id, status, who, seen):
        goes_on = status == RunStatus.RUNNING.value
        what = "is going on" if goes_on else "is being marked again"
        raise UserError(
            "run_in_use",
            f"The run {run_id} {what}, so it cannot be changed.",
            hint="Stop it first." if goes_on else "Wait until that has ended.",
            run_id=run_id,
        )


def purge(database: Database) -> list[str]:
    """Removes what is in the bin, and texts of cases that no run uses any more; returns the ids.

    In small steps, so that a run that goes on in another window never waits long. A purge that
    is cut short is hidden at once and completed by the next one.
    """
    with database.transaction() as connection:
        gone = connection.execute("SELECT id, run_id FROM runs WHERE deleted_at IS NOT NULL").fetchall()
        connection.execute("UPDATE runs SET purged = 1 WHERE deleted_at IS NOT NULL")
    for run, _ in gone:
        _remove(database, run)
    if gone:
        _give_back_space(database)
    return [run_id for _, run_id in gone]


def _remove(database: Database, run: int) -> None:
    left = True
    while left:
        with database.transaction() as connection:
            removed = connection.execute(
                "DELETE FROM cells WHERE id IN (SELECT id FROM cells WHERE run = ? LIMIT ?)",
                (run, _CELLS_AT_ONCE),
            ).rowcount
            left = removed == _CELLS_AT_ONCE
    with database.transaction() as connection:
        connection.execute("DELETE FROM runs WHERE id = ?", (run,))
        connection.execute("DELETE FROM case_contents WHERE id NOT IN (SELECT content FROM run_cases)")


def _give_back_space(database: Database) -> None:
    """Shortens the file in steps, so that a run in another program waits only briefly."""
    free = 1
    while free:
        with database.transaction() as connection:
            connection.execute(f"PRAGMA incremental_vacuum({_PAGES_AT_ONCE})").fetchall()
            before, free = free, int(connection.execute("PRAGMA freelist_count").fetchone()[0])
        if free >= before > 1:
            # A file made without auto_vacuum keeps its free pages for later rows.
            return


def keep_backup(database: Database, now: datetime | None = None) -> Path | None:
    """Makes today's safety copy beside the store unless there is one; keeps the newest few.

    The copy is checked before an old one goes. Returns the new copy, None where there was one.
    """
    moment = now or datetime.now(UTC)
    folder = database.path.with_name(f"{database.path.stem} backups")
    target = folder / f"{database.path.stem}-{moment:%Y-%m-%d}{database.path.suffix}"
    if target.exists():
        return None
    database.copy_to(target)
    copies = sorted(folder.glob(f"{database.path.stem}-????-??-??{database.path.suffix}"))
    for old in copies[:-BACKUPS_KEPT]:
        old.unlink()
    return target
