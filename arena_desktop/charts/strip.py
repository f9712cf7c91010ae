"""A strip per model: one dot per test, equal scores side by side, the average as a line."""

from __future__ import annotations

from collections import Counter

from PySide6.QtCore import QPointF, QRectF, Qt

from arena_desktop.charts.canvas import Canvas, Drawing, Hit, HitRow, Scale
from arena_desktop.charts.data import Strip, StripRow
from arena_desktop.theme.paint import hline, vline

_DOT = 5.0
_INSET = 28.0
_BINS = 50
"""Scores closer than 2 of 100 are drawn as equal."""


def draw_strip(canvas: Canvas, rect: QRectF, chart: Strip) -> Drawing:
    """Draws into `rect`. Many equal scores make a wider heap, never a darker dot."""
    metrics = canvas.metrics("caption")
    names = max((metrics.horizontalAdvance(row.name) for row in chart.rows), default=0.0)
    left = min(names + 32, rect.width() * 0.35)
    plot = rect.adjusted(left, 4, -16, -(metrics.height() + 10))
    scale = Scale(0, 100, plot.x() + _INSET, plot.right() - _INSET, (0, 25, 50, 75, 100))
    for tick in scale.ticks:
        vline(canvas.painter, scale.at(tick), plot.y(), plot.height(), canvas.theme.color("line"))
        canvas.text(
            QPointF(scale.at(tick), plot.bottom() + metrics.height() / 2 + 6), f"{tick:.0f}", side="middle"
        )
    hline(canvas.painter, plot.x(), plot.bottom(), plot.width(), canvas.theme.color("line3"))
    drawing = Drawing(plot)
    height = plot.height() / max(1, len(chart.rows))
    for n, row in enumerate(chart.rows):
        box = QRectF(plot.x(), plot.y() + n * height, plot.width(), height)
        _draw_row(canvas, rect.x(), left, box, scale, row)
        drawing.hits.append(_hit(box.adjusted(-left, 0, 0, 0), scale, row, chart))
    return drawing


def _draw_row(canvas: Canvas, edge: float, left: float, box: QRectF, scale: Scale, row: StripRow) -> None:
    middle = box.center().y()
    canvas.marker(QPointF(edge + 6, middle), row.index, muted=row.muted, size=9)
    metrics = canvas.metrics("caption")
    name = metrics.elidedText(row.name, Qt.TextElideMode.ElideRight, left - 32)
    canvas.text(QPointF(edge + 18, middle), name, ink="text3" if row.muted else "text")
    heaps = Counter(round(value / 100 * _BINS) for value in row.values)
    step = _DOT + 1
    rows = max(1, int((box.height() - 12) / step))
    canvas.painter.setPen(Qt.PenStyle.NoPen)
    canvas.painter.setBrush(canvas.ink_of(row.index, row.muted, 0.75))
    for place, count in heaps.items():
        x, columns = scale.at(place * 100 / _BINS), -(-count // rows)
        for k in range(count):
            column, k_row = divmod(k, rows)
            high = min(rows, count - column * rows)
            centre = QPointF(
                x + (column - (columns - 1) / 2) * step, middle + (k_row - (high - 1) / 2) * step
            )
            canvas.painter.drawEllipse(centre, _DOT / 2, _DOT / 2)
    if row.mean is not None:
        x = scale.at(row.mean.value)
        canvas.line(QPointF(x, box.y() + 4), QPointF(x, box.bottom() - 4), canvas.theme.color("text"), 2)


def _hit(area: QRectF, scale: Scale, row: StripRow, chart: Strip) -> Hit:
    mean = row.mean.text if row.mean is not None else "–"
    rows = (HitRow(chart.heads[1], mean), HitRow(chart.heads[2], str(len(row.values))))
    x = scale.at(row.mean.value) if row.mean is not None else area.center().x()
    spoken = ", ".join([row.name, *(f"{each.name} {each.value}" for each in rows)])
    return Hit(area, QPointF(x, area.center().y()), row.name, rows, spoken)
