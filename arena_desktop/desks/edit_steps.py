"""A step of editing as the bytes that it changed: taken back and done again exactly, or not at all."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from engine.config.saving import SavedFile, bytes_of, digest_of, write_bytes
from engine.errors import ArenaError, UserError


@dataclass(frozen=True, slots=True)
class FileEdit:
    """What a step did to one file.

    The file has the first `head` bytes and the last `tail` bytes before and after the step; between them
    it had `before` and has `after`. A digest is empty where there was no file.
    """

    path: Path
    head: int
    tail: int
    before: bytes
    after: bytes
    digest_before: str
    digest_after: str

    @property
    def size(self) -> int:
        """Bytes that it keeps in memory."""
        return len(self.before) + len(self.after)


@dataclass(frozen=True, slots=True)
class EditStep:
    """One step of a person, called by what it does: "delete 3 tests"."""

    name: str
    edits: tuple[FileEdit, ...]

    @property
    def size(self) -> int:
        """Bytes that it keeps in memory."""
        return sum(edit.size for edit in self.edits)


def file_edits(files: Iterable[SavedFile]) -> tuple[FileEdit, ...]:
    """What writing these files, in this order, changed. Files that stayed as they were are left out."""
    found = []
    for file in files:
        after = file.text.encode(file.encoding)
        if file.replaced != after:
            found.append(_edit(file.path, file.replaced, after))
    return tuple(found)


def take_back(edits: Sequence[FileEdit]) -> None:
    """Gives the files the bytes they had before the step; what it had made goes away.

    Either all files are changed or none. A file that is not as the step left it stops all of it.

    Raises:
        UserError: `changed_on_disk`.
        WorldError: `file_unreadable`, `file_unwritable`.
    """
    _write([(edit.path, *_turned(edit, back=True)) for edit in reversed(edits)])


def do_again(edits: Sequence[FileEdit]) -> None:
    """Gives the files the bytes they had after the step.

    Raises:
        UserError, WorldError: as `take_back`.
    """
    _write([(edit.path, *_turned(edit, back=False)) for edit in edits])


def _edit(path: Path, before: bytes | None, after: bytes) -> FileEdit:
    old = before or b""
    most = min(len(old), len(after))
    head = _common(most, lambda count: old[:count] == after[:count])
    tail = _common(most - head, lambda count: count == 0 or old[-count:] == after[-count:])
    return FileEdit(
        path,
        head,
        tail,
        old[head : len(old) - tail],
        after[head : len(after) - tail],
        digest_of(before),
        digest_of(after),
    )


def _common(most: int, alike: Callable[[int], bool]) -> int:
    """The largest count up to `most` that is alike, found by halving: a file may have 16 MiB."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        if alike(middle):
            low = middle
        else:
            high = middle - 1
    return low


def _turned(edit: FileEdit, *, back: bool) -> tuple[bytes | None, bytes | None]:
    """What a file holds now and what it shall hold."""
    now = bytes_of(edit.path)
    there, wanted = edit.digest_after, edit.digest_before
    middle = edit.before
    if not back:
        there, wanted, middle = wanted, there, edit.after
    if digest_of(now) != there:
        raise _changed(edit.path, now)
    if not wanted:
        return now, None
    held = now or b""
    new = held[: edit.head] + middle + held[len(held) - edit.tail :]
    if digest_of(new) != wanted:
        raise _changed(edit.path, now)
    return now, new


def _write(changes: Sequence[tuple[Path, bytes | None, bytes | None]]) -> None:
    """Writes all of (path, bytes now, bytes wanted), or puts back what was written when one fails."""
    done: list[tuple[Path, bytes | None]] = []
    try:
        for path, now, wanted in changes:
            if bytes_of(path) != now:
                raise _changed(path, now)
            write_bytes(path, wanted)
            done.append((path, now))
    except ArenaError:
        for path, now in reversed(done):
            # Whatever still can be put back is; the first error is the one to tell.
            with contextlib.suppress(ArenaError):
                write_bytes(path, now)
        raise


def _changed(path: Path, now: bytes | None) -> UserError:
    said = "{name} was changed by another program since."
    if now is None:
        said = "{name} was removed by another program since."
    return UserError(
        "changed_on_disk",
        said.format(name=path.name),
        hint="Nothing was overwritten.",
        file=str(path),
    )
