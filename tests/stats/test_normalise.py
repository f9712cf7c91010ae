"""Raw metrics, normalisation and the composite."""

from __future__ import annotations

import pytest

from engine.config.schema import MetricRule
from engine.stats.metrics import composite_is_comparable, reading, weight_shares
from engine.stats.normalise import Range, composite, field_range, normalise, terms
from tests.stats.builders import config_with


def test_built_in_rules() -> None:
    assert reading("accuracy", {}).direction == "max"
    assert {reading(name, {}).direction for name in ("cost", "latency", "latency_p95", "tokens")} == {"min"}
    assert reading("abs_error", {}).direction == "min"
    assert reading("similarity", {}).direction == "max"
    assert [reading(name, {}).mode for name in ("accuracy", "pass_rate", "reliability", "cost", "style")] == [
        "raw", "raw", "raw", "minmax", "minmax"
    ]  # fmt: skip


def test_a_target_switches_the_mode_unless_one_is_set() -> None:
    assert reading("cost", {"cost": MetricRule(target=2.0)}).mode == "target"
    assert reading("cost", {"cost": MetricRule(target=2.0, normalize="minmax")}).mode == "minmax"
    assert reading("style", {"style": MetricRule(direction="min")}).direction == "min"


@pytest.mark.parametrize(
    ("name", "value", "target", "expected"),
    [
        ("cost", 0.06, 2.0, 0.97),
        ("cost", 0.0, 2.0, 1.0),
        ("cost", 1.0, 2.0, 0.5),
        ("cost", 2.0, 2.0, 0.0),
        ("cost", 5.0, 2.0, 0.0),
        ("accuracy", 0.4, 0.8, 0.5),
        ("accuracy", 0.9, 0.8, 1.0),
        ("cost", 0.0, 0.0, 1.0),
        ("cost", 0.5, 0.0, 0.0),
        ("accuracy", 0.1, 0.0, 1.0),
    ],
)
def test_target(name: str, value: float, target: float, expected: float) -> None:
    rule = reading(name, {name: MetricRule(target=target)})
    assert normalise(value, rule, None) == pytest.approx(expected)


def test_min_max() -> None:
    cost = reading("cost", {})
    assert [normalise(v, cost, Range(1.0, 3.0)) for v in (1.0, 2.0, 3.0)] == [1.0, 0.5, 0.0]
    assert normalise(9.0, cost, Range(1.0, 3.0)) == 0.0
    assert normalise(0.5, cost, Range(1.0, 3.0)) == 1.0
    assert normalise(2.0, cost, Range(2.0, 2.0)) == 1.0
    assert field_range([None, 2.0, None, 1.0]) == Range(1.0, 2.0)
    assert field_range([None]) is None


def parts(raw: dict[str, float | None], weights: dict[str, float], rules: dict[str, MetricRule]):
    shares = weight_shares(weights)
    return terms(raw, {name: reading(name, rules) for name in raw}, shares, {})


def test_composite_check_of_three_terms() -> None:
    rules = {"cost": MetricRule(target=2.0), "latency": MetricRule(target=800.0)}
    weights = {"accuracy": 0.55, "cost": 0.25, "latency": 0.20}
    found = parts({"accuracy": 5 / 6, "cost": 0.06, "latency": 190.0}, weights, rules)
    assert composite(found) == pytest.approx(0.853, abs=5e-4)


def test_the_weight_of_what_is_unknown_goes_to_the_rest() -> None:
    weights = {"accuracy": 0.55, "cost": 0.25, "latency": 0.20}
    found = parts(
        {"accuracy": 0.8, "cost": None, "latency": 400.0}, weights, {"latency": MetricRule(target=800.0)}
    )
    assert composite(found) == pytest.approx(0.72)
    assert found["cost"].raw is None
    assert (found["cost"].weight, found["cost"].contribution) == (0.0, None)
    assert sum(term.weight for term in found.values()) == pytest.approx(1.0)
    for term in found.values():
        if term.raw is not None:
            assert term.contribution == pytest.approx((term.normalized or 0) * term.weight)


def test_nothing_known_is_no_composite() -> None:
    assert composite(parts({"accuracy": None}, {"accuracy": 1.0}, {})) is None


def test_weights_become_shares() -> None:
    assert weight_shares({"accuracy": 3, "cost": 1, "latency": 0}) == {"accuracy": 0.75, "cost": 0.25}
    assert weight_shares({"accuracy": 0}) == {}


def test_composites_of_two_runs_are_comparable_only_without_min_max() -> None:
    assert composite_is_comparable(config_with({"accuracy": 1, "reliability": 1}))
    assert not composite_is_comparable(config_with({"accuracy": 1, "cost": 1}))
    assert composite_is_comparable(
        config_with({"accuracy": 1, "cost": 1}, rules={"cost": MetricRule(target=5.0)})
    )
    assert composite_is_comparable(config_with({"accuracy": 1, "cost": 0}))
