"""What the charts draw: frozen records. Scores are on 0 to 100; money is a float only to be drawn."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Measure:
    """A value with its likely range (None = there is none) and the text it is spoken and shown as."""

    value: float
    low: float | None = None
    high: float | None = None
    text: str = ""


@dataclass(frozen=True, slots=True)
class Threshold:
    """A dashed line with words, such as a must-have."""

    value: float
    text: str


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar. `index` = the model's number in project order; `muted` = left out."""

    name: str
    index: int
    measure: Measure | None
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars with their likely ranges."""

    bars: tuple[Bar, ...]
    heads: tuple[str, str, str] = ("Model", "Score", "Likely between")
    threshold: Threshold | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One model over all runs; None where it took no part."""

    name: str
    index: int
    points: tuple[Measure | None, ...]


@dataclass(frozen=True, slots=True)
class Change:
    """Something that changed just before run number `before` (0-based), with words."""

    before: int
    text: str


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines over runs. `runs` are the labels of the axis, `titles` the heads of the hover card."""

    runs: tuple[str, ...]
    lines: tuple[Line, ...]
    titles: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    heads: tuple[str, ...] = ("Run",)


@dataclass(frozen=True, slots=True)
class CostPoint:
    """One model. `cost` None = not known: it cannot be drawn and is left out."""

    name: str
    index: int
    cost: float | None
    cost_text: str
    score: Measure | None
    muted: bool = False
    strong: bool = False


def _dollars(value: float) -> str:
    return f"${value:.2f}"


@dataclass(frozen=True, slots=True)
class CostScore:
    """Cost against score. `money` formats the figures of the cost axis, `free_text` its zero."""

    points: tuple[CostPoint, ...]
    axis_title: str
    free_text: str
    heads: tuple[str, str, str] = ("Model", "Cost", "Score")
    threshold: Threshold | None = None
    money: Callable[[float], str] = field(default=_dollars)


@dataclass(frozen=True, slots=True)
class StripRow:
    """All single scores of one model, and their mean."""

    name: str
    index: int
    values: tuple[float, ...]
    mean: Measure | None = None
    muted: bool = False


@dataclass(frozen=True, slots=True)
class Strip:
    """One row of dots per model: how its scores spread over the tests."""

    rows: tuple[StripRow, ...]
    heads: tuple[str, str, str] = ("Model", "Average", "Tests")


Chart = Bars | Lines | CostScore | Strip


def table_of(chart: Chart) -> tuple[list[str], list[list[str]]]:
    """The same data as heads and rows of text, for "Show as table" and for copying."""
    if isinstance(chart, Bars):
        return list(chart.heads), [[bar.name, _text(bar.measure), _range(bar.measure)] for bar in chart.bars]
    if isinstance(chart, CostScore):
        return list(chart.heads), [[p.name, p.cost_text, _text(p.score)] for p in chart.points]
    if isinstance(chart, Strip):
        return list(chart.heads), [[row.name, _text(row.mean), str(len(row.values))] for row in chart.rows]
    names = [line.name for line in chart.lines]
    rows = [[run, *(_text(line.points[n]) for line in chart.lines)] for n, run in enumerate(chart.runs)]
    return [chart.heads[0], *names], rows


def _text(measure: Measure | None) -> str:
    if measure is None:
        return "–"
    return measure.text or f"{measure.value:.0f}"


def _range(measure: Measure | None) -> str:
    if measure is None or measure.low is None or measure.high is None:
        return "–"
    return f"{measure.low:.0f} – {measure.high:.0f}"
