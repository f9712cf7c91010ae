"""Open connections kept for the next request: one look at one connection, however many there are."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator

import httpcore2


class KeepAlivePool(httpcore2.ConnectionPool):
    """HTTP/1.1 connections without a limit on how many are busy; `keep` idle ones stay open.

    httpcore2's own pool looks at every connection, with a system call for each idle one, before
    and after every request. Here a request takes the connection that was used last, so those
    that are not needed grow old and are closed one by one. Thread-safe.

    Args:
        maker: Knows how to make a connection: directly or through a proxy.
        keep: Idle connections that stay open.
    """

    def __init__(self, maker: httpcore2.ConnectionPool, keep: int) -> None:
        super().__init__()
        self._maker = maker
        self._keep = keep
        self._lock = threading.Lock()
        self._idle: list[tuple[str, httpcore2.ConnectionInterface]] = []
        self._busy: set[httpcore2.ConnectionInterface] = set()
        self._closed = False

    def create_connection(self, origin: httpcore2.Origin) -> httpcore2.ConnectionInterface:
        """A connection that is not open yet."""
        return self._maker.create_connection(origin)

    def handle_request(self, request: httpcore2.Request) -> httpcore2.Response:
        """Sends a request on an open connection, or on a new one."""
        origin = str(request.url.origin)
        connection = self._take(origin) or self.create_connection(request.url.origin)
        with self._lock:
            self._busy.add(connection)
        try:
            response = connection.handle_request(request)
        except BaseException:
            self._put_away(connection)
            raise
        if not isinstance(response.stream, Iterable):
            raise TypeError("only blocking streams are used here")
        return httpcore2.Response(
            status=response.status,
            headers=response.headers,
            content=_Body(response.stream, lambda: self._give_back(origin, connection)),
            extensions=response.extensions,
        )

    def close(self) -> None:
        """Closes all connections, busy ones too."""
        with self._lock:
            self._closed = True
            connections = [*self._busy, *(idle for _, idle in self._idle)]
            self._busy, self._idle = set(), []
        for connection in connections:
            connection.close()

    def _take(self, origin: str) -> httpcore2.ConnectionInterface | None:
        while True:
            with self._lock:
                place = next(
                    (i for i in range(len(self._idle) - 1, -1, -1) if self._idle[i][0] == origin), None
                )
                if place is None:
                    return None
                connection = self._idle.pop(place)[1]
            if connection.is_available() and not connection.has_expired():
                return connection
            connection.close()

    def _give_back(self, origin: str, connection: httpcore2.ConnectionInterface) -> None:
        if not connection.is_available():
            self._put_away(connection)
            return
        oldest = None
        with self._lock:
            self._busy.discard(connection)
            kept = not self._closed
            if kept:
                self._idle.append((origin, connection))
                if len(self._idle) > self._keep or (len(self._idle) > 1 and self._idle[0][1].has_expired()):
                    oldest = self._idle.pop(0)[1]
        if not kept:
            connection.close()
        if oldest is not None:
            oldest.close()

    def _put_away(self, connection: httpcore2.ConnectionInterface) -> None:
        with self._lock:
            self._busy.discard(connection)
        connection.close()


class _Body:
    """The bytes of a response; its connection is free for the next request once it is closed."""

    def __init__(self, stream: Iterable[bytes], give_back: Callable[[], None]) -> None:
        self._stream = stream
        self._give_back = give_back
        self._closed = False

    def __iter__(self) -> Iterator[bytes]:
        yield from self._stream

    def close(self) -> None:
        """Ends the response; safe to call twice."""
        if self._closed:
            return
        self._closed = True
        try:
            close = getattr(self._stream, "close", None)
            if close is not None:
                close()
        finally:
            self._give_back()
