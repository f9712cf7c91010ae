"""What an HTTP refusal means, in any vendor's words.

Status and codes decide; message text is read only where servers give nothing else.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from providers.addresses import host_of
from providers.base import ErrorKind

LOADING_WAIT_S = 2.0


@dataclass(frozen=True, slots=True)
class Refusal:
    """An error body of any vendor, taken apart. `words` are its codes and types, lower case."""

    status: int
    message: str
    words: frozenset[str]
    body: Any


@dataclass(frozen=True, slots=True)
class Cause:
    """One recognised cause. `sentence` goes before the server's own words; `final` = asking
    again cannot help; `wait_s` is ours where the server names none."""

    kind: ErrorKind
    sentence: str
    code: str = ""
    final: bool = False
    wait_s: float | None = None


@dataclass(frozen=True, slots=True)
class _Rule:
    """Matches where the status fits and a word or the text is found."""

    cause: Cause
    statuses: frozenset[int] = frozenset()
    words: frozenset[str] = frozenset()
    text: re.Pattern[str] | None = None

    def fits(self, refusal: Refusal) -> bool:
        # 200: an error inside a success, of which nobody told the status.
        if self.statuses and refusal.status not in (*self.statuses, 200):
            return False
        return bool(self.words & refusal.words) or bool(self.text and self.text.search(refusal.message))


def _text(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.IGNORECASE | re.DOTALL)


_NO_CREDIT = Cause(ErrorKind.QUOTA, "The account has no credit left. Check billing.", "no_credit", final=True)
_OVERLOADED = Cause(ErrorKind.OVERLOADED, "The service is overloaded.")
_NO_KEY = Cause(ErrorKind.AUTH, "The key was refused.", final=True)

_RULES = (
    _Rule(
        _NO_CREDIT,
        words=frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_error"}),
    ),
    _Rule(
        Cause(ErrorKind.BLOCKED, "The service blocked this by its content filter.", "blocked", final=True),
        words=frozenset(
            {
                "content_filter",
                "responsibleaipolicyviolation",
                "content_policy_violation",
                "prohibited_content",
            }
        ),
    ),
    _Rule(_OVERLOADED, words=frozenset({"overloaded_error"})),
    _Rule(_NO_KEY, words=frozenset({"api_key_invalid", "invalid_api_key", "authentication_error"})),
    _Rule(
        Cause(ErrorKind.NOT_FOUND, "The service does not offer the model{model} to this key.", final=True),
        frozenset({400, 403, 404}),
        frozenset({"model_not_found", "model_not_available"}),
    ),
    _Rule(
        Cause(ErrorKind.RATE_LIMIT, "The service asked to slow down."),
        frozenset({200, 429}),
        frozenset({"rate_limit_error", "rate_limit_exceeded"}),
    ),
    _Rule(
        _NO_CREDIT,
        frozenset({400, 402, 403, 429}),
        text=_text(
            r"check your plan and billing|credit balance|out of credits|insufficient (credits|balance)"
        ),
    ),
    _Rule(
        Cause(
            ErrorKind.BAD_REQUEST,
            "This model's template takes no separate instructions. Put the instructions in front of the "
            "question for this model.",
            "system_role",
            final=True,
        ),
        frozenset({400, 422, 500}),
        text=_text(
            r"system (role|message|prompt)s?.{0,20} not (be )?(supported|allowed)"
            r"|not support.{0,20} system (role|message|prompt)"
            r"|(jinja|template).{0,200}(system|conversation roles must alternate)"
        ),
    ),
    _Rule(
        Cause(
            ErrorKind.NOT_FOUND,
            "The server runs, but the model{model} is not loaded. Load or download it there.",
            "no_models_loaded",
            final=True,
        ),
        frozenset({400, 404, 500, 503}),
        text=_text(r"no models? (is |are )?(currently )?loaded|model (is )?not (currently )?loaded"),
    ),
    _Rule(
        Cause(
            ErrorKind.OVERLOADED,
            "The server is still loading the model.",
            "model_loading",
            wait_s=LOADING_WAIT_S,
        ),
        frozenset({502, 503}),
        text=_text(r"model.{0,20} load|loading.{0,20} model|warming up|starting up"),
    ),
    _Rule(_OVERLOADED, frozenset({503, 529}), text=_text("overloaded")),
    _Rule(
        Cause(ErrorKind.NOT_FOUND, "The service does not know the model{model}.", final=True),
        frozenset({400, 404}),
        text=_text(r"model.{0,80}(not found|not exist|try pulling)|(unknown|invalid) model"),
    ),
)

_BY_STATUS: Mapping[int, Cause] = {
    401: _NO_KEY,
    402: _NO_CREDIT,
    403: Cause(ErrorKind.AUTH, "The key may not be used for this.", final=True),
    404: Cause(
        ErrorKind.NOT_FOUND,
        "The service does not know the model{model}, or the address is wrong.",
        final=True,
    ),
    408: Cause(ErrorKind.TIMEOUT, "The service gave up waiting."),
    409: Cause(ErrorKind.UNKNOWN, "The service was busy with a conflicting request."),
    425: Cause(ErrorKind.UNKNOWN, "The service asked to try again later."),
    429: Cause(ErrorKind.RATE_LIMIT, "The service asked to slow down."),
    504: Cause(ErrorKind.TIMEOUT, "The service gave up waiting."),
    529: _OVERLOADED,
}


def cause_of(refusal: Refusal, model: str = "") -> Cause:
    """The cause of a refusal; every status has one."""
    rule = next((rule for rule in _RULES if rule.fits(refusal)), None)
    found = rule.cause if rule else _BY_STATUS.get(refusal.status) or _other(refusal.status)
    sentence = found.sentence.replace("{model}", f" {model!r}" if model else "")
    return Cause(found.kind, sentence, found.code, found.final, found.wait_s)


def _other(status: int) -> Cause:
    if status < 300:
        return Cause(ErrorKind.UNKNOWN, "The service answered with an error.")
    if 400 <= status < 500:
        return Cause(ErrorKind.BAD_REQUEST, f"The service refused the request (status {status}).")
    return Cause(ErrorKind.UNKNOWN, f"The service failed (status {status}).")


def page_cause(status: int, headers: Mapping[str, str], body: bytes, base_url: str) -> Cause | None:
    """The cause where no model service answered: a redirect or a web page; else None."""
    low = {name.lower(): value for name, value in headers.items()}
    if 300 <= status < 400:
        target = host_of(low.get("location", ""))
        where = f" ({target})" if target else ""
        return Cause(
            ErrorKind.BAD_REQUEST,
            f"The server sends the request on to another address{where}. Redirects are not followed, so "
            "that a key goes nowhere else. Put the final address into the connection.",
            "redirect",
            final=True,
        )
    if "text/html" not in low.get("content-type", "") and not is_html(body):
        return None
    if status >= 500 or status in (408, 429):
        found = _BY_STATUS.get(status) or _other(status)
        return Cause(found.kind, f"{found.sentence} It sent a web page (status {status}).", "html_page")
    place = f" {base_url}" if base_url else ""
    return Cause(
        ErrorKind.NOT_FOUND if status == 404 else ErrorKind.BAD_REPLY,
        f"The address{place} answers with a web page, not as a model service (status {status}). "
        "Check the address; it usually ends in /v1. A sign-in page of the network may also be in between.",
        "html_page",
        final=True,
    )


def is_html(body: bytes) -> bool:
    """True for a body that begins as a web page, whatever its headers say."""
    return body[:200].lstrip().lower().startswith((b"<!doctype html", b"<html"))


def read_refusal(status: int, body: Any) -> Refusal:
    """Message and codes of an error body: bytes or JSON of any known shape, or plain text."""
    parsed = body
    if isinstance(body, bytes):
        try:
            parsed = json.loads(body)
        except (ValueError, RecursionError):
            text = re.sub(r"<[^>]*>|\s+", " ", body[:4000].decode("utf-8", "replace")).strip()
            return Refusal(status, text, frozenset(), None)
    if isinstance(parsed, list) and len(parsed) == 1:
        parsed = parsed[0]
    layers = [layer for layer in _layers(parsed) if isinstance(layer, Mapping)]
    words = {
        value.lower()
        for layer in layers
        for name in ("code", "type", "status", "reason")
        if isinstance(value := layer.get(name), str)
    }
    message = next((found for layer in layers if (found := _message(layer))), "")
    return Refusal(status, message, frozenset(words), parsed)


def _layers(parsed: Any) -> Iterator[Any]:
    """The error and what lies inside it, then the whole body."""
    error = parsed.get("error") if isinstance(parsed, Mapping) else None
    if isinstance(error, str):
        yield {"message": error}
    if isinstance(error, Mapping):
        yield error
        yield error.get("innererror")
        entries = error.get("details")
        yield from entries if isinstance(entries, list) else ()
    yield parsed


def _message(layer: Mapping[str, Any]) -> str:
    for name in ("message", "detail", "msg"):
        value = layer.get(name)
        if isinstance(value, str) and value.strip():
            return value.strip()
        if isinstance(value, list | Mapping) and value:
            return json.dumps(value, ensure_ascii=False)
    return ""
