"""What a table of very many calls asks: which calls, in which order, and the light rows on show."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Sequence

from engine.storage import housekeeping, paging
from engine.storage.database import Database
from engine.storage.rows import CallFilter, CallOrder, CallRow, CallsPage
from engine.storage.stopping import stoppable

_EVERYTHING = CallFilter()
_PLAN_ORDER = CallOrder()


class WindowReader:
    """The part of `Reader` for tables. Thread-safe."""

    database: Database

    def calls_page(
        self,
        run_id: str,
        chosen: CallFilter = _EVERYTHING,
        order: CallOrder = _PLAN_ORDER,
        *,
        offset: int = 0,
        limit: int = 200,
    ) -> CallsPage:
        """A window of light rows, planned cells without an outcome included."""
        with self.database.reading() as connection:
            run = housekeeping.row(connection, run_id)
            total = paging.count(connection, run)
            if chosen == _EVERYTHING:
                matching = total
                ids = paging.ordered_ids(connection, run, chosen, order, (offset, limit))
            else:
                # One pass gives both the window and how many there are.
                found = paging.ordered_ids(connection, run, chosen, order)
                matching, ids = len(found), found[offset : offset + limit]
            return CallsPage(tuple(paging.rows_of(connection, ids)), matching, total)

    def call_ids(
        self,
        run_id: str,
        chosen: CallFilter = _EVERYTHING,
        order: CallOrder = _PLAN_ORDER,
        *,
        should_stop: Callable[[], bool] | None = None,
    ) -> array[int]:
        """All matching calls in order as `CallRow.position`s, so that a table can scroll freely
        and read with `call_rows` only what it shows. Raises `Cancelled` on a yes."""
        with self.database.reading() as connection, stoppable(connection, should_stop):
            return paging.ordered_ids(connection, housekeeping.row(connection, run_id), chosen, order)

    def call_count(self, run_id: str) -> int:
        """How many calls a run has, planned ones included."""
        with self.database.reading() as connection:
            return paging.count(connection, housekeeping.row(connection, run_id))

    def matching_cases(
        self, run_id: str, chosen: CallFilter, *, should_stop: Callable[[], bool] | None = None
    ) -> frozenset[str]:
        """The ids of the cases with a matching call. Raises `Cancelled` on a yes."""
        with self.database.reading() as connection, stoppable(connection, should_stop):
            return paging.case_ids(connection, housekeeping.row(connection, run_id), chosen)

    def call_rows(self, ids: Sequence[int]) -> list[CallRow]:
        """The light rows for positions from `call_ids`, in the given order."""
        with self.database.reading() as connection:
            return paging.rows_of(connection, ids)
