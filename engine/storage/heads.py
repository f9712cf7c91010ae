"""The head of a run: how it is entered, taken up again and read back."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from engine.domain import Case, Cell, RunInfo, RunStatus
from engine.errors import ArenaError, UserError
from engine.storage import codec, finishing, owner
from engine.storage.codec import Shape
from engine.storage.records import Owner, PlannedCell, RunHead, RunModel, SpendWrite
from engine.storage.rows import StoredRun

_INSERT_RUN = """INSERT INTO runs (run_id, project, project_root, number, status, started_at, label,
    practice, models, cases, trials, planned, owner_pid, owner_started, owner_host, seen_at)
    VALUES (?, ?, ?, ?, 'running', ?, ?, ?, ?, ?, ?, 0, ?, ?, ?, ?) RETURNING id"""

_PLAN_AGAIN = """UPDATE cells SET state = 'planned', status = NULL, outcome = NULL, attempts = 0,
    throttled = 0, waited_s = 0, started_at = NULL, finished_at = NULL, error_kind = NULL,
    error_status = NULL, error_message = NULL"""
_MISSING = "state = 'running' OR (state = 'done' AND status IN ('stopped', ?))"

INFO_COLUMNS = """r.id, r.run_id, r.project, r.project_root, r.status, r.started_at, r.finished_at, r.planned,
    r.completed, r.errors, r.stopped, r.cost_usd, r.winner, r.label, r.number, r.models, r.cases,
    r.trials, r.practice, r.winner_score, r.duration_s, r.deleted_at"""


def insert(connection: sqlite3.Connection, head: RunHead) -> None:
    """Enters a run with its cases and planned cells."""
    who = head.owner or owner.this_process()
    run = connection.execute(
        _INSERT_RUN,
        (
            head.run_id,
            head.project,
            None if head.project_root is None else str(head.project_root),
            _next_number(connection, head.project, head.number_above),
            codec.time_text(head.started_at),
            codec.clean_text(head.label),
            int(head.practice),
            len(head.models),
            len(head.cases),
            head.trials,
            who.pid,
            who.started,
            who.host,
            codec.time_text(datetime.now(UTC)),
        ),
    ).fetchone()[0]
    _insert_details(connection, run, head)
    models = _insert_models(connection, run, head.models)
    cases = _put_cases(connection, run, head.cases)
    connection.executemany(
        "INSERT INTO cells (run, model, run_case, trial, fingerprint) VALUES (?, ?, ?, ?, ?)",
        _cell_values(run, models, cases, head.cells),
    )
    _count_planned(connection, run)


def take_up(
    connection: sqlite3.Connection,
    run_id: str,
    head: RunHead | None,
    *,
    with_errors: bool = False,
    only: Collection[Cell] = (),
) -> None:
    """Makes this process the owner of an ended run; its missing cells become planned again.

    `with_errors`: so do the cells that failed for good. Their requests stay in the log. `only`:
    just these of the cells without an answer, failed ones too; all others stay as they are.

    With a `head` the run goes on with that project: config, cases and the fingerprints of the
    missing cells are replaced. Raises UserError `run_not_found`, `run_deleted` or `run_in_use`.
    """
    row = connection.execute(
        """SELECT id, status, deleted_at, seen_at, owner_pid, owner_started, owner_host
        FROM runs WHERE run_id = ?""",
        (run_id,),
    ).fetchone()
    if row is None:
        raise not_found(run_id)
    run, status, deleted, seen, *who = row
    if deleted is not None:
        raise UserError(
            "run_deleted", f"The run {run_id} is in the bin.", hint="Restore it first, then carry on with it."
        )
    if is_in_use(run_id, status, who, seen):
        goes_on = status == RunStatus.RUNNING.value
        raise UserError(
            "run_in_use",
            f"The run {run_id} is going on in another window or program."
            if goes_on
            else f"The answers of the run {run_id} are being marked again.",
            hint="Carry on there, or end it there first." if goes_on else "Wait until that has ended.",
        )
    if only:
        _plan_again(connection, run, only)
    else:
        connection.execute(
            f"{_PLAN_AGAIN} WHERE run = ? AND ({_MISSING})",
            (run, "error" if with_errors else "stopped"),
        )
    if head is not None:
        _replace_snapshot(connection, run, head)
    me = owner.this_process()
    connection.execute(
        """UPDATE runs SET status = 'running', finished_at = NULL, owner_pid = ?, owner_started = ?,
            owner_host = ?, seen_at = ? WHERE id = ?""",
        (me.pid, me.started, me.host, codec.time_text(datetime.now(UTC)), run),
    )


def _plan_again(connection: sqlite3.Connection, run: int, cells: Collection[Cell]) -> None:
    models = dict(connection.execute("SELECT model_key, id FROM run_models WHERE run = ?", (run,)).fetchall())
    cases = dict(connection.execute("SELECT case_id, id FROM run_cases WHERE run = ?", (run,)).fetchall())
    connection.executemany(
        f"{_PLAN_AGAIN} WHERE run = ? AND model = ? AND run_case = ? AND trial = ? AND ({_MISSING})",
        [(run, *_place(cell, models, cases), "error") for cell in cells],
    )


def claim(connection: sqlite3.Connection, run: int) -> str:
    """Makes this process the owner of a run without changing its status. Returns the run's id."""
    me = owner.this_process()
    row = connection.execute(
        """UPDATE runs SET owner_pid = ?, owner_started = ?, owner_host = ?, seen_at = ? WHERE id = ?
        RETURNING run_id""",
        (me.pid, me.started, me.host, codec.time_text(datetime.now(UTC)), run),
    ).fetchone()
    return str(row[0])


def release(connection: sqlite3.Connection, run: int) -> None:
    """Gives an ended run free again."""
    connection.execute(
        """UPDATE runs SET owner_pid = NULL, owner_started = NULL, owner_host = NULL, seen_at = NULL
        WHERE id = ? AND status != 'running'""",
        (run,),
    )


def is_in_use(run_id: str, status: str, who: Sequence[Any], seen: str | None) -> bool:
    """Whether a run goes on or is marked again by a process that is there."""
    if is_gone(who, seen):
        return False
    if status == RunStatus.RUNNING.value or Owner(*who) != owner.this_process():
        return True
    return run_id in owner.MARKING


def is_gone(who: Sequence[Any], seen: str | None) -> bool:
    """Whether the owner columns of a running run name a process that is there no more."""
    if who[0] is None:
        return True
    return owner.is_gone(Owner(*who), codec.optional_time(seen), datetime.now(UTC))


def info(connection: sqlite3.Connection, row: tuple[Any, ...], store: Path) -> RunInfo:
    """A run's head from `INFO_COLUMNS`. A run that is going on is counted as it stands now."""
    run, run_id, project, root, status, started, finished, planned, *figures = row
    completed, errors, stopped, cost, winner, label, number, models, cases, trials, *rest = figures
    practice, winner_score, duration, deleted = rest
    spent = codec.money(cost)
    if status == RunStatus.RUNNING.value:
        completed, errors, stopped = finishing.counts(connection, run)
        spent = finishing.known_cost(connection, run)
    return RunInfo(
        run_id=run_id,
        project=project,
        project_root=None if root is None else Path(root),
        status=RunStatus(status),
        started_at=codec.time_value(started),
        finished_at=codec.optional_time(finished),
        planned=planned,
        completed=completed,
        errors=errors,
        stopped=stopped,
        cost_usd=spent,
        winner=winner,
        label=label,
        number=number,
        models=models,
        cases=cases,
        trials=trials,
        practice=bool(practice),
        winner_score=winner_score,
        duration_s=duration,
        deleted_at=codec.optional_time(deleted),
        store=store,
    )


def stored_run(connection: sqlite3.Connection, run_id: str, store: Path) -> StoredRun:
    """Everything about one run but its calls. `run_id` is complete."""
    row = connection.execute(
        f"SELECT {INFO_COLUMNS} FROM runs r WHERE run_id = ?",  # noqa: S608 - constants only
        (run_id,),
    ).fetchone()
    if row is None:
        raise not_found(run_id)
    run = row[0]
    config, skipped, lanes, notes, board, verdict, seed, version, error = connection.execute(
        """SELECT config, skipped, lanes, notes, board, verdict, seed, app_version, error
        FROM run_details WHERE run = ?""",
        (run,),
    ).fetchone()
    who = connection.execute(
        "SELECT owner_pid, owner_started, owner_host FROM runs WHERE id = ?", (run,)
    ).fetchone()
    return StoredRun(
        info=info(connection, row, store),
        config=codec.load(Shape.DOCUMENT, config),
        models=_models(connection, run),
        cases=tuple(cases_of(connection, run)),
        skipped=codec.load(Shape.SKIPPED, skipped),
        notes=codec.load(Shape.NOTES, notes),
        lanes=codec.load(Shape.DOCUMENT, lanes),
        board=None if board is None else codec.load(Shape.DOCUMENT, board),
        verdict=None if verdict is None else codec.load(Shape.DOCUMENT, verdict),
        spend=tuple(_spend(connection, run, run_id)),
        owner=None if who[0] is None else Owner(*who),
        seed=seed,
        app_version=version,
        error=error,
    )


def replace_cases(connection: sqlite3.Connection, run: int, cases: Iterable[Case]) -> None:
    """Keeps the cases of a run as they are now marked; those it does not have are left out."""
    known = {row[0] for row in connection.execute("SELECT case_id FROM run_cases WHERE run = ?", (run,))}
    _put_cases(connection, run, [case for case in cases if case.id in known])


def cases_of(connection: sqlite3.Connection, run: int) -> Iterator[Case]:
    """The cases of a run as they were, in project order."""
    rows = connection.execute(
        """SELECT c.content, k.file, k.line FROM run_cases k JOIN case_contents c ON c.id = k.content
        WHERE k.run = ? ORDER BY k.position""",
        (run,),
    )
    for content, file, line in rows:
        yield codec.case_from_content(content, file, line)


def not_found(reference: str) -> UserError:
    """The error for a run that is not there."""
    return UserError(
        "run_not_found",
        f"There is no run {reference!r} in this history.",
        hint='Look at the list of runs; the start of a run id or "last" is enough.',
        run_id=reference,
    )


def _next_number(connection: sqlite3.Connection, project: str, above: int) -> int:
    # Kept apart from the runs, so that the number of a deleted run never comes back.
    row = connection.execute(
        """INSERT INTO projects (project, last_number) VALUES (?, ?)
        ON CONFLICT (project) DO UPDATE SET last_number = max(last_number + 1, excluded.last_number)
        RETURNING last_number""",
        (project, above + 1),
    ).fetchone()
    return int(row[0])


def _insert_details(connection: sqlite3.Connection, run: int, head: RunHead) -> None:
    connection.execute(
        """INSERT INTO run_details (run, config, skipped, lanes, notes, seed, app_version)
        VALUES (?, ?, ?, ?, ?, ?, ?)""",
        (
            run,
            codec.dump(Shape.DOCUMENT, head.config),
            codec.dump(Shape.SKIPPED, head.skipped),
            codec.dump(Shape.DOCUMENT, head.lanes),
            codec.dump(Shape.NOTES, head.notes),
            head.seed,
            head.app_version,
        ),
    )


def _insert_models(connection: sqlite3.Connection, run: int, models: Iterable[RunModel]) -> dict[str, int]:
    rows = {}
    for position, model in enumerate(models):
        values = (run, position, model.key, model.label, model.model, model.provider)
        rows[model.key] = connection.execute(
            """INSERT INTO run_models (run, position, model_key, label, model, provider)
            VALUES (?, ?, ?, ?, ?, ?) RETURNING id""",
            values,
        ).fetchone()[0]
    return rows


def _put_cases(connection: sqlite3.Connection, run: int, cases: Iterable[Case]) -> dict[str, int]:
    """Keeps cases, each content once; gives their rows by id."""
    contents, rows = [], []
    for position, case in enumerate(cases):
        content, digest = codec.case_content(case)
        contents.append((digest, content))
        rows.append((run, position, case.id, case.fingerprint, digest, case.file, case.line))
    connection.executemany("INSERT OR IGNORE INTO case_contents (digest, content) VALUES (?, ?)", contents)
    connection.executemany(
        """INSERT INTO run_cases (run, position, case_id, fingerprint, content, file, line)
        VALUES (?, ?, ?, ?, (SELECT id FROM case_contents WHERE digest = ?), ?, ?)
        ON CONFLICT (run, case_id) DO UPDATE SET position = excluded.position,
        fingerprint = excluded.fingerprint, content = excluded.content, file = excluded.file,
        line = excluded.line""",
        rows,
    )
    put = {row[2] for row in rows}
    stored = connection.execute("SELECT case_id, id FROM run_cases WHERE run = ?", (run,))
    return {case_id: row for case_id, row in stored if case_id in put}


def _cell_values(
    run: int, models: dict[str, int], cases: dict[str, int], cells: Iterable[PlannedCell]
) -> Iterator[tuple[int, int, int, int, str]]:
    for planned in cells:
        yield (run, *_place(planned.cell, models, cases), planned.fingerprint)


def _place(cell: Cell, models: dict[str, int], cases: dict[str, int]) -> tuple[int, int, int]:
    try:
        return models[cell.model_key], cases[cell.case_id], cell.trial
    except KeyError as error:
        raise ArenaError(
            "cell_unknown", f"{cell} names a model or case that is not part of its run."
        ) from error


def _replace_snapshot(connection: sqlite3.Connection, run: int, head: RunHead) -> None:
    connection.execute(
        "UPDATE run_details SET config = ?, app_version = ? WHERE run = ?",
        (codec.dump(Shape.DOCUMENT, head.config), head.app_version, run),
    )
    models = dict(connection.execute("SELECT model_key, id FROM run_models WHERE run = ?", (run,)).fetchall())
    known = {row[0] for row in connection.execute("SELECT case_id FROM run_cases WHERE run = ?", (run,))}
    cases = _put_cases(connection, run, [case for case in head.cases if case.id in known])
    # The stored plan rules: what the project has since gained is no part of this run.
    cells = (item for item in head.cells if item.cell.model_key in models and item.cell.case_id in cases)
    connection.executemany(
        """UPDATE cells SET fingerprint = ?
        WHERE run = ? AND model = ? AND run_case = ? AND trial = ? AND state = 'planned'""",
        ((item.fingerprint, run, *_place(item.cell, models, cases)) for item in cells),
    )


def _count_planned(connection: sqlite3.Connection, run: int) -> None:
    connection.execute(
        "UPDATE runs SET planned = (SELECT count(*) FROM cells WHERE run = runs.id) WHERE id = ?", (run,)
    )


def _models(connection: sqlite3.Connection, run: int) -> tuple[RunModel, ...]:
    rows = connection.execute(
        "SELECT model_key, label, model, provider FROM run_models WHERE run = ? ORDER BY position", (run,)
    )
    return tuple(RunModel(*row) for row in rows)


def _spend(connection: sqlite3.Connection, run: int, run_id: str) -> Iterator[SpendWrite]:
    rows = connection.execute(
        """SELECT model_key, spent_usd, reserved_usd, calls, tokens, unpriced_calls, purpose
        FROM spend WHERE run = ? ORDER BY model_key, purpose""",
        (run,),
    )
    for key, spent, reserved, *figures in rows:
        yield SpendWrite(run_id, key, Decimal(spent), Decimal(reserved), *figures)
