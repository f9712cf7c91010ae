"""One run as it goes on: drives the dispatcher, the executor and the recorder. No Qt, no threads.

One thread owns a session and calls `step`; workers and the recorder's writer hand in what
happened through `post`, which is safe from any thread and wakes the owner.
"""

from __future__ import annotations

import logging
import threading
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from providers.base import ErrorKind, RateLimits

from engine.domain import CallDone, CallError, CallStatus, RunStatus
from engine.errors import ArenaError
from engine.execution import events as ev
from engine.execution.books import Books
from engine.execution.budget import NOTHING
from engine.execution.ending import Ending, close_run
from engine.execution.executor import Executor, ExecutorFactory
from engine.execution.jobs import Ended, Fate, Job, JobKind
from engine.execution.judging import Desk, JudgeDesk
from engine.execution.late_marks import mark_earlier_answers
from engine.execution.ledger_rows import spend_write
from engine.execution.machinery import build, prepare_sandbox
from engine.execution.messages import (
    Answered,
    AwaitsJudge,
    Command,
    Committed,
    JudgeSaid,
    LateMark,
    LateMarking,
    LateMarksOver,
    Marked,
    Message,
    NotSaved,
    Prepared,
    Refused,
    Ticket,
    WorkerMessage,
)
from engine.execution.opening import Opening, open_run
from engine.execution.outcomes import answer_write, failed_record, stopped_record
from engine.execution.request import RunRequest
from engine.execution.resume import resumed
from engine.execution.retry import Failure
from engine.execution.vendor_pace import VendorPace
from engine.scoring.sandbox import SandboxState
from engine.storage.records import (
    AnswerWrite,
    DoneWrite,
    RunFinish,
    ScoreWrite,
    SpendWrite,
    Write,
    new_run_id,
)

LEFT_BEHIND_S = 2.0
"""How long "stop now" waits for threads that do not come back."""
SLEPT_S = 30.0
"""A jump of the wall clock by this much between two looks means that the computer slept."""

_STATUS = {
    None: RunStatus.COMPLETED,
    "cancelled": RunStatus.CANCELLED,
    "budget": RunStatus.STOPPED_BUDGET,
    "fail_fast": RunStatus.FAILED_FAST,
}
_log = logging.getLogger(__name__)


class Session:
    """A run from its first call to its last record.

    Args:
        request: what to run.
        make_executor: where calls run.
        wake: called from any thread when there is something to do.
    """

    def __init__(self, request: RunRequest, make_executor: ExecutorFactory, wake: Callable[[], None]) -> None:
        self.request = request
        self._clock = request.clock
        self._wake = wake
        self._make_executor = make_executor
        self._inbox: deque[Message] = deque()
        self._stop_event = threading.Event()
        self._books = Books()
        self._vendor_pace = VendorPace()
        self._booked: dict[int, tuple[SpendWrite, Ticket]] = {}
        self._cancel_asked = False
        self._late_marks = False
        self._abandon_at: float | None = None
        self._abandoned = False
        self._not_saved: ArenaError | None = None
        self._last_wall = self._clock.wall()
        self.finished: ev.RunFinished | None = None
        self.run_id = request.resume_from or new_run_id(self._clock.utc())
        self._opening: Opening | None = None

    # ---- from any thread

    def post(self, message: Message) -> None:
        """Hands in what happened or what is wanted."""
        self._inbox.append(message)
        self._wake()

    def now(self) -> float:
        """The moment on the run's clock."""
        return self._clock.monotonic()

    def rescue(self, path: Path) -> int:
        """After the store failed: saves the run with everything kept in memory to another file."""
        if self._opening is None:
            raise RuntimeError("the run was never opened")
        saved = self.recorder.rescue(path, self._opening.head)
        self.recorder.close()
        self._opening.store.close()
        return saved

    # ---- on the owner's thread

    def open(self) -> None:
        """Enters the run in the store and gets everything ready. Raises the faults of the store."""
        self.request = resumed(self.request)
        self._started_at = self._clock.monotonic()
        opening = open_run(self.request, self.run_id)
        self.run_id = opening.run_id
        try:
            self._prepare(opening)
        except BaseException as error:
            self._close_unprepared(opening, error)
            raise
        self._opening = opening

    def _prepare(self, opening: Opening) -> None:
        parts = build(self.request, opening, self.post, self._stop_event)
        self.recorder, self.dispatcher, self._narrator = parts.recorder, parts.dispatcher, parts.narrator
        self._clients, self._caller, self._judge = parts.clients, parts.caller, parts.judge
        plan = self.request.plan
        # With a judge the account is all that knows what the judge has cost.
        self._keeps_account = self.dispatcher.ledger.ceilings.any or parts.judge is not None
        self._desk = JudgeDesk(
            Desk(
                self.run_id,
                plan.grid,
                self.dispatcher,
                self._books,
                self._narrator,
                self._save,
                parts.judge,
            )
        )
        self._executor: Executor = self._make_executor(self._carry_out, plan.concurrency)
        self._narrator.planned(plan, len(opening.done), opening.earlier)
        if parts.sandbox is not None:
            self._narrator.tell(ev.Preparing, what="sandbox", state=SandboxState.PREPARING.value)
            prepare_sandbox(parts.sandbox, self.post)
        if opening.has_marks_to_make:
            self._late_marks = True
            threading.Thread(
                target=mark_earlier_answers,
                args=(opening, self._caller, plan, self.request.project.config, self.post, self._stop_event),
                name="arena-late-marks",
                daemon=True,
            ).start()

    def _close_unprepared(self, opening: Opening, error: BaseException) -> None:
        """The run is entered but nothing can start: its row must not say `running` for ever."""
        finish = RunFinish(RunStatus.ABORTED, self._clock.utc(), error=f"{type(error).__name__}: {error}")
        opening.store.finish_run(self.run_id, finish)
        opening.store.close()

    def _carry_out(self, ticket: Ticket) -> None:
        """In a worker. An answer that is marked already goes to the recorder without a detour.

        Its message waits in the inbox and is read when the commit wakes the owner, so an answer
        costs one change of threads less. With ceilings the account must be written with it.
        """
        if ticket.request is not None and self._judge is not None:
            self._judge.attempt(ticket, self.post)
        else:
            self._caller.attempt(ticket, self.post if self._keeps_account else self._post_result)

    def _post_result(self, message: WorkerMessage) -> None:
        if self.finished is not None:
            return  # left behind: nobody waits for it and the store is closed
        if isinstance(message, Answered) and message.marked:
            self._inbox.append(message)
            self.recorder.submit(DoneWrite(self.run_id, message.record))
        else:
            self.post(message)

    def step(self) -> float | None:
        """Does all there is to do. Returns the moment at which to step again, None = when woken."""
        if self.finished is not None:
            return None
        self._look_at_the_clock()
        while self._inbox:
            self._take(self._inbox.popleft())
        now = self._clock.monotonic()
        if self._abandon_at is not None and now >= self._abandon_at:
            self._abandon()
        if self._not_saved is None:
            for job in self.dispatcher.start_ready(now, self._executor.capacity):
                self._start(job)
        self._tell_changes()
        if self._over():
            self._finish()
            return None
        moments = [m for m in (self.dispatcher.wake_at(now), self._abandon_at) if m is not None]
        return min(moments, default=None)

    def _look_at_the_clock(self) -> None:
        wall = self._clock.wall()
        if wall - self._last_wall > SLEPT_S:
            self.dispatcher.clock_jumped(self._clock.monotonic())
        self._last_wall = wall

    def _start(self, job: Job) -> None:
        asked = self._desk.request_of(job) if job.kind is JobKind.JUDGE else None
        ticket = self._books.begin(job, self.dispatcher.tally(job), asked)
        self._narrator.money_changed = self._narrator.counts_changed = True
        account = self._account(job.payer)
        self._save(*account)
        if account and self.dispatcher.ledger.ceilings.any:
            # Its reservation first: after a kill nothing may have been asked that is not on the account.
            self._booked[id(account[0])] = (account[0], ticket)
        else:
            self._begin(ticket)

    def _begin(self, ticket: Ticket) -> None:
        """The attempt may leave now, unless its cell was given up meanwhile."""
        if not self._books.holds(ticket.job):
            return
        is_call = ticket.job.kind is JobKind.CALL
        if self._stop_event.is_set() or self._not_saved or (is_call and self.dispatcher.stopping):
            self._give_up(ticket, "Stopped before it was asked.", asked=False)
            return
        if is_call:
            self._narrator.tell(ev.Started, cell=ticket.job.cell)
        self._executor.start(ticket)

    # ---- what happened

    def _take(self, message: Message) -> None:
        match message:
            case Committed():
                for write in message.writes:
                    self._take_committed(write)
            case NotSaved():
                self._not_saved = message.error
                self.dispatcher.stop("not_saved", self._clock.monotonic())
                self.dispatcher.stop_judges()
                for _, ticket in self._booked.values():
                    self._begin(ticket)
                self._booked.clear()
            case Prepared():
                self._narrator.prepared(message.what, message.state, message.reason)
            case Command():
                self._obey(message)
            case LateMark() | LateMarking() | LateMarksOver():
                self._take_late_mark(message)
            case _:
                self._take_result(message)

    def _take_result(self, message: Answered | Marked | AwaitsJudge | JudgeSaid | Refused) -> None:
        match message:
            case Answered():
                self._take_answer(message)
            case Marked():
                if self._books.holds(message.ticket.job):
                    self._save_done(message.ticket.job, message.record)
            case AwaitsJudge():
                self._desk.take(message)
            case JudgeSaid():
                self._take_judgement(message)
            case Refused():
                self._take_refusal(message)

    def _take_judgement(self, message: JudgeSaid) -> None:
        job = message.ticket.job
        if self._books.holds(job):
            self._desk.said(message)
            self._heed(job, message.limits, message.used.tokens)

    def _take_answer(self, message: Answered) -> None:
        job = message.ticket.job
        if not self._books.holds(job):
            self._keep_late_answer(message)
            return
        self.dispatcher.answered(job, self._clock.monotonic(), message.used)
        self._heed(job, message.limits, message.used.tokens)
        self._narrator.money_changed = True
        record = message.record
        if message.marked and self._keeps_account:
            self._save_done(job, record)
        elif message.marked:
            self._books.commit(job)
        else:
            self._books.score(job)
            self._save(answer_write(self.run_id, record), *self._account(job.payer))

    def _keep_late_answer(self, message: Answered) -> None:
        """Its cell was abandoned and is told as stopped; what is paid for is kept all the same."""
        self._books.came_late(message.ticket.job.cell)
        if not message.marked:
            self._save(answer_write(self.run_id, message.record))
        elif self._keeps_account:
            self._save(DoneWrite(self.run_id, message.record))

    def _heed(self, job: Job, limits: RateLimits | None, tokens: int | None) -> None:
        """The vendor said what is left of its limits: its lane keeps to it."""
        per_s = self._vendor_pace.heard(job.lane, limits, tokens)
        if per_s is not None:
            self.dispatcher.set_pace(job.lane, per_s, self._clock.monotonic())

    def _take_refusal(self, message: Refused) -> None:
        ticket = message.ticket
        job = ticket.job
        if not self._books.holds(job):
            return
        if job.kind is JobKind.JUDGE:
            self._desk.refused(message)
            self._heed(job, message.failure.limits, None)
            return
        decision = self.dispatcher.failed(job, message.failure, self._clock.monotonic(), message.used)
        self._heed(job, message.failure.limits, None)
        self._narrator.money_changed = self._narrator.counts_changed = True
        throttled = decision.code == "throttled"
        attempt = replace(message.attempt, throttled=throttled)
        if decision.fate in (Fate.RETRY, Fate.REQUEUED):
            self._books.come_back(ticket, attempt)
            self._narrator.tell(
                ev.Retrying,
                cell=job.cell,
                attempt=job.attempt,
                delay_s=decision.delay_s,
                error=message.error,
            )
            return
        status = CallStatus.ERROR if decision.fate is Fate.FAILED else CallStatus.STOPPED
        record = failed_record(replace(message, attempt=attempt), self.dispatcher.tally(job), status)
        self._save_done(job, record)

    def _save_done(self, job: Job, record: CallDone) -> None:
        """The cell's record is complete; its slots are free as soon as it is durable."""
        self._books.commit(job)
        self._save(DoneWrite(self.run_id, record), *self._account(job.payer))

    def _account(self, payer: str) -> tuple[SpendWrite, ...]:
        if not self._keeps_account:
            return ()
        return (spend_write(self.run_id, self.dispatcher.ledger, payer),)

    def _take_late_mark(self, message: LateMark | LateMarking | LateMarksOver) -> None:
        if isinstance(message, LateMarksOver):
            self._late_marks = False
            if message.error is not None:
                raise message.error
            return
        if isinstance(message, LateMarking):
            self._desk.take_late(message)
            return
        origin = "run" if message.first else "rescore"
        self._save(ScoreWrite(self.run_id, message.cell, message.score, message.at, origin))
        self._narrator.tell(ev.Scored, cell=message.cell)

    def _take_committed(self, write: Write) -> None:
        if isinstance(write, AnswerWrite):
            job = self._books.answer_is_durable(write.cell)
            if job is not None:
                self.dispatcher.free_lane(job)
                self._narrator.tell(ev.Answered, cell=write.cell)
                self._desk.answer_is_durable(write.cell)
        elif isinstance(write, DoneWrite):
            told, job = self._books.record_is_durable(write)
            if job is not None:
                self.dispatcher.finish(job)
            if told:
                self._narrator.durable(write.done)
            self._desk.mark_is_durable(write.done.cell)
        elif isinstance(write, ScoreWrite):
            self._desk.mark_is_durable(write.cell)
        elif isinstance(write, SpendWrite) and id(write) in self._booked:
            self._begin(self._booked.pop(id(write))[1])

    def _save(self, *writes: Write) -> None:
        self.recorder.submit(*writes)

    # ---- what the user wants

    def _obey(self, command: Command) -> None:
        now = self._clock.monotonic()
        match command.name, command.values:
            case "cancel", ():
                if self._cancel_asked:
                    self._stop_now(now)
                self._cancel_asked = True
                self.dispatcher.stop("cancelled", now)
            case "stop_now", ():
                self.dispatcher.stop("cancelled", now)
                self._stop_now(now)
            case "pause", ():
                self.dispatcher.pause()
                self._narrator.tell(ev.RunPaused, paused=True)
            case "resume", ():
                self.dispatcher.resume()
                self._narrator.tell(ev.RunPaused, paused=False)
            case "set_width", (str(lane), int(width)):
                self.dispatcher.set_width(lane, width)
            case "offer_again", (tuple(keys),):
                self.dispatcher.offer_again([str(key) for key in keys])
            case "fail", (BaseException() as error,):
                raise error
        self._narrator.counts_changed = True

    def _stop_now(self, now: float) -> None:
        if self._abandon_at is None:
            self._stop_event.set()
            self._executor.stop_now()
            self.dispatcher.stop_judges()
            self._abandon_at = now + LEFT_BEHIND_S
            self._narrator.stopping("stop_now", len(self.dispatcher.in_flight()))

    def _abandon(self) -> None:
        """Records what did not come back as stopped; its threads are left behind."""
        self._abandon_at = None
        never_asked = {ticket.job.id for _, ticket in self._booked.values()}
        for ticket in self._books.under_way():
            self._abandoned = True
            asked = ticket.job.id not in never_asked
            self._give_up(ticket, "Stopped before the answer came.", asked=asked)

    def _give_up(self, ticket: Ticket, why: str, *, asked: bool) -> None:
        """The cell is stopped. What was never asked for costs nothing; the rest stays reserved."""
        job, cut = ticket.job, Failure(ErrorKind.CANCELLED, why)
        if job.kind is JobKind.JUDGE:
            self._desk.abandon(ticket, cut)
            return
        if not self._books.is_scoring(job):
            self.dispatcher.failed(job, cut, self._clock.monotonic(), None if asked else NOTHING)
        record = stopped_record(
            job.cell,
            CallError(cut.kind.value, cut.message),
            self.dispatcher.tally(job) if asked else ticket.tally,
            ticket.log,
            started_at=ticket.first_started_at,
            finished_at=self._clock.utc(),
        )
        self._save_done(job, record)

    def _tell_changes(self) -> None:
        self._desk.take_dropped()
        for ended in self.dispatcher.take_ended():
            self._record_ended(ended)
        for change in self.dispatcher.take_changes():
            self._narrator.change(change, len(self.dispatcher.in_flight()))

    def _record_ended(self, ended: Ended) -> None:
        before = self._books.left_waiting(ended.index)
        failure = ended.failure
        record = stopped_record(
            ended.cell,
            CallError(ended.code, failure.message if failure else "", failure.status if failure else None),
            ended.tally,
            before.log if before else (),
            started_at=before.first_started_at if before else None,
            finished_at=None,
        )
        self._books.unsaved += 1
        self._save(DoneWrite(self.run_id, record))

    def take_events(self) -> tuple[ev.Event, ...]:
        """The next batch of events; empty = there are none."""
        if self._opening is None:
            return ()
        return self._narrator.take(self.dispatcher if self.finished is None else None)

    # ---- the end

    def _over(self) -> bool:
        if self._late_marks and not self._stop_event.is_set():
            return False
        if self._not_saved is not None:
            return all(self._books.is_scoring(ticket.job) for ticket in self._books.under_way())
        return self.dispatcher.over and not self._books.unsaved and not self._inbox

    def _finish(self) -> None:
        stopping = self.dispatcher.stopping
        if self._not_saved is not None:
            self._end(RunStatus.ABORTED, self._not_saved)
        else:
            self._end(_STATUS.get(stopping, RunStatus.ABORTED), None)

    def abort(self, error: BaseException) -> None:
        """An exception escaped: closes the run with what there is. Never raises."""
        if self.finished is None and self._opening is not None:
            self._stop_event.set()
            self._executor.stop_now()
            self._save_what_has_arrived()
            self._end(RunStatus.ABORTED, error)

    def _end(self, status: RunStatus, error: BaseException | None) -> None:
        opening = self._opening
        if opening is None:
            raise RuntimeError("the run was never opened")
        self._clients.close()
        # Threads that were waited for already are not waited for again; all others are on their way out.
        if not self._executor.close(0.0 if self._abandoned else LEFT_BEHIND_S):
            _log.warning("some calls did not come back and were left behind")
        ending = Ending(
            request=self.request,
            run_id=self.run_id,
            status=status,
            error=error,
            notes=tuple(self._narrator.notes),
            lanes=self.dispatcher.lane_views(self._clock.monotonic()),
            ledger=self.dispatcher.ledger,
            duration_s=self._clock.monotonic() - self._started_at,
            saved=self._not_saved is None,
        )
        finished = close_run(ending, opening.store, self.recorder)
        self._tell_what_was_saved_at_the_end()
        self.finished = self._narrator.finished(finished, self.dispatcher)
        if self._not_saved is None:
            self.recorder.close()
            opening.store.close()

    def _save_what_has_arrived(self) -> None:
        """Before an abort: answers that came in are paid for, so they are stored."""
        for message in list(self._inbox):
            if isinstance(message, Answered) and self._books.holds(message.ticket.job):
                self._save(answer_write(self.run_id, message.record))

    def _tell_what_was_saved_at_the_end(self) -> None:
        """After an abort: commits that came in while the run was closed."""
        while self._inbox:
            message = self._inbox.popleft()
            if isinstance(message, Committed):
                for write in message.writes:
                    if isinstance(write, DoneWrite):
                        self._narrator.durable(write.done)
