"""Several store files read as one history: the user's own and those kept inside projects."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol, TypeVar

from engine.domain import RunInfo
from engine.errors import ArenaError
from engine.storage import heads, history
from engine.storage.rows import CaseChange, Drift, ModelPoint, StoredRun
from engine.storage.store import Store

_log = logging.getLogger(__name__)

_CANNOT_WRITE = frozenset({"store_readonly", "disk_full", "home_unwritable"})

T = TypeVar("T")


class History(Protocol):
    """What is asked over many runs: of one store, or of a whole shelf."""

    def runs(
        self, project: str | None = None, limit: int | None = None, *, include_deleted: bool = False
    ) -> list[RunInfo]: ...
    def run(self, reference: str) -> StoredRun: ...
    def model_history(
        self, project: str, model_key: str | None = None, limit: int | None = None
    ) -> list[ModelPoint]: ...
    def deciding_metrics(self, project: str) -> dict[str, str]: ...
    def drift(self, project: str, back: int = 5) -> list[Drift]: ...
    def case_changes(self, before: tuple[str, str], after: tuple[str, str]) -> list[CaseChange]: ...


class Shelf:
    """The main store and others beside it.

    A file that cannot be read is left out and named in `faults`; it never hides the others. A run
    that is in several files is shown once, from the first of them. Thread-safe, but for `close`.
    """

    def __init__(self, main: Store) -> None:
        self.stores: tuple[Store, ...] = (main,)
        self.faults: dict[Path, ArenaError] = {}
        self._by_id_only: frozenset[Path] = frozenset()
        self._guard = threading.Lock()

    @property
    def main(self) -> Store:
        """The user's own history."""
        return self.stores[0]

    @property
    def listed(self) -> tuple[Store, ...]:
        """The files that answer questions over many runs."""
        return tuple(store for store in self.stores if store.path not in self._by_id_only)

    def add(self, path: Path, *, by_id_only: bool = False) -> bool:
        """Takes another file too, such as that of a project's `output.db`. False = it cannot be, or
        it is not there yet. One that cannot be written is only read. With `by_id_only` a run of it
        is found by its id, and is in no list."""
        path = path.expanduser().absolute()
        with self._guard:
            self._by_id_only = self._by_id_only | {path} if by_id_only else self._by_id_only - {path}
            if any(store.path == path for store in self.stores):
                return True
            if not path.exists():
                return False
            try:
                store = _opened(path)
            except ArenaError as error:
                self._fault(path, error)
                return False
            self.faults.pop(path, None)
            self.stores = (*self.stores, store)
            return True

    def at(self, path: Path) -> Store:
        """The store of that file, on the shelf and made where there is none. Raises as `Store.open`."""
        path = path.expanduser().absolute()
        with self._guard:
            found = next((store for store in self.stores if store.path == path), None)
            if found is None:
                found = Store.open(path)
                self.stores = (*self.stores, found)
            return found

    def highest_number(self, project: str, besides: Path) -> int:
        """The highest number of a project's runs in other files than `besides`; 0 = there is none."""
        newest = self._ask(lambda store: [] if store.path == besides else store.runs(project, 1))
        return max((run.number for runs in newest for run in runs), default=0)

    def take_out(self, kept: Iterable[Path]) -> tuple[Store, ...]:
        """Takes every file but the main one and `kept` from the shelf; the caller closes them."""
        wanted = {path.expanduser().absolute() for path in kept}
        with self._guard:
            main, *others = self.stores
            gone = tuple(s for s in others if s.path not in wanted or s.database.is_gone())
            self.stores = (main, *(store for store in others if store not in gone))
            self.faults = {path: error for path, error in self.faults.items() if path in wanted}
        return gone

    # ---- one run

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
                if error.code != "run_not_found" and (store is self.main or error.code == "run_ambiguous"):
                    raise
                if error.code != "run_not_found":
                    self._fault(store.path, error)
        raise missing

    def of(self, run_id: str) -> Store:
        """The store that holds a run; the main one where none does, which then says so."""
        others = self.stores[1:]
        if not others or self.main.has_run(run_id):
            return self.main
        try:
            return self.find(run_id)[0]
        except ArenaError:
            return self.main

    def run(self, reference: str) -> StoredRun:
        """One run without its calls. Raises UserError as `find`."""
        store, run_id = self.find(reference)
        return store.run(run_id)

    # ---- many runs

    def runs(
        self, project: str | None = None, limit: int | None = None, *, include_deleted: bool = False
    ) -> list[RunInfo]:
        """Runs of all files, newest first; `RunInfo.store` says where each comes from."""
        if len(self.listed) == 1:
            return self.main.runs(project, limit, include_deleted=include_deleted)
        found: dict[str, RunInfo] = {}
        for answer in self._ask(lambda store: store.runs(project, limit, include_deleted=include_deleted)):
            for run in answer:
                found.setdefault(run.run_id, run)
        return sorted(found.values(), key=_start, reverse=True)[:limit]

    def model_history(
        self, project: str, model_key: str | None = None, limit: int | None = None
    ) -> list[ModelPoint]:
        """As `Reader.model_history`, over all files."""
        if len(self.listed) == 1:
            return self.main.model_history(project, model_key, limit)
        points: list[ModelPoint] = []
        seen: set[str] = set()
        for answer in self._ask(lambda store: store.model_history(project, model_key, limit)):
            points += [point for point in answer if point.run_id not in seen]
            seen |= {point.run_id for point in answer}
        # Stable: the models of one run stay in the order of its board.
        return sorted(points, key=lambda point: (point.started_at, point.run_id), reverse=True)[:limit]

    def deciding_metrics(self, project: str) -> dict[str, str]:
        """As `Reader.deciding_metrics`, over all files."""
        found: dict[str, str] = {}
        for answer in self._ask(lambda store: store.deciding_metrics(project)):
            found = {**answer, **found}
        return found

    def drift(self, project: str, back: int = 5) -> list[Drift]:
        """As `Reader.drift`, over all files."""
        return history.drift(self.model_history(project), back)

    def case_changes(self, before: tuple[str, str], after: tuple[str, str]) -> list[CaseChange]:
        """As `Reader.case_changes`; the two runs may be in different files."""
        sides = [self.of(run_id).case_means(run_id, key) for run_id, key in (before, after)]
        return history.changes_between(*sides)

    # ---- changes

    def mark_interrupted(self) -> list[str]:
        """As `Store.mark_interrupted`, in every file that can be written."""
        answers = self._ask(lambda store: [] if store.read_only else store.mark_interrupted())
        return [run_id for answer in answers for run_id in answer]

    def set_label(self, run_id: str, label: str) -> None:
        """The note that the user put on a run."""
        self.of(run_id).set_label(run_id, label)

    def delete(self, run_ids: Sequence[str]) -> None:
        """Puts runs into the bin of their file. Raises `run_in_use` for one that is going on."""
        for store, ids in self._by_store(run_ids):
            store.delete(ids)

    def restore(self, run_ids: Sequence[str]) -> None:
        """Takes runs out of the bin again."""
        for store, ids in self._by_store(run_ids):
            store.restore(ids)

    def purge(self) -> int:
        """Empties the bin of every file for good; returns how many runs went."""
        return sum(self._ask(lambda store: 0 if store.read_only else store.purge()))

    def close(self) -> None:
        """Closes all files, the main one too."""
        for store in self.stores:
            store.close()

    def __enter__(self) -> Shelf:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    # ---- inside

    def _ask(self, question: Callable[[Store], T]) -> list[T]:
        """What every file answers; one beside the main store that cannot is left out."""
        answers = []
        for store in self.listed:
            try:
                answers.append(question(store))
            except ArenaError as error:
                if store is self.main:
                    raise
                self._fault(store.path, error)
        return answers

    def _by_store(self, run_ids: Sequence[str]) -> list[tuple[Store, list[str]]]:
        found: dict[Path, tuple[Store, list[str]]] = {}
        for run_id in run_ids:
            store = self.of(run_id)
            found.setdefault(store.path, (store, []))[1].append(run_id)
        return list(found.values())

    def _fault(self, path: Path, error: ArenaError) -> None:
        if path not in self.faults:
            _log.warning("a history file is left out: %s", error.code)
        self.faults[path] = error


def _opened(path: Path) -> Store:
    try:
        return Store.open(path)
    except ArenaError as error:
        if error.code not in _CANNOT_WRITE:
            raise
        return Store.open(path, read_only=True)


def _start(run: RunInfo) -> tuple[datetime, str]:
    return run.started_at, run.run_id
