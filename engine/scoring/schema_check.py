"""The check that the JSON of an answer has the shape a schema asks for.

Runs `jsonschema` with three changes: nothing is ever fetched, a project's patterns are searched
with a time limit, and equal items are found without comparing each with each.
"""

from __future__ import annotations

import functools
import json
import time
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from engine.config.paths import inside
from engine.domain import Severity
from engine.scoring.base import CheckFault, CheckInput, CheckType, Fault, Finding, Option, Setup
from engine.scoring.json_text import JsonFault, parse
from engine.scoring.patterns import PatternError, compile_pattern, matches
from engine.scoring.schema_faults import schema_faults
from engine.scoring.schema_formats import format_checker, published_drafts
from engine.scoring.structured import find_json

MAX_FILE = 1_000_000
_LIMIT_S = 2.0
_MAX_ERRORS = 20


def load_schema(given: Any, root: Path | None) -> Any:
    """The schema of an option: a map, true or false, JSON text, or a file inside the project.

    Raises:
        CheckFault: It cannot be read, or lies outside the project folder.
    """
    if isinstance(given, (Mapping, bool)):
        return given
    if not isinstance(given, str):
        raise CheckFault("schema_bad", "The schema is neither a map nor the name of a file in the project.")
    if given.lstrip().startswith("{"):
        return _parsed(given, "The schema")
    if root is None:
        raise CheckFault(
            "schema_missing", f"The schema file {given!r} cannot be found: there is no project folder."
        )
    path = inside(root, given)
    if path is None:
        raise CheckFault(
            "schema_outside", f"The schema file {given!r} lies outside the project. Move it inside."
        )
    try:
        if not path.is_file():
            raise FileNotFoundError(given)
        if path.stat().st_size > MAX_FILE:
            raise CheckFault(
                "schema_too_large", f"The schema file {given!r} is larger than {MAX_FILE:,} bytes."
            )
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, ValueError) as error:
        raise CheckFault(
            "schema_missing", f"The schema file {given!r} cannot be read. Check its name."
        ) from error
    return _parsed(text, f"The schema file {given!r}")


def _parsed(text: str, what: str) -> Any:
    try:
        return parse(text)
    except JsonFault as fault:
        raise CheckFault("schema_bad", f"{what} is not JSON: {fault}.") from fault


def compiled(schema: Any) -> Any:
    """A validator for a schema; the same one for the same schema."""
    return _compiled(json.dumps(schema, sort_keys=True, default=str))


@functools.lru_cache(maxsize=64)
def _compiled(text: str) -> Any:
    import jsonschema

    schema = json.loads(text)
    validators: Any = jsonschema.validators
    base = validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    limited = {
        name: _with_limit(rule)
        for name, rule in base.VALIDATORS.items()
        if name in ("$ref", "$dynamicRef", "$recursiveRef")
    }
    validator = validators.extend(
        base,
        limited
        | {
            "pattern": _pattern,
            "patternProperties": _pattern_properties,
            "additionalProperties": _additional_properties,
            "uniqueItems": _unique_items,
        },
    )
    return validator(schema, registry=published_drafts(), format_checker=format_checker())


class _Clock:
    """The end of the time that one validation may take. One per thread."""

    def __init__(self) -> None:
        import threading

        self._local = threading.local()

    def start(self) -> None:
        self._local.end = time.monotonic() + _LIMIT_S

    def check(self) -> None:
        if time.monotonic() > getattr(self._local, "end", float("inf")):
            raise CheckFault("schema_too_slow", "The schema took longer than 2 seconds. Write a simpler one.")


_clock = _Clock()


def _with_limit(rule: Any) -> Any:
    def limited(validator: Any, value: Any, instance: Any, schema: Any) -> Iterator[Any]:
        _clock.check()
        yield from rule(validator, value, instance, schema) or ()

    return limited


def _found(pattern: str, text: str) -> bool:
    _clock.check()
    try:
        return bool(matches(compile_pattern(pattern, case_sensitive=True), text, only_first=True))
    except PatternError as error:
        raise CheckFault(
            "schema_pattern_bad", f"The schema's pattern {pattern[:80]!r} cannot be used: {error}."
        ) from error


def _pattern(validator: Any, pattern: str, instance: Any, schema: Any) -> Iterator[Any]:
    if validator.is_type(instance, "string") and not _found(pattern, instance):
        yield _error(f"{instance[:60]!r} does not fit the pattern {pattern[:60]!r}")


def _pattern_properties(validator: Any, patterns: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    for pattern, subschema in patterns.items():
        for key, value in instance.items():
            if _found(pattern, key):
                yield from validator.descend(value, subschema, path=key, schema_path=pattern)


def _additional_properties(validator: Any, rule: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if not validator.is_type(instance, "object"):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    extra = [key for key in instance if key not in named and not any(_found(p, key) for p in patterns)]
    if isinstance(rule, Mapping):
        for key in extra:
            yield from validator.descend(instance[key], rule, path=key)
    elif not rule and extra:
        yield _error(
            "there are fields that the schema does not know: " + ", ".join(key[:40] for key in extra[:5])
        )


def _unique_items(validator: Any, wanted: Any, instance: Any, schema: Any) -> Iterator[Any]:
    if wanted and validator.is_type(instance, "array"):
        forms = {_form(item) for item in instance}
        if len(forms) < len(instance):
            yield _error("an item is there twice")


def _form(value: Any) -> str:
    """One text for equal JSON values: 1 and 1.0 are equal, 1 and true are not."""
    return json.dumps(_plain(value), sort_keys=True, default=str)


def _plain(value: Any) -> Any:
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, (list, tuple)) else value


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError

    return ValidationError(message)


def _json_schema(given: CheckInput) -> Finding:
    """The JSON found in the answer against the schema; the first faults are told with their place."""
    schema = load_schema(given.options["schema"], given.context.root)
    faults = [fault for fault in schema_faults(schema) if fault.severity is Severity.ERROR]
    if faults:
        raise CheckFault(faults[0].code, f"{faults[0].message} {faults[0].fix}".strip())
    found = find_json(given)
    if isinstance(found, Finding):
        return found
    _clock.start()
    errors = list(islice(compiled(schema).iter_errors(found.value), _MAX_ERRORS))
    detail: dict[str, Any] = {"found_in": found.where, "extracted": found.text[:2000]}
    if not errors:
        return Finding(1.0, True, "The JSON has the right shape", "schema_fits", detail)
    told = [{"path": _path(error), "message": str(error.message)[:300]} for error in errors]
    detail["errors"] = told
    where = f" at {told[0]['path']}" if told[0]["path"] else ""
    more = f" and {len(told) - 1} more" if len(told) > 1 else ""
    fact = f"The JSON has not the right shape{where}: {told[0]['message']}{more}"
    return Finding(0.0, False, fact, "schema_not_met", detail)


def _path(error: Any) -> str:
    return ".".join(str(part)[:60] for part in error.absolute_path)


def _faults(setup: Setup) -> list[Fault]:
    try:
        schema = load_schema(setup.options["schema"], setup.root)
    except CheckFault as fault:
        return [Fault(fault.reason, "", fault.code, option="schema")]
    return schema_faults(schema)


JSON_SCHEMA = CheckType(
    name="json_schema",
    title="has the right shape",
    rule="The JSON in the answer is as the schema says.",
    run=_json_schema,
    validate=_faults,
    needs_reference=lambda options: False,
    opposite="it must not",
    options=(Option("schema", "any", None, "Schema", required=True, aliases=("schema_file",)),),
)
