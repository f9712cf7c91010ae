"""From raw metrics to 0..1 and to the composite: 1 is always best. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from engine.stats.board import MetricValue
from engine.stats.metrics import MIN, Reading

NO_RANGE = 1e-12


@dataclass(frozen=True, slots=True)
class Range:
    """Least and greatest raw value over the eligible models."""

    low: float
    high: float


def clip(value: float) -> float:
    """The value held inside 0..1."""
    return min(1.0, max(0.0, value))


def field_range(values: Iterable[float | None]) -> Range | None:
    """The range of a min-max metric over the eligible models; None when none is known."""
    known = [value for value in values if value is not None]
    return Range(min(known), max(known)) if known else None


def _to_target(value: float, reading: Reading, target: float) -> float:
    """Share of the target used up or reached. A target of 0 is met or not met."""
    if target <= 0.0:
        met = value <= target if reading.direction == MIN else value >= target
        return 1.0 if met else 0.0
    return clip(1.0 - value / target) if reading.direction == MIN else clip(value / target)


def normalise(value: float, reading: Reading, span: Range | None) -> float:
    """One raw value as 0..1. Outside the eligible range it is clipped; a field of equals is 1."""
    if reading.mode in ("target", "budget") and reading.target is not None:
        return _to_target(value, reading, reading.target)
    if reading.mode != "minmax" or span is None:
        return clip(value)
    width = span.high - span.low
    if width < NO_RANGE:
        return 1.0
    return clip((span.high - value) / width if reading.direction == MIN else (value - span.low) / width)


def terms(
    raw: Mapping[str, float | None],
    readings: Mapping[str, Reading],
    shares: Mapping[str, float],
    ranges: Mapping[str, Range | None],
) -> dict[str, MetricValue]:
    """Every metric of one model as a term. Unknown ones are left out and their weight goes to the
    rest of this model only; the weights shown are the ones used, so contributions add up."""
    used = sum(share for name, share in shares.items() if raw.get(name) is not None)
    result = {}
    for name, rule in readings.items():
        value = raw.get(name)
        if value is None:
            result[name] = MetricValue(None, None, 0.0, None, rule.direction)
            continue
        weight = shares.get(name, 0.0) / used if used > 0.0 else 0.0
        normal = normalise(value, rule, ranges.get(name))
        result[name] = MetricValue(value, normal, weight, normal * weight, rule.direction)
    return result


def composite(values: Mapping[str, MetricValue]) -> float | None:
    """Sum of the contributions; None where no weighted metric is known."""
    used = [value for value in values.values() if value.weight > 0.0]
    return clip(sum(value.contribution or 0.0 for value in used)) if used else None
