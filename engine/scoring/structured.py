"""Checks on JSON answers: has the right fields, is JSON."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from decimal import Decimal
from typing import Any

from engine.scoring.base import (
    CheckFault,
    CheckInput,
    CheckType,
    Fault,
    Finding,
    Option,
    Setup,
    never_needs,
    quoted,
)
from engine.scoring.json_text import FoundJson, JsonFault, choose, find_all, parse
from engine.scoring.text_form import normalise

_Number = (int, float, Decimal)


def json_equal(left: Any, right: Any, ignore: frozenset[str] = frozenset()) -> bool:
    """Deep equality of JSON values: `true` is not 1, 1 is 1.0, the order of keys does not count."""
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, _Number) and isinstance(right, _Number):
        return left == right or (_is_nan(left) and _is_nan(right))
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        keys, others = set(left) - ignore, set(right) - ignore
        return keys == others and all(json_equal(left[key], right[key], ignore) for key in keys)
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(
            json_equal(a, b, ignore) for a, b in zip(left, right, strict=True)
        )
    return type(left) is type(right) and bool(left == right)


def loosely_equal(left: Any, right: Any) -> bool:
    """As `json_equal`, but texts in normal form and numbers within 1e-9 of their size."""
    if isinstance(left, str) and isinstance(right, str):
        return normalise(left) == normalise(right)
    if isinstance(left, bool) or isinstance(right, bool):
        return left is right
    if isinstance(left, _Number) and isinstance(right, _Number) and not isinstance(left, bool):
        if isinstance(left, Decimal) or isinstance(right, Decimal):
            return left == right
        return json_equal(left, right) or _close(left, right)
    return json_equal(left, right)


def _close(left: float, right: float) -> bool:
    try:
        return math.isclose(left, right, rel_tol=1e-9)
    except OverflowError:
        return False


def _is_nan(value: Any) -> bool:
    return isinstance(value, float) and math.isnan(value)


def reference_json(reference: Any) -> Any:
    """The reference as a JSON value: text is read as JSON.

    Raises:
        CheckFault: The text is not JSON.
    """
    if not isinstance(reference, str):
        return reference
    try:
        return parse(reference)
    except JsonFault as fault:
        raise CheckFault(
            "reference_not_json",
            f"The right answer is not JSON: {fault}. Write a JSON value.",
            fault=fault.code,
        ) from fault


def find_json(given: CheckInput, like: Any = None, *, lenient: bool = False) -> FoundJson | Finding:
    """The JSON of an answer, or the finding that there is none."""
    try:
        return choose(find_all(given.text, lenient=lenient), like)
    except JsonFault as fault:
        return not_json(fault)


def not_json(fault: JsonFault) -> Finding:
    """The finding for an answer whose JSON cannot be read, with the place."""
    detail = {"fault": fault.code, "line": fault.line, "column": fault.column}
    return Finding(0.0, False, f"The answer is not JSON: {_small(str(fault))}", fault.code, detail)


def _small(sentence: str) -> str:
    return sentence[:1].lower() + sentence[1:] if sentence.startswith(("The ", "There ")) else sentence


def _json_match(given: CheckInput) -> Finding:
    """Subset: the share of the reference's top-level keys that match; exact: deep equality."""
    options = given.options
    wanted = reference_json(given.reference)
    found = find_json(given, wanted, lenient=options["lenient"])
    if isinstance(found, Finding):
        return found
    ignore = frozenset(options["ignore_keys"] or ())
    detail: dict[str, Any] = {
        "found_in": found.where,
        "extracted": found.text[:2000],
        "mode": options["mode"],
    }
    if options["mode"] == "exact" or not isinstance(wanted, Mapping) or not isinstance(found.value, Mapping):
        equal = json_equal if options["mode"] == "exact" or isinstance(wanted, (Mapping, list)) else None
        same = equal(found.value, wanted, ignore) if equal else loosely_equal(found.value, wanted)
        fact = "The JSON is the right one" if same else "The JSON is not the right one"
        return Finding(float(same), same, fact, "json_equal" if same else "json_different", detail)
    keys = [key for key in wanted if key not in ignore]
    missing = [key for key in keys if key not in found.value]
    different = [
        key for key in keys if key in found.value and not loosely_equal(found.value[key], wanted[key])
    ]
    share = 1.0 if not keys else (len(keys) - len(missing) - len(different)) / len(keys)
    detail |= {"missing": missing[:50], "different": different[:50]}
    passed = share >= options["threshold"]
    return Finding(
        share, passed, _match_fact(keys, missing, different), _match_code(missing, different), detail
    )


def _match_code(missing: list[str], different: list[str]) -> str:
    if missing:
        return "fields_missing"
    return "fields_different" if different else "fields_match"


def _match_fact(keys: list[str], missing: list[str], different: list[str]) -> str:
    if not missing and not different:
        return (
            f"All {len(keys)} fields are right" if len(keys) != 1 else f"The field {quoted(keys[0])} is right"
        )
    right = len(keys) - len(missing) - len(different)
    parts = [_names("missing", missing)] if missing else []
    parts += [_names("different", different)] if different else []
    return f"{right} of {len(keys)} fields are right; {'; '.join(parts)}"


def _names(word: str, keys: Iterable[str]) -> str:
    return f"{word}: " + ", ".join(str(key)[:40] for key in list(keys)[:5])


def _match_faults(setup: Setup) -> list[Fault]:
    if setup.reference is None:
        return []
    try:
        wanted = reference_json(setup.reference)
    except CheckFault as fault:
        return [Fault(fault.reason, "", fault.code)]
    if isinstance(wanted, Mapping) and wanted and not set(wanted) - set(setup.options["ignore_keys"] or ()):
        return [
            Fault("Every field of the right answer is ignored.", "Shorten `ignore_keys`.", "all_keys_ignored")
        ]
    return []


def _json_valid(given: CheckInput) -> Finding:
    """The whole answer is one JSON document; `lenient` also looks in fences and prose."""
    try:
        if given.options["lenient"]:
            found = choose(find_all(given.text))
        else:
            found = FoundJson(parse(given.text), given.text.strip(), "whole")
    except JsonFault as fault:
        return not_json(fault)
    detail = {"found_in": found.where, "extracted": found.text[:2000], "lenient": given.options["lenient"]}
    fact = "The answer is JSON" if found.where == "whole" else "The answer holds JSON"
    return Finding(1.0, True, fact, "json_valid", detail)


JSON_MATCH = CheckType(
    name="json_match",
    title="has the right fields",
    rule="The JSON in the answer has the fields of the right answer.",
    run=_json_match,
    validate=_match_faults,
    opposite="it must not be so",
    options=(
        Option("mode", "choice", "subset", "Which fields are compared", choices=("subset", "exact")),
        Option("ignore_keys", "texts", (), "Fields that do not count"),
        Option("threshold", "number", 1.0, "Passes from this share", minimum=0, maximum=1),
        Option("lenient", "bool", False, "Extra commas and NaN are fine"),
    ),
)
JSON_VALID = CheckType(
    name="json_valid",
    title="is JSON",
    rule="The whole answer is one JSON document.",
    run=_json_valid,
    needs_reference=never_needs,
    opposite="it must not be",
    options=(Option("lenient", "bool", False, "JSON inside other text is fine"),),
)
