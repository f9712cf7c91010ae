"""Options of a check: names, aliases, types and ranges, from the project and from the check."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from engine.domain import Severity
from engine.scoring.base import CheckType, Fault, Option

COMMON = (Option("keep_reasoning", "bool", False, "Reasoning at the start counts as part of the answer"),)
_TRUE, _FALSE = ("true", "yes", "on", "1"), ("false", "no", "off", "0")


def read_options(
    check: CheckType, own: Mapping[str, Any], project: Mapping[str, Mapping[str, Any]]
) -> tuple[dict[str, Any], list[Fault]]:
    """The options in force, and what is wrong with them. Own options go before the project's.

    An option that cannot be read keeps its default beside its fault, so that the result is
    complete whatever was given.
    """
    given: dict[str, Any] = {}
    for name in (*check.aliases, check.name):
        given.update(project.get(name) or {})
    declared = (*check.options, *COMMON)
    spelled = {spelling: option for option in declared for spelling in (option.name, *option.aliases)}
    values = {option.name: option.default for option in declared}
    faults: list[Fault] = []
    for source in (given, own):
        for name, value in source.items():
            option = spelled.get(str(name))
            if option is None:
                faults.append(_unknown(check, str(name), spelled))
                continue
            read, problem = _read(option, value)
            if problem:
                message = f"The option `{name}` of the check `{check.name}` {problem}."
                faults.append(Fault(message, _expected(option), "option_bad", option=option.name))
            else:
                values[option.name] = read
    for option in declared:
        empty = values[option.name] in (None, (), "")
        if option.required and empty and not any(fault.option == option.name for fault in faults):
            message = f"The check `{check.name}` needs the option `{option.name}`."
            faults.append(Fault(message, _expected(option), "option_missing", option=option.name))
    return values, faults


def _unknown(check: CheckType, name: str, known: Iterable[str]) -> Fault:
    """An unknown option: an error when it looks like a slip, else a warning."""
    message = f"The check `{check.name}` has no option `{name}`."
    near = difflib.get_close_matches(name, list(known), 1, 0.75)
    if near:
        return Fault(message, f"Did you mean `{near[0]}`?", "option_unknown", option=name)
    names = ", ".join(f"`{option.name}`" for option in check.options) or "none"
    return Fault(message, f"It is not used. Known are: {names}.", "option_unknown", Severity.WARNING, name)


def _read(option: Option, value: Any) -> tuple[Any, str]:
    """The value in the option's type, or what is wrong with it."""
    if value is None:
        return option.default, ""
    if option.kind == "any":
        return value, ""
    if option.kind == "bool":
        return _bool(value)
    if option.kind in ("int", "number"):
        return _number(option, value)
    if option.kind == "texts":
        return _texts(value)
    if isinstance(value, (Mapping, list, tuple)):
        return None, "must be text"
    text = _scalar_text(value)
    if option.kind == "choice" and text not in option.choices:
        return None, f"is `{text[:40]}`"
    return text, ""


def _bool(value: Any) -> tuple[Any, str]:
    if isinstance(value, bool):
        return value, ""
    text = str(value).strip().lower()
    if text in _TRUE or text in _FALSE:
        return text in _TRUE, ""
    return None, f"is `{text[:40]}`, not true or false"


def _number(option: Option, value: Any) -> tuple[Any, str]:
    try:
        number = (
            value
            if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool)
            else float(value)
        )
        finite = math.isfinite(number)
    except (TypeError, ValueError, OverflowError):
        return None, f"is `{str(value)[:40]}`, not a number"
    if isinstance(value, bool) or not finite or (option.kind == "int" and number != int(number)):
        return None, f"is `{str(value)[:40]}`, not {'a whole' if option.kind == 'int' else 'a'} number"
    if option.minimum is not None and number < option.minimum:
        return None, f"is {str(value)[:40]}, less than {option.minimum:g}"
    if option.maximum is not None and number > option.maximum:
        return None, f"is {str(value)[:40]}, more than {option.maximum:g}"
    return int(number) if option.kind == "int" else number, ""


def _texts(value: Any) -> tuple[Any, str]:
    if isinstance(value, str):
        return (value,), ""
    if not isinstance(value, (list, tuple)) or any(
        isinstance(item, (Mapping, list, tuple)) for item in value
    ):
        return None, "must be a list of texts"
    return tuple(_scalar_text(item) for item in value), ""


def _scalar_text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _expected(option: Option) -> str:
    words = {
        "bool": "Write true or false.",
        "int": "Write a whole number.",
        "number": "Write a number.",
        "texts": "Write a list of texts.",
        "choice": "Use one of: " + ", ".join(option.choices) + ".",
    }
    return words.get(option.kind, "Write a text.")
