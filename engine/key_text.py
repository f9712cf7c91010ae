"""Keys as people paste them: what is trimmed, what is named as wrong, whose key it may be."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass

_INVISIBLE = "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"
_TRIMMED = f" \t\r\n\v\f\u00a0{_INVISIBLE}"
_VENDORS = (
    ("sk-ant-", "anthropic"),
    ("sk-or-", "openrouter"),
    ("gsk_", "groq"),
    ("AIza", "gemini"),
    ("sk-proj-", "openai"),
    ("sk-svcacct-", "openai"),
    ("sk-admin-", "openai"),
)


@dataclass(frozen=True, slots=True)
class PasteProblem:
    """Why a pasted text cannot be a key. `position` counts from 1 in the trimmed text, 0 = all of it.

    The sentence never shows the key.
    """

    code: str
    position: int
    sentence: str

    def __str__(self) -> str:
        return self.sentence


def clean_pasted_key(text: str) -> tuple[str, tuple[PasteProblem, ...]]:
    """The key without spaces, line breaks and invisible marks around it, and what is wrong inside.

    Nothing inside is changed or removed. No problems = the key can be sent.
    """
    key = text.strip(_TRIMMED)
    if not key:
        return "", (PasteProblem("empty", 0, "There is no key here. Paste it again."),)
    if re.match(r"(?:export\s+)?[A-Z][A-Z0-9_]{2,}\s*=", key):
        sentence = "This is a whole line of an environment file. Paste only what stands behind the = sign."
        return key, (PasteProblem("assignment", 1, sentence),)
    if key[0] in "\"'`" or key[-1] in "\"'`":
        return key, (PasteProblem("quoted", 1, "The key stands in quotation marks. Paste it without them."),)
    return key, tuple(
        PasteProblem(code, place, f"Character {place} of the key is {name}, which no key can hold.")
        for place, sign in enumerate(key, 1)
        for code, name in [_strange(sign)]
        if code
    )


def guess_vendor(key: str) -> str | None:
    """The kind of connection whose vendor makes keys that begin like this; None where unsure."""
    word = key.strip(_TRIMMED)
    for start, kind in _VENDORS:
        if word.startswith(start):
            return kind
    # The old form of OpenAI; other vendors use shorter ones that begin the same.
    return "openai" if re.fullmatch(r"sk-[A-Za-z0-9]{48}", word) else None


def _strange(sign: str) -> tuple[str, str]:
    """Code and words for a character that cannot be sent in a key; empty where it can."""
    if "!" <= sign <= "~":
        return "", ""
    if sign in "\r\n\v\f\u2028\u2029":
        return "line_break", "a line break"
    if sign in _INVISIBLE or unicodedata.category(sign) in ("Cc", "Cf", "Mn"):
        kind = "space" if sign in "\u200b\u2060\ufeff" else "character"
        return "invisible", f"an invisible {kind} (U+{ord(sign):04X})"
    if sign.isspace():
        return "space", "a space"
    name = unicodedata.name(sign, f"U+{ord(sign):04X}").lower()
    return "letter", f"“{sign}” ({name})"
