"""Text of projects and models made fit for terminals and reports, where it could do more than be read."""

from __future__ import annotations

import unicodedata

# Joiners that ordinary writing needs (emoji, Persian, Indic scripts) can neither steer nor reorder.
_KEPT = frozenset("\n\t\u200c\u200d")
_HIDDEN = frozenset(("Cc", "Cf", "Cs", "Co"))


def harmless(text: str) -> str:
    """Text that can do nothing but be read: what would steer a terminal or reorder a line (escape
    sequences, carriage returns, bidirectional marks) is written as its name, such as [U+001B]."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        char if char in _KEPT or unicodedata.category(char) not in _HIDDEN else f"[U+{ord(char):04X}]"
        for char in text.replace("\r\n", "\n")
    )


def plain_tip(text: str) -> str:
    """The text of a tooltip, which Qt reads as HTML where it looks like it: escaped, so that a name
    can neither format nor load anything."""
    if "<" not in text:
        return text
    return f'<span style="white-space: pre-wrap">{escaped(harmless(text))}</span>'


def escaped(text: str) -> str:
    """Text as it stands between tags and in attributes.

    The same as `html.escape`, whose module brings a table of 2,000 names along before the window
    can paint.
    """
    for char, name in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ('"', "&quot;"), ("'", "&#x27;")):
        text = text.replace(char, name)
    return text
