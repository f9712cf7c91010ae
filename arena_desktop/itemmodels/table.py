"""The generic table model: columns as data, sorting and filtering in the model itself.

One model for every table of the program. Records are kept in their own order; what is shown is an
index list over them, so that "original order" is always there and no proxy stands between the view
and the records. GUI thread only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from typing import Any, Generic, TypeVar

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, Qt, Signal

from arena_desktop.cells import Column, Role, Shown
from arena_desktop.itemmodels.column_roles import READERS, head_data, shown

R = TypeVar("R")
Index = QModelIndex | QPersistentModelIndex


class ColumnTable(QAbstractTableModel, Generic[R]):
    """Rows of records seen through columns.

    `key` names a record so that selection survives new data; `muted` tells rows that are left out
    and shown grey. `counts_changed(shown, total)` follows every change of either.
    """

    counts_changed = Signal(int, int)

    def __init__(
        self,
        columns: Sequence[Column[R]],
        rows: Iterable[R] = (),
        *,
        key: Callable[[R], Hashable] = id,
        muted: Callable[[R], bool] | None = None,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._key = key
        self._muted = muted
        self._rows: list[R] = list(rows)
        self._search: list[str | None] = [None] * len(self._rows)
        self._text = ""
        self._predicate: Callable[[R], bool] | None = None
        self._order: tuple[int, Qt.SortOrder] | None = None
        self._shown: list[int] = list(range(len(self._rows)))

    # records

    @property
    def columns(self) -> tuple[Column[R], ...]:
        """The columns in their order."""
        return self._columns

    def rows(self) -> tuple[R, ...]:
        """All records in their own order, shown or not."""
        return tuple(self._rows)

    def shown_rows(self) -> tuple[R, ...]:
        """The records as shown: filtered and sorted."""
        return tuple(self._rows[index] for index in self._shown)

    def record(self, row: int) -> R:
        """The record in a shown row."""
        return self._rows[self._shown[row]]

    def shown(self, row: int, section: int) -> Shown:
        """What is drawn in a cell."""
        record = self._rows[self._shown[row]]
        muted = self._muted is not None and bool(self._muted(record))
        return shown(self._columns[section], record, muted=muted)

    def set_rows(self, rows: Iterable[R]) -> None:
        """Takes new records. When keys and order stay the same only values change (no reset)."""
        fresh = list(rows)
        same = [self._key(row) for row in fresh] == [self._key(row) for row in self._rows]
        if not same:
            self.beginResetModel()
            self._rows = fresh
            self._search = [None] * len(fresh)
            self._shown = self._arranged()
            self.endResetModel()
            self._tell_counts()
            return
        self._rows = fresh
        self._search = [None] * len(fresh)
        shown = self._arranged()
        if shown != self._shown:
            self._rearrange(shown)
        self._tell_all_changed()

    def replace(self, record: R) -> bool:
        """Puts a new value in the place of the record with the same key. False when there is none."""
        wanted = self._key(record)
        for position, old in enumerate(self._rows):
            if self._key(old) == wanted:
                self._rows[position] = record
                self._search[position] = None
                if position in self._shown:
                    row = self._shown.index(position)
                    self.dataChanged.emit(self.index(row, 0), self.index(row, len(self._columns) - 1))
                return True
        return False

    def set_columns(self, columns: Sequence[Column[R]]) -> None:
        """Other columns over the same records."""
        self.beginResetModel()
        self._columns = tuple(columns)
        self._search = [None] * len(self._rows)
        self._order = None
        self._shown = self._arranged()
        self.endResetModel()

    # what the table view asks

    def column_at(self, section: int) -> Column[R]:
        """The column of a section."""
        return self._columns[section]

    def section_of(self, column_id: str) -> int:
        """The section of a column id, or -1."""
        return next((n for n, column in enumerate(self._columns) if column.id == column_id), -1)

    def shown_count(self) -> int:
        """How many rows the filter lets through."""
        return len(self._shown)

    def total_count(self) -> int:
        """How many records there are."""
        return len(self._rows)

    def row_key(self, row: int) -> Hashable:
        """The key of a shown row."""
        return self._key(self.record(row))

    def row_of(self, key: Hashable) -> int:
        """The shown row of a key, or -1."""
        return next((row for row, at in enumerate(self._shown) if self._key(self._rows[at]) == key), -1)

    def rows_of(self, keys: Collection[Hashable]) -> list[int]:
        """The shown rows of these keys, top to bottom."""
        wanted = set(keys)
        return [row for row, at in enumerate(self._shown) if self._key(self._rows[at]) in wanted]

    def read_texts(self, *_asked: object) -> bool:
        """False: every record is here, so there is nothing to wait for before its text is taken."""
        return False

    def filter_text(self) -> str:
        """The text of the filter."""
        return self._text

    def set_filter(self, text: str) -> None:
        """Shows rows in which every word of `text` occurs in some column, whatever its case."""
        if text != self._text:
            self._text = text
            self._refilter()

    def set_predicate(self, predicate: Callable[[R], bool] | None) -> None:
        """A second condition beside the text, from the page's own controls. None = all."""
        self._predicate = predicate
        self._refilter()

    def sorted_by(self) -> tuple[str, Qt.SortOrder] | None:
        """Column id and direction, or None for the original order."""
        if self._order is None:
            return None
        section, direction = self._order
        return self._columns[section].id, direction

    # Qt

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._shown)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008 - Qt's own signature
        return 0 if parent.isValid() else len(self._columns)

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._shown):
            return None
        record = self.record(index.row())
        column = self._columns[index.column()]
        answer = READERS.get(role)
        if answer is not None:
            return answer(column, record)
        if role == Role.RECORD:
            return record
        if role == Role.MUTED:
            return bool(self._muted and self._muted(record))
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:
        if not index.isValid():
            return False
        column, record = self._columns[index.column()], self.record(index.row())
        if role == Qt.ItemDataRole.CheckStateRole and column.check is not None:
            column.check(record, Qt.CheckState(value) == Qt.CheckState.Checked)
            taken = True
        elif role == Qt.ItemDataRole.EditRole and column.put is not None:
            taken = column.put(record, value)
        else:
            return False
        if taken and index.row() < len(self._shown):
            self._search[self._shown[index.row()]] = None
            first = self.index(index.row(), 0)
            self.dataChanged.emit(first, self.index(index.row(), len(self._columns) - 1))
        return taken

    def flags(self, index: Index) -> Qt.ItemFlag:
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
        column = self._columns[index.column()]
        if column.checked is not None:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        if column.put is not None:
            flags |= Qt.ItemFlag.ItemIsEditable
        return flags

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> Any:
        return head_data(self._columns, section, orientation, role)

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts the shown rows; `column` -1 brings the original order back. Unknown values stay last."""
        usable = 0 <= column < len(self._columns) and self._columns[column].sortable
        self._order = (column, order) if usable else None
        self._rearrange(self._arranged())

    # inside

    def _refilter(self) -> None:
        shown = self._arranged()
        if shown == self._shown:
            return
        self.beginResetModel()
        self._shown = shown
        self.endResetModel()
        self._tell_counts()

    def _arranged(self) -> list[int]:
        words = self._text.casefold().split()
        rows, keep = self._rows, self._predicate
        shown = [
            at
            for at in range(len(rows))
            if (keep is None or keep(rows[at])) and (not words or self._matches(at, words))
        ]
        return shown if self._order is None else self._sorted(shown, *self._order)

    def _sorted(self, shown: list[int], section: int, order: Qt.SortOrder) -> list[int]:
        column = self._columns[section]
        value = column.sort if column.sort is not None else lambda row: column.text(row).casefold()
        keyed = [(value(self._rows[at]), at) for at in shown]
        known = [pair for pair in keyed if pair[0] is not None]
        unknown = [at for key, at in keyed if key is None]
        known.sort(key=lambda pair: pair[0], reverse=order == Qt.SortOrder.DescendingOrder)
        return [at for _key, at in known] + unknown

    def _matches(self, at: int, words: list[str]) -> bool:
        text = self._search[at]
        if text is None:
            row = self._rows[at]
            text = "\n".join(column.text(row) for column in self._columns).casefold()
            self._search[at] = text
        return all(word in text for word in words)

    def _rearrange(self, shown: list[int]) -> None:
        if len(shown) != len(self._shown):
            self.beginResetModel()
            self._shown = shown
            self.endResetModel()
            self._tell_counts()
            return
        self.layoutAboutToBeChanged.emit()
        old = self.persistentIndexList()
        place = {at: row for row, at in enumerate(shown)}
        before = self._shown
        self._shown = shown
        moved = [self.index(place.get(before[index.row()], -1), index.column()) for index in old]
        self.changePersistentIndexList(old, moved)
        self.layoutChanged.emit()

    def _tell_all_changed(self) -> None:
        if self._shown:
            last = self.index(len(self._shown) - 1, len(self._columns) - 1)
            self.dataChanged.emit(self.index(0, 0), last)
        self._tell_counts()

    def _tell_counts(self) -> None:
        self.counts_changed.emit(len(self._shown), len(self._rows))
