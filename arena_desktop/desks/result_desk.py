"""The saved runs and the one that the result pages show.

They lie in the user's own history, and in that of the open project where its `output.db` names one.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, Signal

from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from arena_desktop.desks.project_desk import OpenProject
    from engine.domain import RunInfo
    from engine.project import Project
    from engine.stats.board import Leaderboard
    from engine.storage.rows import StoredRun
    from engine.storage.shelf import Shelf
    from engine.storage.store import Store


@dataclass(frozen=True, slots=True)
class Result:
    """A stored run with its board; `live` while its run still goes on ("so far")."""

    stored: StoredRun
    board: Leaderboard | None
    live: bool = False

    @property
    def run_id(self) -> str:
        """The run's id."""
        return self.stored.info.run_id


class ResultDesk(QObject):
    """Reads the stores in the background. GUI thread only; the stores themselves are thread-safe."""

    listed = Signal(object)
    """tuple[RunInfo, ...]: the runs of the open project, newest first."""
    shown = Signal(object)
    """Result: what Leaderboard and Answers show from now on; None = nothing."""
    failed = Signal(object)
    """ArenaError: the store or the run cannot be read."""

    def __init__(self, background: Background, path: Path) -> None:
        super().__init__()
        self._background, self._path = background, path
        self._shelf: Shelf | None = None
        self._opening = threading.Lock()
        self._project: Project | None = None
        self._own: Path | None = None
        self._moved = False
        self._retired: tuple[Store, ...] = ()
        self._told: set[Path] = set()
        self._runs: tuple[RunInfo, ...] = ()
        self._result: Result | None = None

    @property
    def path(self) -> Path:
        """The user's own store file."""
        return self._path

    @property
    def any_there(self) -> bool:
        """Whether there is anything to look at; looking must not make a history. Any thread."""
        from engine.storage.known_stores import known_stores

        return self._path.exists() or bool(known_stores())

    @property
    def result(self) -> Result | None:
        """The run on show, or None."""
        return self._result

    @property
    def runs(self) -> tuple[RunInfo, ...]:
        """The runs of the open project as last read."""
        return self._runs

    def follow(self, opened: OpenProject | None) -> None:
        """The project whose own history is read too, if it has one; None = no project is open."""
        with self._opening:
            self._project = opened.project if opened is not None else None
            self._moved = True

    def place_of(self, project: Project) -> Path:
        """The file in which a new run of a project is kept; it is found again from now on. Any thread."""
        from engine.config.output_places import history_of
        from engine.storage.known_stores import remember_store

        own = history_of(project.root, project.config)
        if own is None:
            return self._path
        # At the end of the run another project may be open, and this one was never read.
        remember_store(own)
        return own

    def highest_number(self, project: str, besides: Path) -> int:
        """The highest number of a project's runs in other files than `besides`; 0 = there is none."""
        inside = self._project is not None and self._project.config.output.db
        if besides == self._path and not inside:
            return 0
        try:
            return self.shelf().highest_number(project, besides)
        except ArenaError:
            return 0  # the run itself says what is wrong, if it needs that file

    def shelf(self) -> Shelf:
        """The user's history and the open project's; opened on first use. Any thread.

        Raises the WorldErrors of the user's own; what is wrong with the other is in `Shelf.faults`.
        """
        from engine.storage.shelf import Shelf
        from engine.storage.store import Store

        with self._opening:
            if self._shelf is None:
                store = Store.open(self._path)
                store.mark_interrupted()
                self._shelf, self._moved = Shelf(store), True
            if self._moved or any(store.database.is_gone() for store in self._shelf.stores[1:]):
                self._move(self._shelf)
            self._add_own(self._shelf)
            return self._shelf

    def store(self, run_id: str = "") -> Store:
        """The open store that holds a run; the user's own where none does, or none is named. Any thread.

        Raises the user's own store's WorldErrors.
        """
        shelf = self.shelf()
        store = shelf.of(run_id) if run_id else shelf.main
        if not run_id or store.has_run(run_id):
            return store
        from engine.storage.known_stores import known_stores

        # A run of a project that was open once.
        for path in known_stores():
            if all(known.path != path for known in shelf.stores):
                shelf.add(path, by_id_only=True)
        return shelf.of(run_id)

    def _move(self, shelf: Shelf) -> None:
        """Another project is open. Call with the lock held."""
        from engine.config.output_places import history_of

        project, self._moved = self._project, False
        self._own = history_of(project.root, project.config) if project is not None else None
        gone = shelf.take_out([self._own] if self._own is not None else [])
        # What is being read from a file that left the shelf may still come to its end.
        for store in self._retired:
            store.close()
        self._retired = gone

    def _add_own(self, shelf: Shelf) -> None:
        own = self._own
        if own is None or any(store.path == own for store in shelf.listed) or not shelf.add(own):
            return
        from engine.storage.known_stores import remember_store

        remember_store(own)
        shelf.mark_interrupted()

    def read(
        self,
        work: Callable[[Store, Callable[[], bool]], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        *,
        name: str,
        run_id: str = "",
    ) -> Job:
        """Asks the store of a run in the background: `work(store, should_stop)`, then `done` or
        `failed` here.

        Another question of the same `name` takes the place of one that is not answered yet; the
        older one may end early when `should_stop` says yes.
        """

        def ask(job: Job) -> Any:
            return work(self.store(run_id), lambda: job.stopped)

        return self._background.run(ask, done, failed, name=name, replace=True)

    def list_runs(self, project: str | None) -> None:
        """Reads the list of runs; `listed` follows. None = of all projects."""

        def work(_job: Job) -> tuple[tuple[RunInfo, ...], dict[Path, ArenaError]]:
            shelf = self.shelf()
            # Another program may have died since: what it left says `running` for ever otherwise.
            shelf.mark_interrupted()
            return tuple(shelf.runs(project)), dict(shelf.faults)

        self._background.run(work, self._on_listed, self._on_failed, name="list runs", replace=True)

    def open_run(self, run_id: str) -> None:
        """Reads a run and shows it; `shown` follows."""

        def work(_job: Job) -> Result:
            from engine.stats.board_json import board_from_json

            stored = self.store(run_id).run(run_id)
            board = board_from_json(stored.board) if stored.board else None
            return Result(stored, board)

        self._background.run(work, self.show, self._on_failed, name="open run", replace=True)

    def show(self, result: Result | None) -> None:
        """Puts a result on show."""
        self._result = result
        self.shown.emit(result)

    def close(self) -> None:
        """Closes all stores; the next question opens them again."""
        with self._opening:
            shelf, self._shelf = self._shelf, None
            retired, self._retired = self._retired, ()
        for store in (*(shelf.stores if shelf is not None else ()), *retired):
            store.close()
        self._told.clear()

    def _on_listed(self, answer: tuple[tuple[RunInfo, ...], dict[Path, ArenaError]]) -> None:
        self._runs, faults = answer
        self.listed.emit(self._runs)
        # Once: the list is read again after every change.
        for path in faults.keys() - self._told:
            self.failed.emit(faults[path])
        self._told = set(faults)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)
