"""YAML 1.2 core values: what a scalar means where numbers count, and its text where text counts.

Nodes are PyYAML's own; a plain scalar without a tag carries the tag `PLAIN` and is resolved
here, late, because the same `012` is text in a test case and a number in a setting.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

PLAIN = "?"
_PREFIX = "tag:yaml.org,2002:"
STR, INT, FLOAT, BOOL, NULL = (f"{_PREFIX}{name}" for name in ("str", "int", "float", "bool", "null"))
MAP, SEQ = f"{_PREFIX}map", f"{_PREFIX}seq"
KNOWN_TAGS = frozenset({PLAIN, STR, INT, FLOAT, BOOL, NULL, MAP, SEQ})

# Options of a check that are texts even where they look like numbers.
TEXT_OPTIONS = frozenset({"labels", "label", "reference", "pattern"})
_CONSTANTS: dict[str, Any] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMBER = re.compile(
    r"(?P<int>[-+]?[0-9]+)|(?P<oct>0o[0-7]+)|(?P<hex>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)"
    r"|(?P<inf>[-+]?\.(?:inf|Inf|INF))|(?P<nan>\.(?:nan|NaN|NAN))"
)
_NUMBER_START = frozenset("-+.0123456789")
# No float holds a longer one; such a number is an identifier, not a quantity.
_MAX_DIGITS = 250


def plain_value(text: str) -> Any:
    """What an untagged plain scalar means under the YAML 1.2 core rules."""
    if text in _CONSTANTS:
        return _CONSTANTS[text]
    if text[0] not in _NUMBER_START or len(text) > _MAX_DIGITS:
        return text
    match = _NUMBER.fullmatch(text)
    return text if match is None else _number(str(match.lastgroup), text)


def _number(kind: str, text: str) -> int | float:
    if kind == "int":
        return int(text)
    if kind in ("oct", "hex"):
        return int(text, 0)
    if kind == "float":
        return float(text)
    return float(text.lower().replace(".", ""))


def is_null(node: Node) -> bool:
    """True for `~`, `null` and nothing at all, unless quoted."""
    return isinstance(node, ScalarNode) and (
        node.tag == NULL or (node.tag == PLAIN and _CONSTANTS.get(node.value, node.value) is None)
    )


def scalar_value(node: ScalarNode) -> Any:
    """The typed value of a scalar: core rules when plain, text when quoted or tagged `!!str`."""
    if node.tag == STR:
        return node.value
    return plain_value(node.value)


def to_value(node: Node) -> Any:
    """The whole node as plain Python, numbers and booleans typed. Merge keys are applied."""
    if isinstance(node, ScalarNode):
        return scalar_value(node)
    if isinstance(node, SequenceNode):
        return [to_value(item) for item in node.value]
    return {key.value: to_value(value) for key, value in pairs(node)}


def to_text(node: Node) -> Any:
    """The whole node as plain Python, every scalar the text as it is written, null as None."""
    if isinstance(node, ScalarNode):
        return None if is_null(node) else node.value
    if isinstance(node, SequenceNode):
        return [item.value if isinstance(item, ScalarNode) else to_text(item) for item in node.value]
    return {key.value: to_text(value) for key, value in pairs(node)}


def option_value(name: str, node: Node) -> Any:
    """An option as its check reads it: labels, patterns and references are text as written."""
    return to_text(node) if name in TEXT_OPTIONS else to_value(node)


def pairs(node: Node) -> Iterator[tuple[ScalarNode, Node]]:
    """Keys and values of a mapping in order, own keys first, then those that `<<` brings.

    Keys that are not scalars are left out; `compose` has reported them.
    """
    if not isinstance(node, MappingNode):
        return
    merged: list[Node] = []
    seen: set[str] = set()
    for key, value in node.value:
        if not isinstance(key, ScalarNode):
            continue
        if is_merge(key):
            merged.append(value)
        else:
            seen.add(key.value)
            yield key, value
    for source in merged:
        for part in source.value if isinstance(source, SequenceNode) else [source]:
            for key, value in pairs(part):
                if key.value not in seen:
                    seen.add(key.value)
                    yield key, value


def is_merge(key: ScalarNode) -> bool:
    """True for the plain key `<<`."""
    return key.value == "<<" and key.tag == PLAIN


def line_of(node: Node) -> int:
    """The line of a node, counted from 1."""
    return int(node.start_mark.line) + 1


def column_of(node: Node) -> int:
    """The column of a node, counted from 1."""
    return int(node.start_mark.column) + 1
