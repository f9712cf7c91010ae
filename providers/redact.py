"""Takes keys out of text that somebody will read."""

from __future__ import annotations

import re
from collections.abc import Iterable

LIMIT = 500
_MASK = "***"
# Key shapes of the vendors, bearer tokens, and keys in query strings. A hyphen or digit must
# follow the prefix so that ordinary words such as "sk-" in prose stay.
_SHAPES = re.compile(
    r"""
      \bsk-[A-Za-z0-9_\-*.]{6,}
    | \b(?:AIza|gsk_|xai-|hf_|ghp_|pplx-|r8_)[A-Za-z0-9_\-]{8,}
    | (?<=Bearer\ )[A-Za-z0-9._~+/\-]{8,}=*
    | (?<=[?&]key=)[^&\s"']+
    | (?<=[?&]api_key=)[^&\s"']+
    | (?<=://)[^/\s:@]+:[^/\s@]+(?=@)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def redact(text: str, secrets: Iterable[str | None] = (), limit: int = LIMIT) -> str:
    """Text without the given secrets and without key-shaped strings, at most `limit` characters.

    Secrets of fewer than 4 characters are not looked for: they would mask ordinary letters.
    """
    known = sorted({s.strip() for s in secrets if s and len(s.strip()) >= 4}, key=len, reverse=True)
    for secret in known:
        text = text.replace(secret, _MASK)
    text = _SHAPES.sub(_MASK, text)
    return text if len(text) <= limit else text[: limit - 1].rstrip() + "…"
