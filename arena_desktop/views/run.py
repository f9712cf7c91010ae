"""Run: what it will cost, then how it goes, then how it ended; what waits its turn beside both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.run_desk import RunBegan
from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog
from arena_desktop.dialogs.run_questions import ask_cancel
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.views.run_before import (
    confirm_reasons,
    cost_question,
    gated_message,
    left_out_message,
    size_line,
    unfinished_message,
)
from arena_desktop.views.run_facts import RunFacts, model_heads, read_run_facts
from arena_desktop.views.run_foot import RunFoot
from arena_desktop.views.run_going import RunGoing
from arena_desktop.views.run_ready import RunReady
from arena_desktop.views.run_strips import RunOffers, limit_message, sandbox_message, set_aside_messages
from arena_desktop.views.run_waiting import RunLine
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.strip import Message
from arena_desktop.wording import run as words
from engine.execution.events import RunFinished

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

REFRESH_MS = 100


class RunView(Page):
    """Three states: no project, ready to run, a run on show. Follows the run desk ten times a second.

    While a run goes on another one can be made ready, of this project or the next one that is
    opened; what is ordered then waits, and is listed in both states.
    """

    # Never the button that spends: a key that is held down would press it.
    lands_on = ("button_pause", "choice_all", "button_faults")

    def __init__(self, context: AppContext) -> None:
        super().__init__("run", self.tr("Run"), scrolls=True)
        self._context = context
        self._finished: RunFinished | None = None
        self._on_show = False
        self._heads: dict[str, ModelHead] = {}
        self._said: set[tuple[str, str]] = set()
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        self._add_parts()
        self._connect()
        if context.runs.running and context.runs.current is not None:
            self._on_began(context.runs.current)
        else:
            self._show_before()

    # parts

    def _add_parts(self) -> None:
        self.check_tell = QCheckBox(self.tr("Tell me when it is done"))
        self.check_tell.setObjectName("check_notify_running")
        self.check_tell.toggled.connect(lambda on: setattr(self._context.settings, "notify_done", on))
        self.header.controls.addWidget(self.check_tell)
        self.nothing = EmptyState(
            self.tr("No project is open."), self.tr("Open one, or try the sample."), self.tr("Go to Home")
        )
        self.nothing.pressed.connect(lambda: self._context.page_wanted.emit("home"))
        self.line = RunLine(self._context.runs)
        self.line.show_pressed.connect(self.show_run)
        self.ready = RunReady(self._context.settings)
        self.going = RunGoing()
        self.body.addWidget(self.line)
        self.body.addWidget(self.nothing, 1)
        self.body.addWidget(self.ready, 1)
        self.body.addWidget(self.going, 1)
        self.foot = RunFoot()
        outer = self.layout()
        if outer is not None:
            outer.addWidget(self.foot)

    def _connect(self) -> None:
        context = self._context
        context.projects.opened.connect(lambda _opened: self._on_project())
        context.projects.examined.connect(lambda _preflight: self._work_out())
        context.projects.closed.connect(self._on_project)
        context.results.listed.connect(lambda _runs: self._offer_unfinished())
        context.runs.began.connect(self._on_began)
        context.runs.ended.connect(self._on_ended)
        context.runs.state_changed.connect(self._on_state)
        context.runs.waiting.added.connect(self._on_ordered)
        self.ready.run_pressed.connect(self.ask_and_run)
        self.ready.key_wanted.connect(context.key_wanted)
        self.ready.faults_wanted.connect(lambda: context.page_wanted.emit("project"))
        self.going.key_wanted.connect(context.key_wanted)
        self.going.lanes.width_wanted.connect(context.runs.set_width)
        foot = self.foot
        foot.button_pause.clicked.connect(self._on_pause)
        foot.button_cancel.clicked.connect(self.ask_cancel)
        foot.button_retry.clicked.connect(self._on_retry)
        foot.button_again.clicked.connect(self._show_before)
        foot.button_another.clicked.connect(self._show_before)
        foot.button_result.clicked.connect(self._on_see_result)

    # before

    def _on_project(self) -> None:
        """Another project is opened, or this one anew: its own run stays on show, another's does not."""
        began, project = self._context.runs.current, self._context.projects.project
        mine = began is not None and project is not None and began.project.root == project.root
        if not (self._context.runs.running and self._on_show and mine):
            self._show_before()

    def _show_before(self) -> None:
        self._on_show = False
        self._set_turn()
        opened = self._context.projects.current
        self._show_state(self.nothing if opened is None else self.ready)
        self.strips.close_all()
        if opened is None:
            self.header.set_title(self.tr("Run"), "")
            return
        self.header.set_title(self.tr("Ready to run"), "")
        self.ready.show_looking()
        if self._context.projects.preflight is not None:
            self._work_out()
        self._offer_unfinished()

    def _show_state(self, shown: QWidget) -> None:
        for part in (self.nothing, self.ready, self.going):
            part.setVisible(part is shown)
        self.foot.setVisible(shown is self.going)
        self.check_tell.setVisible(shown is self.going)
        self.check_tell.setChecked(self._context.settings.notify_done)
        self.ready.refresh_boxes()
        self._set_turn()

    # what waits

    def _set_turn(self) -> None:
        """Whether what is ordered now has to wait, and whether a run goes on that is not on show."""
        runs = self._context.runs
        self.ready.set_waits(runs.busy or runs.waiting.next_up() is not None)
        other = runs.running and not self._on_show
        self.line.set_with_running(other)
        if other:
            self._tell_other()
            self._timer.start()
        elif not runs.running:
            self._timer.stop()

    def _tell_other(self) -> None:
        began, progress = self._context.runs.current, self._context.runs.progress
        if began is not None:
            self.line.set_running(words.other_run(began.project.config.project, progress.share))

    def _on_ordered(self, _entry: object) -> None:
        """The person ordered one that waits: from here on they look at what goes on and at the line."""
        if self.isVisible() and self._context.runs.running:
            self.show_run()

    def show_run(self) -> None:
        """Shows the run that goes on, or the last one."""
        began = self._context.runs.current
        if began is not None and not self._on_show:
            self._show_began(began)

    def _on_state(self) -> None:
        self._set_turn()
        self._refresh()

    def _work_out(self) -> None:
        opened, preflight = self._context.projects.current, self._context.projects.preflight
        if opened is None or preflight is None:
            return
        results = self._context.results
        # A store that is not there yet is not made by looking.
        shelf = results.shelf if results.any_there else None

        def work(_job: Job) -> RunFacts:
            return read_run_facts(opened, preflight, shelf)

        self._context.background.run(work, self._on_facts, self._on_failed, name="run facts", replace=True)

    def _on_facts(self, facts: RunFacts) -> None:
        if facts.opened is not self._context.projects.current:
            return
        self.ready.show_facts(facts)
        if not self._on_show:
            self._say("gated", gated_message(facts, self._context))
            self._say("left_out", left_out_message(facts, self._context))

    def _on_failed(self, error: Exception) -> None:
        raise error

    def _say(self, key: str, message: Message | None) -> None:
        """Shows a message that stands as long as there is something to say."""
        if message is None:
            self.strips.close_message(key)
        else:
            self.strips.show_message(message)

    def _offer_unfinished(self) -> None:
        if self._context.projects.current is not None and not self._on_show:
            self._say("unfinished", unfinished_message(self._context))

    # starting

    def ask_and_run(self, quick: bool) -> None:
        """Starts a run, after a question where it may cost more than the person wants unasked."""
        facts = self.ready.facts
        if facts is None:
            return
        choice = facts.choice(quick)
        reasons = confirm_reasons(choice)
        if not reasons:
            self._context.runs.start(quick=quick)
            return
        dialog = ConfirmCostDialog(self, cost_question(facts, choice, reasons, waits=self.ready.waits))
        dialog.agreed.connect(lambda: self._context.runs.start(quick=quick))
        dialog.open()

    # a run on show

    def _on_began(self, began: RunBegan) -> None:
        """A run the person started is shown at once; one whose turn came takes nobody from their work."""
        self._finished = None
        if began.waited and not self._on_show and self.isVisible():
            self._set_turn()
            return
        self._show_began(began)

    def _show_began(self, began: RunBegan) -> None:
        self._on_show = True
        self._said.clear()
        self.strips.close_all()
        project = began.project
        self.header.set_title(self.tr("Running"), f"{project.config.project}. {size_line(began)}")
        connections = {connection.id: connection for connection in project.config.connections}
        free = [m.entry.key for m in began.preflight.ready if m.price is not None and m.price.free]
        self._heads = model_heads(project.config, connections, free)
        self.going.begin(began, self._heads)
        self._show_state(self.going)
        self._refresh()
        if self._finished is not None:
            self._show_end(self._finished)
        elif self.isVisible():
            self._timer.start()

    def _refresh(self) -> None:
        if not self._on_show:
            self._tell_other()
            return
        runs = self._context.runs
        progress = runs.progress
        self.going.refresh(progress, paused=runs.paused, stopping=runs.stopping, awake=runs.kept_awake)
        if runs.running:
            self.header.set_title(self.tr("Paused") if runs.paused else self.tr("Running"))
        can_prepare = self._context.projects.current is not None
        self.foot.show_run(runs, self._finished, can_prepare=can_prepare)
        if runs.running:
            self._say_sandbox()
            passed = limit_message(runs.progress)
            for message in self._set_aside():
                self._say_once(message)
            if passed is not None:
                self._say_once(passed)

    def _set_aside(self, *, ended: bool = False) -> list[Message]:
        offers = RunOffers(self._offer_again, self._context.key_wanted.emit)
        return set_aside_messages(self._context.runs.progress, self._heads, offers, ended=ended)

    def _say_sandbox(self) -> None:
        message = sandbox_message(self._context.runs.progress)
        if message is None:
            self.strips.close_message("sandbox")
        else:
            self._say_once(message)

    def _offer_again(self, keys: tuple[str, ...]) -> None:
        """The cause is mended: these models get questions again, and a new fault is told anew."""
        self._said.clear()
        self._context.runs.offer_again(keys)

    def _say_once(self, message: Message) -> None:
        said = (message.key, message.first)
        if said not in self._said:
            self._said.add(said)
            self.strips.show_message(message)

    def _on_ended(self, finished: RunFinished) -> None:
        self._timer.stop()
        self._finished = finished
        if not self._on_show:
            return
        self._refresh()
        self._show_end(finished)

    def _show_end(self, finished: RunFinished) -> None:
        self.header.set_title(words.ended_title(finished.status))
        self.going.show_end(finished)
        self.check_tell.hide()
        open_ones = {message.key for message in self.strips.messages()}
        for message in self._set_aside(ended=True):
            if message.key in open_ones:
                self.strips.show_message(message)
        if finished.error:
            first = words.ended_title(finished.status) + "."
            self.strips.show_message(Message("ended", Tone.BAD, first, finished.error))

    def _on_see_result(self) -> None:
        if self._finished is not None:
            self._context.results.open_run(self._finished.run_id)
            self._context.page_wanted.emit("results")

    def _on_retry(self) -> None:
        if self._finished is not None:
            self._context.runs.carry_on(self._finished.run_id, retry_errors=True)

    # steering

    def _on_pause(self) -> None:
        runs = self._context.runs
        if runs.paused:
            runs.go_on()
        else:
            runs.pause()

    def ask_cancel(self) -> None:
        """Asks how the run should end; while it ends already, stops it now."""
        ask_cancel(self, self._context.runs)

    # Qt

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        self.going.set_narrow(narrow)
        self.ready.set_narrow(narrow)
        self.foot.set_narrow(narrow)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.ready.refresh_boxes()
        if self._context.runs.running:
            self._on_state()
            self._timer.start()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._timer.stop()
