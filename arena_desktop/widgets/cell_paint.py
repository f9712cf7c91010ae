"""Draws what a table cell holds. One function per payload of `arena_desktop.cells`.

Every function draws into the content rectangle of the cell; background, accent bar, hairline and
focus ring are the delegate's. Links report where they stand, so that the view can be clicked.
Cells with figures are drawn in `cell_figures`.
"""

from __future__ import annotations

from PySide6.QtCore import QPointF, QRectF

from arena_desktop.cells import (
    UNKNOWN,
    Align,
    ChipCell,
    IconTextCell,
    Link,
    LinksCell,
    MarksCell,
    ModelCell,
    TitleMarksCell,
    TwoLineCell,
)
from arena_desktop.theme import icon_size
from arena_desktop.theme import icons as theme_icons
from arena_desktop.widgets import cell_figures as _figures  # noqa: F401 - it registers its drawings
from arena_desktop.widgets.cell_pen import BOOK, Pen, draw
from arena_desktop.widgets.chip import chip_size, paint_chip

MARK = 10
_STEP = 21


def paint_cell(pen: Pen, cell: object, text: str) -> None:
    """Draws `cell`, or the plain `text` where a column has no payload."""
    if cell is not None:
        draw(cell, pen)
        return
    ink = pen.ink if text != UNKNOWN or pen.muted else "text2"
    if pen.column.align is Align.CENTRE:
        width = min(BOOK.metrics(pen.column.weight).horizontalAdvance(text), pen.box.width())
        middle = QRectF(pen.box.center().x() - width / 2, pen.box.y(), width, pen.box.height())
        pen.text(text, middle, pen.column.weight, ink)
    else:
        pen.text(text, pen.box, pen.column.weight, ink, right=pen.column.align is Align.RIGHT)


def cell_links(pen: Pen, cell: object) -> list[tuple[Link, QRectF]]:
    """Where the links of a cell stand, without drawing."""
    pen.links = []
    if cell is not None:
        draw(cell, pen)
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


@draw.register
def _model(cell: ModelCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    box = QRectF(pen.box)
    if cell.index is not None:
        colour = pen.theme.color("dis") if pen.muted else pen.theme.model_color(cell.index)
        size = BOOK.icon_size(MARK)
        centre = QPointF(box.x() + size / 2 + 1, box.center().y())
        pen.shape(pen.theme.model_shape(cell.index), centre, size, colour)
        box.setLeft(box.x() + size + 12)
    role = "body" if pen.muted else "strong" if cell.strong else "name"
    drawn = pen.text(cell.name, box, role)
    if cell.suffix:
        box.setLeft(box.x() + drawn + 8)
        # A beginning of it says nothing; the name needs the room first.
        if box.width() >= BOOK.metrics("caption").horizontalAdvance(cell.suffix):
            pen.text(cell.suffix, box, "caption", "text3" if pen.muted else "text2")


@draw.register
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


@draw.register
def _icon_text(cell: IconTextCell, pen: Pen) -> None:
    box = QRectF(pen.box)
    if cell.icon:
        pen.icon(cell.icon, cell.icon_tone, box.x())
        box.setLeft(box.x() + BOOK.icon_size(16) + 6)
    drawn = pen.text(cell.text, box, "body", "text3" if pen.muted else cell.tone)
    pen.link_row(cell.links, box.x() + drawn + 10)


@draw.register
def _two_lines(cell: TwoLineCell, pen: Pen) -> None:
    _lines(pen, pen.box, cell.title, cell.second, "name")


def _lines(pen: Pen, box: QRectF, title: str, second: str, role: str) -> None:
    first, below = BOOK.metrics(role).height(), BOOK.metrics("caption").height()
    top = box.center().y() - (first + below + 3) / 2
    pen.text(title, QRectF(box.x(), top, box.width(), first), role)
    second_ink = "text3" if pen.muted else "text2"
    pen.text(second, QRectF(box.x(), top + first + 3, box.width(), below), "caption", second_ink)


@draw.register
def _title_marks(cell: TitleMarksCell, pen: Pen) -> None:
    if pen.links is not None:
        return
    box = QRectF(pen.box)
    marks = BOOK.icon_size(_STEP) * len(cell.marks)
    number = BOOK.scaled(20)
    first = BOOK.metrics("strong").height()
    top = box.center().y() - (first + BOOK.metrics("caption").height() + 3) / 2
    pen.text(cell.number, QRectF(box.x(), top, number, first), "body", "text2", right=True)
    box.setLeft(box.x() + number + 10)
    words = box.adjusted(0, 0, -(marks + 8) if marks else 0, 0)
    _lines(pen, words, cell.title, cell.second, "strong" if pen.selected else "name")
    _marks_row(pen, cell.marks, QRectF(box.x(), top, box.width(), first))


@draw.register
def _marks(cell: MarksCell, pen: Pen) -> None:
    if pen.links is None:
        _marks_row(pen, cell.marks, pen.box)


def _marks_row(pen: Pen, marks: tuple[bool | None, ...], box: QRectF) -> None:
    step, size = BOOK.icon_size(_STEP), BOOK.icon_size(16)
    left = box.right() - step * len(marks) + (step - size) / 2
    for mark in marks:
        name, ink = ("check", "good") if mark else ("close", "bad") if mark is False else ("minus", "text3")
        place = QRectF(left, box.center().y() - size / 2, size, size)
        theme_icons.draw(pen.painter, name, pen.theme[ink], place)
        left += step


@draw.register
def _links(cell: LinksCell, pen: Pen) -> None:
    pen.link_row(cell.links, pen.box.x(), right=True)
