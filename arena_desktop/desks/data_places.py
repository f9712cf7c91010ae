"""What the program keeps on this computer: where it lies, how large it is, how it is removed."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from engine.paths import caches_dir, home, logs_dir, settings_path, store_path

RECOVERY = "recovery"


@dataclass(frozen=True, slots=True)
class DataPlace:
    """One kind of data. `path` is a folder or a file; `size` in bytes, None while not counted yet."""

    id: str
    path: Path
    size: int | None = None

    @property
    def folder(self) -> Path:
        """What a file manager should open."""
        return self.path if self.path.is_dir() else self.path.parent


def data_places() -> list[DataPlace]:
    """Saved runs, preferences, logs, recovery copies, what can be fetched again."""
    return [
        DataPlace("runs", store_path()),
        DataPlace("settings", settings_path()),
        DataPlace("logs", logs_dir()),
        DataPlace("recovery", home() / RECOVERY),
        DataPlace("caches", caches_dir()),
    ]


def measured(place: DataPlace) -> DataPlace:
    """The place with its size. Reads the folder; call it away from the GUI thread."""
    return DataPlace(place.id, place.path, sum(_sizes(place.path)))


def remove(place: DataPlace) -> None:
    """Deletes a folder's content, or a file. What is in use stays. Never for runs."""
    if place.id == "runs":
        raise ValueError("saved runs are removed one by one, in History")
    if place.path.is_dir():
        for item in place.path.iterdir():
            _delete(item)
    elif place.path.exists():
        _delete(place.path)


def _delete(item: Path) -> None:
    if item.is_dir() and not item.is_symlink():
        shutil.rmtree(item, ignore_errors=True)
        return
    # A log that is being written cannot be deleted on every system; the next start renews it.
    with contextlib.suppress(OSError):
        item.unlink()


def _sizes(path: Path) -> Iterator[int]:
    if path.is_dir():
        for item in path.rglob("*"):
            yield from _size(item)
        return
    # SQLite keeps its newest pages in files beside the store.
    for item in (path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")):
        yield from _size(item)


def _size(item: Path) -> Iterator[int]:
    with contextlib.suppress(OSError):
        if item.is_file() and not item.is_symlink():
            yield item.stat().st_size
