"""Texts as lists of numbers whose directions stand for meaning: what is asked, and what comes back."""

from __future__ import annotations

import base64
import binascii
import math
import struct
import threading
from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from providers.base import ErrorKind, Provider, ProviderError, RateLimits, Usage
from providers.chat import error_in_success
from providers.faults import Place
from providers.tokens import estimate_tokens

NO_EMBEDDINGS = "no_embeddings"
"""Code of the error that asking again cannot help: this service or model makes no embeddings."""

Vector = array  # of doubles: eight bytes a number, where a tuple of floats takes four times that
_NOT_IMPLEMENTED = 501


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """Texts for one model, none of them empty. `timeout_s` is the total for all of them."""

    model: str
    texts: tuple[str, ...]
    params: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 120.0
    stop_event: threading.Event | None = None


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector per text, in the order asked; all finite, none empty, all of one length.

    `usage.output` is 0: only what is read is billed.
    """

    vectors: tuple[Vector[float], ...]
    model_reported: str | None = None
    usage: Usage = field(default_factory=Usage)
    request_id: str | None = None
    latency_ms: float = 0.0
    limits: RateLimits | None = None


@runtime_checkable
class Embedder(Protocol):
    """A connection that makes embeddings. Thread-safe, as `complete` is."""

    def embed(self, request: EmbedRequest) -> Embedded:
        """Asks once: one HTTP request, no retries. Raises ProviderError."""
        ...


def embed(provider: Provider, request: EmbedRequest) -> Embedded:
    """Asks a connection for embeddings.

    Raises:
        ProviderError: it failed; with the code `no_embeddings` where the service makes none.
    """
    if not isinstance(provider, Embedder):
        raise makes_none(f"A connection of the kind `{provider.settings.kind}` makes no embeddings.")
    return provider.embed(request)


def makes_none(message: str, status: int | None = None) -> ProviderError:
    """The error of a service that makes no embeddings."""
    return ProviderError(
        ErrorKind.BAD_REQUEST, message, status=status, should_retry=False, code=NO_EMBEDDINGS
    )


def as_final(error: ProviderError, model: str) -> ProviderError:
    """The error of a refused request; "not implemented" is a model or server that makes none."""
    if error.status != _NOT_IMPLEMENTED:
        return error
    return makes_none(f"{model} was not started to make embeddings. {error.message}", error.status)


def read_list(body: Any, count: int, place: Place, headers: Mapping[str, str]) -> tuple[Vector[float], ...]:
    """The vectors of a reply in the form of OpenAI, in the order of its indices.

    Raises:
        ProviderError: it holds an error, another number of vectors, or no usable numbers.
    """
    if isinstance(body, Mapping) and body.get("error"):
        raise error_in_success(place, headers, body)
    entries = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(entries, list) or not all(isinstance(entry, Mapping) for entry in entries):
        raise _unreadable(place, f"The reply holds no embeddings: {str(body)[:200]}")
    places = [entry.get("index", number) for number, entry in enumerate(entries)]
    by_place = {n: entry for n, entry in zip(places, entries, strict=True) if isinstance(n, int)}
    if by_place.keys() != set(range(len(entries))):
        raise _unreadable(place, "The reply does not say which embedding belongs to which text.")
    return checked([by_place[n].get("embedding") for n in range(len(entries))], count, place)


def checked(found: Sequence[Any], count: int, place: Place) -> tuple[Vector[float], ...]:
    """Vectors that can be compared with each other.

    Raises:
        ProviderError: their number, their lengths or their numbers are not what was asked for.
    """
    if len(found) != count:
        raise _unreadable(place, f"{count} texts were sent and {len(found)} embeddings came back.")
    vectors = tuple(_numbers(item, place) for item in found)
    if len({len(vector) for vector in vectors}) > 1:
        raise _unreadable(place, "The embeddings of one reply have different lengths.")
    return vectors


def embed_usage(read: int | None, texts: Sequence[str]) -> Usage:
    """Usage of a request that answers with numbers; counted by us, and said so, where not reported."""
    if read is None:
        return Usage(input=sum(map(estimate_tokens, texts)), output=0, estimated=True)
    return Usage(input=read, output=0)


def read_count(usage: Any, name: str) -> int | None:
    """The tokens that a reply reports to have read; None where it tells none, or only zero."""
    value = usage.get(name) if isinstance(usage, Mapping) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def _numbers(item: Any, place: Place) -> Vector[float]:
    try:
        vector = array("d", _unpacked(item) if isinstance(item, str) else item)
    except (TypeError, ValueError, OverflowError, struct.error):
        raise _unreadable(place, "An embedding in the reply is not a list of numbers.") from None
    if not vector or not all(map(math.isfinite, vector)):
        raise _unreadable(place, "An embedding in the reply is empty or holds no usable numbers.")
    return vector


def _unpacked(text: str) -> tuple[float, ...]:
    """Numbers as some services pack them: four bytes each, as base64."""
    try:
        raw = base64.b64decode(text, validate=True)
    except binascii.Error as error:
        raise ValueError(str(error)) from None
    return struct.unpack(f"<{len(raw) // 4}f", raw)


def _unreadable(place: Place, message: str) -> ProviderError:
    return ProviderError(ErrorKind.BAD_REPLY, place.clean(message), status=200, code="unreadable")
