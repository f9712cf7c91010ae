"""Lines over runs: one per model, bands where the score most likely lies, names at the ends."""

from __future__ import annotations

from itertools import pairwise

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPolygonF

from arena_desktop.charts.canvas import (
    LABEL_STEP,
    Canvas,
    Drawing,
    Hit,
    HitRow,
    Scale,
    draw_grid,
    gutter,
    score_scale,
    spread,
)
from arena_desktop.charts.data import Line, Lines, Measure

_DASH = [3.0, 3.0]


def draw_lines(canvas: Canvas, rect: QRectF, chart: Lines) -> Drawing:
    """Draws into `rect`. A run a model took no part in is bridged by a dashed line."""
    line = canvas.metrics("caption").height()
    names = max((canvas.metrics("caption").horizontalAdvance(each.name) for each in chart.lines), default=0.0)
    right = min(names + 48, rect.width() * 0.3)
    top = line + 8 if chart.changes else 8.0
    plot = rect.adjusted(gutter(canvas), top, -right, -(line + 12))
    scale = score_scale(_values(chart), plot.y(), plot.bottom())
    draw_grid(canvas, plot, scale)
    places = _places(plot, len(chart.runs))
    _draw_axis(canvas, plot, places, chart)
    _draw_changes(canvas, plot, places, chart)
    for each in chart.lines:
        _draw_band(canvas, places, scale, each)
    for each in chart.lines:
        _draw_line(canvas, places, scale, each)
    _draw_names(canvas, plot, scale, chart, right)
    return Drawing(plot, _hits(plot, places, scale, chart))


def _values(chart: Lines) -> list[float]:
    points = [point for each in chart.lines for point in each.points if point is not None]
    return [value for point in points for value in (point.value, point.low) if value is not None]


def _places(plot: QRectF, count: int) -> list[float]:
    if count <= 1:
        return [plot.center().x()] * count
    inset = min(24.0, plot.width() / (2 * count))
    step = (plot.width() - inset - 12) / max(1, count - 1)
    return [plot.x() + inset + step * n for n in range(count)]


def _draw_axis(canvas: Canvas, plot: QRectF, places: list[float], chart: Lines) -> None:
    if not places:
        return
    metrics = canvas.metrics("caption")
    y, free = plot.bottom() + metrics.height() / 2 + 7, float("-inf")
    last = len(places) - 1
    reserved = places[last] - metrics.horizontalAdvance(chart.runs[last]) / 2
    for n, (x, label) in enumerate(zip(places, chart.runs, strict=True)):
        half = metrics.horizontalAdvance(label) / 2
        # The last run is always named; others give way.
        if x - half < free or (n != last and x + half + 8 > reserved):
            continue
        canvas.text(QPointF(x, y), label, side="middle")
        free = x + half + 12


def _draw_changes(canvas: Canvas, plot: QRectF, places: list[float], chart: Lines) -> None:
    height = canvas.metrics("caption").height()
    free = float("-inf")
    for change in chart.changes:
        if not 0 < change.before < len(places):
            continue
        x = (places[change.before - 1] + places[change.before]) / 2
        canvas.line(
            QPointF(x, plot.y() - 2), QPointF(x, plot.bottom()), canvas.theme.color("text3"), 1.2, _DASH
        )
        half = canvas.metrics("caption").horizontalAdvance(change.text) / 2
        if x - half > free:
            canvas.text(QPointF(x, plot.y() - height / 2 - 5), change.text, ink="text2", side="middle")
            free = x + half + 12


def _draw_band(canvas: Canvas, places: list[float], scale: Scale, each: Line) -> None:
    alpha = 0.13 if canvas.theme.dark else 0.10
    upper: list[QPointF] = []
    lower: list[QPointF] = []
    for x, point in zip(places, each.points, strict=True):
        if point is not None and point.low is not None and point.high is not None:
            upper.append(QPointF(x, scale.at(point.high)))
            lower.append(QPointF(x, scale.at(point.low)))
    if len(upper) > 1:
        canvas.painter.setPen(Qt.PenStyle.NoPen)
        canvas.painter.setBrush(canvas.ink_of(each.index, False, alpha))
        canvas.painter.drawPolygon(QPolygonF([*upper, *reversed(lower)]))
    elif upper:
        canvas.line(lower[0], upper[0], canvas.ink_of(each.index, False, 0.38), 2)


def _draw_line(canvas: Canvas, places: list[float], scale: Scale, each: Line) -> None:
    known = [(n, point) for n, point in enumerate(each.points) if point is not None]
    ink = canvas.ink_of(each.index, False)
    for (n, a), (m, b) in pairwise(known):
        start, end = QPointF(places[n], scale.at(a.value)), QPointF(places[m], scale.at(b.value))
        gap = m - n > 1
        canvas.line(start, end, ink, 1.4 if gap else 2.0, _DASH if gap else None)
    for n, point in known:
        canvas.marker(QPointF(places[n], scale.at(point.value)), each.index, size=8.5)


def _draw_names(canvas: Canvas, plot: QRectF, scale: Scale, chart: Lines, room: float) -> None:
    ends: list[tuple[Line, Measure]] = []
    for each in chart.lines:
        last = next((point for point in reversed(each.points) if point is not None), None)
        if last is not None:
            ends.append((each, last))
    step = max(LABEL_STEP, canvas.metrics("caption").height() + 2)
    wanted = [scale.at(point.value) for _each, point in ends]
    # Of two at nearly the same height the better stands above.
    heights = spread(wanted, step, plot.y(), plot.bottom() - 4)
    metrics = canvas.metrics("caption")
    for (each, point), y in zip(ends, heights, strict=True):
        x = plot.right() + 6
        figure = canvas.text(QPointF(x, y), point.text, role="head", ink="text")
        left = max(figure.right() + 8, x + 24)
        name = metrics.elidedText(each.name, Qt.TextElideMode.ElideRight, plot.right() + room - left)
        canvas.text(QPointF(left, y), name, ink="text2")


def _hits(plot: QRectF, places: list[float], scale: Scale, chart: Lines) -> list[Hit]:
    hits = []
    half = (places[1] - places[0]) / 2 if len(places) > 1 else plot.width() / 2
    for n, x in enumerate(places):
        here = [(each, each.points[n]) for each in chart.lines]
        present = [(each, point) for each, point in here if point is not None]
        present.sort(key=lambda pair: -pair[1].value)
        rows = tuple(HitRow(each.name, point.text, each.index) for each, point in present)
        title = chart.titles[n] if n < len(chart.titles) else chart.runs[n]
        spoken = ", ".join([title, *(f"{row.name} {row.value}" for row in rows)])
        anchor = QPointF(x, scale.at(present[0][1].value) if present else plot.center().y())
        area = QRectF(x - half, plot.y(), 2 * half, plot.height())
        hits.append(Hit(area, anchor, title, rows, spoken, rule=True))
    return hits
