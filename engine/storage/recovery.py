"""A new start beside a damaged store: nothing is deleted, and what can be read comes along."""

from __future__ import annotations

import shutil
import tempfile
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
    """Reads the file with its log, unless only the log is to blame.

    SQLite ignores the broken end of its own log, so a file that is sound without the log and
    damaged with it has the log of another file beside it.
    """
    with tempfile.TemporaryDirectory(dir=store.path.parent, prefix=".recover-") as folder:
        work, saved = Path(folder) / "damaged.sqlite", Path(folder) / "saved.sqlite"
        with translated(work):
            shutil.copyfile(aside, work)
        if not _is_sound(work):
            _add_log(aside, work)
        return _read(work, saved, store)


def _is_sound(work: Path) -> bool:
    try:
        with Store.open(work, read_only=True) as alone:
            return not alone.database.check()
    except ArenaError:
        return False


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


def _add_log(aside: Path, work: Path) -> None:
    for ending in ("-wal", "-journal"):
        beside = aside.with_name(aside.name + ending)
        if beside.exists():
            with translated(work):
                shutil.copyfile(beside, work.with_name(work.name + ending))
