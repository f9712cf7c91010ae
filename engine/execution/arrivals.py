"""What workers, judges and the recorder report, taken into a run. No Qt; one thread owns it.

A result becomes a decision of the dispatcher, a write for the recorder and an event, in this order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from providers.base import ErrorKind, RateLimits

from engine.domain import CallDone, CallError, CallStatus
from engine.execution import events as ev
from engine.execution.books import Books
from engine.execution.budget import NOTHING
from engine.execution.jobs import Ended, Fate, Grid, Job, JobKind
from engine.execution.judging import Desk, JudgeDesk
from engine.execution.ledger_rows import spend_write
from engine.execution.machinery import Machinery
from engine.execution.messages import (
    Answered,
    AwaitsJudge,
    Committed,
    JudgeSaid,
    LateAnswers,
    LateMark,
    LateMarking,
    LateMarksOver,
    Marked,
    Message,
    Refused,
    Ticket,
)
from engine.execution.outcomes import answer_write, failed_record, stopped_record
from engine.execution.pair_desk import PairDesk
from engine.execution.request import Clock
from engine.execution.retry import Failure
from engine.execution.vendor_pace import VendorPace
from engine.storage.records import AnswerWrite, DoneWrite, EventWrite, ScoreWrite, SpendWrite, Write


class Arrivals:
    """Takes results. `books` knows where each job is, `desk` leads answers to their judge.

    `late_marks` is True while answers of an earlier session are being marked.
    """

    def __init__(self, run_id: str, grid: Grid, clock: Clock, parts: Machinery) -> None:
        self._run_id = run_id
        self._clock = clock
        self._dispatcher, self._narrator = parts.dispatcher, parts.narrator
        self._save = parts.recorder.submit
        self._vendor_pace = VendorPace()
        # Where somebody marks, the account is all that knows what that has cost.
        self.keeps_account = parts.dispatcher.ledger.ceilings.any or parts.markers is not None
        self.books = Books()
        self.late_marks = False
        desk = Desk(run_id, grid, self._dispatcher, self.books, self._narrator, self._save, parts.markers)
        self.desk = JudgeDesk(desk) if parts.pairs is None else PairDesk(desk, parts.pairs)

    # ---- from workers

    def take(self, message: Message) -> None:
        """A worker's result, or a mark for an answer of an earlier session."""
        match message:
            case Answered():
                self._take_answer(message)
            case Marked():
                if self.books.holds(message.ticket.job):
                    self._save_done(message.ticket.job, message.record)
            case AwaitsJudge():
                self.desk.take(message)
            case JudgeSaid():
                self._take_judgement(message)
            case Refused():
                self._take_refusal(message)
            case LateMark() | LateMarking() | LateAnswers() | LateMarksOver():
                self._take_late_mark(message)

    def _take_judgement(self, message: JudgeSaid) -> None:
        job = message.ticket.job
        if self.books.holds(job):
            self.desk.said(message)
            self._heed(job, message.limits, message.used.tokens)

    def _take_answer(self, message: Answered) -> None:
        job = message.ticket.job
        if not self.books.holds(job):
            self._keep_late_answer(message)
            return
        self._dispatcher.answered(job, self._clock.monotonic(), message.used)
        self._heed(job, message.limits, message.used.tokens)
        self._narrator.money_changed = True
        record = message.record
        if message.marked and self.keeps_account:
            self._save_done(job, record)
        elif message.marked:
            self.books.commit(job)
        else:
            self.books.score(job)
            self._save(answer_write(self._run_id, record), *self.account(job.payer))

    def _keep_late_answer(self, message: Answered) -> None:
        """Its cell was abandoned and is told as stopped; what is paid for is kept all the same."""
        self.books.came_late(message.ticket.job.cell)
        if not message.marked:
            self._save(answer_write(self._run_id, message.record))
        elif self.keeps_account:
            self._save(DoneWrite(self._run_id, message.record))

    def _heed(self, job: Job, limits: RateLimits | None, tokens: int | None) -> None:
        """The vendor said what is left of its limits: its lane keeps to it."""
        per_s = self._vendor_pace.heard(job.lane, limits, tokens)
        if per_s is not None:
            self._dispatcher.set_pace(job.lane, per_s, self._clock.monotonic())

    def _take_refusal(self, message: Refused) -> None:
        ticket = message.ticket
        job = ticket.job
        if not self.books.holds(job):
            return
        if job.kind is JobKind.JUDGE:
            self.desk.refused(message)
            self._heed(job, message.failure.limits, None)
            return
        decision = self._dispatcher.failed(job, message.failure, self._clock.monotonic(), message.used)
        self._heed(job, message.failure.limits, None)
        self._narrator.money_changed = self._narrator.counts_changed = True
        throttled = decision.code == "throttled"
        attempt = replace(message.attempt, throttled=throttled)
        if decision.fate in (Fate.RETRY, Fate.REQUEUED):
            self.books.come_back(ticket, attempt)
            self._narrator.tell(
                ev.Retrying,
                cell=job.cell,
                attempt=job.attempt,
                delay_s=decision.delay_s,
                error=message.error,
            )
            return
        status = CallStatus.ERROR if decision.fate is Fate.FAILED else CallStatus.STOPPED
        record = failed_record(replace(message, attempt=attempt), self._dispatcher.tally(job), status)
        self._save_done(job, record)

    def _take_late_mark(self, message: LateMark | LateMarking | LateAnswers | LateMarksOver) -> None:
        if isinstance(message, LateAnswers):
            self.desk.take_earlier(message)
            return
        if isinstance(message, LateMarksOver):
            self.late_marks = False
            self.desk.nothing_earlier()
            if message.error is not None:
                raise message.error
            return
        if isinstance(message, LateMarking):
            self.desk.take_late(message)
            return
        origin = "run" if message.first else "rescore"
        self._save(ScoreWrite(self._run_id, message.cell, message.score, message.at, origin))
        self._narrator.tell(ev.Scored, cell=message.cell)

    # ---- to the recorder, and back

    def _save_done(self, job: Job, record: CallDone) -> None:
        """The cell's record is complete; its slots are free as soon as it is durable."""
        self.books.commit(job)
        self._save(DoneWrite(self._run_id, record), *self.account(job.payer))

    def account(self, payer: str) -> tuple[SpendWrite, ...]:
        """The payer's account as a write, where the run keeps one."""
        if not self.keeps_account:
            return ()
        return (spend_write(self._run_id, self._dispatcher.ledger, payer),)

    def committed(self, write: Write) -> None:
        """A write is durable: slots are free, and what it holds may be told."""
        if isinstance(write, AnswerWrite):
            job = self.books.answer_is_durable(write.cell)
            if job is not None:
                self._dispatcher.free_lane(job)
                self._narrator.tell(ev.Answered, cell=write.cell)
                self.desk.answer_is_durable(write.cell)
        elif isinstance(write, DoneWrite):
            told, job = self.books.record_is_durable(write)
            if job is not None:
                self._dispatcher.finish(job)
            if told:
                self._narrator.durable(write.done)
            self.desk.mark_is_durable(write.done.cell)
            self.desk.call_is_over(write.done)
        elif isinstance(write, EventWrite):
            self.desk.event_is_durable(write)
        elif isinstance(write, ScoreWrite):
            self.desk.mark_is_durable(write.cell)

    # ---- while the run is being closed

    def keep_all(self, messages: Iterable[Message]) -> None:
        """After an abort: answers that came in, until the threads had ended, are paid for and stored."""
        for message in messages:
            if not isinstance(message, Answered | Marked) or not self.books.holds(message.ticket.job):
                continue
            if isinstance(message, Answered) and not message.marked:
                self._save(answer_write(self._run_id, message.record))
            elif isinstance(message, Marked) or self.keeps_account:
                # Without an account the worker has handed it to the recorder itself.
                self._save(DoneWrite(self._run_id, message.record))

    def tell_saved(self, message: Message) -> None:
        """A commit that came in while the run was closed."""
        if isinstance(message, Committed):
            for write in message.writes:
                if isinstance(write, DoneWrite):
                    self._narrator.durable(write.done)

    # ---- cells that end without an answer

    def give_up(self, ticket: Ticket, why: str, *, asked: bool) -> None:
        """The cell is stopped. What was never asked for costs nothing; the rest stays reserved."""
        job, cut = ticket.job, Failure(ErrorKind.CANCELLED, why)
        if job.kind is JobKind.JUDGE:
            self.desk.abandon(ticket, cut, None if asked else NOTHING)
            return
        if not self.books.is_scoring(job):
            self._dispatcher.failed(job, cut, self._clock.monotonic(), None if asked else NOTHING)
        record = stopped_record(
            job.cell,
            CallError(cut.kind.value, cut.message),
            self._dispatcher.tally(job) if asked else ticket.tally,
            ticket.log,
            started_at=ticket.first_started_at,
            finished_at=self._clock.utc(),
        )
        self._save_done(job, record)

    def ended_waiting(self, ended: Ended) -> None:
        """The cell ended in the queue, without a slot."""
        before = self.books.left_waiting(ended.index)
        failure = ended.failure
        record = stopped_record(
            ended.cell,
            CallError(ended.code, failure.message if failure else "", failure.status if failure else None),
            ended.tally,
            before.log if before else (),
            started_at=before.first_started_at if before else None,
            finished_at=None,
        )
        self.books.unsaved += 1
        self._save(DoneWrite(self._run_id, record))
