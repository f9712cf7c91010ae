"""What a failed attempt means: final, try again, or slow down; and how long to wait.

Judged by kind and status only, never by text or by an SDK's classes.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from enum import StrEnum

from providers.base import ErrorKind, ProviderError, RateLimits

BACKOFF_CAP_S = 60.0
SHORT_WAIT_S = 2.0
"""A server's wait up to this delays only the cell that was told."""
WAITED_S = 60.0
"""A server's wait up to this is simply waited."""
COUNTDOWN_S = 600.0
"""A server's wait up to this closes the lane; a longer one stops it."""
LONGEST_WAIT_S = 30 * 86_400.0

_THROTTLES = frozenset({ErrorKind.RATE_LIMIT, ErrorKind.OVERLOADED, ErrorKind.CONNECT_TIMEOUT})
_FINAL = frozenset(
    {
        ErrorKind.AUTH,
        ErrorKind.QUOTA,
        ErrorKind.BAD_REQUEST,
        ErrorKind.NOT_FOUND,
        ErrorKind.BLOCKED,
        ErrorKind.CANCELLED,
    }
)
_AGAIN = frozenset({ErrorKind.TIMEOUT, ErrorKind.CONNECT, ErrorKind.OFFLINE})
_RETRYABLE_STATUS = frozenset({408, 409, 425})
_THROTTLE_STATUS = frozenset({429, 529})
_NOT_CHARGED = frozenset({ErrorKind.CONNECT, ErrorKind.CONNECT_TIMEOUT, ErrorKind.OFFLINE, *_THROTTLES})


class Action(StrEnum):
    """What to do with the cell whose attempt failed."""

    FINAL = "final"
    RETRY = "retry"
    THROTTLE = "throttle"


@dataclass(frozen=True, slots=True)
class Failure:
    """One failed attempt, as far as the engine cares. `wait_s` is the server's own, if usable."""

    kind: ErrorKind
    message: str = ""
    status: int | None = None
    wait_s: float | None = None
    should_retry: bool | None = None
    day_quota: bool = False
    limits: RateLimits | None = None

    @classmethod
    def of(cls, error: ProviderError) -> Failure:
        """Reads the facts off a connector's error; an unusable wait counts as absent."""
        return cls(
            kind=error.kind,
            message=error.message,
            status=error.status,
            wait_s=usable_wait(error.retry_after_s),
            should_retry=error.should_retry,
            day_quota=error.day_quota,
            limits=error.limits,
        )

    @property
    def cause(self) -> tuple[str, int | None]:
        """Two failures of one cause look the same to the user."""
        return (self.kind.value, self.status)

    @property
    def denied(self) -> bool:
        """The key was refused or the credit is used up: asking again cannot help."""
        return self.kind in (ErrorKind.AUTH, ErrorKind.QUOTA) and not self.day_quota

    @property
    def not_charged(self) -> bool:
        """True where no vendor bills: refused by status 4xx, or never connected."""
        return self.kind in _NOT_CHARGED or (self.status is not None and 400 <= self.status < 500)


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How often and how long a lane tries again. `retries` are requests after the first."""

    retries: int = 2
    backoff_s: float = 2.0
    jitter: bool = True
    respect_retry_after: bool = True


def usable_wait(seconds: float | None) -> float | None:
    """A server's wait, or None where it is NaN, infinite or negative.

    What is longer than a month is a month: no run waits for it, and a clock can still show its end.
    """
    if seconds is None or not math.isfinite(seconds) or seconds < 0:
        return None
    return min(float(seconds), LONGEST_WAIT_S)


def classify(failure: Failure) -> Action:
    """Final, retry or throttle. The server's own `x-should-retry: false` is obeyed."""
    action = _by_kind(failure)
    if failure.should_retry is False:
        return Action.FINAL
    return action


def is_throttle(failure: Failure) -> bool:
    """True where the service asked for fewer calls, whatever becomes of the cell."""
    return _by_kind(failure) is Action.THROTTLE


def _by_kind(failure: Failure) -> Action:
    if failure.day_quota or failure.kind in _THROTTLES:
        return Action.THROTTLE
    if failure.kind in _FINAL:
        return Action.FINAL
    if failure.kind in _AGAIN:
        return Action.RETRY
    return _by_status(failure.status)


def _by_status(status: int | None) -> Action:
    if status in _THROTTLE_STATUS:
        return Action.THROTTLE
    if status is not None and 400 <= status < 500 and status not in _RETRYABLE_STATUS:
        return Action.FINAL
    return Action.RETRY


def ceiling_s(attempt: int, backoff_s: float) -> float:
    """The longest wait before retry `attempt` (from 0): min(60, backoff * 2**attempt)."""
    return min(BACKOFF_CAP_S, backoff_s * 2.0 ** min(attempt, 64))


def retry_delay_s(failure: Failure, attempt: int, policy: RetryPolicy, rng: random.Random) -> float:
    """Seconds before retry `attempt` (from 0): the server's wait, else full jitter."""
    if failure.wait_s is not None and policy.respect_retry_after:
        return failure.wait_s + (rng.uniform(0, 1) if policy.jitter else 0.0)
    ceiling = ceiling_s(attempt, policy.backoff_s)
    return rng.uniform(0, ceiling) if policy.jitter else ceiling
