"""What a check sees of an answer: the text without the reasoning that a model wrote first."""

from __future__ import annotations

import re

_OPEN = re.compile(r"[\s\ufeff]*<(think|thinking)>", re.IGNORECASE)
_CLOSE = {
    "think": re.compile(r"</think>", re.IGNORECASE),
    "thinking": re.compile(r"</thinking>", re.IGNORECASE),
}
# Chat templates that write the opening mark into the prompt leave only the closing one.
_ORPHAN = re.compile(r"^[ \t]*</think>[ \t]*$", re.IGNORECASE | re.MULTILINE)
_VISIBLE = re.compile(r"[^\s\u00ad\u200b-\u200d\u2060\ufeff]")
_ANY_OPEN = re.compile(r"<think>", re.IGNORECASE)


def visible_answer(text: str, keep_reasoning: bool = False) -> str:
    """The answer without reasoning at its start; the text itself when reasoning is kept.

    Only blocks at the very start go; a block that never ends takes everything after it. A
    closing mark alone on its line, with no opening one before it, ends reasoning as well.
    The rest is returned without the white space that stood after the block.
    """
    if keep_reasoning:
        return text
    position = 0
    while opened := _OPEN.match(text, position):
        closed = _CLOSE[opened[1].lower()].search(text, opened.end())
        if closed is None:
            return ""
        position = closed.end()
    if not position and (orphan := _ORPHAN.search(text)) and not _ANY_OPEN.search(text, 0, orphan.start()):
        position = orphan.end()
    return text[position:].lstrip() if position else text


def is_blank(text: str) -> bool:
    """Whether nothing can be seen: white space and invisible marks only."""
    return _VISIBLE.search(text) is None
