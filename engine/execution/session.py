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

from engine.domain import RunStatus
from engine.errors import ArenaError, UserError
from engine.execution import events as ev
from engine.execution import unsaved
from engine.execution.arrivals import Arrivals
from engine.execution.departures import LEFT_BEHIND_S, Departures
from engine.execution.ending import Ending, close_run
from engine.execution.executor import Executor, ExecutorFactory
from engine.execution.late_marks import mark_earlier_answers
from engine.execution.machinery import build, prepare_sandbox
from engine.execution.messages import (
    Answered,
    Command,
    Committed,
    Message,
    NotSaved,
    Prepared,
    Ticket,
    WorkerMessage,
)
from engine.execution.opening import Opening, open_run
from engine.execution.request import RunRequest
from engine.execution.resume import resumed
from engine.execution.sleep_watch import SleepWatch
from engine.scoring.sandbox import SandboxState
from engine.storage.records import DoneWrite, RunFinish, SpendWrite, new_run_id

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
        self._stop_event = self._enough = threading.Event()
        self._cancel_asked = False
        self._not_saved: ArenaError | None = None
        self._sleep = SleepWatch(self._clock.wall)
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
        return unsaved.rescue(self.recorder, self._opened, path)

    def save_again(self) -> bool:
        """After the store failed: tries its usual place once more; True = everything is there now."""
        return unsaved.save_again(self.recorder, self._opened)

    @property
    def _opened(self) -> Opening:
        if self._opening is None:
            raise RuntimeError("the run was never opened")
        return self._opening

    # ---- on the owner's thread

    def open(self) -> None:
        """Enters the run in the store and gets everything ready. Raises the faults of the store."""
        self._started_at = self._clock.monotonic()
        code = self.request.preflight.code
        if code is not None and code.is_broken:
            raise UserError(
                "code_changed",
                "The code of this project has changed since it was looked at, so nothing of it was run.",
                hint="Open the project again. You are asked about its code as it is now.",
            )
        opening = self._enter()
        self.run_id = opening.run_id
        try:
            self._prepare(opening)
        except BaseException as error:
            self._close_unprepared(opening, error)
            raise
        self._opening = opening

    def _enter(self) -> Opening:
        self.request = resumed(self.request)
        return open_run(self.request, self.run_id)

    def _prepare(self, opening: Opening) -> None:
        parts = build(self.request, opening, self.post, self._stop_event)
        self.recorder, self.dispatcher, self._narrator = parts.recorder, parts.dispatcher, parts.narrator
        self._clients, self._caller, self._markers = parts.clients, parts.caller, parts.markers
        plan = self.request.plan
        self._arrivals = Arrivals(self.run_id, plan.grid, self._clock, parts)
        self._keeps_account = self._arrivals.keeps_account
        self._executor: Executor = self._make_executor(self._carry_out, plan.concurrency)
        self._departures = Departures(parts, self._arrivals, self._executor, self._stop_event)
        self._narrator.planned(plan, len(opening.done), opening.earlier)
        if parts.sandbox is not None:
            self._narrator.tell(ev.Preparing, what="sandbox", state=SandboxState.PREPARING.value)
            prepare_sandbox(parts.sandbox, self.post)
        if opening.has_marks_to_make:
            self._arrivals.late_marks = True
            threading.Thread(
                target=mark_earlier_answers,
                args=(opening, self._caller, plan, self.request.project.config, self.post, self._enough),
                name="arena-late-marks",
                daemon=True,
            ).start()
        else:
            # Answers that meet others would wait for earlier ones that nobody reads.
            self._arrivals.desk.nothing_earlier()

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
        if ticket.request is not None and self._markers is not None:
            self._markers.attempt(ticket, self.post)
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
        if self._sleep.slept():
            self.dispatcher.clock_jumped(self._clock.monotonic())
        while self._inbox:
            self._take(self._inbox.popleft())
        now = self._clock.monotonic()
        self._departures.abandon_late(now)
        if self._not_saved is None:
            for job in self.dispatcher.start_ready(now, self._executor.capacity):
                self._departures.start(job)
        self._tell_changes()
        if self._over():
            self._finish()
            return None
        moments = [m for m in (self.dispatcher.wake_at(now), self._departures.abandon_at) if m is not None]
        return min(moments, default=None)

    # ---- what happened

    def _take(self, message: Message) -> None:
        match message:
            case Committed():
                for write in message.writes:
                    if isinstance(write, SpendWrite):
                        self._departures.committed(write)
                    else:
                        self._arrivals.committed(write)
            case NotSaved():
                self._not_saved = message.error
                self.dispatcher.stop("not_saved", self._clock.monotonic())
                self.dispatcher.stop_judges()
                self._departures.close()
            case Prepared():
                self._narrator.prepared(message.what, message.state, message.reason)
            case Command():
                self._obey(message)
            case _:
                self._arrivals.take(message)

    # ---- what the user wants

    def _obey(self, command: Command) -> None:
        now = self._clock.monotonic()
        match command.name, command.values:
            case "cancel", ():
                if self._cancel_asked:
                    self._departures.cut(now)
                self._cancel_asked = True
                self.dispatcher.stop("cancelled", now)
            case "stop_now", ():
                self.dispatcher.stop("cancelled", now)
                self._departures.cut(now)
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

    def _tell_changes(self) -> None:
        self._arrivals.desk.take_dropped()
        for ended in self.dispatcher.take_ended():
            self._arrivals.ended_waiting(ended)
        for change in self.dispatcher.take_changes():
            self._narrator.change(change, len(self.dispatcher.in_flight()))

    def take_events(self) -> tuple[ev.Event, ...]:
        """The next batch of events; empty = there are none."""
        if self._opening is None:
            return ()
        return self._narrator.take(self.dispatcher if self.finished is None else None)

    # ---- the end

    def _over(self) -> bool:
        books = self._arrivals.books
        if self._arrivals.late_marks and not self._stop_event.is_set():
            return False
        if self._not_saved is not None:
            return all(books.is_scoring(ticket.job) for ticket in books.under_way())
        return self.dispatcher.over and not books.unsaved and not self._inbox

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
            self._end(RunStatus.ABORTED, error)

    def _end(self, status: RunStatus, error: BaseException | None) -> None:
        opening = self._opened
        self._clients.close()
        # Threads that were waited for already are not waited for again; all others are on their way out.
        if not self._executor.close(0.0 if self._departures.abandoned else LEFT_BEHIND_S):
            _log.warning("some calls did not come back and were left behind")
        if error is not None and self._not_saved is None:
            self._arrivals.keep_all(self._inbox)
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
        finished = self._close_run(ending, opening)
        while self._inbox:
            self._arrivals.tell_saved(self._inbox.popleft())
        kept = len(self.recorder.kept)
        self.finished = self._narrator.finished(replace(finished, unsaved=kept), self.dispatcher)
        if not kept:
            unsaved.close_store(self.recorder, opening)

    def _close_run(self, ending: Ending, opening: Opening) -> ev.RunFinished:
        return close_run(ending, opening.store, self.recorder)
