"""All calls of a run as a table that reads only what it shows: 100,000 rows open at once.

The model holds the row numbers of the store in their order and a window of light rows. Sorting and
filtering are asked of the store by the page (`order_wanted`, `filter_wanted`); rows that are not here
yet are asked for with `rows_wanted` and arrive with `take_rows`. GUI thread only.
"""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from arena_desktop.cells import UNKNOWN, Align, Column, Role, Shown
from arena_desktop.itemmodels.call_cells import one_line, state_cell
from arena_desktop.itemmodels.column_roles import ALIGN, head_data, shown
from arena_desktop.itemmodels.lanes import ModelHead, chip_text, model_cell
from arena_desktop.wording import formats
from arena_desktop.wording.reasons import error_words
from engine.domain import CallStatus
from engine.storage.rows import CallOrder, CallRow

Index = QModelIndex | QPersistentModelIndex

PAGE = 200
"""Rows that are read at once."""
_KEPT = 50
UNREAD = "…"
"""What stands where a call is still being read."""

ORDERS = {"model": "model", "test": "case", "trial": "trial", "state": "score", "score": "score",
          "wait": "latency", "cost": "cost", "tries": "attempts"}  # fmt: skip
"""Sort key of the store by column."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("CallsTable", text)


def call_columns(heads: Mapping[str, ModelHead], *, trials: int) -> list[Column[CallRow]]:
    """The columns of all calls. `trials` 1 hides which time it was asked."""
    right = Align.RIGHT

    def head(row: CallRow) -> ModelHead:
        key = row.cell.model_key
        return heads.get(key) or ModelHead(key, key, 0)

    return [
        Column("model", _tr("Model"), lambda r: head(r).label, cell=lambda r: model_cell(head(r)),
               width=180, can_hide=False),
        Column("test", _tr("Test"), lambda r: r.cell.case_id, width=140, can_hide=False),
        Column("trial", _tr("Time"), lambda r: str(r.cell.trial), align=right, width=64,
               hidden=trials == 1, help=_tr("Which time the question was asked.")),
        Column("state", _tr("Mark"), lambda r: chip_text(_state(r)), cell=_state, width=116),
        Column("answer", _tr("Answer"), _answer, width=300, stretch=2, sortable=False),
        Column("why", _tr("Why"), _why, width=200, stretch=1, drop=1, tone="text2", sortable=False),
        Column("score", _tr("Score"), lambda r: formats.out_of_100(r.score), align=right, width=72,
               hidden=True),
        Column("wait", _tr("Wait"), lambda r: formats.waiting(r.latency_ms), align=right, width=76),
        Column("cost", _tr("Cost"), lambda r: formats.money_cell(r.cost_usd), align=right, width=120,
               drop=2),
        Column("tries", _tr("Tries"), lambda r: str(r.attempts) if r.attempts else UNKNOWN, align=right,
               width=64, hidden=True),
    ]  # fmt: skip


def _state(row: CallRow) -> Any:
    return state_cell(row.status, row.passed)


def _answer(row: CallRow) -> str:
    return one_line(row.preview) if row.preview else UNKNOWN


def _why(row: CallRow) -> str:
    if row.status is CallStatus.ERROR:
        return error_words(row.error_kind or "", None)
    return one_line(row.reason) if row.reason else ""


class CallsTable(QAbstractTableModel):
    """A `TableRows` over calls in the store."""

    counts_changed = Signal(int, int)
    rows_wanted = Signal(int, int)
    """First row and row after the last of a window that is to be read."""
    order_wanted = Signal(object)
    """CallOrder: the person sorts."""
    filter_wanted = Signal(str)
    """Another text is to be looked for; empty = everything."""

    def __init__(self, columns: Sequence[Column[CallRow]], parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._ids: array[int] = array("q")
        self._total = 0
        self._pages: OrderedDict[int, list[CallRow]] = OrderedDict()
        self._asked: set[int] = set()
        self._order: tuple[int, Qt.SortOrder] | None = None
        self._text = ""

    # contents

    def set_calls(self, ids: array[int], total: int, first: Sequence[CallRow] = ()) -> None:
        """Other calls in their order; `first` are the rows of the first window, where they are here."""
        self.beginResetModel()
        self._ids, self._total = ids, total
        self._pages.clear()
        self._asked.clear()
        if first:
            self._pages[0] = list(first)
        self.endResetModel()
        self.counts_changed.emit(len(ids), total)

    def set_columns(self, columns: Sequence[Column[CallRow]]) -> None:
        """Other columns over the same calls."""
        self.beginResetModel()
        self._columns = tuple(columns)
        self._order = None
        self.endResetModel()

    def ids(self, start: int, end: int) -> list[int]:
        """The store's numbers of some rows."""
        return list(self._ids[start:end])

    def take_rows(self, start: int, rows: Sequence[CallRow]) -> None:
        """The rows of a window that was asked for; those of an order that is over are dropped."""
        page = start // PAGE
        if [row.position for row in rows] != self.ids(start, start + PAGE):
            return
        self._asked.discard(page)
        self._pages[page] = list(rows)
        while len(self._pages) > _KEPT:
            self._pages.popitem(last=False)
        last = self.index(start + len(rows) - 1, len(self._columns) - 1)
        self.dataChanged.emit(self.index(start, 0), last)

    def record(self, row: int) -> CallRow | None:
        """The call in a row; None while it is being read."""
        page, place = divmod(row, PAGE)
        rows = self._pages.get(page)
        if rows is not None:
            return rows[place] if place < len(rows) else None
        if page not in self._asked:
            self._asked.add(page)
            start = page * PAGE
            self.rows_wanted.emit(start, min(start + PAGE, len(self._ids)))
        return None

    def shown(self, row: int, section: int) -> Shown:
        """What is drawn in a cell; dots where the call is still being read."""
        record = self.record(row)
        if record is None:
            return Shown(UNREAD if section == 0 else "")
        return shown(self._columns[section], record, muted=record.status is not CallStatus.OK)

    # what the table view asks

    def column_at(self, section: int) -> Column[CallRow]:
        """The column of a section."""
        return self._columns[section]

    def shown_count(self) -> int:
        """How many calls pass the filter."""
        return len(self._ids)

    def total_count(self) -> int:
        """How many calls the run has."""
        return self._total

    def row_key(self, row: int) -> int:
        """The store's number of a row."""
        return self._ids[row]

    def row_of(self, key: int) -> int:
        """The row of a store's number, or -1."""
        try:
            return self._ids.index(key)
        except ValueError:
            return -1

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
        if self._order is None:
            return None
        section, direction = self._order
        return self._columns[section].id, direction

    def order(self) -> CallOrder:
        """The order as the store understands it."""
        if self._order is None:
            return CallOrder()
        section, direction = self._order
        down = direction == Qt.SortOrder.DescendingOrder
        return CallOrder(ORDERS[self._columns[section].id], down)

    # Qt

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Asks for another order; -1 is the order of the plan."""
        usable = 0 <= column < len(self._columns) and self._columns[column].id in ORDERS
        self._order = (column, order) if usable else None
        self.order_wanted.emit(self.order())

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._ids)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._ids):
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
