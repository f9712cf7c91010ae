"""The board of a saved run under the person's own marks; the stored one stays as it is."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from arena_desktop.background import Background, Job
from arena_desktop.desks.result_desk import Result, ResultDesk
from engine.errors import ArenaError
from engine.execution.stored_board import board_input, stored_calls
from engine.stats.board import Leaderboard
from engine.stats.leaderboard import build_board
from engine.stats.own_marks import OwnView, with_own_marks


@dataclass(frozen=True, slots=True)
class OwnBoard:
    """A board in which `marks` own marks took the place of those of the checks."""

    run_id: str
    board: Leaderboard
    marks: int


class OwnBoardDesk(QObject):
    """Builds in the background; the newest question wins. GUI thread only."""

    built = Signal(object)
    """OwnBoard of the run that was asked for last."""
    failed = Signal(object)
    """ArenaError: it cannot be built."""

    def __init__(self, background: Background, results: ResultDesk) -> None:
        super().__init__()
        self._background, self._results = background, results

    def load(self, result: Result) -> None:
        """Builds the board of a run; `built` or `failed` follows."""
        store, stored = self._results.store, result.stored

        def work(job: Job) -> OwnBoard:
            run_id = stored.info.run_id
            own = {m.cell: OwnView(m.mark == "good", m.score) for m in store(run_id).own_marks(run_id)}
            calls = stored_calls(store(run_id), run_id, should_stop=lambda: job.stopped)
            data = board_input(stored, list(with_own_marks(calls, own)))
            return OwnBoard(run_id, build_board(data, should_stop=lambda: job.stopped), len(own))

        self._background.run(work, self._on_built, self._on_failed, name="own board", replace=True)

    def _on_built(self, board: OwnBoard) -> None:
        self.built.emit(board)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)
