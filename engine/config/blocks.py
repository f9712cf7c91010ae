"""Blocks of the config that are written in more than one way: models, connections, gates, hooks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeVar

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.faults import join
from engine.config.names import known_names
from engine.config.records import MISSING, Found, Reader
from engine.config.schema import Card, Connection, Constraints, ModelEntry
from engine.config.values import STR, is_null, pairs

T = TypeVar("T", ModelEntry, Connection)
_CARD_FACTS = ("privacy", "features")
_HOOKS = ("pre_request", "post_process", "on_result")


def items(reader: Reader, node: Node, path: str) -> list[tuple[Node, str]]:
    """The entries of a list with their paths; one bare value is a list of one."""
    if is_null(node):
        return []
    if isinstance(node, SequenceNode):
        return [(item, join(path, index)) for index, item in enumerate(node.value)]
    if isinstance(node, MappingNode):
        reader.wrong(node, path, "must be a list")
        return []
    return [(node, path)]


def models(reader: Reader, found: Iterable[Found]) -> list[tuple[ModelEntry, Node, str]]:
    """All entries of `models` and `targets` with where they stand."""
    result = []
    for block in found:
        for node, path in items(reader, block.value, block.path):
            entry = _with_card(reader, node, ModelEntry, path)
            if entry is not None:
                result.append((entry, node, path))
    return result


def connections(reader: Reader, block: Found) -> list[tuple[Connection, Node, str]]:
    """All declared connections; a block with the ids as keys is read like a list."""
    result = []
    for node, path, name in _connection_nodes(reader, block):
        connection = _with_card(reader, node, Connection, path, name)
        if connection is not None:
            result.append((connection, node, path))
    return result


def _connection_nodes(reader: Reader, block: Found) -> list[tuple[Node, str, str]]:
    node = block.value
    if isinstance(node, MappingNode) and all(isinstance(value, MappingNode) for _, value in node.value):
        return [(value, join(block.path, key.value), key.value) for key, value in pairs(node)]
    return [(item, path, "") for item, path in items(reader, node, block.path)]


def _with_card(reader: Reader, node: Node, cls: type[T], path: str, name: str = "") -> T | None:
    """Reads an entry; `privacy` and `features` written directly on it go into its card."""
    if not isinstance(node, MappingNode):
        return reader.record(node, cls, path)
    written = reader.named(node, (*known_names(cls), *_CARD_FACTS), path)
    facts = {fact: written.pop(fact) for fact in _CARD_FACTS if fact in written}
    entries = reader.by_field(written, cls)
    card_found = entries.pop("card", None)
    if card_found is not None and not isinstance(card_found.value, MappingNode):
        if not is_null(card_found.value):
            reader.wrong(card_found.value, card_found.path, "must be a block of settings")
        card_found = None
    card_entries = {} if card_found is None else reader.entries(card_found.value, Card, card_found.path)
    card = reader.build(Card, {**facts, **card_entries}, node, path)
    if name:
        key = node.value[0][0] if node.value else node
        stated = ScalarNode(STR, name, node.start_mark, node.start_mark)
        entries.setdefault("id", Found(key, stated, path))
        entries.setdefault("kind", Found(key, stated, path))
    entry = reader.build(cls, entries, node, path)
    return entry if entry is None or card is None else replace(entry, card=card)


def constraints(reader: Reader, block: Found) -> Constraints:
    """The must-haves, flat or under `deployment` and `privacy`."""
    inside = {
        "deployment": (
            "required_features",
            "features",
            "min_context_tokens",
            "min_context",
            "allow_unknown_card",
        ),
        "privacy": ("privacy_required", "required", "requirements"),
    }
    flat = tuple(name for name in known_names(Constraints) if name not in ("required", "requirements"))
    if not isinstance(block.value, MappingNode):
        if not is_null(block.value):
            reader.wrong(block.value, block.path, "must be a block of settings")
        return Constraints()
    written = reader.named(block.value, (*flat, *inside), block.path)
    for name, known in inside.items():
        nested = written.pop(name, None)
        if nested is None or is_null(nested.value):
            continue
        if isinstance(nested.value, MappingNode):
            written.update(reader.named(nested.value, known, nested.path))
        elif name == "privacy":
            written["privacy_required"] = nested
        else:
            reader.wrong(nested.value, nested.path, "must be a block of settings")
    entries = reader.by_field(written, Constraints)
    return reader.build(Constraints, entries, block.value, block.path) or Constraints()


def hooks(reader: Reader, block: Found) -> Mapping[str, str]:
    """Functions that the reference system calls; empty ones are dropped."""
    if is_null(block.value):
        return {}
    if not isinstance(block.value, MappingNode):
        reader.wrong(block.value, block.path, "must be a block of settings")
        return {}
    written = reader.named(block.value, _HOOKS, block.path)
    read = {name: reader.value(found.value, str, found.path) for name, found in written.items()}
    return {name: value for name, value in read.items() if value is not MISSING and value}
