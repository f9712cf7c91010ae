"""A person's own marks of the run on show: given, taken back, and held against the judge."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from arena_desktop.background import Background, Job
from arena_desktop.desks.result_desk import ResultDesk
from engine.domain import Cell
from engine.errors import ArenaError
from engine.execution.own_marking import MarkBook, give_mark, read_marks
from engine.execution.rescore import rebuild_board
from engine.stats.own_marks import OwnView


@dataclass(frozen=True, slots=True)
class _Step:
    """One mark to keep. `undone`: it takes an earlier one back, so it is not remembered again."""

    cell: Cell
    mark: str | None
    score: float | None
    undone: bool = False


class MarkDesk(QObject):
    """GUI thread only. Marks are kept in the background, one after the other, in the order given.

    After a mark that made a check by hand the board of the run is built anew.
    """

    changed = Signal(object)
    """MarkBook: the marks of the run as they are kept now."""
    board_changed = Signal(str)
    """The id of a run whose stored board is another one now."""
    failed = Signal(object)
    """ArenaError: a mark was not kept, or the marks cannot be read."""

    def __init__(self, background: Background, results: ResultDesk) -> None:
        super().__init__()
        self._background, self._results = background, results
        self._run_id = ""
        self._book: MarkBook | None = None
        self._waiting: deque[_Step] = deque()
        self._given: list[tuple[Cell, OwnView | None]] = []
        self._doing: tuple[_Step, OwnView | None] | None = None
        self._busy = False
        self._rebuild = False

    @property
    def book(self) -> MarkBook | None:
        """The marks as last read; None before."""
        return self._book

    @property
    def can_undo(self) -> bool:
        """Whether a mark of this session can be taken back."""
        return bool(self._given)

    @property
    def busy(self) -> bool:
        """Whether something is being kept or read."""
        return self._busy or bool(self._waiting)

    def load(self, run_id: str) -> None:
        """Reads the marks of a run; `changed` follows. Marks of another run can no longer be undone."""
        if run_id != self._run_id:
            self._run_id, self._book = run_id, None
            self._given.clear()
            self._waiting.clear()
        self._step()

    def give(self, cell: Cell, mark: str | None, score: float | None = None) -> None:
        """Marks an answer good or bad, with a score 0..1 if one is given; None takes the mark away."""
        self._waiting.append(_Step(cell, mark, score))
        self._step()

    def undo(self) -> None:
        """Takes the last mark of this session back."""
        if not self._given:
            return
        cell, before = self._given.pop()
        mark = None if before is None else "good" if before.good else "bad"
        self._waiting.append(_Step(cell, mark, before.score if before else None, undone=True))
        self._step()

    # inside

    def _step(self) -> None:
        if self._busy or not self._run_id:
            return
        self._busy = True
        step = self._waiting.popleft() if self._waiting else None
        own = self._book.own if self._book is not None else {}
        self._doing = None if step is None else (step, own.get(step.cell))
        run_id, store = self._run_id, self._results.store

        def work(_job: Job) -> tuple[MarkBook, bool]:
            made = step is not None and give_mark(store(run_id), run_id, step.cell, step.mark, step.score)
            return read_marks(store(run_id), run_id), made

        self._background.run(work, self._on_read, self._on_failed, name="own marks")

    def _on_read(self, answer: tuple[MarkBook, bool]) -> None:
        book, made = answer
        self._busy = False
        self._rebuild |= made
        if book.run_id != self._run_id:
            self._step()
            return
        self._book = book
        if self._doing is not None and not self._doing[0].undone:
            step, before = self._doing
            self._given.append((step.cell, before))
        if self._waiting:
            self._step()
            return
        self.changed.emit(book)
        if self._rebuild:
            self._build_board()

    def _build_board(self) -> None:
        self._rebuild = False
        run_id, store = self._run_id, self._results.store

        def work(job: Job) -> str:
            rebuild_board(store(run_id), run_id, should_stop=lambda: job.stopped)
            return run_id

        self._background.run(work, self._on_built, self._on_failed, name="board after marks", replace=True)

    def _on_built(self, run_id: str) -> None:
        self.board_changed.emit(run_id)

    def _on_failed(self, error: Exception) -> None:
        self._busy = False
        if not isinstance(error, ArenaError):
            raise error
        if self._doing is not None and self._doing[0].undone:
            step = self._doing[0]
            kept = None if step.mark is None else OwnView(step.mark == "good", step.score)
            self._given.append((step.cell, kept))
        self._doing = None
        # What was given after the failed one was meant for marks that are not there.
        self._waiting.clear()
        self.failed.emit(error)
