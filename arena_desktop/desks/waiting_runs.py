"""The runs that wait for their turn, and saved ones that wait to be marked again: first come first served.

Holds them; the run desk starts them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal

from arena_desktop.desks.run_orders import Order, Resume, Wait, WaitingRun, terms_of


class WaitingRuns(QObject):
    """In memory only: closing the program drops what waits. GUI thread only."""

    changed = Signal()
    """What waits, or how, is another thing now."""
    added = Signal(object)
    """WaitingRun: ordered while another run goes on."""
    removed = Signal(object)
    """tuple[WaitingRun, ...]: taken out by the person; `put_back` undoes it."""
    held = Signal(object)
    """WaitingRun: it needs a person, or cannot start. Those behind it go first."""
    freed = Signal()
    """One may start that could not before."""

    def __init__(self) -> None:
        super().__init__()
        self._entries: list[WaitingRun] = []
        self._last = 0

    @property
    def entries(self) -> tuple[WaitingRun, ...]:
        """Those that wait, in the order in which they were ordered."""
        return tuple(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def find(self, number: int) -> WaitingRun | None:
        """The one of that number, or None when it is gone."""
        return next((entry for entry in self._entries if entry.number == number), None)

    def holds(self, wanted: Resume) -> bool:
        """Whether exactly this is to be asked of that run already."""
        kept = [entry.order.resume for entry in self._entries]
        return any(r is not None and (r.run_id, r.again) == (wanted.run_id, wanted.again) for r in kept)

    def holds_run(self, run_id: str) -> bool:
        """Whether a saved run waits to be carried on."""
        return any(entry.order.resume and entry.order.resume.run_id == run_id for entry in self._entries)

    def holds_marking(self, run_id: str) -> bool:
        """Whether a saved run waits to be marked again."""
        found = [entry.order.marking for entry in self._entries]
        return any(marking is not None and marking.run_id == run_id for marking in found)

    def next_up(self) -> WaitingRun | None:
        """The one whose turn it is."""
        return next((entry for entry in self._entries if entry.wait is Wait.TURN), None)

    def add(self, order: Order) -> WaitingRun:
        """At the end of the line."""
        self._last += 1
        entry = WaitingRun(self._last, order, terms_of(order))
        self._entries.append(entry)
        self.changed.emit()
        self.added.emit(entry)
        return entry

    def take(self, number: int) -> WaitingRun | None:
        """Its turn has come: it waits no more."""
        entry = self.find(number)
        if entry is not None:
            self._entries.remove(entry)
            self.changed.emit()
        return entry

    def replace(self, entry: WaitingRun) -> None:
        """The same one waits in another way."""
        for place, old in enumerate(self._entries):
            if old.number == entry.number:
                self._entries[place] = entry
                self.changed.emit()
                if entry.wait in (Wait.ASKS, Wait.CANNOT):
                    self.held.emit(entry)
                elif entry.wait is Wait.TURN:
                    self.freed.emit()
                return

    def remove(self, numbers: Sequence[int]) -> tuple[WaitingRun, ...]:
        """Takes some out because the person does not want them any more."""
        gone = tuple(entry for entry in self._entries if entry.number in numbers)
        if gone:
            self._entries = [entry for entry in self._entries if entry not in gone]
            self.changed.emit()
            self.removed.emit(gone)
        return gone

    def remove_all(self) -> tuple[WaitingRun, ...]:
        """Takes out all that wait."""
        return self.remove([entry.number for entry in self._entries])

    def put_back(self, gone: Sequence[WaitingRun]) -> None:
        """Undoes a removal: each at its old place, and to be looked at anew."""
        back = [replace(entry, wait=Wait.TURN, changes=(), now=None, error=None) for entry in gone]
        known = {entry.number for entry in self._entries}
        self._entries += [entry for entry in back if entry.number not in known]
        self._entries.sort(key=lambda entry: entry.number)
        self.changed.emit()
        self.freed.emit()

    def agree(self, number: int) -> None:
        """The person says yes to the terms of today: it may start as soon as it is its turn."""
        entry = self.find(number)
        if entry is not None and entry.wait is Wait.ASKS and entry.now is not None:
            self.replace(replace(entry, wait=Wait.TURN, agreed=entry.now, changes=(), now=None))

    def look_again(self, number: int) -> None:
        """Lets one that could not start try again."""
        entry = self.find(number)
        if entry is not None and entry.wait in (Wait.ASKS, Wait.CANNOT):
            self.replace(replace(entry, wait=Wait.TURN, changes=(), now=None, error=None))

    def drop(self) -> None:
        """The program ends: nothing is started any more."""
        self._entries.clear()
        self.changed.emit()
