"""The run under way and those that wait: one at a time per program, the others in their order.

Hands the controller's events on and keeps the counts. A session that marks a saved run again takes the
same place: there is one budget and one lane for a judge.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop import __version__
from arena_desktop.desks.run_orders import MarkingOrder, Order, Resume, RunOrder, wants_yes
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.desks.run_turns import RunTurns
from engine.errors import ArenaError, UserError

if TYPE_CHECKING:
    from arena_desktop.background import Background, Job
    from arena_desktop.desks.project_desk import ProjectDesk
    from arena_desktop.desks.result_desk import ResultDesk
    from engine.domain import Cell
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
    """A run has been started: what it will do, and what was found out before.

    `again`: only these calls of a saved run are asked. `waited`: its turn came by itself, and
    `left_out` are models that could still be asked when it was ordered.
    """

    project: Project
    plan: Plan
    preflight: Preflight
    resumed: str | None = None
    again: tuple[Cell, ...] = ()
    waited: bool = False
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ResumeQuestion:
    """A run cannot simply be carried on: the project would ask some of it differently now."""

    run_id: str
    retry_errors: bool
    found: tuple[Difference, ...]
    labels: dict[str, str]
    again: tuple[Cell, ...] = ()


class RunDesk(QObject):
    """Starts and steers at most one run. GUI thread only; the controller has a thread of its own.

    What is ordered while one goes on waits in `waiting` and starts by itself when the one before
    has ended, however it ended. What waited is looked at again first: where it costs more than was
    agreed to, or the project's code is trusted no more, it waits for a person instead.
    """

    began = Signal(object)
    """RunBegan."""
    batch = Signal(object)
    """tuple[Event, ...], about ten times a second."""
    ended = Signal(object)
    """RunFinished: everything is stored."""
    failed = Signal(object)
    """ArenaError: the run could not be started or carried on."""
    state_changed = Signal()
    """`running`, `busy`, `paused`, `stopping` or what waits changed."""
    question = Signal(object)
    """ResumeQuestion: `carry_on` wants a choice first."""
    price_question = Signal(object)
    """RunOrder: `carry_on` wants a yes to its terms first; `agree` starts it."""
    marking_due = Signal(object)
    """MarkingOrder: its turn has come; `marking_ended` follows, whatever becomes of it."""

    def __init__(
        self, projects: ProjectDesk, results: ResultDesk, keys: KeyStore, background: Background
    ) -> None:
        super().__init__()
        self._projects, self._results, self._keys = projects, results, keys
        self._background = background
        self._controller: RunController | None = None
        self._began: RunBegan | None = None
        self._marking = False
        self._paused = self._stopping = False
        self.progress = RunProgress(time.monotonic)
        self._unsaved: RunController | None = None
        self.kept_awake: bool | None = None
        """Whether the system keeps the computer awake for this run; None = it was not asked."""
        self._turns = RunTurns(self, keys, background, self.state_changed.emit)
        self.waiting = self._turns.waiting

    @property
    def unsaved(self) -> RunController | None:
        """The run whose results the history could not take; they are in memory only, and no other
        run starts before they are saved."""
        return self._unsaved

    def results_are_saved(self) -> None:
        """What was unsaved is on a disk now: the next run may start."""
        self._unsaved = None
        self._turns.start_next()

    @property
    def running(self) -> bool:
        """Whether a run is under way."""
        return self._controller is not None

    @property
    def busy(self) -> bool:
        """Whether a run is under way or about to start, or one is marked again: what is ordered now waits."""
        return self._controller is not None or self._turns.checking is not None or self._marking

    @property
    def can_start(self) -> bool:
        """Whether nothing goes on and all results are saved."""
        return not self.busy and self._unsaved is None

    def has(self, run_id: str) -> bool:
        """Whether this saved run is being carried on, or waits for it."""
        return self._goes_on(run_id) or self.waiting.holds_run(run_id)

    def _goes_on(self, run_id: str) -> bool:
        """Also from the moment it is taken up, before the store has said its id."""
        began = self._began
        return self.running and run_id in (self.run_id, began.resumed if began is not None else None)

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

    def order(self, *, quick: bool = False, resume: Resume | None = None) -> RunOrder:
        """What a run of the open project would do now. Raises UserError where nothing can run."""
        from engine.execution.plan import make_plan

        self._refuse_unsaved()
        opened, preflight = self._projects.current, self._projects.preflight
        if opened is None:
            raise UserError("no_project", "No project is open.", hint="Open one, or try the sample.")
        if preflight is None:
            raise UserError(
                "still_looking", "The models are still being looked at.", hint="Try again in a moment."
            )
        project = opened.project
        if quick:
            project = replace(project, cases=project.cases[:QUICK_CASES])
        return RunOrder(project, opened.prices, preflight, make_plan(project, preflight), resume)

    def _refuse_unsaved(self) -> None:
        if self._unsaved is not None:
            raise UserError(
                "results_unsaved",
                "The results of the last run are not saved yet, so a new run could lose them.",
                hint="Save them first.",
            )

    def start(self, *, quick: bool = False) -> None:
        """Starts a run of the open project, or lets it wait its turn; `began` or `failed` follows."""
        try:
            self._turns.take_on(self.order(quick=quick))
        except ArenaError as error:
            self.failed.emit(error)

    def carry_on(
        self,
        run_id: str,
        *,
        choice: str | None = None,
        retry_errors: bool = False,
        again: Sequence[Cell] = (),
    ) -> None:
        """Carries on with a saved run of the open project; `began`, `failed`, `question` or
        `price_question` follows. Every call of a saved run starts here, and what it costs is looked
        at first.

        `choice` (snapshot, new) answers the question. `retry_errors` asks what failed again too.
        With `again` only these calls are asked, and an answer that was there before still counts.
        """
        try:
            resume = self._resume(Resume(run_id, retry_errors, choice, tuple(again)))
            order = self.order(resume=resume)
        except ArenaError as error:
            self.failed.emit(error)
            return
        store, keys = self._results.store, self._keys

        def work(_job: Job) -> tuple[RunOrder, tuple[Difference, ...]]:
            from engine.execution.resume import differences

            saved = store(run_id)
            placed = replace(order, resume=replace(resume, store=resume.store or saved.path))
            if choice is None:
                wish = {"retry_errors": retry_errors, "again": resume.again}
                found = differences(saved, run_id, order.project, **wish)
                if found:
                    return placed, found
            return placed.with_rest(keys), ()

        # Another wish about the same run is no later version of this one: both are to be heard.
        name = f"carry on {run_id} {retry_errors} {sorted(resume.again)}"
        self._background.run(work, self._on_looked, self._on_not_looked, name=name, replace=True)

    def agree(self, order: RunOrder) -> None:
        """The person says yes to the terms of `price_question`: it starts, or waits its turn with them."""
        try:
            # The same may have been asked for meanwhile.
            self._refuse_unsaved()
            self._turns.take_on(order if order.resume is None else self._known(order, order.resume))
        except ArenaError as error:
            self.failed.emit(error)

    def _known(self, order: RunOrder, resume: Resume) -> RunOrder:
        return replace(order, resume=self._resume(resume))

    def _resume(self, wanted: Resume) -> Resume:
        """With what is known of the run. Raises UserError where the same is asked of it already."""
        if self.waiting.holds(wanted):
            raise UserError("waits_already", "This run waits its turn already.", hint="It starts by itself.")
        if self._goes_on(wanted.run_id):
            raise UserError("run_going_on", "This run is going on now.", hint="Wait for it or cancel it.")
        info = next((run for run in self._results.runs if run.run_id == wanted.run_id), None)
        if info is None:
            return wanted
        missing = info.planned - info.completed - (0 if wanted.retry_errors else info.errors)
        missing = len(wanted.again) or max(0, missing)
        return replace(wanted, number=info.number, missing=missing, store=info.store or wanted.store)

    def _on_looked(self, answer: tuple[RunOrder, tuple[Difference, ...]]) -> None:
        order, found = answer
        resume = order.resume
        if found and resume is not None:
            labels = {entry.key: entry.label or entry.key for entry in order.project.config.models}
            asked = ResumeQuestion(resume.run_id, resume.retry_errors, found, labels, resume.again)
            self.question.emit(asked)
        elif wants_yes(order):
            self.price_question.emit(order)
        else:
            self.agree(order)

    def _on_not_looked(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.failed.emit(error)

    # the waiting line

    def mark_in_turn(self, order: MarkingOrder) -> None:
        """Lets a saved run be marked again as soon as nothing else asks; `marking_due` follows.

        Raises UserError while results are not saved.
        """
        self._refuse_unsaved()
        self._turns.take_on(order)

    def marking_ended(self, unsaved: RunController | None = None) -> None:
        """The session is over; `unsaved` where the history could not take its marks."""
        self._marking = False
        if unsaved is not None:
            self._unsaved = unsaved
        self._turns.start_next()
        self.state_changed.emit()

    def begin(self, order: Order, *, waited: bool = False, left_out: tuple[str, ...] = ()) -> None:
        """Starts what is ordered, whatever waits. For the turns; others use `start` and its like."""
        if not isinstance(order, MarkingOrder):
            self._launch(order, waited=waited, left_out=left_out)
            return
        self._marking = True
        self.marking_due.emit(order)
        self.state_changed.emit()

    # steering

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

    def offer_again(self, model_keys: Sequence[str]) -> None:
        """Lets models that get no more questions be asked again, now that the cause is gone."""
        if self._controller is not None:
            self._controller.offer_again(model_keys)
            self.progress.offered_again(model_keys)

    def set_width(self, lane: str, width: int) -> None:
        """Changes how many questions one connection gets at the same time."""
        if self._controller is not None:
            self._controller.set_width(lane, width)

    # one run

    def _launch(self, order: RunOrder, *, waited: bool = False, left_out: tuple[str, ...] = ()) -> None:
        from engine.execution.controller import RunController

        resume = order.resume or Resume("")
        place = resume.store if resume.run_id else self._results.place_of(order.project)
        place = place or self._results.store(resume.run_id).path
        above = self._results.highest_number(order.name, besides=place)
        request = order.request(self._keys, place, app_version=__version__, number_above=above)
        self.progress = RunProgress(time.monotonic)
        controller = RunController(request)
        controller.events.connect(self._on_events)
        controller.finished.connect(self._on_finished)
        self._controller, self._paused, self._stopping = controller, False, False
        self._began = RunBegan(
            order.project, order.plan, order.preflight, resume.run_id or None, resume.again, waited, left_out
        )
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
        if finished.unsaved:
            self._unsaved = controller
        self.ended.emit(finished)
        self._turns.start_next()
        self.state_changed.emit()
