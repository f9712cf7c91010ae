"""Words of the config that only count where they are known: facts of models, forms of output, settings
of practice models. A word nobody knows is told with its place and the nearest word that is known.

Facts may be of the user's own making, so one that a card of the project declares is known, and one on
a card is told only where it looks like a slip.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.faults import Faults, join, nearest
from engine.config.output_places import WRITTEN_FORMS
from engine.config.records import Found
from engine.config.schema import Config, Connection, ModelEntry
from engine.config.values import pairs
from engine.model_facts import (
    FEATURE_ALIASES,
    FEATURES,
    PRIVACY,
    PRIVACY_ALIASES,
    canonical_feature,
    canonical_privacy,
)

OUTPUT_FORMATS = ("markdown", "md", "json", "csv", "xlsx", "html", "pdf", "arenarun")
_SLIP = 0.75
_NEAR_MODEL = 0.85
"""Names of models are alike without being slips of each other."""
_FACTS = {
    "features": ("A feature", FEATURES, canonical_feature),
    "privacy": ("A promise about privacy", PRIVACY, canonical_privacy),
}

Row = tuple[ModelEntry | Connection, Node, str]


def check_words(config: Config, faults: Faults, entries: Mapping[str, Found], rows: Iterable[Row]) -> None:
    """Reports the words of a read config that mean nothing. `rows` are the blocks that hold cards."""
    rows = list(rows)
    cards = [entry.card for entry in config.models] + [link.card for link in config.connections]
    cards += config.pricing.models.values()
    declared = {
        "features": {canonical_feature(name) for card in cards for name in card.features or ()},
        "privacy": {canonical_privacy(name) for card in cards for name in card.privacy},
    }
    required = {
        "features": config.constraints.required_features,
        "privacy": config.constraints.privacy_required,
    }
    for fact, names in required.items():
        for name in names:
            _check_required(name, fact, declared[fact], faults, entries.get("constraints"))
    blocks = [(node, path) for _, node, path in rows]
    blocks += [(entries["pricing"].value, "pricing")] if "pricing" in entries else []
    for node, path in blocks:
        for fact, word, where in _declared_words(node, path):
            _check_declared(word, fact, faults, where)
    _check_formats(config, faults, entries.get("output"))
    _check_practice(config, faults, rows, entries)
    _check_prices(config, faults, entries.get("pricing"))


def _check_required(name: str, fact: str, declared: set[str], faults: Faults, block: Found | None) -> None:
    """A must-have that nobody can know to be kept."""
    title, known, canonical = _FACTS[fact]
    if canonical(name) in known or canonical(name) in declared:
        return
    node, path = _place_of(name, block)
    close = nearest(name, _spellings(fact))
    hint = f"Did you mean `{close}`? " if close else ""
    faults.warning(
        node,
        path,
        "unknown_word",
        f"{title} called `{name}` is not known, and no card of this project declares it.",
        f"{hint}Known are: {', '.join(known)}.",
    )


def _check_declared(word: ScalarNode, fact: str, faults: Faults, path: str) -> None:
    title, known, canonical = _FACTS[fact]
    close = None if canonical(word.value) in known else nearest(word.value, _spellings(fact), _SLIP)
    if close is not None:
        message = f"{title} called `{word.value}` is not known. Did you mean `{close}`?"
        faults.warning(word, path, "unknown_word", message, "Leave it if it is a word of your own.")


def _spellings(fact: str) -> tuple[str, ...]:
    aliases = FEATURE_ALIASES if fact == "features" else PRIVACY_ALIASES
    return (*_FACTS[fact][1], *aliases)


def _place_of(text: str, block: Found | None) -> tuple[Node | None, str]:
    """Where a text stands as a value in a block."""
    if block is None:
        return None, "constraints"
    found = next((pair for pair in _values(block.value, block.path) if pair[0].value == text), None)
    return found or (block.value, block.path)


def _values(node: Node, path: str) -> Iterator[tuple[ScalarNode, str]]:
    if isinstance(node, ScalarNode):
        yield node, path
    elif isinstance(node, SequenceNode):
        for index, item in enumerate(node.value):
            yield from _values(item, join(path, index))
    else:
        for key, value in pairs(node):
            yield from _values(value, join(path, key.value))


def _declared_words(node: Node, path: str) -> Iterator[tuple[str, ScalarNode, str]]:
    """Facts written anywhere in an entry: (which kind, the word, its path)."""
    for key, value in pairs(node):
        where = join(path, key.value)
        if key.value in _FACTS and isinstance(value, MappingNode):
            yield from ((key.value, word, join(where, word.value)) for word, _ in pairs(value))
        elif key.value in _FACTS:
            yield from ((key.value, word, at) for word, at in _values(value, where))
        elif key.value in ("card", "models") or path.startswith("pricing.models"):
            yield from _declared_words(value, where)


def _check_formats(config: Config, faults: Faults, block: Found | None) -> None:
    for name in config.output.formats:
        form = name.strip().lower()
        if form in WRITTEN_FORMS or form == "md":
            continue
        node, path = _place_of(name, block)
        if form in OUTPUT_FORMATS:
            message = f"A report as `{form}` is not written by itself in this program."
            faults.warning(node, path, "not_built", message, f"Use: {', '.join(WRITTEN_FORMS)}.")
            continue
        close = nearest(name, OUTPUT_FORMATS)
        hint = f"Did you mean `{close}`? " if close else ""
        message = f"`{name}` is no form in which results are written."
        faults.warning(node, path, "unknown_word", message, f"{hint}Use: {', '.join(WRITTEN_FORMS)}.")


def _check_practice(
    config: Config, faults: Faults, rows: Sequence[Row], entries: Mapping[str, Found]
) -> None:
    """Settings of practice models, whose meaning is known here; those of real models are the vendor's."""
    kinds = {link.id: link.kind for link in config.connections}
    models = {entry.key: entry for entry in config.models}
    practised = False
    for record, node, path in rows:
        if isinstance(record, Connection) and kinds.get(record.id) == "mock":
            _check_practice_names(record.params, faults, (node, f"{path}.params"))
        elif isinstance(record, ModelEntry):
            entry = models.get(record.key or record.model or record.run or "")
            if entry is not None and kinds.get(entry.provider or "") == "mock" and not entry.run:
                practised = True
                _check_practice_params(entry.model, entry.params, faults, (node, f"{path}.params"))
    if practised and "defaults" in entries:
        _check_practice_names(config.defaults.params, faults, (entries["defaults"].value, "defaults.params"))
    judge = config.judge
    if judge.model is not None and kinds.get(judge.provider or "") == "mock":
        block = entries["judge"].value if "judge" in entries else None
        _check_practice_params(judge.model, judge.params, faults, (block, "judge.params"))


_Place = tuple[Node | None, str]


def _check_practice_params(model: str, params: Mapping[str, Any], faults: Faults, where: _Place) -> None:
    from providers.base import ProviderError
    from providers.mock import MockParams

    node, path = where
    try:
        MockParams.read(model, params)
    except ProviderError as error:
        block = _block_of(node)
        faults.warning(block, path, "bad_param", error.message, "Change it: every question would fail.")
    _check_practice_names(params, faults, where)


def _check_practice_names(params: Mapping[str, Any], faults: Faults, where: _Place) -> None:
    if not params:
        return
    from providers.mock import MockParams

    node, path = where
    block = _block_of(node)
    known = tuple(field.name for field in fields(MockParams))
    for name in params:
        close = None if name in known else nearest(name, known, 0.8)
        if close is not None:
            key = next((key for key, _ in pairs(block) if key.value == name), block) if block else None
            message = f"A practice model has no setting `{name}`."
            faults.warning(key, join(path, name), "unknown_word", message, f"Did you mean `{close}`?")


def _block_of(node: Node | None) -> Node | None:
    """The `params` of an entry, or the entry where it has none."""
    if node is None:
        return None
    return next((value for key, value in pairs(node) if key.value == "params"), node)


def _check_prices(config: Config, faults: Faults, block: Found | None) -> None:
    """A price for a name that is nearly that of a model, which has none: its cost would stay unknown."""
    if block is None:
        return
    used = {name for entry in config.models for name in (entry.model, entry.key)}
    used |= {config.judge.model} if config.judge.model else set()
    for name in config.pricing.models:
        close = None if name in used else nearest(name, used, _NEAR_MODEL)
        if close is not None and close not in config.pricing.models:
            key = next(
                (key for key, at in _keys(block.value, block.path) if at == f"pricing.models.{name}"), None
            )
            message = f"No model of this project is called `{name}`, so this price is not used."
            faults.warning(key, f"pricing.models.{name}", "unknown_word", message, f"Did you mean `{close}`?")


def _keys(node: Node, path: str) -> Iterator[tuple[ScalarNode, str]]:
    for key, value in pairs(node):
        yield key, join(path, key.value)
        yield from _keys(value, join(path, key.value))
