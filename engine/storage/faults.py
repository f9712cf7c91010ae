"""What SQLite and the file system say, turned into errors a person can act on."""

from __future__ import annotations

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from engine.errors import ArenaError, WorldError

_SENTENCES: dict[str, tuple[str, str]] = {
    "disk_full": (
        "The disk is full, so nothing more can be saved in {path}.",
        "Free some space and try again, or save what is in memory on another disk.",
    ),
    "store_readonly": (
        "The history file {path} cannot be written.",
        "Allow writing to the file and to its folder, or choose another place for the history.",
    ),
    "store_locked": (
        "The history file {path} is in use by another program, which does not let go of it.",
        "Close the other program, or wait until it has finished, and try again.",
    ),
    "store_damaged": (
        "The history file {path} is damaged and cannot be read in full.",
        "It is left as it is. Start a new history: the damaged file is kept under another name "
        "and what can still be read is taken over.",
    ),
    "store_missing": (
        "There is no history file at {path}.",
        "Check the path, or start a run: the file is made then.",
    ),
    "store_gone": (
        "The history file {path} was deleted or replaced while it was in use.",
        "Save what is in memory to another file; nothing that was answered is lost then.",
    ),
    "store_unreachable": (
        "The history file {path} cannot be reached.",
        "Check that the disk or network folder is connected, or choose another place for the history.",
    ),
    "store_failed": (
        "The history file {path} refused an operation: {reason}.",
        "Try again. If it comes back, please report it: this is a mistake of the program, not yours.",
    ),
}

_BY_SQLITE_CODE = {
    sqlite3.SQLITE_FULL: "disk_full",
    sqlite3.SQLITE_READONLY: "store_readonly",
    sqlite3.SQLITE_PERM: "store_readonly",
    sqlite3.SQLITE_BUSY: "store_locked",
    sqlite3.SQLITE_LOCKED: "store_locked",
    sqlite3.SQLITE_PROTOCOL: "store_locked",
    sqlite3.SQLITE_CORRUPT: "store_damaged",
    sqlite3.SQLITE_NOTADB: "store_damaged",
    sqlite3.SQLITE_CANTOPEN: "store_unreachable",
    sqlite3.SQLITE_IOERR: "store_unreachable",
}

_BY_ERRNO = {
    errno.ENOSPC: "disk_full",
    errno.EDQUOT: "disk_full",
    errno.EFBIG: "disk_full",
    errno.EROFS: "store_readonly",
    errno.EACCES: "store_readonly",
    errno.EPERM: "store_readonly",
    errno.ENOENT: "store_missing",
}


def store_fault(code: str, path: Path, reason: str = "") -> WorldError:
    """The error for one of the codes above, worded for `path`."""
    sentence, hint = _SENTENCES[code]
    message = sentence.format(path=path, reason=reason)
    return WorldError(code, message, hint=hint, path=str(path), reason=reason)


def from_sqlite(error: sqlite3.Error, path: Path) -> WorldError:
    """Names the fault by SQLite's result code, never by the text of its message."""
    code = getattr(error, "sqlite_errorcode", None)
    name = _BY_SQLITE_CODE.get(code & 0xFF, "store_failed") if isinstance(code, int) else "store_failed"
    return store_fault(name, path, str(error))


def from_os(error: OSError, path: Path) -> WorldError:
    """Names the fault of a file operation by its error number."""
    code = _BY_ERRNO.get(error.errno or 0, "store_unreachable")
    return store_fault(code, path, error.strerror or str(error))


@contextmanager
def translated(path: Path) -> Iterator[None]:
    """Inside it, SQLite's and the system's errors leave as `WorldError`; ours pass unchanged."""
    try:
        yield
    except ArenaError:
        raise
    except sqlite3.Error as error:
        raise from_sqlite(error, path) from error
    except OSError as error:
        raise from_os(error, path) from error
