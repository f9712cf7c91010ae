"""A judge against the user's own marks: agreement, Cohen's kappa, corrected pass rate. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from engine.stats.board import Interval
from engine.stats.intervals import wilson
from engine.stats.special import normal_quantile


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree. `kappa` is None where chance alone explains everything: one of
    them, or both, gave only one mark. Its interval is None where kappa or its error is not known."""

    n: int
    agree: int
    share: float
    share_interval: Interval
    kappa: float | None
    kappa_interval: Interval | None


@dataclass(frozen=True, slots=True)
class Corrected:
    """The pass rate with the judge's own errors taken out. None: the judge is no better than chance."""

    observed: float
    sensitivity: float
    specificity: float
    rate: float
    interval: Interval


def _tables(marks: Sequence[tuple[str, str]]) -> tuple[list[str], dict[tuple[str, str], float]]:
    labels = sorted({mark for pair in marks for mark in pair})
    shares = dict.fromkeys(((a, b) for a in labels for b in labels), 0.0)
    for pair in marks:
        shares[pair] += 1.0 / len(marks)
    return labels, shares


def _kappa_error(labels: Sequence[str], shares: dict[tuple[str, str], float], kappa: float, n: int) -> float:
    """The large-sample error of kappa (Fleiss, Cohen and Everitt 1969)."""
    row = {a: sum(shares[a, b] for b in labels) for a in labels}
    column = {b: sum(shares[a, b] for a in labels) for b in labels}
    chance = sum(row[a] * column[a] for a in labels)
    same = sum(shares[a, a] * (1.0 - (row[a] + column[a]) * (1.0 - kappa)) ** 2 for a in labels)
    apart = sum(shares[a, b] * (column[a] + row[b]) ** 2 for a in labels for b in labels if a != b)
    inner = same + (1.0 - kappa) ** 2 * apart - (kappa - chance * (1.0 - kappa)) ** 2
    return math.sqrt(max(0.0, inner) / n) / (1.0 - chance)


def agreement(marks: Sequence[tuple[str, str]], confidence: float = 0.95) -> Agreement | None:
    """Agreement of pairs (judge's mark, user's mark). None without any pair.

    The interval of kappa is the large-sample one, held inside -1..1; where it has no width
    (full agreement) it is left out, because it would claim certainty.
    """
    if not marks:
        return None
    n = len(marks)
    agree = sum(1 for a, b in marks if a == b)
    labels, shares = _tables(marks)
    chance = sum(sum(shares[a, b] for b in labels) * sum(shares[b, a] for b in labels) for a in labels)
    kappa = interval = None
    if chance < 1.0 - 1e-12:
        kappa = (agree / n - chance) / (1.0 - chance)
        error = _kappa_error(labels, shares, kappa, n)
        half = normal_quantile(0.5 + confidence / 2.0) * error
        if half > 1e-9:
            interval = Interval(max(-1.0, kappa - half), min(1.0, kappa + half))
    return Agreement(n, agree, agree / n, wilson(agree / n, n, confidence), kappa, interval)


def corrected_rate(
    passed: int, judged: int, marks: Sequence[tuple[bool, bool]], confidence: float = 0.95
) -> Corrected | None:
    """Rogan and Gladen: the true pass rate behind `passed` of `judged`, from marks both gave.

    `marks` are pairs (judge passed, user passed). The interval is that of the delta method, held
    inside 0..1. None: nothing judged, one of the user's two marks never occurs, or the judge is
    no better than a coin, so that its verdicts carry nothing to correct.
    """
    right = [judge for judge, user in marks if user]
    wrong = [judge for judge, user in marks if not user]
    if judged <= 0 or not right or not wrong:
        return None
    sensitivity = sum(right) / len(right)
    specificity = sum(1 for judge in wrong if not judge) / len(wrong)
    power = sensitivity + specificity - 1.0
    if power <= 1e-9:
        return None
    observed = passed / judged
    rate = (observed + specificity - 1.0) / power
    variance = (
        observed * (1.0 - observed) / judged
        + rate * rate * sensitivity * (1.0 - sensitivity) / len(right)
        + (1.0 - rate) ** 2 * specificity * (1.0 - specificity) / len(wrong)
    ) / (power * power)
    half = normal_quantile(0.5 + confidence / 2.0) * math.sqrt(variance)
    clipped = min(1.0, max(0.0, rate))
    return Corrected(
        observed,
        sensitivity,
        specificity,
        clipped,
        Interval(min(1.0, max(0.0, rate - half)), max(0.0, min(1.0, rate + half))),
    )
