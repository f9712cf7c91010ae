"""No form of a key survives in text that is shown."""

from __future__ import annotations

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.redact import redact

SECRET = 'pa"ss/wörd+1234='


@pytest.mark.parametrize(
    "form",
    [
        SECRET,
        quote(SECRET, safe=""),
        json.dumps(SECRET)[1:-1],
        base64.b64encode(SECRET.encode()).decode(),
        base64.urlsafe_b64encode(SECRET.encode()).decode(),
    ],
)
def test_every_form_of_a_known_secret_goes(form: str) -> None:
    assert form not in redact(f"Authorization failed for {form}!", [SECRET])


def test_the_longest_goes_first() -> None:
    assert redact("abcdefgh-longer abcdefgh", ["abcdefgh", "abcdefgh-longer"]) == "*** ***"


def test_short_words_and_nothing_tear_nothing_apart() -> None:
    assert redact("the cat sat", ["cat", "", None, "the "]) == "the cat sat"


@pytest.mark.parametrize("key", ["sk-ant-api03-abcdefgh12345", "AIzaSyabcdefgh1234567", "gsk_abcdefgh1234"])
def test_unknown_keys_are_found_by_their_shape(key: str) -> None:
    assert key not in redact(f"Incorrect API key provided: {key}.")


def test_long_text_is_not_cut() -> None:
    text = "x y " * 5000
    assert redact(text) == text


@given(st.text(min_size=8).map(str.strip).filter(lambda s: len(s) >= 8), st.text(), st.text())
def test_a_known_secret_never_stays(secret: str, before: str, after: str) -> None:
    if secret.strip("*"):
        assert secret not in redact(f"{before} {secret} {after}", [secret])
