"""Ends a blocked call at its total deadline and on stop, by shutting its socket down.

A blocked SDK call does not end when its client is closed, and SDK timeouts are per read, so a
dripping server outlives them. Every socket operation therefore belongs to a `Call`.
"""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from collections.abc import Iterator, Mapping

TICK_S = 0.05
_LINGER_S = 1.0


class Call:
    """One call under watch: its deadline, its stop event, the socket it uses now.

    `reason` is "" until the call is cut, then "deadline" or "stopped". `status`, `headers`
    and `body` are those of the last HTTP response (`body` of refusals and HTML pages only).
    """

    __slots__ = ("_lock", "_over", "_socket", "body", "deadline", "headers", "reason", "status", "stop_event")

    def __init__(self, timeout_s: float, stop_event: threading.Event | None) -> None:
        self.deadline = time.monotonic() + timeout_s
        self.stop_event = stop_event
        self.reason = ""
        self.status: int | None = None
        self.headers: Mapping[str, str] = {}
        self.body = b""
        self._socket: socket.socket | None = None
        self._over = False
        self._lock = threading.Lock()

    def remaining(self) -> float:
        """Seconds to the deadline, never negative."""
        return max(0.0, self.deadline - time.monotonic())

    def attach(self, sock: socket.socket | None) -> None:
        """Names the socket that is used from here on."""
        with self._lock:
            self._socket = sock

    def check(self) -> bool:
        """Cuts the call where it is due; True where it was cut. Any thread."""
        if self.reason:
            self._shutdown()
        elif self.stop_event is not None and self.stop_event.is_set():
            self._cut("stopped")
        elif time.monotonic() >= self.deadline:
            self._cut("deadline")
        return bool(self.reason)

    def end(self) -> None:
        """From here on the socket may belong to another call and is left alone."""
        with self._lock:
            self._over = True
            self._socket = None

    def _cut(self, reason: str) -> None:
        with self._lock:
            if self._over or self.reason:
                return
            self.reason = reason
        self._shutdown()

    def _shutdown(self) -> None:
        with self._lock:
            if self._socket is None or self._over:
                return
            # The base class's method: SSLSocket.shutdown would also drop the TLS state that
            # the blocked thread is using.
            with contextlib.suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


class Watchdog:
    """One daemon thread for all calls of the process; it ends when there is nothing to watch."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._calls: set[Call] = set()
        self._thread: threading.Thread | None = None

    def add(self, call: Call) -> None:
        """Watches a call until `remove`."""
        with self._changed:
            self._calls.add(call)
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="call-watchdog", daemon=True)
                self._thread.start()
            self._changed.notify()

    def remove(self, call: Call) -> None:
        """Forgets a call."""
        with self._changed:
            self._calls.discard(call)

    def _run(self) -> None:
        while True:
            with self._changed:
                if not self._calls:
                    self._changed.wait(_LINGER_S)
                    if not self._calls:
                        self._thread = None
                        return
                calls = tuple(self._calls)
            for call in calls:
                call.check()
            with self._changed:
                # Looked at again under the lock: a call added meanwhile must not wait out
                # a pause that was made for others.
                self._changed.wait(self._pause())

    def _pause(self) -> float:
        if any(call.stop_event is not None or call.reason for call in self._calls):
            return TICK_S
        return max(0.001, min((call.remaining() for call in self._calls), default=0.001))


@contextlib.contextmanager
def waiting_for(lock: threading.Lock, stop_event: threading.Event | None) -> Iterator[bool]:
    """Holds a lock that may take long to get; False where stop came first and it is not held."""
    held = lock.acquire(timeout=TICK_S)
    while not held and not (stop_event is not None and stop_event.is_set()):
        held = lock.acquire(timeout=TICK_S)
    try:
        yield held
    finally:
        if held:
            lock.release()


_WATCHDOG = Watchdog()
_current = threading.local()


@contextlib.contextmanager
def watched(timeout_s: float, stop_event: threading.Event | None = None) -> Iterator[Call]:
    """Everything this thread sends and reads inside the block belongs to one call."""
    call = Call(timeout_s, stop_event)
    before = getattr(_current, "call", None)
    _current.call = call
    _WATCHDOG.add(call)
    try:
        yield call
    finally:
        _WATCHDOG.remove(call)
        call.end()
        _current.call = before


def current_call() -> Call:
    """The call this thread is in; outside of any, one without a limit."""
    call = getattr(_current, "call", None)
    return call if isinstance(call, Call) else Call(float("inf"), None)
