"""Which models could be compared: price lists, the person's accounts, servers here, built-in models.

The price lists come with the program; an account is asked only when the person says so, servers on
this computer whenever the picker opens. Nothing is charged by any of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal

from arena_desktop.desks.connections import KnownConnection, known
from arena_desktop.desks.key_desk import KeyState, state_of
from engine.config.schema import Card, Config, Connection, ModelEntry
from engine.connection_check import settings_for
from engine.errors import UserError
from engine.execution.estimate import estimate
from engine.keystore import KeyStore
from engine.price import Price, estimate_cost
from engine.price_catalogue import VENDORS, Offer, answers_in_words, offers
from engine.pricing import PriceBook
from engine.project import Project
from providers.base import ConnectionSettings, ModelInfo, ProviderError
from providers.checkup import KeptList, ModelLists, discover
from providers.registry import KINDS, canonical_kind
from providers.weights import BUILTIN_MODELS

USUAL_TOKENS = (400, 200)
"""A question of about 300 words and an answer of about 150, where no project says otherwise."""
_LIST_TIMEOUT_S = 10.0
_SAMPLED = 50
_NUMBER = re.compile(r"(?<!\d)(\d{1,2})(?:[.-](\d{1,2}))?(?![\dbkm])")


@dataclass(frozen=True, slots=True)
class FoundModel:
    """One model that could be added.

    `state`: ready, needs_key, not_installed, blocked (there is a key that may not be used yet).
    `seen` True = on the live list of the connection, False = not on it, None = no list is known.
    `per_100` is what 100 answers cost, None = not known. `added`: the project compares it already.
    """

    model: str
    title: str
    place: KnownConnection
    state: str
    seen: bool | None = None
    price: Price | None = None
    per_100: Decimal | None = None
    card: Card = field(default_factory=Card)
    added: bool = False

    @property
    def key(self) -> str:
        """Names it among all others."""
        return f"{self.place.key} {self.model}"


@dataclass(frozen=True, slots=True)
class Finding:
    """All models that were found. `asked_at` is the age of the oldest live list, None without one.

    `faults` are sentences by the title of a connection that could not be asked.
    """

    models: tuple[FoundModel, ...] = ()
    asked_at: datetime | None = None
    faults: Mapping[str, str] = field(default_factory=dict)
    from_project: bool = False


@dataclass(frozen=True, slots=True)
class Means:
    """What is looked with. `look_here` False leaves this computer's ports alone."""

    keys: KeyStore
    lists: ModelLists
    project: Project | None = None
    prices: PriceBook | None = None
    look_here: bool = True


def find_models(
    means: Means,
    places: Sequence[KnownConnection],
    *,
    ask: bool = False,
    should_stop: Callable[[], None] = lambda: None,
) -> Finding:
    """Everything that could be added. Blocks; with `ask` every account with a key is asked anew."""
    finder = _Finder(means)
    faults: dict[str, str] = {}
    moments: list[datetime] = []
    models: list[FoundModel] = list(finder.built_in())
    states = {place.key: state_of(means.keys, place) for place in places}
    here = finder.servers_here({place.address.rstrip("/") for place in places}) if means.look_here else []
    for place in (*places, *here):
        should_stop()
        state = states.get(place.key) or KeyState(place, "found", "none")
        listed = finder.live_list(state, faults, ask=ask or place.local)
        if listed is not None:
            moments.append(listed.asked_at)
        models += finder.of_place(state, listed)
    order = {place.key: number for number, place in enumerate((*here, *places), start=1)}
    models.sort(key=lambda model: _rank(model, order.get(model.place.key, 0)))
    return Finding(tuple(models), min(moments, default=None), faults, finder.from_project)


class _Finder:
    """One look. Prices and tokens are those of the open project where there is one."""

    def __init__(self, means: Means) -> None:
        self._means = means
        config = means.project.config if means.project is not None else Config()
        self._prices = means.prices or PriceBook(config)
        self._added = {(entry.provider, entry.model) for entry in config.models}
        self._tokens = _usual_tokens(means.project)
        self.from_project = self._tokens != USUAL_TOKENS

    def built_in(self) -> Iterable[FoundModel]:
        """The small models that run on this computer by themselves."""
        place = known(Connection(id="builtin", kind="builtin"), "vendor", KINDS["builtin"].title)
        for model in BUILTIN_MODELS.values():
            state = "ready" if model.installed() else "not_installed"
            yield self._priced(FoundModel(model.id, model.title, place, state))

    def servers_here(self, taken: set[str]) -> list[KnownConnection]:
        """Servers that answer on their usual ports and are not among the connections already."""
        places = [
            known(Connection(id=item.kind, kind=item.kind), "local", KINDS[item.kind].title)
            for item in discover()
        ]
        return [place for place in places if place.address.rstrip("/") not in taken]

    def live_list(self, state: KeyState, faults: dict[str, str], *, ask: bool) -> KeptList | None:
        """The models a connection itself names: kept from today, or asked for now."""
        place = state.place
        settings = settings_for(place.connection, place.entry)
        if not ask or not _may_ask(state):
            return self._means.lists.kept(settings)
        try:
            return self._means.lists.get(self._with_key(place, settings), _LIST_TIMEOUT_S, refresh=True)
        except ProviderError as error:
            if not place.local:
                faults[place.title] = error.message
        except OSError as error:
            faults[place.title] = f"The list cannot be kept: {error.strerror or error}."
        return None

    def of_place(self, state: KeyState, listed: KeptList | None) -> Iterable[FoundModel]:
        """The models of one connection: of its own list and of the price list."""
        place = state.place
        seen = _by_id(listed.models) if listed is not None else {}
        names = {offer.model_id: offer.name for offer in _offers(place)}
        word = _state_word(state)
        for model in (*seen, *(name for name in names if name not in seen)):
            info = seen.get(model)
            title = _title(model, (info.display_name if info else "") or names.get(model) or "")
            found = FoundModel(model, title, place, word, model in seen if listed is not None else None)
            yield self._priced(found, info)

    def _priced(self, found: FoundModel, info: ModelInfo | None = None) -> FoundModel:
        connection = found.place.connection
        entry = ModelEntry(model=found.model, key=found.model, provider=connection.id)
        price, card = self._prices.price(entry, connection), self._prices.card(entry, connection)
        if card.context_tokens is None and info is not None and info.context_tokens:
            card = replace(card, context_tokens=info.context_tokens)
        one = Decimal(0) if price is not None and price.free else estimate_cost(price, *self._tokens)
        return replace(
            found,
            price=price,
            card=card,
            per_100=None if one is None else one * 100,
            added=(connection.id, found.model) in self._added,
        )

    def _with_key(self, place: KnownConnection, settings: ConnectionSettings) -> ConnectionSettings:
        keys = self._means.keys
        result = keys.resolve(place.connection, place.entry, root=place.root)
        headers, _missing = keys.resolve_headers(place.connection, place.entry, root=place.root)
        return replace(settings, api_key=result.value, headers=headers)


def _may_ask(state: KeyState) -> bool:
    return state.code == "found"


def _state_word(state: KeyState) -> str:
    if state.code == "found":
        return "ready"
    return "needs_key" if state.code in ("missing", "no_backend") else "blocked"


def _by_id(models: Iterable[ModelInfo]) -> dict[str, ModelInfo]:
    found = {}
    for model in models:
        name = model.id.removeprefix("models/")
        if answers_in_words(name):
            found[name] = model
    return found


def _offers(place: KnownConnection) -> list[Offer]:
    kind = canonical_kind(place.connection.kind) or ""
    own = place.connection.base_url
    if own and own.rstrip("/") != (KINDS[kind].default_base_url or "").rstrip("/"):
        return offers(url=own)
    return offers(VENDORS[kind]) if kind in VENDORS else []


def _title(model: str, name: str) -> str:
    """The list's name where it is one a person would say; some lists only spell the id again."""
    said = name.strip()
    return said if said and any(letter.isupper() for letter in said) else model


def _rank(model: FoundModel, place: int) -> tuple[int, int, float, str]:
    """What can be used now first, then by service, newer before older."""
    ready = {"ready": 0, "blocked": 2, "needs_key": 2, "not_installed": 3}[model.state]
    if model.state == "ready" and model.seen is False:
        ready = 1
    return ready, place, -_version(model.model), model.title.lower()


def _version(model: str) -> float:
    """The number that families count up in their names; 0 where there is none."""
    found = _NUMBER.search(model)
    return float(f"{found[1]}.{found[2] or 0}") if found else 0.0


def _usual_tokens(project: Project | None) -> tuple[int, int]:
    """Tokens of a question and of an answer as the project's tests suggest."""
    if project is None or not project.cases:
        return USUAL_TOKENS
    step = max(1, len(project.cases) // _SAMPLED)
    cases = project.cases[::step]
    entry = next(iter(project.config.models), ModelEntry(model="any", key="any"))
    calls = len(cases) * project.config.run.trials

    def tokens(price: Price) -> int:
        likely = estimate(project.config, cases, [(entry, price)]).by_model[entry.key].likely
        return round((likely or 0) / calls * 1_000_000)

    one, nothing = Decimal(1), Decimal(0)
    try:
        found = tokens(Price(one, nothing)), tokens(Price(nothing, one))
    except UserError:
        # A template that cannot be filled; the fault itself is shown with the project's.
        return USUAL_TOKENS
    return found if all(found) else USUAL_TOKENS
