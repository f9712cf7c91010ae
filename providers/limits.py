"""Reads what vendors' headers say is left of the account's rate limits."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime

from providers.base import RateLimits

# {what} is requests or tokens; OpenAI's names are also those of Groq, Azure, gateways and servers.
_SPELLINGS = (
    ("x-ratelimit-remaining-{what}", "x-ratelimit-limit-{what}", "x-ratelimit-reset-{what}"),
    (
        "anthropic-ratelimit-{what}-remaining",
        "anthropic-ratelimit-{what}-limit",
        "anthropic-ratelimit-{what}-reset",
    ),
)
_UNITS = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
_PART = re.compile(r"(\d+(?:\.\d+)?)(h|ms|us|µs|ns|m|s)")
_LONGEST_S = 86_400.0


def read_limits(headers: Mapping[str, str], now: datetime | None = None) -> RateLimits | None:
    """What is left now; None where the headers do not tell it in full. Never raises."""
    low = {name.lower(): value for name, value in headers.items() if "ratelimit" in name.lower()}
    if not low:
        return None
    moment = now or datetime.now(UTC)
    requests = _one_kind(low, "requests", moment)
    if requests is None:
        return None
    remaining, limit, reset_s = requests
    tokens = _one_kind(low, "tokens", moment)
    return RateLimits(
        remaining=remaining,
        limit=limit,
        reset_s=reset_s,
        tokens_remaining=tokens[0] if tokens else None,
        tokens_limit=tokens[1] if tokens else None,
        tokens_reset_s=tokens[2] if tokens else None,
    )


def _one_kind(low: Mapping[str, str], what: str, now: datetime) -> tuple[int, int | None, float] | None:
    for left, most, until in _SPELLINGS:
        remaining = _count(low.get(left.format(what=what)))
        reset_s = _seconds(low.get(until.format(what=what)), now)
        if remaining is not None and reset_s is not None:
            return remaining, _count(low.get(most.format(what=what))), reset_s
    return None


def _count(text: str | None) -> int | None:
    text = (text or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 16 else None


def _seconds(text: str | None, now: datetime) -> float | None:
    """A wait as `6m0s`, `120ms`, plain seconds, or the moment itself; None where it is none of them."""
    text = (text or "").strip()
    if not text:
        return None
    parts = _PART.findall(text)
    if parts and "".join(number + unit for number, unit in parts) == text:
        seconds = sum(float(number) * _UNITS[unit] for number, unit in parts)
    else:
        try:
            seconds = float(text)
        except ValueError:
            return _until(text, now)
    return min(seconds, _LONGEST_S) if math.isfinite(seconds) and seconds >= 0 else None


def _until(text: str, now: datetime) -> float | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        return None
    return min(max(0.0, (moment - now).total_seconds()), _LONGEST_S)
