"""How wide columns have to be so that no figure, state or link of theirs is cut.

A cut name is still a name; a cut figure is another figure, and a cut state says nothing. Columns of
figures and of states therefore get the room of their widest words, names what is left.
"""

from __future__ import annotations

from PySide6.QtWidgets import QTableView

from arena_desktop.cells import Align, ChangeCell, ChipCell, Column, IconTextCell, Link, LinksCell, Shown
from arena_desktop.theme import icon_size, scaled
from arena_desktop.widgets.cell_figures import CHANGE_GAP, CHANGE_TRACK
from arena_desktop.widgets.cell_pen import BOOK
from arena_desktop.widgets.chip import chip_size
from arena_desktop.widgets.table_delegate import PADDING, edge

_ROWS_LOOKED_AT = 60
"""About a screen of rows: measuring more would cost more than a cut word far below is worth."""
_WIDEST = 300
"""Pixels of the design: a sentence in a state may be cut, its tip says it whole."""
_GAP = 10


class WholeWords:
    """The widths that the words of one view need. They only grow, so that columns do not jump while
    a run goes on; `forget` begins anew."""

    def __init__(self, view: QTableView) -> None:
        self._view = view
        self._needed: dict[str, int] = {}

    def forget(self) -> None:
        """Another model or another text size."""
        self._needed.clear()

    def of(self, column: Column) -> int:
        """The width that the words of a column need as far as they were looked at; 0 = as it is."""
        return self._needed.get(column.id, 0)

    def look(self, first: int = 0, last: int | None = None) -> bool:
        """Measures rows up to `last`, or all. Answers whether a column needs more than before."""
        model = self._view.model()
        if model is None:
            return False
        BOOK.renew()
        grown = False
        end = min(model.rowCount(), _ROWS_LOOKED_AT)
        rows = range(first, end if last is None else min(last + 1, end))
        for section in range(model.columnCount() if rows else 0):
            column: Column = model.column_at(section)
            before = self._needed.get(column.id, 0)
            widest = max(_width(column, model.shown(row, section)) for row in rows)
            if widest > before:
                self._needed[column.id] = min(widest, scaled(_WIDEST))
                grown = grown or self._needed[column.id] > before
        return grown


def _width(column: Column, shown: Shown) -> int:
    words = _words(column, shown)
    # The check box, where there is one, stands before the words.
    box = icon_size(16) + 8 if shown.check is not None else 0
    return int(words + box + 2 * PADDING + edge(column) + 0.999) if words else 0


def _words(column: Column, shown: Shown) -> float:
    cell = shown.cell
    if isinstance(cell, ChipCell):
        after = _GAP + BOOK.metrics("body").horizontalAdvance(cell.after) if cell.after else 0
        return chip_size(cell.text, cell.tone, cell.icon).width() + after + _links(cell.links)
    if isinstance(cell, IconTextCell):
        icon = BOOK.icon_size(16) + 6 if cell.icon else 0
        return icon + BOOK.metrics("body").horizontalAdvance(cell.text) + _links(cell.links)
    if isinstance(cell, ChangeCell) and cell.before is not None and cell.after is not None:
        words = BOOK.metrics("name").horizontalAdvance(cell.text) + CHANGE_GAP
        return words + min(words, BOOK.scaled(CHANGE_TRACK))
    if isinstance(cell, LinksCell):
        return _links(cell.links)
    if cell is None and column.align is Align.RIGHT:
        return BOOK.metrics(column.weight).horizontalAdvance(shown.text)
    return 0


def _links(links: tuple[Link, ...]) -> float:
    return sum(_GAP + BOOK.metrics("button").horizontalAdvance(link.text) for link in links)
