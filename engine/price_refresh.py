"""Newer list prices, fetched only when the user asks, kept in the cache folder."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, date, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from engine.errors import WorldError
from engine.paths import caches_dir, write_private

MAX_BYTES = 64 * 1024 * 1024
TIMEOUT_S = 30.0
FILE_NAME = "prices.json"


@dataclass(frozen=True, slots=True)
class Refreshed:
    """Fetched price data: `snapshot` is the price package's own type, `fetched` the day."""

    snapshot: Any
    fetched: date


def refresh_prices(fetch: Callable[[], bytes] | None = None, *, today: date | None = None) -> int:
    """Fetches the published list, checks it and keeps it. Returns the number of models in it.

    Blocks for up to 30 seconds; call it off the GUI thread. What was known before stays when
    anything fails. Raises WorldError `prices_not_fetched` or `prices_unusable`.
    """
    try:
        raw = (fetch or _download)()
    except Exception as error:
        # Whatever the network, its proxy or its certificates raise means the same here.
        raise WorldError(
            "prices_not_fetched",
            f"The price list could not be fetched ({type(error).__name__}).",
            hint="Check the network and try again; the prices known so far stay in use.",
        ) from error
    day = today or datetime.now(UTC).date()
    try:
        text = raw.decode("utf-8")
        snapshot = _snapshot_of(json.loads(text))
        models = sum(len(provider.models) for provider in snapshot.providers)
        if not models:
            raise ValueError("it is empty")
    except Exception as error:
        raise WorldError(
            "prices_unusable",
            f"The fetched price list cannot be used ({type(error).__name__}).",
            hint="Update the program; the prices known so far stay in use.",
        ) from error
    write_private(_path(), json.dumps({"fetched": day.isoformat()}) + "\n" + text)
    return models


def refreshed_prices() -> Refreshed | None:
    """What was fetched last and can be read; None = use what ships with the program."""
    path = _path()
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        return None


@lru_cache(maxsize=2)
def _read(path: Path, _changed: int) -> Refreshed | None:
    try:
        head, _, body = path.read_text(encoding="utf-8").partition("\n")
        return Refreshed(_snapshot_of(json.loads(body)), date.fromisoformat(json.loads(head)["fetched"]))
    except Exception:
        # A list of another version of the price package, or a damaged file: the shipped one serves.
        return None


def _snapshot_of(data: Any) -> Any:
    from genai_prices.data_snapshot import DataSnapshot
    from genai_prices.types import _providers_from_raw

    if not isinstance(data, list):
        raise TypeError("not a list of vendors")
    return DataSnapshot(providers=_providers_from_raw(data), from_auto_update=True)


def _download() -> bytes:
    import ssl

    import httpx2
    import truststore
    from genai_prices.update_prices import DEFAULT_UPDATE_URL

    context = truststore.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    with (
        httpx2.Client(verify=context, timeout=TIMEOUT_S, follow_redirects=False) as client,
        client.stream("GET", DEFAULT_UPDATE_URL) as answer,
    ):
        answer.raise_for_status()
        parts: list[bytes] = []
        size = 0
        for part in answer.iter_bytes():
            size += len(part)
            if size > MAX_BYTES:
                raise ValueError("the price list is larger than 64 MiB")
            parts.append(part)
    return b"".join(parts)


def _path() -> Path:
    return caches_dir() / FILE_NAME
