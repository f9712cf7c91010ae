"""A bound on what one reply may hold, counted after unpacking: a small packed reply can be huge."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx2

from providers.base import ErrorKind, ProviderError

if TYPE_CHECKING:
    from httpx2._decoders import ContentDecoder

MOST_BYTES = 64 * 1024 * 1024


def bound(response: httpx2.Response) -> None:
    """Lets reading the response end with ProviderError `reply_too_large` beyond MOST_BYTES."""
    # The one place where all unpacked bytes pass.
    inner = response._get_content_decoder()
    response._decoder = _Counted(inner)  # type: ignore[assignment]


class _Counted:
    """Counts what another decoder gives."""

    def __init__(self, inner: ContentDecoder) -> None:
        self._inner = inner
        self._count = 0

    def decode(self, data: bytes) -> Iterator[bytes]:
        """What was unpacked, piece by piece."""
        return self._counted(self._inner.decode(data))

    def flush(self) -> Iterator[bytes]:
        """What is left at the end."""
        return self._counted(self._inner.flush())

    def _counted(self, parts: Iterator[bytes]) -> Iterator[bytes]:
        for part in parts:
            self._count += len(part)
            if self._count > MOST_BYTES:
                raise ProviderError(
                    ErrorKind.BAD_REPLY,
                    f"The reply is larger than {MOST_BYTES >> 20} MiB, so it was not read to its end.",
                    should_retry=False,
                    code="reply_too_large",
                )
            yield part
