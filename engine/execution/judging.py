"""Answers that wait for a judge, and the requests under way for them. One thread owns a desk.

An answer comes here when it is stored and marked as far as it goes without the judge. Each
request is a job of its own in the judge's lane. The last reply keeps its slots until the mark is
durable. What cannot be asked because the run ends leaves the answer stored without a mark, so
that carrying on marks it; what the judge itself refuses becomes part of the mark.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from providers.base import ErrorKind

from engine.domain import CallDone, CallError, Cell, Outcome
from engine.execution import events as ev
from engine.execution.books import Books
from engine.execution.dispatcher import Dispatcher
from engine.execution.jobs import JUDGE_LANE, Fate, Grid, Job, JudgeDropped
from engine.execution.judge_call import JudgeCaller
from engine.execution.ledger_rows import spend_write
from engine.execution.marking import Marking
from engine.execution.messages import AwaitsJudge, JudgeSaid, LateAnswers, LateMarking, Refused, Ticket
from engine.execution.narrator import Narrator
from engine.execution.pair_question import PairQuestion
from engine.execution.retry import Failure
from engine.scoring.seams import JudgeReply, JudgeRequest
from engine.storage.records import DoneWrite, EventWrite, ScoreWrite, Write

_STOPPED_AS = {
    "asked_to_slow_down": "It only asked to slow down for a quarter of an hour.",
    "unreachable": "It could not be reached.",
    "wait_too_long": "It asks to wait for a long time.",
    "day_quota": "Its quota of the day is used up.",
}
_RUN_ENDS = frozenset({"cancelled", "budget", "fail_fast", "not_saved", "abort"})


@dataclass(slots=True)
class Asking:
    """Something the judge is asked for. `open` are items under way; `left`: one was not asked because
    the run ends."""

    index: int
    marking: Marking | PairQuestion
    open: set[int] = field(default_factory=set)
    left: bool = False


@dataclass(slots=True)
class Waiting(Asking):
    """One answer that waits for its mark. `record` None: it is of an earlier session."""

    marking: Marking
    cell: Cell = field(kw_only=True)
    record: CallDone | None = None
    origin: str = "run"
    last: Job | None = None


@dataclass(frozen=True, slots=True)
class Desk:
    """What a judge's desk works with; all of it belongs to the run. `save` takes writes that are
    committed together."""

    run_id: str
    grid: Grid
    dispatcher: Dispatcher
    books: Books
    narrator: Narrator
    save: Callable[..., None]
    caller: JudgeCaller | None


class JudgeDesk:
    """Leads answers to their marks through the dispatcher."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._place = desk.grid.index()
        self._stored: set[Cell] = set()
        self._held: dict[Cell, AwaitsJudge] = {}
        self._items: dict[int, tuple[Asking, JudgeRequest]] = {}
        self._writing: dict[Cell, Waiting] = {}
        self.unmarked = 0

    def request_of(self, job: Job) -> JudgeRequest:
        """What the judge is asked by this job."""
        return self._items[job.item][1]

    # ---- answers come

    def take(self, message: AwaitsJudge) -> None:
        """An answer is marked as far as it goes; the judge is asked once it is durable."""
        if not self._desk.books.holds(message.ticket.job):
            self._stored.discard(message.record.cell)
        elif message.record.cell in self._stored:
            self._begin(message)
        else:
            self._held[message.record.cell] = message

    def answer_is_durable(self, cell: Cell) -> None:
        """An answer is stored."""
        if self._desk.caller is None:
            return
        held = self._held.pop(cell, None)
        if held is None:
            self._stored.add(cell)
        elif self._desk.books.holds(held.ticket.job):
            self._begin(held)

    def take_late(self, message: LateMarking) -> None:
        """An answer of an earlier session has to be marked, for the first time or anew."""
        index = self._place(message.cell)
        if index is None:
            return
        self._desk.dispatcher.judge_again(index)
        origin = "run" if message.first else "rescore"
        self._wait(Waiting(index, message.marking, cell=message.cell, origin=origin))

    def _begin(self, message: AwaitsJudge) -> None:
        job, record = message.ticket.job, message.record
        self._stored.discard(record.cell)
        self._desk.books.leave(job)
        self._desk.dispatcher.await_judges(job)
        self._desk.narrator.counts_changed = True
        self._wait(Waiting(job.index, message.marking, cell=record.cell, record=record))

    def call_is_over(self, done: CallDone) -> None:
        """A call's record is durable, with or without an answer."""

    def event_is_durable(self, write: EventWrite) -> None:
        """Something that was told of the run is durable."""

    def take_earlier(self, message: LateAnswers) -> None:
        """What an earlier session answered; only answers that meet want to know."""

    def nothing_earlier(self) -> None:
        """Everything of an earlier session has come."""

    def _wait(self, waiting: Waiting) -> None:
        self._ask(waiting)

    def _ask(self, waiting: Asking) -> None:
        caller = self._desk.caller
        if caller is None:
            raise RuntimeError("there is no judge to ask")
        for request in waiting.marking.wanted:
            item = self._desk.dispatcher.add_judge(waiting.index, caller.worst_of(request))
            waiting.open.add(item)
            self._items[item] = (waiting, request)

    # ---- the judge answers, or not

    def said(self, message: JudgeSaid) -> None:
        """The judge replied to a job that is still awaited."""
        job = message.ticket.job
        self._desk.dispatcher.answered(job, self._desk.narrator.now(), message.used)
        self._replied(job, message.reply, message.cost_usd)

    def refused(self, message: Refused) -> None:
        """A request that is still awaited failed: it comes back by itself, or it is over."""
        ticket, job = message.ticket, message.ticket.job
        books, dispatcher = self._desk.books, self._desk.dispatcher
        decision = dispatcher.failed(job, message.failure, self._desk.narrator.now(), message.used)
        if decision.fate in (Fate.RETRY, Fate.REQUEUED):
            books.come_back(ticket, replace(message.attempt, throttled=decision.code == "throttled"))
        elif decision.fate is Fate.STOPPED:
            self._stopped(job)
        else:
            blocked = message.failure.kind is ErrorKind.BLOCKED
            outcome = Outcome.BLOCKED if blocked else Outcome.FAILED
            self._replied(job, JudgeReply("", outcome, message.error), message.attempt.cost_usd)

    def take_dropped(self) -> None:
        """Requests that will not be asked: the run ends, or the judge is given up."""
        while drops := self._desk.dispatcher.take_dropped_judges():
            for drop in drops:
                self._dropped(drop)

    def abandon(self, ticket: Ticket, cut: Failure) -> None:
        """The reply is not awaited any longer."""
        self._desk.dispatcher.failed(ticket.job, cut, self._desk.narrator.now())
        self._stopped(ticket.job)

    def _replied(self, job: Job, reply: JudgeReply, cost_usd: Decimal | None) -> None:
        self._desk.narrator.money_changed = self._desk.narrator.counts_changed = True
        self._desk.books.leave(job)
        waiting, request = self._items.pop(job.item)
        waiting.open.discard(job.item)
        waiting.marking.take(request, reply, cost_usd)
        if waiting.open:
            self._desk.dispatcher.judge_done(job)
        else:
            self._go_on(waiting, job)

    def _stopped(self, job: Job) -> None:
        self._desk.narrator.money_changed = self._desk.narrator.counts_changed = True
        self._desk.books.leave(job)
        waiting, _ = self._items.pop(job.item)
        waiting.open.discard(job.item)
        waiting.left = True
        self._desk.dispatcher.judge_done(job)
        if not waiting.open:
            self._leave(waiting)

    def _dropped(self, drop: JudgeDropped) -> None:
        self._desk.books.left_waiting(drop.item)
        waiting, request = self._items.pop(drop.item)
        waiting.open.discard(drop.item)
        if drop.code in _RUN_ENDS:
            waiting.left = True
        else:
            waiting.marking.take(request, _given_up(drop), Decimal(0))
        if not waiting.open:
            self._go_on(waiting, None)

    def _go_on(self, waiting: Asking, job: Job | None) -> None:
        """Everything asked so far is over."""
        dispatcher = self._desk.dispatcher
        if not waiting.left and waiting.marking.advance():
            self._save(waiting, job)
            return
        if job is not None:
            dispatcher.judge_done(job)
        if waiting.left:
            self._leave(waiting)
        else:
            self._ask(waiting)

    # ---- marks

    def _save(self, waiting: Asking, job: Job | None) -> None:
        """The mark is there: it is stored with what the judge cost."""
        if not isinstance(waiting, Waiting):
            raise TypeError(f"nobody here keeps {waiting}")
        score, run_id = waiting.marking.score, self._desk.run_id
        if score is None:
            raise RuntimeError(f"{waiting.cell} is not marked yet")
        waiting.last = job
        self._writing[waiting.cell] = waiting
        write: Write
        if waiting.record is not None:
            write = DoneWrite(run_id, replace(waiting.record, score=score))
            self._desk.books.unsaved += 1
        else:
            write = ScoreWrite(run_id, waiting.cell, score, datetime.now(UTC), waiting.origin)
        self._desk.save(write, spend_write(run_id, self._desk.dispatcher.ledger, JUDGE_LANE))

    def mark_is_durable(self, cell: Cell) -> None:
        """A mark is stored: its slots are free and its cell is finished."""
        self._stored.discard(cell)
        waiting = self._writing.pop(cell, None)
        if waiting is None:
            return
        if waiting.last is not None:
            self._desk.dispatcher.judge_done(waiting.last)
        self._desk.dispatcher.finish_cell(waiting.index)
        self._desk.narrator.counts_changed = True
        if waiting.record is None:
            self._desk.narrator.tell(ev.Scored, cell=cell)

    def _leave(self, waiting: Asking) -> None:
        """The run ends: the answer stays stored without this mark, and carrying on makes it."""
        if not isinstance(waiting, Waiting):
            raise TypeError(f"nobody here leaves {waiting}")
        self.unmarked += 1
        self._desk.dispatcher.finish_cell(waiting.index)
        if waiting.record is not None:
            self._desk.narrator.durable(waiting.record)


def _given_up(drop: JudgeDropped) -> JudgeReply:
    """Stands for the reply of a judge that gets no more requests."""
    failure = drop.failure
    told = failure.message if failure is not None else ""
    status = failure.status if failure is not None else None
    text = told or _STOPPED_AS.get(drop.code, "It is asked no more in this run.")
    return JudgeReply("", Outcome.FAILED, CallError(drop.code, text, status))
