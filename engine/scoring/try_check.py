"""One check tried on one answer, by the same code as a run: for the `score` verb and the editor."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.config.schema import MOST_WEIGHT
from engine.domain import Answer, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring.base import ScoringContext
from engine.scoring.registry import validate_check
from engine.scoring.score import run_check
from engine.scoring.seams import JudgeReply, JudgeRequest

_OWN = ("type", "weight", "must_pass", "not", "negate", "reference", "options", "params")


def check_from_json(data: Mapping[str, Any]) -> CheckSpec:
    """A check written as `{type, weight, must_pass, not, reference, …options}`.

    `options` or `params` may also stand as a map of their own.

    Raises:
        ValueError: A sentence about what is wrong with the object.
    """
    kind = data.get("type", data.get("eval_type"))
    if not isinstance(kind, str) or not kind.strip():
        raise ValueError('a check is an object with a "type", such as {"type": "contains"}')
    weight = data.get("weight", 1.0)
    if isinstance(weight, bool) or not isinstance(weight, (int, float)) or not 0 <= weight <= MOST_WEIGHT:
        raise ValueError(f"the weight of a check is a number of 0 or more, not {str(weight)[:40]}")
    flags = {name: data.get(name, False) for name in ("must_pass", "not", "negate")}
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise ValueError(f"`{name}` is true or false, not {value!r}")
    options: dict[str, Any] = {}
    for name in ("options", "params"):
        nested = data.get(name) or {}
        if not isinstance(nested, Mapping):
            raise ValueError(f"`{name}` is a map of options")
        options.update(nested)
    options.update({name: value for name, value in data.items() if name not in (*_OWN, "eval_type")})
    return CheckSpec(
        type=kind.strip(),
        options=options,
        weight=float(weight),
        must_pass=flags["must_pass"],
        negate=flags["not"] or flags["negate"],
        reference=data.get("reference"),
    )


def try_check(
    check_json: Mapping[str, Any],
    answer: str,
    reference: Any = None,
    judge_reply: str | None = None,
    *,
    root: Path | None = None,
    context: ScoringContext | None = None,
) -> CheckResult:
    """What a check says about an answer. Never raises.

    Args:
        check_json: The check as written in a test case.
        answer: The answer's text; an empty one is no answer.
        reference: The right answer; the check's own goes before it.
        judge_reply: Stands in for what a judge model would say, each time it is asked; a JSON list
            of texts is said one after the other.
        root: The project folder, for schema files and scorers.
        context: Settings of a project; None = none.
    """
    try:
        spec = check_from_json(check_json)
    except (ValueError, AttributeError) as error:
        return CheckResult(
            "", ScoreState.ERRORED, reason=f"The check cannot be used: {error}.", reason_code="check_bad"
        )
    base = context or ScoringContext(root=root)
    case = Case(id="try", reference=reference, checks=(spec,))
    if judge_reply is not None:
        base = replace(base, judge=_stand_in(judge_reply))
    for problem in validate_check(spec, case, base.options, base.root, base.judge_settings):
        if problem.severity == "error":
            reason = f"{problem.message} {problem.fix}".strip()
            # It repeats what was written, which may hold halves of characters.
            reason = reason.encode("utf-8", "replace").decode("utf-8")
            return CheckResult(spec.type, ScoreState.ERRORED, reason=reason, reason_code=problem.code)
    outcome = Outcome.COMPLETE if answer.strip() else Outcome.EMPTY
    return run_check(spec, Answer(answer, outcome, latency_ms=math.nan), case, base)


def _stand_in(text: str) -> Callable[[JudgeRequest], JudgeReply]:
    """A judge that says what it is given."""
    replies = [text]
    try:
        listed = json.loads(text)
    except (ValueError, RecursionError):
        listed = None
    if isinstance(listed, list) and listed and all(isinstance(item, str) for item in listed):
        replies = listed
    spoken = iter(replies)

    def ask(request: JudgeRequest) -> JudgeReply:
        reply = next(spoken, replies[-1])
        return JudgeReply(reply, Outcome.COMPLETE if reply.strip() else Outcome.EMPTY)

    return ask
