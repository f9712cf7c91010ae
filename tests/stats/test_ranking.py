"""Places: ties, tie-breakers, dominated models."""

from __future__ import annotations

from engine.config.schema import MetricRule
from engine.stats.metrics import reading
from engine.stats.ranking import Contender, Order, dominates, place


def order(
    shares: dict[str, float], tie: str = "accuracy", rules: dict[str, MetricRule] | None = None
) -> Order:
    return Order(shares, {name: reading(name, rules or {}) for name in shares}, reading(tie, rules or {}))


def ranks(contenders: list[Contender], rules: Order) -> list[tuple[str, int | None]]:
    return [(item.key, item.rank) for item in place(contenders, rules)]


def test_equal_composites_share_a_rank() -> None:
    rows = [Contender(key, value, None, {}) for key, value in
            {"d": 0.7, "c": 0.8, "z": 0.0, "a": 0.9, "y": 0.0, "b": 0.8}.items()]  # fmt: skip
    assert ranks(rows, order({})) == [("a", 1), ("b", 2), ("c", 2), ("d", 4), ("y", 5), ("z", 5)]


def test_rounding_is_no_difference() -> None:
    rows = [Contender("b", 0.1 + 0.2, None, {}), Contender("a", 0.3, None, {})]
    assert ranks(rows, order({})) == [("a", 1), ("b", 1)]


def test_the_tie_breaker_honours_its_direction() -> None:
    rows = [
        Contender("slow", 0.5, 900.0, {}),
        Contender("fast", 0.5, 100.0, {}),
        Contender("unknown", 0.5, None, {}),
    ]
    assert ranks(rows, order({}, tie="latency")) == [("fast", 1), ("slow", 1), ("unknown", 1)]


def test_then_the_weighted_metrics_in_order_of_weight() -> None:
    rules = order({"cost": 0.7, "latency": 0.3})
    rows = [
        Contender("a", 0.5, 0.9, {"cost": 2.0, "latency": 1.0}),
        Contender("b", 0.5, 0.9, {"cost": 1.0, "latency": 9.0}),
    ]
    assert ranks(rows, rules) == [("b", 1), ("a", 1)]


def test_without_a_composite_there_is_no_rank() -> None:
    rows = [Contender("a", None, 1.0, {}), Contender("b", 0.1, 0.1, {})]
    assert ranks(rows, order({})) == [("b", 1), ("a", None)]


def test_dominated_in_a_tie_comes_second_whatever_the_tie_breaker_says() -> None:
    """Both are over the budget, so both score 0; the dearer one is also the more accurate one."""
    rules = order({"cost": 1.0})
    rows = [Contender("dear", 0.0, 0.9, {"cost": 30.0}), Contender("cheap", 0.0, 0.5, {"cost": 20.0})]
    assert ranks(rows, rules) == [("cheap", 1), ("dear", 1)]


def test_what_is_not_measured_does_not_lift_a_model_over_its_better() -> None:
    rules = order({"accuracy": 0.6, "cost": 0.4})
    known = Contender("known", 0.74, 0.9, {"accuracy": 0.9, "cost": 5.0})
    hidden = Contender("hidden", 0.8, 0.8, {"accuracy": 0.8, "cost": None})
    places = place([hidden, known], rules)
    assert [(p.key, p.rank, p.behind) for p in places] == [("known", 1, None), ("hidden", 2, "known")]


def test_an_unknown_value_dominates_nobody_who_is_measured() -> None:
    readings = order({"accuracy": 0.6, "cost": 0.4}).readings
    hidden = Contender("hidden", 0.9, 0.9, {"accuracy": 0.9, "cost": None})
    known = Contender("known", 0.8, 0.8, {"accuracy": 0.8, "cost": 1.0})
    other = Contender("other", 0.8, 0.8, {"accuracy": 0.8, "cost": None})
    assert not dominates(hidden, known, readings)
    assert dominates(hidden, other, readings)
    assert not dominates(hidden, hidden, readings)
