"""What a run tells: events with rising numbers for the screen, the same for the store, and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from engine.domain import CallDone, CallError, Cell, Note
from engine.execution import events as ev
from engine.execution.budget import Account, Ledger
from engine.execution.dispatcher import Dispatcher
from engine.execution.jobs import CeilingReached, Change, LaneChanged, SetAside, Stopping, is_marker
from engine.execution.plan import Plan
from engine.execution.request import Clock
from engine.storage.records import EventWrite

BATCH = 2_000
"""Events of one batch at most."""


class Narrator:
    """Collects events between two batches. Counts and money are told once per batch, if changed.

    `save` puts what must outlive the program into the store. `again`: only these calls of a saved
    run are asked. One thread owns it.
    """

    def __init__(
        self,
        run_id: str,
        clock: Clock,
        save: Callable[[EventWrite], None],
        again: tuple[Cell, ...] = (),
    ) -> None:
        self._run_id = run_id
        self._clock = clock
        self._save = save
        self._again = again
        self._began = clock.monotonic()
        self._events: list[ev.Event] = []
        self._seq = 0
        self.notes: list[Note] = []
        self.counts_changed = True
        self.money_changed = True

    def now(self) -> float:
        """The moment on the run's clock."""
        return self._clock.monotonic()

    def tell(self, kind: type[ev.Event], **values: object) -> None:
        """One event."""
        self._seq += 1
        self._events.append(kind(self._run_id, self._seq, **values))

    def take(self, dispatcher: Dispatcher | None) -> tuple[ev.Event, ...]:
        """The next batch: events since the last time, with the counts and the money as they are now.

        Bounded, so that a screen never gets a hundred thousand cells at once; `more` tells whether
        something is left.
        """
        if dispatcher is not None and not self.more:
            self._tell_counts(dispatcher)
        events, self._events = tuple(self._events[:BATCH]), self._events[BATCH:]
        return events

    @property
    def more(self) -> bool:
        """True where a full batch is waiting."""
        return len(self._events) > BATCH

    def planned(self, plan: Plan, already_done: int, earlier: Mapping[str, ev.Earlier]) -> None:
        """The first event."""
        self.tell(
            ev.Planned,
            total=len(self._again) or plan.planned,
            models=tuple(model.entry.key for model in plan.models),
            cases=len(plan.cases),
            trials=plan.trials,
            skipped=plan.skipped,
            lanes=plan.lane_widths,
            lane_of={model.entry.key: model.lane for model in plan.models},
            concurrency=plan.concurrency,
            already_done=0 if self._again else already_done,
            earlier=earlier,
            again=self._again,
        )

    def durable(self, done: CallDone) -> None:
        """A call is finished and stored."""
        if done.score is not None:
            self.tell(ev.Scored, cell=done.cell)
        self.tell(ev.CallFinished, done=done)
        self.counts_changed = True

    def prepared(self, what: str, state: str, reason: str) -> None:
        """Something that marks need is ready, or will not be: then the result says so."""
        self.tell(ev.Preparing, what=what, state=state, reason=reason)
        if state != "ready":
            values = {"what": what, "state": state, "reason": reason, "sentence": reason}
            self.notes.append(Note("not_prepared", values))
            self._keep("not_prepared", None, values)

    def stopping(self, reason: str, in_flight: int) -> None:
        """The run is ending early."""
        self.tell(ev.RunStopping, reason=reason, in_flight=in_flight)
        self._keep("stopping", None, {"reason": reason})

    def finished(self, last: ev.RunFinished, dispatcher: Dispatcher) -> ev.RunFinished:
        """The last event, with its number."""
        self._tell_counts(dispatcher)
        self._seq += 1
        last = replace(last, seq=self._seq)
        self._events.append(last)
        return last

    def change(self, change: Change, in_flight: int) -> None:
        """Something changed in the lanes, the models or the whole run."""
        self.counts_changed = True
        match change:
            case LaneChanged():
                self._lane(change)
            case SetAside():
                self._set_aside(change)
            case CeilingReached():
                self._ceiling(change)
            case Stopping():
                self.stopping(change.reason, in_flight)

    def _ceiling(self, change: CeilingReached) -> None:
        values: dict[str, object] = {"payer": change.payer, "warned": change.warned}
        if not change.warned:
            closed = (change.payer,)
            values["models"] = list(closed)
            self.tell(ev.ModelSetAside, model_keys=closed, lane=None, code="budget_model", error=None)
        self.notes.append(Note("budget_warning" if change.warned else "budget_model", values))
        self._keep("ceiling", None, values)
        self.money_changed = True

    def _lane(self, change: LaneChanged) -> None:
        until = None if change.until is None else change.until - self._began
        told = {"before": change.before, "after": change.after, "until_s": until, "reason": change.reason}
        self.tell(ev.Throttled, lane=change.lane, **told)
        self._keep("lane", change.lane, told)

    def _set_aside(self, change: SetAside) -> None:
        failure = change.failure
        error = CallError(failure.kind.value, failure.message, failure.status) if failure else None
        self.tell(
            ev.ModelSetAside,
            model_keys=change.models,
            lane=change.lane,
            code=change.code,
            error=error,
            until=self._utc(change.until),
        )
        until = self._utc(change.until)
        values = {
            "models": list(change.models),
            "lane": change.lane,
            "code": change.code,
            "message": failure.message if failure else "",
            "until": until.isoformat() if until is not None else None,
        }
        about = "judge_stopped" if is_marker(change.lane) else "set_aside"
        self.notes.append(Note(about, values))
        self._keep("set_aside", change.lane, values)

    def _utc(self, moment: float | None) -> datetime | None:
        if moment is None:
            return None
        return self._clock.utc() + timedelta(seconds=moment - self._clock.monotonic())

    def _keep(self, kind: str, lane: str | None, values: Mapping[str, object]) -> None:
        self._save(EventWrite(self._run_id, self._clock.utc(), kind, lane, values))

    def _tell_counts(self, dispatcher: Dispatcher) -> None:
        if self.counts_changed:
            self.counts_changed = False
            counts = dispatcher.counts()
            self.tell(
                ev.QueueChanged,
                running=counts.running,
                queued=counts.queued,
                finished=counts.finished,
                total=counts.total,
                lanes=dispatcher.lane_views(self._clock.monotonic()),
                retrying=counts.retrying,
            )
        if self.money_changed:
            self.money_changed = False
            self._tell_money(dispatcher.ledger)

    def _tell_money(self, ledger: Ledger) -> None:
        self.tell(
            ev.BudgetChanged,
            spent_usd=_known(ledger.run),
            reserved_usd=ledger.run.kept + ledger.run.open,
            ceiling_usd=ledger.ceilings.run_usd,
            unpriced_calls=ledger.run.unpriced,
            by_model={payer: _known(account) for payer, account in ledger.payers.items()},
        )


def _known(account: Account) -> Decimal | None:
    """What is known to be spent; None where nothing is known. With unpriced calls, at least this."""
    return None if account.unpriced and not account.spent else account.spent
