"""Reads a project's price file: model ids with cards, in JSON or YAML."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal, InvalidOperation
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.paths import inside
from engine.config.schema import Card
from engine.config.values import column_of, line_of, pairs, to_text
from engine.config.yaml_text import MAX_BYTES, compose
from engine.domain import Problem, Severity

ALIASES: Mapping[str, str] = {
    "input": "input_usd_per_mtok",
    "output": "output_usd_per_mtok",
    "context_window": "context_tokens",
    "context": "context_tokens",
    "max_output": "max_output_tokens",
}
_LISTS = ("models", "prices")


def read_price_file(root: Path, name: str) -> tuple[dict[str, Card], list[Problem]]:
    """The cards of `name`, a path inside the project folder, and every fault in it.

    A card with a fault in one field keeps its other fields. Never raises.
    """
    path = inside(root, name)
    if path is None:
        fix = "Put it inside the folder and name it from there."
        return {}, [_fault(name, "The price file lies outside the project folder.", fix, "outside_project")]
    try:
        if not path.is_file():
            what = "There is no such price file."
            return {}, [_fault(name, what, "Check pricing.path.", "unreadable")]
        if path.stat().st_size > MAX_BYTES:
            return {}, [_fault(name, "The price file is larger than 16 MiB.", "Split it.", "too_large")]
        text = path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        what = f"The price file cannot be read: {error.strerror or error}."
        return {}, [_fault(name, what, "Check pricing.path.", "unreadable")]
    except UnicodeDecodeError:
        return {}, [_fault(name, "The price file is not UTF-8 text.", "Save it as UTF-8.", "encoding")]
    document = compose(text, name)
    problems = list(document.problems)
    cards: dict[str, Card] = {}
    if document.root is not None:
        for model, node in _models(name, document.root, problems):
            cards[model] = _card(name, model, node, problems)
    return cards, problems


def _models(file: str, root: Node, problems: list[Problem]) -> Iterator[tuple[str, Node]]:
    """Model ids and their fields: a map, a list with ids, or either below `models`/`prices`."""
    inner = {key.value: value for key, value in pairs(root)}
    for key in _LISTS:
        if isinstance(inner.get(key), MappingNode | SequenceNode):
            root = inner[key]
            break
    if isinstance(root, MappingNode):
        for key_node, value in pairs(root):
            yield key_node.value, value
    elif isinstance(root, SequenceNode):
        for row in root.value:
            named = {key.value: value for key, value in pairs(row)}
            model = named.get("id") or named.get("model")
            if isinstance(model, ScalarNode):
                yield model.value, row
            else:
                problems.append(
                    _fault(file, "This entry names no model.", "Add id: and the model's name.", "type", row)
                )
    else:
        fix = "Begin with a model id, and below it input and output."
        problems.append(_fault(file, "The price file holds no list of models.", fix, "type", root))


def _card(file: str, model: str, node: Node, problems: list[Problem]) -> Card:
    if not isinstance(node, MappingNode):
        fix = "Write input and output below it."
        problems.append(_fault(file, "A model needs a list of fields.", fix, "type", node, model))
        return Card()
    values: dict[str, Any] = {}
    for key, value in pairs(node):
        name = ALIASES.get(key.value, key.value)
        reader = _READERS.get(name)
        if reader is None:
            if name not in ("id", "model"):
                problems.append(_unknown(file, model, key))
            continue
        try:
            values[name] = reader(to_text(value))
        except ValueError as error:
            path = f"{model}.{key.value}"
            problems.append(_fault(file, f"{error}.", "Correct the value.", "value", value, path))
    return Card(**{name: value for name, value in values.items() if value is not None})


def _unknown(file: str, model: str, key: ScalarNode) -> Problem:
    near = get_close_matches(key.value, [*_READERS, *ALIASES], n=1)
    fix = f"Did you mean {near[0]}?" if near else f"Known fields: {', '.join(_READERS)}."
    path = f"{model}.{key.value}"
    return _fault(file, f"The field {key.value!r} is not known.", fix, "unknown_key", key, path)


def _fault(file: str, message: str, fix: str, code: str, node: Node | None = None, path: str = "") -> Problem:
    return Problem(
        Severity.ERROR,
        message[:1].upper() + message[1:],
        fix,
        file=file,
        line=line_of(node) if node is not None else None,
        column=column_of(node) if node is not None else None,
        path=path,
        code=code,
    )


def _usd(value: Any) -> Decimal | None:
    if value in (None, "", "null", "~"):
        return None
    try:
        amount = Decimal(str(value))
    except InvalidOperation:
        raise ValueError(f"{value!r} is not an amount of US dollars") from None
    if not amount.is_finite() or amount < 0:
        raise ValueError(f"{value!r} is not an amount of US dollars from 0 up")
    return amount


def _count(value: Any) -> int | None:
    if value in (None, "", "null", "~"):
        return None
    text = str(value).replace("_", "")
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{value!r} is not a whole number from 1 up")
    return int(text)


def _names(value: Any) -> tuple[str, ...] | None:
    if value in (None, "", "null", "~"):
        return None
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, list):
        raise ValueError("features must be a list of names")
    return tuple(str(item).strip() for item in items)


def _promises(value: Any) -> dict[str, bool]:
    if isinstance(value, list):
        return {str(item): True for item in value}
    if not isinstance(value, Mapping):
        raise ValueError("privacy must name promises as true or false")
    return {str(key): _truth(item) for key, item in value.items()}


def _truth(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    if str(value).lower() in ("true", "false"):
        return str(value).lower() == "true"
    raise ValueError(f"{value!r} is neither true nor false")


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "provider": str,
    "display_name": str,
    "input_usd_per_mtok": _usd,
    "output_usd_per_mtok": _usd,
    "cache_read_usd_per_mtok": _usd,
    "cache_write_usd_per_mtok": _usd,
    "context_tokens": _count,
    "max_output_tokens": _count,
    "features": _names,
    "privacy": _promises,
    "notes": str,
    "as_of": str,
}
