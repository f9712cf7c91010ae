"""One SQLite file and its connections: how it is opened, locked, read, written and left."""

from __future__ import annotations

import os
import sqlite3
import sys
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from engine import paths
from engine.storage.faults import store_fault, translated
from engine.storage.place import log_allowed

BUSY_TIMEOUT_S = 10.0
"""How long a statement waits for another program's lock before it is called locked."""

CHECKED_AT_OPEN_BYTES = 8 * 1024 * 1024
"""Files up to this size are checked for damage whenever they are opened (a few milliseconds)."""

CHECKED_WITH_LOG_BYTES = 64 * 1024 * 1024
"""The same where a log lies beside the file: after a crash, or after a copy put back in part."""


class Database:
    """Connections to one file, one per thread, made when a thread first needs one.

    Commits are durable when they return (`synchronous=FULL`). Readers see the last commit and
    never wait for the writer where the write-ahead log can be had; elsewhere a rollback journal
    is used. Every SQLite or file error leaves as a `WorldError` of `faults`. Thread-safe;
    `close` may be called from any thread once no other uses it.
    """

    def __init__(
        self, path: Path, *, read_only: bool = False, busy_timeout_s: float = BUSY_TIMEOUT_S
    ) -> None:
        self.path = path.expanduser().absolute()
        self.read_only = read_only
        self._busy_timeout_s = busy_timeout_s
        self._own = threading.local()
        self._opened: list[tuple[weakref.ref[threading.Thread], sqlite3.Connection]] = []
        self._guard = threading.Lock()
        self._writing = threading.Lock()
        self._closed = False
        self._immutable = False
        with translated(self.path):
            self._prepare_file()
            self._identity = self._found()

    @property
    def connection(self) -> sqlite3.Connection:
        """This thread's connection. Its errors are SQLite's own: use it inside `reading` or `transaction`."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is None:
            connection = self._connect()
            self._own.connection = connection
        return connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """One explicit write transaction: committed and durable on leaving, or nothing at all."""
        with translated(self.path), self._writing:
            if self.read_only:
                raise store_fault("store_readonly", self.path, "opened for reading only")
            connection = self.connection
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                _roll_back(connection)
                raise
            if self.is_gone():
                # SQLite goes on writing into a deleted file as if nothing had happened.
                raise store_fault("store_gone", self.path)

    def is_gone(self) -> bool:
        """Whether the file was deleted or replaced while it is open; only open connections hold it then."""
        return self._found() != self._identity

    def _found(self) -> tuple[int, int] | None:
        try:
            status = os.stat(self.path)
        except FileNotFoundError:
            return None
        return (status.st_dev, status.st_ino)

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """All statements inside see the same state of the file."""
        with translated(self.path):
            connection = self.connection
            if connection.in_transaction:
                yield connection
                return
            connection.execute("BEGIN")
            try:
                yield connection
            finally:
                _roll_back(connection)

    def check(self, *, thorough: bool = False) -> tuple[str, ...]:
        """What SQLite finds wrong with the file, in its words; empty = sound. Reads every page."""
        pragma = "PRAGMA integrity_check(20)" if thorough else "PRAGMA quick_check(20)"
        try:
            with translated(self.path):
                rows = self.connection.execute(pragma).fetchall()
        except Exception as error:
            if getattr(error, "code", "") != "store_damaged":
                raise
            return (str(error.__cause__ or error),)
        return tuple(str(row[0]) for row in rows if row[0] != "ok")

    def refuse_if_damaged(self, up_to_bytes: int) -> None:
        """Checks a file that is small enough for it. Raises `store_damaged`."""
        if self.path.stat().st_size <= up_to_bytes and (faults := self.check()):
            raise store_fault("store_damaged", self.path, faults[0])

    def settle_journal(self) -> str:
        """Sets the journal that suits the place and returns the one in force.

        Call it once the file is known to be ours, because it writes to the file. Another
        program that has the file open may keep the journal as it is.
        """
        with translated(self.path):
            connection = self.connection
            current = _journal_mode(connection)
            wanted = "wal" if log_allowed(self.path) else "delete"
            if not self.read_only and not connection.execute("PRAGMA schema_version").fetchone()[0]:
                # Only before the first page is written: deleted runs can then give their space back.
                connection.execute("PRAGMA auto_vacuum=INCREMENTAL")
            return current if self.read_only or current == wanted else _journal_mode(connection, wanted)

    def copy_to(self, target: Path) -> None:
        """A consistent copy of the whole file, readable by the user only, checked after writing.

        An existing `target` is refused; a copy that could not be finished is removed again.
        """
        with translated(target):
            if target.exists():
                raise FileExistsError(17, "there is a file of that name already", str(target))
            paths.touch_private(target)
            try:
                copy = sqlite3.connect(target, isolation_level=None)
                try:
                    self._surviving().backup(copy)
                    # The copy is one file; whoever opens it chooses its journal anew.
                    copy.execute("PRAGMA journal_mode=DELETE")
                    found = copy.execute("PRAGMA quick_check(1)").fetchone()[0]
                finally:
                    copy.close()
                if found != "ok":
                    raise store_fault("store_damaged", self.path, str(found))
            except BaseException:
                target.unlink(missing_ok=True)
                raise

    def _surviving(self) -> sqlite3.Connection:
        """This thread's connection; of a deleted file, one that was opened before."""
        if not self.is_gone() or hasattr(self._own, "connection"):
            return self.connection
        with self._guard:
            if not self._opened:
                raise store_fault("store_gone", self.path)
            return self._opened[-1][1]

    def release(self) -> None:
        """Closes this thread's connection, if it has one; the next use opens another."""
        connection: sqlite3.Connection | None = getattr(self._own, "connection", None)
        if connection is not None:
            with self._guard:
                self._opened = [entry for entry in self._opened if entry[1] is not connection]
            del self._own.connection
            connection.close()

    def close(self) -> None:
        """Closes every connection; the last one to leave folds the log back into the file."""
        with self._guard:
            self._closed = True
            opened, self._opened = self._opened, []
        for _, connection in opened:
            connection.close()
        self._own = threading.local()

    def _prepare_file(self) -> None:
        if not self.path.exists():
            if self.read_only:
                raise store_fault("store_missing", self.path)
            paths.touch_private(self.path)
        elif not self.read_only:
            if not os.access(self.path, os.W_OK):
                raise store_fault("store_readonly", self.path)
            self._make_private()

    def _make_private(self) -> None:
        status = self.path.stat()
        if sys.platform != "win32" and status.st_mode & 0o077 and status.st_uid == os.getuid():
            self.path.chmod(0o600)

    def _connect(self) -> sqlite3.Connection:
        connection = self._open_read_only() if self.read_only else self._raw()
        try:
            connection.execute("PRAGMA foreign_keys=ON")
            connection.execute("PRAGMA synchronous=FULL")
            # A file inside a project may come from anybody.
            connection.execute("PRAGMA trusted_schema=OFF")
        except BaseException:
            connection.close()
            raise
        with self._guard:
            if self._closed:
                connection.close()
                raise store_fault("store_failed", self.path, "it is closed already")
            self._reap()
            self._opened.append((weakref.ref(threading.current_thread()), connection))
        return connection

    def _open_read_only(self) -> sqlite3.Connection:
        if self._may_be_tidied():
            # The right to write is used by SQLite only, to take its log away again when it closes.
            connection = self._raw()
            connection.execute("PRAGMA query_only=ON")
            return connection
        if not self._immutable:
            connection = self._raw("?mode=ro")
            try:
                connection.execute("PRAGMA schema_version").fetchone()
            except sqlite3.OperationalError:
                connection.close()
                if not self._may_be_immutable():
                    raise
                self._immutable = True
            else:
                return connection
        return self._raw("?immutable=1")

    def _may_be_tidied(self) -> bool:
        """Not where a log lies beside the file: it may be another file's, and must not be folded in."""
        places = (self.path, self.path.parent)
        return not has_log(self.path) and all(os.access(place, os.W_OK) for place in places)

    def _may_be_immutable(self) -> bool:
        """Whether a file in a folder that cannot be written holds all its data itself."""
        return not os.access(self.path.parent, os.W_OK) and not has_log(self.path)

    def _raw(self, suffix: str = "?mode=rw") -> sqlite3.Connection:
        return sqlite3.connect(
            file_uri(self.path, suffix),
            uri=True,
            timeout=self._busy_timeout_s,
            isolation_level=None,
            # Only so that `close` may be called from another thread.
            check_same_thread=False,
            cached_statements=256,
        )

    def _reap(self) -> None:
        """Closes the connections of threads that have ended. Call with the guard held."""
        kept = []
        for owner, connection in self._opened:
            thread = owner()
            if thread is None or not thread.is_alive():
                connection.close()
            else:
                kept.append((owner, connection))
        self._opened = kept


def has_log(path: Path) -> bool:
    """Whether a write-ahead log with something in it lies beside the file."""
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def file_uri(path: Path, suffix: str) -> str:
    """The path as SQLite wants it in a URI, network names of Windows included."""
    name = path.as_posix()
    return f"file://{'' if name.startswith('/') else '/'}{quote(name)}{suffix}"


def _roll_back(connection: sqlite3.Connection) -> None:
    # SQLite has already rolled back by itself on some errors, such as a full disk.
    if connection.in_transaction:
        connection.execute("ROLLBACK")


def _journal_mode(connection: sqlite3.Connection, wanted: str | None = None) -> str:
    """The journal mode in force, after asking for `wanted`; another program's use may forbid the change."""
    pragma = f"PRAGMA journal_mode={wanted}" if wanted else "PRAGMA journal_mode"
    try:
        return str(connection.execute(pragma).fetchone()[0]).lower()
    except sqlite3.OperationalError as error:
        if wanted is None or error.sqlite_errorcode & 0xFF not in (
            sqlite3.SQLITE_BUSY,
            sqlite3.SQLITE_LOCKED,
        ):
            raise
        return _journal_mode(connection)
