"""Where every admitted job is on its way from its start to a durable record."""

from __future__ import annotations

from dataclasses import replace

from engine.domain import Attempt, CallStatus, Cell
from engine.execution.jobs import Job, JobKind, Tally
from engine.execution.messages import Ticket
from engine.scoring.seams import MarkRequest
from engine.storage.records import DoneWrite


class Books:
    """A job is under way, then scoring (its answer is stored), then committing, then gone.

    Jobs that come back wait without a slot and keep their log. One thread owns the books.
    """

    def __init__(self) -> None:
        self._under_way: dict[int, Ticket] = {}
        self._waiting: dict[int, Ticket] = {}
        self._scoring: dict[Cell, Job] = {}
        self._committing: dict[Cell, Job] = {}
        self._late: set[Cell] = set()
        self.unsaved = 0

    def begin(self, job: Job, tally: Tally, request: MarkRequest | None = None) -> Ticket:
        """A job was admitted; what came before it is on its ticket, and what the judge is asked."""
        before = self._waiting.pop(job.item, None)
        ticket = Ticket(
            job,
            tally,
            before.log if before else (),
            before.first_started_at if before else None,
            request,
        )
        self._under_way[job.id] = ticket
        return ticket

    def holds(self, job: Job) -> bool:
        """True where the job's record is still awaited; False after it was given up."""
        return job.id in self._under_way

    def under_way(self) -> list[Ticket]:
        """Jobs whose record is awaited, oldest first."""
        return list(self._under_way.values())

    def is_scoring(self, job: Job) -> bool:
        """True where the job's answer is stored and its mark is awaited."""
        return job.cell in self._scoring

    def come_back(self, ticket: Ticket, attempt: Attempt) -> None:
        """The attempt failed and its cell waits for the next one."""
        del self._under_way[ticket.job.id]
        began = ticket.first_started_at or attempt.started_at
        self._waiting[ticket.job.item] = replace(ticket, log=(*ticket.log, attempt), first_started_at=began)

    def left_waiting(self, item: int) -> Ticket | None:
        """A cell or a request to the judge ends while it waits: what it went through."""
        return self._waiting.pop(item, None)

    def leave(self, job: Job) -> None:
        """The job is over without a record of its own: its answer awaits a judge, or it was one's."""
        del self._under_way[job.id]
        if job.kind is JobKind.CALL:
            self._scoring.pop(job.cell, None)

    def score(self, job: Job) -> None:
        """The job's answer is on its way to the store, its mark follows."""
        self._scoring[job.cell] = job

    def commit(self, job: Job) -> None:
        """The job's record is on its way to the store."""
        del self._under_way[job.id]
        self._scoring.pop(job.cell, None)
        self._committing[job.cell] = job
        self.unsaved += 1

    def came_late(self, cell: Cell) -> None:
        """An answer came after its cell was given up: it is stored and not told."""
        self._late.add(cell)

    def answer_is_durable(self, cell: Cell) -> Job | None:
        """The job whose lane is free now."""
        return self._scoring.get(cell) or self._committing.get(cell)

    def record_is_durable(self, write: DoneWrite) -> tuple[bool, Job | None]:
        """Whether this is to be told, and the job that is finished with it, if it held slots."""
        done = write.done
        if done.cell in self._late and done.status is CallStatus.OK:
            return False, None
        self.unsaved -= 1
        return True, self._committing.pop(done.cell, None)
