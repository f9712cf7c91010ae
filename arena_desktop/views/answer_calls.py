"""All calls of a run as one table: sorted, filtered and paged by the store."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.itemmodels.call_columns import call_columns
from arena_desktop.itemmodels.call_pages import PAGE
from arena_desktop.itemmodels.calls import CallsTable
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.settings import Settings
from arena_desktop.views.answer_reader import AnswerReader
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.widgets.table_selection import chosen_rows, row_ranges
from engine.errors import Cancelled
from engine.storage.rows import CallFilter, CallRow
from engine.storage.store import Store

_WAITING = 3
"""Pages that wait to be read. Who drags the scroll bar passes many; the last ones count."""
_COPIED_AT_ONCE = 2_000
_IDLE_MS = 60
"""After this time without another page the ones beside it are read ahead."""


@dataclass(frozen=True, slots=True)
class _Calls:
    """The answer to "which calls, in which order"."""

    run_id: str
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

    def __init__(self, reader: AnswerReader, settings: Settings) -> None:
        super().__init__()
        self._reader = reader
        self._run_id = ""
        self._chosen = CallFilter()
        self._wanted: list[tuple[int, int]] = []
        self._reading = False
        self._page = 0
        self._ahead = QTimer(self, singleShot=True, interval=_IDLE_MS)
        self._ahead.timeout.connect(self._read_ahead)
        self.table = ArenaTable("table_calls", self.tr("All answers"))
        self.calls = CallsTable(call_columns({}, trials=1), parent=self.table)
        self.table.setModel(self.calls)
        self.table.remember(settings)
        self.calls.rows_wanted.connect(self._on_rows_wanted)
        self.calls.page_entered.connect(self._on_page_entered)
        self.calls.texts_wanted.connect(self._read_texts)
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

    # what is chosen

    def chosen_calls(self) -> list[CallRow]:
        """The chosen calls, top to bottom; those that are not here are read now."""
        rows = chosen_rows(self.table.selectionModel())
        here = {row: self.calls.here(row) for row in rows}
        missing = [row for row, call in here.items() if call is None]
        if missing:
            read = self._reader.store().call_rows([self.calls.row_key(row) for row in missing])
            found = {call.position: call for call in read}
            here.update({row: found.get(self.calls.row_key(row)) for row in missing})
        return [call for call in here.values() if call is not None]

    def chosen_count(self) -> int:
        """How many calls are chosen, without reading any."""
        return sum(len(part) for part in row_ranges(self.table.selectionModel()))

    # which calls

    def _read_calls(self) -> None:
        run_id, order, chosen = self._run_id, self.calls.order(), self._chosen
        if not run_id:
            return

        def work(store: Store, stop: Callable[[], bool]) -> _Calls:
            ids = store.call_ids(run_id, chosen, order, should_stop=stop)
            total = len(ids) if chosen == CallFilter() else store.call_count(run_id)
            return _Calls(run_id, ids, total, tuple(store.call_rows(ids[:PAGE])))

        self._reader.read(work, self._on_calls, "all calls")

    def _on_calls(self, calls: _Calls) -> None:
        if calls.run_id == self._run_id:
            self._wanted.clear()
            self.calls.set_calls(calls.ids, calls.total, calls.first)
            self.counts_changed.emit()

    # their rows

    def _on_rows_wanted(self, start: int, end: int) -> None:
        self._wanted.append((start, end))
        if not self._reading:
            self._read_next()

    def _read_next(self) -> None:
        """Reads the page asked for last: it is the one that is looked at."""
        while len(self._wanted) > _WAITING:
            self.calls.give_up(self._wanted.pop(0)[0])
        if not self._wanted:
            return
        self._reading = True
        start, end = self._wanted.pop()
        ids = self.calls.ids(start, end)

        def work(store: Store, _stop: Callable[[], bool]) -> tuple[int, list[CallRow]]:
            return start, store.call_rows(ids)

        def failed() -> None:
            self._reading = False
            self.calls.give_up(start)

        self._reader.read(work, self._on_rows, "call rows", failed)

    def _on_rows(self, answer: tuple[int, list[CallRow]]) -> None:
        self._reading = False
        self.calls.take_rows(*answer)
        self._read_next()

    def _on_page_entered(self, page: int) -> None:
        self._page = page
        self._ahead.start()

    def _read_ahead(self) -> None:
        for page in (self._page - 1, self._page + 1):
            self.calls.ask_page(page)

    def _read_texts(
        self,
        ids: Sequence[int],
        line: Callable[[CallRow], list[str]],
        make: Callable[[list[list[str]]], Any],
        take: Callable[[Any], None],
    ) -> None:
        """Calls that are not here, for copying; only their texts are kept."""

        def work(store: Store, stop: Callable[[], bool]) -> Any:
            lines: list[list[str]] = []
            for start in range(0, len(ids), _COPIED_AT_ONCE):
                if stop():
                    raise Cancelled
                lines += map(line, store.call_rows(ids[start : start + _COPIED_AT_ONCE]))
            return make(lines)

        self._reader.read(work, take, "copy calls")

    def _on_activated(self, row: CallRow | None) -> None:
        if row is not None:
            self.case_wanted.emit(row.cell.case_id)
