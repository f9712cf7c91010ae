"""Any edit of any document changes that value only, and keeps every comment."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.config.splice import add_item, add_key, remove, set_value
from engine.config.values import to_value
from engine.config.yaml_text import compose
from engine.errors import UserError

_KEYS = st.sampled_from(["a", "b", "name", "x-1", "prompt", "no", "012"])
_TEXTS = st.one_of(
    st.sampled_from(
        [
            "no",
            "012",
            "1.50",
            "null",
            "",
            " a",
            "a: b",
            "a #b",
            "- x",
            "{{input}}",
            "two\nlines",
            "end\n",
            "'",
            '"',
            "tab\there",
            "é 😀",
            "a\\b",
            "true",
            "~",
            "...",
            "%x",
            "*a",
            "a:",
            "[x",
            "line\n\nblank\n",
            "\n",
        ]
    ),
    st.text(st.characters(blacklist_categories=["Cs"]), max_size=12),
)
_SCALARS = st.one_of(
    _TEXTS,
    st.integers(-1000, 10**6),
    st.booleans(),
    st.none(),
    st.floats(allow_nan=False, allow_infinity=False),
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.one_of(_KEYS, _TEXTS), inner, max_size=3)
    ),
    max_leaves=6,
)
# Documents as people write them: comments everywhere, both styles, odd indents, block texts.
DOCUMENTS = [
    "a: 1  # one\n\n# two\nb:\n  - x # three\n  -\n  - {c: [p, 'q'], d: }\n# four\n"
    "name: |\n  text\n  more\n\n# five\n",
    "models:\n- a: 1\n  b: two   # note\n\n  # between\n  c: 3\n"
    "-   a: 5\n    b: [1,\n      2, # flow note\n      3]\n# tail",
    "{a: {b: 1}, c: [x, y,], d: []}\n",
    "a: >-\n  folded\n  text\nb: |+\n  kept\n\n\nc: 'single'\nd: \"double\"\ne: {}\nf:\n",
    "- 1\n- - 2\n  - 3\n- a: {b: c}\n  d:\n    - e\n",
    "# only\na:\n    b:\n        c: 1\n    d: 2\n",
    "a: 1\r\nb:\r\n  - x  # crlf\r\n  - y\r\nc: |\r\n  l1\r\n  l2\r\n",
    "base: &base {t: 0, m: 5}\nlist:\n  - <<: *base\n    name: a\n  - *base\nother: *base\nlast: 1\n",
]


def _paths(value: Any, head: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    found = [head] if head else []
    if isinstance(value, dict):
        for key, item in value.items():
            found.extend(_paths(item, (*head, key)))
    elif isinstance(value, list):
        for index, item in enumerate(value):
            found.extend(_paths(item, (*head, index)))
    return found


def _changed(value: Any, path: tuple[str | int, ...], new: Any) -> Any:
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _changed(copy[path[0]], path[1:], new)
    return copy


def _comments(text: str) -> list[str]:
    return [line.split("#", 1)[1].strip() for line in text.splitlines() if "#" in line]


def _read(text: str) -> Any:
    document = compose(text, "a.yaml")
    assert document.problems == ()
    return to_value(document.root)


@given(st.sampled_from(DOCUMENTS), st.data())
@settings(max_examples=400, deadline=None)
def test_setting_a_value_changes_nothing_else(text: str, data: st.DataObject) -> None:
    document = compose(text, "a.yaml")
    before = to_value(document.root)
    path = data.draw(st.sampled_from(_paths(before)))
    value = data.draw(_VALUES)
    try:
        new = set_value(document, path, value)
    except UserError as error:
        _allowed(error, "&base" in text or _has_unwritable(value))
        return
    after = _read(new)
    if "&base" not in text:
        assert after == _changed(before, path, value)
    assert ("\r\n" in text) == ("\r\n" in new)


def _allowed(error: UserError, expected: bool) -> None:
    """A refusal is right only where a value is shared or no file can hold it."""
    assert error.code == "splice_refused"
    assert expected


def _has_unwritable(value: Any) -> bool:
    if isinstance(value, dict):
        return any(_has_unwritable(key) or _has_unwritable(item) for key, item in value.items())
    if isinstance(value, list):
        return any(map(_has_unwritable, value))
    return isinstance(value, str) and not value.isprintable()


@given(st.sampled_from(DOCUMENTS[:-1]), st.data())
@settings(max_examples=200, deadline=None)
def test_a_scalar_for_a_scalar_keeps_every_comment(text: str, data: st.DataObject) -> None:
    document = compose(text, "a.yaml")
    before = to_value(document.root)
    scalars = [path for path in _paths(before) if not isinstance(_at(before, path), dict | list)]
    path = data.draw(st.sampled_from(scalars))
    new = set_value(document, path, data.draw(st.integers(0, 99)))
    assert _comments(new) == _comments(text)
    assert len(new.splitlines()) <= len(text.splitlines())


def _at(value: Any, path: tuple[str | int, ...]) -> Any:
    for step in path:
        value = value[step]
    return value


@given(st.sampled_from(DOCUMENTS[:-1]), st.data())
@settings(max_examples=300, deadline=None)
def test_adding_and_removing_gives_the_same_values_back(text: str, data: st.DataObject) -> None:
    document = compose(text, "a.yaml")
    before = to_value(document.root)
    places = [()] + [path for path in _paths(before) if isinstance(_at(before, path), dict | list)]
    path = data.draw(st.sampled_from(places))
    value = data.draw(_VALUES)
    target = _at(before, path)
    try:
        if isinstance(target, dict):
            new = add_key(document, path, "added", value)
            spot: tuple[str | int, ...] = (*path, "added")
        else:
            new = add_item(document, path, value)
            spot = (*path, len(target))
    except UserError as error:
        _allowed(error, _has_unwritable(value))
        return
    assert _at(_read(new), spot) == value
    assert set(_comments(text)) <= set(_comments(new))
    back = remove(compose(new, "a.yaml"), spot)
    assert _read(back) == before


@given(st.sampled_from(DOCUMENTS[:-1]), st.data())
@settings(max_examples=200, deadline=None)
def test_removing_takes_that_entry_only(text: str, data: st.DataObject) -> None:
    document = compose(text, "a.yaml")
    before = to_value(document.root)
    path = data.draw(st.sampled_from(_paths(before)))
    after = _read(remove(document, path))
    parent = _at(before, path[:-1])
    kept = dict(parent) if isinstance(parent, dict) else list(parent)
    del kept[path[-1]]
    wanted = _changed(before, path[:-1], kept)
    assert after == wanted


@pytest.mark.parametrize("path", [("list", 0, "t"), ("list", 1), ("other",)])
def test_what_an_alias_shares_is_replaced_in_its_place_only(path: tuple[str | int, ...]) -> None:
    text = DOCUMENTS[-1]
    new = set_value(compose(text, "a.yaml"), path, 9)
    assert _at(_read(new), path) == 9
    assert _read(new)["base"] == {"t": 0, "m": 5}


def test_a_change_that_others_would_follow_is_refused() -> None:
    with pytest.raises(UserError) as caught:
        set_value(compose(DOCUMENTS[-1], "a.yaml"), ("base", "t"), 9)
    assert caught.value.code == "splice_refused"


@given(st.dictionaries(_KEYS, _VALUES, min_size=1, max_size=3), st.data())
@settings(max_examples=200, deadline=None)
def test_json_is_edited_the_same_way(content: dict[str, Any], data: st.DataObject) -> None:
    import json

    indent = data.draw(st.sampled_from([None, 2]))
    document = compose(json.dumps(content, indent=indent), "a.json")
    path = data.draw(st.sampled_from(_paths(content)))
    value = data.draw(_VALUES)
    new = set_value(document, path, value)
    assert json.loads(new) == _changed(content, path, value)
    added = add_key(document, (), "added", value)
    assert json.loads(added) == {**content, "added": value}
    assert json.loads(remove(compose(added, "a.json"), ("added",))) == content
