"""The block `metrics`: weights, and per metric how it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from yaml.nodes import MappingNode, Node, ScalarNode

from engine.config.faults import join, nearest
from engine.config.records import MISSING, Found, Reader
from engine.config.schema import MOST_WEIGHT, MetricRule, Metrics
from engine.config.values import is_null, pairs

# What every run measures; checks may add others.
_MEASURED = ("accuracy", "pass_rate", "reliability", "cost", "latency", "latency_p95", "tokens")
_KEYS = ("weights", "deciding", "tie_breaker", "directions", "rules")
_DIRECTIONS: Mapping[str, Literal["max", "min"]] = {
    "higher": "max",
    "lower": "min",
    "max": "max",
    "min": "min",
}


def metrics(reader: Reader, block: Found) -> Metrics:
    """The block as a record; `directions` and blocks per metric both count."""
    if not isinstance(block.value, MappingNode):
        if not is_null(block.value):
            reader.wrong(block.value, block.path, "must be a block of settings")
        return Metrics()
    found = {key.value: Found(key, node, join(block.path, key.value)) for key, node in pairs(block.value)}
    known = {name: found.pop(name) for name in _KEYS if name in found and not is_null(found[name].value)}
    result = Metrics(rules=_all_rules(reader, found, known))
    if "weights" in known:
        result = replace(result, weights=_weights(reader, known["weights"]) or result.weights)
    deciding = _metric(reader, known.get("deciding")) or result.deciding
    return replace(
        result, deciding=deciding, tie_breaker=_metric(reader, known.get("tie_breaker")) or result.tie_breaker
    )


def _metric(reader: Reader, found: Found | None) -> str:
    text = MISSING if found is None else reader.value(found.value, str, found.path)
    if found is None or text is MISSING:
        return ""
    _warn_of_slip(reader, str(text), found.value, found.path)
    return str(text)


def _warn_of_slip(reader: Reader, name: str, node: Node, path: str) -> None:
    """A check may measure anything, so an unknown metric is a fault only where it looks like a known one."""
    meant = None if name in _MEASURED else nearest(name, _MEASURED, 0.75)
    if meant is not None:
        reader.faults.warning(
            node,
            path,
            "unknown_metric",
            f"No metric is called `{name}` unless a check measures it. Did you mean `{meant}`?",
            f"Write `{meant}`, or leave it if a check of this project measures `{name}`.",
        )


def _all_rules(
    reader: Reader, found: Mapping[str, Found], known: Mapping[str, Found]
) -> dict[str, MetricRule]:
    rules: dict[str, MetricRule] = {}
    if "rules" in known:
        for key, node in pairs(known["rules"].value):
            _warn_of_slip(reader, key.value, key, join(known["rules"].path, key.value))
            _add_rule(reader, rules, key.value, node, join(known["rules"].path, key.value))
    for name, item in found.items():
        if isinstance(item.value, MappingNode) and not nearest(name, _KEYS, 0.8):
            _warn_of_slip(reader, name, item.key, item.path)
            _add_rule(reader, rules, name, item.value, item.path)
        elif not name.startswith("x-") and name not in _KEYS:
            reader.unknown(item, _KEYS)
    if "directions" in known:
        for key, node in pairs(known["directions"].value):
            _warn_of_slip(reader, key.value, key, join(known["directions"].path, key.value))
            direction = _direction(reader, node, join(known["directions"].path, key.value))
            rules[key.value] = replace(rules.get(key.value, MetricRule()), direction=direction)
    return rules


def _weights(reader: Reader, found: Found) -> Mapping[str, float] | None:
    read = reader.value(found.value, Mapping[str, float], found.path)
    if read is MISSING or not read:
        return None
    weights: Mapping[str, float] = read
    for key, node in pairs(found.value):
        if weights.get(key.value, 0.0) < 0:
            reader.wrong(node, join(found.path, key.value), "must be 0 or more")
        elif weights.get(key.value, 0.0) > MOST_WEIGHT:
            reader.wrong(node, join(found.path, key.value), f"must be at most {MOST_WEIGHT:,.0f}")
        _warn_of_slip(reader, key.value, key, join(found.path, key.value))
    if not any(weight > 0 for weight in weights.values()):
        reader.faults.error(
            found.value,
            found.path,
            "no_weight",
            "No weight is more than 0, so nothing would count.",
            "Give at least one metric a weight, for instance `accuracy: 1`.",
        )
        return None
    return weights


def _direction(reader: Reader, node: Node, path: str) -> Literal["max", "min"] | None:
    word = _DIRECTIONS.get(node.value) if isinstance(node, ScalarNode) else None
    if word is None:
        reader.wrong(node, path, "must be one of `higher`, `lower`, `max`, `min`")
    return word


def _add_rule(reader: Reader, rules: dict[str, MetricRule], name: str, node: Node, path: str) -> None:
    if not isinstance(node, MappingNode):
        reader.wrong(node, path, "must be a block of settings")
        return
    entries = reader.entries(node, MetricRule, path)
    direction = entries.pop("direction", None)
    rule = reader.build(MetricRule, entries, node, path)
    if rule is None:
        return
    if direction is not None:
        rule = replace(rule, direction=_direction(reader, direction.value, direction.path))
    if rule.target is not None and rule.target < 0 and name in _MEASURED:
        reader.wrong(entries["target"].value, entries["target"].path, "must be 0 or more")
    if rule.target is not None and rule.normalize is None:
        rule = replace(rule, normalize="target")
    if rule.normalize in ("target", "budget") and rule.target is None:
        reader.faults.error(
            node,
            path,
            "no_target",
            f"`{name}` is measured against a target, but none is given.",
            "Add `target: …`, or use `normalize: minmax`.",
        )
    rules[name] = rule
