"""How values become columns and come back unchanged. None stays None, in both directions."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal
from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

from engine.domain import Case, CheckResult, Note, SkippedModel

if TYPE_CHECKING:
    from pydantic import TypeAdapter


class Shape(Enum):
    """What a JSON column holds."""

    DOCUMENT = "document"
    CASE = "case"
    CHECKS = "checks"
    METRICS = "metrics"
    RAW_METRICS = "raw_metrics"
    ANSWER_NOTES = "answer_notes"
    NOTES = "notes"
    SKIPPED = "skipped"


@functools.cache
def _adapter(shape: Shape) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, TypeAdapter

    types: dict[Shape, Any] = {
        Shape.DOCUMENT: Any,
        Shape.CHECKS: tuple[CheckResult, ...],
        Shape.METRICS: Mapping[str, float],
        Shape.RAW_METRICS: Mapping[str, float | None],
        Shape.ANSWER_NOTES: tuple[tuple[str, Mapping[str, Any]], ...],
        Shape.NOTES: tuple[Note, ...],
        Shape.SKIPPED: tuple[SkippedModel, ...],
    }
    if shape is Shape.CASE:
        return TypeAdapter(Case)
    # JSON has no words for infinity and not-a-number: kept as text, read back as numbers.
    return TypeAdapter(types[shape], config=ConfigDict(ser_json_inf_nan="strings"))


# Written once for every answer, where an adapter that is made takes half the time. The others
# are written before the first call, which must not wait for adapters to be made.
_OFTEN = frozenset({Shape.CHECKS, Shape.METRICS, Shape.RAW_METRICS, Shape.ANSWER_NOTES})


def dump(shape: Shape, value: Any) -> str:
    """The value as JSON. What JSON cannot hold becomes its text; broken characters are replaced."""
    try:
        if shape in _OFTEN:
            return _adapter(shape).dump_json(value, fallback=str, warnings=False).decode()
        return _to_json(value, "null" if shape is Shape.CASE else "strings")
    except ValueError as error:
        from pydantic_core import PydanticSerializationError

        if not isinstance(error, PydanticSerializationError):
            raise
        return _to_json(_cleaned(value), "strings")


def _to_json(value: Any, inf_nan_mode: Literal["null", "strings"]) -> str:
    return _writer()(value, inf_nan_mode=inf_nan_mode, fallback=str).decode()


@functools.cache
def _writer() -> Callable[..., bytes]:
    from pydantic_core import to_json

    return to_json


def load(shape: Shape, text: str) -> Any:
    """The inverse of `dump`; sequences inside free values come back as lists."""
    return _adapter(shape).validate_json(text)


def clean_text(text: str) -> str:
    """`text` as it can be stored: halves of surrogate pairs, which no encoding holds, are replaced."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def bounded(text: str, limit: int) -> tuple[str, int]:
    """The stored part of a text and how many characters were cut off."""
    return clean_text(text[:limit]), max(0, len(text) - limit)


_CASE_FIELDS = tuple(entry.name for entry in fields(Case))


def case_content(case: Case) -> tuple[str, str]:
    """A case as JSON without the place it was written at, and the digest that makes it unique."""
    parts = {name: getattr(case, name) for name in _CASE_FIELDS}
    content = dump(Shape.CASE, {**parts, "file": "", "line": None})
    return content, sha256(content.encode()).hexdigest()


def case_from_content(content: str, file: str, line: int | None) -> Case:
    """The inverse of `case_content`."""
    case: Case = load(Shape.CASE, content)
    return replace(case, file=file, line=line)


def time_text(moment: datetime) -> str:
    """UTC with microseconds always, so that the order of texts is the order of times."""
    if moment.tzinfo is None:
        raise ValueError(f"{moment!r} does not say its time zone")
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="microseconds")


def optional_time_text(moment: datetime | None) -> str | None:
    """`time_text`, or None."""
    return None if moment is None else time_text(moment)


def time_value(text: str) -> datetime:
    """The inverse of `time_text`."""
    return datetime.fromisoformat(text)


def optional_time(text: str | None) -> datetime | None:
    """`time_value`, or None."""
    return None if text is None else time_value(text)


def money_text(amount: Decimal | None) -> str | None:
    """The exact digits. An amount that is no number is not known."""
    return str(amount) if amount is not None and amount.is_finite() else None


def money(text: str | None) -> Decimal | None:
    """The inverse of `money_text`."""
    return None if text is None else Decimal(text)


def flag(value: bool | None) -> int | None:
    """A truth value as SQLite keeps it."""
    return None if value is None else int(value)


def truth(value: int | None) -> bool | None:
    """The inverse of `flag`."""
    return None if value is None else bool(value)


def _cleaned(value: Any) -> Any:
    """`value` in JSON's own types, with every text inside made storable."""
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if is_dataclass(value) and not isinstance(value, type):
        return {entry.name: _cleaned(getattr(value, entry.name)) for entry in fields(value)}
    if isinstance(value, Mapping):
        return {clean_text(str(key)): _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_cleaned(item) for item in value]
    return clean_text(str(value))
