"""Pasted keys: ends are trimmed, what is wrong inside is named and never removed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.keystore import clean_pasted_key, guess_vendor

CASE = json.loads(
    (Path(__file__).parents[1] / "data" / "cases" / "pasted_keys.json").read_text(encoding="utf-8")
)


@pytest.mark.parametrize("pasted", CASE["accept_after_trim"])
def test_fc117_ends_are_trimmed(pasted: str) -> None:
    key, problems = clean_pasted_key(pasted)
    assert problems == ()
    assert key.startswith("sk-test-")
    assert key.isascii()


@pytest.mark.parametrize("pasted", CASE["reject_with_reason"])
def test_fc117_what_cannot_be_in_a_key_is_named(pasted: str) -> None:
    key, problems = clean_pasted_key(pasted)
    assert problems
    assert key == pasted.strip()
    assert all(str(p) and (len(key) < 5 or key not in str(p)) for p in problems)


def test_the_place_of_an_invisible_space_is_named() -> None:
    _, problems = clean_pasted_key("  sk-abcdefgh\u200bij\n")
    assert [(p.code, p.position) for p in problems] == [("invisible", 12)]
    assert (
        str(problems[0]) == "Character 12 of the key is an invisible space (U+200B), which no key can hold."
    )


def test_every_wrong_character_is_named() -> None:
    _, problems = clean_pasted_key("sk a\nb\u2014c\u028b")
    assert [(p.code, p.position) for p in problems] == [
        ("space", 3),
        ("line_break", 5),
        ("letter", 7),
        ("letter", 9),
    ]


@pytest.mark.parametrize(
    ("pasted", "code"),
    [
        ('"sk-abc"', "quoted"),
        ("OPENAI_API_KEY=sk-abc", "assignment"),
        ("export KEY_A = sk-abc", "assignment"),
        (" \u200b\n", "empty"),
    ],
)
def test_more_than_the_key(pasted: str, code: str) -> None:
    assert [p.code for p in clean_pasted_key(pasted)[1]] == [code]


@pytest.mark.parametrize(
    ("key", "vendor"),
    [
        ("sk-ant-api03-x", "anthropic"),
        ("sk-proj-x", "openai"),
        ("sk-" + "a1" * 24, "openai"),
        ("sk-or-v1-x", "openrouter"),
        ("gsk_x", "groq"),
        ("AIzaSyx", "gemini"),
        ("sk-0123456789abcdef0123456789abcdef", None),
        ("hello", None),
    ],
)
def test_whose_key_it_may_be(key: str, vendor: str | None) -> None:
    assert guess_vendor(f" {key}\n") == vendor
