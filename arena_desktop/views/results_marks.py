"""The switch of the Leaderboard that shows the result with the person's own marks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QCheckBox

from arena_desktop.cells import Tone
from arena_desktop.desks.own_board_desk import OwnBoard, OwnBoardDesk
from arena_desktop.desks.result_desk import Result
from arena_desktop.widgets.strip import Message, StripButton, StripStack
from arena_desktop.wording.marks import own_board_sentences
from engine.errors import ArenaError
from engine.stats.board import Leaderboard

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_SHOWN, _FAILED = "own_marks", "own_failed"


class OwnMarksSwitch(QCheckBox):
    """Hidden while the run on show has no own marks. `changed` follows when another board counts.

    The stored result is never touched; a strip says which of the two is on show.
    """

    changed = Signal()

    def __init__(self, context: AppContext, strips: StripStack) -> None:
        super().__init__()
        self.setText(self.tr("With my marks"))
        self.setObjectName("check_own_marks")
        self._strips = strips
        self._result: Result | None = None
        self._own: OwnBoard | None = None
        self._desk = OwnBoardDesk(context.background, context.results)
        self._desk.built.connect(self._on_built)
        self._desk.failed.connect(self._on_failed)
        self.toggled.connect(self._on_toggled)
        self.hide()

    @property
    def own(self) -> OwnBoard | None:
        """The board that counts instead of the stored one, or None."""
        return self._own

    @property
    def board(self) -> Leaderboard | None:
        """The board on show: under own marks, or as it was stored."""
        if self._own is not None:
            return self._own.board
        return self._result.board if self._result is not None else None

    def show_result(self, result: Result) -> None:
        """Another run, or newer figures of the same one; `changed` does not follow."""
        same = self._result is not None and self._result.run_id == result.run_id
        self._result = result
        if not same or result.live:
            self._forget()
        elif self.isChecked():
            self._desk.load(result)

    def set_marked(self, marked: bool) -> None:
        """Whether the run has own marks."""
        self.setVisible(marked)
        if not marked:
            self.setChecked(False)

    def read_again(self) -> None:
        """Marks are other ones now."""
        if self.isChecked() and self._result is not None:
            self._desk.load(self._result)

    def _on_toggled(self, on: bool) -> None:
        if self._result is None:
            return
        if on:
            self._desk.load(self._result)
            return
        self._forget()
        self.changed.emit()

    def _forget(self) -> None:
        self._own = None
        self._strips.close_message(_SHOWN)
        self.blockSignals(True)
        self.setChecked(False)
        self.blockSignals(False)

    def _on_built(self, own: OwnBoard) -> None:
        if self._result is None or own.run_id != self._result.run_id or not self.isChecked():
            return
        self._own = own
        back = StripButton(self.tr("Show the saved result"), lambda: self.setChecked(False))
        first, text = own_board_sentences(own.marks)
        self._strips.show_message(Message(_SHOWN, Tone.INFO, first, text, (back,), can_close=False))
        self.changed.emit()

    def _on_failed(self, error: ArenaError) -> None:
        self._forget()
        self._strips.show_message(Message(_FAILED, Tone.BAD, error.message, error.hint))
        self.changed.emit()
