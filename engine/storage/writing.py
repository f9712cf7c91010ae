"""How each write changes the tables. Runs inside one transaction that the caller owns.

Applying a write twice leaves the same rows, so a batch whose commit was in doubt can be given
again.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from engine.domain import Answer, CallDone, CallStatus, Cell
from engine.errors import ArenaError
from engine.storage import codec, finishing
from engine.storage.cell_rows import (
    CellRow,
    Mark,
    clear_score,
    find_cell,
    keep_beside,
    keep_mark_beside,
    keep_score,
    put_answer,
    put_attempts,
    put_score,
    update_cell,
)
from engine.storage.codec import Shape
from engine.storage.records import (
    AnswerWrite,
    AttemptWrite,
    DoneWrite,
    EventWrite,
    FinishWrite,
    ScoreWrite,
    SpendWrite,
    StartedWrite,
    Write,
)

_REMEMBERED_RUNS = 8

_PUT_SPEND = "INSERT OR REPLACE INTO spend VALUES (?, ?, ?, ?, ?, ?, ?, ?)"


@dataclass(slots=True)
class _RunKeys:
    """Row numbers of one run's names."""

    run: int
    models: dict[str, int]
    cases: dict[str, int]


class Writer:
    """Applies writes. Not thread-safe: used under the database's write lock only."""

    def __init__(self) -> None:
        self._runs: dict[str, _RunKeys] = {}
        # Answers written and not yet finished, so that finishing need not write the text again.
        self._fresh: dict[tuple[str, Cell], Answer] = {}

    def forget(self, run_id: str) -> None:
        """Drops what is remembered of a run whose rows were changed elsewhere."""
        self._runs.pop(run_id, None)

    def apply(self, connection: sqlite3.Connection, batch: Sequence[Write]) -> None:
        """Applies the writes in order. Raises ArenaError `run_not_found` or `cell_unknown`."""
        for write in batch:
            match write:
                case AnswerWrite():
                    self._answer(connection, write)
                case DoneWrite():
                    self._done(connection, write)
                case ScoreWrite():
                    self._score(connection, write)
                case StartedWrite():
                    self._started(connection, write)
                case AttemptWrite():
                    cell = self._cell(connection, write.run_id, write.cell)
                    put_attempts(connection, cell.id, (write.attempt,))
                case SpendWrite():
                    self._spend(connection, write)
                case EventWrite():
                    self._event(connection, write)
                case FinishWrite():
                    finishing.finish(connection, self._keys(connection, write.run_id).run, write.finish)

    def _answer(self, connection: sqlite3.Connection, write: AnswerWrite) -> None:
        cell = self._cell(connection, write.run_id, write.cell)
        finished = codec.optional_time_text(write.finished_at)
        if not write.counts:
            since = codec.optional_time_text(write.started_at)
            keep_beside(connection, cell, write.answer, finished, since)
            return
        answer, fresh = put_answer(connection, cell, write.answer, finished)
        done = CallDone(
            cell=write.cell,
            status=CallStatus.OK,
            outcome=write.answer.outcome,
            answer=write.answer,
            attempts=write.attempts,
            throttled=write.throttled,
            waited_s=write.waited_s,
            started_at=write.started_at,
            finished_at=write.finished_at,
        )
        state = "answered" if fresh or cell.state != "done" else "done"
        update_cell(connection, cell.id, state, answer, done)
        if fresh:
            clear_score(connection, cell)
        put_attempts(connection, cell.id, write.attempt_log)
        self._fresh[write.run_id, write.cell] = write.answer

    def _done(self, connection: sqlite3.Connection, write: DoneWrite) -> None:
        done = write.done
        cell = self._cell(connection, write.run_id, done.cell)
        finished = codec.optional_time_text(done.finished_at)
        written = self._fresh.pop((write.run_id, done.cell), None)
        if not write.counts:
            if done.answer is not None:
                since = codec.optional_time_text(done.started_at)
                row = keep_beside(connection, cell, done.answer, finished, since)
                keep_mark_beside(connection, row, done.score, finished or "")
            put_attempts(connection, cell.id, done.attempt_log)
            return
        if done.answer is None and cell.answer is not None and cell.status == CallStatus.OK.value:
            # The stored answer is paid for and stays; if its mark is missing it can be made later.
            put_attempts(connection, cell.id, done.attempt_log)
            return
        answer, fresh = cell.answer, False
        if done.answer is not None and not (cell.state == "answered" and done.answer is written):
            completes = cell.state == "answered"
            answer, fresh = put_answer(connection, cell, done.answer, finished, completes=completes)
        mark: Mark = ()
        if done.score is not None and answer is not None:
            if fresh:
                cell.score = None  # the earlier mark stays with the earlier answer
            mark = keep_score(connection, cell, answer, done.score, finished or "", "run")
        elif fresh:
            clear_score(connection, cell)
        update_cell(connection, cell.id, "done", answer, done, mark)
        put_attempts(connection, cell.id, done.attempt_log)

    def _score(self, connection: sqlite3.Connection, write: ScoreWrite) -> None:
        cell = self._cell(connection, write.run_id, write.cell)
        if cell.answer is None:
            raise ArenaError("cell_unknown", f"{write.cell} has no answer that could be scored.")
        put_score(connection, cell, cell.answer, write.score, codec.time_text(write.at), write.origin)
        if write.origin == "run" and cell.state == "answered":
            connection.execute("UPDATE cells SET state = 'done' WHERE id = ?", (cell.id,))

    def _started(self, connection: sqlite3.Connection, write: StartedWrite) -> None:
        cell = self._cell(connection, write.run_id, write.cell)
        connection.execute(
            "UPDATE cells SET state = 'running', started_at = ? WHERE id = ? AND state = 'planned'",
            (codec.time_text(write.at), cell.id),
        )

    def _spend(self, connection: sqlite3.Connection, write: SpendWrite) -> None:
        run = self._keys(connection, write.run_id).run
        amounts = (str(write.spent_usd), str(write.reserved_usd))
        figures = (*amounts, write.calls, write.tokens, write.unpriced_calls)
        connection.execute(_PUT_SPEND, (run, write.model_key, write.purpose, *figures))

    def _event(self, connection: sqlite3.Connection, write: EventWrite) -> None:
        run = self._keys(connection, write.run_id).run
        row = (
            run,
            codec.time_text(write.at),
            write.kind,
            write.lane,
            codec.dump(Shape.DOCUMENT, write.values),
        )
        # The same event given twice is one event.
        known = "SELECT 1 FROM events WHERE run = ? AND at = ? AND kind = ? AND lane IS ? AND data = ?"
        if connection.execute(known, row).fetchone() is None:
            connection.execute("INSERT INTO events (run, at, kind, lane, data) VALUES (?, ?, ?, ?, ?)", row)

    def _cell(self, connection: sqlite3.Connection, run_id: str, cell: Cell) -> CellRow:
        keys = self._keys(connection, run_id)
        model, case = keys.models.get(cell.model_key), keys.cases.get(cell.case_id)
        row = find_cell(connection, keys.run, model, case, cell.trial)
        if row is None:
            raise ArenaError("cell_unknown", f"{cell} is no planned call of run {run_id}.")
        return row

    def _keys(self, connection: sqlite3.Connection, run_id: str) -> _RunKeys:
        keys = self._runs.get(run_id)
        if keys is None:
            row = connection.execute("SELECT id FROM runs WHERE run_id = ?", (run_id,)).fetchone()
            if row is None:
                raise ArenaError("run_not_found", f"There is no run {run_id} in this history.")
            models = connection.execute("SELECT model_key, id FROM run_models WHERE run = ?", row)
            cases = connection.execute("SELECT case_id, id FROM run_cases WHERE run = ?", row)
            keys = _RunKeys(row[0], dict(models.fetchall()), dict(cases.fetchall()))
            while len(self._runs) >= _REMEMBERED_RUNS:
                self._runs.pop(next(iter(self._runs)))
            self._runs[run_id] = keys
        return keys
