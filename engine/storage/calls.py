"""Calls read back as the records they were written from."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from providers.base import Usage

from engine.domain import (
    Answer,
    Attempt,
    CallDone,
    CallError,
    CaseScore,
    Cell,
)
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.database import Database
from engine.storage.records import TEXT_LIMIT, AnswerWrite, PlannedCell
from engine.storage.rows import OUTCOMES, SCORE_STATES, STATUSES, CallFilter, UnfinishedCell
from engine.storage.selection import condition

_CHUNK = 1_000
_NEAR = 8
_LISTED = "IN (SELECT value FROM json_each(?))"

_FROM = """FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
    LEFT JOIN answers a ON a.id = c.answer LEFT JOIN scores s ON s.id = c.current_score"""

_CELL = """c.id, m.model_key, k.case_id, c.trial, c.status, c.outcome, c.attempts, c.throttled, c.waited_s,
    c.started_at, c.finished_at, c.error_kind, c.error_message, c.error_status"""

_ANSWER_FIGURES = """a.outcome, a.model_reported, a.input_tokens, a.output_tokens, a.cache_read_tokens,
    a.cache_write_tokens, a.reasoning_tokens, a.tokens_estimated, a.latency_ms, a.first_token_ms,
    a.cost_usd, a.cost_source, a.request_id, a.notes, a.text_cut, a.reasoning_cut"""

_SCORE = "s.state, s.score, s.passed, s.reason, s.metrics"

_CELL_WIDTH, _ANSWER_WIDTH, _SCORE_WIDTH = 14, 18, 6


def calls(
    database: Database, run: int, chosen: CallFilter, window: tuple[int, int | None] = (0, None)
) -> Iterator[CallDone]:
    """The calls that have an outcome, in full and in plan order, read in portions.

    No transaction stays open between portions. Without the long parts: `light_calls`.
    """
    after, (skip, left) = 0, window
    while left is None or left > 0:
        size = _CHUNK if left is None else min(_CHUNK, left)
        with database.reading() as connection:
            rows = _portion(connection, run, chosen, after, (skip, size))
            logs = _attempt_logs(connection, rows)
        for row in rows:
            yield _call(row, logs.get(row[0], ()))
        if len(rows) < size:
            return
        after, skip = rows[-1][0], 0
        left = None if left is None else left - len(rows)


def unfinished(
    connection: sqlite3.Connection, run: int, *, with_errors: bool = False
) -> list[UnfinishedCell]:
    """The cells that a resumed run asks, in plan order; with those that failed for good if wanted."""
    rows = connection.execute(
        """SELECT m.model_key, k.case_id, c.trial, c.fingerprint, c.state, c.status
        FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
        WHERE c.run = ? AND (c.state IN ('planned', 'running')
            OR (c.state = 'done' AND c.status IN ('stopped', ?)))
        ORDER BY c.id""",
        (run, "error" if with_errors else "stopped"),
    )
    return [
        UnfinishedCell(Cell(key, case, trial), mark, status if state == "done" else state)
        for key, case, trial, mark, state, status in rows
    ]


def planned(connection: sqlite3.Connection, run: int) -> list[PlannedCell]:
    """The whole stored plan, in its order."""
    rows = connection.execute(
        """SELECT m.model_key, k.case_id, c.trial, c.fingerprint
        FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
        WHERE c.run = ? ORDER BY c.id""",
        (run,),
    )
    return [PlannedCell(Cell(key, case, trial), mark) for key, case, trial, mark in rows]


def pending_scores(connection: sqlite3.Connection, run: int, run_id: str) -> list[AnswerWrite]:
    """Stored answers that nobody has marked yet, as they were written, in plan order."""
    rows = connection.execute(
        f"""SELECT {_CELL}, {_ANSWER_FIGURES}, a.text, a.reasoning
        {_FROM} WHERE c.run = ? AND c.state = 'answered' ORDER BY c.id""",
        (run,),
    ).fetchall()
    logs = _attempt_logs(connection, rows)
    found = []
    for row in rows:
        call = _call((*row, *[None] * _SCORE_WIDTH), logs.get(row[0], ()))
        if call.answer is not None:
            found.append(
                AnswerWrite(
                    run_id,
                    call.cell,
                    call.answer,
                    call.attempts,
                    call.throttled,
                    call.waited_s,
                    call.started_at,
                    call.finished_at,
                    call.attempt_log,
                )
            )
    return found


def versions(connection: sqlite3.Connection, cell: int) -> list[Answer]:
    """All answers kept for a cell, the one that counts first, then the newest first."""
    rows = connection.execute(
        f"""SELECT {_ANSWER_FIGURES}, a.text, a.reasoning FROM answers a JOIN cells c ON c.id = a.cell
        WHERE a.cell = ? ORDER BY a.id = c.answer DESC, a.version DESC""",  # noqa: S608 - constants only
        (cell,),
    )
    return [_answer(row) for row in rows]


def with_versions(connection: sqlite3.Connection, cells: Sequence[int]) -> set[int]:
    """Those of the cells that have more than one answer."""
    found = set()
    for cell in cells:
        row = connection.execute("SELECT count(*) FROM answers WHERE cell = ?", (cell,)).fetchone()
        if row[0] > 1:
            found.add(cell)
    return found


def marked_versions(connection: sqlite3.Connection, cell: int) -> list[tuple[Answer, CaseScore | None]]:
    """The same with the newest mark of each; None = it has none."""
    rows = connection.execute(
        f"""SELECT {_ANSWER_FIGURES}, a.text, a.reasoning, {_SCORE}, s.checks
        FROM answers a JOIN cells c ON c.id = a.cell
        LEFT JOIN scores s ON s.id = (SELECT max(id) FROM scores WHERE answer = a.id)
        WHERE a.cell = ? ORDER BY a.id = c.answer DESC, a.version DESC""",  # noqa: S608 - constants only
        (cell,),
    ).fetchall()
    found = []
    for row in rows:
        mark = row[_ANSWER_WIDTH:]
        found.append((_answer(row[:_ANSWER_WIDTH]), _score(mark) if mark[0] is not None else None))
    return found


def score_history(connection: sqlite3.Connection, cell: int) -> list[CaseScore]:
    """All marks of the counting answer, the current one first, then the newest first."""
    rows = connection.execute(
        f"""SELECT {_SCORE}, s.checks FROM scores s JOIN cells c ON c.answer = s.answer
        WHERE c.id = ? ORDER BY s.id = c.current_score DESC, s.id DESC""",  # noqa: S608 - constants only
        (cell,),
    )
    return [_score(row) for row in rows]


def _portion(
    connection: sqlite3.Connection, run: int, chosen: CallFilter, after: int, window: tuple[int, int]
) -> list[tuple[Any, ...]]:
    where, values = condition(run, chosen)
    skip, size = window
    return connection.execute(
        f"""SELECT {_CELL}, {_ANSWER_FIGURES}, a.text, a.reasoning, {_SCORE}, s.checks
        {_FROM} WHERE {where} AND c.status IS NOT NULL AND c.id > ?
        ORDER BY c.id LIMIT ? OFFSET ?""",
        (*values, after, size, skip),
    ).fetchall()


def _attempt_logs(
    connection: sqlite3.Connection, rows: Sequence[tuple[Any, ...]]
) -> dict[int, tuple[Attempt, ...]]:
    if not rows:
        return {}
    wanted = {row[0] for row in rows}
    logs: dict[int, list[Attempt]] = {}
    first, last = min(wanted), max(wanted)
    # The calls of one case lie far apart in a long run: everything between them would be read.
    near = last - first < _NEAR * len(wanted)
    where, values = ("BETWEEN ? AND ?", (first, last)) if near else (_LISTED, (json.dumps([*wanted]),))
    found = connection.execute(
        f"""SELECT cell, number, started_at, wait_s, latency_ms, error_kind, error_message, error_status,
            throttled, cost_usd
        FROM attempts WHERE cell {where} ORDER BY cell, started_at, number""",  # noqa: S608 - values are bound
        values,
    )
    for cell, number, started, wait, latency, *error, throttled, cost in found:
        if cell in wanted:
            attempt = Attempt(
                number,
                codec.time_value(started),
                wait,
                latency,
                _error(*error),
                bool(throttled),
                codec.money(cost),
            )
            logs.setdefault(cell, []).append(attempt)
    return {cell: tuple(log) for cell, log in logs.items()}


def _call(row: Sequence[Any], log: tuple[Attempt, ...]) -> CallDone:
    figures = row[:_CELL_WIDTH]
    answer = row[_CELL_WIDTH : _CELL_WIDTH + _ANSWER_WIDTH]
    score = row[_CELL_WIDTH + _ANSWER_WIDTH :]
    _, key, case, trial, status, outcome, attempts, throttled, waited, started, finished, *error = figures
    return CallDone(
        cell=Cell(key, case, trial),
        status=STATUSES[status],
        outcome=OUTCOMES[outcome],
        answer=None if answer[0] is None else _answer(answer),
        score=None if score[0] is None else _score(score),
        error=_error(*error),
        attempts=attempts,
        throttled=throttled,
        waited_s=waited,
        started_at=codec.optional_time(started),
        finished_at=codec.optional_time(finished),
        attempt_log=log,
    )


def _answer(row: Sequence[Any]) -> Answer:
    (
        outcome,
        reported,
        *usage,
        latency,
        first,
        cost,
        source,
        request,
        notes,
        cut,
        thought_cut,
        text,
        thought,
    ) = row
    asked, told_back, cache_read, cache_write, thinking, estimated = usage
    told = codec.load(Shape.ANSWER_NOTES, notes) if notes else ()
    if cut or thought_cut:
        told = (*told, ("cut_in_store", {"kept": TEXT_LIMIT, "text": cut, "reasoning": thought_cut}))
    return Answer(
        text=text,
        outcome=OUTCOMES[outcome],
        model_reported=reported,
        reasoning=thought,
        usage=Usage(asked, told_back, cache_read, cache_write, thinking, bool(estimated)),
        latency_ms=latency,
        first_token_ms=first,
        cost_usd=codec.money(cost),
        cost_source=source,
        request_id=request,
        notes=told,
    )


def _score(row: Sequence[Any]) -> CaseScore:
    state, score, passed, reason, metrics, checks = row
    return CaseScore(
        state=SCORE_STATES[state],
        score=score,
        passed=codec.truth(passed),
        reason=reason,
        metrics=codec.load(Shape.METRICS, metrics) if metrics else {},
        checks=codec.load(Shape.CHECKS, checks) if checks else (),
    )


def _error(kind: str | None, message: str | None, status: int | None) -> CallError | None:
    return None if kind is None else CallError(kind, message or "", status)
