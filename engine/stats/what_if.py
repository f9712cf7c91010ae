"""What would change the result: the nearest weight at which another model comes first. Pure."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from engine.stats.board import Entry, EntryStatus, WeightChange
from engine.stats.metrics import weight_shares
from engine.stats.ranking import Contender, Order, Place, place

_STEP = 1e-6
_SAME = 1e-12
_MOST = 1e6


def _ranked(entries: Sequence[Entry]) -> list[Entry]:
    return [entry for entry in entries if entry.status is EntryStatus.RANKED and entry.composite is not None]


def _composite(entry: Entry, weights: Mapping[str, float]) -> float | None:
    """The composite under other weights; normalised values do not depend on weights."""
    known = {name: entry.metrics[name].normalized for name in weights if name in entry.metrics}
    pairs = [(weights[name], value) for name, value in known.items() if value is not None]
    used = sum(weight for weight, _ in pairs)
    return sum(weight * value for weight, value in pairs) / used if used > 0.0 else None


def _places(entries: Sequence[Entry], weights: Mapping[str, float], order: Order) -> list[Place]:
    shares = weight_shares(weights)
    contenders = []
    for entry in entries:
        weighted = {name: entry.metrics[name].raw if name in entry.metrics else None for name in shares}
        tie = entry.metrics.get(order.tie_breaker.name)
        score = _composite(entry, shares)
        contenders.append(Contender(entry.model_key, score, tie.raw if tie else None, weighted))
    return place(contenders, Order(shares, order.readings, order.tie_breaker))


def _leader(entries: Sequence[Entry], metric: str, factor: float, order: Order) -> str | None:
    weights = {name: share * (factor if name == metric else 1.0) for name, share in order.shares.items()}
    places = _places(entries, weights, order)
    return places[0].key if places and places[0].rank is not None else None


def _line(entry: Entry, metric: str, order: Order) -> tuple[float, float, float, float]:
    """The composite as (a + f b) / (c + f d), f being the factor on the metric's weight."""
    a = b = c = d = 0.0
    for name, share in order.shares.items():
        value = entry.metrics[name].normalized
        if value is None:
            continue
        if name == metric:
            b, d = share * value, share
        else:
            a, c = a + share * value, c + share
    return a, b, c, d


def _crossings(one: tuple[float, float, float, float], two: tuple[float, float, float, float]) -> list[float]:
    """Factors at which two composites are equal: the roots of a quadratic."""
    a1, b1, c1, d1 = one
    a2, b2, c2, d2 = two
    square, linear, constant = b1 * d2 - b2 * d1, a1 * d2 + b1 * c2 - a2 * d1 - b2 * c1, a1 * c2 - a2 * c1
    if abs(square) <= _SAME:
        return [-constant / linear] if abs(linear) > _SAME else []
    inner = linear * linear - 4.0 * square * constant
    if inner < 0.0:
        return []
    root = math.sqrt(inner)
    return [(-linear - root) / (2.0 * square), (-linear + root) / (2.0 * square)]


def _candidates(entries: Sequence[Entry], winner: Entry, metric: str, order: Order) -> list[float]:
    mine = _line(winner, metric, order)
    factors = {0.0}
    for other in entries:
        if other is not winner:
            factors.update(f for f in _crossings(mine, _line(other, metric, order)) if 0.0 < f <= _MOST)
    return sorted(factors, key=_distance)


def _distance(factor: float) -> float:
    return abs(math.log(factor)) if factor > 0.0 else math.inf


def _first_change(entries: Sequence[Entry], winner: Entry, metric: str, order: Order) -> WeightChange | None:
    share = order.shares[metric]
    for factor in _candidates(entries, winner, metric, order):
        sides = [factor * (1.0 + _STEP), factor * (1.0 - _STEP)] if factor > 0.0 else [0.0]
        if abs(factor - 1.0) > _STEP:
            sides = sides[:1] if factor > 1.0 else sides[-1:]
        for beyond in sides:
            leader = _leader(entries, metric, beyond, order)
            if leader is not None and leader != winner.model_key:
                # Not 1 - share: beside a weight a million million times as large that is 0.
                rest = sum(other for name, other in order.shares.items() if name != metric)
                at = factor if abs(factor - 1.0) > _STEP else beyond
                return WeightChange(metric, at, share, at * share / (rest + at * share), leader)
    return None


def nearest_change(entries: Sequence[Entry], order: Order, winner: str | None) -> WeightChange | None:
    """The change of one weight, smallest as a ratio, that puts another ranked model first.

    Only the metrics that have a weight are tried, the others kept; a weight of 0 comes last.
    None: no change of a single weight does it, or nothing is ranked beside the winner.
    """
    ranked = _ranked(entries)
    first = next((entry for entry in ranked if entry.model_key == winner), None)
    if first is None or len(ranked) < 2 or len(order.shares) < 2:
        return None
    changes = [_first_change(ranked, first, metric, order) for metric in order.shares]
    found = [change for change in changes if change is not None]
    return min(found, key=lambda change: _distance(change.factor), default=None)
