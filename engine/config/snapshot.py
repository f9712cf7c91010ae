"""A config as plain JSON without secrets, and back: what a stored run keeps of its settings."""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from engine.config.literal_keys import KEY_SHAPES, is_reference
from engine.config.schema import Config
from engine.errors import UserError

MASK = "***"
VERSION = 1
_SECRET_NAMES = re.compile(
    r"(?i)^(?:.*authorization|.*api[-_]?key|.*auth[-_]?token|.*access[-_]?token|.*secret|.*password|.*cookie)$"
)
_URLS = ("base_url", "api_base", "proxy", "webhook")


def config_to_json(config: Config) -> dict[str, Any]:
    """Every setting, money as text; key-like texts and passwords are masked."""
    data = _plain(config, "")
    return {"snapshot_version": VERSION, **data}


def config_from_json(data: Mapping[str, Any]) -> Config:
    """The inverse of `config_to_json`, for stored runs.

    Raises:
        UserError: `snapshot_newer` or `snapshot_damaged`.
    """
    from pydantic import ValidationError

    version = data.get("snapshot_version", VERSION)
    if not isinstance(version, int) or version > VERSION:
        raise UserError(
            "snapshot_newer",
            f"The stored settings are of version {version}; this program reads versions up to {VERSION}.",
            hint="Open the run with a newer version of this program.",
        )
    try:
        config: Config = _adapter().validate_python(
            {key: value for key, value in data.items() if key != "snapshot_version"}
        )
    except ValidationError as error:
        raise UserError(
            "snapshot_damaged",
            "The stored settings of the run cannot be read.",
            hint="Its answers and marks can still be exported.",
        ) from error
    return config


@functools.cache
def _adapter() -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(Config)


def _plain(value: Any, name: str) -> Any:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: _plain(getattr(value, field.name), field.name) for field in dataclasses.fields(value)
        }
    if isinstance(value, Mapping):
        return {str(key): _plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item, name) for item in value]
    if isinstance(value, Decimal):
        return str(value)
    return _safe(value, name) if isinstance(value, str) else value


def _safe(text: str, name: str) -> str:
    if is_reference(text):
        return text
    if _SECRET_NAMES.match(name) or name == "api_key_ref":
        return MASK
    if name in _URLS:
        text = _without_password(text)
    return KEY_SHAPES.sub(MASK, text)


def _without_password(url: str) -> str:
    try:
        parts = urlsplit(url)
    except ValueError:
        return MASK
    if "@" not in parts.netloc:
        return url
    return urlunsplit(parts._replace(netloc=parts.netloc.rsplit("@", 1)[-1]))
