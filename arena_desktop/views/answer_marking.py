"""The marks a person gives on the Answers page: kept, taken back, told, and held against the rater."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop.cells import Tone
from arena_desktop.desks.mark_desk import MarkDesk
from arena_desktop.widgets.strip import Message, StripButton, StripStack
from arena_desktop.wording import marks as words
from engine.domain import Cell
from engine.errors import ArenaError
from engine.execution.own_marking import MarkBook
from engine.stats.own_marks import OwnView

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_KEY, _FAILED = "mark", "mark_failed"


class AnswerMarking(QObject):
    """One strip says what was done and offers to take it back. GUI thread only."""

    changed = Signal()
    """`own` and `agreement` are other ones; after a fault too, so that the page shows what is kept."""

    def __init__(self, context: AppContext, strips: StripStack) -> None:
        super().__init__()
        self._context, self._strips = context, strips
        self._run_id = ""
        self._given: tuple[OwnView | None] | None = None
        self._desk = MarkDesk(context.background, context.results)
        self._desk.changed.connect(self._on_changed)
        self._desk.board_changed.connect(self._on_board_changed)
        self._desk.failed.connect(self._on_failed)

    @property
    def own(self) -> Mapping[Cell, OwnView]:
        """The marks as they are kept."""
        return self._desk.book.own if self._desk.book is not None else {}

    @property
    def agreement(self) -> str:
        """How far the rater agrees with the person; empty before the first mark."""
        book = self._desk.book
        return " ".join(words.agreement_sentences(book.report, book.by)) if book and book.own else ""

    def load(self, run_id: str) -> None:
        """The marks of another run; `changed` follows."""
        self._run_id = run_id
        self._strips.close_message(_KEY)
        self._desk.load(run_id)

    def give(self, cell: Cell, own: OwnView | None) -> None:
        """Marks an answer; None takes the mark away."""
        self._given = (own,)
        mark = None if own is None else "good" if own.good else "bad"
        self._desk.give(cell, mark, own.score if own is not None else None)

    def undo(self) -> None:
        """Takes the last mark of this session back."""
        self._given = (None,)
        self._desk.undo()

    def _on_changed(self, book: MarkBook) -> None:
        if book.run_id != self._run_id:
            return
        self._strips.close_message(_FAILED)
        self.changed.emit()
        given, self._given = self._given, None
        if given is None:
            return
        undo = (StripButton(self.tr("Undo"), self.undo),) if self._desk.can_undo else ()
        line = words.agreement_line(book.report, book.by)
        self._strips.show_message(Message(_KEY, Tone.INFO, words.given_sentence(given[0]), line, undo))
        self._context.marks_changed.emit(book.run_id)

    def _on_failed(self, error: ArenaError) -> None:
        self._given = None
        self.changed.emit()
        self._strips.show_message(Message(_FAILED, Tone.BAD, error.message, error.hint))

    def _on_board_changed(self, run_id: str) -> None:
        """Marks made by hand decide places: whoever shows the run reads it again."""
        result = self._context.results.result
        if result is not None and result.run_id == run_id:
            self._context.results.open_run(run_id)
