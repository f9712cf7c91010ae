"""Drawing that every component shares: hairlines, card edges, model shapes, rings.

QtGui only; used by widgets, delegates, charts and reports alike.
"""

from __future__ import annotations

import math

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QBrush, QColor, QPainter, QPainterPath, QPen, QPolygonF

_RING = 3.0
_REGULAR = {"triangle": (3, -90.0, 1.12), "triangle_down": (3, 90.0, 1.12), "hexagon": (6, -90.0, 1.04)}


def device_ratio(painter: QPainter) -> float:
    """The pixel ratio of the painter's device."""
    return painter.device().devicePixelRatioF()


def hairline_width(ratio: float) -> float:
    """The width of one clean line: one device pixel up to 1.75, two at 2."""
    return max(1.0, math.floor(ratio)) / ratio


def hline(painter: QPainter, x: float, y: float, width: float, colour: QColor) -> None:
    """A clean horizontal hairline whose lower edge is at `y`."""
    ratio = device_ratio(painter)
    thick = hairline_width(ratio)
    y = round(y * ratio) / ratio
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(QRectF(x, y - thick, width, thick), colour)
    painter.restore()


def vline(painter: QPainter, x: float, y: float, height: float, colour: QColor) -> None:
    """A clean vertical hairline whose left edge is at `x`."""
    ratio = device_ratio(painter)
    thick = hairline_width(ratio)
    x = round(x * ratio) / ratio
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing, False)
    painter.fillRect(QRectF(x, y, thick, height), colour)
    painter.restore()


def card(
    painter: QPainter, rect: QRectF, radius: float, fill: QColor, edge: QColor, width: float | None = None
) -> None:
    """A rounded plane with a clean edge inside `rect`; `width` in pixels, default a hairline."""
    thick = hairline_width(device_ratio(painter)) if width is None else width
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(QPen(edge, thick))
    painter.setBrush(fill)
    inset = thick / 2
    painter.drawRoundedRect(rect.adjusted(inset, inset, -inset, -inset), radius - inset, radius - inset)
    painter.restore()


def rounded(painter: QPainter, rect: QRectF, radius: float, fill: QColor | QBrush) -> None:
    """A filled rounded rectangle without an edge."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(fill)
    painter.drawRoundedRect(rect, radius, radius)
    painter.restore()


def shape_path(shape: str, centre: QPointF, size: float) -> QPainterPath:
    """The outline of a model shape about `size` wide, centred by eye."""
    path = QPainterPath()
    half = size / 2
    if shape in ("circle", "ring"):
        path.addEllipse(centre, half, half)
    elif shape == "square":
        side = half * 0.9
        path.addRect(QRectF(centre.x() - side, centre.y() - side, 2 * side, 2 * side))
    elif shape == "diamond":
        path.addPolygon(_ring_of(centre, half * 1.2, 4, -90))
        path.closeSubpath()
    elif shape in _REGULAR:
        corners, start, factor = _REGULAR[shape]
        drop = {"triangle": half * 0.18, "triangle_down": -half * 0.18}.get(shape, 0.0)
        path.addPolygon(_ring_of(centre + QPointF(0, drop), half * factor, corners, start))
        path.closeSubpath()
    elif shape == "star":
        path.addPolygon(_star(centre, half * 1.25))
        path.closeSubpath()
    else:
        path = _plus(half)
        turn = 45.0 if shape == "cross" else 0.0
        path = _moved(path, centre, turn)
    return path


def draw_shape(
    painter: QPainter,
    shape: str,
    centre: QPointF,
    size: float,
    colour: QColor,
    *,
    ring: QColor | None = None,
) -> None:
    """Draws a model shape; `ring` puts a 3 px gap of that colour around it, for marks on lines."""
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    path = shape_path(shape, centre, size)
    if ring is not None:
        gap = QPen(ring, 2 * _RING)
        gap.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.strokePath(path, gap)
    if shape == "ring":
        inner = QPainterPath()
        inner.addEllipse(centre, size / 2 - 1, size / 2 - 1)
        if ring is not None:
            painter.fillPath(inner, ring)
        painter.strokePath(inner, QPen(colour, 2))
    else:
        painter.fillPath(path, colour)
    painter.restore()


def _ring_of(centre: QPointF, radius: float, corners: int, start: float) -> QPolygonF:
    angles = (math.radians(start + 360 * index / corners) for index in range(corners))
    return QPolygonF([centre + QPointF(radius * math.cos(a), radius * math.sin(a)) for a in angles])


def _star(centre: QPointF, radius: float) -> QPolygonF:
    points = []
    for index in range(10):
        reach = radius if index % 2 == 0 else radius * 0.45
        angle = math.radians(-90 + 36 * index)
        points.append(centre + QPointF(reach * math.cos(angle), reach * math.sin(angle)))
    return QPolygonF(points)


def _plus(half: float) -> QPainterPath:
    arm, thick = half * 1.12, half * 0.42
    path = QPainterPath()
    path.setFillRule(Qt.FillRule.WindingFill)
    path.addRect(QRectF(-arm, -thick, 2 * arm, 2 * thick))
    path.addRect(QRectF(-thick, -arm, 2 * thick, 2 * arm))
    return path.simplified()


def _moved(path: QPainterPath, centre: QPointF, degrees: float) -> QPainterPath:
    from PySide6.QtGui import QTransform

    turn = QTransform()
    turn.translate(centre.x(), centre.y())
    turn.rotate(degrees)
    return turn.map(path)
