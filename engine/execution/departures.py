"""How an admitted attempt leaves: its reservation first, then its call. One thread owns it."""

from __future__ import annotations

import threading

from engine.execution import events as ev
from engine.execution.arrivals import Arrivals
from engine.execution.executor import Executor
from engine.execution.jobs import Job, JobKind
from engine.execution.machinery import Machinery
from engine.execution.messages import Ticket
from engine.storage.records import SpendWrite, Write

LEFT_BEHIND_S = 2.0
"""How long "stop now" waits for threads that do not come back."""


class Departures:
    """Starts attempts, holds those whose reservation is not durable yet, and gives them up.

    `abandon_at` is when waiting for what was cut ends; `abandoned` that something did not come back.
    """

    def __init__(
        self, parts: Machinery, arrivals: Arrivals, executor: Executor, stop_event: threading.Event
    ) -> None:
        self._dispatcher, self._narrator = parts.dispatcher, parts.narrator
        self._save = parts.recorder.submit
        self._arrivals = arrivals
        self._executor = executor
        self._stop_event = stop_event
        self._booked: dict[int, tuple[SpendWrite, Ticket]] = {}
        self._closed = False
        self.abandon_at: float | None = None
        self.abandoned = False

    def start(self, job: Job) -> None:
        """A job holds its slots now. With ceilings its call leaves once its reservation is durable."""
        arrivals = self._arrivals
        asked = arrivals.desk.request_of(job) if job.kind is JobKind.JUDGE else None
        ticket = arrivals.books.begin(job, self._dispatcher.tally(job), asked)
        self._narrator.money_changed = self._narrator.counts_changed = True
        account = arrivals.account(job.payer)
        if account:
            self._save(*account)
        if account and self._dispatcher.ledger.ceilings.any:
            # Its reservation first: after a kill nothing may have been asked that is not on the account.
            self._booked[id(account[0])] = (account[0], ticket)
        else:
            self._begin(ticket)

    def committed(self, write: Write) -> None:
        """An account is durable; the attempt that waited for it may leave."""
        booked = self._booked.pop(id(write), None)
        if booked is not None:
            self._begin(booked[1])

    def _begin(self, ticket: Ticket) -> None:
        """The attempt may leave now, unless its cell was given up meanwhile."""
        if not self._arrivals.books.holds(ticket.job):
            return
        is_call = ticket.job.kind is JobKind.CALL
        if self._stop_event.is_set() or self._closed or (is_call and self._dispatcher.stopping):
            self._arrivals.give_up(ticket, "Stopped before it was asked.", asked=False)
            return
        if is_call:
            self._narrator.tell(ev.Started, cell=ticket.job.cell)
        self._executor.start(ticket)

    def close(self) -> None:
        """Nothing leaves any more; what waits for its reservation is given up."""
        self._closed = True
        for _, ticket in self._booked.values():
            self._begin(ticket)
        self._booked.clear()

    # ---- stop now

    def cut(self, now: float) -> None:
        """Asks what is under way to end at once, and sets the moment at which waiting for it ends."""
        if self.abandon_at is None:
            self._stop_event.set()
            self._executor.stop_now()
            self._dispatcher.stop_judges()
            self.abandon_at = now + LEFT_BEHIND_S
            self._narrator.stopping("stop_now", len(self._dispatcher.in_flight()))

    def abandon_late(self, now: float) -> None:
        """Past that moment, records what did not come back as stopped; its threads are left behind."""
        if self.abandon_at is None or now < self.abandon_at:
            return
        self.abandon_at = None
        never_asked = {ticket.job.id for _, ticket in self._booked.values()}
        for ticket in self._arrivals.books.under_way():
            self.abandoned = True
            asked = ticket.job.id not in never_asked
            self._arrivals.give_up(ticket, "Stopped before the answer came.", asked=asked)
