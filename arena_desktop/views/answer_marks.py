"""Which pieces of an answer are marked: what a good answer says, and what only this model says."""

from __future__ import annotations

import re
from collections.abc import Sequence

from arena_desktop.widgets.answer_view import MarkKind, TextMark
from engine.domain import Case

_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_WORD = re.compile(r"\w{4,}")
_SHORTEST = 2
_COMPARED = 20_000
_MARKS = 40
_SHARED = 0.34
_OWN_WORDS = 3


def expected_marks(text: str, case: Case) -> list[TextMark]:
    """Where the texts of the right answer stand, whatever their case."""
    marks: list[TextMark] = []
    low = text[:_COMPARED].casefold()
    if len(low) != len(text[:_COMPARED]):
        # Some letters fold to two: the places would not fit.
        return []
    for wanted in _accepted(case):
        start = low.find(wanted.casefold())
        while start >= 0 and len(marks) < _MARKS:
            marks.append(TextMark(start, start + len(wanted), MarkKind.EXPECTED))
            start = low.find(wanted.casefold(), start + len(wanted))
    return marks


def _accepted(case: Case) -> list[str]:
    reference = case.reference
    if isinstance(reference, str):
        return [reference] if len(reference.strip()) >= _SHORTEST else []
    if isinstance(reference, Sequence):
        return [item for item in reference if isinstance(item, str) and len(item.strip()) >= _SHORTEST]
    return []


def only_here_marks(text: str, others: Sequence[str]) -> list[TextMark]:
    """The sentences of which hardly a word stands in any other answer."""
    others = [other for other in others if other.strip()]
    if not others:
        return []
    elsewhere = {word for other in others for word in _words(other)}
    sentences = list(_SENTENCE.finditer(text[:_COMPARED]))
    if len(sentences) < _SHORTEST:
        return []
    marks = []
    for found in sentences:
        own = _words(found.group())
        if len(own) >= _OWN_WORDS and len(own & elsewhere) <= _SHARED * len(own):
            start = found.start() + len(found.group()) - len(found.group().lstrip())
            marks.append(TextMark(start, found.end(), MarkKind.ONLY_HERE))
    return marks[:_MARKS]


def _words(text: str) -> set[str]:
    return {word.casefold() for word in _WORD.findall(text[:_COMPARED])}
