"""Takes secrets out of text before anybody can read it: logs, reports, error sentences."""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Iterable
from urllib.parse import quote

from providers.redact import redact as _redact

MASK = "***"
SHORTEST = 8


def redact(text: str, secrets: Iterable[str | None] = ()) -> str:
    """`text` with every known secret and every key-shaped string replaced by `***`.

    Known secrets are found as they are, URL-encoded, JSON-escaped and in base64, the longest
    first. Secrets of fewer than 8 characters are not looked for, they would tear ordinary words
    apart. The text is not shortened.
    """
    known = {form for secret in secrets if secret for form in _forms(secret.strip())}
    return _redact(text, known, limit=sys.maxsize)


def mask_known(text: str, secrets: Iterable[str | None]) -> str:
    """`text` with the known secrets alone replaced: for answers, which are otherwise left as they are."""
    for secret in secrets:
        for form in sorted(_forms(secret.strip()) if secret else (), key=len, reverse=True):
            if form in text:
                text = text.replace(form, MASK)
    return text


def _forms(secret: str) -> Iterable[str]:
    if len(secret) < SHORTEST:
        return ()
    raw = secret.encode("utf-8", "surrogatepass")
    return (
        secret,
        quote(secret, safe=""),
        json.dumps(secret)[1:-1],
        base64.b64encode(raw).decode("ascii"),
        base64.urlsafe_b64encode(raw).decode("ascii").rstrip("="),
    )
