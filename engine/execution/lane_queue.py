"""What waits in one lane: in plan order, until a moment, or set aside."""

from __future__ import annotations

import heapq
from collections.abc import Iterator

from engine.execution.turns import Turns


class LaneQueue:
    """Items of one lane: ready ones by member (model) in plan order, and retries by due time.

    Every operation is O(log n) in the items and O(members) in the models of the lane.
    """

    __slots__ = ("_due", "_parked", "_ready", "turns")

    def __init__(self) -> None:
        self.turns = Turns()
        self._ready: dict[int, list[int]] = {}
        self._due: list[tuple[float, int, int]] = []
        self._parked: set[int] = set()

    def load(self, member: int, items: list[int]) -> None:
        """Sets the items of a member; `items` must be sorted."""
        self._ready[member] = items

    def push(self, member: int, item: int) -> None:
        """Puts an item back at its place in plan order: before everything later."""
        heapq.heappush(self._ready.setdefault(member, []), item)

    def push_due(self, due: float, member: int, item: int) -> None:
        """An item that is ready from `due` on. A parked member's items need no moment."""
        if member in self._parked:
            self.push(member, item)
        else:
            heapq.heappush(self._due, (due, item, member))

    def wake(self, now: float) -> None:
        """Moves what is due to the ready items."""
        self.turns.pass_time(now)
        while self._due and self._due[0][0] <= now:
            _, item, member = heapq.heappop(self._due)
            self.push(member, item)

    def next_due(self) -> float | None:
        """The earliest due time."""
        return self._due[0][0] if self._due else None

    def head(self) -> tuple[int, int] | None:
        """(item, member) that is first in plan order among members that are not parked.

        Members that step back come after all others.
        """
        best: tuple[int, int] | None = None
        after: tuple[int, int] | None = None
        for member, items in self._ready.items():
            if not items or member in self._parked:
                continue
            if self.turns.steps_back(member):
                after = min(after or (items[0], member), (items[0], member))
            elif best is None or items[0] < best[0]:
                best = (items[0], member)
        return best or after

    def pop(self, member: int) -> int:
        """Takes the member's first item."""
        return heapq.heappop(self._ready[member])

    def park(self, member: int) -> None:
        """Keeps the member's items but starts none of them."""
        self._parked.add(member)
        mine = [entry for entry in self._due if entry[2] == member]
        if mine:
            self._due = [entry for entry in self._due if entry[2] != member]
            heapq.heapify(self._due)
            for _, item, _ in mine:
                self.push(member, item)

    def unpark(self, member: int) -> None:
        """Lets the member's items start again."""
        self._parked.discard(member)

    def drain(self, member: int | None = None) -> Iterator[int]:
        """Takes out all items, or those of one member, in plan order."""
        members = list(self._ready) if member is None else [member]
        due = [entry for entry in self._due if member is None or entry[2] == member]
        if due:
            self._due = [entry for entry in self._due if member is not None and entry[2] != member]
            heapq.heapify(self._due)
        taken = [item for _, item, _ in due]
        for m in members:
            taken += self._ready.pop(m, [])
        yield from sorted(taken)

    def ready_count(self) -> int:
        """Items that could start now but for the lane."""
        return sum(len(items) for m, items in self._ready.items() if m not in self._parked)

    def due_count(self) -> int:
        """Items that wait for their moment."""
        return len(self._due)

    def has_work(self) -> bool:
        """True where some item may start now or later by itself."""
        return self.head() is not None or self.next_due() is not None

    def holds_any(self) -> bool:
        """True where any item is left, parked ones included."""
        return bool(self._due) or any(self._ready.values())
