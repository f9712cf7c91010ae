"""Scorers that a project brings along: the names its files build on, and how one is run.

A file in `scorers/` holds a subclass of `Scorer`, a function under `@scorer("name")`, or a
mapping `SCORERS` from names to either. Runs only in a project the user trusts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from engine.domain import Case, Outcome
from engine.scoring.base import CheckFault, CheckInput, Finding
from engine.scoring.seams import JudgeRequest

_PASS_MARK = 0.5
ASKED = "asked_judge"
"""Where a result says how often the scorer asked the project's judge: such a mark was paid for."""
CODE = "code"
"""Where such a result keeps the digest of the file that made it."""


@dataclass
class ScoreResult:
    """What a scorer of a project returns. A missing `passed` is a score of at least one half."""

    score: float
    passed: bool | None = None
    reason: str = ""
    detail: dict[str, Any] = field(default_factory=dict)
    metrics: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ScorerContext:
    """What a scorer of a project may look at. `judge(prompt, system=None)` gives the reply's text."""

    test_case: Case
    model_key: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    judge: Callable[..., str] | None = None
    project_root: Path | None = None

    @property
    def params(self) -> dict[str, Any]:
        """The options of the check, those of the test case on top."""
        return dict(self.options)


class Scorer:
    """Base of a scorer class: give it a `name` and a `score` method."""

    name: str = ""
    requires_reference: bool = True
    description: str = ""

    def __init__(self, **options: Any) -> None:
        self.options = options

    def score(self, output: str, reference: Any, context: ScorerContext) -> Any:
        """Marks one answer: a ScoreResult, a number within 0..1, or true and false."""
        raise TypeError(f"the scorer {self.name or type(self).__name__!r} has no method `score`")


def scorer(name: str, requires_reference: bool = True) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Marks a function `(output, reference, context)` as the scorer of that name."""

    def mark(function: Callable[..., Any]) -> Callable[..., Any]:
        function.__dict__["_arena_scorer_name"] = name
        function.__dict__["_arena_requires_reference"] = requires_reference
        return function

    return mark


@dataclass(frozen=True, slots=True)
class CustomScorer:
    """One scorer found in a project: `run(output, reference, context)`. `code` is a digest of its file."""

    name: str
    run: Callable[[str, Any, ScorerContext], Any]
    requires_reference: bool
    file: str
    code: str = ""


def run_custom(found: CustomScorer, given: CheckInput) -> Finding:
    """What a project's scorer says.

    Raises:
        CheckFault: It raised, or gave back something that is no mark; its name is in the reason.
    """
    questions: list[JudgeRequest] = []
    context = ScorerContext(
        given.case, given.context.model_key, given.options, _judge(given, questions), given.context.root
    )
    try:
        result = found.run(given.text, given.reference, context)
    except CheckFault:
        raise
    except (Exception, SystemExit) as error:
        kind = type(error).__name__
        raise CheckFault(
            "scorer_raised", f"The scorer `{found.name}` ({found.file}) failed: {kind}: {error}", error=kind
        ) from error
    finding = _finding(found, result)
    if not questions:
        return finding
    return replace(finding, detail={**finding.detail, ASKED: len(questions), CODE: found.code})


def _finding(found: CustomScorer, result: Any) -> Finding:
    values = _as_mapping(result)
    score = values.get("score")
    if isinstance(score, (bool, int, float)):
        number = _real(score)
    else:
        raise CheckFault("scorer_result", f"The scorer `{found.name}` ({found.file}) gave back no score.")
    if not math.isfinite(number):
        raise CheckFault(
            "scorer_result", f"The scorer `{found.name}` ({found.file}) gave {number} as its score."
        )
    number = min(1.0, max(0.0, number))
    given = values.get("passed")
    passed = bool(given) if given is not None else number >= _PASS_MARK
    reason = str(values.get("reason") or "").strip().rstrip(".")
    fact = reason or f"The scorer `{found.name}` gave {number:.2f}"
    metrics = values.get("metrics")
    return Finding(
        score=number,
        passed=passed,
        fact=fact,
        code="scorer_passed" if passed else "scorer_not_passed",
        detail=dict(values.get("detail") or {}) | {"scorer": found.name, "file": found.file},
        metrics=_numbers(metrics if isinstance(metrics, Mapping) else {}),
    )


def _as_mapping(result: Any) -> Mapping[str, Any]:
    """A result in any of the forms people reach for, by its fields."""
    if isinstance(result, Mapping):
        return result
    if isinstance(result, bool):
        return {"score": float(result), "passed": result}
    if isinstance(result, (int, float)):
        return {"score": result}
    return {name: getattr(result, name, None) for name in ("score", "passed", "reason", "detail", "metrics")}


def _numbers(metrics: Mapping[Any, Any]) -> dict[str, float]:
    return {
        str(name): _real(value)
        for name, value in metrics.items()
        if isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(_real(value))
    }


def _real(value: float) -> float:
    """The number as a float; one that no float can hold is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def _judge(given: CheckInput, questions: list[JudgeRequest]) -> Callable[..., str] | None:
    """The project's judge as the plain call that scorers know; notes what it was asked."""
    ask, settings = given.context.judge, given.context.judge_settings
    if ask is None:
        return None

    def judge(prompt: str, system: str | None = None) -> str:
        temperature = settings.temperature or 0.0
        question = JudgeRequest(
            prompt, system or settings.system or "", settings.max_tokens, temperature, purpose="own"
        )
        questions.append(question)
        reply = ask(question)
        if reply.error is not None or reply.outcome not in (Outcome.COMPLETE, Outcome.LENGTH):
            what = reply.error.message if reply.error is not None else reply.outcome.value
            raise CheckFault("judge_failed", f"The judge could not be asked: {what}")
        return reply.text

    return judge
