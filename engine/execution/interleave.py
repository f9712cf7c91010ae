"""Smooth weighted round robin: which lane starts next, in proportion to the widths."""

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class SmoothRoundRobin(Generic[K]):
    """Credit per key. A pick costs O(number of keys that may start)."""

    def __init__(self) -> None:
        self._credit: dict[K, int] = {}

    def pick(self, weights: Sequence[tuple[K, int]]) -> K:
        """The key that starts next. Only the keys given earn credit; ties go to the first given."""
        total = 0
        best: K | None = None
        most = 0
        for key, weight in weights:
            total += weight
            credit = self._credit.get(key, 0) + weight
            self._credit[key] = credit
            if best is None or credit > most:
                best, most = key, credit
        if best is None:
            raise ValueError("there is nothing to pick from")
        self._credit[best] = most - total
        return best


def interleave(rows: Mapping[K, Sequence[V]], weights: Mapping[K, int]) -> Iterator[V]:
    """Rows of several lanes mixed in proportion to the weights, each lane in its own order.

    Widths A3 B1 C2 with rows A6 B2 C4 give A C A B C A A C A B C A.
    """
    left = {key: deque(items) for key, items in rows.items() if items}
    robin: SmoothRoundRobin[K] = SmoothRoundRobin()
    while left:
        key = robin.pick([(k, weights[k]) for k in left])
        yield left[key].popleft()
        if not left[key]:
            del left[key]
