"""Marking a saved run again by the open project as it is now.

What is free is done at once, in the background. Where a judge has to be asked, its price is told
first and nothing is asked before `go_on`; then a session with a thread of its own asks it, in turn with
the runs: never while one of them asks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from engine.errors import ArenaError, UserError

if TYPE_CHECKING:
    from decimal import Decimal

    from arena_desktop.background import Background, Job
    from arena_desktop.desks.marking_controller import MarkingController
    from arena_desktop.desks.project_desk import OpenProject, ProjectDesk
    from arena_desktop.desks.result_desk import ResultDesk
    from arena_desktop.desks.run_desk import RunDesk
    from arena_desktop.desks.run_orders import MarkingOrder
    from engine.domain import RunStatus, SkippedModel
    from engine.execution.events import Event, RunFinished
    from engine.execution.mark_again import MarkAgain
    from engine.execution.rescore import Rescored
    from engine.keystore import KeyStore
    from engine.pricing import PriceBook
    from engine.project import Project


@dataclass(slots=True)
class MarkingProgress:
    """A session that asks a judge, as it stands. `slowed` is set while a service asks to slow down."""

    answers: int
    marked: int = 0
    spent_usd: Decimal | None = None
    began_usd: Decimal | None = None
    slowed: bool = False
    stopping: bool = False

    @property
    def spent_here(self) -> Decimal | None:
        """What this session has spent; None = not known yet."""
        if self.spent_usd is None or self.began_usd is None:
            return None
        return self.spent_usd - self.began_usd


class RescoreDesk(QObject):
    """One marking at a time. GUI thread only."""

    progressed = Signal(int, int)
    """Answers looked at or marked, and how many there are."""
    priced = Signal(object)
    """MarkAgain: a judge has to be asked for this price; `go_on` or `decline` follows."""
    looked = Signal(object)
    """MarkAgain: what marking a run again would ask and cost; nothing waits for an answer."""
    done = Signal(object)
    """Rescored: stored; whoever shows the run reads it again. `ended_as` says how a session went."""
    failed = Signal(object)
    """ArenaError: what was marked until then is kept."""
    unsaved = Signal(object)
    """RunFinished: the history could not take the marks; `RunDesk.unsaved` holds the session."""
    state_changed = Signal()

    def __init__(
        self,
        background: Background,
        projects: ProjectDesk,
        results: ResultDesk,
        keys: KeyStore,
        runs: RunDesk,
    ) -> None:
        super().__init__()
        self._background, self._projects, self._results, self._keys = background, projects, results, keys
        self._runs = runs
        self._prices: PriceBook | None = None
        self._job: Job | None = None
        self._found: MarkAgain | None = None
        self._controller: MarkingController | None = None
        self.progress: MarkingProgress | None = None
        self.ended_as: RunStatus | None = None
        self.skip: SkippedModel | None = None
        runs.marking_due.connect(self._on_due)

    @property
    def running(self) -> bool:
        """Whether a run is being marked again, or its price waits for an answer."""
        return self._job is not None or self._found is not None or self._controller is not None

    @property
    def asking(self) -> bool:
        """Whether a judge is being asked."""
        return self._controller is not None

    def look(self, run_id: str) -> None:
        """Finds out what marking a run again would cost; `looked` follows, unless it cannot be said."""
        opened = self._projects.current
        if opened is None:
            return

        def work(job: Job) -> MarkAgain | None:
            try:
                return self._look(job, run_id, opened, probe=False)
            except ArenaError:
                return None  # pressing the button says why

        self._background.run(work, self._tell_looked, self._on_failed, name="marking price", replace=True)

    def _tell_looked(self, found: MarkAgain | None) -> None:
        if found is not None:
            self.looked.emit(found)

    def start(self, run_id: str) -> None:
        """Marks a run again by the open project; `priced`, `done` or `failed` follows."""
        if self.running:
            return
        opened = self._projects.current
        if opened is None:
            hint = "Open the project that this run belongs to."
            self.failed.emit(UserError("no_project", "No project is open.", hint=hint))
            return
        if self._runs.waiting.holds_marking(run_id):
            told = "This run waits to be marked again already."
            self.failed.emit(UserError("waits_already", told, hint="It starts by itself."))
            return
        self.progress, self.ended_as, self.skip = None, None, None
        self._prices = opened.prices

        def work(job: Job) -> tuple[MarkAgain, Rescored | None]:
            found = self._look(job, run_id, opened)
            return found, None if found.asks else self._free(job, run_id, opened.project)

        self._job = self._background.run(work, self._on_looked, self._on_failed, name="rescore")
        self.state_changed.emit()

    def go_on(self) -> None:
        """Asks the judge for the price that was told: now, or when what goes on and what was ordered
        before have ended."""
        found, self._found, prices = self._found, None, self._prices
        if found is None or prices is None:
            return
        from arena_desktop.desks.run_orders import MarkingOrder

        run_id, results = found.run_id, self._results
        number = next((run.number for run in results.runs if run.run_id == run_id), None)
        try:
            self._runs.mark_in_turn(MarkingOrder(found, prices, lambda: results.store(run_id), number))
        except ArenaError as error:
            self.failed.emit(error)
        self.state_changed.emit()

    def _on_due(self, order: MarkingOrder) -> None:
        found = order.found
        if not found.asks:
            # Somebody marked it while it waited.
            self._mark_freely(found.run_id, found.project, in_turn=True)
            return
        from arena_desktop.desks.marking_controller import MarkingController

        self.ended_as = self.skip = None
        controller = self._controller = MarkingController(found)
        self.progress = MarkingProgress(found.answers)
        controller.events.connect(self._on_events)
        controller.finished.connect(self._on_finished)
        controller.start_in_thread()
        self.state_changed.emit()
        self.progressed.emit(0, found.answers)

    def start_free(self, run_id: str) -> None:
        """Does only what is free; the judge's marks stay as they are. `done` or `failed` follows."""
        opened = self._projects.current
        if self.running or opened is None:
            return
        self._mark_freely(run_id, opened.project)

    def _mark_freely(self, run_id: str, project: Project, *, in_turn: bool = False) -> None:
        self.progress, self.ended_as, self.skip = None, None, None

        def work(job: Job) -> Rescored:
            return self._free(job, run_id, project)

        self._job = self._background.run(work, self._on_freely, self._on_failed, name="rescore")
        self.state_changed.emit()
        if in_turn:
            # Nobody is asked, so that the next one need not wait.
            self._runs.marking_ended()

    def decline(self) -> str:
        """Nothing is asked and nothing is changed. Returns the run that was not marked."""
        found, self._found = self._found, None
        self.state_changed.emit()
        return found.run_id if found is not None else ""

    def stop(self) -> None:
        """Ends it. Free marking changes nothing then; a judge finishes marks that are begun, and is cut
        off at a second stop."""
        if self._controller is not None and self.progress is not None:
            self.progress.stopping = True
            self._controller.cancel()
            self.state_changed.emit()
        elif self._job is not None:
            self._job.stop()
            self._end()

    # ---- in the background

    def _look(self, job: Job, run_id: str, opened: OpenProject, *, probe: bool = True) -> MarkAgain:
        from engine.execution.candidates import Means
        from engine.execution.mark_again import look

        means = Means(self._keys, opened.prices, probe=probe, should_stop=lambda: job.stopped)
        return look(self._results.store(run_id), run_id, opened.project, means)

    def _free(self, job: Job, run_id: str, project: Project) -> Rescored:
        from engine.execution.rescore import Tools, rescore, sandbox_for

        tools = Tools(
            trusted=self._keys.trust_book.is_trusted(project),
            sandbox=sandbox_for(project),
            should_stop=lambda: job.stopped,
            progress=self.progressed.emit,
        )
        return rescore(self._results.store(run_id), run_id, project, tools)

    # ---- answers

    def _on_freely(self, result: Rescored) -> None:
        self._end()
        self.done.emit(result)

    def _on_looked(self, answer: tuple[MarkAgain, Rescored | None]) -> None:
        found, result = answer
        if result is not None:
            self.skip = found.request.preflight.judge_skip if found.changed else None
            self._on_freely(result)
            return
        self._job, self._found = None, found
        if found.cost.high == 0:
            self.go_on()
        else:
            self.state_changed.emit()
            self.priced.emit(found)

    def _on_events(self, events: tuple[Event, ...]) -> None:
        from engine.execution.events import BudgetChanged, QueueChanged, Scored

        progress = self.progress
        if progress is None:
            return
        for event in events:
            if isinstance(event, Scored):
                progress.marked += 1
            elif isinstance(event, BudgetChanged):
                progress.spent_usd = event.spent_usd
                if progress.began_usd is None:
                    progress.began_usd = event.spent_usd
            elif isinstance(event, QueueChanged):
                progress.slowed = any(
                    lane.closed_for_s or lane.width < lane.configured for lane in event.lanes
                )
        self.progressed.emit(min(progress.marked, progress.answers), progress.answers)

    def _on_finished(self, finished: RunFinished) -> None:
        controller, self._controller = self._controller, None
        rescored = controller.rescored if controller is not None else None
        self.ended_as = finished.status
        self.state_changed.emit()
        if rescored is not None:
            self.done.emit(rescored)
        elif finished.unsaved:
            self._runs.marking_ended(controller)
            self.unsaved.emit(finished)
            return
        else:
            self._tell_failure(controller.failure if controller is not None else None, finished)
        self._runs.marking_ended()

    def _tell_failure(self, failure: BaseException | None, finished: RunFinished) -> None:
        if not isinstance(failure, ArenaError):
            kept = "The marks made until then are kept; mark again for the rest."
            hint = f"{finished.error or ''} {kept}".strip()
            failure = UserError("marking_broke_off", "Marking again broke off.", hint=hint)
        self.failed.emit(failure)

    def _end(self) -> None:
        self._job = None
        self.state_changed.emit()

    def _on_failed(self, error: Exception) -> None:
        self._end()
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)
