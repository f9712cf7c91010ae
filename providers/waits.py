"""How long a server asks to wait, in every spelling it may use."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

_PROSE = re.compile(
    r"(?:retry|try again) (?:in|after) (\d+(?:\.\d+)?) ?(ms|s|seconds?|m|minutes?)\b", re.IGNORECASE
)


def retry_after_s(headers: Mapping[str, str], body: Any = None, now: datetime | None = None) -> float | None:
    """The wait in seconds, None where none is given or it cannot be used.

    In this order: `retry-after-ms`, `retry-after` (seconds, fractions, HTTP date; a past date
    is 0), Google's `RetryInfo`, the sentence of the message.
    """
    low = {name.lower(): value for name, value in headers.items()}
    candidates = (
        _scaled(low.get("retry-after-ms"), 0.001),
        _scaled(low.get("retry-after"), 1.0),
        _date(low.get("retry-after"), now),
        _retry_info(body),
        _prose(body),
    )
    return next((value for value in candidates if value is not None), None)


def should_retry(headers: Mapping[str, str]) -> bool | None:
    """The server's own x-should-retry, None when absent or unreadable."""
    for name, value in headers.items():
        if name.lower() == "x-should-retry":
            return {"true": True, "false": False}.get(value.strip().lower())
    return None


def names_day_quota(body: Any) -> bool:
    """True where a refusal names a quota per day."""
    return any(re.search(r"per[ _-]?day|daily", text, re.IGNORECASE) for text in _quota_ids(body))


def details(body: Any) -> Iterator[Mapping[str, Any]]:
    """The entries of Google's `error.details`."""
    error = body.get("error") if isinstance(body, Mapping) else None
    entries = error.get("details") if isinstance(error, Mapping) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, Mapping):
            yield entry


def _quota_ids(body: Any) -> Iterator[str]:
    for entry in details(body):
        violations = entry.get("violations")
        for violation in violations if isinstance(violations, list) else ():
            if isinstance(violation, Mapping):
                yield str(violation.get("quotaId", ""))
    error = body.get("error") if isinstance(body, Mapping) else None
    if isinstance(error, Mapping):
        yield str(error.get("message", ""))


def _usable(value: float) -> float | None:
    return value if math.isfinite(value) and value >= 0 else None


def _scaled(text: str | None, factor: float) -> float | None:
    try:
        return _usable(float(text) * factor) if text is not None else None
    except ValueError:
        return None


def _date(text: str | None, now: datetime | None) -> float | None:
    if not text or re.fullmatch(r"[\s\d.+-]*", text):
        return None
    try:
        when = parsedate_to_datetime(text)
    except (ValueError, TypeError):
        return None
    if when.tzinfo is None:
        when = when.replace(tzinfo=UTC)
    return max(0.0, (when - (now or datetime.now(UTC))).total_seconds())


def _retry_info(body: Any) -> float | None:
    for entry in details(body):
        if str(entry.get("@type", "")).endswith("RetryInfo"):
            delay = entry.get("retryDelay")
            if isinstance(delay, Mapping):
                delay = f"{delay.get('seconds', 0)}s"
            if (value := _scaled(str(delay).removesuffix("s"), 1.0)) is not None:
                return value
    return None


def _prose(body: Any) -> float | None:
    error = body.get("error") if isinstance(body, Mapping) else None
    message = error.get("message") if isinstance(error, Mapping) else None
    found = _PROSE.search(message) if isinstance(message, str) else None
    if not found:
        return None
    unit = found.group(2).lower()
    factor = 0.001 if unit == "ms" else 60.0 if unit.startswith("m") else 1.0
    return _scaled(found.group(1), factor)
