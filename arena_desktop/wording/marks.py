"""Marks in words: what re-scoring did, and how far the judge agrees with the person."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from engine.execution.rescore import Rescored


def _tr(text: str) -> str:
    return QCoreApplication.translate("Marks", text)


def _number(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count=formats.whole(count))


def _kept(kept: Mapping[str, int]) -> list[str]:
    told = {
        "judge": (
            _tr("One mark of the second AI stayed as it was: it was not asked again."),
            _tr("{count} marks of the second AI stayed as they were: it was not asked again."),
        ),
        "sandbox": (
            _tr("One mark for code stayed as it was: the sandbox is not installed."),
            _tr("{count} marks for code stayed as they were: the sandbox is not installed."),
        ),
        "embedding": (
            _tr("One mark by meaning stayed as it was: no connection for it is at hand."),
            _tr("{count} marks by meaning stayed as they were: no connection for it is at hand."),
        ),
        "own_code": (
            _tr("One mark of the project's own check stayed: it may not run without your yes."),
            _tr("{count} marks of the project's own checks stayed: they may not run without your yes."),
        ),
    }
    return [_number(count, *told[need]) for need, count in sorted(kept.items()) if count and need in told]


def _waiting(waiting: Mapping[str, int]) -> list[str]:
    count = sum(waiting.values())
    if not count:
        return []
    return [
        _number(
            count,
            _tr("One new mark is still to be made: what makes it is not at hand."),
            _tr("{count} new marks are still to be made: what makes them is not at hand."),
        )
    ]


def rescored_sentences(result: Rescored) -> tuple[str, ...]:
    """What re-scoring did, the result first and then what to know."""
    if result.changed:
        one, many = _tr("One of {answers} marks changed."), _tr("{changed} of {answers} marks changed.")
        first = (one if result.changed == 1 else many).format(
            changed=formats.whole(result.changed), answers=formats.whole(result.answers)
        )
    else:
        first = _number(
            result.answers,
            _tr("One answer was marked again, with the same mark."),
            _tr("{count} answers were marked again. No mark changed."),
        )
    sentences = [first, *_kept(result.kept), *_waiting(result.waiting)]
    if result.asked_otherwise:
        sentences.append(
            _number(
                len(result.asked_otherwise),
                _tr("One test asks something else now, so its answers keep their marks."),
                _tr("{count} tests ask something else now, so their answers keep their marks."),
            )
        )
    if result.gone:
        sentences.append(
            _number(
                len(result.gone),
                _tr("One test is no longer in the project. Its answers keep their marks."),
                _tr("{count} tests are no longer in the project. Their answers keep their marks."),
            )
        )
    return tuple(sentences)
