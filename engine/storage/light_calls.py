"""Calls without their long parts, for leaderboards over very many of them."""

from __future__ import annotations

import functools
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from providers.base import Usage

from engine.domain import Answer, Attempt, CallDone, CallError, CaseScore, Cell
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.database import Database
from engine.storage.rows import OUTCOMES, SCORE_STATES, STATUSES, CallFilter
from engine.storage.selection import condition

_CHUNK = 4_000

_COLUMNS = """c.id, c.model, c.run_case, c.trial, c.status, c.outcome, c.attempts, c.throttled, c.waited_s,
    c.error_kind, c.error_message, c.error_status, a.outcome, c.latency_ms, c.cost_usd, a.cost_source,
    a.first_token_ms, a.model_reported, c.input_tokens, c.output_tokens, a.cache_read_tokens,
    a.cache_write_tokens, a.reasoning_tokens, a.tokens_estimated, instr(a.notes, '"loading_included"'),
    s.state, s.score, s.passed, s.metrics"""

_CHARGED = """SELECT cell, number, started_at, wait_s, latency_ms, error_kind, error_message, error_status,
    cost_usd FROM attempts WHERE cell BETWEEN ? AND ? AND error_kind IS NOT NULL AND cost_usd > '0'"""
"""Money is text: whatever is more than nothing sorts behind '0'."""

_LOADING: tuple[tuple[str, Mapping[str, Any]], ...] = (("loading_included", {}),)


def light_calls(database: Database, run: int, chosen: CallFilter) -> Iterator[CallDone]:
    """The calls that have an outcome, in plan order, read in portions.

    Left out are answer text, reasoning, notes (but that a model was being loaded), request id, times,
    the reason and checks of the score, and attempts but those that failed and cost something.
    Equal scores are one and the same object.
    """
    with database.reading() as connection:
        models = _names(connection, "SELECT id, model_key FROM run_models WHERE run = ?", run)
        cases = _names(connection, "SELECT id, case_id FROM run_cases WHERE run = ?", run)
    where, values = condition(run, chosen)
    statement = (
        f"SELECT {_COLUMNS} FROM cells c LEFT JOIN answers a ON a.id = c.answer "  # noqa: S608 - constants
        f"LEFT JOIN scores s ON s.id = c.current_score WHERE {where} AND c.status IS NOT NULL "
        "AND c.id > ? ORDER BY c.id LIMIT ?"
    )
    after = 0
    while True:
        with database.reading() as connection:
            rows = connection.execute(statement, (*values, after, _CHUNK)).fetchall()
            charged = _charged(connection, rows[0][0], rows[-1][0]) if rows else {}
        for row in rows:
            yield _call(models[row[1]], cases[row[2]], row, charged.get(row[0], ()))
        if len(rows) < _CHUNK:
            return
        after = rows[-1][0]


def _names(connection: sqlite3.Connection, statement: str, run: int) -> dict[int, str]:
    return dict(connection.execute(statement, (run,)).fetchall())


def _charged(connection: sqlite3.Connection, first: int, last: int) -> dict[int, tuple[Attempt, ...]]:
    """Failed attempts that cost something, by cell; there are hardly ever any."""
    found: dict[int, tuple[Attempt, ...]] = {}
    for cell, number, started, wait, latency, kind, text, status, cost in connection.execute(
        _CHARGED, (first, last)
    ):
        error, at = CallError(kind, text or "", status), codec.time_value(started)
        attempt = Attempt(number, at, wait, latency, error, cost_usd=codec.money(cost))
        found[cell] = (*found.get(cell, ()), attempt)
    return found


def _call(model_key: str, case_id: str, row: Sequence[Any], charged: tuple[Attempt, ...]) -> CallDone:
    (
        *_, trial, status, outcome, attempts, throttled, waited, error_kind, error_message, error_status,
        answered, latency, cost, source, first, reported, asked, told, read, written, thought, estimated,
        loading, state, score, passed, metrics,
    ) = row  # fmt: skip
    answer = None
    if answered is not None:
        answer = Answer(
            text="",
            outcome=OUTCOMES[answered],
            model_reported=reported,
            usage=Usage(asked, told, read, written, thought, bool(estimated)),
            latency_ms=latency,
            first_token_ms=first,
            cost_usd=codec.money(cost),
            cost_source=source,
            notes=_LOADING if loading else (),
        )
    return CallDone(
        cell=Cell(model_key, case_id, trial),
        status=STATUSES[status],
        outcome=OUTCOMES[outcome],
        answer=answer,
        score=None if state is None else _score(state, score, passed, metrics),
        error=None if error_kind is None else CallError(error_kind, error_message or "", error_status),
        attempts=attempts,
        throttled=throttled,
        waited_s=waited,
        attempt_log=charged,
    )


@functools.lru_cache(maxsize=4_096)
def _score(state: str, score: float | None, passed: int | None, metrics: str | None) -> CaseScore:
    # Most calls of a run share a few marks: right or wrong.
    return CaseScore(
        state=SCORE_STATES[state],
        score=score,
        passed=codec.truth(passed),
        metrics=codec.load(Shape.METRICS, metrics) if metrics else {},
    )
