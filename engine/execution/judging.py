"""Answers that wait for a judge, and the requests under way for them. One thread owns a desk.

An answer comes here when it is stored and marked as far as it goes without the judge. Each
request is a job of its own in the judge's lane. The last reply keeps its slots until the mark is
durable. What cannot be asked because the run ends leaves the answer stored without a mark, so
that carrying on marks it; what the judge itself refuses becomes part of the mark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal

from providers.base import ErrorKind

from engine.domain import CallDone, CallError, Cell, Outcome
from engine.execution import events as ev
from engine.execution.books import Books
from engine.execution.budget import Used
from engine.execution.dispatcher import Dispatcher
from engine.execution.embed_desk import SharedVectors
from engine.execution.jobs import Fate, Grid, Job, JudgeDropped
from engine.execution.kept_replies import KeptReplies, reply_write
from engine.execution.ledger_rows import spend_write
from engine.execution.markers import Markers
from engine.execution.marking import Marking
from engine.execution.messages import AwaitsJudge, JudgeSaid, LateAnswers, LateMarking, Refused, Ticket
from engine.execution.narrator import Narrator
from engine.execution.pair_question import PairQuestion
from engine.execution.retry import Failure
from engine.scoring.seams import EmbedAsk, EmbedSaid, JudgeReply, JudgeRequest, MarkReply, MarkRequest
from engine.storage.records import DoneWrite, EventWrite, ScoreWrite, SpendWrite, Write

_STOPPED_AS = {
    "asked_to_slow_down": "It only asked to slow down for a quarter of an hour.",
    "unreachable": "It could not be reached.",
    "wait_too_long": "It asks to wait for a long time.",
    "day_quota": "Its quota of the day is used up.",
}
_RUN_ENDS = frozenset({"cancelled", "budget", "fail_fast", "not_saved", "abort"})


@dataclass(slots=True)
class Asking:
    """Something the judge is asked for. `open` are items under way; `begun`: one was asked; `left`: one
    was not asked because the run ends."""

    index: int
    marking: Marking | PairQuestion
    open: set[int] = field(default_factory=set)
    begun: bool = False
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
    caller: Markers | None


class JudgeDesk:
    """Leads answers to their marks through the dispatcher."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._place = desk.grid.index()
        self._stored: set[Cell] = set()
        self._held: dict[Cell, AwaitsJudge] = {}
        self._items: dict[int, tuple[Asking, MarkRequest]] = {}
        self._vectors = SharedVectors()
        self._writing: dict[Cell, Waiting] = {}
        self._freeing: dict[int, tuple[EventWrite, Job]] = {}
        self.unmarked = 0

    def request_of(self, job: Job) -> MarkRequest:
        """What the judge is asked by this job, which starts now."""
        asking, request = self._items[job.item]
        asking.begun = True
        return request

    def finish_begun(self) -> None:
        """Asks no more but for what is begun: half of a mark would be paid for in vain."""
        self._desk.dispatcher.drop_judges(lambda item: self._items[item][0].begun)

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
        """Something that was told of the run is durable: a reply, whose slots are free now."""
        kept = self._freeing.pop(id(write), None)
        if kept is not None:
            self._desk.dispatcher.judge_done(kept[1])

    def take_earlier(self, message: LateAnswers) -> None:
        """What an earlier session answered; only answers that meet want to know."""

    def nothing_earlier(self) -> None:
        """Everything of an earlier session has come."""

    def _wait(self, waiting: Waiting) -> None:
        self._ask(waiting)

    def _ask(self, waiting: Asking) -> None:
        for request in waiting.marking.wanted:
            if isinstance(request, EmbedAsk):
                for rest in self._vectors.want(waiting, request):
                    self._send(waiting, rest)
            else:
                self._send(waiting, request)
        if waiting.marking.wanted and not waiting.open:
            self._go_on(waiting, None)

    def _send(self, waiting: Asking, request: MarkRequest) -> None:
        """Queues a request; one that cannot be sent is answered with the reason."""
        caller = self._desk.caller
        if caller is None:
            raise RuntimeError("there is nobody to ask")
        error = caller.cannot(request)
        if error is not None:
            waiting.marking.take(request, _failed(request, error), Decimal(0))
            return
        worst, lane = caller.worst_of(request), caller.lane_of(request)
        item = self._desk.dispatcher.add_judge(waiting.index, worst, lane)
        waiting.open.add(item)
        self._items[item] = (waiting, request)
        self._vectors.begin(item, request)

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
            reply = _failed(self.request_of(job), message.error, outcome)
            self._replied(job, reply, message.attempt.cost_usd)

    def take_dropped(self) -> None:
        """Requests that will not be asked: the run ends, or the judge is given up."""
        while drops := self._desk.dispatcher.take_dropped_judges():
            for drop in drops:
                self._dropped(drop)

    def abandon(self, ticket: Ticket, cut: Failure, used: Used | None) -> None:
        """The reply is not awaited any longer. `used` None: nobody knows what it cost."""
        self._desk.dispatcher.failed(ticket.job, cut, self._desk.narrator.now(), used)
        self._stopped(ticket.job)

    def _replied(self, job: Job, reply: MarkReply, cost_usd: Decimal | None) -> None:
        self._desk.narrator.money_changed = self._desk.narrator.counts_changed = True
        self._desk.books.leave(job)
        waiting, request = self._items.pop(job.item)
        waiting.open.discard(job.item)
        waiting.marking.take(request, reply, cost_usd)
        others = self._vectors.end(job.item, request, reply)
        if waiting.open:
            self._free(job, self._kept(waiting, request, reply, cost_usd))
        else:
            self._go_on(waiting, job, lambda: self._kept(waiting, request, reply, cost_usd))
        self._go_on_together(others)

    def _kept(
        self, waiting: Asking, request: MarkRequest, reply: MarkReply, cost_usd: Decimal | None
    ) -> EventWrite | None:
        """A reply whose mark is not complete yet, to be stored; None where nothing is worth it."""
        caller = self._desk.caller
        if not isinstance(request, JudgeRequest) or not isinstance(reply, JudgeReply) or caller is None:
            return None
        if not isinstance(waiting, Waiting):
            return None
        marking = waiting.marking
        by, about = KeptReplies(caller.judged_by, marking.seed), (waiting.cell, marking.about)
        return reply_write(self._desk.run_id, about, by, (request, reply, cost_usd), datetime.now(UTC))

    def _free(self, job: Job, kept: EventWrite | None) -> None:
        """Gives the slots of a job back: at once, or when what was said is durable."""
        if kept is None:
            self._desk.dispatcher.judge_done(job)
            return
        self._freeing[id(kept)] = (kept, job)
        self._desk.save(kept, *self._spent())

    def _stopped(self, job: Job) -> None:
        self._desk.narrator.money_changed = self._desk.narrator.counts_changed = True
        self._desk.books.leave(job)
        waiting, request = self._items.pop(job.item)
        waiting.open.discard(job.item)
        waiting.left = True
        others = self._vectors.end(job.item, request, None)
        self._desk.dispatcher.judge_done(job)
        if not waiting.open:
            self._leave(waiting)
        self._go_on_together(others)

    def _dropped(self, drop: JudgeDropped) -> None:
        self._desk.books.left_waiting(drop.item)
        waiting, request = self._items.pop(drop.item)
        waiting.open.discard(drop.item)
        reply = None if drop.code in _RUN_ENDS else _failed(request, _given_up(drop))
        if reply is None:
            waiting.left = True
        else:
            waiting.marking.take(request, reply, Decimal(0))
        others = self._vectors.end(drop.item, request, reply)
        if not waiting.open:
            self._go_on(waiting, None)
        self._go_on_together(others)

    def _go_on_together(self, others: Iterable[Asking]) -> None:
        """Answers that waited for what another one had asked."""
        for other in others:
            self._go_on(other, None)

    def _go_on(
        self, waiting: Asking, job: Job | None, kept: Callable[[], EventWrite | None] = lambda: None
    ) -> None:
        """Everything asked so far is over. `kept`: what the job brought, to be stored without a mark."""
        if not waiting.left and waiting.marking.advance():
            self._save(waiting, job)
            return
        if job is not None:
            self._free(job, kept())
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
        self._desk.save(write, *self._spent())

    def _spent(self) -> Iterator[SpendWrite]:
        """The accounts of all that mark."""
        lanes = self._desk.caller.lanes if self._desk.caller is not None else ()
        return (spend_write(self._desk.run_id, self._desk.dispatcher.ledger, lane) for lane in lanes)

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


def _failed(request: MarkRequest, error: CallError, outcome: Outcome = Outcome.FAILED) -> MarkReply:
    """Stands for a reply that did not come."""
    return EmbedSaid(error=error) if isinstance(request, EmbedAsk) else JudgeReply("", outcome, error)


def _given_up(drop: JudgeDropped) -> CallError:
    """Why a request is not asked any more."""
    failure = drop.failure
    told = failure.message if failure is not None else ""
    status = failure.status if failure is not None else None
    return CallError(
        drop.code, told or _STOPPED_AS.get(drop.code, "It is asked no more in this run."), status
    )
