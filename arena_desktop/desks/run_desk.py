"""The run under way: one at a time per program. Hands the controller's events on and keeps the counts."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop import __version__
from arena_desktop.desks.run_progress import RunProgress
from engine.errors import ArenaError, UserError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from arena_desktop.desks.project_desk import ProjectDesk
    from arena_desktop.desks.result_desk import ResultDesk
    from engine.execution.controller import RunController
    from engine.execution.events import Event, RunFinished
    from engine.execution.plan import Plan
    from engine.execution.preflight import Preflight
    from engine.execution.resume import Difference
    from engine.keystore import KeyStore
    from engine.project import Project

QUICK_CASES = 5
"""Test cases of a quick look."""


@dataclass(frozen=True, slots=True)
class RunBegan:
    """A run has been started: what it will do, and what was found out before."""

    project: Project
    plan: Plan
    preflight: Preflight
    resumed: str | None = None


@dataclass(frozen=True, slots=True)
class ResumeQuestion:
    """A run cannot simply be carried on: the project would ask some of it differently now."""

    run_id: str
    retry_errors: bool
    found: tuple[Difference, ...]
    labels: dict[str, str]


@dataclass(frozen=True, slots=True)
class _Resume:
    """Which run is carried on, and how. `choice` None = the project has not changed."""

    run_id: str
    retry_errors: bool = False
    choice: str | None = None


class RunDesk(QObject):
    """Starts and steers at most one run. GUI thread only; the controller has a thread of its own."""

    began = Signal(object)
    """RunBegan."""
    batch = Signal(object)
    """tuple[Event, ...], about ten times a second."""
    ended = Signal(object)
    """RunFinished: everything is stored."""
    failed = Signal(object)
    """ArenaError: the run could not be started or carried on."""
    state_changed = Signal()
    """`running`, `paused` or `stopping` changed."""
    question = Signal(object)
    """ResumeQuestion: `carry_on` wants a choice first."""

    def __init__(
        self, projects: ProjectDesk, results: ResultDesk, keys: KeyStore, background: Background
    ) -> None:
        super().__init__()
        self._projects, self._results, self._keys = projects, results, keys
        self._background = background
        self._controller: RunController | None = None
        self._began: RunBegan | None = None
        self._paused = self._stopping = False
        self.progress = RunProgress(time.monotonic)

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._controller is not None

    @property
    def paused(self) -> bool:
        """Whether the run starts no new questions for now."""
        return self._paused

    @property
    def stopping(self) -> bool:
        """Whether the run was asked to end."""
        return self._stopping

    @property
    def run_id(self) -> str:
        """The id of the run under way or last; empty until it is entered in the store."""
        return self.progress.run_id

    @property
    def current(self) -> RunBegan | None:
        """What was begun last, or None before the first run."""
        return self._began

    def plan(self, *, quick: bool = False) -> tuple[Project, Plan]:
        """What a run would do now. Raises UserError where nothing can run."""
        from engine.execution.plan import make_plan

        project, preflight = self._ready()
        if quick:
            project = replace(project, cases=project.cases[:QUICK_CASES])
        return project, make_plan(project, preflight)

    def start(self, *, quick: bool = False) -> None:
        """Starts a run of the open project; `began` or `failed` follows."""
        try:
            project, plan = self.plan(quick=quick)
            self._launch(project, plan, None)
        except ArenaError as error:
            self.failed.emit(error)

    def carry_on(self, run_id: str, *, choice: str | None = None, retry_errors: bool = False) -> None:
        """Carries on with an unfinished run of the open project; `began`, `failed` or `question` follows.

        `choice` (snapshot, new) answers the question. `retry_errors` asks what failed again too.
        """
        try:
            project, plan = self.plan()
            resume = _Resume(run_id, retry_errors, choice)
            if choice is not None:
                self._launch(project, plan, resume)
                return
        except ArenaError as error:
            self.failed.emit(error)
            return
        store = self._results.store

        def work(_job: Job) -> tuple[_Resume, Project, tuple[Difference, ...]]:
            from engine.execution.resume import differences

            return resume, project, differences(store(), run_id, project, retry_errors=retry_errors)

        self._background.run(work, self._on_compared, self._on_not_compared, name="carry on", replace=True)

    def _on_compared(self, answer: tuple[_Resume, Project, tuple[Difference, ...]]) -> None:
        resume, project, found = answer
        if found:
            labels = {entry.key: entry.label or entry.key for entry in project.config.models}
            self.question.emit(ResumeQuestion(resume.run_id, resume.retry_errors, found, labels))
            return
        try:
            self._launch(*self.plan(), resume)
        except ArenaError as error:
            self.failed.emit(error)

    def _on_not_compared(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)

    def cancel(self) -> None:
        """Starts no more questions; those on their way are awaited and kept."""
        if self._controller is not None:
            self._stopping = True
            self._controller.cancel()
            self.state_changed.emit()

    def stop_now(self) -> None:
        """Ends at once; questions on their way are given up."""
        if self._controller is not None:
            self._stopping = True
            self._controller.stop_now()
            self.state_changed.emit()

    def pause(self) -> None:
        """Starts no new questions until `go_on`."""
        if self._controller is not None and not self._paused:
            self._paused = True
            self._controller.pause()
            self.state_changed.emit()

    def go_on(self) -> None:
        """Ends a pause."""
        if self._controller is not None and self._paused:
            self._paused = False
            self._controller.resume_run()
            self.state_changed.emit()

    def set_width(self, lane: str, width: int) -> None:
        """Changes how many questions one connection gets at the same time."""
        if self._controller is not None:
            self._controller.set_width(lane, width)

    def _ready(self) -> tuple[Project, Preflight]:
        opened, preflight = self._projects.current, self._projects.preflight
        if opened is None:
            raise UserError("no_project", "No project is open.", hint="Open one, or try the sample.")
        if self.running:
            raise UserError("run_going_on", "A run is already going on.", hint="Wait for it or cancel it.")
        if preflight is None:
            raise UserError(
                "still_looking", "The models are still being looked at.", hint="Try again in a moment."
            )
        return opened.project, preflight

    def _launch(self, project: Project, plan: Plan, resume: _Resume | None) -> None:
        from engine.execution.controller import RunController, RunRequest

        opened, preflight = self._projects.current, self._projects.preflight
        if opened is None or preflight is None:
            return
        request = RunRequest(
            project=project,
            preflight=preflight,
            plan=plan,
            store_path=self._results.path,
            keystore=self._keys,
            pricebook=opened.prices,
            resume_from=resume.run_id if resume else None,
            resume_choice=resume.choice if resume else None,
            retry_errors=resume.retry_errors if resume else False,
            app_version=__version__,
        )
        self.progress = RunProgress(time.monotonic)
        controller = RunController(request)
        controller.events.connect(self._on_events)
        controller.finished.connect(self._on_finished)
        self._controller, self._paused, self._stopping = controller, False, False
        self._began = RunBegan(project, plan, preflight, resume.run_id if resume else None)
        controller.start_in_thread()
        self.began.emit(self._began)
        self.state_changed.emit()

    def _on_events(self, events: tuple[Event, ...]) -> None:
        self.progress.take(events)
        self.batch.emit(events)

    def _on_finished(self, finished: RunFinished) -> None:
        controller, self._controller = self._controller, None
        self._paused = self._stopping = False
        failure = controller.failure if controller is not None else None
        if isinstance(failure, ArenaError):
            self.failed.emit(failure)
        self.ended.emit(finished)
        self.state_changed.emit()
