"""Keeps the computer from going to sleep while a run goes on; the screen may still go dark."""

from __future__ import annotations

import importlib
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from enum import StrEnum
from typing import TypeAlias

Hold: TypeAlias = Callable[[], AbstractContextManager[bool]]
"""Keeps the computer awake inside the block; its value says whether the system allowed it."""

_log = logging.getLogger(__name__)


class Awake(StrEnum):
    """What became of the wish."""

    OFF = "off"
    ASKED = "asked"
    HELD = "held"
    REFUSED = "refused"


@contextmanager
def system_hold() -> Iterator[bool]:
    """The system's own way: a power request on Windows, caffeinate on macOS, D-Bus on Linux."""
    try:
        keep = importlib.import_module("wakepy").keep
    except ImportError:
        yield False
        return
    with keep.running(on_fail="pass") as mode:
        yield bool(mode.active)


class KeepAwake:
    """One wish at a time, held on a thread of its own: asking the system may take seconds.

    Thread-safe; nothing here waits. The system forgets the wish when the program ends, however it
    ends. A system that refuses costs nothing but a line in the log.
    """

    def __init__(self, hold: Hold = system_hold) -> None:
        self._hold = hold
        self.told: Callable[[Awake], None] = lambda _state: None
        """Called on another thread when the system has answered."""
        self._lock = threading.Lock()
        self._over: threading.Event | None = None
        self._state = Awake.OFF

    @property
    def state(self) -> Awake:
        """What became of the wish that is in force."""
        with self._lock:
            return self._state

    def begin(self) -> None:
        """Asks to stay awake until `end`; a second asking changes nothing."""
        with self._lock:
            if self._over is not None:
                return
            self._over = over = threading.Event()
            self._state = Awake.ASKED
        threading.Thread(target=self._carry_out, args=(over,), name="keep-awake", daemon=True).start()

    def end(self) -> None:
        """The computer may sleep again. Safe to call at any time."""
        with self._lock:
            over, self._over = self._over, None
            self._state = Awake.OFF
        if over is not None:
            over.set()

    def _carry_out(self, over: threading.Event) -> None:
        try:
            with self._hold() as allowed:
                self._tell(over, Awake.HELD if allowed else Awake.REFUSED)
                over.wait()
        except Exception:
            _log.warning("the system cannot be asked to stay awake", exc_info=True)
            self._tell(over, Awake.REFUSED)

    def _tell(self, over: threading.Event, state: Awake) -> None:
        with self._lock:
            if self._over is not over:
                return
            self._state = state
        if state is Awake.REFUSED:
            _log.info("this system does not keep the computer awake for us")
        self.told(state)
