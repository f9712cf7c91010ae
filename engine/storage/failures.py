"""The calls of a run that are not right, each with the one check that says why."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from engine.domain import CallDone, CallError, CaseScore, Cell, CheckResult
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.database import Database
from engine.storage.rows import OUTCOMES, SCORE_STATES, STATUSES

_CHUNK = 2_000

# The check that decided: of an errored mark the errored one, otherwise one that did not pass;
# must-pass ones first, those that count for nothing last.
_TELLING = """SELECT j.value FROM json_each(s.checks) j
    WHERE json_extract(j.value, '$.state') = s.state
        AND (s.state = 'errored' OR json_extract(j.value, '$.passed') = 0)
    ORDER BY json_extract(j.value, '$.must_pass') DESC, json_extract(j.value, '$.weight') > 0 DESC, j.key
    LIMIT 1"""

_STATEMENT = f"""SELECT c.id, m.model_key, k.case_id, c.trial, c.status, c.outcome, c.error_kind,
        c.error_message, c.error_status, s.state, s.score, s.passed, s.reason, ({_TELLING})
    FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
    LEFT JOIN scores s ON s.id = c.current_score
    WHERE c.run = ? AND c.id > ?
        AND (c.status = 'error' OR c.status = 'ok' AND (c.passed = 0 OR c.score_state = 'errored'))
    ORDER BY c.id LIMIT ?"""  # noqa: S608 - constants only


def failed_calls(database: Database, run: int) -> Iterator[CallDone]:
    """Failed, wrong and unmarkable calls in plan order, read in portions, without texts."""
    after = 0
    while True:
        with database.reading() as connection:
            rows = connection.execute(_STATEMENT, (run, after, _CHUNK)).fetchall()
        for row in rows:
            yield _call(row)
        if len(rows) < _CHUNK:
            return
        after = rows[-1][0]


def _call(row: tuple[Any, ...]) -> CallDone:
    _, key, case, trial, status, outcome, kind, message, error_status, state, score, passed, *told = row
    return CallDone(
        cell=Cell(key, case, trial),
        status=STATUSES[status],
        outcome=OUTCOMES[outcome],
        score=None
        if state is None
        else CaseScore(SCORE_STATES[state], score, codec.truth(passed), told[0], checks=_telling(told[1])),
        error=None if kind is None else CallError(kind, message or "", error_status),
    )


def _telling(check: str | None) -> tuple[CheckResult, ...]:
    found: tuple[CheckResult, ...] = () if check is None else codec.load(Shape.CHECKS, f"[{check}]")
    return found


def marked_by(connection: sqlite3.Connection, run: int, types: tuple[str, ...]) -> list[tuple[Any, ...]]:
    """What the checks of these types said, answer by answer: model, case, trial, passed, score.

    Only scored results; several checks of these types on one answer are one: it passes where all
    of them do, and its score is their mean.
    """
    marks = ", ".join("?" * len(types))
    return connection.execute(
        f"""SELECT m.model_key, k.case_id, c.trial, min(json_extract(j.value, '$.passed')),
            avg(json_extract(j.value, '$.score'))
        FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
        JOIN scores s ON s.id = c.current_score, json_each(s.checks) j
        WHERE c.run = ? AND json_extract(j.value, '$.type') IN ({marks})
            AND json_extract(j.value, '$.state') = 'scored'
        GROUP BY c.id ORDER BY c.id""",  # noqa: S608 - values are bound
        (run, *types),
    ).fetchall()
