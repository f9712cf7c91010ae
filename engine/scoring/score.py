"""From an answer to a mark: one check, and all checks of a case together. Nothing here raises."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from engine.domain import Answer, Case, CaseScore, CheckResult, CheckSpec, Outcome, ScoreState, Severity
from engine.scoring.answer_text import is_blank, visible_answer
from engine.scoring.base import CheckFault, CheckInput, CheckType, Finding, ScoringContext, has_reference
from engine.scoring.custom import run_custom
from engine.scoring.custom_files import find_scorer, scorer_files
from engine.scoring.options import read_options
from engine.scoring.registry import (
    CHECKS,
    canonical_check,
    missing_reference,
    reference_of,
    unknown_check,
)

_NO_SCORE = (Outcome.BLOCKED, Outcome.FAILED, Outcome.STOPPED)
_PASS_MARK = 0.5
_MAX_TEXT = 4_000
_MAX_ITEMS = 100


def run_check(spec: CheckSpec, answer: Answer, case: Case, context: ScoringContext) -> CheckResult:
    """What one check says about one answer. Never raises.

    A refused or empty answer is marked 0, not passed, whatever the check is and whether or not
    it is turned around. A check that cannot decide is errored, which is not a mark.
    """
    try:
        return _result(spec, _run(spec, answer, case, context))
    except CheckFault as fault:
        return _errored(spec, fault.code, fault.reason, fault.detail)
    except RecursionError:
        return _errored(
            spec, "too_deep", f"The check `{spec.type}` met something nested too deeply to read.", {}
        )
    except MemoryError:
        return _errored(spec, "too_large", f"The check `{spec.type}` ran out of memory on this answer.", {})
    except Exception as error:  # a fault of one check must not end a run that is paid for
        kind = type(error).__name__
        return _errored(
            spec, "check_failed", f"The check `{spec.type}` failed: {kind}: {error}", {"error": kind}
        )


def score_case(case: Case, answer: Answer, context: ScoringContext) -> CaseScore:
    """The mark of one answer by all checks of its case. Never raises."""
    if answer.outcome in _NO_SCORE:
        return CaseScore(ScoreState.UNSCORED, reason="There is no answer to mark.")
    return combine([run_check(spec, answer, case, context) for spec in case.checks])


def combine(results: Sequence[CheckResult]) -> CaseScore:
    """All results of a case as one mark: their weighted mean, gated by the must-pass ones.

    * A must-pass check that is not passed makes the case 0 and not passed, whatever else holds.
    * Otherwise an errored check that counts (weight above 0 or must-pass) makes the case errored:
      a mean over the rest would compare models by different checks.
    * A check nobody has marked yet is left out; the case is unscored when nothing else counts
      or a must-pass one waits.
    * One check: its own pass. Several: the mean is at least one half.
    """
    if not results:
        return CaseScore(ScoreState.UNSCORED, reason="The test case has no check.")
    metrics = _merged(result.metrics for result in results)
    checks = tuple(results)
    failed = [r for r in checks if r.must_pass and r.state is ScoreState.SCORED and not r.passed]
    if failed:
        return CaseScore(ScoreState.SCORED, 0.0, False, failed[0].reason, metrics, checks)
    counting = [r for r in checks if r.weight > 0 or r.must_pass] or list(checks)
    for state, wanted in (
        (ScoreState.ERRORED, counting),
        (ScoreState.UNSCORED, [r for r in counting if r.must_pass]),
    ):
        stuck = [r for r in wanted if r.state is state]
        if stuck:
            return CaseScore(state, None, None, stuck[0].reason, metrics, checks)
    scored = [r for r in counting if r.state is ScoreState.SCORED and r.score is not None]
    if not scored:
        return CaseScore(ScoreState.UNSCORED, None, None, checks[0].reason, metrics, checks)
    return _mean(scored, metrics, checks)


def _mean(
    scored: list[CheckResult], metrics: Mapping[str, float], checks: tuple[CheckResult, ...]
) -> CaseScore:
    """The weighted mean of scored checks; equal weights where all of them weigh nothing."""
    total = math.fsum(r.weight for r in scored)
    weights = [r.weight for r in scored] if total > 0 else [1.0] * len(scored)
    score = math.fsum((r.score or 0.0) * w for r, w in zip(scored, weights, strict=True)) / math.fsum(weights)
    score = min(1.0, max(0.0, score))
    passed = bool(scored[0].passed) if len(checks) == 1 else score >= _PASS_MARK
    telling = next((r for r in scored if not r.passed), scored[0])
    return CaseScore(ScoreState.SCORED, score, passed, telling.reason, metrics, checks)


def _merged(parts: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Metrics of several checks; the mean where two measure the same."""
    values: dict[str, list[float]] = {}
    for part in parts:
        for name, value in part.items():
            values.setdefault(name, []).append(value)
    return {name: math.fsum(found) / len(found) for name, found in values.items()}


def _run(
    spec: CheckSpec, answer: Answer, case: Case, context: ScoringContext
) -> tuple[CheckType, Finding, Answer]:
    check = _check_type(spec, context)
    if check is None:
        return _run_custom(spec, answer, case, context)
    options, faults = read_options(check, spec.options, context.options)
    for fault in faults:
        if fault.severity is Severity.ERROR:
            raise CheckFault(fault.code, f"{fault.message} {fault.fix}")
    text = visible_answer(answer.text, bool(options["keep_reasoning"]))
    missing = _no_answer(answer, text)
    if missing is not None:
        return check, missing, answer
    reference = reference_of(spec, case)
    if check.needs_reference(options) and not has_reference(reference):
        fault = missing_reference(check)
        raise CheckFault(fault.code, f"{fault.message} {fault.fix}")
    given = CheckInput(text, reference, options, answer, case, spec, context, spec.reference is not None)
    return check, check.run(given), answer


def _check_type(spec: CheckSpec, context: ScoringContext) -> CheckType | None:
    """The built-in check of that name, None for one of the project's own.

    Raises:
        CheckFault: There is no such check.
    """
    name = canonical_check(spec.type)
    if name is not None:
        return CHECKS[name]
    if scorer_files(context.root, context.scorer_paths):
        return None
    fault = unknown_check(spec.type)
    raise CheckFault(fault.code, f"{fault.message} {fault.fix}")


def _run_custom(
    spec: CheckSpec, answer: Answer, case: Case, context: ScoringContext
) -> tuple[CheckType, Finding, Answer]:
    """One of the project's own scorers; its options are whatever was written."""
    found = find_scorer(spec.type, context.root, context.scorer_paths, context.trusted, context.sealed)
    if found is None:
        fault = unknown_check(spec.type)
        raise CheckFault(fault.code, f"{fault.message} {fault.fix}")
    check = CheckType(
        found.name, found.name, "", lambda given: run_custom(found, given), opposite="it must not be so"
    )
    options = {**context.options.get(found.name, {}), **spec.options}
    text = visible_answer(answer.text, options.get("keep_reasoning") is True)
    missing = _no_answer(answer, text)
    if missing is not None:
        return check, missing, answer
    reference = reference_of(spec, case)
    if found.requires_reference and not has_reference(reference):
        fault = missing_reference(check)
        raise CheckFault(fault.code, f"{fault.message} {fault.fix}")
    given = CheckInput(text, reference, options, answer, case, spec, context, spec.reference is not None)
    return check, check.run(given), answer


def _no_answer(answer: Answer, text: str) -> Finding | None:
    """The finding for a call that came back without an answer."""
    if answer.outcome is Outcome.REFUSED:
        return Finding(0.0, False, "The model refused to answer", "refused", {"no_answer": True})
    if not is_blank(text):
        return None
    if not is_blank(answer.text) or (answer.reasoning and not is_blank(answer.reasoning)):
        return Finding(
            0.0, False, "The answer holds only reasoning, no answer", "only_reasoning", {"no_answer": True}
        )
    return Finding(0.0, False, "The answer is empty", "no_answer", {"no_answer": True})


def _result(spec: CheckSpec, outcome: tuple[CheckType, Finding, Answer]) -> CheckResult:
    check, finding, answer = outcome
    detail = dict(finding.detail)
    score, passed, fact = min(1.0, max(0.0, float(finding.score))), finding.passed, finding.fact
    if not math.isfinite(finding.score):
        return _errored(spec, "score_not_a_number", f"The check `{spec.type}` gave no usable number.", detail)
    if spec.negate and finding.state is ScoreState.SCORED and not detail.get("no_answer"):
        detail["turned_around"] = True
        fact += f", but {check.opposite}" if passed else ", as it should be for this check"
        score, passed = 1.0 - score, not passed
    sentences = [fact + ".", finding.note]
    if answer.outcome is Outcome.LENGTH:
        detail["cut_off"] = True
        sentences.append("The answer was cut off.")
    scored = finding.state is ScoreState.SCORED
    return CheckResult(
        type=check.name,
        state=finding.state,
        score=score if scored else None,
        passed=passed if scored else None,
        reason=_clean_text(" ".join(sentence for sentence in sentences if sentence)),
        reason_code=finding.code,
        detail=_clean(detail),
        metrics={str(k): float(v) for k, v in finding.metrics.items() if math.isfinite(v)},
        weight=spec.weight,
        must_pass=spec.must_pass,
    )


def _errored(spec: CheckSpec, code: str, reason: str, detail: Mapping[str, Any]) -> CheckResult:
    return CheckResult(
        type=canonical_check(spec.type) or spec.type,
        state=ScoreState.ERRORED,
        reason=_clean_text(reason),
        reason_code=code,
        detail=_clean(dict(detail)),
        weight=spec.weight,
        must_pass=spec.must_pass,
    )


def _clean_text(text: str) -> str:
    """Text that can be stored and shown: bounded, without halves of characters or controls."""
    shown = text[:_MAX_TEXT].encode("utf-8", "replace").decode("utf-8")
    return shown.replace("\x00", "\ufffd")


def _clean(value: Any, depth: int = 0) -> Any:
    """Detail values as plain JSON: bounded, no NaN, no foreign types."""
    if isinstance(value, str):
        return _clean_text(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if depth < 6 and isinstance(value, Mapping):
        return {_clean_text(str(k)): _clean(v, depth + 1) for k, v in list(value.items())[:_MAX_ITEMS]}
    if depth < 6 and isinstance(value, (list, tuple, set, frozenset)):
        return [_clean(item, depth + 1) for item in list(value)[:_MAX_ITEMS]]
    return _clean_text(str(value)[:_MAX_TEXT])


def with_mark(score: CaseScore, index: int, mark: float, reason: str = "") -> CaseScore:
    """The case score after a person marked its check number `index` (from 0).

    Args:
        score: What the checks said.
        index: Which check, usually a `manual` one.
        mark: 0..1; one half and above is a pass.
        reason: What the person wrote.

    Raises:
        ValueError: The mark is not within 0..1.
    """
    if not 0.0 <= mark <= 1.0:
        raise ValueError(f"a mark is within 0..1, not {mark}")
    checks = list(score.checks)
    checks[index] = replace(
        checks[index],
        state=ScoreState.SCORED,
        score=mark,
        passed=mark >= _PASS_MARK,
        reason=_clean_text(reason) or "Marked by a person.",
        reason_code="marked",
    )
    return combine(checks)
