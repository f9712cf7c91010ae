"""Reads what can still be read of a damaged store, row by row, around the broken pages."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.storage import finishing
from engine.storage.database import Database, file_uri
from engine.storage.faults import translated

_NUMBERED = (
    "runs",
    "run_details",
    "run_models",
    "case_contents",
    "run_cases",
    "cells",
    "answers",
    "scores",
    "attempts",
    "events",
    "votes",
)
_KEYED = ("projects", "spend", "board_rows")

_AT_ONCE = 500
_LAST_NUMBER = 2**62

# What hangs on a row that is gone goes too; a call whose answer is gone is asked again.
_PRUNE = (
    "DELETE FROM runs WHERE id NOT IN (SELECT run FROM run_details)",
    "DELETE FROM run_details WHERE run NOT IN (SELECT id FROM runs)",
    "DELETE FROM run_models WHERE run NOT IN (SELECT id FROM runs)",
    "DELETE FROM run_cases WHERE run NOT IN (SELECT id FROM runs)"
    " OR content NOT IN (SELECT id FROM case_contents)",
    "DELETE FROM cells WHERE run NOT IN (SELECT id FROM runs)"
    " OR model NOT IN (SELECT id FROM run_models) OR run_case NOT IN (SELECT id FROM run_cases)",
    "DELETE FROM answers WHERE cell NOT IN (SELECT id FROM cells)",
    "DELETE FROM scores WHERE answer NOT IN (SELECT id FROM answers)",
    "DELETE FROM attempts WHERE cell NOT IN (SELECT id FROM cells)",
    "DELETE FROM events WHERE run NOT IN (SELECT id FROM runs)",
    "DELETE FROM spend WHERE run NOT IN (SELECT id FROM runs)",
    "DELETE FROM board_rows WHERE run NOT IN (SELECT id FROM runs)",
    "DELETE FROM votes WHERE left_cell NOT IN (SELECT id FROM cells)"
    " OR right_cell NOT IN (SELECT id FROM cells) OR run NOT IN (SELECT id FROM runs)",
    """UPDATE cells SET state = 'planned', status = NULL, outcome = NULL, answer = NULL, current_score = NULL,
        score_state = NULL, score = NULL, passed = NULL, latency_ms = NULL, input_tokens = NULL,
        output_tokens = NULL, cost_usd = NULL
    WHERE answer IS NOT NULL AND answer NOT IN (SELECT id FROM answers)""",
    """UPDATE cells SET state = 'answered', current_score = NULL, score_state = 'unscored', score = NULL,
        passed = NULL
    WHERE current_score IS NOT NULL AND current_score NOT IN (SELECT id FROM scores)""",
)


def salvage(damaged: Path, target: Database) -> None:
    """Fills the new, empty store `target` with what can be read of `damaged`, which is not changed.

    References in `target` hold afterwards. Runs that lost something say `interrupted`, so that
    the missing calls can be made and the missing marks given.
    """
    with translated(damaged):
        source = sqlite3.connect(file_uri(damaged, "?mode=ro"), uri=True, isolation_level=None)
    try:
        with target.transaction() as connection:
            connection.execute("PRAGMA defer_foreign_keys=ON")
            for table in _NUMBERED:
                _fill(connection, table, _rows_by_number(source, table))
            for table in _KEYED:
                _fill(connection, table, _rows_until_broken(source, table))
            for statement in _PRUNE:
                connection.execute(statement)
            _reopen_incomplete(connection)
    finally:
        source.close()


def _rows_by_number(source: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """All rows that can be read, with growing leaps over what cannot."""
    last, leap, size = 0, 1, _AT_ONCE
    while last < _LAST_NUMBER:
        try:
            rows = source.execute(
                f"SELECT rowid, * FROM {table} WHERE rowid > ? ORDER BY rowid LIMIT ?",  # noqa: S608
                (last, size),
            ).fetchall()
        except sqlite3.DatabaseError:
            if size > 1:
                size = 1
            else:
                last, leap = last + leap, leap * 2
            continue
        yield from (row[1:] for row in rows)
        if len(rows) < size:
            return
        last, leap = rows[-1][0], 1
        size = min(_AT_ONCE, size * 2)


def _rows_until_broken(source: sqlite3.Connection, table: str) -> Iterator[tuple[Any, ...]]:
    """Rows of a small table without numbers, up to the first that cannot be read."""
    try:
        yield from source.execute(f"SELECT * FROM {table}")  # noqa: S608
    except sqlite3.DatabaseError:
        return


def _fill(connection: sqlite3.Connection, table: str, rows: Iterator[tuple[Any, ...]]) -> None:
    width = len(connection.execute(f"PRAGMA table_info({table})").fetchall())
    marks = ", ".join("?" * width)
    # A broken page can repeat rows or break the rules of a table: those are left out.
    connection.executemany(
        f"INSERT OR IGNORE INTO {table} VALUES ({marks})",  # noqa: S608
        # An older version of the file has fewer columns: later ones were added at the end.
        ((*row, *[None] * (width - len(row))) for row in rows if len(row) <= width),
    )


def _reopen_incomplete(connection: sqlite3.Connection) -> None:
    incomplete = connection.execute(
        """SELECT id FROM runs WHERE status = 'running'
            OR planned <> (SELECT count(*) FROM cells WHERE run = runs.id)
            OR EXISTS (SELECT 1 FROM cells WHERE run = runs.id AND state <> 'done')"""
    ).fetchall()
    for (run,) in incomplete:
        connection.execute(
            "UPDATE runs SET planned = (SELECT count(*) FROM cells WHERE run = runs.id) WHERE id = ?", (run,)
        )
        finishing.interrupt(connection, run)
    connection.execute(
        """INSERT INTO projects (project, last_number) SELECT project, max(number) FROM runs WHERE 1
        GROUP BY project ON CONFLICT (project) DO UPDATE
        SET last_number = max(last_number, excluded.last_number)"""
    )
