"""Whatever an answer holds, every check ends in a verdict, fast, and never raises."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.domain import Answer, Case, CaseScore, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring import CHECKS, ScoringContext, run_check, score_case, try_check
from engine.scoring.json_text import find_all
from engine.scoring.patterns import MAX_EXPANSION, expansion
from engine.scoring.similar import edit_distance

FREE: tuple[tuple[dict[str, Any], Any], ...] = (
    ({"type": "exact_match"}, "42"),
    ({"type": "contains"}, ["a", "{"]),
    ({"type": "regex"}, r"(\w+\s?)+$"),
    ({"type": "regex", "pattern": r"(a|b)(\d+)?"}, "a"),
    ({"type": "classification", "labels": ["a", "b c"]}, "a"),
    ({"type": "numeric"}, "42"),
    ({"type": "numeric", "locale": "de", "select": "only"}, "42"),
    ({"type": "json_match"}, {"a": 1}),
    ({"type": "json_match", "lenient": True, "mode": "exact"}, [1]),
    ({"type": "json_valid"}, None),
    ({"type": "json_valid", "lenient": True}, None),
    ({"type": "json_schema", "schema": {"type": "object", "required": ["a"]}}, None),
    ({"type": "similarity"}, "a b c"),
    ({"type": "similarity", "method": "fuzzy"}, "a b c"),
    ({"type": "length", "max_words": 5}, None),
)
MEGA = 300_000
HOSTILE = {
    "brackets": "[" * MEGA,
    "pairs": "[" * 50_000 + "]" * 50_000,
    "flat pairs": "[]" * (MEGA // 2),
    "prose brackets": "[x]" * (MEGA // 3),
    "braces": "{" * MEGA,
    "open keys": '{"a":' * (MEGA // 5),
    "open quotes": '{"' * (MEGA // 2),
    "quotes": '"' * MEGA,
    "escapes": '["' + "\\" * MEGA,
    "ticks": "`" * MEGA,
    "fences": "```\n" * (MEGA // 4),
    "fence line": "```" + "a" * MEGA + "`",
    "digits": "1" * MEGA,
    "numbers": "1 " * (MEGA // 2),
    "commas": "1," * (MEGA // 2),
    "minus": "-" * MEGA,
    "spaces": " " * MEGA + "a",
    "labels": "a " * (MEGA // 2),
    "words": "ab" * (MEGA // 2) + "!",
    "thinks": "<think>" * (MEGA // 7),
    "closed thinks": "<think></think>" * (MEGA // 15),
    "surrogates": "\ud800" * 1000 + "42",
    "nan": '{"a": NaN, "b": -Infinity}',
    "big int": '{"a": ' + "9" * 100_000 + "}",
    "big float": '{"a": 1e400}',
    "nul": "\x00" * 1000,
    "emoji": "\U0001f600" * 100_000,
}


def _sound(result: CheckResult | CaseScore) -> None:
    if result.state is ScoreState.SCORED:
        assert result.score is not None
        assert 0.0 <= result.score <= 1.0
        assert isinstance(result.passed, bool)
    else:
        assert (result.score, result.passed) == (None, None)
    assert result.reason
    result.reason.encode("utf-8")
    if isinstance(result, CheckResult):
        json.dumps(dict(result.detail), allow_nan=False).encode("utf-8")
        json.dumps(result.detail, ensure_ascii=False).encode("utf-8")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_answers_end_in_a_verdict_fast(name: str) -> None:
    for check, reference in FREE:
        start = time.monotonic()
        result = try_check(check, HOSTILE[name], reference)
        _sound(result)
        assert time.monotonic() - start < 6, check


@pytest.mark.parametrize(
    "pattern",
    [
        "(?:(?:(?:a{1000}){1000}){1000}){1000}b",
        "a{99999999}b",
        "(" * 5000 + ")" * 5000,
        "[" * 20_000,
        "(?:a{0,99999}){0,99999}",
        "x" * 20_000,
        "a{99999999999999999999}",
    ],
)
def test_patterns_that_would_eat_the_memory_are_refused(pattern: str) -> None:
    start = time.monotonic()
    result = try_check({"type": "regex", "pattern": pattern}, "aaa")
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "pattern_bad")
    assert time.monotonic() - start < 5


@pytest.mark.parametrize("pattern", [r"(a|a)*$", r"(x+x+)+y", r"(?:\D+|<\d+>)*[!?]"])
def test_patterns_that_would_never_end_are_stopped(pattern: str) -> None:
    text = "a" * 40 + "b" + "x" * 4000 + "z"
    start = time.monotonic()
    _sound(try_check({"type": "regex", "pattern": pattern}, text))
    assert time.monotonic() - start < 6


@pytest.mark.parametrize(
    ("pattern", "size"),
    [
        ("abc", 3),
        (r"\d{5}", 5),
        ("(ab){10}", 20),
        ("[abc]{2,4}", 4),
        ("((a{10}){10}){10}", 1000),
        ("a{55", 4),
        ("x{e<=2}", 7),
    ],
)
def test_the_size_of_written_out_repeats(pattern: str, size: int) -> None:
    assert expansion(pattern) == size < MAX_EXPANSION


any_character = st.characters(codec=None, exclude_categories=())
any_text = st.text(any_character, max_size=200) | st.text('{}[]",:01.-eE \n`ab<>/think%', max_size=60)
json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("ab ", max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)
OPTIONS = {option.name for check in CHECKS.values() for option in check.options} - {"prompt", "system"}
anything = json_values | any_text | st.lists(any_text, max_size=3) | st.floats() | st.binary(max_size=4)


@settings(max_examples=150, deadline=None)
@given(text=any_text, reference=anything, kind=st.sampled_from(sorted(CHECKS)), negate=st.booleans(),
       outcome=st.sampled_from(Outcome))  # fmt: skip
def test_no_check_ever_raises(text: str, reference: Any, kind: str, negate: bool, outcome: Outcome) -> None:
    spec = CheckSpec(kind, {}, negate=negate)
    case = Case(id="c", reference=reference, checks=(spec,))
    _sound(run_check(spec, Answer(text, outcome), case, ScoringContext()))
    _sound(score_case(case, Answer(text, outcome), ScoringContext()))


@settings(max_examples=100, deadline=None)
@given(
    options=st.dictionaries(st.sampled_from(sorted(OPTIONS)), anything, max_size=4),
    kind=st.sampled_from(sorted(CHECKS)),
)
def test_no_option_ever_raises(options: Mapping[str, Any], kind: str) -> None:
    _sound(try_check({**options, "type": kind}, "an answer with 42", "42"))


@settings(max_examples=200, deadline=None)
@given(text=any_text, index=st.integers(0, len(FREE) - 1))
def test_turning_a_check_around_inverts_it(text: str, index: int) -> None:
    check, reference = FREE[index]
    plain, turned = try_check(check, text, reference), try_check({**check, "not": True}, text, reference)
    assert plain.state is turned.state
    if plain.state is not ScoreState.SCORED or plain.detail.get("no_answer"):
        assert (plain.score, plain.passed) == (turned.score, turned.passed)
        return
    assert plain.score is not None
    assert turned.score == pytest.approx(1.0 - plain.score)
    assert turned.passed is not plain.passed


@settings(max_examples=200, deadline=None)
@given(value=json_values)
def test_what_is_written_as_json_is_found_and_matches_itself(value: Any) -> None:
    text = json.dumps(value)
    assert try_check({"type": "json_valid"}, text).passed
    if isinstance(value, (dict, list)) and value:
        for dressed in (text, f"```json\n{text}\n```", f"Here it is: {text} Bye."):
            assert find_all(dressed)[0].value == value
            assert try_check({"type": "json_match", "mode": "exact"}, dressed, value).passed


@settings(max_examples=200, deadline=None)
@given(
    number=st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**9), max_value=10**9)
)
def test_a_number_equals_itself_however_it_is_written(number: Any) -> None:
    for shown in (f"{number}", f"It is {number:,}.", f"**{number}**", f"({number:e})"):
        assert try_check({"type": "numeric"}, shown, str(number)).passed, shown


@settings(max_examples=200, deadline=None)
@given(left=st.text("abc", max_size=20), right=st.text("abcd", max_size=20))
def test_edit_distance_is_the_textbook_one(left: str, right: str) -> None:
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        above = row
        row = [i]
        for j, b in enumerate(right, 1):
            row.append(min(above[j] + 1, row[-1] + 1, above[j - 1] + (a != b)))
    assert edit_distance(left, right) == row[-1]


def test_a_refused_option_is_told_in_whole_characters() -> None:
    result = try_check({"type": "length", "max_chars": "\ud800"}, "text")
    assert result.reason_code == "option_bad"
    _sound(result)
