"""One helper for one-off work off the GUI thread, answered on the GUI thread.

Not for runs (those have their controller): for opening a project, reading stored answers, a key
check. The work must not touch widgets; the answer comes back on the thread that made the
`Background`, and only while the asking object still lives.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any
from weakref import WeakMethod, ref

from PySide6.QtCore import QObject, QThreadPool, Signal, Slot

from engine.errors import Cancelled

_WAIT_MS = 5_000


class Job:
    """A handle for one piece of work. Thread-safe."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._stop = threading.Event()

    def stop(self) -> None:
        """Asks the work to end; its answer is dropped."""
        self._stop.set()

    @property
    def stopped(self) -> bool:
        """Whether `stop` was called."""
        return self._stop.is_set()

    def check(self) -> None:
        """For the work to call now and then. Raises Cancelled."""
        if self._stop.is_set():
            raise Cancelled


class Background(QObject):
    """Runs work on a small thread pool. Make one per application, on the GUI thread."""

    busy_changed = Signal(int)
    """How many pieces of work are under way."""
    _finished = Signal(object)

    def __init__(
        self,
        parent: QObject | None = None,
        *,
        threads: int = 3,
        prepare: Callable[[], None] | None = None,
    ) -> None:
        """`prepare` is run once, on the first worker, before any work: for imports that must not race."""
        super().__init__(parent)
        self._prepare = prepare
        self._preparing = threading.Lock()
        self._pool = QThreadPool(self)
        self._pool.setMaxThreadCount(threads)
        self._slow = QThreadPool(self)
        self._slow.setMaxThreadCount(1)
        self._jobs: set[Job] = set()
        self._latest: dict[str, Job] = {}
        self._closed = False
        self._finished.connect(self._on_finished)

    def run(
        self,
        work: Callable[[Job], Any],
        done: Callable[[Any], None],
        failed: Callable[[Exception], None],
        *,
        name: str = "work",
        replace: bool = False,
        slow: bool = False,
    ) -> Job:
        """Runs `work(job)` on another thread and then `done(result)` or `failed(error)` on this one.

        `replace` stops earlier work of the same name: only the newest answer arrives. `slow` work, which
        nobody sits and waits for, is done one after the other and never keeps quick questions waiting.
        When `done` is a method of an object that is gone by then, the answer is dropped. Exceptions of
        the work never get lost: all but Cancelled reach `failed`. After `close` nothing begins any more:
        what a last turn of the event loop asks for would open files that nobody closes.
        """
        if replace and name in self._latest:
            self._latest[name].stop()
        job = Job(name)
        if self._closed:
            job.stop()
            return job
        self._jobs.add(job)
        self._latest[name] = job
        answer, problem = _weak(done), _weak(failed)
        pool = self._slow if slow else self._pool
        pool.start(lambda: self._work(job, work, answer, problem))
        self.busy_changed.emit(len(self._jobs))
        return job

    @property
    def busy(self) -> int:
        """How many pieces of work are under way."""
        return len(self._jobs)

    def close(self) -> bool:
        """Stops all work for good and waits up to five seconds. True when none is left."""
        self._closed = True
        for job in self._jobs:
            job.stop()
        quick, slow = self._pool.waitForDone(_WAIT_MS), self._slow.waitForDone(_WAIT_MS)
        return quick and slow

    def _work(self, job: Job, work: Callable[[Job], Any], done: _Weak, failed: _Weak) -> None:
        # An exception that left this function would reach sys.excepthook on the pool's thread only.
        try:
            self._prepare_once()
            value = work(job)
        except Cancelled:
            self._tell((job, None, None))
        except Exception as error:  # the asker decides what it means
            self._tell((job, failed, error))
        else:
            self._tell((job, done, value))

    def _tell(self, answer: tuple[Job, _Weak | None, Any]) -> None:
        """Hands an answer over; after the program's end there is nobody left to take it."""
        try:
            self._finished.emit(answer)
        except RuntimeError as error:
            if "deleted" not in str(error):
                raise

    def _prepare_once(self) -> None:
        with self._preparing:
            prepare, self._prepare = self._prepare, None
            if prepare is not None:
                prepare()

    @Slot(object)
    def _on_finished(self, answer: tuple[Job, _Weak | None, Any]) -> None:
        job, target, value = answer
        self._jobs.discard(job)
        if self._latest.get(job.name) is job:
            del self._latest[job.name]
        self.busy_changed.emit(len(self._jobs))
        call = target() if target is not None and not job.stopped else None
        if call is not None:
            call(value)


_Weak = Callable[[], Callable[[Any], None] | None]


def _weak(call: Callable[[Any], None]) -> _Weak:
    """A bound method without keeping its object; a plain function is kept."""
    owner = getattr(call, "__self__", None)
    if owner is None:
        return lambda: call
    method = WeakMethod(call)  # type: ignore[type-var]
    if not isinstance(owner, QObject):
        return method
    alive = ref(owner)

    def get() -> Callable[[Any], None] | None:
        from shiboken6 import isValid

        target = alive()
        return method() if target is not None and isValid(target) else None

    return get
