"""A whole config file: text in, `Config` and all its problems out, each with its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from yaml.nodes import MappingNode, Node, SequenceNode

from engine.config import blocks, literal_keys
from engine.config.call_params import check_params
from engine.config.connecting import connect
from engine.config.faults import Faults, join
from engine.config.metric_block import metrics
from engine.config.names import field_types, known_names
from engine.config.records import MISSING, Found, Reader
from engine.config.schema import Config, Connection, ModelEntry, Scorers
from engine.config.values import column_of, is_null, line_of, option_value, pairs, to_value
from engine.config.vocabulary import check_words
from engine.config.yaml_text import Document
from engine.domain import Problem

SCHEMA_VERSION = 1
_LISTS = ("models", "targets")
_OWN = {"models", "connections", "metrics", "constraints", "hooks", "schema_version"}
_EXAMPLE = "Add for instance: `models: [{key: practice, model: mock:flaky, params: {accuracy: 80}}]`."


@dataclass(frozen=True, slots=True)
class Place:
    """Where something of the config is written. Line and column count from 1."""

    line: int
    column: int
    path: str


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """A config with what is wrong in it. `places` leads from a canonical path to its text:
    `models.<key>`, `connections.<id>` and everything in the other blocks."""

    config: Config
    problems: tuple[Problem, ...]
    places: Mapping[str, Place] = field(default_factory=dict)


def load_config(document: Document, default_name: str = "") -> LoadedConfig:
    """Reads a config. Never raises: what is wrong is a problem, what is right is in `config`.

    Args:
        document: the composed file.
        default_name: the project's name where the file gives none.
    """
    faults = Faults(document.file)
    faults.items.extend(document.problems)
    root = document.root
    if root is None or not isinstance(root, MappingNode):
        if not document.problems:
            faults.error(root, "", "not_a_config", "The file is not a block of settings.", _EXAMPLE)
        return LoadedConfig(Config(project=default_name), tuple(faults.items))
    version_fault = _version(root, faults)
    if version_fault:
        return LoadedConfig(Config(project=default_name), tuple(faults.items))
    return _load(root, faults, default_name)


def _version(root: MappingNode, faults: Faults) -> bool:
    """True where the file is of a version this program cannot read."""
    for key, node in root.value:
        if getattr(key, "value", None) != "schema_version":
            continue
        version = to_value(node)
        if isinstance(version, bool) or not isinstance(version, int) or version < 1:
            faults.error(
                node,
                "schema_version",
                "bad_value",
                "`schema_version` must be a whole number, 1 or more.",
                f"Write `schema_version: {SCHEMA_VERSION}`.",
            )
        elif version > SCHEMA_VERSION:
            faults.error(
                node,
                "schema_version",
                "schema_newer",
                f"The file is of version {version}; this program reads versions up to {SCHEMA_VERSION}.",
                "Open it with a newer version of this program.",
            )
            return True
    return False


def _load(root: MappingNode, faults: Faults, default_name: str) -> LoadedConfig:
    reader = Reader(faults)
    secrets = literal_keys.report(root, faults)
    written = reader.named(root, (*known_names(Config), "targets"), "")
    targets = {name: written.pop(name) for name in _LISTS if name in written}
    entries = reader.by_field(written, Config)
    model_rows = blocks.models(reader, targets.values())
    link_rows = blocks.connections(reader, entries["connections"]) if "connections" in entries else []
    values = _plain_blocks(reader, entries)
    if "metrics" in entries:
        values["metrics"] = metrics(reader, entries["metrics"])
    if "constraints" in entries:
        values["constraints"] = blocks.constraints(reader, entries["constraints"])
    if "hooks" in entries:
        values["hooks"] = blocks.hooks(reader, entries["hooks"])
    if "scorers" in values:
        values["scorers"] = replace(
            values["scorers"],
            options=_options(entries["scorers"], values["scorers"]),
            checks=_checks(entries["scorers"], values["scorers"]),
        )
    values["project"] = " ".join((values.get("project") or "").split()) or default_name
    for node, path in [row[1:3] for row in (*model_rows, *link_rows)]:
        check_params(node, path, faults)
    for name in ("defaults", "judge"):
        if name in entries:
            check_params(entries[name].value, entries[name].path, faults)
    places = _places(written, entries, model_rows, link_rows)
    models = _keyed(faults, model_rows, _first(targets), root)
    links = tuple(literal_keys.without(row[0], secrets) for row in link_rows)
    config = Config(models=models, connections=links, **values)
    _say_not_built(faults, entries)
    model_places = {entry.key: row[1:] for entry, row in zip(models, model_rows, strict=True)}
    config = connect(config, faults, model_places, [row[1:] for row in link_rows], entries)
    check_words(config, faults, entries, [*model_rows, *link_rows])
    return LoadedConfig(config, tuple(faults.items), places)


def _first(found: Mapping[str, Found]) -> Node | None:
    return next((item.key for item in found.values()), None)


def _plain_blocks(reader: Reader, entries: Mapping[str, Found]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, annotation in field_types(Config).items():
        found = entries.get(name)
        if found is None or name in _OWN or is_null(found.value):
            continue
        value = reader.value(found.value, annotation, found.path)
        if value is not MISSING:
            values[name] = value
    return values


def _options(found: Found, scorers: Scorers) -> dict[str, Mapping[str, Any]]:
    """The options of each check, texts as they are written."""
    block = next((value for key, value in pairs(found.value) if key.value == "options"), None)
    if block is None:
        return {}
    return {
        check.value: {key.value: option_value(key.value, value) for key, value in pairs(options)}
        for check, options in pairs(block)
        if check.value in scorers.options
    }


def _checks(found: Found, scorers: Scorers) -> tuple[Any, ...]:
    """The checks of all tests as plain values, texts as they are written."""
    if not scorers.checks:
        return ()
    block = next(value for key, value in pairs(found.value) if key.value == "checks")
    items = block.value if isinstance(block, SequenceNode) else [block]
    return tuple(
        {key.value: option_value(key.value, value) for key, value in pairs(item)}
        if isinstance(item, MappingNode)
        else to_value(item)
        for item in items
    )


def _keyed(
    faults: Faults, rows: list[tuple[ModelEntry, Node, str]], models: Node | None, root: Node
) -> tuple[ModelEntry, ...]:
    """Fills model, key and label; keys are unique."""
    if not rows and not any(problem.path.startswith(_LISTS) for problem in faults.items):
        faults.error(models or root, "models", "no_models", "There is no model to compare.", _EXAMPLE)
    result: list[ModelEntry] = []
    lines: dict[str, int] = {}
    for entry, node, path in rows:
        model = entry.model or entry.run or ""
        if not model:
            faults.error(node, path, "missing_key", "`model` is missing here.", "Add a line `model: …`.")
        key = entry.key or model
        if key in lines:
            faults.error(
                node,
                path,
                "duplicate_model",
                f"The key `{key}` is used twice, in line {lines[key]} and in line {line_of(node)}.",
                "Give one of them a `key` of its own.",
            )
        lines.setdefault(key, line_of(node))
        # A name is one line wherever it is shown.
        label = " ".join((entry.label or key).split())
        result.append(replace(entry, model=model, key=key, label=label or key))
    return tuple(result)


def _places(
    written: Mapping[str, Found],
    entries: Mapping[str, Found],
    models: list[tuple[ModelEntry, Node, str]],
    links: list[tuple[Connection, Node, str]],
) -> dict[str, Place]:
    places: dict[str, Place] = {}
    for block, found in entries.items():
        places[block] = Place(line_of(found.key), column_of(found.key), found.path)
        _add_places(places, found.value, block)
    for entry, node, path in models:
        name = entry.key or entry.model or entry.run or ""
        places[f"models.{name}"] = Place(line_of(node), column_of(node), path)
    for link, node, path in links:
        places[f"connections.{link.id}"] = Place(line_of(node), column_of(node), path)
    return places


def _add_places(places: dict[str, Place], node: Node, path: str) -> None:
    for key, value in pairs(node):
        inner = join(path, key.value)
        places[inner] = Place(line_of(value), column_of(value), inner)
        _add_places(places, value, inner)


def _say_not_built(faults: Faults, entries: Mapping[str, Found]) -> None:
    words = {"watch": "Watching for drift is", "hooks": "Hooks are"}
    for name, title in words.items():
        if name in entries:
            faults.warning(
                entries[name].key,
                name,
                "not_built",
                f"{title} not available in this program; the block `{name}` is kept and not used.",
                "Nothing needs to be done.",
            )
