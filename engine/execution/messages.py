"""What workers, the recorder and the user tell the run. Frozen; they cross threads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import TypeAlias

from providers.base import RateLimits

from engine.domain import Answer, Attempt, CallDone, CallError, CaseScore, Cell
from engine.errors import ArenaError
from engine.execution.budget import Used
from engine.execution.jobs import Job, Tally
from engine.execution.marking import Marking
from engine.execution.retry import Failure
from engine.scoring.seams import MarkReply, MarkRequest
from engine.storage.records import Write


@dataclass(frozen=True, slots=True)
class Ticket:
    """One admitted attempt with what came before it: enough to make the finished record.

    `request` is what the judge or a model for embeddings is asked, where the job is one for it.
    """

    job: Job
    tally: Tally
    log: tuple[Attempt, ...] = ()
    first_started_at: datetime | None = None
    request: MarkRequest | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """The service answered. `done` is set where the answer was marked in the same step;
    otherwise `Marked` follows. `record` is the finished call as far as it is known."""

    ticket: Ticket
    record: CallDone
    used: Used
    marked: bool
    limits: RateLimits | None = None


@dataclass(frozen=True, slots=True)
class Marked:
    """The checks have marked an answer that is stored already."""

    ticket: Ticket
    record: CallDone


@dataclass(frozen=True, slots=True)
class AwaitsJudge:
    """An answer is marked as far as it goes without the judge. `record` has no score yet."""

    ticket: Ticket
    record: CallDone
    marking: Marking


@dataclass(frozen=True, slots=True)
class JudgeSaid:
    """What marks answered one request; `cost_usd` None = not known."""

    ticket: Ticket
    reply: MarkReply
    used: Used
    cost_usd: Decimal | None
    limits: RateLimits | None = None


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
class LateMarking:
    """As `LateMark`, but the judge has to be asked first."""

    cell: Cell
    answer: Answer
    marking: Marking
    first: bool


@dataclass(frozen=True, slots=True)
class LateAnswers:
    """What an earlier session answered in one test and trial, for new answers to be compared with."""

    case_id: str
    trial: int
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class LateMarksOver:
    """Marking the answers of an earlier session has ended; with the error, if it failed."""

    error: BaseException | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """Something that marks need is ready, or will not be: `what`, its `state`, and why."""

    what: str
    state: str
    reason: str = ""


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


WorkerMessage: TypeAlias = (
    Answered
    | Marked
    | AwaitsJudge
    | JudgeSaid
    | Refused
    | LateMark
    | LateMarking
    | LateAnswers
    | LateMarksOver
)
Message: TypeAlias = WorkerMessage | Prepared | Committed | NotSaved | Command
