"""Values as a JSON document and a UTF-8 file can hold them."""

from __future__ import annotations

import math
from datetime import datetime
from decimal import Decimal
from enum import Enum
from pathlib import Path
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON can hold it: money as numbers, moments as ISO text, NaN as null."""
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, dict):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(v) for v in value]
    return value


def unicode_text(text: str) -> str:
    """Text that UTF-8 can hold: half of a pair of surrogates is written as its escape."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
