"""The one writer of a run: takes writes from any thread and commits them in groups."""

from __future__ import annotations

import logging
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import TypeAlias

from engine.errors import ArenaError, WorldError
from engine.storage.records import FinishWrite, RunHead, Write
from engine.storage.store import Store

OnCommitted: TypeAlias = Callable[[Sequence[Write]], None]
OnFailure: TypeAlias = Callable[[ArenaError, Sequence[Write]], None]

_AT_ONCE = 2_000
_log = logging.getLogger(__name__)


class Recorder:
    """Writes to one store from a thread of its own, in the order of `submit`.

    Whatever has come in while one commit went on is the next one. `on_committed` gets each batch
    after it is durable, `on_failure` the error and every write that is not; both are called on
    the writer thread, one at a time, in order. After a failure nothing is lost: all writes, later
    ones too, are kept in memory until `retry` or `rescue` has brought them to a disk.
    A file that is merely locked is tried again for `lock_patience_s` before that.
    """

    def __init__(
        self,
        store: Store,
        on_committed: OnCommitted,
        on_failure: OnFailure,
        *,
        lock_patience_s: float = 60.0,
        sign_of_life_s: float = 60.0,
    ) -> None:
        self._store = store
        self._on_committed = on_committed
        self._on_failure = on_failure
        self._lock_patience_s = lock_patience_s
        self._sign_of_life_s = sign_of_life_s
        self._changed = threading.Condition()
        self._waiting: deque[tuple[Write, ...]] = deque()
        self._in_hand: Sequence[Write] = ()
        self._kept: list[Write] = []
        self._failure: ArenaError | None = None
        self._submitted = 0
        self._settled = 0
        self._closing = False
        self._rescuing = False
        self._alive_runs: set[str] = set()
        # A daemon, so that a disk that never answers cannot keep the program from ending.
        self._thread = threading.Thread(target=self._work, name="arena-recorder", daemon=True)
        self._thread.start()

    @property
    def failure(self) -> ArenaError | None:
        """Why nothing is committed any more; None while all is well."""
        with self._changed:
            return self._failure

    @property
    def kept(self) -> tuple[Write, ...]:
        """Every write that is not durable yet, in order."""
        with self._changed:
            return (*self._kept, *self._in_hand, *self._queued())

    def submit(self, *writes: Write) -> None:
        """Queues writes; those of one call are committed together. Never waits for the disk."""
        with self._changed:
            if self._closing:
                raise ArenaError("recorder_closed", "The recorder has been closed and takes no more results.")
            self._submitted += len(writes)
            self._waiting.append(writes)
            self._changed.notify_all()

    def flush(self, timeout_s: float) -> bool:
        """Waits until all that was submitted before is durable and has been reported.

        False = it took longer than `timeout_s`, or writes are kept back by a failure.
        """
        with self._changed:
            goal = self._submitted
            if threading.current_thread() is self._thread:
                # Called from a callback: waiting here would be waiting for oneself.
                return self._settled >= goal
            self._changed.wait_for(lambda: self._settled >= goal or self._failure is not None, timeout_s)
            return self._settled >= goal

    def close(self, timeout_s: float = 10.0) -> bool:
        """Takes no more, flushes, ends the thread. False as for `flush`; `kept` then has the rest."""
        flushed = self.flush(timeout_s)
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout_s)
        return flushed

    def retry(self) -> None:
        """After a failure: tries again in order. The outcome comes through the callbacks."""
        with self._changed:
            if self._failure is not None and not self._rescuing:
                self._failure = None
                self._waiting.appendleft(tuple(self._kept))
                self._kept = []
                self._changed.notify_all()

    def rescue(self, path: Path, head: RunHead | None = None) -> int:
        """After a failure: brings the run and all kept writes into another store file.

        What the failed store still holds of the runs is copied first; where it can no longer be
        read, `head` (with cells that can be read again) begins the run anew. Returns how many
        writes were saved. The recorder stays in its failed state. Raises the faults of the other
        file, and then keeps everything.
        """
        with self._changed:
            if self._failure is None:
                raise ArenaError("nothing_to_rescue", "Everything has been saved in its usual place.")
            self._rescuing = True
            writes = (*self._kept, *self._queued())
        try:
            with Store.open(path) as other:
                _bring_runs(self._store, other, {write.run_id for write in writes}, head)
                other.write(writes)
        finally:
            with self._changed:
                self._rescuing = False
        with self._changed:
            self._forget(len(writes))
        return len(writes)

    def _queued(self) -> Iterator[Write]:
        return chain.from_iterable(self._waiting)

    def _forget(self, count: int) -> None:
        # Writes may have come in while the others were being saved: only those saved go.
        rest = [*self._kept, *self._queued()][count:]
        self._kept, self._waiting = rest, deque()
        self._settled += count
        self._changed.notify_all()

    def _work(self) -> None:
        next_sign = time.monotonic() + self._sign_of_life_s
        while True:
            batch = self._next_batch(next_sign)
            if batch is None:
                break
            if batch:
                self._commit(batch)
            if time.monotonic() >= next_sign:
                self._give_sign_of_life()
                next_sign = time.monotonic() + self._sign_of_life_s
        self._store.database.release()

    def _next_batch(self, until: float) -> Sequence[Write] | None:
        """Waits for writes; empty = only the time is up, None = closed and nothing left to do."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._closing or (self._waiting and self._failure is None),
                max(0.0, until - time.monotonic()),
            )
            if self._failure is not None:
                return None if self._closing else ()
            if not self._waiting:
                return None if self._closing else ()
            taken: list[Write] = []
            while self._waiting and len(taken) < _AT_ONCE:
                taken.extend(self._waiting.popleft())
            self._in_hand = taken
            return taken

    def _commit(self, batch: Sequence[Write]) -> None:
        try:
            self._write(batch)
        except Exception as error:
            self._fail(error, batch)
            return
        for write in batch:
            if isinstance(write, FinishWrite):
                self._alive_runs.discard(write.run_id)
            else:
                self._alive_runs.add(write.run_id)
        try:
            self._on_committed(batch)
        except Exception:
            # The results are safe; a listener's mistake must not stop the saving of others.
            _log.exception("telling about committed results failed")
        with self._changed:
            self._in_hand = ()
            self._settled += len(batch)
            self._changed.notify_all()

    def _write(self, batch: Sequence[Write]) -> None:
        patience = time.monotonic() + self._lock_patience_s
        while True:
            try:
                return self._store.write(batch)
            except WorldError as error:
                if error.code != "store_locked" or time.monotonic() >= patience:
                    raise
                _log.warning("the history file is locked; trying again")

    def _fail(self, error: Exception, batch: Sequence[Write]) -> None:
        if not isinstance(error, ArenaError):
            _log.error("saving results failed", exc_info=error)
            error = ArenaError(
                "recorder_failed",
                f"Results could not be saved because of a mistake in the program ({error!r}).",
                hint="Save them to another file, and please report this.",
            )
        with self._changed:
            self._failure = error
            self._kept.extend(batch)
            self._in_hand = ()
            kept = (*self._kept, *self._queued())
            self._changed.notify_all()
        try:
            self._on_failure(error, kept)
        except Exception:
            _log.exception("telling about a failure to save failed")

    def _give_sign_of_life(self) -> None:
        if self._alive_runs:
            try:
                self._store.sign_of_life(sorted(self._alive_runs))
            except WorldError as error:
                # If the trouble lasts, the next write fails and tells the run.
                _log.warning("no sign of life could be left: %s", error.code)


def _bring_runs(source: Store, other: Store, run_ids: set[str], head: RunHead | None) -> None:
    if source.database.is_gone():
        # What was saved before is still in the open file, for as long as it stays open.
        with tempfile.TemporaryDirectory(dir=other.path.parent) as folder:
            copy = Path(folder) / "arena.sqlite"
            source.database.copy_to(copy)
            other.copy_from(copy, sorted(run_ids))
        return
    for run_id in sorted(run_ids):
        try:
            other.copy_from(source.path, [run_id])
        except WorldError:
            if head is None or head.run_id != run_id:
                raise
        if head is not None and head.run_id == run_id and not other.has_run(run_id):
            other.create_run(head)
