"""Placeholders in a judge's instructions, by the rules of prompt templates."""

from __future__ import annotations

import re
from collections.abc import Mapping

from engine.domain import Case
from engine.scoring.base import as_text

# `{{{{` first: it is the way to write a literal `{{`.
_PLACE = re.compile(r"\{\{\{\{|\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}")

ANSWER_NAMES = ("answer", "output", "candidate")
_REFERENCE_NAMES = ("reference", "expected")
_TASK_NAMES = ("input", "question", "task")


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with `{{name}}` replaced, values taken literally; `{{{{` is a plain `{{`.

    A name without a value stays as it is written: `unknown_names` finds it before anything runs.
    """

    def value(match: re.Match[str]) -> str:
        if match[1] is None:
            return "{{"
        found = _find(match[1], values)
        return match[0] if found is None else values[found]

    return _PLACE.sub(value, template)


def names(template: str) -> tuple[str, ...]:
    """The placeholder names of a template in order, each once."""
    return tuple(dict.fromkeys(match[1] for match in _PLACE.finditer(template) if match[1] is not None))


def asks_for_answer(template: str) -> bool:
    """Whether a template has a place for the answer."""
    return any(name.casefold() in ANSWER_NAMES for name in names(template))


def unknown_names(template: str, case: Case) -> tuple[str, ...]:
    """Placeholders that nothing fills for this case."""
    known = dict.fromkeys((*ANSWER_NAMES, *_REFERENCE_NAMES, *_TASK_NAMES, "rubric", *case.vars), "")
    return tuple(name for name in names(template) if _find(name, known) is None)


def case_values(case: Case, task: str, reference: str | None) -> dict[str, str]:
    """What the placeholders about the case stand for. The case's own names go first."""
    values = dict.fromkeys(_TASK_NAMES, task) | dict.fromkeys(_REFERENCE_NAMES, reference or "")
    return values | {name: as_text(value) for name, value in case.vars.items()}


def _find(name: str, values: Mapping[str, str]) -> str | None:
    """The key a name means: as written, else the only one that differs in capitals alone."""
    if name in values:
        return name
    matches = [key for key in values if key.strip().casefold() == name.casefold()]
    return matches[0] if len(matches) == 1 else None
