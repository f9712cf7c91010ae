"""All calls of a run as one table: sorted, filtered and paged by the store."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.itemmodels.calls import PAGE, CallsTable, call_columns
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from engine.storage.rows import CallFilter, CallOrder, CallRow
from engine.storage.store import Store

Read = Callable[[Callable[[Store, Callable[[], bool]], Any], Callable[[Any], None], str], None]
"""Runs `work(store, should_stop)` in the background: work, what takes the answer, a name."""


@dataclass(frozen=True, slots=True)
class _Calls:
    """The answer to "which calls, in which order"."""

    run_id: str
    order: CallOrder
    ids: array[int]
    total: int
    first: tuple[CallRow, ...]


class CallPane(QWidget):
    """Shows what `show_calls` asks for; the page owns the controls that filter."""

    case_wanted = Signal(str)
    """A call was opened: its test."""
    clear_wanted = Signal()
    """The person wants to see everything again."""
    counts_changed = Signal()

    def __init__(self, read: Read) -> None:
        super().__init__()
        self._read = read
        self._run_id = ""
        self._chosen = CallFilter()
        self.table = ArenaTable("table_calls", self.tr("All answers"))
        self.calls = CallsTable(call_columns({}, trials=1), parent=self.table)
        self.table.setModel(self.calls)
        self.calls.rows_wanted.connect(self._read_rows)
        self.calls.order_wanted.connect(lambda _order: self._read_calls())
        self.calls.filter_wanted.connect(lambda _text: self.clear_wanted.emit())
        self.table.activated_row.connect(self._on_activated)
        card = TableCard(self.table)
        card.watch()
        card.clear_pressed.connect(self.clear_wanted)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(card, 1)

    def set_run(self, run_id: str, heads: Mapping[str, ModelHead], *, trials: int) -> None:
        """Another run; nothing is read until it is shown."""
        self._run_id = run_id
        self.calls.set_columns(call_columns(heads, trials=trials))
        self.calls.set_calls(array("q"), 0)

    def show_calls(self, chosen: CallFilter) -> None:
        """The calls that pass the filter."""
        self._chosen = chosen
        self._read_calls()

    def _read_calls(self) -> None:
        run_id, order, chosen = self._run_id, self.calls.order(), self._chosen
        if not run_id:
            return

        def work(store: Store, stop: Callable[[], bool]) -> _Calls:
            ids = store.call_ids(run_id, chosen, order, should_stop=stop)
            total = len(ids) if chosen == CallFilter() else store.call_count(run_id)
            return _Calls(run_id, order, ids, total, tuple(store.call_rows(ids[:PAGE])))

        self._read(work, self._on_calls, "all calls")

    def _on_calls(self, calls: _Calls) -> None:
        if calls.run_id == self._run_id:
            self.calls.set_calls(calls.ids, calls.total, calls.first)
            self.counts_changed.emit()

    def _read_rows(self, start: int, end: int) -> None:
        ids = self.calls.ids(start, end)

        def work(store: Store, _stop: Callable[[], bool]) -> tuple[int, list[CallRow]]:
            return start, store.call_rows(ids)

        self._read(work, self._on_rows, f"call rows {start}")

    def _on_rows(self, answer: tuple[int, list[CallRow]]) -> None:
        self.calls.take_rows(*answer)

    def _on_activated(self, row: CallRow | None) -> None:
        if row is not None:
            self.case_wanted.emit(row.cell.case_id)
