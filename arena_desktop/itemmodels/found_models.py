"""The models of the picker as columns."""

from __future__ import annotations

from collections.abc import Callable
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
    TwoLineCell,
)
from arena_desktop.desks.model_finder import FoundModel
from arena_desktop.wording import formats
from arena_desktop.wording.metrics import feature_name
from arena_desktop.wording.must_haves import words_of
from arena_desktop.wording.setup import price_words
from engine.model_facts import canonical_feature

_ONE_CENT = Decimal("0.01")


def _tr(text: str) -> str:
    return QCoreApplication.translate("FoundModels", text)


def service_text(row: FoundModel) -> str:
    """Whose model it is."""
    return _tr("This computer") if row.place.connection.kind == "builtin" else row.place.title


def price_text(row: FoundModel) -> str:
    """The price of 100 answers."""
    if row.per_100 is None or row.per_100 < _ONE_CENT:
        return formats.money(row.per_100)
    return _tr("about {cost}").format(cost=formats.money(row.per_100))


def reads_text(row: FoundModel) -> str:
    """How much it reads at once."""
    size = row.card.context_tokens
    return _tr("{words} words").format(words=words_of(size)) if size else UNKNOWN


def features_text(row: FoundModel) -> str:
    """What it can do, as far as that is stated."""
    names = row.card.features
    if not names:
        return UNKNOWN
    return ", ".join(feature_name(canonical_feature(name)) for name in names)


def state_text(row: FoundModel) -> str:
    """Whether it can be used, in a few words."""
    if row.added:
        return _tr("In this project")
    if row.state == "needs_key":
        return _tr("Needs a key")
    if row.state == "not_installed":
        return _tr("Not installed")
    if row.state == "blocked":
        return _tr("Key not usable")
    if row.place.local:
        return _tr("Found on this computer")
    if row.place.connection.kind == "builtin":
        return _tr("On this computer")
    if row.seen is None:
        return _tr("Ready")
    return _tr("Seen in your account") if row.seen else _tr("Not in your account")


def _name_cell(row: FoundModel) -> Cell:
    return ModelCell(row.title, strong=True) if row.title == row.model else TwoLineCell(row.title, row.model)


def _state_cell(row: FoundModel) -> Cell:
    text = state_text(row)
    if row.added:
        return IconTextCell("check", text, "text2")
    if row.state == "needs_key":
        return ChipCell(text, Tone.WARN, "key", (Link("add_key", _tr("Add key…")),))
    if row.state == "blocked":
        return ChipCell(text, Tone.WARN, "lock", (Link("add_key", _tr("Look at it…")),))
    if row.state == "not_installed":
        return ChipCell(text, Tone.NEUTRAL, "import")
    if row.seen is False:
        return IconTextCell("minus", text, "text3", "text3")
    if row.place.local or row.place.connection.kind == "builtin":
        return IconTextCell("computer", text)
    return IconTextCell("check", text, "good" if row.seen else "text2")


def found_model_columns(
    chosen: Callable[[FoundModel], bool], choose: Callable[[FoundModel, bool], None]
) -> list[Column[FoundModel]]:
    """Check box, model, service, price, size, features, state."""
    return [
        Column(
            "use", _tr("Add"), lambda _row: "", checked=chosen, check=choose, width=60, minimum=60,
            sortable=False, can_hide=False,
        ),
        Column(
            "model",
            _tr("Model"),
            lambda row: row.title if row.title == row.model else f"{row.title} ({row.model})",
            cell=_name_cell,
            width=224,
            minimum=160,
            stretch=2,
            can_hide=False,
        ),
        Column(
            "service", _tr("Service"), service_text, tone="text2", width=112, minimum=92,
            drop=3,
        ),
        Column(
            "price",
            _tr("Price per 100"),
            price_text,
            sort=lambda row: None if row.per_100 is None else float(row.per_100),
            tip=lambda row: price_words(row.price),
            align=Align.RIGHT,
            width=124,
            minimum=104,
            help=_tr("What 100 answers cost"),
        ),
        Column(
            "reads",
            _tr("Reads at once"),
            reads_text,
            sort=lambda row: row.card.context_tokens,
            align=Align.RIGHT,
            width=124,
            minimum=112,
            drop=2,
        ),
        Column(
            "features",
            _tr("Can do"),
            features_text,
            tip=features_text,
            tone="text2",
            width=176,
            minimum=96,
            stretch=1,
            drop=1,
        ),
        Column(
            "state",
            _tr("Ready?"),
            state_text,
            cell=_state_cell,
            width=216,
            minimum=204,
            can_hide=False,
        ),
    ]  # fmt: skip
