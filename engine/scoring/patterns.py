"""Patterns of a project: compiled and searched with limits on size and time.

Uses the `regex` package, which lets other threads run and stops at a time limit; the standard
library's `re` does neither.
"""

from __future__ import annotations

import time
from typing import Any

from engine.scoring.base import CheckFault

LIMIT_S = 1.0
MAX_PATTERN = 10_000
# Counted repeats are written out when a pattern is compiled: 100 MB for each million.
MAX_EXPANSION = 50_000
_MAX_MATCHES = 10_000


class PatternError(ValueError):
    """A pattern that cannot be used. `position` counts from 1; None = the whole pattern."""

    def __init__(self, message: str, position: int | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.position = position


def compile_pattern(pattern: str, *, case_sensitive: bool = False, multiline: bool = False) -> Any:
    """The compiled pattern.

    Raises:
        PatternError: The pattern is not one, or would need too much memory.
    """
    import regex

    if len(pattern) > MAX_PATTERN:
        raise PatternError(f"it is {len(pattern)} characters long, more than {MAX_PATTERN}")
    if expansion(pattern) > MAX_EXPANSION:
        raise PatternError("its repeat counts multiply to more than can be searched")
    flags = (0 if case_sensitive else regex.IGNORECASE) | (regex.MULTILINE | regex.DOTALL if multiline else 0)
    try:
        return regex.compile(pattern, flags)
    except regex.error as error:
        raise PatternError(str(error.msg), None if error.pos is None else error.pos + 1) from error
    except RecursionError as error:
        raise PatternError("it is nested too deeply") from error
    except (MemoryError, OverflowError, ValueError, KeyError, IndexError, TypeError) as error:
        raise PatternError("it cannot be read as a pattern") from error


def matches(compiled: Any, text: str, *, only_first: bool = False) -> list[Any]:
    """All matches in order, at most 10,000, within one second in all.

    Raises:
        CheckFault: The search took too long.
    """
    end = time.monotonic() + LIMIT_S
    found: list[Any] = []
    position = 0
    try:
        while position <= len(text) and len(found) < _MAX_MATCHES:
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError
            match = compiled.search(text, position, timeout=left)
            if match is None:
                break
            found.append(match)
            if only_first:
                break
            position = match.end() + (match.end() == match.start())
    except (TimeoutError, MemoryError) as error:
        raise CheckFault(
            "pattern_too_slow",
            f"The pattern {compiled.pattern[:80]!r} took longer than 1 second. Write a simpler one.",
            pattern=compiled.pattern[:500],
        ) from error
    return found


def expansion(pattern: str) -> int:
    """About how many parts a pattern becomes when its counted repeats are written out."""
    sizes, last, index = [0], 1, 0
    while index < len(pattern):
        char = pattern[index]
        if char == "\\":
            index += 1
            last = 1
            sizes[-1] += 1
        elif char == "[":
            index = _class_end(pattern, index)
            last = 1
            sizes[-1] += 1
        elif char == "(":
            sizes.append(0)
        elif char == ")":
            last = sizes.pop() if len(sizes) > 1 else 1
            sizes[-1] += last
        elif char == "{" and (times := _repeat(pattern, index)):
            sizes[-1] += last * (times - 1)
            last *= times
            index = pattern.index("}", index)
        else:
            last = 1
            sizes[-1] += 1
        index += 1
    return sum(sizes)


def _class_end(pattern: str, start: int) -> int:
    """The index of the bracket that closes a character class."""
    index = start + 1
    if pattern[index : index + 1] == "^":
        index += 1
    index += 1  # a bracket in first place stands for itself
    while index < len(pattern) and pattern[index] != "]":
        index += 2 if pattern[index] == "\\" else 1
    return index


def _repeat(pattern: str, start: int) -> int:
    """The larger bound of a counted repeat, 0 where the brace is none."""
    end = pattern.find("}", start, start + 50)
    parts = pattern[start + 1 : end].split(",")
    if end < 0 or len(parts) > 2 or not all(part.strip() == "" or part.strip().isdecimal() for part in parts):
        return 0
    return max((int(part) for part in parts if part.strip()), default=0)
