"""The names a setting goes by: fields of the records, their aliases, and where a name belongs."""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Mapping
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

from engine.config.schema import (
    Card,
    Config,
    Connection,
    Constraints,
    Criterion,
    Judge,
    MetricRule,
    ModelEntry,
    Pricing,
    Statistics,
    TestsConfig,
)

# Names that a field also goes by; the first that has a value wins.
ALIASES: Mapping[Any, Mapping[str, tuple[str, ...]]] = {
    Config: {"project": ("project", "name"), "connections": ("connections", "providers")},
    Connection: {
        "id": ("id", "name"),
        "kind": ("kind", "type"),
        "base_url": ("base_url", "api_base"),
        "api_key_ref": ("api_key_ref", "api_key"),
        "verify_tls": ("verify_tls", "verify"),
    },
    ModelEntry: {
        "model": ("model", "id", "name"),
        "key": ("key", "id"),
        "label": ("label", "name"),
        "run": ("run", "target", "callable"),
        "api_base": ("api_base", "base_url"),
        "provider": ("provider", "connection"),
    },
    Card: {
        "input_usd_per_mtok": ("input_usd_per_mtok", "input"),
        "output_usd_per_mtok": ("output_usd_per_mtok", "output"),
        "context_tokens": ("context_tokens", "context_window", "context"),
        "max_output_tokens": ("max_output_tokens", "max_output"),
    },
    MetricRule: {"target": ("target", "budget", "budget_usd_per_1k_calls", "target_p95_ms", "target_ms")},
    Constraints: {
        "required_features": ("required_features", "features"),
        "min_context_tokens": ("min_context_tokens", "min_context"),
        "privacy_required": ("privacy_required", "required", "requirements"),
    },
    TestsConfig: {"tags": ("tags", "tags_any"), "all_tags": ("all_tags", "tags_all")},
    Judge: {"api_base": ("api_base", "base_url"), "provider": ("provider", "connection")},
    Criterion: {"name": ("name", "id")},
}
# A bare value where a block may stand goes into this field.
SHORTHAND: Mapping[Any, str] = {
    ModelEntry: "model",
    Judge: "model",
    Statistics: "enabled",
    Pricing: "path",
    TestsConfig: "paths",
    Criterion: "name",
}


def field_types(cls: Any) -> Mapping[str, Any]:
    """The annotations of a record with their ranges."""
    hints: Mapping[str, Any] = _hints(cls)
    return hints


@functools.cache
def _hints(cls: Any) -> Mapping[str, Any]:
    return get_type_hints(cls, include_extras=True)


def known_names(cls: Any) -> tuple[str, ...]:
    """Every name that may stand in a block of this record."""
    names = dict.fromkeys(field_types(cls))
    for aliases in ALIASES.get(cls, {}).values():
        names.update(dict.fromkeys(aliases))
    return tuple(names)


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """The bare type, and the choices of a union without None, ranges kept."""
    choices: tuple[Any, ...] = (annotation,)
    if get_origin(annotation) in (Union, types.UnionType):
        choices = tuple(item for item in get_args(annotation) if item is not type(None))
    first = choices[0]
    return (get_args(first)[0] if get_origin(first) is Annotated else first), choices


@functools.cache
def _homes() -> Mapping[str, str]:
    homes: dict[str, str] = {}
    for field, annotation in field_types(Config).items():
        base, _ = unwrap(annotation)
        inner = get_args(base)[0] if get_origin(base) is tuple else base
        if dataclasses.is_dataclass(inner):
            for name in known_names(inner):
                homes.setdefault(name, "providers" if field == "connections" else field)
    homes.update(system="defaults", prompt="defaults", max_tokens="defaults", temperature="defaults")
    return homes


def home_of(name: str) -> str | None:
    """The block a name belongs to, where it stands in the wrong one."""
    return _homes().get(name)
