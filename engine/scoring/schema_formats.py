"""The `format` words of JSON schemas that are really checked."""

from __future__ import annotations

import functools
import re
from datetime import datetime
from typing import Any

from engine.scoring.patterns import PatternError, compile_pattern

_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})")
_TIME = re.compile(
    r"(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)?"
)
_URI = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[^\s<>\"{}|\\^`]*")
_HOST = re.compile(
    r"(?=.{1,253}\Z)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*"
)
_DURATION = re.compile(r"P(?=.)(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?(?:T(?=.)(?:\d+H)?(?:\d+M)?(?:\d+S)?)?")
_POINTER = re.compile(r"(?:/(?:[^~/]|~[01])*)*")


def _date_time(text: str) -> bool:
    if not _DATE_TIME.fullmatch(text):
        return False
    try:
        datetime.fromisoformat(text[:19].upper() + "+00:00")
    except ValueError:
        return False
    return True


def _regex(text: str) -> bool:
    try:
        compile_pattern(text)
    except PatternError:
        return False
    return True


_OWN = {
    "date-time": _date_time,
    "time": lambda text: _TIME.fullmatch(text) is not None,
    "uri": lambda text: _URI.fullmatch(text) is not None,
    "hostname": lambda text: _HOST.fullmatch(text) is not None,
    "duration": lambda text: _DURATION.fullmatch(text) is not None,
    "json-pointer": lambda text: _POINTER.fullmatch(text) is not None,
    "regex": _regex,
}


@functools.cache
def format_checker() -> Any:
    """The formats of `jsonschema` with those it leaves out or reads loosely."""
    import jsonschema

    checker = jsonschema.FormatChecker()
    for name, accepts in _OWN.items():
        checker.checks(name)(lambda value, accepts=accepts: not isinstance(value, str) or accepts(value))
    return checker


def published_drafts() -> Any:
    """A registry with the published drafts, which fetches nothing."""
    from jsonschema_specifications import REGISTRY  # type: ignore[import-untyped]  # ships no types

    return REGISTRY
