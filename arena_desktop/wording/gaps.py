"""How far two models are apart, in the unit of the metric that decides."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.metrics import metric_name, metric_value
from engine.stats.board import PairResult
from engine.stats.samples import SHARES


def _tr(text: str) -> str:
    return QCoreApplication.translate("Gaps", text)


def _gap(pair: PairResult, metric: str) -> tuple[str, str, str]:
    """The gap of a pair and the ends of its range as figures, counted from the better one: points of 100
    where the metric is a share, else values with their unit. Empty texts where they are not known;
    ends that read alike say nothing and are left out."""

    def figure(value: float) -> str:
        if metric == "cost":
            return formats.per_100(value)
        return formats.points(value) if metric in SHARES else metric_value(metric, value)

    if pair.delta is None:
        return "", "", ""
    side = -1.0 if pair.delta < 0 else 1.0
    gap = figure(side * pair.delta)
    if pair.ci95 is None:
        return gap, "", ""
    low, high = (figure(end) for end in sorted((side * pair.ci95.low, side * pair.ci95.high)))
    return (gap, "", "") if low == high else (gap, low, high)


def _texts(metric: str) -> tuple[str, str]:
    """The gap alone, and with its range."""
    if metric in SHARES:
        return _tr("about {gap} points"), _tr("about {gap} points ({low} to {high})")
    if metric == "cost":
        return _tr("about {gap} per 100 answers"), _tr("about {gap} per 100 answers ({low} to {high})")
    return _tr("about {gap}"), _tr("about {gap} ({low} to {high})")


def gap_range(pair: PairResult, metric: str) -> str:
    """The gap with its likely range: "about 28 points (4 to 51)", "about 0.7 s (0.5 s to 0.9 s)"."""
    gap, low, high = _gap(pair, metric)
    alone, ranged = _texts(metric)
    return (ranged if low else alone).format(gap=gap, low=low, high=high) if gap else ""


def likely_gap(pair: PairResult, metric: str) -> str:
    """Where the true gap most likely lies; the metric is named unless it is how often a model is right."""
    gap, low, high = _gap(pair, metric)
    if metric in SHARES:
        text = _tr("The difference is most likely between {low} and {high} points.")
        alone = _tr("The difference is about {gap} points.")
    else:
        text = _tr("On “{metric}” the difference is most likely between {low} and {high}.")
        alone = _tr("On “{metric}” the difference is about {gap}.")
    return (text if low else alone).format(metric=metric_name(metric), gap=gap, low=low, high=high)
