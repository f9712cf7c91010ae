"""The everyday names of metrics, features and privacy facts, and how their values read."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats


def _tr(text: str) -> str:
    return QCoreApplication.translate("Metrics", text)


def metric_name(metric: str) -> str:
    """The name of a metric on the screen; a custom one loses its underscores."""
    names = {
        "accuracy": _tr("Getting it right"),
        "pass_rate": _tr("Tests passed"),
        "reliability": _tr("Came back with an answer"),
        "cost": _tr("Low cost"),
        "latency": _tr("Speed"),
        "latency_p95": _tr("Slowest answers"),
        "tokens": _tr("Length"),
        "error_rate": _tr("Failed questions"),
    }
    return names.get(metric, metric.replace("_", " "))


def metric_value(metric: str, value: float | None) -> str:
    """A raw metric value with its unit, as a person reads it."""
    if value is None:
        return formats.UNKNOWN
    if metric in ("accuracy", "pass_rate", "reliability", "error_rate"):
        return _tr("{n} of 100").format(n=formats.points(value))
    if metric == "cost" and value == 0:
        return formats.money(value)
    if metric == "cost":
        return _tr("{price} per 100 answers").format(price=formats.per_100(value))
    if metric in ("latency", "latency_p95"):
        return formats.waiting(value)
    return f"{value:g}"


def feature_name(feature: str) -> str:
    """What a model must be able to do, in words."""
    names = {
        "function_calling": _tr("use tools"),
        "structured_outputs": _tr("answer in a fixed form"),
        "vision": _tr("read pictures"),
        "prompt_caching": _tr("remember long instructions cheaply"),
        "adaptive_thinking": _tr("think before it answers"),
        "batch": _tr("take questions in bulk"),
    }
    return names.get(feature, feature.replace("_", " "))


def privacy_name(fact: str) -> str:
    """A privacy must-have, in words."""
    names = {
        "training_opt_out": _tr("does not train on our data"),
        "zero_data_retention": _tr("does not keep our data"),
        "dpa": _tr("has signed a data-protection contract"),
        "on_prem": _tr("runs on our own computers"),
    }
    return names.get(fact, fact.replace("_", " "))
