"""What a judge model replied, read by strict rules: a verdict, or the reason why there is none.

Nothing is guessed: no number from prose, no letter grade, nothing cut to the scale.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from engine.config.schema import Criterion
from engine.scoring.answer_text import visible_answer
from engine.scoring.base import CheckFault, quoted
from engine.scoring.json_text import JsonFault, parse, structures

_MAX_REPLY = 200_000
_DECLINED = re.compile(
    r"\W*(?:i'?m sorry|i am sorry|sorry|i can'?t|i can ?not|i'?m unable|i am unable|i won'?t|as an ai)\b",
    re.IGNORECASE,
)
_SHARE = re.compile(
    r"(?<![\w./-])(\d{1,9}(?:\.\d{1,9})?)\s{0,2}/\s{0,2}(\d{1,9}(?:\.\d{1,9})?)(?![\w/]|\.\d)"
)
_SHARE_LINE = re.compile(
    r"^[\s*_#>-]{0,20}(?:(?:final|overall|total)\s{1,3})?(?:score|rating|mark|grade|verdict)?[\s*_:=]{0,20}"
    r"(\d{1,9}(?:\.\d{1,9})?\s{0,2}/\s{0,2}\d{1,9}(?:\.\d{1,9})?)[\s*_.]{0,20}$",
    re.IGNORECASE | re.MULTILINE,
)
_PASS_KEYS = ("pass", "passed")


@dataclass(frozen=True, slots=True)
class JudgeMark:
    """A verdict. `score` is 0..1 whatever the scale was, `criteria` the scores per criterion, 0..1."""

    score: float
    passed: bool
    reason: str = ""
    criteria: Mapping[str, float] = field(default_factory=dict)
    gated_by: str = ""


def parse_judge_reply(
    text: str, *, scale: float = 1.0, pass_mark: float | None = None, criteria: Sequence[Criterion] = ()
) -> JudgeMark:
    """The one verdict of a reply.

    Args:
        text: The reply; reasoning at its start is left out.
        scale: The highest score, which the prompt fixed.
        pass_mark: On that scale; None = half of it.
        criteria: When the reply scores them, their weighted mean is the score and those that
            must pass gate it.

    Raises:
        CheckFault: With a code that begins with `judge_`, and the reply kept in its detail.
    """
    mark = scale / 2 if pass_mark is None else pass_mark
    reply = visible_answer(text[:_MAX_REPLY])
    try:
        verdict = _verdict_object(reply)
        if verdict is None:
            score = _share_in_words(reply, scale)
            return JudgeMark(score / scale, score >= mark)
        return _mark(verdict, scale, mark, criteria)
    except CheckFault as fault:
        fault.detail.setdefault("reply", text[:2000])
        raise


def parse_winner(text: str) -> tuple[str, str]:
    """The winner of a comparison (`A`, `B` or `tie`) and the reason.

    Raises:
        CheckFault: There is not exactly one readable verdict.
    """
    reply = visible_answer(text[:_MAX_REPLY])
    try:
        found = _objects(reply, ("winner",))
        if len(found) != 1:
            raise _count_fault(reply, len(found))
        winner = found[0]["winner"]
        name = winner.strip().lower() if isinstance(winner, str) else ""
        if name not in ("a", "b", "tie"):
            raise CheckFault("judge_wrong_type", "The judge named neither A, nor B, nor a tie.")
        return (name if name == "tie" else name.upper()), _reason(found[0])
    except CheckFault as fault:
        fault.detail.setdefault("reply", text[:2000])
        raise


def _verdict_object(reply: str) -> Mapping[str, Any] | None:
    """The one object with a verdict; None where the reply holds no JSON at all."""
    found = _objects(reply, (*_PASS_KEYS, "score"))
    if len(found) == 1:
        return found[0]
    if found:
        raise _count_fault(reply, len(found))
    if "{" in reply and structures(reply)[0]:
        raise CheckFault("judge_unreadable", 'The judge\'s reply has neither "pass" nor "score".')
    return None


def _objects(reply: str, keys: tuple[str, ...]) -> list[Mapping[str, Any]]:
    """The objects of a reply that hold one of the keys, at the top level or in a list there.

    Raises:
        CheckFault: Something that should be JSON is not: then no verdict can be trusted.
    """
    try:
        values = [parse(reply)]
    except JsonFault as fault:
        if fault.code == "json_too_deep":
            raise CheckFault("judge_unreadable", "The judge's reply is nested too deeply to read.") from fault
        found, faults = structures(reply)
        if any(broken.code == "json_truncated" for broken in faults):
            raise _cut_off() from fault
        if faults:
            raise CheckFault("judge_unreadable", f"The judge's reply is not JSON: {faults[0]}.") from fault
        values = [item.value for item in found]
    flat: list[Any] = []
    for value in values:
        flat += value if isinstance(value, list) else [value]
    return [item for item in flat if isinstance(item, Mapping) and any(key in item for key in keys)]


def _cut_off() -> CheckFault:
    return CheckFault(
        "judge_cut_off",
        "The judge's reply was cut off. Raise `judge.max_tokens`, the judge's longest answer.",
    )


def _count_fault(reply: str, count: int) -> CheckFault:
    if count:
        return CheckFault("judge_several", f"The judge's reply holds {count} verdicts, not one.")
    if _DECLINED.match(reply):
        return CheckFault("judge_declined", "The judge declined to mark this answer. Try another judge.")
    return CheckFault("judge_unreadable", "The judge gave no verdict that can be read.")


def _share_in_words(reply: str, scale: float) -> float:
    """The score of a reply such as `Score: 8/10`: on a line of its own, once, and of the fixed scale."""
    of_scale = [match for match in _SHARE.finditer(reply) if math.isclose(float(match[2]), scale)]
    lines = _SHARE_LINE.findall(reply)
    if len(of_scale) != 1 or len(lines) != 1:
        if len(of_scale) > 1:
            raise CheckFault("judge_several", "The judge's reply names several scores, not one.")
        raise _count_fault(reply, 0)
    score = _share(lines[0], scale)
    if score is None:
        raise _count_fault(reply, 0)
    return _in_range(score, scale)


def _share(text: str, scale: float) -> float | None:
    """The n of `n/m`, None unless m is the fixed maximum."""
    match = _SHARE.fullmatch(text.strip())
    if match is None or not math.isclose(float(match[2]), scale):
        return None
    return float(match[1])


def _mark(verdict: Mapping[str, Any], scale: float, mark: float, criteria: Sequence[Criterion]) -> JudgeMark:
    passed, score = _passed(verdict), _score(verdict, scale)
    if score is None:
        assert passed is not None  # noqa: S101 - a verdict holds one of the two
        score = scale if passed else 0.0
    elif passed is not None and passed != (score >= mark):
        raise CheckFault(
            "judge_disagrees",
            f"The judge disagrees with itself: pass {str(passed).lower()}, score {score:g} of {scale:g}.",
        )
    reason = _reason(verdict)
    scores = _criteria_scores(verdict, criteria, scale)
    if not scores:
        return JudgeMark(score / scale, score >= mark if passed is None else passed, reason)
    shares = {name: value / scale for name, value in scores.items()}
    gate = next((item.name for item in criteria if item.must_pass and scores[item.name] < mark), "")
    if gate:
        return JudgeMark(0.0, False, reason, shares, gate)
    total = math.fsum(item.weight for item in criteria)
    mean = math.fsum(item.weight * shares[item.name] for item in criteria) / total
    return JudgeMark(min(1.0, mean), mean >= mark / scale, reason, shares)


def _passed(verdict: Mapping[str, Any]) -> bool | None:
    values = [verdict[key] for key in _PASS_KEYS if key in verdict]
    if any(not isinstance(value, bool) for value in values):
        raise CheckFault(
            "judge_wrong_type", f'The judge\'s "pass" is {quoted(str(values[0]))}, not true or false.'
        )
    if len(set(values)) > 1:
        raise CheckFault("judge_disagrees", 'The judge disagrees with itself: "pass" and "passed" differ.')
    return values[0] if values else None


def _score(verdict: Mapping[str, Any], scale: float) -> float | None:
    return _number(verdict["score"], "score", scale) if "score" in verdict else None


def _number(value: Any, name: str, scale: float) -> float:
    if isinstance(value, str):
        share = _share(value, scale)
        if share is None:
            raise CheckFault(
                "judge_wrong_type", f'The judge\'s "{name}" is the text {quoted(value)}, not a number.'
            )
        return _in_range(share, scale)
    if isinstance(value, bool) or not isinstance(value, (int, float, Decimal)):
        raise CheckFault("judge_wrong_type", f'The judge\'s "{name}" is not a number.')
    return _in_range(value, scale)


def _in_range(value: float | Decimal, scale: float) -> float:
    if not 0 <= value <= scale:
        raise CheckFault(
            "judge_out_of_range", f"The judge's score {value:.6g} is not within 0 and {scale:g}."
        )
    return float(value)


def _reason(verdict: Mapping[str, Any]) -> str:
    reason = verdict.get("reason", "")
    if not isinstance(reason, str):
        raise CheckFault("judge_wrong_type", 'The judge\'s "reason" is not text.')
    return reason.strip()


def _criteria_scores(
    verdict: Mapping[str, Any], criteria: Sequence[Criterion], scale: float
) -> dict[str, float]:
    """The score of every criterion; empty where the rubric has none, or none that must pass and the
    reply leaves them out."""
    given = verdict.get("criteria")
    if given is None and any(item.must_pass for item in criteria):
        raise CheckFault("judge_wrong_type", "The judge left out the criteria, some of which must pass.")
    if not criteria or given is None:
        return {}
    if not isinstance(given, Mapping):
        raise CheckFault("judge_wrong_type", 'The judge\'s "criteria" is not an object.')
    missing = [item.name for item in criteria if item.name not in given]
    if missing:
        raise CheckFault("judge_wrong_type", f"The judge left out the criterion {quoted(missing[0])}.")
    return {item.name: _number(given[item.name], item.name[:40], scale) for item in criteria}
