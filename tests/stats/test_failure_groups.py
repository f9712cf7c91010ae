"""Why answers failed: one group per cause, counted, largest first."""

from __future__ import annotations

from typing import Any

import pytest

from engine.domain import (
    Answer,
    CallDone,
    CallStatus,
    CaseScore,
    Cell,
    CheckResult,
    Outcome,
    ScoreState,
)
from engine.errors import Cancelled
from engine.scoring import combine
from engine.stats.failure_groups import Detail, Failing, failure_groups
from tests.stats.builders import failed, scored, stopped


def check(kind: str, passed: bool | None, code: str, **more: Any) -> CheckResult:
    state = ScoreState.ERRORED if passed is None else ScoreState.SCORED
    score = None if passed is None else float(passed)
    return CheckResult(kind, state, score, passed, more.pop("reason", f"{code}."), code, **more)


def marked(model: str, case: str, *checks: CheckResult, outcome: Outcome = Outcome.COMPLETE) -> CallDone:
    answer = Answer("text", outcome)
    return CallDone(Cell(model, case, 1), CallStatus.OK, outcome, answer, combine(checks))


def test_right_stopped_and_unmarked_answers_are_no_failures() -> None:
    waiting = CheckResult("manual", ScoreState.UNSCORED, reason_code="manual")
    calls = [
        scored("a", "c0", 1, 1.0),
        stopped("a", "c1", 1),
        marked("a", "c2", waiting),
        marked("a", "c3", check("contains", True, "mentioned")),
    ]
    assert failure_groups(calls) == ()


def test_equal_causes_are_one_group_largest_first() -> None:
    calls = [
        marked("a", "c0", check("contains", False, "not_mentioned")),
        marked("b", "c0", check("length", False, "too_long")),
        marked("b", "c1", check("length", False, "too_long", reason="It has 300 words.")),
        marked("b", "c1", check("length", False, "too_long")),
        failed("a", "c2", 1),
    ]
    groups = failure_groups(calls)
    assert [(group.kind, group.check, group.code, group.count) for group in groups] == [
        (Failing.WRONG, "length", "too_long", 3),
        (Failing.FAILED, "", "auth", 1),
        (Failing.WRONG, "contains", "not_mentioned", 1),
    ]
    assert groups[0].cases == ("c0", "c1")
    assert groups[0].by_model == {"b": 3}
    assert groups[0].sample == "too_long."
    assert (groups[1].status, groups[1].sample) == (401, "The key was refused.")


def test_every_failing_call_is_in_exactly_one_group() -> None:
    calls = [
        marked("a", f"c{n}", check("contains", n % 3 == 0, "not_mentioned" if n % 2 else "other"))
        for n in range(30)
    ]
    assert sum(group.count for group in failure_groups(calls)) == 20


def test_the_must_pass_check_tells_why() -> None:
    calls = [
        marked(
            "a",
            "c0",
            check("contains", False, "not_mentioned"),
            check("llm_judge", False, "judge_failed_it", must_pass=True),
        )
    ]
    assert failure_groups(calls)[0].check == "llm_judge"


def test_a_check_that_counts_for_nothing_does_not_tell() -> None:
    calls = [
        marked(
            "a",
            "c0",
            check("length", False, "too_long", weight=0.0),
            check("contains", False, "not_mentioned"),
        )
    ]
    assert failure_groups(calls)[0].check == "contains"


@pytest.mark.parametrize(
    ("call", "kind", "code"),
    [
        (
            marked("a", "c", check("contains", False, "refused"), outcome=Outcome.REFUSED),
            Failing.REFUSED,
            "refused",
        ),
        (
            marked("a", "c", check("contains", False, "no_answer"), outcome=Outcome.EMPTY),
            Failing.EMPTY,
            "no_answer",
        ),
        (marked("a", "c", check("contains", False, "only_reasoning")), Failing.EMPTY, "only_reasoning"),
        (
            marked("a", "c", check("contains", False, "not_mentioned"), outcome=Outcome.LENGTH),
            Failing.CUT_OFF,
            "not_mentioned",
        ),
        (
            marked("a", "c", check("contains", True, "x"), check("llm_judge", None, "judge_unreadable")),
            Failing.UNMARKED,
            "judge_unreadable",
        ),
        (failed("a", "c", 1, kind="timeout", status=None), Failing.FAILED, "timeout"),
    ],
)
def test_kinds_of_failure(call: CallDone, kind: Failing, code: str) -> None:
    (group,) = failure_groups([call])
    assert (group.kind, group.code) == (kind, code)


def test_a_cut_off_answer_that_is_right_did_not_fail() -> None:
    assert failure_groups([marked("a", "c", check("contains", True, "x"), outcome=Outcome.LENGTH)]) == ()


def test_confused_labels_are_counted() -> None:
    def said(found: str, wanted: str) -> CheckResult:
        detail = {"prediction": found, "accepted": [wanted]}
        return check("classification", False, "wrong_label", detail=detail)

    calls = [
        marked("a", "c0", said("billing", "refund")),
        marked("b", "c0", said("billing", "refund")),
        marked("a", "c1", said("refund", "billing")),
    ]
    (group,) = failure_groups(calls)
    assert group.details == (
        Detail("swap", "billing", "refund", 2),
        Detail("swap", "refund", "billing", 1),
    )


def test_wrong_fields_are_counted() -> None:
    detail = {"missing": ["date"], "different": ["total"]}
    calls = [
        marked("a", f"c{n}", check("json_match", False, "fields_missing", detail=detail)) for n in range(3)
    ]
    schema = {"errors": [{"path": "items[0].price", "message": "is not a number"}]}
    calls.append(marked("a", "c9", check("json_schema", False, "schema_not_met", detail=schema)))
    match, shape = failure_groups(calls)
    assert [(item.found, item.count) for item in match.details] == [("date", 3), ("total", 3)]
    assert shape.details == (Detail("field", "items[0].price", "", 1),)


def test_a_mark_without_its_checks_still_counts() -> None:
    call = CallDone(
        Cell("a", "c", 1),
        CallStatus.OK,
        Outcome.COMPLETE,
        Answer("x", Outcome.COMPLETE),
        CaseScore(ScoreState.SCORED, 0.0, False, "Not right."),
    )
    (group,) = failure_groups([call])
    assert (group.kind, group.check, group.code, group.sample) == (Failing.WRONG, "", "", "Not right.")


def test_order_of_the_calls_changes_no_count() -> None:
    calls = [
        marked("a", f"c{n}", check("contains" if n % 2 else "length", False, f"code{n % 3}"))
        for n in range(12)
    ]
    forward, backward = failure_groups(calls), failure_groups(calls[::-1])
    assert [(g.kind, g.check, g.code, g.count) for g in forward] == [
        (g.kind, g.check, g.code, g.count) for g in backward
    ]


def test_it_can_be_stopped() -> None:
    with pytest.raises(Cancelled):
        failure_groups([scored("a", "c", 1, 0.0)], should_stop=lambda: True)
