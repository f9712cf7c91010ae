"""A price with its source, and what an answer costs by it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal

from providers.base import Usage

STALE_AFTER_DAYS = 90
_MTOK = Decimal(1_000_000)


@dataclass(frozen=True, slots=True)
class PriceTier:
    """The price of a whole request whose prompt has more than `above_input_tokens` tokens."""

    above_input_tokens: int
    input_usd_per_mtok: Decimal
    output_usd_per_mtok: Decimal
    cache_read_usd_per_mtok: Decimal | None = None
    cache_write_usd_per_mtok: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars per million tokens, with where it is from and of which day.

    `free` marks models on this computer; a project's own 0 is a price, not `free`. A cache rate
    of None means: cached tokens cost what input costs. `matched` is the name the price was found
    under; `inherited` says that this is a broader name than the model's own.
    """

    input_usd_per_mtok: Decimal
    output_usd_per_mtok: Decimal
    cache_read_usd_per_mtok: Decimal | None = None
    cache_write_usd_per_mtok: Decimal | None = None
    context_tokens: int | None = None
    source: str = ""
    as_of: date | None = None
    free: bool = False
    reasoning_usd_per_mtok: Decimal | None = None
    request_usd: Decimal = Decimal(0)
    tiers: tuple[PriceTier, ...] = ()
    matched: str = ""
    inherited: bool = False

    def is_stale(self, today: date | None = None) -> bool:
        """True where the price is known to be more than 90 days old."""
        if self.free or self.as_of is None:
            return False
        return ((today or datetime.now(UTC).date()) - self.as_of).days > STALE_AFTER_DAYS


def cost(price: Price | None, usage: Usage) -> Decimal | None:
    """US dollars of one answer, exact. None where the price or the needed usage is not known.

    `usage.input` holds cached tokens already and `usage.output` reasoning, so each token is
    billed once.
    """
    if price is None:
        return None
    if price.free:
        return Decimal(0)
    if usage.input is None or usage.output is None:
        return None
    rate = _rate_for(price, usage.input)
    read = min(usage.cache_read or 0, usage.input)
    written = min(usage.cache_write or 0, usage.input - read)
    total = (usage.input - read - written) * rate.input_usd_per_mtok
    total += read * _first(rate.cache_read_usd_per_mtok, rate.input_usd_per_mtok)
    total += written * _first(rate.cache_write_usd_per_mtok, rate.input_usd_per_mtok)
    thought = min(usage.reasoning or 0, usage.output)
    total += (usage.output - thought) * rate.output_usd_per_mtok
    total += thought * _first(price.reasoning_usd_per_mtok, rate.output_usd_per_mtok)
    return total / _MTOK + price.request_usd


def estimate_cost(
    price: Price | None, prompt_tokens: int | None, output_tokens: int | None
) -> Decimal | None:
    """US dollars of a planned call with nothing cached; None where it cannot be known."""
    return cost(price, Usage(input=prompt_tokens, output=output_tokens))


def _rate_for(price: Price, input_tokens: int) -> Price | PriceTier:
    above = [tier for tier in price.tiers if input_tokens > tier.above_input_tokens]
    return max(above, key=lambda tier: tier.above_input_tokens) if above else price


def _first(rate: Decimal | None, otherwise: Decimal) -> Decimal:
    return otherwise if rate is None else rate
