"""Where exactly a node stands in its text: block ends without trailing blanks, aliases in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

Collection = MappingNode | SequenceNode
_ALIAS = re.compile(r"\*[^\s,\[\]{}]+")
_SPACE = re.compile(r"[ \t]*")
_GAP = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)*")


@dataclass(frozen=True, slots=True)
class Spot:
    """One value in its collection. `key` is None in lists and at the root."""

    node: Node
    parent: Collection | None
    key: ScalarNode | None
    index: int
    step: str | int

    def column(self, text: str) -> int:
        """The column its key or dash stands in."""
        if self.key is not None:
            return int(self.key.start_mark.column)
        return int(self.parent.start_mark.column) if self.parent is not None else 0


def find(root: Node | None, path: Sequence[str | int]) -> Spot | None:
    """The value at a path, by keys that stand in the block itself (not those `<<` brings)."""
    if root is None:
        return None
    spot = Spot(root, None, None, 0, "")
    for step in path:
        child = _child(spot.node, step)
        if child is None:
            return None
        spot = child
    return spot


def _child(node: Node, step: str | int) -> Spot | None:
    if isinstance(step, int):
        if not isinstance(node, SequenceNode) or step >= len(node.value):
            return None
        return Spot(node.value[step], node, None, step, step)
    if isinstance(node, MappingNode):
        for index, (key, value) in enumerate(node.value):
            if isinstance(key, ScalarNode) and key.value == step:
                return Spot(value, node, key, index, step)
    return None


def line_start(text: str, at: int) -> int:
    """The index of the first character of the line."""
    return text.rfind("\n", 0, at) + 1


def line_end(text: str, at: int) -> int:
    """The index just before the line's break, or the end of the text."""
    end = text.find("\n", at)
    if end < 0:
        return len(text)
    return end - 1 if end > at and text[end - 1] == "\r" else end


def value_span(text: str, spot: Spot) -> tuple[int, int]:
    """Start and end of a value; for an alias those of the alias itself."""
    if spot.parent is None:
        return spot.node.start_mark.index, end_of(text, spot.node)
    if spot.key is not None:
        return _pair_span(text, spot.key, spot.node)
    return item_span(text, spot.parent, spot.index)


def _pair_span(text: str, key: ScalarNode, value: Node) -> tuple[int, int]:
    colon = text.index(":", key.end_mark.index) + 1
    space = _SPACE.match(text, colon)
    at = space.end() if space else colon
    alias = _ALIAS.match(text, at)
    if alias:
        return alias.start(), alias.end()
    return value.start_mark.index, end_of(text, value)


def item_span(text: str, parent: Collection, index: int) -> tuple[int, int]:
    """Start and end of a list's item, without its dash."""
    at = parent.start_mark.index + (1 if parent.flow_style else 0)
    span, mark = (at, at), "," if parent.flow_style else "-"
    for number, item in enumerate(parent.value[: index + 1]):
        at = _skip(text, span[1], mark, first=number == 0 and mark == ",")
        alias = _ALIAS.match(text, at)
        span = (alias.start(), alias.end()) if alias else (item.start_mark.index, end_of(text, item))
    return span


def _skip(text: str, at: int, mark: str, *, first: bool) -> int:
    """Over blanks and comments, and over the one mark between two items."""
    gap = _GAP.match(text, at)
    at = gap.end() if gap else at
    if not first and text[at : at + 1] == mark:
        gap = _GAP.match(text, at + 1)
        at = gap.end() if gap else at + 1
    return at


def entry_span(text: str, parent: Collection, index: int) -> tuple[int, int]:
    """Start and end of an entry: key and value, or dash and item."""
    if isinstance(parent, MappingNode):
        key, value = parent.value[index]
        return key.start_mark.index, max(
            _pair_span(text, key, value)[1], text.index(":", key.end_mark.index) + 1
        )
    start, end = item_span(text, parent, index)
    if parent.flow_style:
        return start, end
    before = item_span(text, parent, index - 1)[1] if index else parent.start_mark.index
    dash = _skip(text, before, "", first=True)
    return dash, max(end, dash + 1)


def end_of(text: str, node: Node) -> int:
    """The index after the last character that belongs to a value.

    A block's own end mark stands at the next token, beyond comments that follow it.
    """
    if isinstance(node, ScalarNode):
        return _scalar_end(text, node)
    if not isinstance(node, Collection) or node.flow_style or not node.value:
        return int(node.end_mark.index)
    return entry_span(text, node, len(node.value) - 1)[1]


def _scalar_end(text: str, node: ScalarNode) -> int:
    end = int(node.end_mark.index)
    if node.style not in ("|", ">"):
        return end
    raw = text[node.start_mark.index : end]
    head = raw.split("\n", 1)[0]
    # A block text that keeps its last breaks (`|+`) owns the blank lines after it.
    return end if "+" in head.split("#")[0] else int(node.start_mark.index) + len(raw.rstrip())
