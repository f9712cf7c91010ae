"""Values to YAML or JSON text, so that our own reader reads back exactly the value."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from engine.config.values import plain_value

# Characters that must be escaped in quotes and cannot stand in a block text.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_NOT_LITERAL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\ufffe\uffff]")
_NOT_FIRST = frozenset("!&*?|>@`\"'%#,[]{}-:~<=.")
_FLOW_MARKS = frozenset(",[]{}")


def quoted(text: str) -> str:
    """A text in double quotes, the same for YAML and JSON."""
    return _ESCAPED.sub(lambda match: f"\\u{ord(match.group()):04x}", json.dumps(text, ensure_ascii=False))


def scalar(value: Any, style: str = "", *, in_flow: bool = False) -> str:
    """One scalar on one line; a text keeps the quotes named by `style` where it can."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, float):
        return repr(value).replace("inf", ".inf").replace("nan", ".nan")
    if not isinstance(value, str):
        return str(value)
    if style == '"' or "\n" in value or _NOT_LITERAL.search(value):
        return quoted(value)
    if style == "'":
        return "'" + value.replace("'", "''") + "'"
    return value if _is_plain(value, in_flow) else quoted(value)


def _is_plain(text: str, in_flow: bool) -> bool:
    """True where a text stays the same text without quotes."""
    if not text or text != text.strip() or text[0] in _NOT_FIRST or plain_value(text) != text:
        return False
    if "\t" in text or ": " in text or " #" in text or text.endswith(":"):
        return False
    return not (in_flow and (_FLOW_MARKS.intersection(text) or ":" in text))


def flow(value: Any) -> str:
    """The value as YAML on one line."""
    if isinstance(value, Mapping):
        inner = (f"{scalar(str(key), in_flow=True)}: {flow(item)}" for key, item in value.items())
        return "{" + ", ".join(inner) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value, in_flow=True)


def block(value: Any) -> list[str]:
    """The value as YAML lines without indent; one line for scalars and empty collections."""
    if isinstance(value, Mapping) and value:
        return [line for key, item in value.items() for line in _entry(scalar(str(key)), item)]
    if isinstance(value, list | tuple) and value:
        return [line for item in value for line in _item(item)]
    return [flow(value)] if isinstance(value, Mapping | list | tuple) else [scalar(value)]


def _entry(key: str, value: Any) -> list[str]:
    if is_literal(value):
        return literal(value, f"{key}: ")
    if isinstance(value, Mapping | list | tuple) and value:
        if all(not isinstance(item, Mapping | list | tuple | str) for item in _members(value)):
            return [f"{key}: {flow(value)}"]
        return [f"{key}:", *indented(block(value))]
    return [f"{key}: {block(value)[0]}"]


def _members(value: Mapping[Any, Any] | Sequence[Any]) -> Sequence[Any]:
    return list(value.values()) if isinstance(value, Mapping) else value


def _item(value: Any) -> list[str]:
    if is_literal(value):
        return literal(value, "- ")
    lines = block(value)
    return [f"- {lines[0]}", *indented(lines[1:])]


def indented(lines: Sequence[str], by: int = 2) -> list[str]:
    """The lines moved right; blank ones stay blank."""
    return [" " * by + line if line else line for line in lines]


def is_literal(value: Any) -> bool:
    """True where a text of several lines can be written as it is, under a `|`."""
    if not isinstance(value, str) or "\n" not in value or _NOT_LITERAL.search(value):
        return False
    body = value.removesuffix("\n")
    return bool(body.strip()) and not body.endswith("\n") and not body.startswith((" ", "\t", "\n"))


def literal(value: str, head: str = "") -> list[str]:
    """A text as a `|` block, one line each."""
    mark = "|" if value.endswith("\n") else "|-"
    return [f"{head}{mark}", *indented(value.removesuffix("\n").split("\n"))]


def as_json(value: Any) -> str:
    """The value as JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=_json_number)


def _json_number(value: Any) -> Any:
    if isinstance(value, Decimal):
        return float(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
