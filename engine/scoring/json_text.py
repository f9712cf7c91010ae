"""JSON found in an answer, strictly read, in bounded time whatever the answer is.

The whole answer goes first, then fences marked `json` or not marked, then the prose. A
structure that is not closed is never replaced by a complete part inside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from engine.scoring.fences import Fence, fenced_blocks

MAX_DEPTH = 100
MAX_TEXT = 4_000_000
_MAX_STEPS = 1_500_000
_MAX_FOUND = 50

_STRUCTURE = re.compile(r'["{}\[\]]')
_OPEN = re.compile(r"[{\[]")
_STRING_END = re.compile(r'["\\]')
_LOOKS_LIKE_JSON = re.compile(r'\{\s*(?:"|\}|\Z)|\[\s*(?:["\[{\]\d-]|true|false|null|\Z)')


class JsonFault(Exception):  # noqa: N818 - a fault of the text, in the words of the house
    """Text that is not JSON. `line` and `column` count from 1 within the answer."""

    def __init__(self, code: str, message: str, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column

    def __str__(self) -> str:
        return (
            self.message if self.line is None else f"{self.message} (line {self.line}, column {self.column})"
        )


class _WordFault(Exception):  # noqa: N818 - turned into a JsonFault with its place
    """A fault that the reader names by the word it is at, not by a position."""

    def __init__(self, code: str, message: str, word: str, occurrence: int) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.word = word
        self.occurrence = occurrence


@dataclass(frozen=True, slots=True)
class FoundJson:
    """A JSON value and where it stood: whole, fence or prose."""

    value: Any
    text: str
    where: str


def parse(text: str, *, lenient: bool = False) -> Any:
    """One JSON document and nothing else, as RFC 8259 has it; duplicate keys are a fault.

    Args:
        text: The document; white space and a byte-order mark around it do not count.
        lenient: NaN, Infinity and trailing commas are read as well.

    Raises:
        JsonFault: With the place.
    """
    stripped = text.strip().strip("\ufeff").strip()
    if not stripped:
        raise JsonFault("json_missing", "There is no JSON in the answer")
    offset = text.index(stripped[:1])
    if len(stripped) > MAX_TEXT:
        raise JsonFault("json_too_long", f"The answer is longer than {MAX_TEXT:,} characters")
    too_deep = _depth_fault(stripped)
    if too_deep:
        raise too_deep
    source = _without_trailing_commas(stripped) if lenient else stripped
    try:
        return json.loads(
            source,
            object_pairs_hook=_unique,
            parse_constant=_constant if lenient else _no_constant,
            parse_int=_integer,
            parse_float=_float,
        )
    except json.JSONDecodeError as error:
        if stripped[0] in "{[" and _close(stripped, 0, _MAX_STEPS)[0] == -1:
            raise _placed("json_truncated", "The JSON breaks off", text, offset + len(stripped)) from error
        raise _placed("json_bad", f"The JSON is not valid: {error.msg}", text, offset + error.pos) from error
    except _WordFault as fault:
        raise _with_place(fault, text) from fault
    except (RecursionError, ValueError, MemoryError) as error:
        raise JsonFault("json_bad", "The JSON cannot be read") from error


def find_all(text: str, *, lenient: bool = False) -> list[FoundJson]:
    """Every JSON value at the top level of an answer, at most 50.

    Raises:
        JsonFault: There is none, or the structure that should be the answer breaks off.
    """
    try:
        return [FoundJson(parse(text, lenient=lenient), text.strip(), "whole")]
    except JsonFault as fault:
        first = fault
    if first.code in ("json_too_deep", "json_too_long"):
        raise first
    start = len(text) - len(text.lstrip("\ufeff \t\r\n"))
    if first.code != "json_bad" and _LOOKS_LIKE_JSON.match(text, start):
        raise first
    found, broken = _in_fences(text, lenient)
    if found:
        return found
    if broken is not None:
        raise broken
    return _in_prose(text, lenient, first)


def choose(found: Sequence[FoundJson], like: Any = None) -> FoundJson:
    """The value that is the answer: the first of the same kind as `like`, else the first object."""
    kind = list if isinstance(like, list) else dict
    for wanted in (kind, dict, list):
        for item in found:
            if isinstance(item.value, wanted):
                return item
    return found[0]


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise _WordFault("json_duplicate_key", f'The key "{key[:60]}" is there twice', f'"{key}"', 2)
            seen.add(key)
    return values


def _no_constant(name: str) -> Any:
    raise _WordFault("json_constant", f"{name} is not JSON", name, 1)


def _constant(name: str) -> float:
    return float(name.replace("Infinity", "inf"))


def _integer(text: str) -> int | Decimal:
    return int(text) if len(text) <= 300 else Decimal(text)


def _float(text: str) -> float | Decimal:
    value = float(text)
    return value if abs(value) != float("inf") else Decimal(text)


def _placed(code: str, message: str, text: str, position: int) -> JsonFault:
    line = text.count("\n", 0, position) + 1
    return JsonFault(code, message, line, position - text.rfind("\n", 0, position))


def _with_place(fault: _WordFault, text: str) -> JsonFault:
    """The fault at the place where its word stands; without a place where it is written otherwise."""
    position = -1
    for _ in range(fault.occurrence):
        position = text.find(fault.word, position + 1)
        if position < 0:
            return JsonFault(fault.code, fault.message)
    return _placed(fault.code, fault.message, text, position)


def _tokens(text: str, start: int) -> Iterator[tuple[str, int]]:
    """Brackets outside strings, from `start` on; ("", end) where a string never ends."""
    position = start
    while match := _STRUCTURE.search(text, position):
        position = match.end()
        if match[0] != '"':
            yield match[0], match.start()
            continue
        while True:
            mark = _STRING_END.search(text, position)
            if mark is None:
                yield "", len(text)
                return
            position = mark.end() + (mark[0] == "\\")
            if mark[0] == '"':
                break


def _depth_fault(text: str) -> JsonFault | None:
    """The fault of a text nested deeper than 100, found without recursion."""
    if text.count("{") + text.count("[") <= MAX_DEPTH:
        return None
    depth = 0
    for char, position in _tokens(text, 0):
        depth += 1 if char in ("{", "[") else -1
        if depth > MAX_DEPTH and char:
            return _placed(
                "json_too_deep", f"The JSON is nested deeper than {MAX_DEPTH} levels", text, position
            )
    return None


def _without_trailing_commas(text: str) -> str:
    """The text without a comma before a closing bracket, where something stands before the comma."""
    pieces: list[str] = []
    done, gap, previous = 0, 0, ""
    for char, position in _tokens(text, 0):
        if char in ("}", "]"):
            head = text[gap:position].rstrip()
            before = head[:-1].rstrip()[-1:] or previous
            if head.endswith(",") and before not in ("", ",", ":", "{", "["):
                pieces.append(text[done : gap + len(head) - 1])
                done = position
        gap, previous = position + 1, char
    return "".join([*pieces, text[done:]])


def _fenced(text: str) -> Iterator[Fence]:
    """The fences that may hold the JSON: marked json, or not marked and closed."""
    for fence in fenced_blocks(text):
        if fence.language in ("json", "jsonc", "json5") or (fence.closed and not fence.language):
            yield fence


def _in_fences(text: str, lenient: bool) -> tuple[list[FoundJson], JsonFault | None]:
    """The values in fences, and the first fault of a fence that says it is JSON."""
    found: list[FoundJson] = []
    first: JsonFault | None = None
    for fence in _fenced(text):
        if len(found) >= _MAX_FOUND:
            break
        try:
            found.append(FoundJson(parse(fence.body, lenient=lenient), fence.body.strip(), "fence"))
        except JsonFault as fault:
            if first is None and (fence.body.lstrip()[:1] in ("{", "[") or not fence.closed):
                first = _moved(fault, text, fence.start)
    return found, first


def _moved(fault: JsonFault, text: str, start: int) -> JsonFault:
    if fault.line is None:
        return fault
    return JsonFault(fault.code, fault.message, fault.line + text.count("\n", 0, start), fault.column)


def _in_prose(text: str, lenient: bool, first: JsonFault) -> list[FoundJson]:
    """The structures of a text that read as JSON.

    Raises:
        JsonFault: There is none, or one that looks like JSON never closes.
    """
    found, faults = structures(text, lenient=lenient)
    for fault in faults:
        if fault.code in ("json_truncated", "json_too_deep"):
            raise fault
    if found:
        return found
    if faults:
        raise faults[0]
    missing = JsonFault("json_missing", "There is no JSON in the answer")
    raise first if first.code != "json_bad" else missing


def structures(text: str, *, lenient: bool = False) -> tuple[list[FoundJson], list[JsonFault]]:
    """Every balanced structure of a text in order, fences or not, and the faults of those that
    look like JSON and are none. Brackets of prose are passed over; one that looks like JSON and
    never closes ends the search."""
    found: list[FoundJson] = []
    faults: list[JsonFault] = []
    position, steps = 0, 0
    while len(found) < _MAX_FOUND and steps < _MAX_STEPS and (match := _OPEN.search(text, position)):
        start = match.start()
        end, used = _close(text, start, _MAX_STEPS - steps)
        steps += used
        likely = _LOOKS_LIKE_JSON.match(text, start) is not None
        if likely and end < 0:
            faults.append(_unclosed(text, start, end))
            break
        if likely:
            steps += 20
            try:
                found.append(FoundJson(parse(text[start:end], lenient=lenient), text[start:end], "prose"))
            except JsonFault as error:
                faults.append(_moved(error, text, start))
        position = end if end > 0 else start + 1
    return found, faults


def _unclosed(text: str, start: int, end: int) -> JsonFault:
    if end == -2:
        return _placed("json_too_deep", f"The JSON is nested deeper than {MAX_DEPTH} levels", text, start)
    return _placed("json_truncated", "The JSON breaks off", text, len(text))


def _close(text: str, start: int, allowed: int) -> tuple[int, int]:
    """Where the structure at `start` ends: -1 = never, -2 = nested too deeply; and the steps used."""
    depth = steps = 0
    for char, position in _tokens(text, start):
        steps += 1
        depth += 1 if char in ("{", "[") else -1
        if not char or steps > allowed:
            break
        if depth == 0:
            return position + 1, steps
        if depth > MAX_DEPTH:
            return -2, steps
    return -1, steps + (len(text) - start) // 50
