"""Which calls a table shows, at eight bytes a call, and the rows of the pages last looked at."""

from __future__ import annotations

from array import array
from collections import OrderedDict
from collections.abc import Callable, Collection, Sequence

from engine.storage.rows import CallRow

PAGE = 200
"""Rows that are read at once."""
_KEPT = 20
_FEW = 8


class CallPages:
    """Asks for a page once, when a row of it is wanted that is not here, or no longer true.

    `wanted(start, end)` asks for rows; `entered(page)` tells that a row of another page is looked at.
    """

    def __init__(self, wanted: Callable[[int, int], None], entered: Callable[[int], None]) -> None:
        self._wanted, self._entered = wanted, entered
        self._ids: array[int] = array("q")
        self._pages: OrderedDict[int, list[CallRow]] = OrderedDict()
        self._asked: set[int] = set()
        self._old: set[int] = set()
        self._at = -1

    def __len__(self) -> int:
        return len(self._ids)

    def same(self, ids: array[int]) -> bool:
        """Whether these are the same calls in the same order."""
        return ids == self._ids

    def set(self, ids: array[int], first: Sequence[CallRow]) -> None:
        """Other calls or another order."""
        self._ids, self._at = ids, -1
        for kept in (self._pages, self._asked, self._old):
            kept.clear()
        if first:
            self._pages[0] = list(first)

    def renew(self, first: Sequence[CallRow]) -> None:
        """The same calls, of which more may be known: what is here stays until it is read again."""
        self._asked.clear()
        self._old.update(self._pages)
        if first:
            self._put(0, first)

    def take(self, start: int, rows: Sequence[CallRow]) -> bool:
        """The rows of a page that was asked for; False for those of an order that is over."""
        if [row.position for row in rows] != self.ids(start, start + PAGE):
            return False
        self._put(start // PAGE, rows)
        return True

    def give_up(self, start: int) -> None:
        """A page that was asked for does not come; it may be asked for again."""
        self._asked.discard(start // PAGE)

    def ids(self, start: int, end: int) -> list[int]:
        """The store's numbers of some rows."""
        return list(self._ids[start:end])

    def id(self, row: int) -> int:
        """The store's number of a row."""
        return self._ids[row]

    def row_of(self, number: int) -> int:
        """The row of a store's number, or -1."""
        try:
            return self._ids.index(number)
        except ValueError:
            return -1

    def rows_of(self, numbers: Collection[int]) -> list[int]:
        """The rows of these numbers, top to bottom."""
        if len(numbers) <= _FEW:
            return sorted(row for row in map(self.row_of, numbers) if row >= 0)
        wanted = set(numbers)
        return [row for row, number in enumerate(self._ids) if number in wanted]

    def all_here(self, rows: Sequence[int]) -> bool:
        """Whether all these rows are here, as they are now."""
        pages = {row // PAGE for row in rows}
        return all(page in self._pages and page not in self._old for page in pages)

    def here(self, row: int) -> CallRow | None:
        """The call in a row where it is here; asks for nothing."""
        page, place = divmod(row, PAGE)
        rows = self._pages.get(page, [])
        return rows[place] if place < len(rows) else None

    def record(self, row: int) -> CallRow | None:
        """The call in a row; None while it is being read."""
        page, place = divmod(row, PAGE)
        rows = self._pages.get(page)
        if page != self._at:
            self._at = page
            if rows is not None:
                self._pages.move_to_end(page)
            self._entered(page)
        if rows is None or page in self._old:
            self.ask(page)
        return rows[place] if rows is not None and place < len(rows) else None

    def ask(self, page: int) -> None:
        """Asks for a page, unless it is here or on its way, or there is none."""
        start = page * PAGE
        here = page in self._pages and page not in self._old
        if here or page in self._asked or not 0 <= start < len(self._ids):
            return
        self._asked.add(page)
        self._wanted(start, min(start + PAGE, len(self._ids)))

    def _put(self, page: int, rows: Sequence[CallRow]) -> None:
        self._asked.discard(page)
        self._old.discard(page)
        self._pages[page] = list(rows)
        self._pages.move_to_end(page)
        while len(self._pages) > _KEPT:
            gone, _rows = self._pages.popitem(last=False)
            self._old.discard(gone)
