"""The check that an answer holds the right number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

from engine.scoring.base import (
    CheckFault,
    CheckInput,
    CheckType,
    Fault,
    Finding,
    Option,
    Setup,
    accepted,
    quoted,
)

if TYPE_CHECKING:
    # Its patterns take longer to prepare than all other checks together, so it is imported when
    # a number is looked for.
    from engine.scoring.number_reader import Number

_FIX_STYLE = "Set `locale` on the check, such as `en` or `de`."


@dataclass(frozen=True, slots=True)
class _Wanted:
    text: str
    value: Decimal
    percent: bool


def _style(options: Mapping[str, Any]) -> str:
    """The number style of the options.

    Raises:
        CheckFault: The locale is not known.
    """
    from engine.scoring.number_reader import POINT, style_of

    locale = options["locale"]
    style = POINT if locale is None else style_of(str(locale))
    if style is None:
        raise CheckFault(
            "locale_unknown", f"The locale {quoted(str(locale))} is not known. Use `en`, `de`, `fr` …"
        )
    return style


def _wanted(reference: Any, style: str) -> list[_Wanted]:
    """The accepted numbers.

    Raises:
        CheckFault: A reference is not one number.
    """
    return [_wanted_one(value, style) for value in accepted(reference)]


def _wanted_one(value: Any, style: str) -> _Wanted:
    # A whole number is finite, also one that no float can hold.
    whole = isinstance(value, int) and not isinstance(value, bool)
    if whole or (isinstance(value, (float, Decimal)) and math.isfinite(value)):
        return _Wanted(str(value), Decimal(str(value)), False)
    if isinstance(value, str):
        from engine.scoring.number_reader import numbers

        found = list(numbers(value[:1000], style))
        if len(found) == 1 and (number := found[0]).value is not None:
            return _Wanted(value.strip(), number.value, number.percent)
        if len(found) == 1:
            raise CheckFault(
                "reference_other_style",
                f"The right answer {quoted(value)} is not a number in this number style. {_FIX_STYLE}",
            )
    raise CheckFault(
        "reference_no_number", f"The right answer {quoted(str(value))} is not one number. Write a number."
    )


def _select(text: str, select: str, style: str) -> tuple[Number | None, int]:
    """The number that counts, and how many there are (`only` stops at two)."""
    from engine.scoring.number_reader import MAX_TEXT, numbers

    if select == "first":
        return next(numbers(text[:MAX_TEXT], style), None), 1
    if select == "only":
        found = []
        for number in numbers(text[:MAX_TEXT], style):
            found.append(number)
            if len(found) > 1:
                break
        return (found[0] if found else None), len(found)
    tail = text
    if len(text) > MAX_TEXT:
        cut = text[-MAX_TEXT:]
        tail = cut[len(cut.split(None, 1)[0]) :] if cut.split(None, 1) else ""
    last = None
    for number in numbers(tail, style):
        last = number
    return last, 1


def _numeric(given: CheckInput) -> Finding:
    """Numbers are compared exactly in decimal; either tolerance satisfies.

    A percent sign is a unit: `60%` equals 60. Where only one side carries it, the share counts
    as well: `60%` equals 0.6.
    """
    style = _style(given.options)
    wanted = _wanted(given.reference, style)
    number, count = _select(given.text, given.options["select"], style)
    names = " or ".join(item.text for item in wanted[:5])
    if number is None:
        return Finding(0.0, False, "No number was found in the answer", "no_number", {"accepted": names})
    detail: dict[str, Any] = {"number": number.text, "accepted": names, "style": style}
    if count > 1:
        return Finding(0.0, False, "The answer names several numbers, not one", "several_numbers", detail)
    if number.value is None:
        detail["flag"] = "other_style"
        fact = f"The number {quoted(number.text)} is not written in the number style of this check"
        return Finding(0.0, False, fact, "other_number_style", detail, note=_FIX_STYLE)
    errors = [(_error(number, item), item) for item in wanted]
    error, nearest = min(errors, key=lambda pair: pair[0])
    passed = any(_within(distance, number, item, given.options) for distance, item in errors)
    metrics = {"abs_error": float(error)} if math.isfinite(float(error)) else {}
    note = _note(number, style, detail)
    if number.percent != nearest.percent:
        detail["unit"] = "percent on one side only"
    detail["value"] = _shown(number.value)
    if passed:
        return Finding(1.0, True, f"The number is {number.text}", "right_number", detail, metrics, note)
    fact = f"The number is {number.text}, not {names}"
    return Finding(0.0, False, fact, "wrong_number", detail, metrics, note)


def _note(number: Number, style: str, detail: dict[str, Any]) -> str:
    if not number.note:
        return ""
    from engine.scoring.number_reader import POINT

    detail["flag"] = number.note
    if number.note == "ambiguous":
        mark = "comma" if style == POINT else "point"
        return f"The {mark} in {number.text} was read as a thousands mark."
    return f"{number.text} was read with a decimal point."


def _shown(value: Decimal) -> str:
    plain = format(value, "f") if -30 < value.adjusted() < 30 else str(value)
    return plain[:400]


def _readings(number: Number, item: _Wanted) -> list[tuple[Decimal, Decimal]]:
    """The pairs (answer, right answer) that count as the same unit."""
    assert number.value is not None  # noqa: S101 - the caller has looked
    pairs = [(number.value, item.value)]
    if number.percent and not item.percent:
        pairs.append((number.value.scaleb(-2), item.value))
    elif item.percent and not number.percent:
        pairs.append((number.value, item.value.scaleb(-2)))
    return pairs


def _error(number: Number, item: _Wanted) -> Decimal:
    with localcontext() as context:
        context.prec = 400
        return min(abs(left - right) for left, right in _readings(number, item))


def _within(distance: Decimal, number: Number, item: _Wanted, options: Mapping[str, Any]) -> bool:
    """Closeness as `math.isclose` means it, without the rounding of binary fractions."""
    absolute, relative = Decimal(str(options["abs_tol"])), Decimal(str(options["rel_tol"]))
    if distance <= absolute:
        return True
    with localcontext() as context:
        context.prec = 400
        return any(
            abs(left - right) <= relative * max(abs(left), abs(right))
            for left, right in _readings(number, item)
        )


def _faults(setup: Setup) -> list[Fault]:
    try:
        style = _style(setup.options)
        if setup.reference is not None:
            _wanted(setup.reference, style)
    except CheckFault as fault:
        return [Fault(fault.reason, "", fault.code)]
    return []


NUMERIC = CheckType(
    name="numeric",
    title="is the right number",
    rule="The last number in the answer is the right one, within the tolerance.",
    run=_numeric,
    validate=_faults,
    opposite="it must not be",
    options=(
        Option("select", "choice", "last", "Which number counts", choices=("last", "first", "only")),
        Option("abs_tol", "number", 0.0, "May be off by", minimum=0, aliases=("tolerance",)),
        Option("rel_tol", "number", 0.0, "May be off by this share", minimum=0),
        Option("locale", "text", None, "How numbers are written (language, such as de)"),
    ),
)
