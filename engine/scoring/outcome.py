"""What became of an answer, seen with the eyes of the checks that mark it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from engine.domain import Answer, CheckSpec, Outcome
from engine.scoring.answer_text import is_blank, visible_answer
from engine.scoring.options import COMMON, read_options
from engine.scoring.registry import CHECKS, canonical_check

_NO_OPTIONS: Mapping[str, Mapping[str, Any]] = {}
(_KEEP,) = COMMON


def keeps_reasoning(spec: CheckSpec, project: Mapping[str, Mapping[str, Any]] = _NO_OPTIONS) -> bool:
    """Whether reasoning at the start is part of the answer for a check, by its own option or by the
    project's `scorers.options`."""
    name = canonical_check(spec.type)
    if name is None:
        return {**project.get(spec.type, {}), **spec.options}.get(_KEEP.name) is True
    return bool(read_options(CHECKS[name], spec.options, project)[0][_KEEP.name])


def final_outcome(
    answer: Answer, checks: Iterable[CheckSpec] = (), project: Mapping[str, Mapping[str, Any]] = _NO_OPTIONS
) -> Outcome:
    """The outcome to record: an answer that holds only reasoning is empty.

    Args:
        answer: What came back.
        checks: The checks of the case; when every one keeps reasoning, reasoning is an answer.
        project: The project's `scorers.options`.
    """
    if answer.outcome not in (Outcome.COMPLETE, Outcome.LENGTH):
        return answer.outcome
    if not is_blank(visible_answer(answer.text)):
        return answer.outcome
    checks = tuple(checks)
    kept = bool(checks) and all(keeps_reasoning(check, project) for check in checks)
    return Outcome.EMPTY if not kept or is_blank(answer.text) else answer.outcome
