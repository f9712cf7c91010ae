"""The end of a run: its status, its counts, its result. Runs inside the caller's transaction."""

from __future__ import annotations

import sqlite3
from decimal import Decimal

from engine.domain import Note, RunStatus
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.records import BoardRow, RunFinish

_BOARD_COLUMNS = (
    "model_key, position, label, status, rank, composite, score, low, high, coverage, latency_p50_ms, "
    "latency_p95_ms, cost_usd, cost_per_1k_usd, scored_cases, passed_cases, metrics"
)
_INSERT_ROW = (
    f"INSERT INTO board_rows (run, {_BOARD_COLUMNS}) "  # noqa: S608
    f"VALUES (?, {', '.join('?' * len(_BOARD_COLUMNS.split(',')))})"
)

_CLOSE_RUN = """UPDATE runs SET status = ?, finished_at = ?, completed = ?, errors = ?, stopped = ?,
    cost_usd = ?, duration_s = coalesce(duration_s, 0) + ?, owner_pid = NULL, owner_started = NULL,
    owner_host = NULL, seen_at = NULL WHERE id = ?"""


def finish(connection: sqlite3.Connection, run: int, result: RunFinish) -> None:
    """Closes the run. Calls without an outcome count as stopped, so that the counts add up."""
    completed, errors, _ = counts(connection, run)
    planned = connection.execute("SELECT planned FROM runs WHERE id = ?", (run,)).fetchone()[0]
    connection.execute(
        _CLOSE_RUN,
        (
            result.status.value,
            codec.time_text(result.finished_at),
            completed,
            errors,
            planned - completed - errors,
            codec.money_text(result.cost_usd),
            result.duration_s,
            run,
        ),
    )
    connection.execute(
        "UPDATE run_details SET lanes = ?, error = ? WHERE run = ?",
        (codec.dump(Shape.DOCUMENT, result.lanes), result.error and codec.clean_text(result.error), run),
    )
    put_result(connection, run, result)
    _note_reported_models(connection, run)


def put_result(connection: sqlite3.Connection, run: int, result: RunFinish) -> None:
    """Replaces leaderboard, verdict, winner and notes, and nothing else."""
    scores = {row.model_key: row.score for row in result.rows}
    connection.execute(
        "UPDATE runs SET winner = ?, winner_score = ? WHERE id = ?",
        (result.winner, scores.get(result.winner or ""), run),
    )
    connection.execute(
        "UPDATE run_details SET board = ?, verdict = ?, notes = ? WHERE run = ?",
        (
            None if result.board is None else codec.dump(Shape.DOCUMENT, result.board),
            None if result.verdict is None else codec.dump(Shape.DOCUMENT, result.verdict),
            codec.dump(Shape.NOTES, result.notes),
            run,
        ),
    )
    connection.execute("DELETE FROM board_rows WHERE run = ?", (run,))
    connection.executemany(
        _INSERT_ROW, [_board_values(run, position, row) for position, row in enumerate(result.rows)]
    )


def put_cost(connection: sqlite3.Connection, run: int, cost_usd: Decimal | None) -> None:
    """Replaces what the run has cost."""
    connection.execute("UPDATE runs SET cost_usd = ? WHERE id = ?", (codec.money_text(cost_usd), run))


def add_note(connection: sqlite3.Connection, run: int, note: Note) -> None:
    """Puts a note on the run, in place of one with its code."""
    (stored,) = connection.execute("SELECT notes FROM run_details WHERE run = ?", (run,)).fetchone()
    others = [known for known in codec.load(Shape.NOTES, stored) if known.code != note.code]
    connection.execute(
        "UPDATE run_details SET notes = ? WHERE run = ?",
        (codec.dump(Shape.NOTES, (*others, note)), run),
    )


def interrupt(connection: sqlite3.Connection, run: int) -> None:
    """Closes a run whose owner is gone. What was reserved for calls on their way stays reserved.

    The run ends, as far as anyone knows, with the last sign of life it gave.
    """
    completed, errors, _ = counts(connection, run)
    connection.execute(
        """UPDATE runs SET status = ?, finished_at = coalesce(
                (SELECT max(finished_at) FROM cells WHERE run = runs.id), seen_at, started_at),
            completed = ?, errors = ?, stopped = planned - ? - ?, cost_usd = ?,
            owner_pid = NULL, owner_started = NULL, owner_host = NULL WHERE id = ?""",
        (
            RunStatus.INTERRUPTED.value,
            completed,
            errors,
            completed,
            errors,
            codec.money_text(known_cost(connection, run)),
            run,
        ),
    )


def counts(connection: sqlite3.Connection, run: int) -> tuple[int, int, int]:
    """Calls of the run so far: completed, errors, stopped."""
    found: dict[str | None, int] = dict(
        connection.execute(
            "SELECT status, count(*) FROM cells WHERE run = ? GROUP BY status", (run,)
        ).fetchall()
    )
    return found.get("ok", 0), found.get("error", 0), found.get("stopped", 0)


def known_cost(connection: sqlite3.Connection, run: int) -> Decimal | None:
    """What the run has cost so far by the spend account, else by its answers.

    None where a call's cost is not known: a sum that leaves calls out is no cost.
    """
    accounts = connection.execute(
        "SELECT spent_usd, unpriced_calls FROM spend WHERE run = ?", (run,)
    ).fetchall()
    if accounts:
        if any(unpriced for _, unpriced in accounts):
            return None
        return sum((Decimal(spent) for spent, _ in accounts), Decimal(0))
    costs = connection.execute(
        "SELECT cost_usd FROM cells WHERE run = ? AND answer IS NOT NULL", (run,)
    ).fetchall()
    if any(cost is None for (cost,) in costs):
        return None
    return sum((Decimal(cost) for (cost,) in costs), Decimal(0))


def _board_values(run: int, position: int, row: BoardRow) -> tuple[object, ...]:
    return (
        run,
        row.model_key,
        position,
        row.label,
        row.status,
        row.rank,
        row.composite,
        row.score,
        row.low,
        row.high,
        row.coverage,
        row.latency_p50_ms,
        row.latency_p95_ms,
        codec.money_text(row.cost_usd),
        row.cost_per_1k_usd,
        row.scored_cases,
        row.passed_cases,
        codec.dump(Shape.RAW_METRICS, row.metrics),
    )


def _note_reported_models(connection: sqlite3.Connection, run: int) -> None:
    """Remembers which model each entry's service said it was (the most frequent one)."""
    connection.execute(
        """UPDATE run_models SET reported = (
            SELECT a.model_reported FROM cells c JOIN answers a ON a.id = c.answer
            WHERE c.model = run_models.id AND a.model_reported IS NOT NULL
            GROUP BY a.model_reported ORDER BY count(*) DESC, a.model_reported LIMIT 1)
        WHERE run = ?""",
        (run,),
    )
