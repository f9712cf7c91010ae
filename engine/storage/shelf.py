"""Several store files read as one history: the user's own and those of opened projects."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from engine.domain import RunInfo
from engine.errors import ArenaError
from engine.storage import heads
from engine.storage.store import Store

_log = logging.getLogger(__name__)


class Shelf:
    """The main store and others beside it, which are only read.

    A file that cannot be read is left out and named in `faults`; it never hides the others.
    A run that is in several files is shown once, from the first of them. Not thread-safe to add
    to; the stores themselves are.
    """

    def __init__(self, main: Store) -> None:
        self.stores: list[Store] = [main]
        self.faults: dict[Path, ArenaError] = {}

    def add(self, path: Path) -> bool:
        """Reads another file too, such as that of a project's `output.db`. False = it cannot be."""
        path = path.expanduser().absolute()
        if any(store.path == path for store in self.stores):
            return True
        try:
            store = Store.open(path, read_only=True)
        except ArenaError as error:
            _log.warning("a history file is left out: %s", error.code)
            self.faults[path] = error
            return False
        self.faults.pop(path, None)
        self.stores.append(store)
        return True

    def keep_only(self, paths: Iterable[Path]) -> None:
        """Closes every other file than the main one and `paths`."""
        wanted = {path.expanduser().absolute() for path in paths}
        main, *others = self.stores
        for store in others:
            if store.path not in wanted:
                store.close()
        self.stores = [main, *(store for store in others if store.path in wanted)]

    def runs(
        self, project: str | None = None, limit: int | None = None, *, include_deleted: bool = False
    ) -> list[RunInfo]:
        """Runs of all files, newest first; `RunInfo.store` says where each comes from."""
        found: dict[str, RunInfo] = {}
        for store in list(self.stores):
            try:
                runs = store.runs(project, limit, include_deleted=include_deleted)
            except ArenaError as error:
                if store is self.stores[0]:
                    raise
                self.faults[store.path] = error
                continue
            for run in runs:
                found.setdefault(run.run_id, run)
        newest = sorted(found.values(), key=_start, reverse=True)
        return newest if limit is None else newest[:limit]

    def find(self, reference: str, project: str | None = None) -> tuple[Store, str]:
        """The store and complete id of the run that is meant. Raises `run_not_found`, `run_ambiguous`."""
        if reference == "last":
            newest = self.runs(project, 1)
            if not newest:
                raise heads.not_found(reference)
            reference = newest[0].run_id
        missing: ArenaError = heads.not_found(reference)
        for store in self.stores:
            try:
                return store, store.resolve(reference, project)
            except ArenaError as error:
                if error.code != "run_not_found":
                    raise
                missing = error
        raise missing

    def close(self) -> None:
        """Closes all files, the main one too."""
        for store in self.stores:
            store.close()


def _start(run: RunInfo) -> tuple[datetime, str]:
    return run.started_at, run.run_id
