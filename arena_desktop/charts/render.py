"""One door to all charts: onto a painter, as a picture, as SVG. Everything that leaves is light."""

from __future__ import annotations

from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QFont, QGuiApplication, QImage, QPaintDevice, QPainter
from PySide6.QtSvg import QSvgGenerator

from arena_desktop.charts.bars import draw_bars
from arena_desktop.charts.canvas import Canvas, Drawing, Hit
from arena_desktop.charts.cost_score import draw_cost_score
from arena_desktop.charts.data import Bars, Chart, CostScore, Lines
from arena_desktop.charts.lines import draw_lines
from arena_desktop.charts.lying_bars import FOOT, ROW
from arena_desktop.charts.strip import draw_strip
from arena_desktop.theme.fonts import F
from arena_desktop.theme.paint import draw_shape, rounded, vline
from arena_desktop.theme.tokens import Tokens, dark, light

_STANDING = 8
"""More bars than this usually lie."""


def draw(painter: QPainter, rect: QRectF, chart: Chart, theme: Tokens, font: QFont | None = None) -> Drawing:
    """Draws any chart into `rect` and returns what can be pointed at."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    canvas = Canvas(painter, theme, font if font is not None else QGuiApplication.font())
    if isinstance(chart, Bars):
        drawing = draw_bars(canvas, rect, chart)
    elif isinstance(chart, Lines):
        drawing = draw_lines(canvas, rect, chart)
    elif isinstance(chart, CostScore):
        drawing = draw_cost_score(canvas, rect, chart)
    else:
        drawing = draw_strip(canvas, rect, chart)
    painter.restore()
    return drawing


def wanted_height(chart: Chart) -> float:
    """The height below which a chart gets crowded, at 100 % text; 0 = any will do."""
    return len(chart.bars) * ROW + FOOT if isinstance(chart, Bars) and len(chart.bars) > _STANDING else 0.0


def picture(chart: Chart, size: QSize, *, ratio: float = 2.0) -> QImage:
    """A light picture of the chart, for the clipboard and PNG files."""
    image = QImage(size * ratio, QImage.Format.Format_ARGB32_Premultiplied)
    image.setDevicePixelRatio(ratio)
    _draw_light(image, size, chart)
    return image


def svg(chart: Chart, size: QSize, title: str) -> bytes:
    """A light SVG of the chart."""
    data = QByteArray()
    buffer = QBuffer(data)
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    generator = QSvgGenerator()
    generator.setOutputDevice(buffer)
    generator.setSize(size)
    generator.setViewBox(QRectF(QPointF(0, 0), size.toSizeF()))
    generator.setTitle(title)
    _draw_light(generator, size, chart)
    buffer.close()
    return bytes(data.data())


def _draw_light(device: QPaintDevice, size: QSize, chart: Chart) -> None:
    whole = QRectF(QPointF(0, 0), size.toSizeF())
    painter = QPainter(device)
    try:
        painter.fillRect(whole, light().color("surface"))
        draw(painter, whole.adjusted(12, 12, -12, -12), chart, light())
    finally:
        # A painter that outlives its device takes the process down.
        painter.end()


def draw_hover(painter: QPainter, rect: QRectF, drawing: Drawing, hit: Hit, theme: Tokens) -> None:
    """The inverted card beside what is pointed at, and a rule through the plot for lines."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    if hit.rule:
        vline(painter, hit.anchor.x(), drawing.plot.y(), drawing.plot.height(), theme.color("line2"))
    canvas = Canvas(painter, theme)
    # Shapes on the inverted card need the colours made for the other ground.
    inverted = light() if theme.dark else dark()
    line = max(20.0, canvas.metrics("body").height() + 4)
    marks = 18 if any(row.index is not None for row in hit.rows) else 0
    names = max((canvas.metrics("body").horizontalAdvance(row.name) for row in hit.rows), default=0.0)
    values = max((canvas.metrics("strong").horizontalAdvance(row.value) for row in hit.rows), default=0.0)
    title = canvas.metrics("strong").horizontalAdvance(hit.title)
    width = max(title, marks + names + 24 + values) + 24
    height = 12 + line * (1 + len(hit.rows)) + 6
    card = _beside(QRectF(0, 0, width, height), hit.anchor, rect)
    rounded(painter, card, 8, theme.color("tip"))
    ink = theme.color("tipText")
    painter.setPen(ink)
    painter.setFont(F("strong"))
    side = Qt.AlignmentFlag.AlignVCenter
    painter.drawText(QRectF(card.x() + 12, card.y() + 6, title + 4, line), side, hit.title)
    for n, row in enumerate(hit.rows, start=1):
        top = card.y() + 8 + n * line
        if row.index is not None:
            centre = QPointF(card.x() + 16, top + line / 2)
            draw_shape(painter, inverted.model_shape(row.index), centre, 8, inverted.model_color(row.index))
        painter.setPen(ink)
        painter.setFont(F("body"))
        painter.drawText(QRectF(card.x() + 12 + marks, top, names + 4, line), side, row.name)
        painter.setFont(F("strong"))
        right = side | Qt.AlignmentFlag.AlignRight
        painter.drawText(QRectF(card.right() - 16 - values, top, values + 4, line), right, row.value)
    painter.restore()


def _beside(card: QRectF, anchor: QPointF, rect: QRectF) -> QRectF:
    """Right of the point, left where there is no room; always inside `rect`."""
    left = anchor.x() + 12
    if left + card.width() > rect.right():
        left = anchor.x() - 12 - card.width()
    top = min(max(anchor.y() - card.height() / 2, rect.y()), rect.bottom() - card.height())
    return QRectF(max(rect.x(), left), max(rect.y(), top), card.width(), card.height())
