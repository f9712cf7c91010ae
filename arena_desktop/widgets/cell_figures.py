"""Draws the cells that hold figures: scores with their band, places, lanes, progress, changes."""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QPainter, QPainterPath, QPen

from arena_desktop.cells import ChangeCell, LaneCell, PlaceCell, ProgressCell, ScoreCell, Tie
from arena_desktop.theme import Tokens
from arena_desktop.theme.paint import rounded, vline
from arena_desktop.widgets.cell_pen import BOOK, Pen, draw

_TRACK = 2.0
_BAND = 8.0
_DOT = 9.0
_CAPSULE = (10.0, 14.0, 6.0)
CHANGE_TRACK, CHANGE_GAP = 124, 18
"""Pixels of the design: the line of a change, and what parts it from the words."""


@draw.register
def _score(cell: ScoreCell, pen: Pen) -> None:
    number = BOOK.scaled(36)
    track = QRectF(pen.box.x(), pen.box.y(), max(24.0, pen.box.width() - number - 12), pen.box.height())
    if pen.links is not None:
        return
    for share in (0.0, 0.5, 1.0):
        x = track.x() + track.width() * share
        vline(pen.painter, x, pen.row.y(), pen.row.height(), pen.theme.color("line"))
    paint_score(pen, cell, track)
    ink = None if cell.value is not None else "text3" if pen.muted else "text2"
    pen.text(cell.text, pen.box, "strong" if cell.value is not None else "body", ink, right=True)


def paint_score(pen: Pen, cell: ScoreCell, track: QRectF) -> None:
    """Track, band and dot of a score; also for legends."""
    if cell.value is None:
        return
    middle = track.center().y()
    theme, painter = pen.theme, pen.painter

    def at(value: float) -> float:
        return track.x() + track.width() * min(100.0, max(0.0, value)) / 100

    groove = QRectF(track.x(), middle - _TRACK / 2, max(0.0, at(cell.value) - track.x()), _TRACK)
    rounded(painter, groove, 1, theme.color("track"))
    if cell.low is not None and cell.high is not None:
        left, right = at(cell.low), at(cell.high)
        if right - left < _BAND:
            left, right = (left + right - _BAND) / 2, (left + right + _BAND) / 2
        band = theme.color("bandOff" if pen.muted else "band")
        rounded(painter, QRectF(left, middle - _BAND / 2, right - left, _BAND), _BAND / 2, band)
    paint_dot(pen, QPointF(at(cell.value), middle), "text3" if pen.muted else "accent")


def paint_dot(pen: Pen, centre: QPointF, ink: str) -> None:
    """The dot with a ring of the row's colour."""
    for size, colour in ((_DOT + 3, pen.ground), (_DOT, pen.theme.color(ink))):
        box = QRectF(centre.x() - size / 2, centre.y() - size / 2, size, size)
        rounded(pen.painter, box, size / 2, colour)


@draw.register
def _place(cell: PlaceCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    # The figure stands in the middle below the head word, the bracket right of it.
    head = BOOK.metrics("head").horizontalAdvance(pen.column.title)
    width = BOOK.metrics("strong").horizontalAdvance(cell.text)
    left = pen.box.x() + (head - width) / 2
    pen.text(cell.text, QRectF(left, pen.box.y(), width, pen.box.height()), "strong")
    if cell.tie is not Tie.NONE:
        paint_bracket(pen.painter, pen.theme, cell.tie, pen.box.x() + head + 6, pen.row)


def paint_bracket(painter: QPainter, theme: Tokens, tie: Tie, right: float, row: QRectF) -> None:
    """One row's part of the bracket around models too close to tell apart; its stem stands at `right`."""
    reach, corner, inset = 6.0, 4.0, 11.0
    top, bottom = row.y() + inset, row.bottom() - inset
    path = QPainterPath()
    if tie is Tie.FIRST:
        path.moveTo(right - reach, top)
        path.lineTo(right - corner, top)
        path.quadTo(right, top, right, top + corner)
        path.lineTo(right, row.bottom() + 1)
    elif tie is Tie.LAST:
        path.moveTo(right, row.y() - 1)
        path.lineTo(right, bottom - corner)
        path.quadTo(right, bottom, right - corner, bottom)
        path.lineTo(right - reach, bottom)
    elif tie is Tie.ALONE:
        path.moveTo(right - reach, top)
        path.lineTo(right - corner, top)
        path.quadTo(right, top, right, top + corner)
        path.lineTo(right, bottom - corner)
        path.quadTo(right, bottom, right - corner, bottom)
        path.lineTo(right - reach, bottom)
    else:
        path.moveTo(right, row.y() - 1)
        path.lineTo(right, row.bottom() + 1)
    pen = QPen(theme.color("accent"), 2)
    pen.setCapStyle(Qt.PenCapStyle.RoundCap if tie is not Tie.MIDDLE else Qt.PenCapStyle.FlatCap)
    painter.save()
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.setPen(pen)
    painter.drawPath(path)
    painter.restore()


@draw.register
def _lane(cell: LaneCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    wide, high, gap = _CAPSULE
    left, top = pen.box.x(), pen.box.center().y() - high / 2
    room = pen.box.width() - BOOK.metrics("body").horizontalAdvance(cell.text) - 12
    total = max(cell.configured, cell.width, cell.used)
    shown = min(total, max(0, int((room + gap) // (wide + gap))))
    for slot in range(shown):
        place = QRectF(left, top, wide, high)
        _capsule(pen, place, "used" if slot < cell.used else "free" if slot < cell.width else "closed")
        left += wide + gap
    left += 8 if shown else 0
    pen.text(cell.text, QRectF(left, pen.box.y(), pen.box.right() - left, pen.box.height()), "body", "text2")


def _capsule(pen: Pen, place: QRectF, state: str) -> None:
    if state != "closed":
        rounded(pen.painter, place, 3, pen.theme.color("accent" if state == "used" else "track"))
        return
    edge = QPen(pen.theme.color("warn"), 1.25)
    edge.setDashPattern([1.6, 1.6])
    pen.painter.save()
    pen.painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    pen.painter.setPen(edge)
    pen.painter.setBrush(Qt.BrushStyle.NoBrush)
    pen.painter.drawRoundedRect(place.adjusted(0.6, 0.6, -0.6, -0.6), 3, 3)
    pen.painter.restore()


@draw.register
def _progress(cell: ProgressCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    needed = BOOK.metrics("body").horizontalAdvance(cell.text) + 12
    words = max(needed, min(BOOK.scaled(88), pen.box.width() * 0.5))
    pen.text(cell.text, QRectF(pen.box.x(), pen.box.y(), min(words, pen.box.width()), pen.box.height()))
    bar = QRectF(pen.box.x() + words, pen.box.center().y() - 3, min(106.0, pen.box.width() - words), 6)
    if bar.width() < 16:
        return
    rounded(pen.painter, bar, 3, pen.theme.color("track"))
    left = bar.x()
    for share, ink in ((cell.share, "accent"), (cell.failed, "bad")):
        if share > 0 and left < bar.right():
            wide = min(max(6.0, bar.width() * share), bar.right() - left)
            rounded(pen.painter, QRectF(left, bar.y(), wide, 6), min(3.0, wide / 2), pen.theme.color(ink))
            left += wide + 2


@draw.register
def _change(cell: ChangeCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    box = QRectF(pen.box)
    if cell.before is not None and cell.after is not None:
        wide = min(float(BOOK.scaled(CHANGE_TRACK)), box.width() * 0.5)
        _change_track(pen, cell, QRectF(box.x() + 2, box.y(), wide, box.height()))
        box.setLeft(box.x() + wide + CHANGE_GAP)
    ink = "text3" if pen.muted else cell.tone
    pen.text(cell.text, box, "name" if cell.tone in ("good", "bad") else "body", ink)


def _change_track(pen: Pen, cell: ChangeCell, track: QRectF) -> None:
    middle, theme, painter = track.center().y(), pen.theme, pen.painter
    before = track.x() + track.width() * (cell.before or 0.0) / 100
    after = track.x() + track.width() * (cell.after or 0.0) / 100
    ink = theme.color(cell.tone)
    rounded(painter, QRectF(track.x(), middle - 1, track.width(), 2), 1, theme.color("track"))
    rounded(painter, QRectF(min(before, after), middle - 1, abs(after - before), 2), 1, ink)
    rounded(painter, QRectF(before - 4.5, middle - 4.5, 9, 9), 4.5, ink)
    rounded(painter, QRectF(before - 2.7, middle - 2.7, 5.4, 5.4), 2.7, pen.ground)
    rounded(painter, QRectF(after - 5, middle - 5, 10, 10), 5, ink)
