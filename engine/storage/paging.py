"""Windows on the calls of a run for tables: light rows, sorted and filtered by SQLite."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Sequence
from typing import Any

from engine.domain import CallStatus, Cell, Outcome, ScoreState
from engine.storage import codec
from engine.storage.rows import CallFilter, CallOrder, CallRow
from engine.storage.selection import condition, ordering

_ROW = """SELECT c.id, m.model_key, k.case_id, c.trial, c.state, c.status, c.outcome, c.score_state, c.score,
        c.passed, c.latency_ms, c.input_tokens, c.output_tokens, c.cost_usd, c.attempts, c.throttled,
        c.error_kind, c.error_message, c.mark, c.mark_score, coalesce(s.reason, ''),
        coalesce(a.preview, ''), a.length
    FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
    LEFT JOIN answers a ON a.id = c.answer LEFT JOIN scores s ON s.id = c.current_score
    WHERE c.id IN ({marks})"""

_AT_ONCE = 500


def ordered_ids(
    connection: sqlite3.Connection,
    run: int,
    chosen: CallFilter,
    order: CallOrder,
    window: tuple[int, int | None] = (0, None),
) -> array[int]:
    """Row numbers of the calls that pass the filter, in order: eight bytes a call."""
    where, values = condition(run, chosen)
    joins, terms = ordering(order)
    offset, limit = window
    inner = f"SELECT c.id FROM cells c {joins} WHERE {where} ORDER BY {terms} LIMIT ? OFFSET ?"  # noqa: S608
    return _whole(connection, inner, (*values, -1 if limit is None else limit, offset))


def case_ids(connection: sqlite3.Connection, run: int, chosen: CallFilter) -> frozenset[str]:
    """The cases of the calls that pass the filter."""
    where, values = condition(run, chosen)
    rows = connection.execute(
        f"""SELECT k.case_id FROM run_cases k WHERE k.id IN (
            SELECT DISTINCT c.run_case FROM cells c WHERE {where})""",  # noqa: S608 - values are bound
        tuple(values),
    )
    return frozenset(row[0] for row in rows)


def _whole(connection: sqlite3.Connection, inner: str, values: tuple[object, ...]) -> array[int]:
    """One column of numbers as one text: 100,000 rows one by one would take Python's lock as often,
    and wait for it each time while the window draws. The LIMIT inside makes the order binding."""
    found = connection.execute(f"SELECT group_concat(id) FROM ({inner})", values).fetchone()[0]  # noqa: S608
    return array("q", map(int, found.split(","))) if found else array("q")


def count(connection: sqlite3.Connection, run: int) -> int:
    """How many calls the run has."""
    return int(connection.execute("SELECT count(*) FROM cells WHERE run = ?", (run,)).fetchone()[0])


def rows_of(connection: sqlite3.Connection, ids: Sequence[int]) -> list[CallRow]:
    """The light rows of the given row numbers, in the given order; vanished ones are left out."""
    found: dict[int, CallRow] = {}
    for start in range(0, len(ids), _AT_ONCE):
        part = ids[start : start + _AT_ONCE]
        statement = _ROW.format(marks=", ".join("?" * len(part)))
        for row in connection.execute(statement, tuple(part)):
            found[row[0]] = _row(row)
    return [found[number] for number in ids if number in found]


def _row(row: tuple[Any, ...]) -> CallRow:
    number, key, case, trial, state, status, outcome, score_state, score, passed, *figures = row
    (
        latency,
        tokens_in,
        tokens_out,
        cost,
        attempts,
        throttled,
        kind,
        message,
        mark,
        mark_score,
        reason,
        preview,
        length,
    ) = figures
    return CallRow(
        position=number,
        cell=Cell(key, case, trial),
        state=state,
        status=None if status is None else CallStatus(status),
        outcome=None if outcome is None else Outcome(outcome),
        score_state=None if score_state is None else ScoreState(score_state),
        score=score,
        passed=codec.truth(passed),
        reason=reason,
        preview=preview,
        length=length,
        latency_ms=latency,
        input_tokens=tokens_in,
        output_tokens=tokens_out,
        cost_usd=codec.money(cost),
        attempts=attempts,
        throttled=throttled,
        error_kind=kind,
        error_message=message,
        mark=mark,
        mark_score=mark_score,
    )
