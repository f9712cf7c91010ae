"""The sentences of the Answers page."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.reasons import error_words
from engine.cases.identity import derived_id
from engine.domain import CallDone, CallStatus, Case, Outcome, ScoreState

_CHIP_LONGEST = 48
_TITLE = 48
_MADE_ID = re.compile(r"([0-9a-f]{12})(?:-\d+)?")


def _tr(text: str) -> str:
    return QCoreApplication.translate("Answers", text)


def question_of(case: Case) -> str:
    """What was asked: the input, or the turns of a conversation."""
    if case.messages is None:
        return case.input
    if len(case.messages) == 1:
        return case.messages[0].content
    roles = {"user": _tr("Asked"), "assistant": _tr("Answered"), "system": _tr("Instructions")}
    return "\n".join(f"{roles.get(m.role, m.role)}: {m.content}" for m in case.messages)


def title_of(case: Case) -> str:
    """The name of a test: its own, else its id, else how its question begins."""
    name = case.metadata.get("name")
    if isinstance(name, str) and name.strip():
        return name
    question = "" if is_named(case) else " ".join(question_of(case)[: 2 * _TITLE].split())
    if not question:
        return case.id
    return question if len(question) <= _TITLE else f"{question[:_TITLE]}…"


def is_named(case: Case) -> bool:
    """Whether somebody gave a test its id; one that the program made is twelve digits that say nothing."""
    made = _MADE_ID.fullmatch(case.id)
    return made is None or made[1] != derived_id(case)


def reference_of(case: Case) -> str:
    """What a good answer says; empty where the test does not tell."""
    reference = case.reference
    if reference is None:
        found = next((check.reference for check in case.checks if check.reference is not None), None)
        reference = found
    return "" if reference is None else _reference_text(reference)


def _reference_text(reference: Any) -> str:
    if isinstance(reference, str):
        return reference
    if isinstance(reference, Sequence) and all(isinstance(item, str) for item in reference):
        return _tr(" or ").join(reference)
    return json.dumps(reference, ensure_ascii=False, indent=2)


def no_reference() -> str:
    """Stands where a test has no right answer."""
    return _tr("The test does not say.")


def verdict_word(call: CallDone | None) -> tuple[str, str]:
    """The chip of an answer: word and kind (good, bad, warn, neutral)."""
    if call is None or call.status is CallStatus.STOPPED:
        return _tr("Not asked"), "neutral"
    if call.status is CallStatus.ERROR:
        return _tr("No answer"), "warn"
    score = call.score
    if score is None or score.state is ScoreState.UNSCORED:
        return _tr("Not marked"), "neutral"
    if score.state is ScoreState.ERRORED:
        return _tr("Could not be marked"), "warn"
    return (_tr("Pass"), "good") if score.passed else (_tr("Fail"), "bad")


def figures(call: CallDone | None) -> str:
    """Wait, cost and what else is worth a word, below the name of a model."""
    if call is None:
        return ""
    parts = []
    if call.answer is not None:
        parts.append(formats.waiting(call.answer.latency_ms))
        cost = call.answer.cost_usd
        parts.append(_tr("cost not known") if cost is None else formats.money(cost))
    if call.score is not None and call.score.score is not None and call.score.score not in (0.0, 1.0):
        parts.append(_tr("{score} of 100").format(score=formats.points(call.score.score)))
    if call.attempts > 1:
        parts.append(_tr("{count} tries").format(count=call.attempts))
    return "   ".join(parts)


def why(call: CallDone | None) -> str:
    """Why an answer got its mark, or why there is none."""
    if call is None:
        return _tr("It was not asked before the run ended.")
    if call.status is CallStatus.STOPPED:
        return _tr("It was stopped before it answered.")
    if call.status is CallStatus.ERROR:
        cause = call.error
        said = error_words(cause.kind, cause.status) if cause is not None else ""
        return f"{said} {_tr('It is not counted as wrong.')}".strip()
    extra = _outcome(call.outcome)
    reason = call.score.reason if call.score is not None else ""
    return f"{reason} {extra}".strip() or _tr("No reason was given.")


def _outcome(outcome: Outcome) -> str:
    words = {
        Outcome.LENGTH: _tr("The answer was cut off at its longest length."),
        Outcome.EMPTY: _tr("The answer was empty."),
        Outcome.REFUSED: _tr("The model refused to answer."),
        Outcome.BLOCKED: _tr("The service blocked the question."),
    }
    return words.get(outcome, "")


def shown_text(call: CallDone | None) -> str:
    """The answer itself; empty where there is none."""
    return call.answer.text if call is not None and call.answer is not None else ""


def marks_spoken(labels: Sequence[str], marks: Sequence[bool | None]) -> str:
    """The marks of a test for a screen reader: "Aster Large pass, Birch Mini fail"."""
    words = {True: _tr("pass"), False: _tr("fail"), None: _tr("no answer")}
    return ", ".join(f"{label} {words[mark]}" for label, mark in zip(labels, marks, strict=True))


def passed_of(marks: Sequence[bool | None]) -> str:
    """How many models passed a test, where there are too many for marks."""
    passed = sum(mark is True for mark in marks)
    return _tr("{passed} of {models} passed").format(passed=passed, models=len(marks))


def letter(number: int) -> str:
    """The name of a model while names are hidden."""
    return _tr("Answer {letter}").format(letter=chr(ord("A") + number) if number < 26 else str(number + 1))


def at_of(at: int, count: int) -> str:
    """Where the list stands: "3 of 7"."""
    if count == 0:
        return ""
    return _tr("{at} of {count}").format(at=formats.whole(at), count=formats.whole(count))


def copy_text(case: Case, answers: Sequence[tuple[str, CallDone | None]]) -> str:
    """Question, right answer and all answers as plain text."""
    blocks = [f"{_tr('Question')}\n{question_of(case)}"]
    reference = reference_of(case)
    if reference:
        blocks.append(f"{_tr('What a good answer says')}\n{reference}")
    for name, call in answers:
        mark, _kind = verdict_word(call)
        head = f"{name} ({mark})"
        blocks.append(f"{head}\n{shown_text(call) or why(call)}")
    return "\n\n".join(blocks)


def only_these(tests: int, title: str) -> str:
    """The chip over a list that shows only what another page spoke of."""
    shown = title if len(title) <= _CHIP_LONGEST else f"{title[: _CHIP_LONGEST - 1].rstrip()}…"
    count = _tr("This test") if tests == 1 else _tr("These {count} tests").format(count=formats.whole(tests))
    return _tr("{tests}: {title}").format(tests=count, title=shown)
