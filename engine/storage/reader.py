"""What may be asked of a store file. Nothing here changes it."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.domain import Answer, CallDone, CallStatus, CaseScore, Cell, RunInfo
from engine.storage import (
    calls,
    codec,
    failures,
    heads,
    history,
    housekeeping,
    pair_marks,
    rating,
    votes,
)
from engine.storage.codec import Shape
from engine.storage.database import Database
from engine.storage.history import CaseMean
from engine.storage.light_calls import light_calls
from engine.storage.pair_marks import StoredPair
from engine.storage.rating import Rated
from engine.storage.records import AnswerWrite, BoardRow, PlannedCell
from engine.storage.rows import (
    CallFilter,
    CaseChange,
    CaseMarks,
    Drift,
    FlakyCase,
    ModelPoint,
    StoredEvent,
    StoredRun,
    UnfinishedCell,
)
from engine.storage.votes import OwnMark, StoredVote
from engine.storage.windows import WindowReader

_EVERYTHING = CallFilter()


class Reader(WindowReader):
    """The reading half of a store. Thread-safe; readers never hold up the writer.

    Where a method takes a run, the complete id, a unique beginning of it or "last" will do;
    otherwise UserError `run_not_found` or `run_ambiguous`. Faults of the file leave as the
    `WorldError`s of `faults`.
    """

    def __init__(self, database: Database) -> None:
        self.database = database

    @property
    def path(self) -> Path:
        """The file, absolute."""
        return self.database.path

    def has_run(self, run_id: str) -> bool:
        """Whether a run of exactly this id is here, the bin included."""
        with self.database.reading() as connection:
            return connection.execute("SELECT 1 FROM runs WHERE run_id = ?", (run_id,)).fetchone() is not None

    def resolve(self, reference: str, project: str | None = None) -> str:
        """The complete id of the run that is meant."""
        with self.database.reading() as connection:
            return housekeeping.resolve(connection, reference, project)

    def runs(
        self, project: str | None = None, limit: int | None = None, *, include_deleted: bool = False
    ) -> list[RunInfo]:
        """Runs, newest first. `project` is a name or the project's folder."""
        where, values = housekeeping.run_condition(project, include_deleted=include_deleted)
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT {heads.INFO_COLUMNS} FROM runs r WHERE {where} "  # noqa: S608 - values are bound
                "ORDER BY r.started_at DESC, r.id DESC LIMIT ?",
                (*values, -1 if limit is None else limit),
            ).fetchall()
            return [heads.info(connection, row, self.path) for row in rows]

    def run(self, reference: str, project: str | None = None) -> StoredRun:
        """One run without its calls."""
        with self.database.reading() as connection:
            return heads.stored_run(
                connection, housekeeping.resolve(connection, reference, project), self.path
            )

    def info(self, run_id: str) -> RunInfo:
        """The head of one run, by its whole id; its cases stay unread. Raises UserError `run_not_found`."""
        with self.database.reading() as connection:
            row = connection.execute(
                f"SELECT {heads.INFO_COLUMNS} FROM runs r WHERE run_id = ?",  # noqa: S608 - constants only
                (run_id,),
            ).fetchone()
            if row is None:
                raise heads.not_found(run_id)
            return heads.info(connection, row, self.path)

    def calls(
        self,
        run_id: str,
        *,
        model_key: str | None = None,
        case_id: str | None = None,
        status: CallStatus | None = None,
        offset: int = 0,
        limit: int | None = None,
    ) -> list[CallDone]:
        """The calls that have an outcome, in full and in plan order. For large runs: `iter_calls`."""
        chosen = CallFilter(
            models=(model_key,) if model_key is not None else (),
            cases=(case_id,) if case_id is not None else (),
            statuses=(status,) if status is not None else (),
        )
        run = self._run(run_id)
        return list(calls.calls(self.database, run, chosen, (offset, limit)))

    def iter_calls(
        self, run_id: str, chosen: CallFilter = _EVERYTHING, *, texts: bool = True
    ) -> Iterator[CallDone]:
        """The same, in portions, for runs of any size.

        With `texts` False they come without their long parts (see `light_calls`): what a
        leaderboard needs is all there, and 100,000 calls stay small.
        """
        run = self._run(run_id)
        return calls.calls(self.database, run, chosen) if texts else light_calls(self.database, run, chosen)

    def call(self, run_id: str, cell: Cell) -> CallDone | None:
        """One call in full; None where it has no outcome yet."""
        run = self._run(run_id)
        chosen = CallFilter(models=(cell.model_key,), cases=(cell.case_id,))
        found = calls.calls(self.database, run, chosen)
        return next((call for call in found if call.cell.trial == cell.trial), None)

    def answer_text(self, run_id: str, cell: Cell) -> str | None:
        """The text of the counting answer; None where there is none."""
        with self.database.reading() as connection:
            row = connection.execute(
                "SELECT a.text FROM cells c JOIN answers a ON a.id = c.answer WHERE c.id = ?",
                (self._cell(connection, run_id, cell),),
            ).fetchone()
            return None if row is None else str(row[0])

    def answers(self, run_id: str, cell: Cell) -> list[Answer]:
        """Every answer kept for a cell, the counting one first."""
        with self.database.reading() as connection:
            return calls.versions(connection, self._cell(connection, run_id, cell))

    def marked_answers(self, run_id: str, cell: Cell) -> list[tuple[Answer, CaseScore | None]]:
        """Every answer kept for a cell with its newest mark, the counting one first."""
        with self.database.reading() as connection:
            return calls.marked_versions(connection, self._cell(connection, run_id, cell))

    def kept_answers(
        self, run_id: str, cells: Iterable[Cell]
    ) -> dict[Cell, list[tuple[Answer, CaseScore | None]]]:
        """`marked_answers` of those cells that have more than one answer."""
        with self.database.reading() as connection:
            rows = {cell: self._cell(connection, run_id, cell) for cell in cells}
            many = calls.with_versions(connection, list(rows.values()))
            return {cell: calls.marked_versions(connection, row) for cell, row in rows.items() if row in many}

    def score_history(self, run_id: str, cell: Cell) -> list[CaseScore]:
        """Every mark of the counting answer, the current one first."""
        with self.database.reading() as connection:
            return calls.score_history(connection, self._cell(connection, run_id, cell))

    def unfinished(self, run_id: str, *, with_errors: bool = False) -> list[UnfinishedCell]:
        """The cells without an answer or final failure, in plan order: what a resumed run asks.
        `with_errors` adds those that failed for good."""
        with self.database.reading() as connection:
            return calls.unfinished(connection, self._row(connection, run_id), with_errors=with_errors)

    def pending_scores(self, run_id: str) -> list[AnswerWrite]:
        """Answers that were stored but never scored, in plan order."""
        run_id = self.resolve(run_id)
        with self.database.reading() as connection:
            return calls.pending_scores(connection, self._row(connection, run_id), run_id)

    def planned(self, run_id: str) -> list[PlannedCell]:
        """The stored plan with its fingerprints."""
        with self.database.reading() as connection:
            return calls.planned(connection, self._row(connection, run_id))

    def events(self, run_id: str, after: int = 0, *, kind: str | None = None) -> list[StoredEvent]:
        """Lane and run events in the order they were written, those after an event's `id`; with `kind`
        only those of it."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT id, at, kind, lane, data FROM events"
                " WHERE run = ? AND id > ? AND kind = coalesce(?, kind) ORDER BY id",
                (self._row(connection, run_id), after, kind),
            ).fetchall()
        return [
            StoredEvent(number, codec.time_value(at), kind, lane, codec.load(Shape.DOCUMENT, data))
            for number, at, kind, lane, data in rows
        ]

    def board_rows(self, run_id: str) -> list[BoardRow]:
        """The leaderboard of a run as columns."""
        with self.database.reading() as connection:
            return history.board_rows(connection, self._row(connection, run_id))

    def model_history(
        self, project: str, model_key: str | None = None, limit: int | None = None
    ) -> list[ModelPoint]:
        """The results of one model (None = of all) in the project's runs, newest first."""
        with self.database.reading() as connection:
            return history.model_history(connection, project, model_key, limit)

    def deciding_metrics(self, project: str) -> dict[str, str]:
        """The deciding metric of each of a project's runs, by run id."""
        with self.database.reading() as connection:
            return history.deciding_metrics(connection, project)

    def flaky_cases(self, run_id: str, limit: int | None = None) -> list[FlakyCase]:
        """Cases answered differently over the trials of a run, widest spread first."""
        with self.database.reading() as connection:
            return history.flaky_cases(connection, self._row(connection, run_id), limit)

    def case_marks(self, run_id: str) -> list[CaseMarks]:
        """Every case under every model, in project order."""
        with self.database.reading() as connection:
            return history.case_marks(connection, self._row(connection, run_id))

    def case_changes(self, before: tuple[str, str], after: tuple[str, str]) -> list[CaseChange]:
        """Shared cases under (run, model key) and another (run, model key)."""
        with self.database.reading() as connection:
            return history.case_changes(
                connection,
                (self._row(connection, before[0]), before[1]),
                (self._row(connection, after[0]), after[1]),
            )

    def case_means(self, run_id: str, model_key: str) -> list[CaseMean]:
        """Each case of one model entry in a run, to be held against those of another file."""
        with self.database.reading() as connection:
            return history.case_means(connection, self._row(connection, run_id), model_key)

    def regressions(self, before: tuple[str, str], after: tuple[str, str]) -> list[CaseChange]:
        """The cases that got a lower score, worst first; cases that themselves changed are left out."""
        drops = [
            (change.after - change.before, position, change)
            for position, change in enumerate(self.case_changes(before, after))
            if change.same_case and change.before is not None and change.after is not None
        ]
        return [change for fall, _, change in sorted(drops, key=lambda drop: drop[:2]) if fall < 0]

    def failed_calls(self, run_id: str) -> Iterator[CallDone]:
        """The calls that failed, are wrong or could not be marked, in plan order and without texts;
        of their checks only the one that says why."""
        return failures.failed_calls(self.database, self._run(run_id))

    def check_marks(self, run_id: str, types: tuple[str, ...]) -> dict[Cell, tuple[bool, float]]:
        """What the checks of these types said of each answer: passed, and the mean of their scores."""
        with self.database.reading() as connection:
            rows = failures.marked_by(connection, self._row(connection, run_id), types)
        return {Cell(key, case, trial): (bool(passed), score) for key, case, trial, passed, score in rows}

    def rated_by(self, run_id: str, types: tuple[str, ...]) -> Rated:
        """What the checks of these types said: counted, and one by one where a person marked too."""
        with self.database.reading() as connection:
            return rating.rated_by(connection, self._row(connection, run_id), types)

    def rated_as_a_whole(self, run_id: str, without: tuple[str, ...]) -> Rated:
        """The same for all checks together, without the answers that a check of some types scored."""
        with self.database.reading() as connection:
            return rating.rated_as_a_whole(connection, self._row(connection, run_id), without)

    def own_marks(self, run_id: str) -> list[OwnMark]:
        """The marks that a person gave in a run, in plan order."""
        with self.database.reading() as connection:
            return votes.own_marks(connection, self._row(connection, run_id))

    def judged_pairs(self, run_id: str) -> list[StoredPair]:
        """What a judge said of pairs of models in a run, each pair once."""
        with self.database.reading() as connection:
            return pair_marks.judged_pairs(connection, self._row(connection, run_id))

    def votes(self, run_id: str) -> list[StoredVote]:
        """The blind votes of a run in the order they were given."""
        with self.database.reading() as connection:
            return votes.of_run(connection, self._row(connection, run_id))

    def drift(self, project: str, back: int = 5) -> list[Drift]:
        """Each model of the newest run against the mean of up to `back` runs before it."""
        return history.drift(self.model_history(project), back)

    def check(self) -> tuple[str, ...]:
        """What is wrong with the file, in SQLite's words; empty = sound. Reads all of it."""
        return self.database.check(thorough=True)

    def _run(self, run_id: str) -> int:
        with self.database.reading() as connection:
            return self._row(connection, run_id)

    @staticmethod
    def _row(connection: sqlite3.Connection, run_id: str) -> int:
        return housekeeping.row(connection, run_id)

    def _cell(self, connection: sqlite3.Connection, run_id: str, cell: Cell) -> int:
        return housekeeping.cell_row(connection, self._row(connection, run_id), cell)
