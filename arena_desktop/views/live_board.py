"""The leaderboard of a run that still goes on, from what its store holds now."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal
from PySide6.QtWidgets import QWidget

from arena_desktop.background import Job
from arena_desktop.desks.result_desk import Result
from arena_desktop.desks.run_desk import RunBegan
from engine.domain import RunStatus
from engine.errors import ArenaError, Cancelled
from engine.execution.events import RunFinished
from engine.stats.leaderboard import BoardInput, build_board
from engine.storage.store import Store

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

LIVE_MS = 2_000
"""A board of a run that goes on is worked out at most this often."""


class LiveBoard(QObject):
    """Follows the run under way while its page is looked at, until the person chooses another run.

    What it works out in the background goes to the desk of results. GUI thread only.
    """

    failed = Signal(object)

    def __init__(self, page: QWidget, context: AppContext) -> None:
        super().__init__(page)
        self._page, self._context = page, context
        self._working = False
        self._timer = QTimer(self)
        self._timer.setInterval(LIVE_MS)
        self._timer.timeout.connect(self.work_out)
        self._following = self._can_follow()
        context.runs.began.connect(self._on_began)
        context.runs.ended.connect(self._on_ended)

    def leave(self) -> None:
        """The person chose a run themselves."""
        self._following = False
        self.rest()

    def rest(self) -> None:
        """Nobody looks at the page."""
        self._timer.stop()

    def look(self) -> None:
        """The page came on show."""
        if self._following and self._can_follow():
            self._timer.start()
            self.work_out()

    def work_out(self) -> None:
        """Works the board out now, unless that goes on already."""
        runs = self._context.runs
        if self._working or not runs.run_id or runs.current is None or not self._can_follow():
            return
        began, run_id, store = runs.current, runs.run_id, self._context.results.store
        self._working = True

        def work(job: Job) -> Result | None:
            return live_result(store(run_id), run_id, began, lambda: job.stopped)

        self._context.background.run(work, self._on_result, self._on_failed, name="live board")

    def _can_follow(self) -> bool:
        """A run of another project than the open one has no place here, nor one that asks a few again."""
        began, project = self._context.runs.current, self._context.projects.project
        if not self._context.runs.running or began is None or began.again:
            return False
        return project is None or project.root == began.project.root

    def _on_began(self, _began: object) -> None:
        self._following = self._can_follow()
        if self._following and self._page.isVisible():
            self._timer.start()

    def _on_ended(self, finished: RunFinished) -> None:
        self._timer.stop()
        result = self._context.results.result
        if result is not None and result.live and result.run_id == finished.run_id:
            self._context.results.open_run(finished.run_id)
        self._following = False

    def _on_result(self, result: Result | None) -> None:
        self._working = False
        mine = result is not None and result.run_id == self._context.runs.run_id
        if mine and self._following and self._can_follow() and self._page.isVisible():
            self._context.results.show(result)

    def _on_failed(self, error: Exception) -> None:
        self._working = False
        if not isinstance(error, ArenaError):
            raise error
        self._timer.stop()
        self.failed.emit(error)


def live_result(store: Store, run_id: str, began: RunBegan, should_stop: Callable[[], bool]) -> Result | None:
    """Works the board out. None before the first answer. For a background thread."""
    calls = list(store.iter_calls(run_id, texts=False))
    if not calls:
        return None
    config, plan = began.project.config, began.plan
    widths = plan.lane_widths
    data = BoardInput(
        config=config,
        entries=tuple(entry for entry in config.models if entry.enabled),
        cases=plan.cases,
        calls=calls,
        cards={model.entry.key: model.card for model in plan.models},
        skipped=plan.skipped,
        planned=plan.planned,
        trials=plan.trials,
        status=RunStatus.RUNNING,
        widths={model.entry.key: widths[model.lane] for model in plan.models},
        # What marking costs is told when the run ends.
        marking_usd=None if plan.judge is not None or plan.embedders else Decimal(0),
    )
    board = build_board(data, should_stop=should_stop)
    if should_stop():
        raise Cancelled
    return Result(store.run(run_id), board, live=True)
