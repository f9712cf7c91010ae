"""A board as JSON-able data and back, without loss: what a run stores of its result."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any, Union, get_args, get_origin, get_type_hints

from engine.errors import UserError
from engine.stats.board import Leaderboard

FORMAT = 1


def plain(value: Any) -> Any:
    """Anything in a board as JSON types. Decimals become text, so that no digit is lost."""
    if is_dataclass(value):
        return {item.name: plain(getattr(value, item.name)) for item in fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Decimal):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


@lru_cache(maxsize=64)
def _hints(kind: type) -> Mapping[str, Any]:
    return get_type_hints(kind)


def _read_dataclass(kind: type, data: Any) -> Any:
    """A record from a mapping. Missing fields take their default, so older boards still read."""
    hints = _hints(kind)
    known = {item.name for item in fields(kind)}
    return kind(**{name: _read(hints[name], value) for name, value in data.items() if name in known})


def _read(kind: Any, data: Any) -> Any:
    origin, inside = get_origin(kind), get_args(kind)
    if data is None or kind is Any:
        return data
    if origin in (Union, types.UnionType):
        return _read(next(part for part in inside if part is not type(None)), data)
    if origin is tuple:
        return tuple(_read(inside[0], item) for item in data)
    if origin is not None and issubclass(origin, Mapping):
        return {_key(inside[0], key): _read(inside[1], item) for key, item in data.items()}
    if is_dataclass(kind):
        return _read_dataclass(kind, data)  # type: ignore[arg-type]
    if kind is float:
        return float(data)
    return kind(data)


def _key(kind: Any, key: str) -> Any:
    return int(key) if kind is int else key


def board_to_json(board: Leaderboard) -> dict[str, Any]:
    """The board as a mapping that `json.dumps` takes; `board_from_json` gives it back equal."""
    return {"format": FORMAT, **plain(board)}


def board_from_json(data: Mapping[str, Any]) -> Leaderboard:
    """The board that was stored. Raises UserError `board_unreadable` for anything else."""
    if data.get("format") != FORMAT:
        raise UserError(
            "board_unreadable",
            f"This stored result has format {data.get('format')!r}; this program reads {FORMAT}.",
            hint="Open it with the program version that wrote it, or mark the run again.",
        )
    try:
        return _read_dataclass(Leaderboard, data)  # type: ignore[no-any-return]
    except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError) as error:
        raise UserError(
            "board_unreadable",
            f"This stored result is damaged: {error}.",
            hint="Mark the run again; its answers are kept.",
        ) from error
