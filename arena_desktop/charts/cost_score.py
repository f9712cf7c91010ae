"""Cost against score: up is better, left is cheaper. Names stand at the marks."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from arena_desktop.charts.canvas import (
    WHISKER_ALPHA,
    Canvas,
    Drawing,
    Hit,
    HitRow,
    Scale,
    draw_grid,
    gutter,
    money_scale,
    score_scale,
)
from arena_desktop.charts.data import CostPoint, CostScore

_MARK = 11.0
_OFF = 12.0


def draw_cost_score(canvas: Canvas, rect: QRectF, chart: CostScore) -> Drawing:
    """Draws into `rect`. Models whose cost or score is not known are left out."""
    points = [p for p in chart.points if p.cost is not None and p.score is not None]
    line = canvas.metrics("caption").height()
    plot = rect.adjusted(gutter(canvas), 8, -28, -(2 * line + 12))
    lows = [v for p in points for v in (p.score.value, p.score.low) if v is not None]
    if chart.threshold is not None:
        lows.append(chart.threshold.value)
    y_scale = score_scale(lows, plot.y(), plot.bottom())
    x_scale = money_scale(max((p.cost for p in points), default=0.0), plot.x() + 12, plot.right())
    draw_grid(canvas, plot, y_scale)
    _draw_axis(canvas, plot, x_scale, chart)
    taken: list[QRectF] = []
    if chart.threshold is not None:
        taken.append(_draw_threshold(canvas, plot, y_scale, chart))
    drawing = Drawing(plot)
    places = [QPointF(x_scale.at(p.cost), y_scale.at(p.score.value)) for p in points]
    taken += [QRectF(c.x() - _MARK / 2, c.y() - _MARK / 2, _MARK, _MARK) for c in places]
    for point, centre in zip(points, places, strict=True):
        taken.append(_draw_whisker(canvas, point, centre, y_scale))
    for point, centre in zip(points, places, strict=True):
        canvas.marker(centre, point.index, muted=point.muted, size=_MARK)
        taken.append(_draw_name(canvas, plot, point, centre, taken))
        drawing.hits.append(_hit(point, centre, chart))
    return drawing


def _draw_axis(canvas: Canvas, plot: QRectF, scale: Scale, chart: CostScore) -> None:
    line = canvas.metrics("caption").height()
    for tick in scale.ticks:
        label = chart.free_text if tick == 0 else chart.money(tick)
        canvas.text(QPointF(scale.at(tick), plot.bottom() + line / 2 + 5), label, side="middle")
    canvas.text(QPointF(plot.center().x(), plot.bottom() + line * 1.5 + 7), chart.axis_title, side="middle")


def _draw_threshold(canvas: Canvas, plot: QRectF, scale: Scale, chart: CostScore) -> QRectF:
    y, line = scale.at(chart.threshold.value), canvas.metrics("caption").height()
    warn = canvas.theme.color("warn")
    canvas.line(QPointF(plot.x(), y), QPointF(plot.right(), y), warn, 1.4, [5, 4])
    return canvas.text(
        QPointF(plot.right(), y + line / 2 + 4), chart.threshold.text, ink="warn", side="right"
    )


def _draw_whisker(canvas: Canvas, point: CostPoint, centre: QPointF, scale: Scale) -> QRectF:
    if point.score.low is None or point.score.high is None:
        return QRectF()
    top, bottom = (
        QPointF(centre.x(), scale.at(point.score.high)),
        QPointF(centre.x(), scale.at(point.score.low)),
    )
    canvas.line(top, bottom, canvas.ink_of(point.index, point.muted, WHISKER_ALPHA), 2)
    return QRectF(top.x() - 2, top.y(), 4, bottom.y() - top.y())


def _draw_name(
    canvas: Canvas, plot: QRectF, point: CostPoint, centre: QPointF, taken: list[QRectF]
) -> QRectF:
    """Right of the mark, or wherever it covers least: left, above right, below right."""
    role = "head" if point.strong else "caption"
    metrics = canvas.metrics(role)
    width, height = metrics.horizontalAdvance(point.name), metrics.height()
    middle = centre.y() - height / 2
    tries = [
        QRectF(centre.x() + _OFF, middle, width, height),
        QRectF(centre.x() - _OFF - width, middle, width, height),
        QRectF(centre.x() + 6, middle - height, width, height),
        QRectF(centre.x() + 6, middle + height, width, height),
        QRectF(centre.x() - 6 - width, middle - height, width, height),
        QRectF(centre.x() - 6 - width, middle + height, width, height),
    ]
    best = min(tries, key=lambda box: _cover(box, plot, taken))
    ink = "text" if point.strong else "text3" if point.muted else "text2"
    canvas.text(QPointF(best.x(), best.center().y()), point.name, role=role, ink=ink)
    return best


def _cover(box: QRectF, plot: QRectF, taken: list[QRectF]) -> float:
    outside = box.width() * box.height() - _area(box & plot.adjusted(0, -8, 4, 8))
    return 4 * outside + sum(_area(box.adjusted(-2, 0, 2, 0) & other) for other in taken)


def _area(box: QRectF) -> float:
    return max(0.0, box.width()) * max(0.0, box.height()) if box.isValid() else 0.0


def _hit(point: CostPoint, centre: QPointF, chart: CostScore) -> Hit:
    score = point.score.text
    rows = [HitRow(chart.heads[1], point.cost_text), HitRow(chart.heads[2], score)]
    area = QRectF(centre.x() - 14, centre.y() - 14, 28, 28)
    spoken = ", ".join([point.name, *(f"{row.name} {row.value}" for row in rows)])
    return Hit(area, centre, point.name, tuple(rows), spoken)
