"""Chosen rows as ranges: choosing 100,000 rows must not make an object for each of their cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from PySide6.QtCore import QAbstractItemModel, QItemSelection, QItemSelectionModel, QItemSelectionRange

_MOST_RANGES = 1_000
"""Joining more pieces of a selection takes longer than a person waits."""


def row_ranges(selection: QItemSelectionModel) -> list[range]:
    """The rows with a chosen cell, top to bottom, as ranges that do not touch."""
    found = sorted((part.top(), part.bottom() + 1) for part in selection.selection())
    joined: list[range] = []
    for start, stop in found:
        if joined and start <= joined[-1].stop:
            joined[-1] = range(joined[-1].start, max(stop, joined[-1].stop))
        else:
            joined.append(range(start, stop))
    return joined


def chosen_rows(selection: QItemSelectionModel) -> list[int]:
    """The rows with a chosen cell, top to bottom."""
    return [row for part in row_ranges(selection) for row in part]


def ranges_of(rows: Iterable[int]) -> list[range]:
    """Rows in rising order as ranges."""
    joined: list[range] = []
    for row in rows:
        if joined and row == joined[-1].stop:
            joined[-1] = range(joined[-1].start, row + 1)
        else:
            joined.append(range(row, row + 1))
    return joined


def choose_rows(selection: QItemSelectionModel, model: QAbstractItemModel, rows: Sequence[int]) -> bool:
    """Chooses whole rows (in rising order) beside what is chosen. False, and nothing is chosen, where
    they lie too scattered."""
    parts = ranges_of(rows)
    last = model.columnCount() - 1
    if not parts or last < 0 or len(parts) > _MOST_RANGES:
        return False
    chosen = QItemSelection()
    for part in parts:
        chosen.append(QItemSelectionRange(model.index(part.start, 0), model.index(part.stop - 1, last)))
    selection.select(chosen, QItemSelectionModel.SelectionFlag.Select)
    return True
