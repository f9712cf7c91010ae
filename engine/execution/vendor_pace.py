"""The pace that a vendor's own rate-limit headers ask for."""

from __future__ import annotations

from providers.base import RateLimits

from engine.execution.throttle import FASTEST_PER_S

_REFILL_SHARE = 0.95
_NEWEST_SHARE = 0.2


class VendorPace:
    """Turns what is left of requests and tokens into starts per second, lane by lane.

    Tokens are turned into calls by what the lane's calls used lately. One thread owns it.
    """

    def __init__(self) -> None:
        self._tokens_per_call: dict[str, float] = {}

    def heard(self, lane: str, limits: RateLimits | None, tokens: int | None) -> float | None:
        """The pace of a lane after one more reply; None where its headers tell none.

        `tokens` is what the call used, None where that is not known.
        """
        if tokens is not None and tokens > 0:
            before = self._tokens_per_call.get(lane, float(tokens))
            self._tokens_per_call[lane] = before + (tokens - before) * _NEWEST_SHARE
        if limits is None:
            return None
        pace = sustained_per_s(limits.remaining, limits.limit, limits.reset_s)
        each = self._tokens_per_call.get(lane)
        if limits.tokens_remaining is not None and limits.tokens_reset_s is not None and each:
            tokens_per_s = sustained_per_s(
                limits.tokens_remaining, limits.tokens_limit, limits.tokens_reset_s, least=each
            )
            pace = min(pace, tokens_per_s / each)
        return pace


def sustained_per_s(remaining: int, limit: int | None, reset_s: float, least: float = 1.0) -> float:
    """How much per second can be taken without running dry.

    `reset_s` is when all of `limit` is there again, so a bucket that has `limit - remaining` to fill
    fills at that much per `reset_s`. Above half full more may be taken than comes in; where the
    limit is not named, what is left is spread over the time; `least` is what one more call takes.
    """
    if reset_s <= 0:
        return FASTEST_PER_S * least
    filling = 0.0 if limit is None else _REFILL_SHARE * max(0, limit - remaining)
    return max(float(remaining), filling, least) / reset_s
