"""What each built-in check counts as right, wrong or undecidable."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from engine.domain import Answer, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring import CHECKS, ScoringContext, canonical_check, run_check, try_check, validate_check


def _passes(kind: str, answer: str, reference: Any = None, **options: Any) -> bool:
    result = try_check({"type": kind, **options}, answer, reference)
    assert result.state is ScoreState.SCORED, result.reason
    assert result.passed is not None
    return result.passed


@pytest.mark.parametrize(
    ("answer", "reference", "same"),
    [
        ("Paris.", "paris", True),
        ("  **Paris**  ", "Paris", True),
        ("“Paris”", "Paris", True),
        ("New\n York!", "new york", True),
        ("15", "1.5", False),
        ("3", "-3", False),
        (".5", "5", False),
        ("C", "C#", False),
        ("C", "C++", False),
        ("10²", "102", False),
        ("snake_case", "snakecase", False),
        ("well-known", "wellknown", False),
        ("?", "!", False),
        ("yes", ["no", "yes"], True),
        ("42", 42, True),
        ("true", True, True),
        ("Maße", "Masse", False),
        ("−3", "-3", True),
    ],
)
def test_exactly(answer: str, reference: Any, same: bool) -> None:
    assert _passes("exact_match", answer, reference) is same


def test_exactly_with_its_switches() -> None:
    assert not _passes("exact_match", "paris", "Paris", case_sensitive=True)
    assert not _passes("exact_match", "Paris.", "Paris", strip_punctuation=False)
    assert not _passes("exact_match", "a  b", "a b", collapse_whitespace=False)


def test_mentions_all_or_any() -> None:
    both = ["refund", "voucher"]
    half = try_check({"type": "contains"}, "You get a refund.", both)
    assert (half.score, half.passed, half.detail["missing"]) == (0.5, False, ["voucher"])
    assert _passes("contains", "You get a refund.", both, mode="any")
    assert _passes("contains", "You get a refund.", both, threshold=0.5)
    assert not _passes("contains", "You get a REFUND.", "refund", case_sensitive=True)
    assert _passes("contains", "order 00123 is late", "00123")


def test_turning_around_inverts_score_pass_and_reason() -> None:
    plain = try_check({"type": "contains"}, "acme", "acme")
    turned = try_check({"type": "contains", "not": True}, "acme", "acme")
    assert (plain.score, turned.score, turned.passed) == (1.0, 0.0, False)
    assert turned.reason == 'The answer mentions "acme", but it must not.'
    fine = try_check({"type": "contains", "not": True}, "other", "acme")
    assert fine.passed
    assert "as it should be" in fine.reason


LABELS = ["billing", "technical", "not urgent", "C", "C#"]


@pytest.mark.parametrize(
    ("answer", "label", "right"),
    [
        ("Billing", "billing", True),
        ("**billing**.", "billing", True),
        ("This is billing, not technical.", "billing", True),
        ("It is not technical but billing", "billing", True),
        ("The category isn't technical: billing", "billing", True),
        ("not technical", "technical", True),
        ("billing or technical?", "billing", False),
        ("It could be billing or technical.\nFinal answer: technical", "technical", True),
        ("billing or technical?\nIt is not technical", "technical", False),
        ("billing or technical?\nNot technical but billing", "billing", True),
        ("a non-technical matter", "technical", False),
        ("billings", "billing", False),
        ("It is not urgent", "not urgent", True),
        ("We use C# here", "C#", True),
        ("We use C# here", "C", False),
        ("billing, billing and billing", "billing", True),
        ("none of these", "billing", False),
    ],
)
def test_labels(answer: str, label: str, right: bool) -> None:
    assert _passes("classification", answer, label, labels=LABELS) is right


def test_several_labels_are_named_in_the_reason() -> None:
    result = try_check({"type": "classification", "labels": ["a1", "b2"]}, "a1 or b2", "a1")
    assert result.reason == 'The answer named several labels: "a1", "b2".'
    assert result.reason_code == "several_labels"


def test_a_label_called_no_is_a_label_not_a_negation() -> None:
    assert try_check({"type": "classification", "labels": ["refund", "no"]}, "no", "no").passed
    both = try_check({"type": "classification", "labels": ["refund", "no"]}, "I say no refund", "no")
    assert both.reason_code == "several_labels"


@pytest.mark.parametrize(
    ("options", "reference", "code"),
    [
        ({}, "a", "option_missing"),
        ({"labels": ["a", "A."]}, "a", "label_twice"),
        ({"labels": ["a"]}, "b", "reference_no_label"),
    ],
)
def test_labels_that_cannot_work_are_found_at_load(
    options: dict[str, Any], reference: str, code: str
) -> None:
    spec = CheckSpec("classification", options)
    case = Case(id="c", reference=reference, checks=(spec,))
    assert [p.code for p in validate_check(spec, case, {}, None)] == [code]


@pytest.mark.parametrize(
    ("answer", "reference", "options", "right"),
    [
        ("The total is 1,234.50 dollars", "1234.5", {}, True),
        ("$1,234", 1234, {}, True),
        ("-$5", -5, {}, True),
        ("between 10-20", "20", {}, True),
        ("from 10-20", "-20", {}, False),
        ("1.2e3", "1200", {}, True),
        ("about 1.2 × 10^3 m", "1200", {}, True),
        ("3×10⁻²", "0.03", {}, True),
        ("version 1.2.3", "3", {}, False),
        ("It weighs 5kg", "5", {}, True),
        ("42abc", "42", {}, False),
        ("A4", "4", {}, False),
        ("答案是42。", "42", {}, True),
        ("١٢", "12", {}, True),
        ("1 234", "234", {}, True),
        ("1 234,5", "1234.5", {"locale": "fr"}, False),
        ("1 234,5", "1234,5", {"locale": "fr"}, True),
        ("1.234", "1234", {"locale": "de"}, True),
        ("3.5", "3,5", {"locale": "de"}, True),
        ("1'234.50", "1234.5", {"locale": "de-CH"}, True),
        ("5 then 7", "5", {"select": "first"}, True),
        ("5 then 7", "5", {}, False),
        ("5 then 7", "5", {"select": "only"}, False),
        ("only 7", "7", {"select": "only"}, True),
        ("9.9", "10", {"abs_tol": 0.1}, True),
        ("9.9", "10", {"tolerance": "0.05"}, False),
        ("99", "100", {"rel_tol": 0.01}, True),
        ("0.3", "0.30000000000000004", {}, False),
        ("1914310000000000001", "1914310000000000002", {}, False),
        ("60 percent", "60%", {}, True),
        ("60%", 0.6, {}, True),
        ("0.6", "60%", {}, True),
        ("six", "6", {}, False),
        ("6", ["5", "6"], {}, True),
        ("1e999999", "1", {}, False),
    ],
)
def test_numbers(answer: str, reference: Any, options: dict[str, Any], right: bool) -> None:
    if reference == "1234.5" and options.get("locale") == "fr":
        result = try_check({"type": "numeric", **options}, answer, reference)
        assert result.passed, "a plain decimal point can mean nothing else"
        return
    assert _passes("numeric", answer, reference, **options) is right


def test_an_ambiguous_number_is_flagged() -> None:
    result = try_check({"type": "numeric"}, "It costs 1,234.", "1234")
    assert result.passed
    assert result.detail["flag"] == "ambiguous"
    assert "thousands mark" in result.reason


def test_the_first_of_a_list_keeps_its_minus_and_a_date_has_none() -> None:
    check = {"type": "numeric", "select": "first"}
    assert try_check(check, "-3,4,5", -3).passed
    assert not try_check(check, "-3,4,5", 3).passed
    assert try_check({"type": "numeric"}, "2024-05-01", 1).reason == "The number is 01."


def test_the_error_of_a_number_is_measured() -> None:
    result = try_check({"type": "numeric"}, "about 9.5", ["10", "20"])
    assert result.metrics == {"abs_error": 0.5}
    assert try_check({"type": "numeric"}, "no idea", "10").metrics == {}


@pytest.mark.parametrize("reference", ["ten", "1 or 2", True, {"a": 1}, math.nan])
def test_a_right_answer_that_is_no_number_is_errored(reference: Any) -> None:
    result = try_check({"type": "numeric"}, "10", reference)
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "reference_no_number")


@pytest.mark.parametrize(
    ("answer", "reference", "options", "score", "passed"),
    [
        ('{"a": 1, "b": "x"}', {"a": 1}, {}, 1.0, True),
        ('{"a": 1.0000000000001}', {"a": 1}, {}, 1.0, True),
        ('{"a": "Lyon."}', {"a": "lyon"}, {}, 1.0, True),
        ('{"a": "1.5"}', {"a": "15"}, {}, 0.0, False),
        ('{"a": true}', {"a": 1}, {}, 0.0, False),
        ('{"a": 1, "b": 2}', {"a": 1, "b": 3}, {}, 0.5, False),
        ('{"a": 1, "b": 2}', {"a": 1, "b": 3}, {"threshold": 0.5}, 0.5, True),
        ('{"a": 1, "b": 2}', {"a": 1, "b": 3}, {"ignore_keys": ["b"]}, 1.0, True),
        ('{"a": 1, "b": 2}', {"a": 1}, {"mode": "exact"}, 0.0, False),
        ('{"a": {"x": 1}, "t": 5}', {"a": {"x": 1}}, {"mode": "exact", "ignore_keys": ["t"]}, 1.0, True),
        ("[1, 2]", [1, 2], {}, 1.0, True),
        ("As in [1]: [1, 2]", '{"a": 1}', {}, 0.0, False),
        ('As in [1], the answer is {"a": 1}.', {"a": 1}, {}, 1.0, True),
        ('[note] {"a": 1}', '{"a": 1}', {}, 1.0, True),
        ('{"a": 1,}', {"a": 1}, {}, 0.0, False),
        ('{"a": [1, 2,],}', {"a": [1, 2]}, {"lenient": True}, 1.0, True),
        ('{"a": NaN, "b": 1}', {"b": 1}, {"lenient": True}, 1.0, True),
        ('{"a": 1, "a": 1}', {"a": 1}, {}, 0.0, False),
        ("not json", {"a": 1}, {}, 0.0, False),
    ],
)
def test_fields(answer: str, reference: Any, options: dict[str, Any], score: float, passed: bool) -> None:
    result = try_check({"type": "json_match", **options}, answer, reference)
    assert (result.state, result.score, result.passed) == (ScoreState.SCORED, score, passed), result.reason


def test_a_right_answer_that_is_no_json_is_errored() -> None:
    assert try_check({"type": "json_match"}, '{"a": 1}', "Lyon").reason_code == "reference_not_json"


def test_duplicate_keys_are_told_with_their_place() -> None:
    result = try_check({"type": "json_valid"}, '{"a": 1,\n "a": 2}')
    assert (result.reason_code, result.detail["line"]) == ("json_duplicate_key", 2)


@pytest.mark.parametrize("method", ["lexical", "fuzzy"])
def test_alike(method: str) -> None:
    assert _passes("similarity", "The cat sat on the mat", "the cat sat on a mat", method=method)
    assert not _passes("semantic", "quantum physics", "the cat sat", method=method)


def test_lexical_similarity_is_the_score() -> None:
    result = try_check({"type": "similarity"}, "red green", "red blue")
    assert result.score == pytest.approx(0.5)
    assert result.metrics == {"similarity": result.score}


@pytest.mark.parametrize(
    ("options", "passed"),
    [
        ({"max_words": 3}, True),
        ({"max_words": 2}, False),
        ({"min_chars": 20}, False),
        ({"max_characters": 13}, True),
    ],
)
def test_length(options: dict[str, Any], passed: bool) -> None:
    assert _passes("length", "one two three", **options) is passed


def _measured(kind: str, option: str, limit: Any, answer: Answer, **context: Any) -> CheckResult:
    spec = CheckSpec(kind, {option: limit})
    return run_check(spec, answer, Case(id="c", checks=(spec,)), ScoringContext(**context))


def test_cost_that_is_not_known_decides_nothing() -> None:
    unknown = _measured("cost", "max_usd", "0.01", Answer("x", Outcome.COMPLETE))
    assert (unknown.state, unknown.score, unknown.reason_code) == (ScoreState.ERRORED, None, "cost_unknown")
    cheap = Answer("x", Outcome.COMPLETE, cost_usd=Decimal("0.01"))
    assert _measured("cost", "max_usd", 0.01, cheap).passed
    assert not _measured("cost", "max_usd", 0.005, cheap).passed
    assert _measured("cost", "max_usd", 0, Answer("x", Outcome.COMPLETE, cost_usd=Decimal(0))).passed


def test_latency() -> None:
    answer = Answer("x", Outcome.COMPLETE, latency_ms=1500.0)
    assert _measured("latency", "max_ms", 2000, answer).passed
    assert not _measured("latency", "max_ms", 1000, answer).passed
    assert _measured("latency", "max_ms", 1000, answer, latency_ms=10.0).passed
    assert try_check({"type": "latency", "max_ms": 1000}, "x").reason_code == "latency_unknown"


def test_manual_waits() -> None:
    result = try_check({"type": "manual"}, "x")
    assert (result.state, result.score, result.passed) == (ScoreState.UNSCORED, None, None)
    assert try_check({"type": "manual", "not": True}, "x").state is ScoreState.UNSCORED


@pytest.mark.parametrize(
    ("pattern", "answer", "passed"),
    [("^dear", "Dear Ann", True), (r"\d{5}", "code 12345", True), (r"\d{5}", "code 123", False)],
)
def test_a_pattern_needs_no_reference(pattern: str, answer: str, passed: bool) -> None:
    assert _passes("regex", answer, pattern=pattern) is passed


def test_the_cases_reference_is_for_the_other_check_when_there_are_several() -> None:
    spec = CheckSpec("regex", {"pattern": "^dear"})
    other = CheckSpec("llm_judge")
    case = Case(id="c", reference="Friendly and short", checks=(spec, other))
    assert run_check(spec, Answer("Dear Ann", Outcome.COMPLETE), case, ScoringContext()).passed
    own = CheckSpec("regex", {"pattern": "dear (.*)"}, reference="Bob")
    case = Case(id="c", reference="Friendly", checks=(own, other))
    assert not run_check(own, Answer("Dear Ann", Outcome.COMPLETE), case, ScoringContext()).passed


def test_a_group_that_caught_nothing_is_no_match() -> None:
    assert not _passes("regex", "b", "a", pattern="(a)|b")


def test_own_options_go_before_the_projects() -> None:
    context = ScoringContext(options={"semantic": {"threshold": 0.9}, "regex": {"pattern": "x"}})
    spec = CheckSpec("regex")
    assert run_check(spec, Answer("x", Outcome.COMPLETE), Case(id="c", checks=(spec,)), context).passed
    spec = CheckSpec("similarity", {"threshold": 0.2})
    case = Case(id="c", reference="red blue", checks=(spec,))
    assert run_check(spec, Answer("red green", Outcome.COMPLETE), case, context).passed
    spec = CheckSpec("similarity")
    assert not run_check(spec, Answer("red green", Outcome.COMPLETE), case, context).passed


def test_names() -> None:
    assert canonical_check("semantic") == "similarity"
    assert canonical_check("exact_match") == "exact_match"
    assert canonical_check("exact") is None
    assert {"llm_judge", "pairwise_judge", "json_schema", "json_valid", "manual"} <= set(CHECKS)
    assert all(check.title and check.rule for check in CHECKS.values())


@pytest.mark.parametrize(
    ("check", "code", "hint"),
    [
        ({"type": "exactmatch"}, "check_unknown", "exact_match"),
        ({"type": "contains", "mod": "any"}, "option_unknown", "mode"),
        ({"type": "contains", "mode": "some"}, "option_bad", "all, any"),
        ({"type": "numeric", "abs_tol": -1}, "option_bad", "less than 0"),
        ({"type": "numeric", "locale": "klingon"}, "locale_unknown", "klingon"),
        ({"type": "latency"}, "option_missing", "max_ms"),
        ({"type": "length"}, "no_limit", "max_words"),
        ({"type": "regex", "pattern": "("}, "pattern_bad", "character"),
        ({"type": "exact_match", "weight": -1}, "check_bad", "weight"),
        ({"type": "exact_match", "not": "yes"}, "check_bad", "not"),
        ({}, "check_bad", "type"),
    ],
)
def test_a_check_that_cannot_be_used_says_why(check: dict[str, Any], code: str, hint: str) -> None:
    result = try_check(check, "12", "12")
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, code)
    assert hint in result.reason


def test_a_missing_reference_is_found_at_load_and_errored_in_a_run() -> None:
    spec = CheckSpec("exact_match")
    case = Case(id="c", checks=(spec,))
    assert [p.code for p in validate_check(spec, case, {}, None)] == ["reference_missing"]
    result = run_check(spec, Answer("x", Outcome.COMPLETE), case, ScoringContext())
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "reference_missing")
