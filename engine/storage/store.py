"""The history of runs in one file: what may be asked of it and done to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from engine import paths
from engine.domain import Case, Cell, Note
from engine.storage import codec, copying, finishing, heads, housekeeping, migrations, owner, votes
from engine.storage.codec import Shape
from engine.storage.database import Database
from engine.storage.reader import Reader
from engine.storage.records import RunFinish, RunHead, ScoreWrite, Write
from engine.storage.rows import StoredRun
from engine.storage.votes import StoredVote
from engine.storage.writing import Writer


def default_store_path() -> Path:
    """The file in the user's data folder, or below ARENA_HOME."""
    return paths.store_path()


def check_store(path: Path) -> str | None:
    """What is wrong with a store file, as a sentence; None = sound, or there is none yet.

    Reads all of it and changes nothing. Raises the errors of `Store.open` for a file that
    cannot be read at all.
    """
    path = path.expanduser().absolute()
    if not path.exists():
        return None
    database = Database(path, read_only=True)
    try:
        migrations.known_version(database, migrations.SCHEMA_VERSION)
        faults = database.check(thorough=True)
    finally:
        database.close()
    return f"The history file {path} is damaged: {faults[0]}." if faults else None


class Store(Reader):
    """One store file: reading as in `Reader`, and everything that changes it.

    Every method may be called from any thread; each change is one transaction, durable when the
    method returns. Faults of the file leave as the `WorldError`s of `faults`.
    """

    def __init__(self, database: Database, backup: Path | None = None) -> None:
        super().__init__(database)
        self.backup = backup
        """The dated copy made before this opening brought the file up to date, if it had to."""
        self._writer = Writer()

    @classmethod
    def open(cls, path: Path, *, read_only: bool = False) -> Self:
        """Opens the file, makes it where there is none, and brings an older one up to date.

        Raises `store_newer`, `store_foreign`, `store_damaged`, `store_locked`, `store_readonly`,
        `disk_full`, `store_missing`, `store_unreachable`. The file is then as it was.
        """
        path = path.expanduser().absolute()
        if not read_only:
            migrations.look_first(path)
        database = Database(path, read_only=read_only)
        try:
            backup = migrations.bring_up_to_date(database)
        except BaseException:
            database.close()
            raise
        return cls(database, backup)

    @property
    def read_only(self) -> bool:
        """Whether writing is refused."""
        return self.database.read_only

    def close(self) -> None:
        """Closes all connections; nothing is left beside the file."""
        self.database.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def create_run(self, head: RunHead) -> None:
        """Enters a new run with all its planned cells, in one transaction."""
        with self.database.transaction() as connection:
            heads.insert(connection, head)

    def reopen_run(
        self,
        run_id: str,
        head: RunHead | None = None,
        *,
        with_errors: bool = False,
        only: Collection[Cell] = (),
    ) -> StoredRun:
        """Takes an ended run up again as this process's own; its missing cells are planned again,
        and `with_errors` those that failed for good. With `only` just these, if they have no answer.

        With `head` it goes on with that project as it is now (config, cases, fingerprints of the
        missing cells). Raises `run_in_use` while its owner is alive, `run_deleted`.
        """
        run_id = self.resolve(run_id)
        with self.database.transaction() as connection:
            heads.take_up(connection, run_id, head, with_errors=with_errors, only=only)
            self._writer.forget(run_id)
        return self.run(run_id)

    def write(self, batch: Sequence[Write]) -> None:
        """Applies the writes in order in one transaction; durable when it returns."""
        with self.database.transaction() as connection:
            self._writer.apply(connection, batch)

    def sign_of_life(self, run_ids: Sequence[str]) -> None:
        """Tells programs on other computers that these runs are still carried out."""
        now = codec.time_text(datetime.now(UTC))
        with self.database.transaction() as connection:
            connection.executemany(
                "UPDATE runs SET seen_at = ? WHERE run_id = ?", [(now, run_id) for run_id in run_ids]
            )

    def finish_run(self, run_id: str, result: RunFinish) -> None:
        """Closes a run with its result."""
        with self.database.transaction() as connection:
            finishing.finish(connection, self._row(connection, run_id), result)

    def set_result(
        self,
        run_id: str,
        result: RunFinish,
        config: Mapping[str, Any] | None = None,
        *,
        cases: Sequence[Case] = (),
        scores: Sequence[ScoreWrite] = (),
        cost: bool = False,
    ) -> None:
        """Replaces leaderboard, verdict, winner and notes after re-scoring; with `config` the
        snapshot too, with `cases` all cases of the run, with `cost` what it cost, and the new marks in
        the same transaction. Status, counts and times stay. Raises `run_in_use` while the run goes on."""
        with self.database.transaction() as connection:
            run = self._row(connection, run_id)
            housekeeping.refuse_running(connection, run)
            self._writer.apply(connection, scores)
            if cases:
                heads.replace_cases(connection, run, cases)
            finishing.put_result(connection, run, result)
            if cost:
                finishing.put_cost(connection, run, result.cost_usd)
            if config is not None:
                connection.execute(
                    "UPDATE run_details SET config = ? WHERE run = ?",
                    (codec.dump(Shape.DOCUMENT, config), run),
                )

    def begin_marking(self, run_id: str, note: Note) -> None:
        """Makes this process the one that marks an ended run again, and puts a note on the run that
        stays if it is cut off. Raises `run_in_use` where another does so, or the run goes on."""
        with self.database.transaction() as connection:
            run = self._row(connection, run_id)
            housekeeping.refuse_running(connection, run)
            claimed = heads.claim(connection, run)
            finishing.add_note(connection, run, note)
        owner.MARKING.add(claimed)

    def end_marking(self, run_id: str) -> None:
        """Gives the run (its whole id) free again; the note stays until a result is stored."""
        owner.MARKING.discard(run_id)
        with self.database.transaction() as connection:
            heads.release(connection, self._row(connection, run_id))

    def set_mark(self, run_id: str, cell: Cell, mark: str | None, score: float | None = None) -> None:
        """The user's own mark of an answer: `good`, `bad` or None, with a score 0..1 where one was
        given. The scores of the checks stay as they are."""
        with self.database.transaction() as connection:
            votes.put_mark(connection, self._cell(connection, run_id, cell), mark, score)

    def add_vote(self, run_id: str, vote: StoredVote) -> None:
        """Keeps a blind vote; giving the same one again changes nothing."""
        with self.database.transaction() as connection:
            votes.add(connection, self._row(connection, run_id), vote)

    def withdraw_vote(self, run_id: str, vote_id: str) -> bool:
        """Takes a blind vote back; False where there is none of that id."""
        with self.database.transaction() as connection:
            return votes.withdraw(connection, self._row(connection, run_id), vote_id)

    def set_label(self, run_id: str, label: str) -> None:
        """The note that the user put on a run."""
        with self.database.transaction() as connection:
            run = self._row(connection, run_id)
            connection.execute("UPDATE runs SET label = ? WHERE id = ?", (codec.clean_text(label), run))

    def mark_interrupted(self) -> list[str]:
        """Closes the runs that say `running` though nobody carries them out; returns their ids."""
        with self.database.reading() as connection:
            if not housekeeping.orphans(connection):
                return []
        with self.database.transaction() as connection:
            # Looked up again under the lock: the owner may have finished in between.
            found = housekeeping.orphans(connection)
            for run, _ in found:
                finishing.interrupt(connection, run)
        return [run_id for _, run_id in found]

    def delete(self, run_ids: Sequence[str]) -> None:
        """Puts runs into the bin. Raises `run_in_use` for one that is going on."""
        with self.database.transaction() as connection:
            housekeeping.delete(connection, [self._row(connection, run_id) for run_id in run_ids])

    def restore(self, run_ids: Sequence[str]) -> None:
        """Takes runs out of the bin again."""
        with self.database.transaction() as connection:
            for run_id in run_ids:
                run = self._row(connection, run_id)
                connection.execute("UPDATE runs SET deleted_at = NULL WHERE id = ?", (run,))

    def purge(self) -> int:
        """Empties the bin for good and gives the space back; returns how many runs went."""
        gone = housekeeping.purge(self.database)
        for run_id in gone:
            self._writer.forget(run_id)
        return len(gone)

    def copy_from(self, source: Path, run_ids: Sequence[str] | None = None) -> list[str]:
        """Takes runs over from another store file; those that are here already are left alone."""
        return copying.copy_runs(source, self.database, run_ids)

    def keep_backup(self) -> Path | None:
        """Makes today's checked safety copy beside the store unless there is one already."""
        return housekeeping.keep_backup(self.database)
