"""Takes runs from one store file into another, row by row, with nothing lost on the way."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from pathlib import Path

from engine.storage.database import Database, file_uri
from engine.storage.faults import translated

# Per table: how its rows of one run are found in the other file, and which columns hold row
# numbers that move by the given table's distance.
_TABLES: tuple[tuple[str, str, dict[str, str]], ...] = (
    ("run_details", "run = ?", {"run": "runs"}),
    ("run_models", "run = ?", {"id": "run_models", "run": "runs"}),
    ("run_cases", "run = ?", {"id": "run_cases", "run": "runs"}),
    (
        "cells",
        "run = ?",
        {
            "id": "cells",
            "run": "runs",
            "model": "run_models",
            "run_case": "run_cases",
            "answer": "answers",
            "current_score": "scores",
        },
    ),
    ("answers", "cell IN (SELECT id FROM other.cells WHERE run = ?)", {"id": "answers", "cell": "cells"}),
    (
        "scores",
        "answer IN (SELECT a.id FROM other.answers a JOIN other.cells c ON c.id = a.cell WHERE c.run = ?)",
        {"id": "scores", "answer": "answers"},
    ),
    ("attempts", "cell IN (SELECT id FROM other.cells WHERE run = ?)", {"id": "attempts", "cell": "cells"}),
    ("events", "run = ?", {"id": "events", "run": "runs"}),
    ("spend", "run = ?", {"run": "runs"}),
    ("board_rows", "run = ?", {"run": "runs"}),
    ("votes", "run = ?", {"id": "votes", "run": "runs", "left_cell": "cells", "right_cell": "cells"}),
)


def copy_runs(source: Path, target: Database, run_ids: Sequence[str] | None = None) -> list[str]:
    """Copies runs (None = all) of the store file `source` into `target`; returns their ids.

    `source` may be of an older version. A run that `target` has already is left as it is, so
    copying twice is harmless. A run is copied whole or not at all.
    """
    copied: list[str] = []
    with translated(target.path):
        target.connection.execute("ATTACH DATABASE ? AS other", (file_uri(source, "?mode=ro"),))
    try:
        with translated(source):
            found = target.connection.execute("SELECT run_id FROM other.runs ORDER BY id").fetchall()
        for (run_id,) in found:
            if (run_ids is None or run_id in run_ids) and _copy(target, run_id):
                copied.append(run_id)
    finally:
        with translated(target.path):
            target.connection.execute("DETACH DATABASE other")
    return copied


def _copy(target: Database, run_id: str) -> bool:
    with target.transaction() as connection:
        if connection.execute("SELECT 1 FROM main.runs WHERE run_id = ?", (run_id,)).fetchone():
            return False
        # The cases' texts get their new row numbers after the rows are in.
        connection.execute("PRAGMA defer_foreign_keys=ON")
        _copy_rows(connection, run_id)
    return True


def _copy_rows(connection: sqlite3.Connection, run_id: str) -> None:
    run, project = connection.execute(
        "SELECT id, project FROM other.runs WHERE run_id = ?", (run_id,)
    ).fetchone()
    tables = ("runs", "run_models", "run_cases", "cells", "answers", "scores", "attempts", "events", "votes")
    shift = {name: _last(connection, "main", name) for name in tables}
    _insert(connection, "runs", "id = ?", run, {"id": "runs"}, shift)
    connection.execute(
        """INSERT OR IGNORE INTO main.case_contents (digest, content) SELECT digest, content
        FROM other.case_contents WHERE id IN (SELECT content FROM other.run_cases WHERE run = ?)""",
        (run,),
    )
    for table, where, moved in _TABLES:
        _insert(connection, table, where, run, moved, shift)
    connection.execute(
        """UPDATE main.run_cases SET content = (SELECT m.id FROM main.case_contents m
            JOIN other.case_contents o ON o.digest = m.digest WHERE o.id = run_cases.content)
        WHERE run = ?""",
        (run + shift["runs"],),
    )
    _number(connection, run + shift["runs"], project)


def _insert(
    connection: sqlite3.Connection,
    table: str,
    where: str,
    run: int,
    moved: dict[str, str],
    shift: dict[str, int],
) -> None:
    # A file of an older version lacks what later ones added.
    theirs = {row[1] for row in connection.execute(f"PRAGMA other.table_info({table})")}
    columns = [row[1] for row in connection.execute(f"PRAGMA main.table_info({table})") if row[1] in theirs]
    if not columns:
        return
    terms = ", ".join(f"{name} + {shift[moved[name]]}" if name in moved else name for name in columns)
    connection.execute(
        f"INSERT INTO main.{table} ({', '.join(columns)}) SELECT {terms} FROM other.{table} WHERE {where}",  # noqa: S608
        (run,),
    )


def _last(connection: sqlite3.Connection, schema: str, table: str) -> int:
    return int(connection.execute(f"SELECT coalesce(max(id), 0) FROM {schema}.{table}").fetchone()[0])  # noqa: S608


def _number(connection: sqlite3.Connection, run: int, project: str) -> None:
    """Keeps the run's number where it is free, else gives it the next one of its project."""
    number = connection.execute("SELECT number FROM main.runs WHERE id = ?", (run,)).fetchone()[0]
    taken = connection.execute(
        "SELECT 1 FROM main.runs WHERE project = ? AND number = ? AND id <> ?", (project, number, run)
    ).fetchone()
    row = connection.execute("SELECT last_number FROM main.projects WHERE project = ?", (project,)).fetchone()
    last = row[0] if row else 0
    if taken:
        number = last + 1
        connection.execute("UPDATE main.runs SET number = ? WHERE id = ?", (number, run))
    connection.execute(
        "INSERT OR REPLACE INTO main.projects (project, last_number) VALUES (?, ?)",
        (project, max(last, number)),
    )
