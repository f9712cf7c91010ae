"""JSON as the same tree with marks that YAML gives, so that both have one loader.

Strings are read by the standard library's scanner; only the structure is walked here. Where a
node stands is kept as an offset: its line is looked up when somebody asks, which of thousands of
test cases nobody does.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Callable
from json import decoder
from typing import Any

from yaml.error import Mark
from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.values import MAP, PLAIN, SEQ, STR

MAX_DEPTH = 100
# Typeshed does not list it; the standard library documents it for decoders of one's own.
_scan_string: Callable[[str, int, bool], tuple[str, int]] = vars(decoder)["scanstring"]
_SPACE = re.compile(r"[ \t\r\n]*")
_PLAIN = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORD = re.compile(r"[^\s,\]}:]*")


class TooDeepError(Exception):
    """Nested deeper than any project file needs."""


class BadJsonError(Exception):
    """The text is not JSON; line and column count from 1."""

    def __init__(self, message: str, fix: str, line: int, column: int) -> None:
        super().__init__(message)
        self.message, self.fix, self.line, self.column = message, fix, line, column


class _Lines:
    """Where the lines of a text begin."""

    __slots__ = ("_breaks", "_first")

    def __init__(self, text: str, first_line: int) -> None:
        self._first = first_line
        self._breaks = [0] + [match.end() for match in re.finditer("\n", text)]

    def mark(self, at: int) -> Mark:
        line = bisect_right(self._breaks, at) - 1
        return Mark("", at, line + self._first, at - self._breaks[line], "", 0)


class _Placed:
    """A node that knows offsets; `start_mark` and `end_mark` are made when they are read, never written."""

    __slots__ = ()
    _lines: _Lines
    _start: int
    _end: int

    @property
    def start_mark(self) -> Mark:
        return self._lines.mark(self._start)

    @property
    def end_mark(self) -> Mark:
        return self._lines.mark(self._end)


_SLOTS = ("_end", "_lines", "_start", "tag", "value")


class JsonScalar(_Placed, ScalarNode):  # type: ignore[override]
    """A text, or a word such as `true` or `1.50` as it is written."""

    __slots__ = (*_SLOTS, "style")

    def __init__(self, tag: str, value: str, lines: _Lines, start: int, end: int, style: str) -> None:
        self.tag, self.value, self.style = tag, value, style
        self._lines, self._start, self._end = lines, start, end


class _Collection(_Placed):
    tag: str
    value: list[Any]
    flow_style = True

    def __init__(self, tag: str, value: list[Any], lines: _Lines, start: int, end: int) -> None:
        self.tag, self.value = tag, value
        self._lines, self._start, self._end = lines, start, end


class JsonSequence(_Collection, SequenceNode):  # type: ignore[override]
    """A list."""

    __slots__ = _SLOTS


class JsonMapping(_Collection, MappingNode):  # type: ignore[override]
    """An object: pairs of nodes in their order, twins included."""

    __slots__ = _SLOTS


def compose(text: str, first_line: int = 0) -> Node | None:
    """The tree of one JSON text; None where it is blank.

    `first_line` is added to every line, for texts that are a part of a file.

    Raises:
        BadJsonError: with the place of the first fault.
        TooDeepError: nested deeper than 100.
    """
    walker = _Walker(text, first_line)
    start = walker.skip(0)
    if start == len(text):
        return None
    node, end = walker.value(start, 0)
    end = walker.skip(end)
    if end != len(text):
        raise walker.fault(
            end, "There is more text after the end of the data.", "Remove it, or wrap all in one list."
        )
    return node


# One of a pair of escapes; no file and no request can hold it alone.
_HALF = re.compile("[\ud800-\udfff]")


class _Walker:
    def __init__(self, text: str, first_line: int) -> None:
        self._text = text
        self._lines = _Lines(text, first_line)

    def skip(self, at: int) -> int:
        if self._text[at : at + 1] not in " \t\r\n":
            return at
        match = _SPACE.match(self._text, at)
        return match.end() if match else at

    def fault(self, at: int, message: str, fix: str) -> BadJsonError:
        mark = self._lines.mark(min(at, len(self._text)))
        return BadJsonError(message, fix, mark.line + 1, mark.column + 1)

    def value(self, at: int, depth: int) -> tuple[Node, int]:
        if depth > MAX_DEPTH:
            raise TooDeepError
        first = self._text[at : at + 1]
        if first == "{":
            return self._object(at, depth)
        if first == "[":
            return self._array(at, depth)
        if first == '"':
            return self._string(at)
        return self._plain(at)

    def _string(self, at: int) -> tuple[JsonScalar, int]:
        try:
            value, end = _scan_string(self._text, at + 1, True)
        except json.JSONDecodeError as error:
            if "control character" in error.msg:
                raise self.fault(
                    error.pos, "A text in quotes contains a line break or Tab.", "Write \\n or \\t instead."
                ) from None
            if "Unterminated" in error.msg:
                raise self.fault(
                    at, "A quote that is opened here is never closed.", "Close the quote."
                ) from None
            raise self.fault(
                error.pos, "A backslash starts an escape that does not exist.", "Write the backslash twice."
            ) from None
        if not value.isascii() and _HALF.search(value):
            raise self.fault(
                at, "A text holds half a character, written as an escape.", "Write the character itself."
            )
        return JsonScalar(STR, value, self._lines, at, end, '"'), end

    def _plain(self, at: int) -> tuple[JsonScalar, int]:
        word = _WORD.match(self._text, at)
        match = _PLAIN.match(self._text, at)
        if match is None or word is None or match.end() != word.end():
            raise self._bad_value(at, word.group() if word else "")
        return JsonScalar(PLAIN, match.group(), self._lines, at, match.end(), ""), match.end()

    def _bad_value(self, at: int, word: str) -> BadJsonError:
        if at >= len(self._text):
            return self.fault(
                at, "The text ends in the middle of the data.", "Close all brackets and quotes."
            )
        if self._text[at] in "]},":
            return self.fault(at, "A value is missing before this character.", "Remove the comma too many.")
        if self._text[at] == "'":
            return self.fault(at, "JSON texts are in double quotes.", 'Replace the single quotes by ".')
        shown = word[:20]
        return self.fault(at, f"`{shown}` is not a JSON value.", 'Texts need double quotes: "…".')

    def _array(self, at: int, depth: int) -> tuple[JsonSequence, int]:
        start, items = at, list[Node]()
        at = self.skip(at + 1)
        if self._text[at : at + 1] != "]":
            while True:
                item, at = self.value(at, depth + 1)
                items.append(item)
                at = self.skip(at)
                if self._text[at : at + 1] != ",":
                    break
                at = self.skip(at + 1)
            self._expect(at, "]")
        return JsonSequence(SEQ, items, self._lines, start, at + 1), at + 1

    def _object(self, at: int, depth: int) -> tuple[JsonMapping, int]:
        start, entries = at, list[tuple[Node, Node]]()
        at = self.skip(at + 1)
        if self._text[at : at + 1] != "}":
            while True:
                if self._text[at : at + 1] != '"':
                    raise self.fault(
                        at,
                        "A name in double quotes is expected here.",
                        "Check the comma before it and the quotes.",
                    )
                key, at = self._string(at)
                at = self.skip(at)
                self._expect(at, ":")
                value, at = self.value(self.skip(at + 1), depth + 1)
                entries.append((key, value))
                at = self.skip(at)
                if self._text[at : at + 1] != ",":
                    break
                at = self.skip(at + 1)
            self._expect(at, "}")
        return JsonMapping(MAP, entries, self._lines, start, at + 1), at + 1

    def _expect(self, at: int, wanted: str) -> None:
        if self._text[at : at + 1] != wanted:
            if at >= len(self._text):
                raise self.fault(at, f"The text ends before the closing `{wanted}`.", "Close all brackets.")
            what = "A colon" if wanted == ":" else f"`{wanted}` or a comma"
            raise self.fault(at, f"{what} is expected here.", "Check the quotes and commas before it.")
