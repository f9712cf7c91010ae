"""Bars that lie, one below the other: for names that would not fit below standing ones."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt

from arena_desktop.charts.canvas import Canvas, Drawing, Hit, HitRow, Scale, two_lines
from arena_desktop.charts.data import Bar, Bars
from arena_desktop.theme.paint import hline, rounded, vline

ROW = 24
"""The height that a bar wants at 100 % text."""
FOOT = 40
_WIDEST = 16.0
_MARK = 9.0
_NAMES_AT_MOST = 0.45
_VALUE_ROOM = 44.0


def draw_lying_bars(canvas: Canvas, rect: QRectF, chart: Bars) -> Drawing:
    """Draws into `rect`; the scale always starts at 0, because a bar's length is its value."""
    metrics = canvas.metrics("caption")
    names = max((metrics.horizontalAdvance(bar.name) for bar in chart.bars), default=0.0)
    left = min(names + 32, rect.width() * _NAMES_AT_MOST)
    head = metrics.height() + 4 if chart.threshold is not None else 4.0
    plot = rect.adjusted(left, head, -_VALUE_ROOM, -(metrics.height() + 10))
    scale = Scale(0, 100, plot.x(), plot.right(), (0, 25, 50, 75, 100))
    for tick in scale.ticks:
        if tick > scale.low:
            vline(canvas.painter, scale.at(tick), plot.y(), plot.height(), canvas.theme.color("line"))
        middle = QPointF(scale.at(tick), plot.bottom() + metrics.height() / 2 + 6)
        canvas.text(middle, f"{tick:.0f}", side="middle")
    vline(canvas.painter, plot.x(), plot.y(), plot.height(), canvas.theme.color("line3"))
    hline(canvas.painter, plot.x(), plot.bottom(), plot.width(), canvas.theme.color("line3"))
    drawing = Drawing(plot)
    height = plot.height() / max(1, len(chart.bars))
    for n, bar in enumerate(chart.bars):
        row = QRectF(plot.x(), plot.y() + n * height, plot.width(), height)
        _draw_name(canvas, rect.x(), left, row, bar)
        _draw_bar(canvas, row, scale, bar)
        drawing.hits.append(hit_of(QRectF(rect.x(), row.y(), rect.width(), height), row, scale, bar, chart))
    _draw_threshold(canvas, plot, scale, chart)
    return drawing


def _draw_threshold(canvas: Canvas, plot: QRectF, scale: Scale, chart: Bars) -> None:
    if chart.threshold is None:
        return
    x, line = scale.at(chart.threshold.value), canvas.metrics("caption").height()
    canvas.line(QPointF(x, plot.y()), QPointF(x, plot.bottom()), canvas.theme.color("warn"), 1.4, [5, 4])
    side = "right" if x > plot.center().x() else "left"
    canvas.text(QPointF(x, plot.y() - line / 2 - 2), chart.threshold.text, ink="warn", side=side)


def _draw_name(canvas: Canvas, edge: float, left: float, row: QRectF, bar: Bar) -> None:
    """The mark and the name; in two lines where it is long and the row is high enough."""
    middle, metrics = row.center().y(), canvas.metrics("caption")
    canvas.marker(QPointF(edge + 6, middle), bar.index, muted=bar.muted, size=_MARK)
    ink, room = "text3" if bar.muted else "text", left - 28
    lines = [line for line in two_lines(metrics, bar.name, room) if line]
    if len(lines) * metrics.height() > row.height():
        lines = [metrics.elidedText(bar.name, Qt.TextElideMode.ElideMiddle, room)]
    top = middle - (len(lines) - 1) * metrics.height() / 2
    for n, line in enumerate(lines):
        canvas.text(QPointF(edge + 18, top + n * metrics.height()), line, ink=ink)


def _draw_bar(canvas: Canvas, row: QRectF, scale: Scale, bar: Bar) -> None:
    middle, base, measure = row.center().y(), scale.at(0), bar.measure
    if measure is None:
        canvas.text(QPointF(base + 6, middle), "–")
        return
    thick, end = min(_WIDEST, row.height() * 0.6), scale.at(measure.value)
    box = QRectF(base, middle - thick / 2, end - base, thick)
    canvas.painter.save()
    canvas.painter.setClipRect(box)
    rounded(canvas.painter, box.adjusted(-8, 0, 0, 0), 4, canvas.ink_of(bar.index, bar.muted))
    canvas.painter.restore()
    if measure.low is not None and measure.high is not None:
        low, high = scale.at(measure.low), scale.at(measure.high)
        whisker = canvas.theme.color("text", 0.55)
        canvas.line(QPointF(low, middle), QPointF(high, middle), whisker, 1.5)
        for x in (low, high):
            canvas.line(QPointF(x, middle - 4), QPointF(x, middle + 4), whisker, 1.5)
        end = max(end, high)
    ink = "text3" if bar.muted else "text"
    canvas.text(QPointF(end + 6, middle), measure.text, role="head", ink=ink)


def hit_of(area: QRectF, row: QRectF, scale: Scale, bar: Bar, chart: Bars) -> Hit:
    """What can be pointed at: the whole row, with the name as it is written."""
    measure = bar.measure
    rows = [HitRow(chart.heads[1], measure.text if measure is not None else "–")]
    if measure is not None and measure.low is not None and measure.high is not None:
        rows.append(HitRow(chart.heads[2], f"{measure.low:.0f} – {measure.high:.0f}"))
    end = scale.at(measure.value) if measure is not None else row.x()
    spoken = ", ".join([bar.name, *(f"{each.name} {each.value}" for each in rows)])
    return Hit(area, QPointF(end, row.center().y()), bar.name, tuple(rows), spoken)
