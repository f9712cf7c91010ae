"""Which failures are final, which come again, and how long is waited."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path

import pytest

from engine.execution.retry import (
    Action,
    Failure,
    RetryPolicy,
    ceiling_s,
    classify,
    is_throttle,
    retry_delay_s,
    usable_wait,
)
from providers.base import ErrorKind, ProviderError


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 410, 413, 418, 422, 451])
def test_client_errors_are_final(status: int) -> None:
    assert classify(Failure(ErrorKind.UNKNOWN, status=status)) is Action.FINAL


@pytest.mark.parametrize("status", [408, 409, 425, 500, 502, 503, 504, 599])
def test_server_errors_come_again(status: int) -> None:
    assert classify(Failure(ErrorKind.UNKNOWN, status=status)) is Action.RETRY


@pytest.mark.parametrize(
    "kind", [ErrorKind.TIMEOUT, ErrorKind.CONNECT, ErrorKind.UNKNOWN, ErrorKind.BAD_REPLY]
)
def test_an_unknown_failure_is_retried(kind: ErrorKind) -> None:
    assert classify(Failure(kind)) is Action.RETRY


@pytest.mark.parametrize(
    "failure",
    [
        Failure(ErrorKind.RATE_LIMIT, status=429),
        Failure(ErrorKind.OVERLOADED, status=529),
        Failure(ErrorKind.CONNECT_TIMEOUT),
        Failure(ErrorKind.UNKNOWN, status=429),
        Failure(ErrorKind.UNKNOWN, status=529),
    ],
)
def test_requests_to_slow_down_are_throttles(failure: Failure) -> None:
    assert classify(failure) is Action.THROTTLE


def test_no_money_left_is_final_although_it_is_a_429() -> None:
    assert classify(Failure(ErrorKind.QUOTA, status=429)) is Action.FINAL
    assert Failure(ErrorKind.QUOTA, status=429).denied


def test_the_server_may_forbid_a_retry() -> None:
    failure = Failure(ErrorKind.RATE_LIMIT, status=429, should_retry=False)
    assert classify(failure) is Action.FINAL
    assert is_throttle(failure)
    assert classify(Failure(ErrorKind.UNKNOWN, status=500, should_retry=False)) is Action.FINAL


@pytest.mark.parametrize("bad", [math.nan, math.inf, -1.0, None])
def test_an_unusable_wait_counts_as_absent(bad: float | None) -> None:
    assert usable_wait(bad) is None
    assert Failure.of(ProviderError(ErrorKind.RATE_LIMIT, "x", retry_after_s=bad)).wait_s is None


def test_the_ceilings_double_up_to_a_minute() -> None:
    assert [ceiling_s(i, 2.0) for i in range(7)] == [2, 4, 8, 16, 32, 60, 60]
    assert ceiling_s(10_000, 2.0) == 60


def test_full_jitter_stays_between_zero_and_the_ceiling() -> None:
    rng = random.Random(7)
    policy = RetryPolicy(backoff_s=2.0)
    failure = Failure(ErrorKind.UNKNOWN, status=500)
    for attempt in range(8):
        waits = [retry_delay_s(failure, attempt, policy, rng) for _ in range(500)]
        ceiling = ceiling_s(attempt, 2.0)
        assert min(waits) >= 0
        assert max(waits) <= ceiling
        assert min(waits) < ceiling * 0.1
        assert max(waits) > ceiling * 0.9


def test_the_servers_wait_wins_over_the_formula() -> None:
    data = json.loads((Path(__file__).parents[1] / "data/cases/retry_after_values.json").read_text())
    waits = [c["wait_s"] for c in data["cases"] if "wait_s" in c]
    assert waits
    for wait in waits:
        failure = Failure(ErrorKind.UNKNOWN, status=503, wait_s=wait)
        delay = retry_delay_s(failure, 5, RetryPolicy(), random.Random(1))
        assert wait <= delay <= wait + 1


def test_a_connection_may_ignore_the_servers_wait() -> None:
    policy = RetryPolicy(backoff_s=1.0, respect_retry_after=False)
    failure = Failure(ErrorKind.UNKNOWN, status=503, wait_s=50)
    assert retry_delay_s(failure, 0, policy, random.Random(1)) <= 1.0
    assert retry_delay_s(failure, 2, RetryPolicy(backoff_s=1.0, jitter=False), random.Random(1)) == 50
