"""The rows that belong to one cell: its state, its answers, their scores, its attempts."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from engine.domain import Answer, Attempt, CallDone, CallError, CaseScore, ScoreState
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.records import TEXT_LIMIT
from engine.storage.rows import PREVIEW_CHARS

_REASON_LIMIT = 4_000
_ERROR_LIMIT = 2_000

_ANSWER_COLUMNS = (
    "finished_at, outcome, model_reported, input_tokens, output_tokens, cache_read_tokens, "
    "cache_write_tokens, reasoning_tokens, tokens_estimated, latency_ms, first_token_ms, cost_usd, "
    "cost_source, request_id, notes, length, text_cut, reasoning_cut, preview, reasoning, text"
)
_ANSWER_MARKS = ", ".join("?" * len(_ANSWER_COLUMNS.split(",")))
_INSERT_ANSWER = (
    f"INSERT INTO answers (cell, version, {_ANSWER_COLUMNS}) "  # noqa: S608 - constants only
    "VALUES (?, (SELECT coalesce(max(version), 0) + 1 FROM answers WHERE cell = ?), "
    f"{_ANSWER_MARKS}) RETURNING id"
)
_UPDATE_ANSWER = f"UPDATE answers SET ({_ANSWER_COLUMNS}) = ({_ANSWER_MARKS}) WHERE id = ?"  # noqa: S608

_CALL = """state = ?, status = ?, outcome = ?, answer = ?, latency_ms = ?,
    input_tokens = ?, output_tokens = ?, cost_usd = ?, attempts = ?, throttled = ?, waited_s = ?,
    started_at = ?, finished_at = ?, error_kind = ?, error_status = ?, error_message = ?"""
_MARK = "current_score = ?, score_state = ?, score = ?, passed = ?"
_UPDATE_CELL = f"UPDATE cells SET {_CALL} WHERE id = ?"  # noqa: S608 - constants only
_UPDATE_MARKED_CELL = f"UPDATE cells SET {_CALL}, {_MARK} WHERE id = ?"  # noqa: S608
_SET_SCORE = f"UPDATE cells SET {_MARK} WHERE id = ?"  # noqa: S608

_INSERT_SCORE = """INSERT INTO scores (answer, at, origin, state, score, passed, reason, metrics, checks)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""

_PUT_ATTEMPT = """INSERT INTO attempts (cell, number, started_at, wait_s, latency_ms, error_kind,
    error_status, error_message, throttled, cost_usd) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (cell, started_at, number) DO UPDATE SET wait_s = excluded.wait_s,
    latency_ms = excluded.latency_ms, error_kind = excluded.error_kind,
    error_status = excluded.error_status, error_message = excluded.error_message,
    throttled = excluded.throttled, cost_usd = excluded.cost_usd"""

_FIND_CELL = """SELECT id, state, status, answer, current_score FROM cells
    WHERE run = ? AND model = ? AND run_case = ? AND trial = ?"""

_CLEAR_SCORE = """UPDATE cells SET current_score = NULL, score_state = 'unscored', score = NULL,
    passed = NULL WHERE id = ?"""


Mark: TypeAlias = tuple[object, ...]
"""What a cell's own row says of its current score: row, state, score, passed; () = nothing new."""


@dataclass(slots=True)
class CellRow:
    """What must be known of a cell before it is changed: row numbers and its state."""

    id: int
    state: str
    status: str | None
    answer: int | None
    score: int | None


def find_cell(
    connection: sqlite3.Connection, run: int, model: int | None, case: int | None, trial: int
) -> CellRow | None:
    """The row of a planned call, found by its run, model and case rows."""
    row = connection.execute(_FIND_CELL, (run, model, case, trial)).fetchone()
    return None if row is None else CellRow(*row)


def clear_score(connection: sqlite3.Connection, cell: CellRow) -> None:
    """Takes the mark off a cell that has got another answer; the mark stays with the old one."""
    cell.score = None
    connection.execute(_CLEAR_SCORE, (cell.id,))


def update_cell(
    connection: sqlite3.Connection,
    cell: int,
    state: str,
    answer: int | None,
    done: CallDone,
    mark: Mark = (),
) -> None:
    """Sets everything the cell's own row says about its call; what it says of a mark only with `mark`."""
    reply = done.answer
    figures: tuple[object, ...] = (None, None, None, None)
    if reply is not None:
        usage = reply.usage
        figures = (reply.latency_ms, usage.input, usage.output, codec.money_text(reply.cost_usd))
    connection.execute(
        _UPDATE_MARKED_CELL if mark else _UPDATE_CELL,
        (
            state,
            done.status.value,
            done.outcome.value,
            answer,
            *figures,
            done.attempts,
            done.throttled,
            done.waited_s,
            codec.optional_time_text(done.started_at),
            codec.optional_time_text(done.finished_at),
            *_error(done.error),
            *mark,
            cell,
        ),
    )


def put_answer(
    connection: sqlite3.Connection,
    cell: CellRow,
    answer: Answer,
    finished: str | None,
    *,
    completes: bool = False,
) -> tuple[int, bool]:
    """Stores the counting answer; returns its row and whether it is another one than before.

    `completes`: it is the stored answer with more known about it, and replaces it. Otherwise an
    answer that differs from the stored one gets a row of its own, and the old one stays.
    """
    if cell.answer is not None and (completes or _is_stored(connection, cell.answer, answer)):
        connection.execute(_UPDATE_ANSWER, (*_answer_values(answer, finished), cell.answer))
        return cell.answer, False
    return _insert_answer(connection, cell.id, answer, finished), True


def keep_beside(
    connection: sqlite3.Connection, cell: CellRow, answer: Answer, finished: str | None, since: str | None
) -> int:
    """Keeps an answer that does not count, once; returns its row.

    `since`: when it was asked. One that was there before is another one, even with the same words.
    """
    kept = connection.execute(
        "SELECT id FROM answers WHERE cell = ? AND (? IS NULL OR finished_at >= ?)", (cell.id, since, since)
    ).fetchall()
    for (row,) in kept:
        if _is_stored(connection, row, answer):
            return int(row)
    return _insert_answer(connection, cell.id, answer, finished)


def keep_mark_beside(connection: sqlite3.Connection, answer: int, score: CaseScore | None, at: str) -> None:
    """Keeps the mark of an answer that does not count, once."""
    marked = connection.execute("SELECT 1 FROM scores WHERE answer = ?", (answer,)).fetchone()
    if score is not None and marked is None:
        connection.execute(_INSERT_SCORE, (answer, at, "again", *_score_values(score)))


def _is_stored(connection: sqlite3.Connection, row: int, answer: Answer) -> bool:
    stored = connection.execute(
        "SELECT request_id, latency_ms, text FROM answers WHERE id = ?", (row,)
    ).fetchone()
    return bool(stored == (answer.request_id, answer.latency_ms, codec.bounded(answer.text, TEXT_LIMIT)[0]))


def _insert_answer(connection: sqlite3.Connection, cell: int, answer: Answer, finished: str | None) -> int:
    row = connection.execute(_INSERT_ANSWER, (cell, cell, *_answer_values(answer, finished))).fetchone()
    return int(row[0])


def _answer_values(answer: Answer, finished: str | None) -> tuple[object, ...]:
    usage = answer.usage
    text, text_cut = codec.bounded(answer.text, TEXT_LIMIT)
    reasoning, reasoning_cut = (None, 0)
    if answer.reasoning is not None:
        reasoning, reasoning_cut = codec.bounded(answer.reasoning, TEXT_LIMIT)
    return (
        finished,
        answer.outcome.value,
        answer.model_reported and codec.clean_text(answer.model_reported),
        usage.input,
        usage.output,
        usage.cache_read,
        usage.cache_write,
        usage.reasoning,
        int(usage.estimated),
        answer.latency_ms,
        answer.first_token_ms,
        codec.money_text(answer.cost_usd),
        answer.cost_source,
        answer.request_id and codec.clean_text(answer.request_id),
        codec.dump(Shape.ANSWER_NOTES, answer.notes) if answer.notes else None,
        len(answer.text),
        text_cut,
        reasoning_cut,
        text[:PREVIEW_CHARS],
        reasoning,
        text,
    )


def put_score(
    connection: sqlite3.Connection, cell: CellRow, answer: int, score: CaseScore, at: str, origin: str
) -> None:
    """Makes `score` the current mark of the cell; earlier marks stay as history."""
    connection.execute(_SET_SCORE, (*keep_score(connection, cell, answer, score, at, origin), cell.id))


def keep_score(
    connection: sqlite3.Connection, cell: CellRow, answer: int, score: CaseScore, at: str, origin: str
) -> Mark:
    """Stores a score, if it is another one than the cell's; returns what the cell must say of it."""
    values = _score_values(score)
    row = cell.score
    if row is None or not _is_current(connection, row, origin, values):
        row = connection.execute(_INSERT_SCORE, (answer, at, origin, *values)).lastrowid
    return (row, *values[:3])


def _score_values(score: CaseScore) -> tuple[object, ...]:
    return (
        score.state.value,
        score.score if score.state is ScoreState.SCORED else None,
        codec.flag(score.passed),
        codec.bounded(score.reason, _REASON_LIMIT)[0],
        codec.dump(Shape.METRICS, score.metrics) if score.metrics else None,
        codec.dump(Shape.CHECKS, score.checks) if score.checks else None,
    )


def _is_current(connection: sqlite3.Connection, row: int, origin: str, values: tuple[object, ...]) -> bool:
    stored = connection.execute(
        "SELECT origin, state, score, passed, reason, metrics, checks FROM scores WHERE id = ?", (row,)
    ).fetchone()
    return bool(stored == (origin, *values))


def put_attempts(connection: sqlite3.Connection, cell: int, attempts: Sequence[Attempt]) -> None:
    """Stores the requests of a call; one that is known already is brought up to date."""
    for attempt in attempts:
        connection.execute(
            _PUT_ATTEMPT,
            (
                cell,
                attempt.number,
                codec.time_text(attempt.started_at),
                attempt.wait_s,
                attempt.latency_ms,
                *_error(attempt.error),
                int(attempt.throttled),
                codec.money_text(attempt.cost_usd),
            ),
        )


def _error(error: CallError | None) -> tuple[str | None, int | None, str | None]:
    if error is None:
        return None, None, None
    return error.kind, error.status, codec.bounded(error.message, _ERROR_LIMIT)[0]
