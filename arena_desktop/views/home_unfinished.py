"""Carry on where it stopped: a strip for each run that has questions left."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.views.home_facts import missing_calls, rest_cost
from arena_desktop.views.setup_parts import clear
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.strip import Message, MessageStrip, StripButton
from arena_desktop.wording.home import rest_sentence, stopped_sentence

if TYPE_CHECKING:
    from engine.domain import RunInfo


class UnfinishedRuns(QWidget):
    """Hidden while there is none. The signals carry the RunInfo."""

    see_wanted = Signal(object)
    carry_on_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("group_unfinished")
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(Label(self.tr("Carry on where it stopped"), "section"))
        self._strips = QVBoxLayout()
        self._strips.setSpacing(8)
        layout.addLayout(self._strips)
        self.hide()

    def show_runs(self, runs: Sequence[RunInfo]) -> None:
        """Shows these runs, none of the earlier ones."""
        clear(self._strips)
        for run in runs:
            self._strips.addWidget(MessageStrip(self._message(run)))
        self.setVisible(bool(runs))

    def _message(self, run: RunInfo) -> Message:
        see = StripButton(self.tr("See what is there"), lambda: self.see_wanted.emit(run))
        go_on = StripButton(self.tr("Carry on"), lambda: self.carry_on_wanted.emit(run), strong=True)
        there = run.project_root is not None and run.project_root.exists()
        done = run.completed + run.errors
        first = stopped_sentence(run.project, done, run.planned, run.finished_at or run.started_at)
        rest = rest_sentence(missing_calls(run), rest_cost(run))
        if not there:
            rest = self.tr("Its folder is not where it was, so it cannot go on.")
        return Message(run.run_id, Tone.WARN, first, rest, (see, go_on) if there else (see,), can_close=False)
