"""What a model costs and what is known about it: list prices under the project's own.

Layers, later wins, field by field: shipped list < connection card < pricing.path file <
pricing.models < entry card. A price needs both input and output; everything not known is None
and never zero. Free is only what runs on this computer by construction.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

from providers.base import Usage
from providers.registry import KINDS, canonical_kind
from providers.weights import builtin_model

from engine.config.embedder_key import is_embedder
from engine.config.schema import Card, Config, Connection, ModelEntry
from engine.domain import Problem
from engine.errors import UserError
from engine.hosts import Endpoint, base_url, endpoint_of
from engine.model_facts import ON_THIS_COMPUTER, canonical_card, shipped_facts
from engine.price import Price, PriceTier, cost, estimate_cost
from engine.price_catalogue import VENDORS, Catalogue, Listing, Rates
from engine.price_file import read_price_file

__all__ = ["Price", "PriceBook", "PriceTier", "cost", "estimate_cost"]

_PREFIXES = (
    *("anthropic.", "anthropic/", "openai/", "azure/", "vertex_ai/", "gemini/", "bedrock/", "us.", "eu."),
    *("models/", "google/", "openrouter/", "groq/", "ollama/", "lmstudio/", "llamacpp/", "vllm/", "local/"),
)
_DATE = re.compile(r"[-@]\d{8}$")
_ALWAYS_FREE = ("builtin", "mock")
_FREE_ON_LOOPBACK = ("ollama", "lmstudio", "llamacpp")
_RATE_FIELDS = (
    *("input_usd_per_mtok", "output_usd_per_mtok", "cache_read_usd_per_mtok", "cache_write_usd_per_mtok"),
)


@dataclass(frozen=True, slots=True)
class _Layer:
    card: Card
    source: str
    matched: str
    inherited: bool
    as_of: date | None


class PriceBook:
    """Prices and facts of one project. Read-only after it is made, safe to share by threads.

    `problems` are the faults of the project's price file.
    """

    def __init__(
        self,
        config: Config,
        file_cards: Mapping[str, Card] | None = None,
        *,
        problems: tuple[Problem, ...] = (),
        now: datetime | None = None,
    ) -> None:
        self._file_name = config.pricing.path or ""
        self._file_cards = {name.lower(): card for name, card in (file_cards or {}).items()}
        self._config_cards = {name.lower(): card for name, card in config.pricing.models.items()}
        self._catalogue = Catalogue(now)
        self.problems = problems

    @classmethod
    def for_config(cls, config: Config, root: Path, *, now: datetime | None = None) -> PriceBook:
        """The book of a project. `root` is its folder; a faulty price file is in `problems`."""
        cards: dict[str, Card] = {}
        problems: list[Problem] = []
        if config.pricing.path:
            cards, problems = read_price_file(root, config.pricing.path)
        return cls(config, cards, problems=tuple(problems), now=now)

    def price(self, entry: ModelEntry, connection: Connection) -> Price | None:
        """What the entry costs on this connection; None = not known."""
        layers = list(self._project_layers(entry, connection))
        listing = self._listing(entry, connection)
        free = _is_free(entry, connection)
        rates, changed = _merged_rates(_base_rates(listing, free), layers)
        if is_embedder(entry.key) and rates.output_usd_per_mtok is None:
            # It answers with numbers, which nobody bills: lists name no price for them.
            rates = replace(rates, output_usd_per_mtok=Decimal(0))
        if rates.input_usd_per_mtok is None or rates.output_usd_per_mtok is None:
            return None
        priced = [layer for layer in layers if _has_price(layer.card)]
        context = self.card(entry, connection).context_tokens
        price = Price(
            **{name: getattr(rates, name) for name in (*_RATE_FIELDS, "reasoning_usd_per_mtok")},
            request_usd=rates.request_usd,
            context_tokens=context,
        )
        if priced:
            last = priced[-1]
            price = replace(
                price, source=last.source, as_of=last.as_of, matched=last.matched, inherited=last.inherited
            )
        elif free:
            return replace(price, source="runs on this computer", free=True, matched=entry.model)
        elif listing is not None:
            price = replace(
                price,
                source=listing.source,
                as_of=listing.as_of,
                matched=listing.model_id,
                inherited=listing.model_id.lower() != entry.model.lower(),
            )
        return replace(price, tiers=_tiers(listing, changed)) if listing is not None else price

    def card(self, entry: ModelEntry, connection: Connection) -> Card:
        """Everything known about the entry, merged for gates and screens.

        Features and privacy promises stand under their one name; features None = not declared,
        a promise that is missing was not made.
        """
        base = _base_card(entry, connection, self._listing(entry, connection))
        for layer in self._project_layers(entry, connection):
            base = _over(base, layer.card)
        return base

    def cost(self, price: Price | None, usage: Usage) -> Decimal | None:
        """US dollars of one answer; None where the price or the needed usage is not known."""
        return cost(price, usage)

    def estimate_cost(
        self, price: Price | None, prompt_tokens: int | None, output_tokens: int | None
    ) -> Decimal | None:
        """US dollars of a planned call with nothing cached; None where it cannot be known."""
        return estimate_cost(price, prompt_tokens, output_tokens)

    def stale_day(self, entry: ModelEntry, connection: Connection) -> date | None:
        """The day of the entry's price where that is more than 90 days ago, else None."""
        price = self.price(entry, connection)
        return price.as_of if price is not None and price.is_stale() else None

    def understated(self, entry: ModelEntry, connection: Connection) -> tuple[Decimal, Decimal] | None:
        """The list's input and output price where the project claims less than half of one of them.

        Costs and ceilings go by the project's figures, so a price that is far too low hides what is spent.
        """
        listing, price = self._listing(entry, connection), self.price(entry, connection)
        if listing is None or price is None or price.free:
            return None
        sent, received = listing.rates.input_usd_per_mtok, listing.rates.output_usd_per_mtok
        if sent is None or received is None:
            return None
        low = 2 * price.input_usd_per_mtok < sent or 2 * price.output_usd_per_mtok < received
        return (sent, received) if low else None

    def _project_layers(self, entry: ModelEntry, connection: Connection) -> Iterator[_Layer]:
        yield _layer(connection.card, f"project, connection {connection.id}", entry.model, False)
        for cards, source in (
            (self._file_cards, f"project, {self._file_name}"),
            (self._config_cards, "project, pricing.models"),
        ):
            for position, name in enumerate(_broad_names(entry, connection)):
                if name in cards:
                    yield _layer(cards[name], source, name, position > 0)
                    break
        yield _layer(entry.card, "project, card of the model", entry.model, False)

    def _listing(self, entry: ModelEntry, connection: Connection) -> Listing | None:
        kind = canonical_kind(connection.kind) or ""
        own = entry.api_base or connection.base_url
        default = KINDS[kind].default_base_url if kind else None
        place = _place(entry, connection)
        if place is not None and place.loopback:
            # No vendor answers on this computer, and reading the whole list takes its time.
            found = None
        elif own and own.rstrip("/") != (default or "").rstrip("/"):
            url = own.strip() if "://" in own else ""
            found = self._catalogue.find(_names(entry, connection), url=url, params=entry.params)
        elif kind in VENDORS:
            found = self._catalogue.find(_names(entry, connection), vendor=VENDORS[kind], params=entry.params)
        else:
            found = None
        return found


def _base_rates(listing: Listing | None, free: bool) -> Rates:
    if free:
        return Rates(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0))
    return listing.rates if listing else Rates()


def _merged_rates(rates: Rates, layers: list[_Layer]) -> tuple[Rates, dict[str, Decimal]]:
    """The rates in force, and those that the project itself sets."""
    changed = {
        name: value
        for layer in layers
        for name in _RATE_FIELDS
        if (value := getattr(layer.card, name)) is not None
    }
    extra: dict[str, Any] = dict(changed)
    if "output_usd_per_mtok" in changed:
        # The list's own rate for reasoning belongs to the list's output price.
        extra["reasoning_usd_per_mtok"] = None
    return replace(rates, **extra), changed


def _tiers(listing: Listing, changed: Mapping[str, Decimal]) -> tuple[PriceTier, ...]:
    if "input_usd_per_mtok" in changed or "output_usd_per_mtok" in changed:
        # A project's flat price replaces the steps of the list.
        return ()
    found = []
    for tier in listing.tiers:
        values = {name: changed.get(name, getattr(tier.rates, name)) for name in _RATE_FIELDS}
        if values["input_usd_per_mtok"] is not None and values["output_usd_per_mtok"] is not None:
            found.append(PriceTier(tier.above_input_tokens, **values))
    return tuple(found)


def _has_price(card: Card) -> bool:
    return card.input_usd_per_mtok is not None or card.output_usd_per_mtok is not None


def _layer(card: Card, source: str, matched: str, inherited: bool) -> _Layer:
    return _Layer(card, source, matched, inherited, _day(card.as_of))


def _day(text: str | None) -> date | None:
    """A date of the form 2026-06-24; anything else is no date, never a fault."""
    try:
        return date.fromisoformat(str(text).strip()[:10])
    except ValueError:
        return None


def _names(entry: ModelEntry, connection: Connection) -> list[str]:
    """The names a model goes by, the most specific first."""
    model = entry.model.strip()
    prefix = connection.model_prefix or ""
    found = [prefix + model] if prefix and not model.startswith(prefix) else []
    found.append(model)
    for name in tuple(found):
        start = next((p for p in _PREFIXES if name.lower().startswith(p)), None)
        if start:
            found.append(name[len(start) :])
    found += [_DATE.sub("", name) for name in tuple(found)]
    return list(dict.fromkeys(name for name in found if name))


def _broad_names(entry: ModelEntry, connection: Connection) -> list[str]:
    """As `_names`, and without what follows ":" or "@": a project may price a whole family."""
    names = [name.lower() for name in _names(entry, connection)]
    shorter = [re.split("[:@]", name, maxsplit=1)[0] for name in names]
    return list(dict.fromkeys(name for name in (*names, *shorter) if name))


def _place(entry: ModelEntry, connection: Connection) -> Endpoint | None:
    try:
        return endpoint_of(connection, entry)
    except UserError:
        return None


def _is_free(entry: ModelEntry, connection: Connection) -> bool:
    """True where the model runs on this computer by construction, so that nobody can bill it."""
    kind = canonical_kind(connection.kind) or ""
    if entry.run:
        return False
    if kind in _ALWAYS_FREE:
        return True
    local = kind in _FREE_ON_LOOPBACK or (
        connection.kind.strip().lower() == "local" and base_url(connection, entry) == _default_of("local")
    )
    place = _place(entry, connection)
    return local and place is not None and place.loopback and not _is_hosted(entry.model)


def _default_of(name: str) -> str | None:
    kind = canonical_kind(name)
    return KINDS[kind].default_base_url if kind else None


def _is_hosted(model: str) -> bool:
    """Ollama passes models called ...-cloud on to its own paid service."""
    return re.search(r"[-:]cloud$", model.strip().lower()) is not None


def _base_card(entry: ModelEntry, connection: Connection, listing: Listing | None) -> Card:
    kind = canonical_kind(connection.kind)
    card = Card(provider=kind)
    if _is_free(entry, connection):
        zero = Decimal(0)
        card = replace(
            card, privacy=dict(ON_THIS_COMPUTER), input_usd_per_mtok=zero, output_usd_per_mtok=zero
        )
    if listing is not None:
        rates = {name: getattr(listing.rates, name) for name in _RATE_FIELDS}
        card = replace(card, context_tokens=listing.context_tokens, as_of=str(listing.as_of or ""), **rates)
    if kind == "builtin":
        card = replace(card, context_tokens=_builtin_context(entry.model))
    for name in _names(entry, connection):
        facts = shipped_facts(name)
        if facts is not None:
            return replace(_over(card, facts), as_of=card.as_of or facts.as_of)
    return card


def _builtin_context(model: str) -> int | None:
    known = builtin_model(model)
    return known.context_tokens if known else None


def _over(base: Card, top: Card) -> Card:
    """`top` laid over `base`, field by field; privacy promise by promise."""
    features, privacy = canonical_card(top)
    values: dict[str, Any] = {
        f.name: value for f in fields(Card) if (value := getattr(top, f.name)) not in (None, "")
    }
    values["privacy"] = {**base.privacy, **privacy}
    if features is not None:
        values["features"] = features
    return replace(base, **values)
