"""Who comes before whom: composite, then ties, and never a dominated model first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from engine.stats.metrics import Reading

SAME_COMPOSITE = 1e-9


@dataclass(frozen=True, slots=True)
class Contender:
    """What ranking needs of one model. `weighted` holds the raw weighted metrics, None = unknown."""

    key: str
    composite: float | None
    tie_breaker: float | None
    weighted: Mapping[str, float | None]


@dataclass(frozen=True, slots=True)
class Place:
    """A model's place. `rank` is None without a composite. `behind` is the model that dominates it
    and was put first although its composite is lower."""

    key: str
    rank: int | None
    behind: str | None = None


@dataclass(frozen=True, slots=True)
class Order:
    """The rules of an order: shares of the weighted metrics, how each is read, the tie-breaker."""

    shares: Mapping[str, float]
    readings: Mapping[str, Reading]
    tie_breaker: Reading


def _steady(value: float | None) -> float | None:
    """A value without the last digits, where only rounding lives."""
    return None if value is None else float(f"{value:.10g}")


def dominates(a: Contender, b: Contender, readings: Mapping[str, Reading]) -> bool:
    """Whether b is no better than a on any weighted metric and worse on one.

    What is not measured is never better: an unknown value of b cannot save it, and where a is
    unknown but b is known, b may be the better one. This is a strict partial order.
    """
    worse = False
    for name, value in b.weighted.items():
        mine, theirs = _steady(a.weighted.get(name)), _steady(value)
        if theirs is None:
            continue
        if mine is None or readings[name].better(theirs, mine):
            return False
        worse = worse or readings[name].better(mine, theirs)
    return worse


def _tie_key(contender: Contender, order: Order) -> tuple[object, ...]:
    by_weight = sorted(order.shares, key=lambda name: (-order.shares[name], name))
    pairs = [(order.tie_breaker, contender.tie_breaker)]
    pairs += [(order.readings[name], contender.weighted.get(name)) for name in by_weight]
    parts: list[object] = []
    for rule, value in pairs:
        steady = _steady(value)
        parts += [steady is None, 0.0 if steady is None else -rule.signed(steady)]
    return (*parts, contender.key)


def _by_composite(contenders: Sequence[Contender], order: Order) -> list[Contender]:
    """Composite downwards; equals (but for rounding) by the tie-breaker, the metrics, the key."""
    known = sorted((item.composite, item.key) for item in contenders if item.composite is not None)[::-1]
    cluster: dict[str, int] = {}
    number, last = 0, None
    for value, key in known:
        if last is not None and last - value > SAME_COMPOSITE:
            number += 1
        cluster[key], last = number, value
    rest = len(contenders)
    return sorted(contenders, key=lambda item: (cluster.get(item.key, rest), _tie_key(item, order)))


def place(contenders: Sequence[Contender], order: Order) -> list[Place]:
    """Places of all contenders, best first. Equal composites share a rank: 1, 2, 2, 4."""
    waiting = _by_composite(contenders, order)
    over = {
        item.key: [other.key for other in waiting if dominates(other, item, order.readings)]
        for item in waiting
    }
    composite = {item.key: item.composite for item in contenders}
    done: list[Place] = []
    placed: set[str] = set()
    while waiting:
        # A strict partial order always leaves one that nobody waiting dominates.
        item = next(c for c in waiting if placed.issuperset(over[c.key]))
        waiting.remove(item)
        rank = _rank(item, done, composite)
        lower = [key for key in over[item.key] if _is_lower(composite[key], item.composite)]
        done.append(Place(item.key, rank, lower[0] if lower else None))
        placed.add(item.key)
    return done


def _is_lower(value: float | None, other: float | None) -> bool:
    return value is not None and other is not None and other - value > SAME_COMPOSITE


def _rank(item: Contender, done: Sequence[Place], composite: Mapping[str, float | None]) -> int | None:
    if item.composite is None:
        return None
    if done and done[-1].rank is not None:
        above = composite[done[-1].key]
        if above is not None and abs(above - item.composite) <= SAME_COMPOSITE:
            return done[-1].rank
    return len(done) + 1
