"""A practice connection: repeatable answers without a network, and every fault on demand.

Kept as a synthetic baseline and for showing each screen. The formula of `flaky` is the
reference's (A12.2): the first 8 hex digits of SHA-256 over model|seed|case|trial, mod 10,000.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from providers.base import (
    ConnectionSettings,
    ErrorKind,
    Finish,
    ModelInfo,
    ProviderError,
    Reply,
    Request,
    Usage,
)
from providers.embedding import Embedded, EmbedRequest
from providers.mock_embed import practice_vector
from providers.mock_judge import FAVOURS, verdict
from providers.tokens import estimate_tokens, estimated_usage

MODES = ("oracle", "flaky", "fixed", "echo", "empty", "judge")
EMBEDDING = "embedding"
"""The mode of a model that only makes embeddings, so it is not among those that answer."""
WRONG_TEXT = "I am not sure."
_Choice = TypeVar("_Choice", Finish, ErrorKind)
_STATUS_KINDS = {
    401: ErrorKind.AUTH,
    403: ErrorKind.AUTH,
    402: ErrorKind.QUOTA,
    404: ErrorKind.NOT_FOUND,
    408: ErrorKind.TIMEOUT,
    429: ErrorKind.RATE_LIMIT,
    529: ErrorKind.OVERLOADED,
}


@dataclass(frozen=True, slots=True)
class MockParams:
    """What `params` of a practice model may say.

    `accuracy` is in percent. `latency_ms` is reported, and waited only with `sleep`.
    `fail_rate` is a share 0..1 of requests that fail with `error_status` (or `error_kind`);
    an error named without a rate fails every request. `rate_limit_after` requests are let
    through per `rate_limit_window_s`, the rest get a 429 with the time left in the window.
    The mode `judge` marks answers; `favours` gives it a bias, and `accuracy` is that of its verdicts.
    """

    mode: str
    accuracy: float = 100.0
    latency_ms: float = 0.0
    sleep: bool = False
    seed: str = ""
    text: str = ""
    wrong_text: str = WRONG_TEXT
    finish: Finish | None = None
    fail_rate: float = 0.0
    error_status: int | None = None
    error_kind: ErrorKind | None = None
    rate_limit_after: int | None = None
    rate_limit_window_s: float = 10.0
    favours: str = ""

    @classmethod
    def read(cls, model: str, params: Mapping[str, Any]) -> MockParams:
        """Reads merged params; keys meant for real models are ignored.

        Raises:
            ProviderError: a value cannot be used; the message names it.
        """
        mode = str(params.get("mode") or model.partition(":")[2] or "oracle")
        if mode not in (*MODES, EMBEDDING):
            raise _bad(f"The practice mode {mode!r} does not exist. Set params.mode to {', '.join(MODES)}.")
        has_error = params.get("error_status") is not None or params.get("error_kind") is not None
        return cls(
            mode=mode,
            accuracy=_number(params, "accuracy", 100.0, high=100.0),
            latency_ms=_number(params, "latency_ms", 0.0),
            sleep=_flag(params, "sleep"),
            seed=str(params.get("seed", "") if params.get("seed") is not None else ""),
            text=str(params.get("text", "")),
            wrong_text=str(params.get("wrong_text", WRONG_TEXT)),
            finish=_choice(params, "finish", Finish),
            fail_rate=_number(params, "fail_rate", 1.0 if has_error else 0.0, high=1.0),
            error_status=int(_number(params, "error_status", 0.0, high=599.0)) or None,
            error_kind=_choice(params, "error_kind", ErrorKind),
            rate_limit_after=(
                int(_number(params, "rate_limit_after", 0.0))
                if params.get("rate_limit_after") is not None
                else None
            ),
            rate_limit_window_s=_number(params, "rate_limit_window_s", 10.0),
            favours=_favours(params),
        )


def draw(model: str, seed: str, case_id: str, trial: int) -> float:
    """The repeatable number in [0, 100) that decides one flaky answer."""
    text = "|".join((model, seed, case_id, str(trial)))
    return int(hashlib.sha256(text.encode()).hexdigest()[:8], 16) % 10000 / 100


class MockProvider:
    """Answers from the case's reference. Thread-safe."""

    def __init__(self, settings: ConnectionSettings, clock: Callable[[], float] = time.monotonic) -> None:
        self.settings = settings
        self._clock = clock
        self._lock = threading.Lock()
        self._asked: Counter[tuple[str, str, int]] = Counter()
        self._window: dict[str, tuple[float, int]] = {}

    def complete(self, request: Request) -> Reply:
        """Answers by the mode; waits only with `sleep`, ending early on stop and deadline."""
        params = MockParams.read(request.model, {**self.settings.params, **request.params})
        if params.mode == EMBEDDING:
            raise _bad("This practice model makes embeddings and answers no questions.")
        practice = request.practice
        cell = (practice.case_id, practice.trial) if practice else ("", 1)
        self._suffer(request, params, cell)
        text = self._text(request, params)
        finish = params.finish or (Finish.COMPLETE if text.strip() else Finish.EMPTY)
        return Reply(
            text=text,
            finish=finish,
            model_reported=request.model,
            # What a practice service counts is what it reports: its price is known, not guessed.
            usage=replace(estimated_usage(request, text), estimated=False),
            latency_ms=params.latency_ms,
        )

    def embed(self, request: EmbedRequest) -> Embedded:
        """Repeatable vectors by the letters of the texts; simulates delays and faults as answers do."""
        common = {name: value for name, value in self.settings.params.items() if name != "mode"}
        params = MockParams.read(request.model, {**common, **request.params})
        self._suffer(request, params, ("\n".join(request.texts), 1))
        read = sum(map(estimate_tokens, request.texts))
        vectors = tuple(map(practice_vector, request.texts))
        return Embedded(vectors, request.model, Usage(read, 0), latency_ms=params.latency_ms)

    def list_models(self, timeout_s: float = 5.0) -> list[ModelInfo]:
        """One practice model per mode."""
        return [ModelInfo(f"mock:{mode}", f"Practice ({mode})") for mode in MODES]

    def close(self) -> None:
        """Holds nothing."""

    def _text(self, request: Request, params: MockParams) -> str:
        practice = request.practice
        reference = practice.reference if practice else None
        if params.mode == "fixed":
            return params.text
        if params.mode == "echo":
            return next((m.content for m in reversed(request.messages) if m.role == "user"), "")
        if params.mode == "empty":
            return ""
        case_id, trial = (practice.case_id, practice.trial) if practice else ("", 1)
        if params.mode == "judge":
            right = draw(request.model, params.seed, case_id, trial) < params.accuracy
            return verdict(request, right=right, favours=params.favours)
        if params.mode == "flaky" and draw(request.model, params.seed, case_id, trial) >= params.accuracy:
            return params.wrong_text
        return reference_text(reference)

    def _suffer(self, request: Request | EmbedRequest, params: MockParams, cell: tuple[str, int]) -> None:
        """Limits, delays and faults, in the order a service has them."""
        self._limit(request.model, params)
        if params.sleep:
            self._wait(request, params.latency_ms / 1000)
        self._fail(request.model, params, cell)

    def _limit(self, model: str, params: MockParams) -> None:
        if params.rate_limit_after is None:
            return
        with self._lock:
            now = self._clock()
            began, count = self._window.get(model, (now, 0))
            if now - began >= params.rate_limit_window_s:
                began, count = now, 0
            self._window[model] = (began, count + 1)
        if count >= params.rate_limit_after:
            raise ProviderError(
                ErrorKind.RATE_LIMIT,
                "Practice: too many requests.",
                status=429,
                retry_after_s=max(0.0, began + params.rate_limit_window_s - now),
            )

    def _fail(self, model: str, params: MockParams, cell: tuple[str, int]) -> None:
        if params.fail_rate <= 0:
            return
        with self._lock:
            self._asked[model, *cell] += 1
            attempt = self._asked[model, *cell]
        if draw(model, f"{params.seed}|fail|{attempt}", *cell) < params.fail_rate * 100:
            status = params.error_status or (None if params.error_kind else 500)
            kind = params.error_kind or _kind_of(status)
            text = f"Practice: a simulated failure ({status or kind.value})."
            raise ProviderError(kind, text, status=status)

    def _wait(self, request: Request | EmbedRequest, seconds: float) -> None:
        stop = request.stop_event or threading.Event()
        if stop.wait(min(seconds, request.timeout_s)):
            raise ProviderError(ErrorKind.CANCELLED, "Stopped while waiting for the answer.")
        if seconds > request.timeout_s:
            raise ProviderError(ErrorKind.TIMEOUT, f"No complete answer within {request.timeout_s:g} s.")


def reference_text(reference: Any) -> str:
    """A reference as an answer: the first of a list, JSON for other values, "" for none."""
    while isinstance(reference, list | tuple):
        reference = reference[0] if reference else None
    if reference is None:
        return ""
    return reference if isinstance(reference, str) else json.dumps(reference, ensure_ascii=False)


def _kind_of(status: int | None) -> ErrorKind:
    if status in _STATUS_KINDS:
        return _STATUS_KINDS[status]
    return ErrorKind.BAD_REQUEST if status is not None and 400 <= status < 500 else ErrorKind.UNKNOWN


def _bad(message: str) -> ProviderError:
    return ProviderError(ErrorKind.BAD_REQUEST, message)


def _number(params: Mapping[str, Any], name: str, default: float, high: float = float("inf")) -> float:
    value = params.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= high:
        limit = f"from 0 to {high:g}" if high != float("inf") else "of 0 or more"
        raise _bad(f"The practice setting {name} must be a number {limit}, not {value!r}.")
    return float(value)


def _flag(params: Mapping[str, Any], name: str) -> bool:
    value = params.get(name, False)
    if not isinstance(value, bool):
        raise _bad(f"The practice setting {name} must be true or false, not {value!r}.")
    return value


def _favours(params: Mapping[str, Any]) -> str:
    value = str(params.get("favours") or "")
    if value not in FAVOURS:
        raise _bad(f"The practice setting favours must be one of {', '.join(FAVOURS[1:])}, not {value!r}.")
    return value


def _choice(params: Mapping[str, Any], name: str, kind: type[_Choice]) -> _Choice | None:
    value = params.get(name)
    if value is None:
        return None
    try:
        return kind(value)
    except ValueError:
        raise _bad(f"The practice setting {name} must be one of {', '.join(kind)}, not {value!r}.") from None
