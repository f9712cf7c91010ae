"""The shipped list prices (package `genai-prices`, works offline) behind a strict look-up.

The package matches names by prefix; here a match counts only when what is left over says
nothing about the model (a date, `latest`), so that a sibling's price is never borrowed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from engine.price_refresh import refreshed_prices

# Our kinds whose usual address the catalogue knows under its own name.
VENDORS: Mapping[str, str] = {
    "anthropic": "anthropic",
    "openai": "openai",
    "gemini": "google",
    "openrouter": "openrouter",
    "groq": "groq",
}

_RATES = {
    "input_usd_per_mtok": "input_mtok",
    "output_usd_per_mtok": "output_mtok",
    "cache_read_usd_per_mtok": "cache_read_mtok",
    "cache_write_usd_per_mtok": "cache_write_mtok",
    "reasoning_usd_per_mtok": "output_reasoning_mtok",
}
_CHECKED = re.compile(r"(?:verified|checked|as of|confirmed)[^.;]*?(\d{4}-\d{2}-\d{2})", re.IGNORECASE)
_OTHER_USE = re.compile(
    r"embed|whisper|transcri|moderation|guard|rerank|(?:^|[-/])(?:tts|image|audio|realtime|live|translate"
    r"|voice|speech|ocr|video|veo|imagen|sora|dall-e|lyria|robotics|streaming|computer-use|search-api"
    r"|banana|orpheus)(?![a-z])|(?:^|-)(?:ada|babbage|curie|davinci)(?:-|$)|gpt-3"
)
_OWN_NAMES: Mapping[str, tuple[str, ...]] = {"google": ("gemini", "gemma")}
_SAYS_NOTHING = re.compile(
    r"(?:[-.@:_](?:latest|preview|exp|experimental|default|v\d+(?::\d)?|\d{3}|\d{6}|\d{8}"
    r"|\d{4}-\d{2}-\d{2}|\d{2}-\d{2}(?:-\d{4})?|\d{2}-\d{4}))*"
)


@dataclass(frozen=True, slots=True)
class Rates:
    """US dollars per million tokens, and per request. A rate of None is not known."""

    input_usd_per_mtok: Decimal | None = None
    output_usd_per_mtok: Decimal | None = None
    cache_read_usd_per_mtok: Decimal | None = None
    cache_write_usd_per_mtok: Decimal | None = None
    reasoning_usd_per_mtok: Decimal | None = None
    request_usd: Decimal = Decimal(0)


@dataclass(frozen=True, slots=True)
class Tier:
    """Rates of a whole request whose prompt has more than `above_input_tokens` tokens."""

    above_input_tokens: int
    rates: Rates


@dataclass(frozen=True, slots=True)
class Listing:
    """What the catalogue says about one model."""

    model_id: str
    vendor: str
    rates: Rates
    tiers: tuple[Tier, ...]
    context_tokens: int | None
    source: str
    as_of: date | None


class Catalogue:
    """Looks models up. `now` decides which of several dated prices is in force."""

    def __init__(self, now: datetime | None = None) -> None:
        self._now = now or datetime.now(UTC)
        self._found: dict[tuple[str, ...], Listing | None] = {}

    def find(
        self,
        names: Iterable[str],
        *,
        vendor: str | None = None,
        url: str | None = None,
        params: Mapping[str, Any] | None = None,
    ) -> Listing | None:
        """The listing of the first of `names` that is known, at the vendor or the address."""
        context = {k: str(v) for k, v in (params or {}).items() if k in ("service_tier", "speed")}
        wanted = tuple(names)
        key = (*wanted, vendor or "", url or "", *sorted(f"{k}={v}" for k, v in context.items()))
        if key not in self._found:
            self._found[key] = self._find(wanted, vendor, url, context)
        return self._found[key]

    def _find(
        self, names: tuple[str, ...], vendor: str | None, url: str | None, context: Mapping[str, str]
    ) -> Listing | None:
        provider = _provider(vendor, url)
        if provider is None:
            return None
        models = list(_models(provider))
        for name in names:
            for model in models:
                if _is_same(model, name.lower()):
                    return self._listing(provider, model, context)
        return None

    def _listing(self, provider: Any, model: Any, context: Mapping[str, str]) -> Listing:
        rates: Rates = Rates()
        tiers: tuple[Tier, ...] = ()
        if model.prices or not isinstance(model.prices, list):
            table = vars(model.get_prices(self._now, context))
            rates, tiers = _rates(table)
            # A price of nothing is believed only where the name itself says so.
            if rates.input_usd_per_mtok == rates.output_usd_per_mtok == 0 and not model.id.endswith(":free"):
                rates, tiers = Rates(), ()
        pages = provider.pricing_urls or [f"price list of {provider.name}"]
        return Listing(
            model_id=model.id,
            vendor=provider.name,
            rates=rates,
            tiers=tiers,
            context_tokens=model.context_window,
            source=f"{pages[0]} ({_edition_name()})",
            as_of=edition_date(self._now.date()),
        )


@dataclass(frozen=True, slots=True)
class Offer:
    """One model on a vendor's list, for choosing from. `name` is empty where the list has none."""

    model_id: str
    name: str = ""


def offers(vendor: str | None = None, url: str | None = None) -> list[Offer]:
    """What a vendor, or whoever answers at an address, has on its list that answers questions in words.

    Left out is what its id says to be for something else (pictures, speech, embeddings), families
    that are no model by themselves, and what the vendor only resells under another maker's name.
    """
    provider = _provider(vendor, url)
    if provider is None:
        return []
    start = _OWN_NAMES.get(provider.id)
    return [
        Offer(model.id, model.name or "")
        for model in provider.models
        if answers_in_words(model.id) and (start is None or model.id.startswith(start))
    ]


def answers_in_words(model_id: str) -> bool:
    """False where the id says that the model is made for something else than answering in words."""
    name = model_id.lower()
    return not (_OTHER_USE.search(name) or name.endswith("-") or name.startswith("ft:"))


def _edition_name() -> str:
    refreshed = refreshed_prices()
    if refreshed is not None:
        return f"genai-prices, fetched {refreshed.fetched.isoformat()}"
    import genai_prices

    return f"genai-prices {genai_prices.__version__}"


_edition: dict[tuple[int, date], date | None] = {}


def edition_date(today: date) -> date | None:
    """The day of the list: when it was fetched, or the newest check its data speak of.

    The package carries no date of its own; its data are at least that new. Never after `today`.
    """
    refreshed = refreshed_prices()
    if refreshed is not None:
        return min(refreshed.fetched, today)
    snapshot = _snapshot()
    key = (id(snapshot), today)
    if key not in _edition:
        days = [d for text in _remarks(snapshot) for d in _days(text) if d <= today]
        _edition[key] = max(days, default=None)
    return _edition[key]


def _remarks(snapshot: Any) -> Iterator[str]:
    for provider in snapshot.providers:
        yield provider.price_comments or ""
        for model in provider.models:
            yield model.price_comments or ""


def _days(text: str) -> Iterator[date]:
    for found in _CHECKED.findall(text):
        try:
            yield date.fromisoformat(found)
        except ValueError:
            continue


def _snapshot() -> Any:
    refreshed = refreshed_prices()
    if refreshed is not None:
        return refreshed.snapshot
    from genai_prices.data_snapshot import get_snapshot

    return get_snapshot()


def _provider(vendor: str | None, url: str | None) -> Any | None:
    providers = _snapshot().providers
    if url is not None:
        return next((p for p in providers if _is_address_of(p, url)), None)
    return next((p for p in providers if p.id == vendor), None)


def _is_address_of(provider: Any, url: str) -> bool:
    # The patterns match a beginning: api.example.com must not stand for api.example.com.other.net.
    end = "" if provider.api_pattern.endswith(".") else "(?![A-Za-z0-9.-])"
    return re.match(f"(?:{provider.api_pattern}){end}", url) is not None


def _models(provider: Any) -> Iterator[Any]:
    yield from provider.models
    for other in provider.fallback_model_providers or ():
        lender = _provider(other, None)
        yield from lender.models if lender is not None else ()


def _is_same(model: Any, name: str) -> bool:
    return bool(model.id.lower() == name or _says_same(model.match, name))


def _says_same(clause: Any, name: str) -> bool:
    """True where the clause matches and nothing of the name is left that could tell models apart."""
    kind = type(clause).__name__
    if kind in ("ClauseOr", "ClauseAnd"):
        parts = clause.or_ if kind == "ClauseOr" else clause.and_
        return bool(clause.is_match(name)) and any(_says_same(part, name) for part in parts)
    if not clause.is_match(name):
        return False
    if kind == "ClauseStartsWith":
        start = clause.starts_with.lower()
        # A fine-tuned model has its owner's name behind the base model's.
        return start.startswith("ft:") or _says_nothing(name[len(start) :])
    if kind == "ClauseContains":
        before, _, after = name.partition(clause.contains.lower())
        return (before == "" or before.endswith("/")) and _says_nothing(after)
    if kind == "ClauseRegex":
        return bool(clause.regex.endswith("$"))
    return kind == "ClauseEquals"


def _says_nothing(rest: str) -> bool:
    return _SAYS_NOTHING.fullmatch(rest) is not None


def _rates(table: Mapping[str, Any]) -> tuple[Rates, tuple[Tier, ...]]:
    def at(tokens: int) -> Rates:
        found = {ours: _at(table.get(theirs), tokens) for ours, theirs in _RATES.items()}
        per_thousand = _at(table.get("requests_kcount"), tokens) or Decimal(0)
        return replace(Rates(**found), request_usd=per_thousand / 1000)  # type: ignore[arg-type]

    starts = sorted({t.start for value in table.values() for t in getattr(value, "tiers", ())})
    return at(0), tuple(Tier(start, at(start + 1)) for start in starts)


def _at(value: Any, tokens: int) -> Decimal | None:
    """A plain rate, or that of the highest tier below `tokens`."""
    if value is None or isinstance(value, Decimal):
        return value
    rate: Decimal = value.base
    for tier in value.tiers:
        if tokens > tier.start:
            rate = tier.price
    return rate
