"""Draws what a table cell holds. One function per payload of `arena_desktop.cells`.

Every function draws into the content rectangle of the cell; background, accent bar, hairline and
focus ring are the delegate's. Links report where they stand, so that the view can be clicked.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import singledispatch

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QPainter, QPainterPath, QPen

from arena_desktop.cells import (
    UNKNOWN,
    Align,
    ChangeCell,
    ChipCell,
    Column,
    IconTextCell,
    LaneCell,
    Link,
    LinksCell,
    MarksCell,
    ModelCell,
    PlaceCell,
    ProgressCell,
    ScoreCell,
    Tie,
    TitleMarksCell,
    TwoLineCell,
)
from arena_desktop.theme import F, Tokens, icon_size, scaled
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import draw_shape, rounded, vline
from arena_desktop.widgets.chip import chip_size, paint_chip

MARK = 10
_STEP = 21
_TRACK = 2.0
_BAND = 8.0
_DOT = 9.0
_CAPSULE = (10.0, 14.0, 6.0)


@dataclass(slots=True)
class Pen:
    """What a cell is drawn with. `box` is the padded content, `row` the full height of the row."""

    painter: QPainter
    theme: Tokens
    box: QRectF
    row: QRectF
    ground: QColor
    column: Column
    muted: bool = False
    selected: bool = False
    links: list[tuple[Link, QRectF]] | None = None
    """When set, nothing is drawn and the places of links are collected."""

    @property
    def ink(self) -> str:
        """The token of ordinary text in this row."""
        return "text3" if self.muted else self.column.tone

    def text(
        self, text: str, box: QRectF, role: str = "body", ink: str | None = None, *, right: bool = False
    ) -> float:
        """One line, elided with the font used. Returns the width drawn."""
        font = F(role)
        metrics = QFontMetricsF(font)
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, box.width() + 0.5)
        if self.links is None:
            self.painter.setFont(font)
            self.painter.setPen(self.theme.color(ink or self.ink))
            side = Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft
            # Two pixels of air: overhanging letters would be cut otherwise.
            airy = box.adjusted(-2 if right else 0, 0, 0 if right else 2, 0)
            self.painter.drawText(airy, side | Qt.AlignmentFlag.AlignVCenter, shown)
        return metrics.horizontalAdvance(shown)

    def icon(self, name: str, ink: str, left: float) -> None:
        """An icon in the middle of the row."""
        size = icon_size(16)
        if self.links is None:
            colour = self.theme["text3"] if self.muted else self.theme[ink]
            place = QRectF(left, self.box.center().y() - size / 2, size, size)
            theme_icons.draw(self.painter, name, colour, place)

    def link_row(self, links: tuple[Link, ...], left: float, *, right: bool = False) -> None:
        """Links beside each other from `left`, or at the right end of the cell."""
        metrics = QFontMetricsF(F("button"))
        gap = 10.0
        widths = [metrics.horizontalAdvance(link.text) for link in links]
        if right:
            left = self.box.right() - sum(widths) - gap * (len(links) - 1)
        for link, width in zip(links, widths, strict=True):
            place = QRectF(left, self.box.y(), min(width, self.box.right() - left), self.box.height())
            if place.width() < 12:
                break
            if self.links is not None:
                self.links.append((link, place))
            else:
                self.text(link.text, place, "button", "accentText")
            left += width + gap


def paint_cell(pen: Pen, cell: object, text: str) -> None:
    """Draws `cell`, or the plain `text` where a column has no payload."""
    if cell is not None:
        _draw(cell, pen)
        return
    ink = pen.ink if text != UNKNOWN or pen.muted else "text2"
    if pen.column.align is Align.CENTRE:
        width = QFontMetricsF(F(pen.column.weight)).horizontalAdvance(text)
        middle = QRectF(pen.box.center().x() - width / 2, pen.box.y(), width, pen.box.height())
        pen.text(text, middle, pen.column.weight, ink)
    else:
        pen.text(text, pen.box, pen.column.weight, ink, right=pen.column.align is Align.RIGHT)


def cell_links(pen: Pen, cell: object) -> list[tuple[Link, QRectF]]:
    """Where the links of a cell stand, without drawing."""
    pen.links = []
    if cell is not None:
        _draw(cell, pen)
    return pen.links


def links_of(cell: object) -> tuple[Link, ...]:
    """The links of a cell, for menus and keys."""
    return getattr(cell, "links", ())


def marks_step() -> int:
    """The distance of two marks of a `MarksCell`, also for the shapes in the head."""
    return icon_size(_STEP)


def row_lines(cell: object) -> int:
    """How many lines a cell needs."""
    return 2 if isinstance(cell, TwoLineCell | TitleMarksCell) else 1


@singledispatch
def _draw(cell: object, pen: Pen) -> None:
    raise TypeError(f"no drawing for {type(cell).__name__}")


@_draw.register
def _score(cell: ScoreCell, pen: Pen) -> None:
    number = scaled(36)
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


@_draw.register
def _place(cell: PlaceCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    # The figure stands in the middle below the head word, the bracket right of it.
    head = QFontMetricsF(F("head")).horizontalAdvance(pen.column.title)
    width = QFontMetricsF(F("strong")).horizontalAdvance(cell.text)
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


@_draw.register
def _model(cell: ModelCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    box = QRectF(pen.box)
    if cell.index is not None:
        colour = pen.theme.color("dis") if pen.muted else pen.theme.model_color(cell.index)
        size = icon_size(MARK)
        centre = QPointF(box.x() + size / 2 + 1, box.center().y())
        draw_shape(pen.painter, pen.theme.model_shape(cell.index), centre, size, colour)
        box.setLeft(box.x() + size + 12)
    role = "body" if pen.muted else "strong" if cell.strong else "name"
    drawn = pen.text(cell.name, box, role)
    if cell.suffix:
        box.setLeft(box.x() + drawn + 8)
        # A beginning of it says nothing; the name needs the room first.
        if box.width() >= QFontMetricsF(F("caption")).horizontalAdvance(cell.suffix):
            pen.text(cell.suffix, box, "caption", "text3" if pen.muted else "text2")


@_draw.register
def _chip(cell: ChipCell, pen: Pen) -> None:
    size = chip_size(cell.text, cell.tone, cell.icon)
    width = min(float(size.width()), pen.box.width())
    place = QRectF(pen.box.x(), pen.box.center().y() - size.height() / 2, width, size.height())
    if pen.links is None:
        paint_chip(pen.painter, place, pen.theme, cell.text, cell.tone, cell.icon)
    left = place.right() + 10
    if cell.after:
        box = QRectF(left, pen.box.y(), pen.box.right() - left, pen.box.height())
        left += pen.text(cell.after, box, "body", "text2") + 10
    pen.link_row(cell.links, left)


@_draw.register
def _icon_text(cell: IconTextCell, pen: Pen) -> None:
    box = QRectF(pen.box)
    if cell.icon:
        pen.icon(cell.icon, cell.icon_tone, box.x())
        box.setLeft(box.x() + icon_size(16) + 6)
    drawn = pen.text(cell.text, box, "body", "text3" if pen.muted else cell.tone)
    pen.link_row(cell.links, box.x() + drawn + 10)


@_draw.register
def _lane(cell: LaneCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    wide, high, gap = _CAPSULE
    left, top = pen.box.x(), pen.box.center().y() - high / 2
    room = pen.box.width() - QFontMetricsF(F("body")).horizontalAdvance(cell.text) - 12
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


@_draw.register
def _progress(cell: ProgressCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    needed = QFontMetricsF(F("body")).horizontalAdvance(cell.text) + 12
    words = max(needed, min(scaled(88), pen.box.width() * 0.5))
    pen.text(cell.text, QRectF(pen.box.x(), pen.box.y(), min(words, pen.box.width()), pen.box.height()))
    bar = QRectF(pen.box.x() + words, pen.box.center().y() - 3, min(106.0, pen.box.width() - words), 6)
    if bar.width() < 16:
        return
    rounded(pen.painter, bar, 3, pen.theme.color("track"))
    if cell.share > 0:
        done = QRectF(bar.x(), bar.y(), max(6.0, bar.width() * min(1.0, cell.share)), 6)
        rounded(pen.painter, done, 3, pen.theme.color("accent"))


@_draw.register
def _two_lines(cell: TwoLineCell, pen: Pen) -> None:
    _lines(pen, pen.box, cell.title, cell.second, "name")


def _lines(pen: Pen, box: QRectF, title: str, second: str, role: str) -> None:
    first, below = QFontMetricsF(F(role)).height(), QFontMetricsF(F("caption")).height()
    top = box.center().y() - (first + below + 3) / 2
    pen.text(title, QRectF(box.x(), top, box.width(), first), role)
    second_ink = "text3" if pen.muted else "text2"
    pen.text(second, QRectF(box.x(), top + first + 3, box.width(), below), "caption", second_ink)


@_draw.register
def _title_marks(cell: TitleMarksCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    box = QRectF(pen.box)
    marks = marks_step() * len(cell.marks)
    number = scaled(20)
    first = QFontMetricsF(F("strong")).height()
    top = box.center().y() - (first + QFontMetricsF(F("caption")).height() + 3) / 2
    pen.text(cell.number, QRectF(box.x(), top, number, first), "body", "text2", right=True)
    box.setLeft(box.x() + number + 10)
    words = box.adjusted(0, 0, -(marks + 8) if marks else 0, 0)
    _lines(pen, words, cell.title, cell.second, "strong" if pen.selected else "name")
    _marks_row(pen, cell.marks, QRectF(box.x(), top, box.width(), first))


@_draw.register
def _marks(cell: MarksCell, pen: Pen) -> None:
    if pen.links is None:
        _marks_row(pen, cell.marks, pen.box)


def _marks_row(pen: Pen, marks: tuple[bool | None, ...], box: QRectF) -> None:
    step, size = marks_step(), icon_size(16)
    left = box.right() - step * len(marks) + (step - size) / 2
    for mark in marks:
        name, ink = ("check", "good") if mark else ("close", "bad") if mark is False else ("minus", "text3")
        place = QRectF(left, box.center().y() - size / 2, size, size)
        theme_icons.draw(pen.painter, name, pen.theme[ink], place)
        left += step


@_draw.register
def _links(cell: LinksCell, pen: Pen) -> None:
    pen.link_row(cell.links, pen.box.x(), right=True)


@_draw.register
def _change(cell: ChangeCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    box = QRectF(pen.box)
    if cell.before is not None and cell.after is not None:
        wide = min(float(scaled(124)), box.width() * 0.5)
        _change_track(pen, cell, QRectF(box.x() + 2, box.y(), wide, box.height()))
        box.setLeft(box.x() + wide + 18)
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
