"""Pasted keys, and that no key ever shows in a message."""

from __future__ import annotations

import json

import pytest

from providers.base import ErrorKind, ProviderError
from providers.keytext import clean_key
from providers.redact import redact
from tests.providers.scripted import CASES

PASTED = json.loads((CASES / "pasted_keys.json").read_text("utf-8"))


@pytest.mark.parametrize("typed", PASTED["accept_after_trim"])
def test_ends_are_trimmed(typed: str) -> None:
    assert clean_key(typed) == typed.strip(" \n\ufeff")
    assert clean_key(typed).startswith("sk-test-000")


@pytest.mark.parametrize("typed", PASTED["reject_with_reason"])
def test_impossible_characters_are_named_and_the_key_is_not(typed: str) -> None:
    with pytest.raises(ProviderError) as caught:
        clean_key(typed)
    assert caught.value.kind is ErrorKind.AUTH
    assert "sk-" not in caught.value.message
    assert ("Character" in caught.value.message) == bool(typed)


def test_the_place_counts_from_one() -> None:
    with pytest.raises(ProviderError, match="Character 6 of the key is an invisible character"):
        clean_key("sk-te\u200bst")


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("Incorrect API key provided: sk-proj-abcdef123456.", "abcdef123456"),
        ("header Bearer abc.def-ghi_jkl0", "abc.def-ghi_jkl0"),
        ("GET https://x/v1?key=AIzaSyA1234567890", "AIzaSyA1234567890"),
        ("GET https://x/v1?key=short&b=1", "short"),
        ("http://me:hunter2@proxy:1", "hunter2"),
        ("key gsk_abcdefgh1234 refused", "gsk_abcdefgh1234"),
        ("my own odd secret 'p@ss w0rd' came back", "p@ss w0rd"),
    ],
)
def test_redaction(text: str, secret: str) -> None:
    assert secret not in redact(text, ["p@ss w0rd"])


def test_redaction_keeps_ordinary_words_and_bounds_length() -> None:
    assert redact("The risk-free sk- task is 'ask-me'.", ["abc"]) == "The risk-free sk- task is 'ask-me'."
    assert len(redact("x" * 10_000)) == 500
    assert redact("abcd" * 3, ["abcd", "abcdabcd"]) == "******"
