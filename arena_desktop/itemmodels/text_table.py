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


def text_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], parent: QObject | None = None
) -> ColumnTable[TextRow]:
    """A model over heads and rows of equal length; all but the first column stand right."""
    columns = [_column(number, head) for number, head in enumerate(heads)]
    records = [TextRow(number, tuple(row)) for number, row in enumerate(rows)]
    return ColumnTable(columns, records, key=lambda row: row.number, parent=parent)


def _column(number: int, head: str) -> Column[TextRow]:
    def text(row: TextRow) -> str:
        return row.cells[number]

    def sort(row: TextRow) -> tuple[int, float, str]:
        # Figures by size, words after them by letter.
        cleaned = row.cells[number].lstrip("$").replace(",", "")
        try:
            return (0, float(cleaned), "")
        except ValueError:
            return (1, 0.0, row.cells[number].casefold())

    first = number == 0
    return Column(
        f"c{number}",
        head,
        text,
        sort=sort,
        align=Align.LEFT if first else Align.RIGHT,
        weight="name" if first else "body",
        stretch=1 if first else 0,
    )
