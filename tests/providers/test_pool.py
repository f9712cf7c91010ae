"""Connections that are kept open: which one is taken, which are closed, and when."""

from __future__ import annotations

from collections.abc import Iterator

import httpcore2
import pytest

from providers.base import ConnectionSettings
from providers.pool import KeepAlivePool
from providers.transport import GATHERED_BYTES, WatchedStream, build_client
from tests.providers.scripted import Answer, chat_body, scripted


class _Connection(httpcore2.ConnectionInterface):
    """Idle until it is asked, and again once the response is closed."""

    def __init__(self, number: int) -> None:
        self.number = number
        self.idle = self.closed = self.expired = self.broken = False

    def handle_request(self, request: httpcore2.Request) -> httpcore2.Response:
        if self.broken:
            raise httpcore2.ReadError("cut")
        self.idle = False
        return httpcore2.Response(200, content=_Stream(self))

    def is_available(self) -> bool:
        return self.idle and not self.closed

    def has_expired(self) -> bool:
        return self.expired

    def close(self) -> None:
        self.closed = True


class _Stream:
    def __init__(self, connection: _Connection) -> None:
        self._connection = connection

    def __iter__(self) -> Iterator[bytes]:
        yield b"ab"
        yield b"c"

    def close(self) -> None:
        self._connection.idle = True


class _Maker(httpcore2.ConnectionPool):
    def __init__(self) -> None:
        super().__init__()
        self.made: list[_Connection] = []

    def create_connection(self, origin: httpcore2.Origin) -> httpcore2.ConnectionInterface:
        self.made.append(_Connection(len(self.made)))
        return self.made[-1]


@pytest.fixture
def maker() -> _Maker:
    return _Maker()


def _ask(pool: KeepAlivePool, host: str = "a") -> httpcore2.Response:
    return pool.handle_request(httpcore2.Request("GET", f"http://{host}/"))


def _finish(response: httpcore2.Response) -> bytes:
    content = b"".join(response.stream)  # type: ignore[arg-type]
    response.close()
    return content


def test_the_next_request_takes_the_connection_that_was_used_last(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 4)
    first, second = _ask(pool), _ask(pool)
    assert _finish(first) == b"abc"
    _finish(second)
    third = _ask(pool)
    assert len(maker.made) == 2
    assert not maker.made[1].idle
    assert maker.made[0].idle
    _finish(third)


def test_a_connection_of_another_server_is_not_taken(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 4)
    _finish(_ask(pool, "a"))
    _finish(_ask(pool, "b"))
    _finish(_ask(pool, "a"))
    assert len(maker.made) == 2


def test_what_is_idle_beyond_the_limit_is_closed_oldest_first(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 2)
    for response in [_ask(pool) for _ in range(3)]:
        _finish(response)
    assert [connection.closed for connection in maker.made] == [True, False, False]


def test_an_expired_connection_is_closed_and_another_made(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 2)
    _finish(_ask(pool))
    maker.made[0].expired = True
    _finish(_ask(pool))
    assert maker.made[0].closed
    assert len(maker.made) == 2


def test_old_connections_go_when_fewer_are_needed(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 4)
    for response in [_ask(pool) for _ in range(2)]:
        _finish(response)
    maker.made[0].expired = True
    _finish(_ask(pool))
    assert [connection.closed for connection in maker.made] == [True, False]


def test_a_broken_connection_is_closed_and_not_kept(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 4)
    _finish(_ask(pool))
    maker.made[0].broken = True
    with pytest.raises(httpcore2.ReadError):
        _ask(pool)
    assert maker.made[0].closed
    _finish(_ask(pool))
    assert len(maker.made) == 2


def test_closing_the_pool_closes_busy_connections_and_those_that_come_back(maker: _Maker) -> None:
    pool = KeepAlivePool(maker, 4)
    busy = _ask(pool)
    _finish(_ask(pool))
    pool.close()
    assert all(connection.closed for connection in maker.made)
    _finish(busy)
    _ask(pool)
    assert len(maker.made) == 3


def test_a_request_says_nothing_about_this_computer() -> None:
    headers = {"X-Stainless-OS": "Linux", "X-A": "b"}
    with scripted(Answer(chat_body("hello"))) as server:
        settings = ConnectionSettings("c", "openai_compatible", base_url=server.url)
        with build_client(settings, server.url, auth={"Authorization": "Bearer k"}) as client:
            for _ in range(3):
                assert client.post(server.url, json={"a": 1}, headers=headers).status_code == 200
    sent = {name.lower(): value for name, value in server.asked[0].headers.items()}
    assert sent["authorization"] == "Bearer k"
    assert sent["x-a"] == "b"
    assert "x-stainless-os" not in sent
    assert [asked.body for asked in server.asked] == [{"a": 1}] * 3


class _Wire(httpcore2.NetworkStream):
    def __init__(self, *, hung_up: bool = False) -> None:
        self.sent: list[bytes] = []
        self._hung_up = hung_up

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        if self._hung_up:
            raise httpcore2.WriteError("broken pipe")
        self.sent.append(buffer)

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return b"answer"

    def get_extra_info(self, info: str) -> object:
        return None


def test_head_and_body_of_a_request_leave_together_before_the_answer_is_read() -> None:
    wire = _Wire()
    stream = WatchedStream(wire)
    stream.write(b"head")
    stream.write(b"body")
    stream.write(b"")
    assert stream.read(10) == b"answer"
    assert wire.sent == [b"headbody"]
    stream.read(10)
    assert wire.sent == [b"headbody"]


def test_a_long_body_leaves_in_pieces() -> None:
    wire = _Wire()
    stream = WatchedStream(wire)
    stream.write(b"head")
    stream.write(b"x" * (GATHERED_BYTES + 1))
    assert len(wire.sent) == 1


def test_the_answer_of_a_service_that_hung_up_early_is_read() -> None:
    stream = WatchedStream(_Wire(hung_up=True))
    stream.write(b"head")
    assert stream.read(10) == b"answer"
