"""Must-haves: known before spending, and measured."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from engine.config.schema import Card, Config, Constraints, ModelEntry
from engine.stats.gates import check_card, measured_gates, preflight_gates

ENTRY = ModelEntry(model="m", key="m")


def with_gates(**constraints: object) -> Config:
    return replace(Config(), constraints=Constraints(**constraints))  # type: ignore[arg-type]


def test_nothing_asked_nothing_broken() -> None:
    assert preflight_gates(Config(), ENTRY, Card()) == []
    assert measured_gates(Config(), {}, None).failures == ()


def test_features_by_any_of_their_names() -> None:
    config = with_gates(required_features=("tools", "json_mode"))
    assert preflight_gates(config, ENTRY, Card(features=("function_calling", "structured_outputs"))) == []
    (reason,) = preflight_gates(config, ENTRY, Card(features=("tool_use",)))
    assert reason.code == "gate_features"
    assert reason.values["missing"] == ["structured_outputs"]
    assert reason.values["model_key"] == "m"


def test_undeclared_features_warn_unless_forbidden() -> None:
    config = with_gates(required_features=("vision",))
    assert preflight_gates(config, ENTRY, Card()) == []
    assert [item.code for item in check_card(config, Card()).warnings] == ["features_unknown"]
    strict = with_gates(required_features=("vision",), allow_unknown_card=False)
    assert [item.code for item in preflight_gates(strict, ENTRY, Card())] == ["features_unknown"]


def test_context() -> None:
    config = with_gates(min_context_tokens=8000)
    (reason,) = preflight_gates(config, ENTRY, Card(context_tokens=4096))
    assert (reason.code, reason.values["measured"], reason.values["required"]) == ("gate_context", 4096, 8000)
    assert preflight_gates(config, ENTRY, Card(context_tokens=8000)) == []
    assert preflight_gates(config, ENTRY, Card()) == []
    assert [item.code for item in check_card(config, Card()).warnings] == ["context_unknown"]


def test_undeclared_privacy_fails() -> None:
    config = with_gates(privacy_required=("no_training",))
    assert [item.code for item in preflight_gates(config, ENTRY, Card())] == ["privacy_undeclared"]
    assert preflight_gates(config, ENTRY, Card(privacy={"training_opt_out": True})) == []
    (refused,) = preflight_gates(config, ENTRY, Card(privacy={"opt_out": False}))
    assert (refused.code, refused.values["refused"]) == ("gate_privacy", ["training_opt_out"])


def test_undeclared_privacy_may_be_allowed_and_is_then_said() -> None:
    config = with_gates(privacy_required=("dpa",), allow_unknown_card=True)
    assert preflight_gates(config, ENTRY, Card()) == []
    assert [item.code for item in check_card(config, Card()).warnings] == ["privacy_undeclared"]
    assert [i.code for i in preflight_gates(config, ENTRY, Card(privacy={"dpa": False}))] == ["gate_privacy"]


@pytest.mark.parametrize(
    ("constraints", "raw", "errors", "code"),
    [
        ({"min_accuracy": 0.6}, {"accuracy": 0.59}, 0.0, "gate_accuracy"),
        ({"max_error_rate": 0.1}, {}, 0.2, "gate_error_rate"),
        ({"max_cost_per_1k_calls_usd": Decimal("2.5")}, {"cost": 2.6}, 0.0, "gate_cost"),
        ({"max_latency_p95_ms": 900.0}, {"latency_p95": 901.0}, 0.0, "gate_latency_p95"),
    ],
)
def test_measured(constraints: dict, raw: dict, errors: float, code: str) -> None:
    config = with_gates(**constraints)
    (reason,) = measured_gates(config, raw, errors).failures
    assert reason.code == code
    assert reason.values["measured"] == next(iter(raw.values()), errors)
    assert reason.values["required"] == float(next(iter(constraints.values())))


def test_at_the_limit_is_kept() -> None:
    config = with_gates(min_accuracy=0.6, max_error_rate=0.1, max_latency_p95_ms=900.0)
    raw = {"accuracy": 0.1 + 0.2 + 0.3 - 1e-16, "latency_p95": 900.0}
    assert measured_gates(config, raw, 0.1).failures == ()


@pytest.mark.parametrize("metric", ["accuracy", "cost", "latency_p95"])
def test_what_is_not_measured_cannot_be_verified(metric: str) -> None:
    limits = {
        "accuracy": "min_accuracy",
        "cost": "max_cost_per_1k_calls_usd",
        "latency_p95": "max_latency_p95_ms",
    }
    (reason,) = measured_gates(with_gates(**{limits[metric]: 0.5}), {metric: None}, 0.0).failures
    assert (reason.code, reason.values["metric"]) == ("cannot_verify", metric)
    allowed = measured_gates(
        with_gates(**{limits[metric]: 0.5}, allow_unknown_card=True), {metric: None}, 0.0
    )
    assert allowed.failures == ()
    assert [item.code for item in allowed.warnings] == ["cannot_verify"]
