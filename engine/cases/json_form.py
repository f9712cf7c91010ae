"""Cases as plain JSON and back, exactly: a run keeps every case as it was."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from providers.base import Message

from engine.domain import Case, CheckSpec

_TUPLES = ("tags", "images", "files")


def case_to_json(case: Case) -> dict[str, Any]:
    """A JSON-able form that holds every field."""
    return {field.name: _plain(getattr(case, field.name)) for field in dataclasses.fields(Case)}


def case_from_json(data: Mapping[str, Any]) -> Case:
    """The inverse of `case_to_json`. Unknown keys, of a later version, are left out."""
    names = {field.name for field in dataclasses.fields(Case)}
    values = {name: value for name, value in data.items() if name in names}
    for name in _TUPLES:
        values[name] = tuple(values.get(name) or ())
    messages = values.get("messages")
    if messages is not None:
        values["messages"] = tuple(Message(turn["role"], turn["content"]) for turn in messages)
    values["checks"] = tuple(check_from_json(check) for check in values.get("checks") or ())
    return Case(**values)


def check_from_json(data: Mapping[str, Any]) -> CheckSpec:
    """A stored check; unknown keys are left out."""
    names = {field.name for field in dataclasses.fields(CheckSpec)}
    return CheckSpec(**{name: value for name, value in data.items() if name in names})


def _plain(value: Any) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value
