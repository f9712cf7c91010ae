"""The checks of a case: `checks`, or `eval_type` with `params`, or the default of the project."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from engine.cases.fields import JSON_CHECKS
from engine.config.faults import Faults, join
from engine.config.schema import MOST_WEIGHT
from engine.config.values import option_value, pairs, to_value
from engine.domain import CheckSpec

if TYPE_CHECKING:
    from engine.cases.build import Written

_TYPE_NAMES = ("type", "check", "eval_type", "evaluator", "scorer")
_REFERENCE_NAMES = ("reference", "expected")
_NESTED = ("params", "options")


def uses_json(checks: Sequence[CheckSpec]) -> bool:
    """True where a check that has no reference of its own compares JSON values."""
    return any(check.type in JSON_CHECKS and check.reference is None for check in checks)


def check_from(data: Mapping[str, Any], default_type: str = "exact_match") -> CheckSpec:
    """A check from a plain object `{type, weight, must_pass, not, reference, …options}`.

    Raises:
        ValueError: with a sentence, where a value does not fit.
    """
    values = dict(data)
    for nested in _NESTED:
        inner = values.pop(nested, None)
        if isinstance(inner, Mapping):
            values = {**inner, **values}
    kind = next((values.pop(name) for name in _TYPE_NAMES if values.get(name) is not None), default_type)
    if not isinstance(kind, str) or not kind:
        raise ValueError("`type` must be the name of a check.")
    reference = None
    for name in _REFERENCE_NAMES:
        if values.get(name) is not None:
            reference = values.pop(name)
            break
    return CheckSpec(
        type=kind,
        weight=_weight(values.pop("weight", None)),
        must_pass=_flag(values.pop("must_pass", None), "must_pass"),
        negate=_flag(values.pop("not", values.pop("negate", None)), "not"),
        reference=reference,
        options=values,
    )


def _weight(value: Any) -> float:
    if value is None:
        return 1.0
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= MOST_WEIGHT:
        raise ValueError(f"`weight` must be a number between 0 and {MOST_WEIGHT:,.0f}.")
    return float(value)


def _flag(value: Any, name: str) -> bool:
    if value is None:
        return False
    if not isinstance(value, bool):
        raise ValueError(f"`{name}` must be true or false.")
    return value


def project_checks(items: Sequence[Any]) -> tuple[CheckSpec, ...]:
    """The checks that a project gives all its tests; what cannot be read is left out and told elsewhere."""
    found = []
    for item in items:
        with contextlib.suppress(ValueError):
            found.append(project_check(item))
    return tuple(found)


def project_check(item: Any) -> CheckSpec:
    """One of `scorers.checks`: a block with a `type`, or the name alone.

    Raises:
        ValueError: with a sentence, where it is neither, or where a value does not fit.
    """
    if isinstance(item, str) and item:
        return CheckSpec(item)
    if not isinstance(item, Mapping) or not any(item.get(name) is not None for name in _TYPE_NAMES):
        raise ValueError("A check is a block with a `type`.")
    return check_from(item)


def read_checks(
    written: Written, default_check: str, faults: Faults, usual: tuple[CheckSpec, ...]
) -> tuple[CheckSpec, ...]:
    """The checks of a case, never empty: what is wrong is reported and the `usual` ones stand in."""
    result: list[CheckSpec] = []
    if "eval_type" in written.fields or ("params" in written.fields and "checks" not in written.fields):
        spec = _single(written, default_check, faults)
        if spec is not None:
            result.append(spec)
    node = written.get("checks")
    if node is not None:
        path = join(written.path, "checks")
        items = node.value if isinstance(node, SequenceNode) else [node]
        for index, item in enumerate(items):
            spec = _read(item, join(path, index), default_check, faults)
            if spec is not None:
                result.append(spec)
    return tuple(result) or usual


def _single(written: Written, default_check: str, faults: Faults) -> CheckSpec | None:
    node = written.get("params")
    values = _options(node) if node is not None else {}
    named = written.get("eval_type")
    if named is not None:
        values["type"] = named.value if isinstance(named, ScalarNode) else None
    where = named if node is None else node
    return _spec(values, default_check, where, join(written.path, "params"), faults)


def _options(node: Node) -> dict[str, Any]:
    return {
        key.value: _options(value)
        if key.value in _NESTED and isinstance(value, MappingNode)
        else option_value("reference" if key.value in _REFERENCE_NAMES else key.value, value)
        for key, value in pairs(node)
    }


def _read(node: Node, path: str, default_check: str, faults: Faults) -> CheckSpec | None:
    if isinstance(node, ScalarNode) and node.value:
        return CheckSpec(node.value)
    if not isinstance(node, MappingNode):
        faults.error(
            node, path, "bad_check", "A check is a block with a `type`.", "Write `{type: contains, …}`."
        )
        return None
    values = _options(node)
    if not any(name in values for name in _TYPE_NAMES):
        faults.error(node, path, "bad_check", "The check has no `type`.", "Write `{type: contains, …}`.")
        return None
    kind = next(values[name] for name in _TYPE_NAMES if name in values)
    if isinstance(kind, str) and kind in JSON_CHECKS:
        values.update((key.value, to_value(v)) for key, v in pairs(node) if key.value in _REFERENCE_NAMES)
    return _spec(values, default_check, node, path, faults)


def _spec(
    values: dict[str, Any], default_check: str, node: Node | None, path: str, faults: Faults
) -> CheckSpec | None:
    try:
        return check_from(values, default_check)
    except ValueError as error:
        faults.error(node, path, "bad_check", str(error), "Change the value.")
        return None
