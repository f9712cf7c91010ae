"""Rows of plain text as a table model: what "Show as table" beside a chart shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject

from arena_desktop.cells import Align, Column
from arena_desktop.itemmodels.table import ColumnTable


@dataclass(frozen=True, slots=True)
class TextRow:
    """One row; `number` is its place in the original order."""

    number: int
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TextColumn:
    """How one column stands: its width, whether it takes what room is left, words left or figures right."""

    width: int = 120
    stretch: int = 0
    words: bool = False


def text_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    parent: QObject | None = None,
    layout: Sequence[TextColumn] = (),
) -> ColumnTable[TextRow]:
    """A model over heads and rows of equal length. Without a `layout` all but the first column stand
    right and share the room."""
    columns = [
        _column(
            number, head, layout[number] if layout else TextColumn(stretch=number == 0, words=number == 0)
        )
        for number, head in enumerate(heads)
    ]
    return ColumnTable(columns, text_rows(rows), key=lambda row: row.number, parent=parent)


def text_rows(rows: Sequence[Sequence[str]]) -> list[TextRow]:
    """Rows of text as records, for a table that is there already."""
    return [TextRow(number, tuple(row)) for number, row in enumerate(rows)]


def _usual(number: int) -> TextColumn:
    return TextColumn(stretch=int(number == 0), words=number == 0)


def _column(number: int, head: str, stands: TextColumn) -> Column[TextRow]:
    def text(row: TextRow) -> str:
        return row.cells[number]

    def sort(row: TextRow) -> tuple[int, float, str]:
        # Figures by size, words after them by letter.
        cleaned = row.cells[number].lstrip("$").replace(",", "")
        try:
            return (0, float(cleaned), "")
        except ValueError:
            return (1, 0.0, row.cells[number].casefold())

    return Column(
        f"c{number}",
        head,
        text,
        sort=sort,
        align=Align.LEFT if stands.words else Align.RIGHT,
        weight="name" if number == 0 else "body",
        width=stands.width,
        stretch=stands.stretch,
        tip=text if stands.words else None,
    )
