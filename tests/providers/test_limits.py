"""Vendors' rate-limit headers, as they are written."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from providers.base import RateLimits
from providers.limits import read_limits
from tests.providers.conftest import failure, question
from tests.providers.scripted import Answer, chat_body, scripted

NOW = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)
OPENAI = {
    "x-ratelimit-limit-requests": "60",
    "x-ratelimit-limit-tokens": "150000",
    "x-ratelimit-remaining-requests": "59",
    "x-ratelimit-remaining-tokens": "149984",
    "x-ratelimit-reset-requests": "1s",
    "x-ratelimit-reset-tokens": "6m0s",
}
ANTHROPIC = {
    "anthropic-ratelimit-requests-limit": "1000",
    "anthropic-ratelimit-requests-remaining": "999",
    "anthropic-ratelimit-requests-reset": "2026-03-01T12:00:30Z",
    "anthropic-ratelimit-tokens-limit": "100000",
    "anthropic-ratelimit-tokens-remaining": "98000",
    "anthropic-ratelimit-tokens-reset": "2026-03-01T12:00:02Z",
}


def test_openai() -> None:
    assert read_limits(OPENAI, NOW) == RateLimits(59, 60, 1.0, 149984, 150000, 360.0)


def test_anthropic() -> None:
    assert read_limits(ANTHROPIC, NOW) == RateLimits(999, 1000, 30.0, 98000, 100000, 2.0)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("1s", 1.0),
        ("6ms", 0.006),
        ("2m59.56s", 179.56),
        ("1h2m3s", 3723.0),
        ("17.5", 17.5),
        ("0", 0.0),
        ("2026-03-01T12:01:00+00:00", 60.0),
        ("2026-03-01T11:00:00Z", 0.0),
        ("99999h", 86_400.0),
    ],
)
def test_waits_in_all_their_spellings(text: str, seconds: float) -> None:
    headers = {"X-RateLimit-Remaining-Requests": "5", "X-RateLimit-Reset-Requests": text}
    found = read_limits(headers, NOW)
    assert found is not None
    assert found.reset_s == pytest.approx(seconds)
    assert (found.remaining, found.limit, found.tokens_remaining) == (5, None, None)


@pytest.mark.parametrize("text", ["", "soon", "-3", "nan", "inf", "5x", "2026-03-01T12:00:00", "1s later"])
def test_what_cannot_be_read_counts_as_absent(text: str) -> None:
    headers = {"x-ratelimit-remaining-requests": "5", "x-ratelimit-reset-requests": text}
    assert read_limits(headers, NOW) is None


@given(st.dictionaries(st.sampled_from([*OPENAI, *ANTHROPIC]), st.text(max_size=20)))
def test_any_headers_are_survived(headers: dict[str, str]) -> None:
    found = read_limits(headers, NOW)
    assert found is None or (found.remaining >= 0 and found.reset_s >= 0)


@pytest.mark.parametrize(("kind", "headers"), [("openai", OPENAI), ("openai_compatible", OPENAI)])
def test_chat_replies_and_refusals_carry_them(connect, kind: str, headers: dict[str, str]) -> None:
    refusal = {"error": {"message": "slow down", "code": "rate_limit_exceeded"}}
    with scripted(Answer(chat_body(), headers=headers), Answer(refusal, 429, headers)) as server:
        provider = connect(kind, server.url)
        reply = provider.complete(question())
        assert reply.limits == RateLimits(59, 60, 1.0, 149984, 150000, 360.0)
        assert failure(provider, question()).limits == reply.limits


def test_anthropic_replies_and_refusals_carry_them(connect) -> None:
    body = {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "alpha-small",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 1, "output_tokens": 1},
    }
    refusal = {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}}
    with scripted(Answer(body, headers=ANTHROPIC), Answer(refusal, 429, ANTHROPIC)) as server:
        provider = connect("anthropic", server.url)
        limits = provider.complete(question()).limits
        assert limits is not None
        assert (limits.remaining, limits.limit, limits.reset_s) == (999, 1000, 0.0)
        refused = failure(provider, question()).limits
        assert refused is not None
        assert refused.tokens_remaining == 98000


def test_none_without_such_headers(connect) -> None:
    with scripted(Answer(chat_body())) as server:
        assert connect("openai_compatible", server.url).complete(question()).limits is None
