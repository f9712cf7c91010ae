"""One form of a value that is always the same text, for fingerprints."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_encode = json.JSONEncoder(ensure_ascii=False, sort_keys=True, separators=(",", ":"), default=str).encode


def digest(content: Any) -> str:
    """Hex SHA-256 over the canonical JSON of a value."""
    text = _encode(content)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
