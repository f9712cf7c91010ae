"""Writes an edited project file back: same encoding, in one step, never over someone else's change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
from dataclasses import dataclass
from pathlib import Path

from engine.config.text_files import TextFile
from engine.errors import UserError, WorldError


@dataclass(frozen=True, slots=True)
class SavedFile(TextFile):
    """A file as it was just written. `replaced` are the bytes it had before, None = it was not there."""

    replaced: bytes | None = None


def save_text(file: TextFile, text: str, *, overwrite: bool = False) -> SavedFile:
    """Replaces a file by its edited text and gives the file as it is now.

    A file that changed on disk since it was read is left alone unless `overwrite` is True.
    The file is replaced as a whole, so that a crash leaves the old or the new one.

    Raises:
        UserError: `changed_on_disk`, `not_encodable`.
        WorldError: `file_unwritable`.
    """
    before = bytes_of(file.path)
    if not overwrite and digest_of(before) != file.digest:
        raise UserError(
            "changed_on_disk",
            f"{file.path.name} was changed by another program since it was opened.",
            hint="Open it again, or overwrite the other change.",
            file=str(file.path),
        )
    data = _encoded(file, text)
    write_bytes(file.path, data)
    return SavedFile(file.path, text, file.encoding, digest_of(data), replaced=before)


def write_bytes(path: Path, data: bytes | None) -> None:
    """Makes a file hold exactly these bytes, as a whole; None takes the file away.

    Raises:
        WorldError: `file_unwritable`.
    """
    try:
        if data is None:
            path.unlink(missing_ok=True)
        else:
            _replace(path, data)
    except OSError as error:
        raise WorldError(
            "file_unwritable",
            f"{path.name} cannot be written: {error.strerror or error}.",
            hint="Check that the folder is not read-only and the disk is not full.",
            file=str(path),
        ) from error


def digest_of(data: bytes | None) -> str:
    """The digest of a file's bytes; empty for a file that is not there."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def bytes_of(path: Path) -> bytes | None:
    """What a file holds; None = it is not there.

    Raises:
        WorldError: `file_unreadable`.
    """
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise WorldError(
            "file_unreadable",
            f"{path.name} cannot be read: {error.strerror or error}.",
            hint="Check that you may read it.",
            file=str(path),
        ) from error


def _encoded(file: TextFile, text: str) -> bytes:
    try:
        return text.encode(file.encoding)
    except UnicodeEncodeError as error:
        raise UserError(
            "not_encodable",
            f"{file.path.name} is stored as {file.encoding}, which lacks characters of the text.",
            hint="Save the file as UTF-8 with a text editor and open it again.",
            file=str(file.path),
        ) from error


def _replace(path: Path, data: bytes) -> None:
    # A link keeps pointing where it points: its target is replaced.
    target = path.resolve()
    name = str(target.with_name(f".{target.name}.{secrets.token_hex(6)}"))
    # Others may read a new file as far as the system's mask says; mkstemp would not let them.
    handle = os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_BINARY", 0), 0o666)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        with contextlib.suppress(FileNotFoundError):
            os.chmod(name, target.stat().st_mode & 0o777)
        os.replace(name, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
