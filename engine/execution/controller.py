"""The run as a Qt object in a thread of its own: signals out, slots in. The engine's only Qt.

The controller owns its `QThread`, its timers and, through the executor, the run's thread pool.
Nothing of the engine runs on the thread that draws. Slots may be called from any thread.
"""

from __future__ import annotations

import ctypes
import logging
import queue
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtCore import (
    QCoreApplication,
    QEventLoop,
    QObject,
    QRunnable,
    Qt,
    QThread,
    QThreadPool,
    QTimer,
    Signal,
    Slot,
)

import engine.plain_imports  # noqa: F401 - must follow Qt and go before all others
from engine.domain import RunStatus
from engine.errors import ArenaError
from engine.execution.events import Event, RunFinished
from engine.execution.executor import ExecutorFactory, Work
from engine.execution.messages import Command, Ticket
from engine.execution.request import RunRequest
from engine.execution.session import Session

BATCH_MS = 100
HEARTBEAT_MS = 1_000
_NO_HURRY_MS = 3_600_000

LEFT_BEHIND: list[QThreadPool] = []
"""Pools with calls that did not come back. They are never deleted: that would wait for them."""

__all__ = ["LEFT_BEHIND", "RunController", "RunRequest", "ThreadPoolExecutor", "run_to_end"]

_running: list[RunController] = []
_log = logging.getLogger(__name__)


class _Worker(QRunnable):
    """One thread of a pool: carries out attempts until it is told to end. Owns no signal."""

    def __init__(self, take: Callable[[], Ticket | None], work: Work) -> None:
        super().__init__()
        self._take = take
        self._work = work

    def run(self) -> None:
        """Waits for attempts only, never for a lane, a limit or a retry."""
        while (ticket := self._take()) is not None:
            self._work(ticket)


class ThreadPoolExecutor:
    """Runs attempts in a `QThreadPool` of its own, never fed more than its width.

    A thread is kept for the whole run: handing a new runnable to the pool for every attempt costs
    a change of threads under the interpreter's lock each time. Threads begin as they are needed.
    """

    def __init__(self, work: Work, concurrency: int) -> None:
        self._work = work
        self._pool = QThreadPool()
        self._pool.setMaxThreadCount(concurrency)
        self._pool.setExpiryTimeout(-1)
        self._tickets: queue.SimpleQueue[Ticket | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._concurrency = concurrency
        self._workers = 0
        self._under_way = 0

    @property
    def capacity(self) -> int:
        """As many as the pool may have threads."""
        return self._concurrency

    def start(self, ticket: Ticket) -> None:
        """Hands the attempt to a free thread, or to a new one."""
        with self._lock:
            self._under_way += 1
            more = self._under_way > self._workers
            self._workers += more
        self._tickets.put(ticket)
        if more:
            self._pool.start(_Worker(self._tickets.get, self._carry_out))

    def _carry_out(self, ticket: Ticket) -> None:
        try:
            self._work(ticket)
        except BaseException:
            _log.exception("an attempt broke out of its frame")
        finally:
            with self._lock:
                self._under_way -= 1

    def stop_now(self) -> None:
        """Nothing waits here: the dispatcher feeds only free threads."""

    def close(self, timeout_s: float) -> bool:
        """Ends the threads; those that do not come back in time are left behind for good."""
        for _ in range(self._workers):
            self._tickets.put(None)
        if self._pool.waitForDone(int(timeout_s * 1000)):
            return True
        # A deleted pool waits for its threads without end, also when the interpreter goes down.
        LEFT_BEHIND.append(self._pool)
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(self._pool))
        return False


class RunController(QObject):
    """One run. Lives in its own thread from `launch` on; `finished` is its last signal."""

    events = Signal(object)
    """tuple[Event, ...], about ten times a second while there is something to tell."""
    finished = Signal(object)
    """RunFinished; the store holds everything when it comes."""
    _woken = Signal()

    def __init__(self, request: RunRequest, make_executor: ExecutorFactory = ThreadPoolExecutor) -> None:
        super().__init__()
        self._wake_lock = threading.Lock()
        self._wake_sent = False
        self._session = self._make_session(request, make_executor)
        self._thread: QThread | None = None
        self.failure: BaseException | None = None
        self.result: RunFinished | None = None
        self._woken.connect(self._step, Qt.ConnectionType.QueuedConnection)

    def _make_session(self, request: RunRequest, make_executor: ExecutorFactory) -> Session:
        return Session(request, make_executor, self._wake)

    @classmethod
    def launch(
        cls, request: RunRequest, make_executor: ExecutorFactory = ThreadPoolExecutor
    ) -> RunController:
        """Makes the controller and starts it in a thread of its own.

        It starts when control is back in the caller's event loop, so that signals can be connected
        to what is returned without missing one.
        """
        controller = cls(request, make_executor)
        QTimer.singleShot(0, controller, controller.start_in_thread)
        return controller

    def start_in_thread(self) -> None:
        """Moves into a new thread and starts. To be called once; connect to the signals before."""
        thread = self._thread = QThread()
        thread.setObjectName("arena-run")
        self.moveToThread(thread)
        thread.started.connect(self.start)
        _let_go_of_ended()
        _running.append(self)
        thread.start()

    @property
    def run_id(self) -> str:
        """The id of the run, known before it starts."""
        return self._session.run_id

    # ---- slots; safe from any thread

    @Slot()
    def cancel(self) -> None:
        """First: start nothing more and await what is in flight. Again: stop now."""
        self._session.post(Command("cancel"))

    @Slot()
    def stop_now(self) -> None:
        """Cuts what is in flight; those cells are stopped."""
        self._session.post(Command("stop_now"))

    @Slot()
    def pause(self) -> None:
        """Starts nothing until `resume_run`."""
        self._session.post(Command("pause"))

    @Slot()
    def resume_run(self) -> None:
        """Goes on after `pause`."""
        self._session.post(Command("resume"))

    @Slot(str, int)
    def set_width(self, lane: str, width: int) -> None:
        """A new width for a lane while the run goes on."""
        self._session.post(Command("set_width", (lane, width)))

    def offer_again(self, model_keys: Sequence[str]) -> None:
        """Lets models that were set aside be asked again."""
        self._session.post(Command("offer_again", (tuple(model_keys),)))

    def abort(self, error: BaseException) -> None:
        """Something outside failed: close the run as aborted with what there is."""
        self._session.post(Command("fail", (error,)))

    @property
    def store_path(self) -> Path:
        """The file that the run is written to."""
        return self._session.request.store_path

    def rescue(self, path: Path) -> int:
        """After the store failed: saves the run and all kept results to another file."""
        return self._session.rescue(path)

    def save_again(self) -> bool:
        """After the store failed: tries once more; True = all is saved. Not for the thread that draws."""
        return self._session.save_again()

    @property
    def ended(self) -> bool:
        """True where the controller's thread is over."""
        return self._thread is not None and self._thread.isFinished()

    def wait(self, timeout_ms: int = 30_000) -> bool:
        """Waits until the controller's thread has ended. Not for the thread that draws."""
        return self._thread is None or self._thread.wait(timeout_ms)

    # ---- on the controller's thread

    @Slot()
    def start(self) -> None:
        """Opens the run and makes its timers here, in the thread they belong to."""
        self._due = self._timer(self._step, single=True)
        self._batch = self._timer(self._send_events, single=True)
        self._heartbeat = self._timer(self._step, single=False)
        self._guarded(self._session.open)
        if self.failure is None:
            self._heartbeat.start(HEARTBEAT_MS)
            self._step()

    def _timer(self, slot: Callable[[], None], *, single: bool) -> QTimer:
        timer = QTimer(self)
        timer.setSingleShot(single)
        timer.timeout.connect(slot)
        return timer

    def _wake(self) -> None:
        """From any thread: one queued call at a time, however much comes in."""
        with self._wake_lock:
            if self._wake_sent:
                return
            self._wake_sent = True
        self._woken.emit()

    @Slot()
    def _step(self) -> None:
        with self._wake_lock:
            self._wake_sent = False
        if self.result is not None or self.failure is not None:
            return
        self._guarded(self._step_session)

    def _step_session(self) -> None:
        moment = self._session.step()
        if self._session.finished is not None:
            self._close(self._session.finished)
            return
        if moment is None:
            self._due.stop()
        else:
            wait = moment - self._session.now()
            self._due.start(min(_NO_HURRY_MS, max(0, round(wait * 1000 + 0.5))))
        if not self._batch.isActive():
            self._batch.start(BATCH_MS)

    @Slot()
    def _send_events(self) -> None:
        events: tuple[Event, ...] = self._session.take_events()
        if events:
            self.events.emit(events)
            # What did not fit, and counts that change while nothing else happens, come next time.
            self._batch.start(BATCH_MS)

    def _guarded(self, work: Callable[[], None]) -> None:
        try:
            work()
        except BaseException as error:
            self.failure = error
            self._close(self._after_failure(error))

    def _after_failure(self, error: BaseException) -> RunFinished:
        if not isinstance(error, ArenaError):
            _log.error("the run broke down", exc_info=error)
        try:
            self._session.abort(error)
        except Exception:
            _log.exception("the broken run could not be closed")
        if self._session.finished is not None:
            return self._session.finished
        told = f"{error.message} {error.hint}".strip() if isinstance(error, ArenaError) else repr(error)
        return RunFinished(self.run_id, 0, RunStatus.ABORTED, 0, 0, 0, 0, None, 0.0, told)

    def _close(self, result: RunFinished) -> None:
        for timer in (self._due, self._batch, self._heartbeat):
            timer.stop()
        self.result = result
        while events := self._session.take_events():
            self.events.emit(events)
        self.finished.emit(result)
        if self._thread is not None:
            self._thread.quit()


def _let_go_of_ended() -> None:
    """A controller is kept until its thread is over: a `QThread` must not be deleted before."""
    _running[:] = [controller for controller in _running if not controller.ended]


def run_to_end(
    request: RunRequest,
    on_events: Callable[[tuple[Event, ...]], None] | None = None,
    stop: threading.Event | None = None,
    stop_now: threading.Event | None = None,
) -> str:
    """Carries out a run and returns its id when all is stored. Needs no window.

    `on_events` is called on this thread. Setting `stop` ends the run after the calls in flight,
    setting `stop_now` cuts them. What aborted the run is raised again after it was closed.
    """
    app = QCoreApplication.instance() or QCoreApplication([])
    loop = QEventLoop()
    controller = RunController(request)
    if on_events is not None:
        receiver = _Receiver(on_events)
        controller.events.connect(receiver.take, Qt.ConnectionType.QueuedConnection)
    controller.finished.connect(loop.quit, Qt.ConnectionType.QueuedConnection)
    watch = QTimer()
    watch.timeout.connect(lambda: _watch(controller, stop, stop_now))
    if stop is not None or stop_now is not None:
        watch.start(50)
    controller.start_in_thread()
    try:
        loop.exec()
    except BaseException as error:
        controller.abort(error)
        controller.wait()
        raise
    finally:
        watch.stop()
    app.processEvents()
    controller.wait()
    _let_go_of_ended()
    if controller.failure is not None:
        raise controller.failure
    return controller.run_id


class _Receiver(QObject):
    """Takes batches on the thread that waits for the run."""

    def __init__(self, take: Callable[[tuple[Event, ...]], None]) -> None:
        super().__init__()
        self._take = take

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        """One batch."""
        self._take(events)


def _watch(controller: RunController, stop: threading.Event | None, stop_now: threading.Event | None) -> None:
    if stop_now is not None and stop_now.is_set():
        stop_now.clear()
        controller.stop_now()
    elif stop is not None and stop.is_set():
        stop.clear()
        controller.cancel()
