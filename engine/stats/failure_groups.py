"""Why answers failed, counted: equal causes are one group. Pure; codes and counts, no words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from engine.domain import CallDone, CallStatus, CheckResult, Outcome, ScoreState
from engine.errors import Cancelled

_ASK_EVERY = 4_096
_MOST_DETAILS = 5
_SAMPLE_CHARS = 300


class Failing(StrEnum):
    """Kinds of failure. `wrong`: a check said no; `cut_off`: wrong, and the answer ended at its
    longest length; `unmarked`: a check could not decide; `failed`: the question brought nothing."""

    WRONG = "wrong"
    CUT_OFF = "cut_off"
    REFUSED = "refused"
    EMPTY = "empty"
    UNMARKED = "unmarked"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Detail:
    """What a group's failures have in common more closely. `kind` is swap (`wanted` was right,
    `found` was said) or field (`found` is the field or place that is wrong)."""

    kind: str
    found: str
    wanted: str = ""
    count: int = 0


@dataclass(frozen=True, slots=True)
class FailureGroup:
    """One cause. `check` is the check that decided, `code` its reason or the kind of error.

    `count` counts calls, `cases` are the distinct cases in the order they came, `by_model` counts
    calls by model key. `sample` is one of the sentences that were said.
    """

    kind: Failing
    code: str
    count: int
    cases: tuple[str, ...]
    by_model: Mapping[str, int]
    check: str = ""
    status: int | None = None
    sample: str = ""
    details: tuple[Detail, ...] = ()


@dataclass(slots=True)
class _Growing:
    count: int = 0
    cases: dict[str, None] = field(default_factory=dict)
    by_model: Counter[str] = field(default_factory=Counter)
    details: Counter[tuple[str, str, str]] = field(default_factory=Counter)
    sample: str = ""


_Key = tuple[Failing, str, str, int | None]


def failure_groups(
    calls: Iterable[CallDone], *, should_stop: Callable[[], bool] | None = None
) -> tuple[FailureGroup, ...]:
    """The groups, largest first; equal sizes by kind, check and code.

    `calls` may be all calls of a run or only those that are not right. Right and stopped calls, and
    answers that nobody has marked yet, are in no group. Raises `Cancelled` on a yes.
    """
    groups: dict[_Key, _Growing] = {}
    for number, call in enumerate(calls):
        if number % _ASK_EVERY == 0 and should_stop is not None and should_stop():
            raise Cancelled
        check = _telling(call)
        key = _key(call, check)
        if key is None:
            continue
        group = groups.setdefault(key, _Growing())
        group.count += 1
        group.cases[call.cell.case_id] = None
        group.by_model[call.cell.model_key] += 1
        group.details.update(_details(check))
        group.sample = group.sample or _sample(call, check)
    found = [_group(key, group) for key, group in groups.items()]
    return tuple(sorted(found, key=lambda group: (-group.count, group.kind, group.check, group.code)))


def _group(key: _Key, group: _Growing) -> FailureGroup:
    kind, check, code, status = key
    common = sorted(group.details.items(), key=lambda item: (-item[1], item[0]))[:_MOST_DETAILS]
    return FailureGroup(
        kind=kind,
        code=code,
        count=group.count,
        cases=tuple(group.cases),
        by_model=dict(sorted(group.by_model.items(), key=lambda item: (-item[1], item[0]))),
        check=check,
        status=status,
        sample=group.sample,
        details=tuple(Detail(what, found, wanted, count) for (what, found, wanted), count in common),
    )


def _telling(call: CallDone) -> CheckResult | None:
    """The check that decided, by the rule that the mark itself was made with."""
    score = call.score
    if score is None:
        return None
    if score.state is ScoreState.ERRORED:
        told = [check for check in score.checks if check.state is ScoreState.ERRORED]
    else:
        told = [check for check in score.checks if check.state is ScoreState.SCORED and not check.passed]
    counting = [check for check in told if check.weight > 0 or check.must_pass] or told
    return next((check for check in counting if check.must_pass), counting[0] if counting else None)


def _key(call: CallDone, check: CheckResult | None) -> _Key | None:
    """The group of a call; None = it did not fail."""
    if call.status is CallStatus.ERROR:
        error = call.error
        return (Failing.FAILED, "", error.kind if error else "unknown", error.status if error else None)
    score = call.score
    if call.status is not CallStatus.OK or score is None:
        return None
    name, code = (check.type, check.reason_code) if check is not None else ("", "")
    if score.state is ScoreState.ERRORED:
        return (Failing.UNMARKED, name, code, None)
    if score.state is not ScoreState.SCORED or score.passed:
        return None
    if call.outcome is Outcome.REFUSED or code == "refused":
        return (Failing.REFUSED, "", "refused", None)
    if call.outcome is Outcome.EMPTY or code in ("no_answer", "only_reasoning"):
        return (Failing.EMPTY, "", code or "no_answer", None)
    if call.outcome is Outcome.LENGTH:
        return (Failing.CUT_OFF, name, code, None)
    return (Failing.WRONG, name, code, None)


def _details(check: CheckResult | None) -> Iterator[tuple[str, str, str]]:
    if check is None:
        return
    detail = check.detail
    if check.reason_code == "wrong_label" and _texts(detail.get("accepted")):
        yield "swap", str(detail.get("prediction")), _texts(detail["accepted"])[0]
    for name in ("missing", "different"):
        if check.type == "json_match":
            yield from (("field", text, "") for text in _texts(detail.get(name)))
    if check.type == "json_schema" and isinstance(detail.get("errors"), list):
        for fault in detail["errors"]:
            if isinstance(fault, Mapping) and fault.get("path"):
                yield "field", str(fault["path"]), ""


def _texts(value: Any) -> list[str]:
    return [str(item) for item in value] if isinstance(value, (list, tuple)) else []


def _sample(call: CallDone, check: CheckResult | None) -> str:
    if check is not None and check.reason:
        return check.reason[:_SAMPLE_CHARS]
    if call.error is not None:
        return call.error.message[:_SAMPLE_CHARS]
    return call.score.reason[:_SAMPLE_CHARS] if call.score is not None else ""
