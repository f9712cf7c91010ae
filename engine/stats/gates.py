"""Must-haves: what a model must offer or reach. Pure; usable before anything is spent.

`preflight_gates` needs declared facts only; `measured_gates` needs a finished or running test.
Every failure carries the measured and the required value as codes; the front end words them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config.schema import Card, Config, ModelEntry
from engine.model_facts import canonical_feature, canonical_privacy
from engine.stats.board import Reason

_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Gates:
    """What the must-haves say of one model: `failures` rule it out, `warnings` do not."""

    failures: tuple[Reason, ...] = ()
    warnings: tuple[Reason, ...] = ()

    def __add__(self, other: Gates) -> Gates:
        return Gates(self.failures + other.failures, self.warnings + other.warnings)


def _verdict(reason: Reason, *, allowed: bool) -> Gates:
    return Gates(warnings=(reason,)) if allowed else Gates(failures=(reason,))


def _features(config: Config, card: Card) -> Gates:
    required = [canonical_feature(name) for name in config.constraints.required_features]
    if not required:
        return Gates()
    if card.features is None:
        allowed = config.constraints.allow_unknown_card is not False
        return _verdict(Reason("features_unknown", {"required": required}), allowed=allowed)
    offered = {canonical_feature(name) for name in card.features}
    missing = [name for name in required if name not in offered]
    if not missing:
        return Gates()
    return Gates((Reason("gate_features", {"missing": missing, "required": required}),))


def _context(config: Config, card: Card) -> Gates:
    required = config.constraints.min_context_tokens
    if required is None:
        return Gates()
    if card.context_tokens is None:
        allowed = config.constraints.allow_unknown_card is not False
        return _verdict(Reason("context_unknown", {"required": required}), allowed=allowed)
    if card.context_tokens >= required:
        return Gates()
    return Gates((Reason("gate_context", {"measured": card.context_tokens, "required": required}),))


def _privacy(config: Config, card: Card) -> Gates:
    required = [canonical_privacy(name) for name in config.constraints.privacy_required]
    declared = {canonical_privacy(name): value for name, value in card.privacy.items()}
    refused = [name for name in required if name in declared and declared[name] is not True]
    unknown = [name for name in required if name not in declared]
    result = Gates()
    if refused:
        result += Gates((Reason("gate_privacy", {"refused": refused, "required": required}),))
    if unknown:
        allowed = config.constraints.allow_unknown_card is True
        result += _verdict(
            Reason("privacy_undeclared", {"missing": unknown, "required": required}), allowed=allowed
        )
    return result


def check_card(config: Config, card: Card) -> Gates:
    """The must-haves that declared facts decide: features, context size, privacy.

    Not declared: privacy rules out unless unknown cards are allowed, features and context warn
    unless they are forbidden.
    """
    return _features(config, card) + _context(config, card) + _privacy(config, card)


def preflight_gates(config: Config, entry: ModelEntry, card: Card) -> list[Reason]:
    """Why this entry cannot qualify, known before any call; empty when nothing speaks against it."""
    return [
        Reason(item.code, {**item.values, "model_key": entry.key})
        for item in check_card(config, card).failures
    ]


@dataclass(frozen=True, slots=True)
class _Limit:
    code: str
    metric: str
    required: float | None
    at_least: bool = False


def measured_gates(config: Config, raw: Mapping[str, float | None], error_share: float | None) -> Gates:
    """The must-haves that a test decides. What is not measured "cannot be verified" and rules the
    model out, unless unknown cards are allowed: then it is a warning."""
    limits = config.constraints
    cost = limits.max_cost_per_1k_calls_usd
    table = (
        _Limit("gate_accuracy", "accuracy", limits.min_accuracy, at_least=True),
        _Limit("gate_error_rate", "error_rate", limits.max_error_rate),
        _Limit("gate_cost", "cost", None if cost is None else float(cost)),
        _Limit("gate_latency_p95", "latency_p95", limits.max_latency_p95_ms),
    )
    values = {**raw, "error_rate": error_share}
    result = Gates()
    for limit in table:
        if limit.required is not None:
            result += _measure(
                limit, limit.required, values.get(limit.metric), limits.allow_unknown_card is True
            )
    return result


def _measure(limit: _Limit, required: float, measured: float | None, allowed: bool) -> Gates:
    if measured is None:
        reason = Reason("cannot_verify", {"gate": limit.code, "metric": limit.metric, "required": required})
        return _verdict(reason, allowed=allowed)
    slack = _SLACK * max(1.0, abs(required))
    broken = measured < required - slack if limit.at_least else measured > required + slack
    if not broken:
        return Gates()
    return Gates((Reason(limit.code, {"metric": limit.metric, "measured": measured, "required": required}),))
