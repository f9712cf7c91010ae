"""The models of a project as records and columns, before anything is asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from PySide6.QtCore import QCoreApplication

from arena_desktop.cells import (
    UNKNOWN,
    Align,
    Cell,
    ChipCell,
    Column,
    IconTextCell,
    Link,
    ModelCell,
    Tone,
)
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.wording import formats
from arena_desktop.wording.must_haves import must_haves
from arena_desktop.wording.setup import ready_words, service_name
from engine.config.schema import Card, Config, Connection, ModelEntry
from engine.domain import Case, SkippedModel
from engine.errors import UserError
from engine.execution.estimate import estimate
from engine.execution.preflight import Preflight
from engine.model_facts import canonical_feature, canonical_privacy
from engine.price import Price
from engine.stats.board import Reason
from engine.stats.gates import check_card

SAMPLED_CASES = 200
"""Test cases whose length tells what 100 answers cost; more change nothing."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModelsTable", text)


@dataclass(frozen=True, slots=True)
class ModelRow:
    """One entry of the project. `index` is its place there. `per_100` None = not known.

    `failures` and `unknown` are what its card says about the must-haves; `state` is off, looking, ready
    or skipped, and `skipped` why.
    """

    key: str
    label: str
    index: int
    entry: ModelEntry
    connection: Connection | None
    service: str
    price: Price | None
    per_100: Decimal | None
    card: Card
    failures: tuple[Reason, ...] = ()
    unknown: tuple[Reason, ...] = ()
    has_must_haves: bool = False
    state: str = "looking"
    skipped: SkippedModel | None = None
    warning: str = ""

    @property
    def meets(self) -> bool:
        """Whether nothing known speaks against it."""
        return not self.failures


@dataclass(frozen=True, slots=True)
class _Pricing:
    per_100: Mapping[str, Decimal | None]
    prices: Mapping[str, Price | None]


def connection_of(opened: OpenProject, entry: ModelEntry) -> Connection | None:
    """The connection of an entry; None where a faulty config names none."""
    try:
        return opened.project.connection(entry.provider or "")
    except KeyError:
        return None


def cards_of(opened: OpenProject) -> dict[str, Card]:
    """What is known about each model that takes part, by key."""
    found = {}
    for entry in opened.project.config.models:
        connection = connection_of(opened, entry)
        if entry.enabled and connection is not None:
            found[entry.key] = opened.prices.card(entry, connection)
    return found


def stating(config: Config, cards: Mapping[str, Card], kind: str, name: str) -> int:
    """How many cards state a must-have of a kind: privacy, feature or context."""
    return sum(_states(config, card, kind, name) for card in cards.values())


def _states(config: Config, card: Card, kind: str, name: str) -> bool:
    if kind == "privacy":
        promises = {canonical_privacy(key): value for key, value in card.privacy.items()}
        return promises.get(canonical_privacy(name)) is True
    if kind == "feature":
        return canonical_feature(name) in {canonical_feature(item) for item in card.features or ()}
    needed = config.constraints.min_context_tokens or 0
    return card.context_tokens is not None and card.context_tokens >= needed


def model_rows(opened: OpenProject, preflight: Preflight | None) -> list[ModelRow]:
    """One row per entry, in project order. Builds prompts: call it away from the GUI thread."""
    pricing = _pricing(opened)
    return [_row(opened, preflight, pricing, index) for index in range(len(opened.project.config.models))]


def _pricing(opened: OpenProject) -> _Pricing:
    config, prices = opened.project.config, {}
    for entry in config.models:
        connection = connection_of(opened, entry)
        prices[entry.key] = opened.prices.price(entry, connection) if connection is not None else None
    cases = sampled(opened.project.cases)
    per_100 = {entry.key: price_per_100(config, cases, entry, prices[entry.key]) for entry in config.models}
    return _Pricing(per_100, prices)


def sampled(cases: Sequence[Case]) -> Sequence[Case]:
    """At most `SAMPLED_CASES` cases, spread evenly."""
    if len(cases) <= SAMPLED_CASES:
        return cases
    step = len(cases) / SAMPLED_CASES
    return [cases[int(n * step)] for n in range(SAMPLED_CASES)]


def price_per_100(
    config: Config, cases: Sequence[Case], entry: ModelEntry, price: Price | None
) -> Decimal | None:
    """The likely cost of 100 answers as long as the tests suggest; None = not known."""
    if price is None:
        return None
    if price.free:
        return Decimal(0)
    if not cases:
        return None
    try:
        likely = estimate(config, cases, [(entry, price)]).by_model[entry.key].likely
    except UserError:
        # A prompt with a fault cannot be built; the fault itself is listed with the project's.
        return None
    return None if likely is None else likely / (len(cases) * config.run.trials) * 100


def _row(opened: OpenProject, preflight: Preflight | None, pricing: _Pricing, index: int) -> ModelRow:
    config = opened.project.config
    entry = config.models[index]
    connection = connection_of(opened, entry)
    card = opened.prices.card(entry, connection) if connection is not None else entry.card
    gates = check_card(config, card)
    skipped = _skipped(preflight, entry.key)
    return ModelRow(
        key=entry.key,
        label=entry.label or entry.key,
        index=index,
        entry=entry,
        connection=connection,
        service=service_name(entry, connection),
        price=pricing.prices[entry.key],
        per_100=pricing.per_100[entry.key],
        card=card,
        failures=gates.failures,
        unknown=gates.warnings,
        has_must_haves=any(item.kind != "measured" for item in must_haves(config)),
        state=_state(preflight, entry, skipped),
        skipped=skipped,
        warning=preflight.warnings.get(entry.key, "") if preflight else "",
    )


def _skipped(preflight: Preflight | None, key: str) -> SkippedModel | None:
    if preflight is None:
        return None
    return next((item for item in preflight.skipped if item.model_key == key), None)


def _state(preflight: Preflight | None, entry: ModelEntry, skipped: SkippedModel | None) -> str:
    if not entry.enabled:
        return "off"
    if preflight is None:
        return "looking"
    return "ready" if skipped is None else "skipped"


# ---- columns


def price_text(row: ModelRow) -> str:
    """The price of 100 answers as the table says it."""
    if row.per_100 is None or row.per_100 == 0:
        return formats.money(row.per_100)
    return _tr("about {cost}").format(cost=formats.money(row.per_100))


def must_have_text(row: ModelRow) -> str:
    """How the model stands to the must-haves."""
    if not row.has_must_haves:
        return _tr("Stays here") if _stays(row) else UNKNOWN
    if row.failures:
        return _tr("Would be ruled out")
    if row.unknown:
        return _tr("Not stated: {count}").format(count=len(row.unknown))
    return _tr("Stays here") if _stays(row) else _tr("Meets all")


def _stays(row: ModelRow) -> bool:
    return row.card.privacy.get("on_prem") is True


def _must_have_cell(row: ModelRow) -> Cell | None:
    text = must_have_text(row)
    if text == UNKNOWN:
        return None
    if row.has_must_haves and row.failures:
        return ChipCell(text, Tone.WARN)
    if row.has_must_haves and row.unknown:
        return IconTextCell("info", text, "text2")
    return IconTextCell("computer" if _stays(row) else "check", text)


def ready_text(row: ModelRow) -> str:
    """Whether it can be asked, in a few words."""
    if row.skipped is not None and row.state == "skipped":
        return ready_words(row.skipped)
    words = {"off": _tr("Not used"), "looking": _tr("Looking…"), "ready": _tr("Ready")}
    return words.get(row.state, UNKNOWN)


_CHIPS = {
    "no_key": (Tone.WARN, "key"),
    "not_reachable": (Tone.NEUTRAL, "pause"),
    "not_served": (Tone.WARN, ""),
    "no_trust": (Tone.WARN, "lock"),
    "extra_missing": (Tone.NEUTRAL, "import"),
}


def _ready_cell(row: ModelRow) -> Cell:
    text = ready_text(row)
    if row.state == "off":
        return IconTextCell("minus", text, "text3", "text3")
    if row.state == "looking":
        return IconTextCell("clock", text, "text2")
    if row.skipped is None:
        # Chips are for what is not as usual.
        return IconTextCell("check", text)
    key = Link("key", _tr("Add key…"))
    links = (key,) if row.skipped.code == "no_key" else (Link("fix", _tr("What to do")),)
    if row.skipped.code == "breaks_gate":
        # The column beside it has the chip; one warning a row is enough.
        return IconTextCell("minus", text, "text2", links=links)
    tone, icon = _CHIPS.get(row.skipped.code, (Tone.BAD, ""))
    return ChipCell(text, tone, icon, links)


def model_columns() -> list[Column[ModelRow]]:
    """Model, service, price, must-haves, ready."""
    return [
        Column(
            "model",
            _tr("Model"),
            lambda row: row.label,
            cell=lambda row: ModelCell(row.label, row.index if row.state != "off" else None),
            tip=lambda row: row.entry.model or row.entry.run or row.key,
            width=220,
            minimum=140,
            stretch=2,
            can_hide=False,
        ),
        Column(
            "service", _tr("Service"), lambda row: row.service, tone="text2", width=140, minimum=96, drop=2
        ),
        Column(
            "price",
            _tr("Price per 100"),
            price_text,
            sort=lambda row: None if row.per_100 is None else float(row.per_100),
            align=Align.RIGHT,
            width=124,
            minimum=104,
            help=_tr("What 100 answers cost, as long as your tests suggest"),
        ),
        Column(
            "must",
            _tr("Must-haves"),
            must_have_text,
            cell=_must_have_cell,
            width=168,
            minimum=148,
            drop=1,
        ),
        Column(
            "ready",
            _tr("Ready?"),
            ready_text,
            cell=_ready_cell,
            tip=lambda row: row.skipped.reason if row.skipped else row.warning,
            width=232,
            minimum=216,
            stretch=1,
            can_hide=False,
        ),
    ]
