"""Questions over many runs: how a model did over time, what wavers, what got worse."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from typing import Any

from engine.domain import RunStatus
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.records import BoardRow
from engine.storage.rows import CaseChange, CaseMarks, Drift, FlakyCase, ModelPoint

CaseMean = tuple[str, float | None, int, str]
"""A case under one model entry: its id, mean score, marked trials, and the digest of its content."""

_BOARD_ROW = """b.model_key, b.label, b.status, b.rank, b.composite, b.score, b.low, b.high, b.coverage,
    b.latency_p50_ms, b.latency_p95_ms, b.cost_usd, b.cost_per_1k_usd, b.scored_cases, b.passed_cases,
    b.metrics"""

_IN_PROJECT = "(r.project = ? OR r.project_root = ?) AND r.deleted_at IS NULL"

_POINTS = f"""SELECT r.run_id, r.number, r.started_at, r.status, m.label, m.model, m.reported, {_BOARD_ROW}
    FROM board_rows b JOIN runs r ON r.id = b.run
    LEFT JOIN run_models m ON m.run = b.run AND m.model_key = b.model_key
    WHERE {_IN_PROJECT}"""  # noqa: S608 - constants only


def board_rows(connection: sqlite3.Connection, run: int) -> list[BoardRow]:
    """The leaderboard of one run as columns, in board order."""
    rows = connection.execute(
        f"SELECT {_BOARD_ROW} FROM board_rows b WHERE b.run = ? ORDER BY b.position",  # noqa: S608
        (run,),
    )
    return [_board_row(row) for row in rows]


def model_history(
    connection: sqlite3.Connection, project: str, model_key: str | None, limit: int | None
) -> list[ModelPoint]:
    """The models' results in the project's runs, newest run first."""
    chosen = "" if model_key is None else " AND b.model_key = ?"
    rows = connection.execute(
        f"{_POINTS}{chosen} ORDER BY r.started_at DESC, r.id DESC, b.position LIMIT ?",
        (project, project, *([] if model_key is None else [model_key]), -1 if limit is None else limit),
    )
    return [
        ModelPoint(
            run_id=run_id,
            number=number,
            started_at=codec.time_value(started),
            run_status=RunStatus(status),
            label=label or row[1],
            model=model or "",
            reported=reported,
            row=_board_row(row),
        )
        for run_id, number, started, status, label, model, reported, *row in rows
    ]


def deciding_metrics(connection: sqlite3.Connection, project: str) -> dict[str, str]:
    """By which metric the winner's score of each run was measured: as its board says, else its config."""
    rows = connection.execute(
        f"""SELECT r.run_id, coalesce(
            CASE WHEN json_valid(d.board) THEN json_extract(d.board, '$.deciding') END,
            CASE WHEN json_valid(d.config) THEN json_extract(d.config, '$.metrics.deciding') END,
            'accuracy')
        FROM runs r JOIN run_details d ON d.run = r.id WHERE {_IN_PROJECT}""",  # noqa: S608
        (project, project),
    )
    return {run_id: str(metric) for run_id, metric in rows}


def flaky_cases(connection: sqlite3.Connection, run: int, limit: int | None) -> list[FlakyCase]:
    """Cases that a model answered differently over the trials of one run, widest spread first.

    Never across runs: there the instructions or the model may have changed.
    """
    rows = connection.execute(
        """SELECT r.run_id, k.case_id, m.model_key, count(*), min(c.score), max(c.score), avg(c.score)
        FROM cells c JOIN runs r ON r.id = c.run JOIN run_models m ON m.id = c.model
            JOIN run_cases k ON k.id = c.run_case
        WHERE c.run = ? AND c.score IS NOT NULL GROUP BY c.model, c.run_case
        HAVING min(c.score) < max(c.score)
        ORDER BY max(c.score) - min(c.score) DESC, k.position, m.position LIMIT ?""",
        (run, -1 if limit is None else limit),
    )
    return [FlakyCase(*row) for row in rows]


def case_marks(connection: sqlite3.Connection, run: int) -> list[CaseMarks]:
    """Every case under every model, in project order: the picture behind "where models differ"."""
    rows = connection.execute(
        """SELECT k.case_id, m.model_key, count(*), count(c.score), coalesce(sum(c.passed), 0),
            coalesce(sum(c.status = 'error'), 0), avg(c.score), coalesce(sum(c.status = 'ok'), 0)
        FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
        WHERE c.run = ? GROUP BY c.run_case, c.model ORDER BY k.position, m.position""",
        (run,),
    )
    return [CaseMarks(*row) for row in rows]


def case_changes(
    connection: sqlite3.Connection, before: tuple[int, str], after: tuple[int, str]
) -> list[CaseChange]:
    """The shared cases of two runs, for one model entry in each, in the order of the later run.

    The entries may have different keys, so that two releases of a model can be held against
    each other.
    """
    return changes_between(case_means(connection, *before), case_means(connection, *after))


def changes_between(before: list[CaseMean], after: list[CaseMean]) -> list[CaseChange]:
    """The shared cases of two sides, which may come from two files, in the order of the later one."""
    earlier = {row[0]: row[1:] for row in before}
    changes = []
    for case, score, trials, mark in after:
        if case in earlier:
            old_score, old_trials, old_mark = earlier[case]
            changes.append(CaseChange(case, old_score, score, old_trials, trials, mark == old_mark))
    return changes


def drift(points: Iterable[ModelPoint], back: int) -> list[Drift]:
    """Each model of the newest run against the mean of up to `back` runs before it; newest first.

    By the deciding metric, because a composite also moves when other models join the field.
    """
    histories: dict[str, list[ModelPoint]] = {}
    newest = ""
    for point in points:
        newest = newest or point.run_id
        histories.setdefault(point.row.model_key, []).append(point)
    return [_drift(key, points, back) for key, points in histories.items() if points[0].run_id == newest]


def _drift(key: str, points: list[ModelPoint], back: int) -> Drift:
    latest, *earlier = points
    scores = [point.row.score for point in earlier[:back] if point.row.score is not None]
    return Drift(
        model_key=key,
        run_id=latest.run_id,
        score=latest.row.score,
        baseline=sum(scores) / len(scores) if scores else None,
        baseline_runs=len(scores),
        status=latest.row.status,
        previous_status=earlier[0].row.status if earlier else None,
    )


def case_means(connection: sqlite3.Connection, run: int, model_key: str) -> list[CaseMean]:
    """Each case of a model entry in one run."""
    return connection.execute(
        """SELECT k.case_id, avg(c.score), count(c.score), t.digest
        FROM cells c JOIN run_models m ON m.id = c.model JOIN run_cases k ON k.id = c.run_case
            JOIN case_contents t ON t.id = k.content
        WHERE c.run = ? AND m.model_key = ? GROUP BY c.run_case ORDER BY k.position""",
        (run, model_key),
    ).fetchall()


def _board_row(row: Any) -> BoardRow:
    key, label, status, rank, composite, score, low, high, coverage, p50, p95, cost, per_1k, *rest = row
    scored, passed, metrics = rest
    return BoardRow(
        model_key=key,
        label=label,
        status=status,
        rank=rank,
        composite=composite,
        score=score,
        low=low,
        high=high,
        coverage=coverage,
        latency_p50_ms=p50,
        latency_p95_ms=p95,
        cost_usd=codec.money(cost),
        cost_per_1k_usd=per_1k,
        scored_cases=scored,
        passed_cases=passed,
        metrics=codec.load(Shape.RAW_METRICS, metrics),
    )
