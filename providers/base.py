"""What every connector takes and gives: one request, one reply, one error, one meaning of usage."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation. `role` is user, assistant or system."""

    role: str
    content: str


class Finish(StrEnum):
    """How a reply ended. `blocked` never appears here: it is raised as `ProviderError`."""

    COMPLETE = "complete"
    LENGTH = "length"
    REFUSED = "refused"
    EMPTY = "empty"


# More than any service reads or writes in one reply; a server that says more is wrong or lies.
MOST_TOKENS = 10**12
MOST_USD = 10**6


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one reply, the same meaning for every vendor; None = not reported.

    `input` is all prompt tokens including cached ones, `output` all billed output including
    reasoning. `estimated` is True where the server reported nothing and the numbers are ours.
    """

    input: int | None = None
    output: int | None = None
    cache_read: int | None = None
    cache_write: int | None = None
    reasoning: int | None = None
    estimated: bool = False

    def __post_init__(self) -> None:
        """Counts that no reply can have are counts that were not reported."""
        for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
            count = getattr(self, name)
            if count is not None and not 0 <= count <= MOST_TOKENS:
                object.__setattr__(self, name, None)


@dataclass(frozen=True, slots=True)
class PracticeContext:
    """What the mock needs to answer repeatably. Never sent to a real service.

    User code behind `callable` sees `reference` only where `pass_reference` is True.
    """

    case_id: str
    trial: int
    model_key: str
    reference: Any = None
    pass_reference: bool = False


@dataclass(frozen=True, slots=True)
class Request:
    """One question to one model. `timeout_s` is the total for the whole answer.

    `answer_schema` is a JSON schema that the answer should keep to. It is left out where the service
    takes none, so the question must say the same in words.
    """

    model: str
    messages: tuple[Message, ...]
    system: str | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    timeout_s: float = 120.0
    stop_event: threading.Event | None = None
    practice: PracticeContext | None = None
    answer_schema: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class RateLimits:
    """What a vendor's headers say is left of the account's limits; None = not told.

    `reset_s` is the time until all of `limit` is there again; the first three are of requests.
    """

    remaining: int
    limit: int | None
    reset_s: float
    tokens_remaining: int | None = None
    tokens_limit: int | None = None
    tokens_reset_s: float | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """One answer. `latency_ms` is from sending to the complete answer, `notes` are codes with
    values, such as ("model_differs", {"asked": …, "answered": …}). `cost_usd` and `metrics` are
    what the other side itself reported, None and empty otherwise."""

    text: str
    finish: Finish
    model_reported: str | None = None
    usage: Usage = field(default_factory=Usage)
    request_id: str | None = None
    latency_ms: float = 0.0
    first_token_ms: float | None = None
    reasoning: str | None = None
    notes: tuple[tuple[str, Mapping[str, Any]], ...] = ()
    cost_usd: Decimal | None = None
    metrics: Mapping[str, float] = field(default_factory=dict)
    limits: RateLimits | None = None


class ErrorKind(StrEnum):
    """Causes a call can fail for. The engine decides what to do by kind and status only.

    `connect`, `connect_timeout` and `offline` mean that nothing was sent. A connection cut
    during the answer is `unknown` with the code `connection_cut`.
    """

    AUTH = "auth"
    QUOTA = "quota"
    RATE_LIMIT = "rate_limit"
    OVERLOADED = "overloaded"
    TIMEOUT = "timeout"
    CONNECT_TIMEOUT = "connect_timeout"
    CONNECT = "connect"
    OFFLINE = "offline"
    BAD_REQUEST = "bad_request"
    NOT_FOUND = "not_found"
    BLOCKED = "blocked"
    BAD_REPLY = "bad_reply"
    CANCELLED = "cancelled"
    UNKNOWN = "unknown"


class ProviderError(Exception):
    """The one error a connector raises.

    `message` is redacted and bounded. `status` is the HTTP status or None. `retry_after_s` is
    the server's wait in seconds when it gave a usable one. `should_retry` is the server's
    own x-should-retry, None when absent; it is False too where asking again cannot help.
    `day_quota` is True where a daily quota is named. `code` names a cause that has a sentence
    of its own, such as tls_intercepted, model_loading, system_role, html_page; "" otherwise.
    """

    def __init__(  # noqa: PLR0913 - all but two are optional facts named at the call
        self,
        kind: ErrorKind,
        message: str,
        *,
        status: int | None = None,
        retry_after_s: float | None = None,
        should_retry: bool | None = None,
        day_quota: bool = False,
        request_id: str | None = None,
        usage: Usage | None = None,
        code: str = "",
        limits: RateLimits | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.status = status
        self.retry_after_s = retry_after_s
        self.should_retry = should_retry
        self.day_quota = day_quota
        self.request_id = request_id
        self.usage = usage
        self.code = code
        self.limits = limits


class MissingExtraError(ProviderError):
    """A package that a connector needs is not installed; the message names the install line."""

    def __init__(self, message: str) -> None:
        super().__init__(ErrorKind.BAD_REQUEST, message)


@dataclass(frozen=True, slots=True)
class ConnectionSettings:
    """Everything a connector is built from. `api_key` is the resolved secret, never logged.

    `verify_tls` is True, False or a path to a CA bundle. `width` sizes the connection pool.
    `trusted` and `root` are set by the engine alone, never from `params`: without trust no
    user code is loaded, and code is looked for under `root` only.
    """

    id: str
    kind: str
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    headers: Mapping[str, str] = field(default_factory=dict, repr=False)
    proxy: str | None = field(default=None, repr=False)
    verify_tls: bool | str = True
    connect_timeout_s: float = 10.0
    model_prefix: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    width: int = 4
    trusted: bool = False
    root: str | None = None


@dataclass(frozen=True, slots=True)
class ModelInfo:
    """One model that a connection offers. Unknown facts are None."""

    id: str
    display_name: str | None = None
    context_tokens: int | None = None


class Provider(Protocol):
    """One connection. Thread-safe: `complete` is called from many pool threads at once."""

    settings: ConnectionSettings

    def complete(self, request: Request) -> Reply:
        """Asks once: one HTTP request, no retries. Raises ProviderError."""
        ...

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """The models the service names. Raises ProviderError."""
        ...

    def close(self) -> None:
        """Ends the client; safe to call twice."""
        ...
