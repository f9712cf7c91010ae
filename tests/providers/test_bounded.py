"""A reply that unpacks to more than anybody can use is not read to its end."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator

import httpx2
import pytest

from providers import bounded
from providers.base import ErrorKind, ProviderError


def reply(packed: bytes, coding: str) -> httpx2.Response:
    class Stream(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            for start in range(0, len(packed), 1000):
                yield packed[start : start + 1000]

    headers = {"content-encoding": coding} if coding else {}
    request = httpx2.Request("GET", "http://127.0.0.1/")
    response = httpx2.Response(200, headers=headers, stream=Stream(), request=request)
    bounded.bound(response)
    return response


@pytest.mark.parametrize(
    ("coding", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress), ("", bytes)]
)
def test_a_bomb_ends_at_the_bound(coding: str, pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded, "MOST_BYTES", 1 << 20)
    packed = pack(b"A" * (3 << 20))  # type: ignore[operator]
    with pytest.raises(ProviderError, match="larger than 1 MiB") as raised:
        reply(packed, coding).read()
    assert (raised.value.kind, raised.value.should_retry) == (ErrorKind.BAD_REPLY, False)


@pytest.mark.parametrize(("coding", "pack"), [("gzip", gzip.compress), ("", bytes)])
def test_an_ordinary_reply_is_read_as_it_is(coding: str, pack: object) -> None:
    assert reply(pack(b"hello" * 1000), coding).read() == b"hello" * 1000  # type: ignore[operator]
