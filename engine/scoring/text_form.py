"""Forms of text that look the same made equal, before texts are compared."""

from __future__ import annotations

import re
import unicodedata

EDGE_MARKS = ".,;:!?\"'()[]*"

_WORD = re.compile(r"\S+")
_FOLDS: dict[int, str] = {
    **dict.fromkeys(map(ord, "\u2018\u2019\u201a\u201b\u2032\u02bc\u00b4"), "'"),
    **dict.fromkeys(map(ord, "\u201c\u201d\u201e\u201f\u2033\u00ab\u00bb"), '"'),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2212"), "-"),
    **dict.fromkeys((0xA0, *range(0x2000, 0x200B), 0x202F, 0x205F, 0x3000), " "),
    **dict.fromkeys(map(ord, "\u200b\u2060\ufeff\u00ad"), ""),
    **{0xFF01 + i: chr(0x21 + i) for i in range(0x5E)},
    0x2026: "...",
    0xFB00: "ff", 0xFB01: "fi", 0xFB02: "fl", 0xFB03: "ffi", 0xFB04: "ffl", 0xFB05: "st", 0xFB06: "st",
}  # fmt: skip


def fold(text: str) -> str:
    """Composed letters, plain quotes, hyphens and spaces, no ligatures, no invisible marks.

    Not compatibility normalisation: that would make `10²` equal to `102`.
    """
    if text.isascii():
        return text
    return unicodedata.normalize("NFC", text.translate(_FOLDS))


def _bare(word: str) -> str:
    """A word without the marks at its ends. The point of `.5` belongs to the number."""
    stripped = word.strip(EDGE_MARKS)
    if stripped[:1].isdigit():
        start = word.find(stripped)
        if start and word[start - 1] == ".":
            return "." + stripped
    return stripped


def normalise(
    text: str,
    *,
    case_sensitive: bool = False,
    strip_punctuation: bool = True,
    collapse_whitespace: bool = True,
) -> str:
    """The form in which texts are compared: folded, trimmed, and as the three switches say.

    A text of nothing but punctuation keeps it, so that `?` is not equal to `!`.
    """
    folded = fold(text).strip()
    if not case_sensitive:
        folded = folded.lower()
    if strip_punctuation:
        bare = _WORD.sub(lambda match: _bare(match[0]), folded).strip()
        folded = bare or folded
    return " ".join(folded.split()) if collapse_whitespace else folded


def first_difference(left: str, right: str) -> dict[str, object] | None:
    """Where two texts part, naming the characters so that invisible ones can be seen.

    Returns:
        `position` from 1 and the Unicode names, or None for equal texts.
    """
    if left == right:
        return None
    shared = next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), min(len(left), len(right))
    )
    return {
        "position": shared + 1,
        "answer": character_name(left[shared : shared + 1]),
        "reference": character_name(right[shared : shared + 1]),
    }


def character_name(char: str) -> str:
    """`U+00A0 NO-BREAK SPACE`, or words for the end of the text."""
    if not char:
        return "end of the text"
    return f"U+{ord(char):04X} {unicodedata.name(char, 'without a name')}"
