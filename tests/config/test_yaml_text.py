"""The one reader: YAML 1.2 core, JSON, marks, limits, and faults in plain words."""

from __future__ import annotations

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from yaml.nodes import MappingNode

from engine.config.values import pairs, to_text, to_value
from engine.config.yaml_text import compose


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("yes", "yes"), ("no", "no"), ("on", "on"), ("Off", "Off"), ("y", "y"),
        ("true", True), ("False", False), ("null", None), ("~", None), ("", None),
        ("012", 12), ("0o14", 12), ("0x1F", 31), ("-7", -7), ("+7", 7), ("1_000", "1_000"),
        ("1.50", 1.5), (".5", 0.5), ("1e3", 1000.0), ("5.", 5.0), ("1:30", "1:30"),
        ("2024-01-02", "2024-01-02"), (".inf", math.inf), ("-.Inf", -math.inf), ("0b1", "0b1"),
        ('"1"', "1"), ("'no'", "no"), ("!!str 3", "3"), ("!!int 3", 3), ("=", "="), ("9" * 5000, "9" * 5000),
    ],
)  # fmt: skip
def test_plain_values_follow_the_core_rules(text: str, value: object) -> None:
    document = compose(f"a: {text}\n")
    assert document.problems == ()
    found = to_value(document.root)["a"]  # type: ignore[arg-type]
    assert (type(found), found) == (type(value), value)


def test_text_is_as_it_is_written() -> None:
    document = compose("a: [012, 1.50, 2024-01-02, no, null, ~, 'x']\nb: null\nc: {d: 0x1}\n")
    assert to_text(document.root) == {  # type: ignore[arg-type]
        "a": ["012", "1.50", "2024-01-02", "no", "null", "~", "x"],
        "b": None,
        "c": {"d": "0x1"},
    }


def test_a_byte_order_mark_moves_no_mark() -> None:
    document = compose("\ufeffa: 1\nb: é\n")
    assert isinstance(document.root, MappingNode)
    key, value = list(pairs(document.root))[1]
    assert document.text[key.start_mark.index : value.end_mark.index] == "b: é"


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("a: 'x\nb: 2\n", "open_quote", 1),
        ("a: [1, 2\n", "open_bracket", 2),
        ("a: b: c\n", "colon_in_text", 1),
        ("a: *x\n", "undefined_alias", 1),
        ("a: @x\n", "bad_start", 1),
        ("a: 1\n---\nb: 1\n", "several_documents", 2),
        ('a: "\\q"\n', "bad_escape", 1),
        ("a:\n  - 1\n c: 2\n", "bad_indent", 3),
        ("a: 1\nb: \x07\n", "bad_character", 2),
        ("a: &n 1\nb: &n 2\n", "duplicate_anchor", 2),
        ("a: !!python/object:os.system x\n", "bad_tag", 1),
        ("a: !own x\n", "bad_tag", 1),
        ("a:\n\tb: 1\n", "tab_indent", 2),
        ("a:\n  b: {{ x }}\n", "unquoted_placeholder", 2),
        ("- {{x}} and more\n", "unquoted_placeholder", 1),
        ("a: {b: {{ x }}}\n", "unquoted_placeholder", 1),
        ("? [1, 2]\n: b\n", "bad_key", 1),
        ("a: &a [*a]\n", "alias_bomb", None),
        ("a:\n  <<: 3\n", "bad_merge", 2),
        ("a: {b: 1, b: 2}\n", "duplicate_key", 1),
    ],
)
def test_faults_have_a_place_and_a_way_out(text: str, code: str, line: int | None) -> None:
    problems = compose(text, "a.yaml").problems
    assert [(problem.code, problem.line) for problem in problems] == [(code, line)]
    assert problems[0].fix
    for jargon in ("token", "scanning", "mapping values", "expected <", "flow sequence"):
        assert jargon not in str(problems[0])


def test_all_duplicate_keys_are_reported() -> None:
    problems = compose("a: 1\nb: {c: 1, c: 2}\na: 2\na: 3\n").problems
    assert [(p.code, p.line) for p in problems] == [
        ("duplicate_key", 3),
        ("duplicate_key", 4),
        ("duplicate_key", 2),
    ]


def test_a_tab_after_a_value_is_harmless() -> None:
    document = compose("a: 1\t# note\nb:\t2\n")
    assert (document.problems, to_value(document.root)) == ((), {"a": 1, "b": 2})  # type: ignore[arg-type]


@pytest.mark.parametrize("opener", ["[", "{a: ", "- "])
@pytest.mark.parametrize("levels", [150, 3000])
def test_deep_nesting_is_refused_not_a_crash(opener: str, levels: int) -> None:
    problems = compose(opener * levels, "a.yaml").problems
    assert [problem.code for problem in problems] == ["too_deep"]
    assert compose('[{"a":' * levels, "a.json").problems[0].code == "too_deep"


def test_a_hundred_levels_are_fine() -> None:
    for is_json in (False, True):
        document = compose("[" * 100 + "]" * 100, is_json=is_json)
        assert document.problems == ()
        assert document.root is not None


def test_nesting_through_aliases_counts() -> None:
    lines = ["a0: &a0 [x]"] + [f"a{i}: &a{i} [*a{i - 1}]" for i in range(1, 120)]
    assert [problem.code for problem in compose("\n".join(lines)).problems] == ["too_deep"]


def test_a_file_above_the_limit_is_refused() -> None:
    assert compose("é" * (8 * 1024 * 1024 + 1)).problems[0].code == "file_too_large"


def test_merge_keys_give_way_to_own_keys() -> None:
    text = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nz:\n  <<: [*x, *y]\n  a: 9\n"
    document = compose(text)
    assert document.problems == ()
    assert to_value(document.root)["z"] == {"a": 9, "b": 2, "c": 4}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "line", "column"),
    [
        ('{"a": 1,}', 1, 9),
        ('{\n "a" 1}', 2, 6),
        ("{'a': 1}", 1, 2),
        ('{"a": NaN}', 1, 7),
        ('{"a": 01}', 1, 7),
        ('["a\nb"]', 1, 4),
        ('["a', 1, 2),
        ('{"a":1}\nx', 2, 1),
        ("[1,\n2", 2, 2),
        ('["\\q"]', 1, 3),
        ("[1 2]", 1, 4),
    ],
)
def test_json_faults_have_a_place(text: str, line: int, column: int) -> None:
    problems = compose(text, "a.json").problems
    assert [(problem.code, problem.line, problem.column) for problem in problems] == [
        ("bad_json", line, column)
    ]


_JSON = st.recursive(
    st.one_of(
        st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text()
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(st.text(), inner, max_size=4)),
    max_leaves=12,
)


@given(_JSON, st.booleans(), st.sampled_from([None, 1]))
def test_json_is_read_like_the_standard_library(value: object, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent)
    document = compose(text, "a.json")
    assert document.problems == ()
    assert document.root is not None
    assert to_value(document.root) == value


@given(st.text(max_size=60))
def test_no_text_makes_the_reader_fail(text: str) -> None:
    for name in ("a.yaml", "a.json"):
        document = compose(text, name)
        assert all(problem.message and problem.fix for problem in document.problems)
        if name == "a.json":
            assert document.root is not None or document.problems or not document.text.strip()
