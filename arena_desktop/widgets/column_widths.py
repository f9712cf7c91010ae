"""Widths, order and visibility of a table's columns: never a sideways scroll bar.

Columns get the width the person or the design gave them; what is left goes to the stretching ones.
When it gets too narrow they shrink to their least width, then columns that may go are dropped,
lowest `drop` number first; they come back when there is room.
"""

from __future__ import annotations

from typing import Any

from PySide6.QtCore import QObject, QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QHeaderView, QTableView

from arena_desktop.cells import Column, Role
from arena_desktop.theme import scaled
from arena_desktop.widgets.whole_words import WholeWords

_SMALLEST = 8
_LEAST_STRETCHING = 128
"""A column that stretches holds names: below this nobody could read them."""


class ColumnWidths(QObject):
    """Lays out the columns of one view. `changed` follows what the person did, not what fitting did."""

    changed = Signal()

    def __init__(self, view: QTableView, header: QHeaderView) -> None:
        super().__init__(view)
        self._view, self._header = view, header
        self._words = WholeWords(view)
        self._chosen: dict[str, int] = {}
        self._told: dict[str, bool] = {}  # True = hidden by the person, False = shown
        self._fitting = False
        # The style's own least width grows with the text and would push the last column out.
        header.setMinimumSectionSize(_SMALLEST)
        header.sectionResized.connect(self._on_resized)
        header.sectionMoved.connect(self._on_moved)

    def columns(self) -> list[Column[Any]]:
        """The column data by logical section."""
        model = self._view.model()
        if model is None:
            return []
        wide = Qt.Orientation.Horizontal
        return [model.headerData(section, wide, Role.COLUMN) for section in range(model.columnCount())]

    def reset(self) -> None:
        """As the column data says."""
        self._chosen.clear()
        self._told.clear()
        self._words.forget()
        self._words.look()
        self._put_order([column.id for column in self.columns()])
        self.fit()

    def is_hidden(self, column_id: str) -> bool:
        """Whether the person (or the column data) hid it."""
        return any(self._is_hidden(column) for column in self.columns() if column.id == column_id)

    def _is_hidden(self, column: Column[Any]) -> bool:
        return self._told.get(column.id, column.hidden)

    def set_hidden(self, column_id: str, hidden: bool) -> None:
        """Hides or shows a column."""
        self._told[column_id] = hidden
        self.fit()

    def state(self) -> dict[str, Any]:
        """By column id, so that new or removed columns do no harm later."""
        columns = self.columns()
        order = [columns[self._header.logicalIndex(n)].id for n in range(self._header.count())]
        hidden = sorted(column.id for column in columns if self._is_hidden(column))
        return {"widths": dict(self._chosen), "hidden": hidden, "order": order}

    def restore(self, state: dict[str, Any]) -> None:
        """Takes a state back; unknown ids and odd values are left out."""
        known = {column.id for column in self.columns()}
        widths = state.get("widths")
        if isinstance(widths, dict):
            self._chosen = {k: w for k, w in widths.items() if k in known and isinstance(w, int) and w > 0}
        hidden, order = state.get("hidden"), state.get("order")
        if isinstance(hidden, list):
            # A column that the state has never seen stays as its data says.
            seen = {str(item) for item in order} if isinstance(order, list) else known
            self._told = {name: name in hidden for name in seen & known}
        if isinstance(order, list):
            self._put_order([str(item) for item in order if item in known])
        self.fit()

    def look_anew(self) -> None:
        """Another text size: the columns of figures and states fit what they hold now."""
        self._words.forget()
        self._words.look()
        self.fit()

    def look_at(self, first: int = 0, last: int | None = None) -> None:
        """Rows came or changed (None = all of them): no figure and no state of theirs is cut."""
        if self._words.look(first, last):
            self.fit()

    def fit(self) -> None:
        """Sets all widths for the room there is."""
        columns, room = self.columns(), self._view.viewport().width()
        if not columns or room <= 0 or self._fitting:
            return
        self._fitting = True
        try:
            shown = self._choose(columns, room)
            widths = self._spread(columns, shown, room)
            for section in range(len(columns)):
                self._header.setSectionHidden(section, section not in widths)
                if section in widths:
                    self._header.resizeSection(section, widths[section])
        finally:
            self._fitting = False

    def _choose(self, columns: list[Column[Any]], room: int) -> list[int]:
        shown = [s for s, column in enumerate(columns) if not self._is_hidden(column)]
        for section in sorted((s for s in shown if columns[s].drop > 0), key=lambda s: columns[s].drop):
            if sum(self._least(columns, s) for s in shown) <= room:
                break
            shown.remove(section)
        return shown

    def _spread(self, columns: list[Column[Any]], shown: list[int], room: int) -> dict[int, int]:
        widths = {s: self._wished(columns, s) for s in shown}
        least = {s: self._least(columns, s) for s in shown}
        stretching = [s for s in shown if columns[s].stretch > 0] or shown[-1:]
        spare = room - sum(widths.values())
        if spare > 0:
            total = sum(max(1, columns[s].stretch) for s in stretching)
            for s in stretching:
                widths[s] += spare * max(1, columns[s].stretch) // total
        else:
            for group in (stretching, shown):
                spare = _shrink(widths, least, group, spare)
        rest = room - sum(widths.values())
        if rest > 0 or (rest < 0 and sum(least.values()) <= room):
            widths[stretching[-1]] += rest
        elif rest < 0:
            scale = room / max(1, sum(widths.values()))
            widths = {s: max(_SMALLEST, int(width * scale)) for s, width in widths.items()}
        return widths

    def _wished(self, columns: list[Column[Any]], section: int) -> int:
        column = columns[section]
        return max(self._chosen.get(column.id, scaled(column.width)), self._least(columns, section))

    def _least(self, columns: list[Column[Any]], section: int) -> int:
        column = columns[section]
        least = max(column.minimum, _LEAST_STRETCHING if column.stretch else 0)
        # Whoever made a column narrower by hand wants it so.
        words = 0 if column.id in self._chosen else self._words.of(column)
        return max(scaled(least), self._header.needed_width(section), words)

    def _put_order(self, ids: list[str]) -> None:
        columns = self.columns()
        sections = {column.id: section for section, column in enumerate(columns)}
        with QSignalBlocker(self._header):
            for visual, column_id in enumerate(ids):
                if column_id in sections:
                    self._header.moveSection(self._header.visualIndex(sections[column_id]), visual)
        self._header.viewport().update()
        self._view.viewport().update()

    def _on_resized(self, section: int, old: int, new: int) -> None:
        if self._fitting or old == 0 or new == 0:
            return
        columns = self.columns()
        if section < len(columns):
            self._chosen[columns[section].id] = new
            self.fit()
            self.changed.emit()

    def _on_moved(self, *_args: int) -> None:
        self.fit()
        self.changed.emit()


def _shrink(widths: dict[int, int], least: dict[int, int], group: list[int], spare: int) -> int:
    """Takes -`spare` pixels from the group, down to the least widths; returns what is still missing."""
    slack = {s: widths[s] - least[s] for s in group if widths[s] > least[s]}
    total = sum(slack.values())
    if spare >= 0 or total == 0:
        return spare
    take = min(total, -spare)
    for s, room in slack.items():
        widths[s] -= take * room // total
    return spare + take
