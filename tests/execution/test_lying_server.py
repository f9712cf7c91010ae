"""A server may say anything: numbers nobody can have, waits without an end. The run goes on and ends."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import pytest

from engine.execution.retry import LONGEST_WAIT_S, Failure, usable_wait
from providers.base import ErrorKind, ProviderError, Usage
from providers.chat import Collected, read_usage


@pytest.mark.parametrize("count", [10**30, -1, 2**63])
@pytest.mark.parametrize("name", ["input", "output", "cache_read", "cache_write", "reasoning"])
def test_a_count_nobody_can_have_is_not_known(name: str, count: int) -> None:
    assert getattr(Usage(**{name: count}), name) is None


def test_counts_as_large_as_any_service_are_kept() -> None:
    assert Usage(input=10_000_000, output=0) == Usage(10_000_000, 0, None, None, None, False)


def test_a_reply_with_a_huge_count_is_one_without_usage() -> None:
    usage = read_usage({"prompt_tokens": 10**30, "completion_tokens": 10**30})
    assert usage is not None
    assert (usage.input, usage.output) == (None, None)


@pytest.mark.parametrize("told", ["1e400", -100, "nan", "inf", 1e300, True, [5]])
def test_a_cost_nobody_can_have_is_not_taken(told: Any) -> None:
    from providers.chat import _money

    assert _money(told) is None
    assert _money("0.25") == Decimal("0.25")
    assert Collected().cost_usd is None


@pytest.mark.parametrize("seconds", [1e308, 1e18, 10**12])
def test_a_wait_without_an_end_is_a_month(seconds: float) -> None:
    assert usable_wait(seconds) == LONGEST_WAIT_S
    error = ProviderError(ErrorKind.RATE_LIMIT, "slow down", status=429, retry_after_s=seconds)
    assert Failure.of(error).wait_s == LONGEST_WAIT_S


@pytest.mark.parametrize("seconds", [math.nan, math.inf, -1.0, None])
def test_an_unusable_wait_is_absent(seconds: float | None) -> None:
    assert usable_wait(seconds) is None
