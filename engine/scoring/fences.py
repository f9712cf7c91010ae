"""Fenced blocks of an answer, as CommonMark has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_MAX_FENCES = 400
_FENCE = re.compile(r"^[ \t]{0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Fence:
    """One block. `start` is where its body begins in the answer; `closed` False = cut off."""

    language: str
    body: str
    start: int
    closed: bool = True


def fenced_blocks(text: str) -> Iterator[Fence]:
    """The blocks of a text in order, at most 200.

    A fence is closed by one of the same character at least as long, with nothing behind it.
    """
    opened: re.Match[str] | None = None
    for count, match in enumerate(_FENCE.finditer(text)):
        if count >= _MAX_FENCES:
            return
        if opened is None:
            opened = match
        elif match[1][0] == opened[1][0] and len(match[1]) >= len(opened[1]) and not match[2].strip():
            yield Fence(_language(opened), text[opened.end() + 1 : match.start()], opened.end() + 1)
            opened = None
    if opened is not None:
        yield Fence(_language(opened), text[opened.end() + 1 :], opened.end() + 1, closed=False)


def _language(fence: re.Match[str]) -> str:
    return (fence[2].split() or [""])[0].lower()
