"""All calls of a run as a table that reads only what it shows: 100,000 rows open at once.

The model holds the row numbers of the store in their order and a few pages of light rows. Sorting and
filtering are asked of the store by the page (`order_wanted`, `filter_wanted`); rows that are not here
yet are asked for with `rows_wanted` and arrive with `take_rows`. GUI thread only.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Collection, Sequence
from typing import Any

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from arena_desktop.cells import Column, Role, Shown
from arena_desktop.itemmodels.call_columns import ORDERS
from arena_desktop.itemmodels.call_pages import PAGE, CallPages
from arena_desktop.itemmodels.column_roles import ALIGN, head_data, shown
from engine.domain import CallStatus
from engine.storage.rows import CallOrder, CallRow

Index = QModelIndex | QPersistentModelIndex

UNREAD = "…"
"""What stands where a call is still being read."""


class CallsTable(QAbstractTableModel):
    """A `TableRows` over calls in the store."""

    counts_changed = Signal(int, int)
    rows_wanted = Signal(int, int)
    """First row and row after the last of a window that is to be read."""
    order_wanted = Signal(object)
    """CallOrder: the person sorts."""
    filter_wanted = Signal(str)
    """Another text is to be looked for; empty = everything."""

    page_entered = Signal(int)
    """Rows of another page (of `PAGE` rows) are looked at."""
    texts_wanted = Signal(object, object, object, object)
    """For copying calls that are not here: their numbers, `line(record)` gives the texts of one, `make`
    makes something of all lines, `take` takes it. Line and make may be called on another thread."""

    def __init__(self, columns: Sequence[Column[CallRow]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._pages = CallPages(self.rows_wanted.emit, self.page_entered.emit)
        self._total = 0
        self._order: tuple[str, Qt.SortOrder] | None = None
        self._text = ""

    # contents

    def set_calls(self, ids: array[int], total: int, first: Sequence[CallRow] = ()) -> None:
        """The calls in their order; `first` are the rows of the first window, where they are here.

        The same calls in the same order, as they come again and again during a run, change nothing
        but what is known of them.
        """
        if len(ids) and self._pages.same(ids):
            self._total = total
            self._pages.renew(first)
            self.dataChanged.emit(self.index(0, 0), self.index(len(ids) - 1, len(self._columns) - 1))
        else:
            self.beginResetModel()
            self._total = total
            self._pages.set(ids, first)
            self.endResetModel()
        self.counts_changed.emit(len(ids), total)

    def set_columns(self, columns: Sequence[Column[CallRow]]) -> None:
        """Other columns over the same calls; the order stays where its column does."""
        self.beginResetModel()
        self._columns = tuple(columns)
        if self._order is not None and self.section_of(self._order[0]) < 0:
            self._order = None
        self.endResetModel()

    def ids(self, start: int, end: int) -> list[int]:
        """The store's numbers of some rows."""
        return self._pages.ids(start, end)

    def take_rows(self, start: int, rows: Sequence[CallRow]) -> None:
        """The rows of a window that was asked for; those of an order that is over are dropped."""
        if self._pages.take(start, rows):
            last = self.index(start + len(rows) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(start, 0), last)

    def give_up(self, start: int) -> None:
        """A window that was asked for is not read; it is asked for again when it is looked at."""
        self._pages.give_up(start)

    def ask_page(self, page: int) -> None:
        """Asks for a page before anybody looks at it."""
        self._pages.ask(page)

    def record(self, row: int) -> CallRow | None:
        """The call in a row; None while it is being read."""
        return self._pages.record(row)

    def here(self, row: int) -> CallRow | None:
        """The call in a row where it is here; asks for nothing."""
        return self._pages.here(row)

    def shown(self, row: int, section: int) -> Shown:
        """What is drawn in a cell; dots where the call is still being read."""
        record = self._pages.record(row)
        if record is None:
            return Shown(UNREAD if section == 0 else "")
        return shown(self._columns[section], record, muted=record.status is not CallStatus.OK)

    def read_texts(
        self,
        rows: Sequence[int],
        sections: Sequence[int],
        make: Callable[[Sequence[Sequence[str]]], Any],
        take: Callable[[Any], None],
    ) -> bool:
        """Reads the texts of rows that are not here, off this thread; `take(make(texts))` follows then.
        False where all is here."""
        if len(rows) <= PAGE and self._pages.all_here(rows):
            return False
        columns = [self._columns[section] for section in sections]

        def line(record: CallRow) -> list[str]:
            return [column.text(record) for column in columns]

        self.texts_wanted.emit([self._pages.id(row) for row in rows], line, make, take)
        return True

    # what the table view asks

    def column_at(self, section: int) -> Column[CallRow]:
        """The column of a section."""
        return self._columns[section]

    def shown_count(self) -> int:
        """How many calls pass the filter."""
        return len(self._pages)

    def total_count(self) -> int:
        """How many calls the run has."""
        return self._total

    def section_of(self, column_id: str) -> int:
        """The section of a column id, or -1."""
        return next((n for n, column in enumerate(self._columns) if column.id == column_id), -1)

    def row_key(self, row: int) -> int:
        """The store's number of a row."""
        return self._pages.id(row)

    def row_of(self, key: int) -> int:
        """The row of a store's number, or -1."""
        return self._pages.row_of(key)

    def rows_of(self, keys: Collection[int]) -> list[int]:
        """The rows of these numbers, top to bottom."""
        return self._pages.rows_of(keys)

    def filter_text(self) -> str:
        """The text of the filter."""
        return self._text

    def set_filter(self, text: str) -> None:
        """Asks for the calls with this text."""
        if text != self._text:
            self._text = text
            self.filter_wanted.emit(text)

    def sorted_by(self) -> tuple[str, Qt.SortOrder] | None:
        """Column id and direction, or None for the order of the plan."""
        return self._order

    def order(self) -> CallOrder:
        """The order as the store understands it."""
        if self._order is None:
            return CallOrder()
        column_id, direction = self._order
        return CallOrder(ORDERS[column_id], direction == Qt.SortOrder.DescendingOrder)

    # Qt

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Asks for another order; -1 is the order of the plan."""
        usable = 0 <= column < len(self._columns) and self._columns[column].id in ORDERS
        self._order = (self._columns[column].id, order) if usable else None
        self.order_wanted.emit(self.order())

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._pages)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._pages):
            return None
        column = self._columns[index.column()]
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return ALIGN[column.align]
        if role not in _ROLES:
            return None
        record = self.record(index.row())
        if role == Role.RECORD:
            return record
        if record is None:
            return UNREAD if role in _TEXTS and index.column() == 0 else "" if role in _TEXTS else None
        if role == Role.MUTED:
            return record.status is not CallStatus.OK
        if role == Role.CELL:
            return column.cell(record) if column.cell else None
        return column.text(record)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        return head_data(self._columns, section, orientation, role)


_TEXTS = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)
_ROLES = frozenset({*_TEXTS, Role.CELL, Role.RECORD, Role.MUTED})
