"""A new start beside a damaged store: nothing is deleted, and what can be read comes along."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from engine.errors import ArenaError
from engine.storage.faults import translated
from engine.storage.salvage import salvage
from engine.storage.store import Store

_BESIDE = ("-wal", "-shm", "-journal")


@dataclass(frozen=True, slots=True)
class NewStart:
    """What came of it: the new store, where the damaged file is now, and the runs taken over.

    `complete` are ids of runs taken over whole as far as can be told, `partial` of those that
    lost something and say `interrupted`.
    """

    store: Store
    set_aside: Path
    complete: tuple[str, ...]
    partial: tuple[str, ...]


def start_anew(path: Path, now: datetime | None = None) -> NewStart:
    """Moves the damaged file and what belongs to it aside and opens a new store in its place.

    The damaged file keeps every byte; its new name says what it is and since when. Call it when
    `Store.open` raised `store_damaged` or `store_foreign` and the user agreed.
    """
    path = path.expanduser().absolute()
    aside = set_aside(path, now)
    store = Store.open(path)
    try:
        complete, partial = _take_over(aside, store)
    except BaseException:
        store.close()
        raise
    return NewStart(store, aside, complete, partial)


def set_aside(path: Path, now: datetime | None = None) -> Path:
    """Renames the file with its log, so that they stay together; returns the new name."""
    moment = now or datetime.now(UTC)
    stem = f"{path.stem}.damaged-{moment:%Y%m%d-%H%M%S}"
    aside, count = path.with_name(stem + path.suffix), 1
    while aside.exists():
        count += 1
        aside = path.with_name(f"{stem}-{count}{path.suffix}")
    with translated(path):
        # The log goes first: a new file must never find the log of another beside it.
        for ending in _BESIDE:
            beside = path.with_name(path.name + ending)
            if beside.exists():
                beside.rename(aside.with_name(aside.name + ending))
        path.rename(aside)
    return aside


def _take_over(aside: Path, store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Tries the file with its log, then without it (a stale log can be the only thing broken)."""
    attempts: tuple[Callable[[Path, Path], None], ...] = (_with_log, _without_log)
    for prepare in attempts:
        with tempfile.TemporaryDirectory(dir=store.path.parent, prefix=".recover-") as folder:
            work = Path(folder) / "damaged.sqlite"
            prepare(aside, work)
            found = _read(work, Path(folder) / "saved.sqlite", store)
        if found[0] or found[1]:
            return found
    return (), ()


def _read(work: Path, saved: Path, store: Store) -> tuple[tuple[str, ...], tuple[str, ...]]:
    with Store.open(saved) as middle:
        try:
            salvage(work, middle.database)
        except ArenaError as error:
            if error.code not in ("store_damaged", "store_failed"):
                raise
            return (), ()
        runs = middle.runs(include_deleted=True)
    taken = set(store.copy_from(saved))
    partial = {run.run_id for run in runs if run.status == "interrupted"} & taken
    return tuple(sorted(taken - partial)), tuple(sorted(partial))


def _with_log(aside: Path, work: Path) -> None:
    _without_log(aside, work)
    for ending in ("-wal", "-journal"):
        beside = aside.with_name(aside.name + ending)
        if beside.exists():
            shutil.copyfile(beside, work.with_name(work.name + ending))


def _without_log(aside: Path, work: Path) -> None:
    with translated(work):
        shutil.copyfile(aside, work)
