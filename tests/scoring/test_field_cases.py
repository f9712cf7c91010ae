"""Every field case about JSON and text checks, told as the public reports had it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engine.domain import Answer, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring import ScoringContext, run_check, score_case, try_check, validate_check
from tests.scoring.fields import case_id, field_cases, field_text


def _verdict(result: CheckResult) -> str:
    assert result.state is ScoreState.SCORED, result.reason
    return "pass" if result.passed else "fail"


@pytest.mark.parametrize("case", field_cases("json_check", "json_valid"), ids=case_id)
def test_json_valid_strict_and_lenient(case: dict[str, Any]) -> None:
    text = field_text(case["file"])
    assert _verdict(try_check({"type": "json_valid"}, text)) == case["verdict"]["strict"]
    assert _verdict(try_check({"type": "json_valid", "lenient": True}, text)) == case["verdict"]["lenient"]


def test_fenced_json_matches_its_fields() -> None:
    result = try_check({"type": "json_match"}, field_text("out_fenced_json.txt"), {"city": "Lyon"})
    assert result.passed
    assert result.detail["found_in"] == "fence"
    assert json.loads(result.detail["extracted"]) == {"city": "Lyon", "zip": "69001"}


def test_the_json_fence_counts_not_the_shell_fence() -> None:
    assert try_check({"type": "json_match"}, field_text("out_other_fence_first.txt"), {"ok": True}).passed


def test_back_ticks_inside_a_string_stay() -> None:
    wanted = {"snippet": "```python\nprint('hi')\n```", "ok": True}
    assert try_check(
        {"type": "json_match", "mode": "exact"}, field_text("out_fence_in_string.txt"), wanted
    ).passed


def test_a_longer_fence_holds_back_ticks() -> None:
    wanted = {"hint": "use ``` to quote code"}
    assert try_check({"type": "json_match", "mode": "exact"}, field_text("out_long_fence.txt"), wanted).passed


def test_almost_json_is_told_with_its_place() -> None:
    result = try_check({"type": "json_valid", "lenient": True}, field_text("out_almost_json.txt"))
    assert (result.detail["line"], result.detail["column"]) == (2, 17)
    assert "line 2" in result.reason


def test_nan_is_named() -> None:
    result = try_check({"type": "json_valid"}, field_text("out_nan.txt"))
    assert "NaN" in result.reason
    assert result.reason_code == "json_constant"


def test_cut_off_outer_object_does_not_promote_its_inner_one() -> None:
    text = field_text("out_truncated_outer.txt")
    result = try_check({"type": "json_match"}, text, {"city": "Lyon"})
    assert (result.passed, result.reason_code) == (False, "json_truncated")
    prose = try_check({"type": "json_match"}, "Here you are: " + text, {"city": "Lyon"})
    assert (prose.passed, prose.reason_code) == (False, "json_truncated")


def test_inverse_json_check_says_what_it_checks() -> None:
    (case,) = field_cases("json_check", "not_json")
    result = try_check({"type": "json_valid", "not": True}, field_text(case["file"]))
    assert _verdict(result) == case["verdict"] == "fail"
    assert result.reason == "The answer is JSON, but it must not be."


@pytest.mark.parametrize("case", field_cases("text_check", "numeric"), ids=case_id)
def test_numeric(case: dict[str, Any]) -> None:
    text = field_text(case["file"])
    if isinstance(case["verdict"], dict):
        return
    result = try_check({"type": "numeric"}, text, case["expected"])
    assert _verdict(result) == case["verdict"], result.reason
    if "never_extract" in case:
        assert result.detail["value"] != case["never_extract"]


def test_percent_also_equals_the_bare_number() -> None:
    result = try_check({"type": "numeric"}, field_text("out_percent.txt"), "60")
    assert result.passed
    assert result.detail["number"] == "60%"
    assert result.detail["unit"] == "percent on one side only"


@pytest.mark.parametrize("locale", ["comma", "de", "de-DE", "fr_FR"])
def test_decimal_comma_where_the_locale_says_so(locale: str) -> None:
    result = try_check({"type": "numeric", "locale": locale}, field_text("out_decimal_comma.txt"), "1234,50")
    assert result.passed
    assert result.detail["value"] == "1234.50"


@pytest.mark.parametrize("check", [{"type": "numeric"}, {"type": "numeric", "locale": "point"}])
def test_decimal_comma_is_flagged_where_points_are_decimal(check: dict[str, Any]) -> None:
    result = try_check(check, field_text("out_decimal_comma.txt"), "1.234")
    assert (result.passed, result.reason_code) == (False, "other_number_style")
    assert result.detail["flag"] == "other_style"
    assert (
        try_check(check, field_text("out_decimal_comma.txt"), "1234,50").reason_code
        == "reference_other_style"
    )


def test_a_short_number_inside_a_longer_one_is_told() -> None:
    result = try_check({"type": "contains"}, field_text("out_numeric_25.txt"), "5")
    assert result.passed
    assert result.detail["inside_numbers"] == ["5"]
    assert "inside a longer number" in result.reason


def test_same_text_in_another_unicode_form() -> None:
    case = field_cases("text_check", "exact")[0]
    text = field_text(case["file"])
    assert _verdict(try_check({"type": "exact_match"}, text, case["expected"])) == case["verdict"]["default"]
    strict = try_check({"type": "exact_match", "strict": True}, text, case["expected"])
    assert _verdict(strict) == case["verdict"]["strict"]
    assert strict.detail["difference"]["position"] == 4
    assert "U+0065 LATIN SMALL LETTER E" in strict.reason


@pytest.mark.parametrize("strict", [False, True])
def test_a_real_difference_fails_in_every_mode(strict: bool) -> None:
    text = field_text("out_unicode_real_difference.txt")
    assert not try_check({"type": "exact_match", "strict": strict}, text, "Price: $8.540").passed


def test_reasoning_is_not_the_answer() -> None:
    text = field_text("out_think_closed.txt")
    assert try_check({"type": "exact_match"}, text, "Lisbon").passed
    assert not try_check({"type": "contains"}, text, "Paris").passed
    assert try_check({"type": "contains", "keep_reasoning": True}, text, "Paris").passed


def test_the_last_match_counts() -> None:
    (case,) = [c for c in field_cases("text_check", "regex") if c["file"] == "out_two_answers.txt"]
    text, check = field_text(case["file"]), {"type": "regex", "pattern": case["pattern"]}
    result = try_check(check, text, case["expected"])
    assert _verdict(result) == case["verdict"]
    assert result.detail["captured"] == "B"
    assert not try_check(check, text, "A").passed
    assert try_check({**check, "select": "first"}, text, "A").passed


def test_no_group_means_the_whole_match() -> None:
    (case,) = [c for c in field_cases("text_check", "regex") if c["file"] == "out_regex_nogroup.txt"]
    check = {"type": "regex", "pattern": case["pattern"]}
    assert _verdict(try_check(check, field_text(case["file"]), case["expected"])) == case["verdict"]
    assert not try_check(check, field_text(case["file"]), "NO").passed


def test_a_broken_pattern_is_found_before_the_run() -> None:
    spec = CheckSpec("regex")
    case = Case(id="1", input="Pick a letter", reference="([A-D", checks=(spec,), file="tests.csv", line=2)
    (problem,) = validate_check(spec, case, {}, None)
    assert (problem.severity, problem.code, problem.file, problem.line) == (
        "error",
        "pattern_bad",
        "tests.csv",
        2,
    )
    assert "character 6" in problem.message
    assert validate_check(spec, Case(id="2", reference="ok", checks=(spec,)), {}, None) == []


@pytest.mark.parametrize("case", field_cases("text_check", "similarity"), ids=case_id)
@pytest.mark.parametrize("method", ["lexical", "fuzzy"])
def test_similarity_of_nothing_is_zero(case: dict[str, Any], method: str) -> None:
    result = try_check({"type": "similarity", "method": method}, field_text(case["file"]), case["expected"])
    assert _verdict(result) == case["verdict"]
    assert (result.score, result.reason_code) == (0.0, "no_answer")


@pytest.mark.parametrize("negate", [False, True])
def test_an_answer_that_does_not_exist_never_passes(negate: bool) -> None:
    assert json.loads(field_text("out_missing.json"))["output"] is None
    spec = CheckSpec("contains", negate=negate)
    case = Case(id="a", reference="acme", checks=(spec,))
    score = score_case(case, Answer("", Outcome.EMPTY), ScoringContext())
    assert (score.state, score.score, score.passed) == (ScoreState.SCORED, 0.0, False)
    assert run_check(spec, Answer("", Outcome.EMPTY), case, ScoringContext()).reason_code == "no_answer"
