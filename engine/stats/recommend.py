"""Why the winner, and at what price: codes with figures, strongest first. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from engine.config.schema import Metrics
from engine.stats.board import Entry, EntryStatus, Reason
from engine.stats.metrics import Reading

_ALWAYS = ("accuracy", "cost", "latency", "reliability")
_SAME = 1e-9


def _raw(entry: Entry, metric: str) -> float | None:
    value = entry.metrics.get(metric)
    return value.raw if value is not None else None


def _figures(metric: str, winner: Entry, other: Entry) -> dict[str, object]:
    """The two values, and what the other model is like on the deciding metric."""
    mine, theirs = _raw(winner, metric) or 0.0, _raw(other, metric) or 0.0
    gap = None
    if winner.deciding_mean is not None and other.deciding_mean is not None:
        gap = winner.deciding_mean - other.deciding_mean
    return {
        "metric": metric,
        "value": mine,
        "other": other.model_key,
        "other_value": theirs,
        "ratio": mine / theirs if theirs > 0.0 else None,
        "difference": mine - theirs,
        "deciding_difference": gap,
    }


def _compare(metric: str, winner: Entry, others: Sequence[Entry], rule: Reading) -> Reason | None:
    """The winner against the best of the others on one metric: strength, weakness or nothing."""
    mine = _raw(winner, metric)
    known = [entry for entry in others if _raw(entry, metric) is not None]
    if mine is None or not known:
        return None
    best = max(known, key=lambda entry: rule.signed(_raw(entry, metric) or 0.0))
    theirs = _raw(best, metric) or 0.0
    if abs(mine - theirs) <= _SAME * max(1.0, abs(mine)):
        return None
    code = "strength" if rule.better(mine, theirs) else "weakness"
    return Reason(code, _figures(metric, winner, best))


def recommendation(
    entries: Sequence[Entry], winner: str | None, metrics: Metrics, readings: Mapping[str, Reading]
) -> tuple[Reason, ...]:
    """The winner, what speaks for it in order of weight, then every respect in which it is worse.

    `strength` and `weakness` name the best other ranked model on that metric with both values,
    their ratio, and how much more often the winner was right than it. Empty without a winner.
    """
    first = next((entry for entry in entries if entry.model_key == winner), None)
    if first is None:
        return ()
    others = [e for e in entries if e.status is EntryStatus.RANKED and e.model_key != winner]
    equal = [e.model_key for e in others if e.rank == first.rank]
    weights = metrics.weights
    names = sorted((name for name in weights if weights[name] > 0.0), key=lambda name: (-weights[name], name))
    names += [name for name in _ALWAYS if name not in names]
    found = [_compare(name, first, others, readings[name]) for name in names]
    reasons = [reason for reason in found if reason is not None]
    head = Reason("winner", {"model": first.model_key, "equal": equal, "of": len(others) + 1})
    return (
        head,
        *(reason for reason in reasons if reason.code == "strength"),
        *(reason for reason in reasons if reason.code == "weakness"),
    )
