"""Retry-After in all its spellings."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any

import pytest

from providers.waits import names_day_quota, retry_after_s, should_retry
from tests.providers.scripted import CASES

TABLE = json.loads((CASES / "retry_after_values.json").read_text("utf-8"))
NOW = parsedate_to_datetime(TABLE["now"])


@pytest.mark.parametrize("case", TABLE["cases"], ids=lambda case: str(case["headers"]))
def test_table(case: dict[str, Any]) -> None:
    if "wait_s" in case:
        assert retry_after_s(case["headers"], None, NOW) == pytest.approx(case["wait_s"])
    else:
        assert should_retry(case["headers"]) is case["retry"]


@pytest.mark.parametrize("value", ["NaN", "-1", "inf", "soon", "", "1e999", "-0.5"])
def test_unusable_counts_as_absent(value: str) -> None:
    assert retry_after_s({"retry-after": value, "retry-after-ms": value}, None, NOW) is None


def test_an_unusable_header_falls_through_to_the_next() -> None:
    assert retry_after_s({"retry-after-ms": "NaN", "Retry-After": "7"}, None, NOW) == 7


def test_google_puts_the_wait_into_the_body() -> None:
    minute = json.loads((CASES / "http_gemini_429_minute.json").read_text("utf-8"))["responses"][0]["body"]
    day = json.loads((CASES / "http_gemini_429_day.json").read_text("utf-8"))["responses"][0]["body"]
    assert retry_after_s({}, minute) == 2.4
    assert not names_day_quota(minute)
    assert retry_after_s({}, day) == 1.0
    assert names_day_quota(day)
    assert retry_after_s({"retry-after": "9"}, minute) == 9


@pytest.mark.parametrize(
    ("message", "wait"),
    [
        ("Please try again in 20s.", 20.0),
        ("Please retry in 850ms", 0.85),
        ("try again after 2 minutes", 120.0),
        ("try again later", None),
    ],
)
def test_the_sentence_is_the_last_resort(message: str, wait: float | None) -> None:
    assert retry_after_s({}, {"error": {"message": message}}) == wait


@pytest.mark.parametrize(
    "body", [None, [], "text", {"error": "text"}, {"error": {"details": "x"}}, {"error": {"details": [1]}}]
)
def test_any_body_is_survived(body: Any) -> None:
    assert retry_after_s({}, body, datetime.now(UTC)) is None
    assert not names_day_quota(body)


def test_should_retry_is_read_whatever_its_case() -> None:
    assert should_retry({"X-Should-Retry": "TRUE"}) is True
    assert should_retry({"x-should-retry": "maybe"}) is None
    assert should_retry({}) is None
