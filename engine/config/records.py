"""Turns nodes into the records of `schema`: names, aliases, types and ranges, all faults with their place.

Types and ranges are the annotations of the records, checked by pydantic; the sentences are ours.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, NamedTuple, TypeVar, get_args, get_origin

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.config.faults import Faults, join, nearest
from engine.config.names import ALIASES, SHORTHAND, field_types, home_of, known_names, unwrap
from engine.config.ranges import check_range, fix_for, got, kind_words
from engine.config.schema import TestsConfig
from engine.config.values import is_null, pairs, scalar_value, to_value

T = TypeVar("T")


class _Missing:
    """No usable value: the default stays."""


MISSING = _Missing()


class Found(NamedTuple):
    """One setting as written: its key, its value and its dotted path."""

    key: Node
    value: Node
    path: str


class Reader:
    """Reads records out of the tree of one file; every fault goes to `faults`."""

    def __init__(self, faults: Faults) -> None:
        self.faults = faults

    def entries(self, node: Node, cls: type, path: str) -> dict[str, Found]:
        """The settings written in a block, by the field they belong to."""
        written = self.named(node, known_names(cls), path)
        return self.by_field(written, cls)

    def named(self, node: Node, known: tuple[str, ...], path: str) -> dict[str, Found]:
        """The settings of a block by the name they are written under; unknown ones are reported."""
        written: dict[str, Found] = {}
        for key, value in pairs(node):
            found = Found(key, value, join(path, key.value))
            if key.value in known:
                written[key.value] = found
            elif not key.value.startswith("x-"):
                self.unknown(found, known)
        return written

    def by_field(self, written: Mapping[str, Found], cls: type) -> dict[str, Found]:
        """Applies the aliases of a record: per field the first name that has a value."""
        aliases = ALIASES.get(cls, {})
        result: dict[str, Found] = {}
        used: set[str] = set()
        for field in field_types(cls):
            for name in aliases.get(field, (field,)):
                found = written.get(name)
                # `id` names a model only where nothing else does, then it is the key as well.
                taken = name in used and not (field == "key" and name == "id")
                if found is not None and not taken and not is_null(found.value):
                    result[field] = found
                    used.add(name)
                    break
        for name, found in written.items():
            if name not in used and not is_null(found.value):
                self.faults.warning(
                    found.key,
                    found.path,
                    "not_used",
                    f"`{name}` says the same as another setting of this block and is not used.",
                    "Keep only one of them.",
                )
        return result

    def unknown(self, found: Found, known: tuple[str, ...]) -> None:
        """Reports a name that nobody reads."""
        name = found.path.rsplit(".", 1)[-1]
        close = nearest(name, known, 0.85)
        elsewhere = home_of(name)
        if close is None and elsewhere is not None:
            fix = f"`{name}` belongs under `{elsewhere}`."
        elif close or (close := nearest(name, known)):
            fix = f"Did you mean `{close}`?"
        else:
            fix = "Remove it, or start its name with `x-` to keep a note of your own."
        self.faults.error(found.key, found.path, "unknown_key", f"`{name}` is not a known setting here.", fix)

    def record(self, node: Node, cls: type[T], path: str) -> T | None:
        """One record from its block; None where it cannot be built, with the fault reported."""
        if not isinstance(node, MappingNode):
            shorthand = SHORTHAND.get(cls)
            if is_null(node):
                return self.build(cls, {}, node, path)
            if shorthand is None or (isinstance(node, SequenceNode) and cls is not TestsConfig):
                self.wrong(node, path, "must be a block of settings")
                return None
            return self.build(cls, {shorthand: Found(node, node, path)}, node, path)
        return self.build(cls, self.entries(node, cls, path), node, path)

    def build(self, cls: type[T], entries: Mapping[str, Found], node: Node, path: str) -> T | None:
        """Reads each field; a field with a fault keeps its default."""
        values: dict[str, Any] = {}
        for field, annotation in field_types(cls).items():
            found = entries.get(field)
            if found is not None:
                value = self.value(found.value, annotation, found.path)
                if value is not MISSING:
                    values[field] = value
        missing = [
            item.name
            for item in dataclasses.fields(cls)  # type: ignore[arg-type]
            if item.default is dataclasses.MISSING
            and item.default_factory is dataclasses.MISSING
            and item.name not in values
        ]
        for name in missing:
            if name not in entries:
                self.faults.error(
                    node, path, "missing_key", f"`{name}` is missing here.", f"Add a line `{name}: …`."
                )
        return None if missing else cls(**values)

    def value(self, node: Node, annotation: Any, path: str) -> Any:
        """One value as its annotation wants it; `MISSING` for null and for faults."""
        if is_null(node):
            return MISSING
        base, options = unwrap(annotation)
        if len(options) > 1:
            return self._union(node, options, path)
        if dataclasses.is_dataclass(base):
            result: Any = self.record(node, base, path)  # type: ignore[arg-type]
            return MISSING if result is None else result
        if base is Any:
            return to_value(node)
        return self._plain(node, options[0], base, path)

    def _plain(self, node: Node, annotation: Any, base: Any, path: str) -> Any:
        origin = get_origin(base)
        if origin is tuple:
            return self._list(node, get_args(base)[0], path)
        if isinstance(origin, type) and issubclass(origin, Mapping):
            return self._map(node, get_args(base)[1], path)
        return self._scalar(node, annotation, base, path)

    def _union(self, node: Node, options: tuple[Any, ...], path: str) -> Any:
        """Text or something else: a list where a list may be, true and false where they may be."""
        other = next(option for option in options if option is not str)
        if isinstance(node, SequenceNode) or (
            isinstance(node, ScalarNode) and other is bool and isinstance(scalar_value(node), bool)
        ):
            return self.value(node, other, path)
        return self.value(node, str, path)

    def _list(self, node: Node, inner: Any, path: str) -> Any:
        if isinstance(node, MappingNode):
            return self.wrong(node, path, "must be a list")
        items = node.value if isinstance(node, SequenceNode) else [node]
        single = not isinstance(node, SequenceNode)
        read = [self.value(item, inner, path if single else join(path, i)) for i, item in enumerate(items)]
        return tuple(item for item in read if item is not MISSING)

    def _map(self, node: Node, inner: Any, path: str) -> Any:
        if not isinstance(node, MappingNode):
            if inner is bool:
                return dict.fromkeys(self._list(node, str, path), True)
            return self.wrong(node, path, "must be a block of settings")
        result = {}
        for key, value in pairs(node):
            item = to_value(value) if inner is Any else self.value(value, inner, join(path, key.value))
            if item is not MISSING:
                result[key.value] = item
        return result

    def _scalar(self, node: Node, annotation: Any, base: Any, path: str) -> Any:
        if not isinstance(node, ScalarNode):
            return self.wrong(node, path, f"must be {kind_words(base)}")
        if base is str:
            return node.value
        value = _typed(node, base)
        if value is MISSING:
            return self.wrong(node, path, f"must be {kind_words(base)}")
        result, reason = check_range(annotation, value)
        if reason:
            return self.wrong(node, path, reason)
        return result

    def wrong(self, node: Node, path: str, reason: str) -> _Missing:
        """Reports a value that does not fit and gives `MISSING`."""
        name = path.rsplit(".", 1)[-1]
        instead = got(node)
        fix = fix_for(reason, node)
        self.faults.error(node, path, "bad_value", f"`{name}` {reason}, but is {instead}.", fix)
        return MISSING


def _typed(node: ScalarNode, base: Any) -> Any:
    """The scalar as the type wants it; numbers must be finite and unquoted."""
    value = scalar_value(node)
    if base in (float, Decimal):
        if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
            return MISSING
        if base is float:
            return float(value)
        try:
            return Decimal(node.value)
        except InvalidOperation:
            return Decimal(value)
    return value
