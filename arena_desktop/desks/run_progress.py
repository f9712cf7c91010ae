"""The counts of the run under way, folded from its events. Plain data: no Qt, the clock is handed in.

`done + failed + stopped + running + waiting == total` after every event; `waiting` is never negative.
A question is on its way from its start to the end of that try: between two tries it waits.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cache
from typing import TYPE_CHECKING

from engine.domain import CallDone, CallError, CallStatus, Cell, RunStatus, SkippedModel

if TYPE_CHECKING:
    from engine.execution.events import (
        BudgetChanged,
        CallFinished,
        Event,
        LaneState,
        ModelSetAside,
        Planned,
        Preparing,
        QueueChanged,
        Retrying,
        RunFinished,
        RunPaused,
        RunStopping,
        Started,
    )

LATEST = 20
RATE_OVER = 20
TIME_AFTER_ANSWERS = 10
TIME_AFTER_S = 15.0


@dataclass(slots=True)
class ModelProgress:
    """One model's share of the run. `spent_usd` None = not known. `retrying` of the waiting questions
    were asked before and wait for their next try."""

    key: str
    lane: str
    planned: int = 0
    done: int = 0
    failed: int = 0
    stopped: int = 0
    running: int = 0
    passed: int = 0
    scored: int = 0
    retrying: int = 0
    spent_usd: Decimal | None = Decimal(0)
    last_error: CallError | None = None
    set_aside: str = ""
    aside_until: datetime | None = None
    skipped: SkippedModel | None = None

    @property
    def finished(self) -> int:
        """Questions that will not be asked any more."""
        return self.done + self.failed + self.stopped

    @property
    def waiting(self) -> int:
        """Questions not asked yet."""
        return max(0, self.planned - self.finished - self.running)


@dataclass(slots=True)
class RunProgress:
    """The whole run as it stands. `now` gives monotonic seconds. `preparing` holds (state, reason) of
    what is made ready while the run goes on, such as the sandbox."""

    now: Callable[[], float]
    run_id: str = ""
    total: int = 0
    cases: int = 0
    trials: int = 1
    concurrency: int = 0
    already_done: int = 0
    models: dict[str, ModelProgress] = field(default_factory=dict)
    lanes: dict[str, LaneState] = field(default_factory=dict)
    widths: dict[str, int] = field(default_factory=dict)
    spent_usd: Decimal | None = Decimal(0)
    reserved_usd: Decimal = Decimal(0)
    ceiling_usd: Decimal | None = None
    unpriced_calls: int = 0
    retrying: int = 0
    paused: bool = False
    preparing: dict[str, tuple[str, str]] = field(default_factory=dict)
    stopping: str = ""
    status: RunStatus | None = None
    latest: deque[CallDone] = field(default_factory=lambda: deque(maxlen=LATEST))
    lanes_at: float = 0.0
    _began_at: float = 0.0
    _finish_times: dict[str, deque[float]] = field(default_factory=dict)
    _on_way: set[Cell] = field(default_factory=set)
    _between_tries: set[Cell] = field(default_factory=set)

    def take(self, events: Iterable[Event]) -> None:
        """Folds a batch of events in order."""
        handlers = _handlers()
        for event in events:
            handler = handlers.get(type(event))
            if handler is not None:
                handler(self, event)

    def offered_again(self, model_keys: Iterable[str]) -> None:
        """The person lets models that got no more questions be asked again."""
        for key in model_keys:
            if key in self.models:
                self.models[key].set_aside = ""

    @property
    def done(self) -> int:
        """Answers that are in."""
        return sum(model.done for model in self.models.values())

    @property
    def failed(self) -> int:
        """Questions that could not be answered."""
        return sum(model.failed for model in self.models.values())

    @property
    def stopped(self) -> int:
        """Questions that were given up."""
        return sum(model.stopped for model in self.models.values())

    @property
    def running(self) -> int:
        """Questions on their way."""
        return sum(model.running for model in self.models.values())

    @property
    def waiting(self) -> int:
        """Questions not asked yet."""
        return max(0, self.total - self.done - self.failed - self.stopped - self.running)

    @property
    def share(self) -> float:
        """How much is finished, 0..1."""
        return 0.0 if not self.total else (self.done + self.failed + self.stopped) / self.total

    @property
    def elapsed_s(self) -> float:
        """Seconds since the first event."""
        return self.now() - self._began_at

    def seconds_left(self) -> float | None:
        """How long the slowest lane still needs at its newest rate; None while too little is known."""
        answers = self.done + self.failed - self.already_done
        if answers < TIME_AFTER_ANSWERS and self.elapsed_s < TIME_AFTER_S:
            return None
        longest = 0.0
        for lane in {model.lane for model in self.models.values() if model.skipped is None}:
            left = sum(m.waiting + m.running for m in self.models.values() if m.lane == lane)
            if not left:
                continue
            rate = self._rate(lane)
            if rate is None:
                return None
            longest = max(longest, left / rate + self._closed_for(lane))
        return longest

    def closed_for(self, lane: str) -> float:
        """Seconds until a closed lane opens again, counted down since the last report; 0 = open."""
        return self._closed_for(lane)

    def _closed_for(self, lane: str) -> float:
        state = self.lanes.get(lane)
        if state is None or state.closed_for_s is None:
            return 0.0
        return max(0.0, state.closed_for_s - (self.now() - self.lanes_at))

    def _rate(self, lane: str) -> float | None:
        times = self._finish_times.get(lane)
        if not times or len(times) < 2:
            return None
        span = self.now() - times[0]
        return (len(times) - 1) / span if span > 0 else None

    def _planned(self, event: Planned) -> None:
        from engine.execution.events import Earlier

        self.run_id, self.total, self.cases = event.run_id, event.total, event.cases
        self.trials, self.concurrency = event.trials, event.concurrency
        self.already_done = event.already_done
        self.widths = dict(event.lanes)
        self._began_at = self.now()
        each = event.cases * event.trials
        again = Counter(cell.model_key for cell in event.again)
        for key in event.models:
            if again and not again[key]:
                continue
            before = event.earlier.get(key) or Earlier()
            self.models[key] = ModelProgress(
                key,
                event.lane_of.get(key, ""),
                planned=again[key] or each,
                done=before.done,
                failed=before.failed,
                scored=before.scored,
                passed=before.passed,
            )
        for item in () if again else event.skipped:
            self.models[item.model_key] = ModelProgress(item.model_key, "", skipped=item)

    def _queue(self, event: QueueChanged) -> None:
        self.lanes = {state.id: state for state in event.lanes}
        self.lanes_at = self.now()
        self.retrying = event.retrying

    def _started(self, event: Started) -> None:
        self._place(event.cell, on_way=True)

    def _retrying(self, event: Retrying) -> None:
        self._place(event.cell, between_tries=True)
        model = self.models.get(event.cell.model_key)
        if model is not None:
            model.last_error = event.error

    def _place(self, cell: Cell, *, on_way: bool = False, between_tries: bool = False) -> None:
        """Where a question is from now on; counts follow only what really changes its place."""
        model = self.models.get(cell.model_key)
        if model is None:
            return
        model.running += on_way - (cell in self._on_way)
        model.retrying += between_tries - (cell in self._between_tries)
        for place, inside in ((self._on_way, on_way), (self._between_tries, between_tries)):
            if inside:
                place.add(cell)
            else:
                place.discard(cell)

    def _finished(self, event: CallFinished) -> None:
        done = event.done
        model = self.models.get(done.cell.model_key)
        if model is None:
            return
        self._place(done.cell)
        if done.status is CallStatus.OK:
            model.done += 1
        elif done.status is CallStatus.ERROR:
            model.failed += 1
            model.last_error = done.error
        else:
            model.stopped += 1
        if done.score is not None and done.score.passed is not None:
            model.scored += 1
            model.passed += done.score.passed
        self.latest.append(done)
        times = self._finish_times.setdefault(model.lane, deque(maxlen=RATE_OVER))
        times.append(self.now())

    def _budget(self, event: BudgetChanged) -> None:
        self.spent_usd, self.reserved_usd = event.spent_usd, event.reserved_usd
        self.ceiling_usd, self.unpriced_calls = event.ceiling_usd, event.unpriced_calls
        for key, spent in event.by_model.items():
            if key in self.models:
                self.models[key].spent_usd = spent

    def _set_aside(self, event: ModelSetAside) -> None:
        for key in event.model_keys:
            if key in self.models:
                self.models[key].set_aside = event.code
                self.models[key].aside_until = event.until
                self.models[key].last_error = event.error

    def _preparing(self, event: Preparing) -> None:
        self.preparing[event.what] = (event.state, event.reason)

    def _stopping(self, event: RunStopping) -> None:
        self.stopping = event.reason

    def _paused(self, event: RunPaused) -> None:
        self.paused = event.paused

    def _run_finished(self, event: RunFinished) -> None:
        self.status = event.status
        self.spent_usd = event.cost_usd
        self._on_way.clear()
        self._between_tries.clear()
        for model in self.models.values():
            model.running = model.retrying = 0


@cache
def _handlers() -> dict[type[Event], Callable[..., None]]:
    # The events are imported with the first run, not before the window is seen.
    from engine.execution import events as ev

    return {
        ev.Planned: RunProgress._planned,
        ev.QueueChanged: RunProgress._queue,
        ev.Started: RunProgress._started,
        ev.Retrying: RunProgress._retrying,
        ev.CallFinished: RunProgress._finished,
        ev.BudgetChanged: RunProgress._budget,
        ev.ModelSetAside: RunProgress._set_aside,
        ev.Preparing: RunProgress._preparing,
        ev.RunStopping: RunProgress._stopping,
        ev.RunPaused: RunProgress._paused,
        ev.RunFinished: RunProgress._run_finished,
    }
