"""Whose turn it is: what is ordered starts at once or waits, and what waited is looked at anew first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from arena_desktop.desks.run_orders import Order, Wait, WaitingRun
from arena_desktop.desks.waiting_runs import WaitingRuns
from engine.errors import ArenaError, UserError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from engine.keystore import KeyStore


class Starter(Protocol):
    """What the turns are taken for."""

    @property
    def busy(self) -> bool:
        """Whether a run or a marking goes on, or one is being looked at."""

    @property
    def can_start(self) -> bool:
        """Whether nothing but the order of the line speaks against a start."""

    def begin(self, order: Order, *, waited: bool = False, left_out: tuple[str, ...] = ()) -> None:
        """Starts it now."""


class RunTurns:
    """The line and its first one. GUI thread only; `changed` follows each change of either."""

    def __init__(
        self, starter: Starter, keys: KeyStore, background: Background, changed: Callable[[], None]
    ) -> None:
        self._starter, self._keys, self._background, self._changed = starter, keys, background, changed
        self.checking: int | None = None
        """The number of the one that is being looked at."""
        self.waiting = WaitingRuns()
        self.waiting.freed.connect(self.start_next)
        self.waiting.changed.connect(changed)

    def take_on(self, order: Order) -> None:
        """Starts it, or lets it wait where something goes on or waits already."""
        if self._starter.busy or self.waiting.next_up() is not None:
            self.waiting.add(order)
            self.start_next()
        else:
            self._starter.begin(order)

    def start_next(self) -> None:
        """Looks at the run whose turn it is, if none goes on; it starts when nothing speaks against it."""
        entry = self.waiting.next_up()
        if entry is None or not self._starter.can_start:
            return
        self.checking = entry.number
        self.waiting.replace(replace(entry, wait=Wait.CHECKING))
        order, keys = entry.order, self._keys

        def work(job: Job) -> Order:
            return order.looked_at_anew(keys, lambda: job.stopped)

        self._background.run(work, self._on_looked, self._on_not_looked, name="look at the next run")
        self._changed()

    def _checked(self) -> WaitingRun | None:
        """The one that was looked at; None where it was removed meanwhile."""
        number, self.checking = self.checking, None
        return None if number is None else self.waiting.find(number)

    def _on_looked(self, order: Order) -> None:
        entry = self._checked()
        if entry is not None:
            looked = entry.looked_at(order)
            if looked.wait is Wait.ASKS:
                self.waiting.replace(looked)
            else:
                self.waiting.take(looked.number)
                self._starter.begin(looked.order, waited=True, left_out=looked.left_out)
        self.start_next()
        self._changed()

    def _on_not_looked(self, error: Exception) -> None:
        entry = self._checked()
        mine = isinstance(error, ArenaError)
        if entry is not None:
            told = error if mine else UserError("not_looked_at", "It could not be looked at again.")
            self.waiting.replace(replace(entry, wait=Wait.CANNOT, error=told))
        self.start_next()
        self._changed()
        if not mine:
            raise error
