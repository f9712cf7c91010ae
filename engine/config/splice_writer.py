"""Cuts new text into an old one, in the style of its surroundings; `splice` checks the result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from yaml.nodes import MappingNode, ScalarNode, SequenceNode

from engine.config import emit
from engine.config.spans import Collection, Spot, end_of, entry_span, line_end, line_start, value_span
from engine.config.yaml_text import Document


def _joined(lines: list[str], column: int) -> str:
    return "\n".join([lines[0], *emit.indented(lines[1:], column)])


class Writer:
    """Cuts new text into an old one, in the style of its surroundings."""

    def __init__(self, document: Document) -> None:
        self._text = document.text
        self._json = document.is_json
        self._break = "\r\n" if "\r\n" in document.text else "\n"

    def _cut(self, start: int, end: int, new: str) -> str:
        return self._text[:start] + new.replace("\n", self._break) + self._text[end:]

    def _flow(self, value: Any) -> str:
        return emit.as_json(value) if self._json else emit.flow(value)

    def first(self, value: Mapping[str, Any]) -> str:
        """The first value of a file that held nothing but comments."""
        if self._json:
            return emit.as_json(value) + self._break
        head = self._text if not self._text or self._text.endswith("\n") else self._text + self._break
        return head + self._break.join(emit.block(value)) + self._break

    def replace(self, spot: Spot, value: Any) -> str:
        """Another value in the place of one."""
        start, end = value_span(self._text, spot)
        end = start + len(self._text[start:end].rstrip("\r\n"))
        if self._json or (spot.parent is not None and spot.parent.flow_style):
            return self._cut(start, end, self._spaced(start, self._flow(value)))
        node = spot.node
        if isinstance(node, MappingNode | SequenceNode) and not node.flow_style:
            return self._replace_block(spot, start, end, value)
        in_flow = not isinstance(node, ScalarNode) and bool(node.value)
        if not in_flow and self._takes_lines(value) and self._ends_line(end):
            return self._lines(spot, start, end, value)
        style = node.style or "" if isinstance(node, ScalarNode) else ""
        new = emit.scalar(value, style) if not isinstance(value, Mapping | list | tuple) else emit.flow(value)
        return self._cut(start, end, self._spaced(start, new))

    @staticmethod
    def _takes_lines(value: Any) -> bool:
        return emit.is_literal(value) or (isinstance(value, Mapping | list | tuple) and bool(value))

    def _ends_line(self, at: int) -> bool:
        return not self._text[at : line_end(self._text, at)].strip()

    def _spaced(self, start: int, new: str) -> str:
        return new if start == 0 or self._text[start - 1] in " \t\n[{" else f" {new}"

    def _lines(self, spot: Spot, start: int, end: int, value: Any) -> str:
        """A value of several lines below its key, or behind its dash."""
        column = spot.column(self._text)
        if emit.is_literal(value):
            lines = emit.literal(value)
            return self._cut(start, end, self._spaced(start, _joined(lines, column)))
        lines = emit.block(value)
        if isinstance(spot.step, int):
            return self._cut(start, end, self._spaced(start, _joined(lines, column + 2)))
        head = len(self._text[:start].rstrip(" "))
        return self._cut(head, end, "\n" + "\n".join(emit.indented(lines, column + 2)))

    def _replace_block(self, spot: Spot, start: int, end: int, value: Any) -> str:
        if isinstance(value, Mapping | list | tuple) and value:
            column = start - line_start(self._text, start)
            if spot.key is not None and column <= spot.column(self._text) and isinstance(value, Mapping):
                # A list may stand as far left as its key, a block may not.
                lines = emit.indented(emit.block(value), spot.column(self._text) + 2)
                return self._cut(line_start(self._text, start), end, "\n".join(lines))
            return self._cut(start, end, _joined(emit.block(value), column))
        if isinstance(spot.step, int) or spot.key is None:
            return self._cut(start, end, emit.flow(value))
        colon = self._text.index(":", spot.key.end_mark.index) + 1
        first = line_start(self._text, start)
        if first <= colon:
            return self._cut(start, end, emit.flow(value))
        after = self._text[colon:first] + self._text[end:].lstrip(" ").removeprefix(self._break)
        return self._text[:colon] + " " + emit.flow(value) + after

    def append(self, node: Collection, key: str | None, value: Any) -> str:
        """One more entry at the end of a collection."""
        if self._json or node.flow_style:
            return self._append_flow(node, key, value)
        lines = emit.block([value] if key is None else {key: value})
        column = node.start_mark.column
        new = "\n".join(emit.indented(lines, column))
        at = end_of(self._text, node)
        if at and self._text[at - 1] == "\n":
            return self._cut(at, at, new + "\n")
        at = line_end(self._text, at)
        return self._cut(at, at, "\n" + new)

    def _append_flow(self, node: Collection, key: str | None, value: Any) -> str:
        new = self._flow(value)
        if key is not None:
            name = emit.quoted(key) if self._json else emit.scalar(key, in_flow=True)
            new = f"{name}: {new}"
        close = node.end_mark.index - 1
        if not node.value:
            return self._cut(node.start_mark.index + 1, close, new)
        start, end = entry_span(self._text, node, len(node.value) - 1)
        rest = self._text[end:close]
        comma = "" if rest.lstrip().startswith(",") else ","
        at = end if comma else end + rest.index(",") + 1
        first = line_start(self._text, start)
        own_line = first > node.start_mark.index and not self._text[first:start].strip()
        gap = f"\n{self._text[first:start]}" if own_line else " "
        if own_line and comma and "#" in rest:
            # The comma goes before the comment of the last line, the new line after it.
            stop = line_end(self._text, end)
            return (
                self._text[:end]
                + ","
                + self._text[end:stop]
                + gap.replace("\n", self._break)
                + new
                + (self._text[stop:])
            )
        return self._cut(at, at, f"{comma}{gap}{new}")

    def without(self, spot: Spot) -> str:
        """The text without an entry; a collection that loses its last one becomes empty."""
        parent = spot.parent
        if parent is None:
            return ""
        if self._json or parent.flow_style:
            return self._without_flow(parent, spot.index)
        start, end = entry_span(self._text, parent, spot.index)
        if len(parent.value) == 1:
            return self._emptied(parent, start, end)
        first, stop = line_start(self._text, start), line_end(self._text, end)
        if end and self._text[end - 1] == "\n":
            stop = end - 1
        if not self._text[first:start].strip():
            return self._text[:first] + self._text[min(stop + 1, len(self._text)) :]
        if spot.index + 1 < len(parent.value):
            following, _ = entry_span(self._text, parent, spot.index + 1)
            if "#" not in self._text[end:following]:
                return self._text[:start] + self._text[following:]
        return self._text[:start].rstrip(" ") + self._text[stop:]

    def _emptied(self, parent: Collection, start: int, end: int) -> str:
        empty = "[]" if isinstance(parent, SequenceNode) else "{}"
        head = self._text[:start]
        before = head.rstrip()
        if before.endswith(":") and "#" not in head[line_start(head, len(before)) :]:
            return before + f" {empty}" + self._text[end:]
        return head + empty + self._text[end:]

    def _without_flow(self, parent: Collection, index: int) -> str:
        start, end = entry_span(self._text, parent, index)
        if index + 1 < len(parent.value):
            following = entry_span(self._text, parent, index + 1)[0]
            if "#" in self._text[end:following]:
                following = self._text.index(",", end) + 1
            return self._text[:start] + self._text[following:]
        if index:
            return self._text[: entry_span(self._text, parent, index - 1)[1]] + self._text[end:]
        tail = self._text[end : parent.end_mark.index - 1]
        return self._text[:start] + tail.replace(",", "", 1) + self._text[parent.end_mark.index - 1 :]
