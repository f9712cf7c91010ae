"""The saved runs and the one that the result pages show."""

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
    from engine.domain import RunInfo
    from engine.stats.board import Leaderboard
    from engine.storage.rows import StoredRun
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
    """Reads the store in the background. GUI thread only; the store itself is thread-safe."""

    listed = Signal(object)
    """tuple[RunInfo, ...]: the runs of the open project, newest first."""
    shown = Signal(object)
    """Result: what Leaderboard and Answers show from now on; None = nothing."""
    failed = Signal(object)
    """ArenaError: the store or the run cannot be read."""

    def __init__(self, background: Background, path: Path) -> None:
        super().__init__()
        self._background, self._path = background, path
        self._store: Store | None = None
        self._opening = threading.Lock()
        self._runs: tuple[RunInfo, ...] = ()
        self._result: Result | None = None

    @property
    def path(self) -> Path:
        """The store file."""
        return self._path

    @property
    def result(self) -> Result | None:
        """The run on show, or None."""
        return self._result

    @property
    def runs(self) -> tuple[RunInfo, ...]:
        """The runs of the open project as last read."""
        return self._runs

    def store(self) -> Store:
        """The open store; opened on first use. Raises the store's WorldErrors. Any thread."""
        from engine.storage.store import Store

        with self._opening:
            if self._store is None:
                store = Store.open(self._path)
                store.mark_interrupted()
                self._store = store
            return self._store

    def read(
        self,
        work: Callable[[Store, Callable[[], bool]], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        *,
        name: str,
    ) -> Job:
        """Asks the store in the background: `work(store, should_stop)`, then `done` or `failed` here.

        Another question of the same `name` takes the place of one that is not answered yet; the
        older one may end early when `should_stop` says yes.
        """

        def ask(job: Job) -> Any:
            return work(self.store(), lambda: job.stopped)

        return self._background.run(ask, done, failed, name=name, replace=True)

    def list_runs(self, project: str | None) -> None:
        """Reads the list of runs; `listed` follows. None = of all projects."""

        def work(_job: Job) -> tuple[RunInfo, ...]:
            store = self.store()
            # Another program may have died since: what it left says `running` for ever otherwise.
            store.mark_interrupted()
            return tuple(store.runs(project))

        self._background.run(work, self._on_listed, self._on_failed, name="list runs", replace=True)

    def open_run(self, run_id: str) -> None:
        """Reads a run and shows it; `shown` follows."""

        def work(_job: Job) -> Result:
            from engine.stats.board_json import board_from_json

            stored = self.store().run(run_id)
            board = board_from_json(stored.board) if stored.board else None
            return Result(stored, board)

        self._background.run(work, self.show, self._on_failed, name="open run", replace=True)

    def show(self, result: Result | None) -> None:
        """Puts a result on show."""
        self._result = result
        self.shown.emit(result)

    def close(self) -> None:
        """Closes the store."""
        if self._store is not None:
            self._store.close()
            self._store = None

    def _on_listed(self, runs: tuple[RunInfo, ...]) -> None:
        self._runs = runs
        self.listed.emit(runs)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)
