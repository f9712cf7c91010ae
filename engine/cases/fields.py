"""The names a field of a test case goes by, and where unknown ones go."""

from __future__ import annotations

from collections.abc import Mapping

# Per field the names that mean it; the first that has a value wins.
NAMES: Mapping[str, tuple[str, ...]] = {
    "input": ("input", "prompt", "question", "messages", "text"),
    "reference": ("reference", "expected", "answer", "target", "gold"),
    "context": ("context", "system", "system_prompt", "instructions"),
    "id": ("id", "name"),
    "eval_type": ("eval_type", "evaluator", "scorer", "type"),
    "params": ("params", "options"),
    "checks": ("checks",),
    "tags": ("tags",),
    "weight": ("weight",),
    "group": ("group",),
    "vars": ("vars",),
    "max_tokens": ("max_tokens",),
    "temperature": ("temperature",),
    "images": ("images",),
    "files": ("files",),
    "metadata": ("metadata",),
    "enabled": ("enabled",),
    "skip": ("skip",),
}
# A column called `name` or `type` is data more often than an id or a check.
_NOT_COLUMNS = frozenset({"name", "type", "options", "messages", "vars", "metadata"})

FIELD_OF: Mapping[str, tuple[str, int]] = {
    name: (field, rank) for field, names in NAMES.items() for rank, name in enumerate(names)
}
COLUMN_OF: Mapping[str, tuple[str, int]] = {
    name: place for name, place in FIELD_OF.items() if name not in _NOT_COLUMNS
}
LIST_NAMES = ("tests", "cases", "test_cases")
# What other tools call their checks: read as data they would make every test pass unmarked.
FOREIGN = frozenset({"assert", "asserts", "assertions", "threshold", "assertScoringFunction"})
# Checks that compare the reference as a JSON value, so that numbers in it are numbers.
JSON_CHECKS = frozenset({"json_match", "json_valid", "json_schema"})
