"""What workers tell the run, and what a worker is told. Frozen; they cross threads."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from engine.domain import Answer, Attempt, CallDone, CallError, CaseScore, Cell
from engine.execution.budget import Used
from engine.execution.jobs import Job, Tally
from engine.execution.retry import Failure


@dataclass(frozen=True, slots=True)
class Ticket:
    """One admitted attempt with what came before it: enough to make the finished record."""

    job: Job
    tally: Tally
    log: tuple[Attempt, ...] = ()
    first_started_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The service answered. `done` is set where the answer was marked in the same step;
    otherwise `Marked` follows. `record` is the finished call as far as it is known."""

    ticket: Ticket
    record: CallDone
    used: Used
    marked: bool


@dataclass(frozen=True, slots=True)
class Marked:
    """The checks have marked an answer that is stored already."""

    ticket: Ticket
    record: CallDone


@dataclass(frozen=True, slots=True)
class Refused:
    """The attempt failed. `used` is what the service reported to have charged, if it did."""

    ticket: Ticket
    failure: Failure
    error: CallError
    attempt: Attempt
    used: Used | None
    at: datetime


@dataclass(frozen=True, slots=True)
class LateMark:
    """A mark for an answer of an earlier session. `first` False: its checks have changed since."""

    cell: Cell
    answer: Answer
    score: CaseScore
    at: datetime
    first: bool


@dataclass(frozen=True, slots=True)
class LateMarksOver:
    """Marking the answers of an earlier session has ended; with the error, if it failed."""

    error: BaseException | None = None


WorkerMessage = Answered | Marked | Refused | LateMark | LateMarksOver
