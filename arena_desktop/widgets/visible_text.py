"""Makes invisible characters of a model's answer visible, keeping track of where everything went.

Control, bidirectional and zero-width characters can hide or reorder text; they are written as names
like [U+202E]. Line breaks and tabs stay. Pure Python.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from dataclasses import dataclass

_KEPT = frozenset("\n\t")
# Joiners that ordinary writing needs: emoji sequences, Persian, Indic scripts.
_JOINERS = frozenset("\u200c\u200d")
_LINE_BREAKS = frozenset("\u2028\u2029\x85")


@dataclass(frozen=True, slots=True)
class VisibleText:
    """`text` to show; `named` are the ranges that stand for one hidden character each."""

    text: str
    named: tuple[tuple[int, int], ...]
    _at: tuple[int, ...]
    _shift: tuple[int, ...]

    def place(self, original: int) -> int:
        """Where the character at `original` of the source text stands in `text`."""
        step = bisect_right(self._at, original - 1)
        return original + (self._shift[step - 1] if step else 0)


def visible(text: str) -> VisibleText:
    """Writes every hidden character of `text` as its name. CR LF and single CR become line breaks."""
    parts: list[str] = []
    named: list[tuple[int, int]] = []
    at: list[int] = []
    shift: list[int] = []
    length = moved = 0
    for place, char in enumerate(text):
        shown = _shown(text, place, char)
        if len(shown) > 1:
            named.append((length, length + len(shown)))
        if len(shown) != 1:
            moved += len(shown) - 1
            at.append(place)
            shift.append(moved)
        parts.append(shown)
        length += len(shown)
    return VisibleText("".join(parts), tuple(named), tuple(at), tuple(shift))


def _shown(text: str, place: int, char: str) -> str:
    if char == "\r":
        return "" if text[place + 1 : place + 2] == "\n" else "\n"
    if (char.isascii() and char.isprintable()) or char in _KEPT:
        return char
    if char in _LINE_BREAKS:
        return "\n"
    if char in _JOINERS and _joins(text, place):
        return char
    # Cc control, Cf format (bidi, zero width), Cs lone surrogate, Co private use.
    if unicodedata.category(char) in ("Cc", "Cf", "Cs", "Co"):
        return f"[U+{ord(char):04X}]"
    return char


def _joins(text: str, place: int) -> bool:
    """A joiner between two characters beyond ASCII does its usual work; elsewhere it hides something."""
    before, after = text[place - 1 : place], text[place + 1 : place + 2]
    return bool(before and after) and not before.isascii() and not after.isascii()
