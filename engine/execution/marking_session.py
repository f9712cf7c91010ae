"""A session that asks no model: it marks the answers of a saved run again, judge and all.

Everything else is a run's: the judge's lane, retries, slowing down, ceilings, what is written before
a question leaves. Old marks stay until their replacement is stored; a cancel asks no more but for
marks that are begun, and the result is made of what there is then. Marks that the store could not take
are kept until they are on a disk, and the result is made there.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

from engine.domain import Cell, Note
from engine.errors import ArenaError
from engine.execution import events as ev
from engine.execution.ending import FLUSH_S, Ending, marker_notes, money_notes, run_cost
from engine.execution.executor import ExecutorFactory
from engine.execution.ledger_rows import spend_write
from engine.execution.mark_again import MarkAgain
from engine.execution.messages import Command, LateMarking, Message
from engine.execution.opening import Opening
from engine.execution.rescore import (
    CUT_OFF,
    OF_ASKING,
    Asked,
    Rescored,
    Tools,
    Worth,
    rescore,
    sandbox_for,
    worth,
)
from engine.execution.session import Session
from engine.execution.unsaved import SAVE_AGAIN_S, close_store
from engine.storage.store import Store

_log = logging.getLogger(__name__)


class MarkingSession(Session):
    """Marks one stored run again; `rescored` is the result once it has ended well.

    Its status says how it went: completed, cancelled, stopped_budget, aborted. The run's own stays.
    """

    def __init__(self, marking: MarkAgain, make_executor: ExecutorFactory, wake: Callable[[], None]) -> None:
        super().__init__(marking.request, make_executor, wake)
        self._marking = marking
        self._enough = threading.Event()
        self._before: dict[Cell, Worth] = {}
        self._ending: Ending | None = None
        self.rescored: Rescored | None = None

    def _enter(self) -> Opening:
        store = Store.open(self.request.store_path)
        try:
            note = Note(CUT_OFF, {"at": self._clock.utc().isoformat(timespec="seconds")})
            store.begin_marking(self.run_id, note)
            calls = store.iter_calls(self.run_id, texts=False)
            self._before = {call.cell: worth(call.score) for call in calls}
            return self._marking.open(store)
        except BaseException:
            store.close()
            raise

    def _close_unprepared(self, opening: Opening, error: BaseException) -> None:
        opening.store.end_marking(self.run_id)
        opening.store.close()

    def _take(self, message: Message) -> None:
        if isinstance(message, LateMarking) and self.dispatcher.stopping is not None:
            self._enough.set()
            self._arrivals.desk.unmarked += 1
            return
        super()._take(message)

    def _obey(self, command: Command) -> None:
        super()._obey(command)
        if self.dispatcher.stopping is not None:
            self._enough.set()
            self._arrivals.desk.finish_begun()

    # ---- after the store failed

    def rescue(self, path: Path) -> int:
        """Saves the run with the marks kept in memory to another file, and makes its result there.

        The answers come from the store that failed: raises its faults where they cannot be read any
        more, or those of the other file, and then everything is kept.
        """
        saved = self.recorder.rescue(path) if self.recorder.kept else 0
        with Store.open(path) as other:
            self._make_late_result(other)
        close_store(self.recorder, self._opened)
        return saved

    def save_again(self) -> bool:
        """Tries the usual place once more, and makes the result there; True = everything is there now.

        Raises what keeps the result from being made; the marks are saved then, and trying again will do.
        """
        self.recorder.retry()
        if not self.recorder.flush(SAVE_AGAIN_S):
            return False
        self._make_late_result(self._opened.store)
        close_store(self.recorder, self._opened)
        return True

    def _make_late_result(self, store: Store) -> None:
        if self._ending is not None:
            ledger = self._ending.ledger
            store.write([spend_write(self.run_id, ledger, payer) for payer in ledger.payers])
            self._make_result(self._ending, store)

    # ---- the end

    def _close_run(self, ending: Ending, opening: Opening) -> ev.RunFinished:
        """Gives the run free and makes its result from the marks there are. Never raises."""
        finished = ev.RunFinished(
            run_id=self.run_id,
            seq=0,
            status=ending.status,
            planned=self._marking.answers,
            completed=max(0, self._marking.answers - self._arrivals.desk.unmarked),
            errors=0,
            stopped=self._arrivals.desk.unmarked,
            cost_usd=None,
            duration_s=ending.duration_s,
        )
        try:
            if ending.error is not None:
                raise ending.error
            return replace(finished, cost_usd=self._keep(ending, opening.store))
        except ArenaError as error:
            return replace(finished, error=f"{error.message} {error.hint}".strip())
        except Exception as error:
            _log.exception("the marks are stored, but the result could not be made")
            return replace(finished, error=f"{type(error).__name__}: {error}")
        finally:
            self._ending = ending
            self._let_go(opening.store)

    def _let_go(self, store: Store) -> None:
        try:
            store.end_marking(self.run_id)
        except ArenaError as error:
            _log.warning("the run could not be given free: %s", error.code)

    def _keep(self, ending: Ending, store: Store) -> Decimal | None:
        """Makes and stores the result. Returns what the run has cost with it; None = not known."""
        for payer in ending.ledger.payers:
            self.recorder.submit(spend_write(self.run_id, ending.ledger, payer))
        if not self.recorder.flush(FLUSH_S):
            failure = self.recorder.failure
            raise failure or ArenaError("marks_not_saved", "The marks could not be saved in time.")
        return self._make_result(ending, store)

    def _make_result(self, ending: Ending, store: Store) -> Decimal | None:
        store.end_marking(self.run_id)
        told = replace(ending, notes=tuple(note for note in ending.notes if note.code in OF_ASKING))
        notes = (*money_notes(told), *marker_notes(told))
        asked = Asked(notes, run_cost(ending, store), self._before)
        tools = Tools(
            trusted=self.request.preflight.code_trusted,
            asked=asked,
            sandbox=sandbox_for(self._marking.project),
        )
        self.rescored = rescore(store, self.run_id, self._marking.project, tools)
        return asked.cost_usd
