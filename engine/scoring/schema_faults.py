"""What is wrong with a JSON schema, found without an answer and without the network."""

from __future__ import annotations

import difflib
import functools
import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from engine.domain import Severity
from engine.scoring.base import Fault
from engine.scoring.json_text import MAX_DEPTH
from engine.scoring.patterns import PatternError, compile_pattern
from engine.scoring.schema_formats import format_checker, published_drafts

_ANNOTATIONS = frozenset(
    [
        *(
            "$schema",
            "$id",
            "id",
            "$anchor",
            "$dynamicAnchor",
            "$recursiveAnchor",
            "$vocabulary",
            "$comment",
            "$defs",
        ),
        *(
            "definitions",
            "title",
            "description",
            "default",
            "examples",
            "deprecated",
            "readOnly",
            "writeOnly",
        ),
        *(
            "contentEncoding",
            "contentMediaType",
            "contentSchema",
            "then",
            "else",
            "minContains",
            "maxContains",
        ),
        *("discriminator", "nullable", "example", "externalDocs", "xml"),
    ]
)
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")
_SINGLE = (
    *("items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains"),
    *("propertyNames", "unevaluatedProperties", "unevaluatedItems", "contentSchema"),
)
_LISTS = ("allOf", "anyOf", "oneOf", "prefixItems", "items")
_REFERENCES = ("$ref", "$dynamicRef", "$recursiveRef")


def schema_faults(schema: Any) -> list[Fault]:
    """Errors (not a schema, a reference that leads elsewhere, a bad pattern) and warnings."""
    text = json.dumps(schema, sort_keys=True, default=str)
    return list(_schema_faults(text))


@functools.lru_cache(maxsize=64)
def _schema_faults(text: str) -> tuple[Fault, ...]:
    try:
        schema = json.loads(text)
        shape = _shape_fault(schema)
        if shape is not None:
            return (shape,)
        parts = list(_parts(schema, ""))
    except RecursionError:
        message = f"The schema is nested deeper than {MAX_DEPTH} levels."
        return (Fault(message, "Use a flatter one.", "schema_bad", option="schema"),)
    faults = [fault for place, part in parts for fault in _part_faults(place, part)]
    faults += _reference_faults(schema, parts)
    if schema in (True, {}) and not faults:
        faults.append(_warning("The schema accepts every answer.", "Say what must be there.", "schema_empty"))
    return tuple(faults)


def _shape_fault(schema: Any) -> Fault | None:
    import jsonschema

    try:
        jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator).check_schema(
            schema
        )
    except jsonschema.SchemaError as error:
        place = ".".join(str(part) for part in error.absolute_path) or "the top"
        return Fault(
            f"The schema is not valid at {place}: {str(error.message)[:200]}.",
            "Mend it there.",
            "schema_bad",
            option="schema",
        )
    return None


def _parts(schema: Any, place: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every schema inside a schema with its place, itself included."""
    if not isinstance(schema, Mapping):
        return
    yield place, schema
    for name in _MAPS:
        if isinstance(schema.get(name), Mapping):
            for key, part in schema[name].items():
                yield from _parts(part, f"{place}/{name}/{key}")
    for name in _SINGLE:
        yield from _parts(schema.get(name), f"{place}/{name}")
    for name in _LISTS:
        if isinstance(schema.get(name), list):
            for index, part in enumerate(schema[name]):
                yield from _parts(part, f"{place}/{name}/{index}")


def _part_faults(place: str, part: Mapping[str, Any]) -> Iterator[Fault]:
    at = place or "the top"
    known = {*_known_keywords(), *_ANNOTATIONS}
    for name in part:
        if name not in known and not name.startswith("x-"):
            near = difflib.get_close_matches(name, known, 1, 0.7)
            fix = f"Did you mean `{near[0]}`?" if near else "It has no effect."
            yield _warning(
                f"The schema has the unknown keyword `{name[:60]}` at {at}.", fix, "schema_keyword_unknown"
            )
    for pattern in [part.get("pattern"), *(part.get("patternProperties") or {})]:
        if isinstance(pattern, str):
            try:
                compile_pattern(pattern, case_sensitive=True)
            except PatternError as error:
                message = f"The schema's pattern {pattern[:80]!r} at {at} cannot be used: {error.message}."
                yield Fault(message, "Mend the pattern.", "schema_pattern_bad", option="schema")
    if "unevaluatedProperties" in part and any("patternProperties" in sub for _, sub in _parts(part, "")):
        message = f"`unevaluatedProperties` with `patternProperties` at {at} is not supported."
        yield Fault(message, "Use `additionalProperties`.", "schema_unsupported", option="schema")
    form = part.get("format")
    if isinstance(form, str) and form not in format_checker().checkers:
        yield _warning(
            f"The format `{form[:40]}` at {at} is not checked.", "Use a pattern.", "format_not_checked"
        )


@functools.cache
def _known_keywords() -> frozenset[str]:
    import jsonschema

    drafts = (jsonschema.Draft4Validator, jsonschema.Draft7Validator, jsonschema.Draft201909Validator,
              jsonschema.Draft202012Validator)  # fmt: skip
    return frozenset(name for draft in drafts for name in draft.VALIDATORS)


def _reference_faults(schema: Any, parts: list[tuple[str, Mapping[str, Any]]]) -> Iterator[Fault]:
    """References that lead out of the schema or to nowhere. The published drafts are on board."""
    references = [
        (place or "the top", part[name])
        for place, part in parts
        for name in _REFERENCES
        if isinstance(part.get(name), str)
    ]
    if not references:
        return
    lookup = _lookup(schema)
    # Below an inner $id a reference is relative to that, so that only remote ones can be judged.
    inner = any("$id" in part for place, part in parts if place)
    for place, target in references:
        remote = "://" in target
        if (inner and not remote) or lookup(target):
            continue
        if remote:
            message = (
                f"The schema points to {target[:120]!r} at {place}, and nothing is fetched while marking."
            )
            fix = "Copy that part into the schema under `$defs`."
            yield Fault(message, fix, "schema_remote_ref", option="schema")
        else:
            message = f"The schema points to {target[:120]!r} at {place}, which is not in the schema."
            yield Fault(message, "Mend the reference.", "schema_ref_missing", option="schema")


def _lookup(schema: Any) -> Callable[[str], bool]:
    """Whether a reference from the top of the schema leads somewhere, without the network."""
    import jsonschema
    from referencing.exceptions import Unresolvable
    from referencing.jsonschema import specification_with

    draft: Any = jsonschema.validators.validator_for(schema, default=jsonschema.Draft202012Validator)
    resource = specification_with(draft.META_SCHEMA["$schema"]).create_resource(schema)
    base = resource.id() or ""
    resolver = published_drafts().with_resource(base, resource).crawl().resolver(base)

    def leads_somewhere(target: str) -> bool:
        try:
            resolver.lookup(target)
        except (Unresolvable, ValueError):
            return False
        return True

    return leads_somewhere


def _warning(message: str, fix: str, code: str) -> Fault:
    return Fault(message, fix, code, Severity.WARNING, "schema")
