"""Writes an edited project file back: same encoding, in one step, never over someone else's change."""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
from pathlib import Path

from engine.config.text_files import TextFile
from engine.errors import UserError, WorldError


def save_text(file: TextFile, text: str, *, overwrite: bool = False) -> TextFile:
    """Replaces a file by its edited text and gives the file as it is now.

    A file that changed on disk since it was read is left alone unless `overwrite` is True.
    The file is replaced as a whole, so that a crash leaves the old or the new one.

    Raises:
        UserError: `changed_on_disk`, `not_encodable`.
        WorldError: `file_unwritable`.
    """
    if not overwrite and _digest(file.path) != file.digest:
        raise UserError(
            "changed_on_disk",
            f"{file.path.name} was changed by another program since it was opened.",
            hint="Open it again, or overwrite the other change.",
            file=str(file.path),
        )
    data = _encoded(file, text)
    try:
        _replace(file.path, data)
    except OSError as error:
        raise WorldError(
            "file_unwritable",
            f"{file.path.name} cannot be written: {error.strerror or error}.",
            hint="Check that the folder is not read-only and the disk is not full.",
            file=str(file.path),
        ) from error
    return TextFile(file.path, text, file.encoding, hashlib.sha256(data).hexdigest())


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except FileNotFoundError:
        return ""
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
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
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
