"""What workers, the recorder and the user tell the run. Frozen; they cross threads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from engine.domain import Answer, Attempt, CallDone, CallError, CaseScore, Cell
from engine.errors import ArenaError
from engine.execution.budget import Used
from engine.execution.jobs import Job, Tally
from engine.execution.retry import Failure
from engine.storage.records import Write


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


@dataclass(frozen=True, slots=True)
class Committed:
    """The recorder has made these writes durable."""

    writes: Sequence[Write]


@dataclass(frozen=True, slots=True)
class NotSaved:
    """The recorder cannot write any more; what it holds is kept in memory."""

    error: ArenaError


@dataclass(frozen=True, slots=True)
class Command:
    """Something the user wants."""

    name: str
    values: tuple[object, ...] = ()


WorkerMessage: TypeAlias = Answered | Marked | Refused | LateMark | LateMarksOver
Message: TypeAlias = WorkerMessage | Committed | NotSaved | Command
