"""Bars with their likely ranges, one per model: standing, or lying where names are long or many."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from arena_desktop.charts.canvas import Canvas, Drawing, Hit, HitRow, Scale, draw_grid, gutter, two_lines
from arena_desktop.charts.data import Bar, Bars
from arena_desktop.charts.lying_bars import draw_lying_bars
from arena_desktop.theme.paint import rounded

_WIDEST = 44.0
_MARK = 9.0


def draw_bars(canvas: Canvas, rect: QRectF, chart: Bars) -> Drawing:
    """Draws into `rect`; the scale always starts at 0, because a bar's length is its value.

    Where a name does not fit below its bar the bars lie, with their names beside them.
    """
    line = canvas.metrics("caption").height()
    if _names_are_cut(canvas, (rect.width() - gutter(canvas) - 4) / max(1, len(chart.bars)), chart):
        return draw_lying_bars(canvas, rect, chart)
    plot = rect.adjusted(gutter(canvas), line + 4, -4, -(2 * line + 14))
    scale = Scale(0, 100, plot.bottom(), plot.y(), (0, 25, 50, 75, 100))
    draw_grid(canvas, plot, scale)
    drawing = Drawing(plot)
    room = plot.width() / max(1, len(chart.bars))
    for n, bar in enumerate(chart.bars):
        column = QRectF(plot.x() + n * room, plot.y(), room, plot.height())
        _draw_bar(canvas, column, scale, bar)
        drawing.hits.append(_hit(column.adjusted(0, 0, 0, 2 * line + 14), scale, bar, chart))
    if chart.threshold is not None:
        y, warn = scale.at(chart.threshold.value), canvas.theme.color("warn")
        canvas.line(QPointF(plot.x(), y), QPointF(plot.right(), y), warn, 1.4, [5, 4])
        canvas.text(QPointF(plot.right(), y - line / 2 - 2), chart.threshold.text, ink="warn", side="right")
    return drawing


def _names_are_cut(canvas: Canvas, column: float, chart: Bars) -> bool:
    metrics, room = canvas.metrics("caption"), column - 8
    for bar in chart.bars:
        lines = two_lines(metrics, bar.name, room - _MARK - 6, _MARK + 6)
        if " ".join(line for line in lines if line) != bar.name:
            return True
    return False


def _draw_bar(canvas: Canvas, column: QRectF, scale: Scale, bar: Bar) -> None:
    middle, base = column.center().x(), scale.at(0)
    metrics = canvas.metrics("caption")
    _draw_name(canvas, column, bar)
    if bar.measure is None:
        canvas.text(QPointF(middle, base - metrics.height()), "–", side="middle")
        return
    thick = min(_WIDEST, column.width() * 0.5)
    top = scale.at(bar.measure.value)
    box = QRectF(middle - thick / 2, top, thick, base - top)
    canvas.painter.save()
    canvas.painter.setClipRect(box)
    rounded(canvas.painter, box.adjusted(0, 0, 0, 8), 4, canvas.ink_of(bar.index, bar.muted))
    canvas.painter.restore()
    label = top
    if bar.measure.low is not None and bar.measure.high is not None:
        low, high = scale.at(bar.measure.low), scale.at(bar.measure.high)
        whisker = canvas.theme.color("text", 0.55)
        canvas.line(QPointF(middle, low), QPointF(middle, high), whisker, 1.5)
        for end in (low, high):
            canvas.line(QPointF(middle - 4, end), QPointF(middle + 4, end), whisker, 1.5)
        label = min(label, high)
    ink = "text3" if bar.muted else "text"
    canvas.text(
        QPointF(middle, label - metrics.height() / 2 - 3),
        bar.measure.text,
        role="head",
        ink=ink,
        side="middle",
    )


def _draw_name(canvas: Canvas, column: QRectF, bar: Bar) -> None:
    """The mark and the name below it, in two lines where one is too short."""
    metrics, middle = canvas.metrics("caption"), column.center().x()
    room = column.width() - 8
    y = column.bottom() + metrics.height() / 2 + 8
    lines = two_lines(metrics, bar.name, room - _MARK - 6, _MARK + 6)
    first = metrics.horizontalAdvance(lines[0]) + _MARK + (6 if lines[0] else 0)
    canvas.marker(QPointF(middle - first / 2 + _MARK / 2, y), bar.index, muted=bar.muted, size=_MARK)
    ink = "text3" if bar.muted else "text"
    canvas.text(QPointF(middle - first / 2 + _MARK + 6, y), lines[0], ink=ink)
    if len(lines) > 1:
        canvas.text(QPointF(middle, y + metrics.height()), lines[1], ink=ink, side="middle")


def _hit(area: QRectF, scale: Scale, bar: Bar, chart: Bars) -> Hit:
    value = bar.measure.text if bar.measure is not None else "–"
    rows = [HitRow(chart.heads[1], value)]
    if bar.measure is not None and bar.measure.low is not None and bar.measure.high is not None:
        rows.append(HitRow(chart.heads[2], f"{bar.measure.low:.0f} – {bar.measure.high:.0f}"))
    top = scale.at(bar.measure.value) if bar.measure is not None else area.bottom()
    spoken = ", ".join([bar.name, *(f"{row.name} {row.value}" for row in rows)])
    return Hit(area, QPointF(area.center().x(), top), bar.name, tuple(rows), spoken)
