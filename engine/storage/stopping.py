"""Long questions that can be given up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from engine.errors import Cancelled

_STEPS = 100_000
"""Steps of SQLite between two looks: about ten milliseconds. Each look waits for Python's lock."""


@contextmanager
def stoppable(connection: sqlite3.Connection, should_stop: Callable[[], bool] | None) -> Iterator[None]:
    """Inside, a statement ends with `Cancelled` soon after `should_stop` says yes. None = never.

    `should_stop` is asked on the thread that runs the statement.
    """
    if should_stop is None:
        yield
        return
    connection.set_progress_handler(should_stop, _STEPS)
    try:
        yield
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_INTERRUPT:
            raise
        raise Cancelled from None
    finally:
        connection.set_progress_handler(None, 0)
