"""The run as the whole window shows it: status bar, title, rail, menu, and the question at closing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer
from PySide6.QtGui import QCloseEvent

from arena_desktop.dialogs.run_questions import (
    Choice,
    ask_cancel,
    close_question,
    close_waiting_question,
    costs_nothing,
)
from arena_desktop.waiting_bar import WaitingBar
from arena_desktop.widgets.strip import Message, StripButton, Tone
from arena_desktop.wording import ask_again as again_words
from arena_desktop.wording import formats
from arena_desktop.wording import resume as resume_words
from arena_desktop.wording.results import state_word
from arena_desktop.wording.run import spent_short
from arena_desktop.wording.run_queue import waiting_short
from engine.domain import RunStatus

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from arena_desktop.context import AppContext
    from arena_desktop.desks.result_desk import Result
    from arena_desktop.desks.run_desk import ResumeQuestion, RunBegan
    from arena_desktop.desks.run_orders import RunOrder
    from arena_desktop.desks.run_progress import RunProgress
    from engine.execution.events import RunFinished

REFRESH_MS = 250


class RunBar(QObject):
    """Follows the run desk; asks before a run is cancelled or the window is closed over it."""

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._close_after = False
        self._ended_run = ""
        self._waiting = WaitingBar(window, context)
        self._timer = QTimer(self)
        self._timer.setInterval(REFRESH_MS)
        self._timer.timeout.connect(self._refresh)
        context.runs.began.connect(self._on_began)
        context.runs.ended.connect(self._on_ended)
        context.runs.state_changed.connect(self._refresh)
        context.runs.question.connect(self.ask_how_to_carry_on)
        context.runs.price_question.connect(self.ask_about_money)
        context.results.shown.connect(self._on_shown)
        window.status.run.cancel_pressed.connect(self.ask_cancel)
        window.status.run.pressed.connect(lambda: window.show_page("run"))
        window.menus.action("action_cancel").triggered.connect(self.ask_cancel)
        window.menus.action("action_pause").triggered.connect(self._on_pause)
        window.close_requested.connect(self._on_close)
        self._set_actions()

    @property
    def _progress(self) -> RunProgress:
        return self._context.runs.progress

    def ask_cancel(self) -> None:
        """Asks how the run should end; a run that is ending already is stopped now."""
        ask_cancel(self._window, self._context.runs)

    def ask_how_to_carry_on(self, question: ResumeQuestion) -> None:
        """Asks whether the rest is asked as it was planned or as the project is now."""
        from arena_desktop.dialogs.resume_choice import ResumeChoiceDialog

        runs = self._context.runs
        info = next((run for run in self._context.results.runs if run.run_id == question.run_id), None)
        dialog = ResumeChoiceDialog(
            self._window,
            resume_words.changed_title(info.number if info is not None else None),
            resume_words.difference_lines(question.found, question.labels),
        )
        dialog.chosen.connect(
            lambda choice: runs.carry_on(
                question.run_id, choice=choice, retry_errors=question.retry_errors, again=question.again
            )
        )
        dialog.open()

    def ask_about_money(self, order: RunOrder) -> None:
        """Asks before a saved run is carried on that may cost more than the person wants unasked."""
        from arena_desktop.dialogs.rest_question import ask_about_rest

        ask_about_rest(self._window, self._context.runs, order)

    def _on_pause(self) -> None:
        runs = self._context.runs
        if runs.paused:
            runs.go_on()
        else:
            runs.pause()

    def _on_began(self, _began: RunBegan) -> None:
        self._timer.start()
        self._set_actions()
        self._refresh()

    def _refresh(self) -> None:
        runs, progress, window = self._context.runs, self._progress, self._window
        self._set_actions()
        if not runs.running:
            return
        share = self.tr("{share} %").format(share=formats.points(progress.share))
        window.rail.set_share("run", share)
        window.set_project(self._shown_name(), unsaved=window.isWindowModified(), progress=self._title(share))
        calm = "warn" if runs.paused else ""
        counts = {
            "done": progress.done,
            "failed": progress.failed,
            "under_way": progress.running,
            "waiting": progress.waiting,
        }
        window.status.run.show_run(self._sentence(share), counts, calm=calm)

    def _sentence(self, share: str) -> str:
        said = [self._name_first(self._state(share)), waiting_short(len(self._context.runs.waiting))]
        return "; ".join(part for part in said if part)

    def _state(self, share: str) -> str:
        runs, progress = self._context.runs, self._progress
        if runs.stopping:
            return self.tr("Stopping, {count} on their way").format(count=progress.running)
        if runs.paused:
            return self.tr("Paused at {share}").format(share=share)
        parts = [self.tr("Running {share}").format(share=share)]
        left = progress.seconds_left()
        if left is not None:
            parts.append(formats.about_time(left))
        free = costs_nothing(runs)
        parts.append(spent_short(progress.spent_usd, progress.ceiling_usd, free=free))
        return ", ".join(parts)

    def _name_first(self, sentence: str) -> str:
        """A run of another project than the one that is open says whose it is."""
        if self._is_at_home():
            return sentence
        return self.tr("{project}: {sentence}").format(project=self._run_name(), sentence=sentence)

    def _title(self, share: str) -> str:
        if self._is_at_home():
            return share
        return self.tr("{share} {project}").format(share=share, project=self._run_name())

    def _run_name(self) -> str:
        began = self._context.runs.current
        return began.project.config.project if began else ""

    def _is_at_home(self) -> bool:
        """Whether the run is one of the project that is open."""
        began, project = self._context.runs.current, self._context.projects.project
        return began is None or (project is not None and began.project.root == project.root)

    def _is_elsewhere(self) -> bool:
        """Whether another project is open than that of the run."""
        return self._context.projects.project is not None and not self._is_at_home()

    def _open_name(self) -> str:
        project = self._context.projects.project
        return project.config.project if project is not None else ""

    def _shown_name(self) -> str:
        """The open project; a saved run can be on show without its project."""
        result = self._context.results.result
        return self._open_name() or (result.stored.info.project if result is not None else "")

    def _set_actions(self) -> None:
        runs = self._context.runs
        self._window.menus.action("action_cancel").setEnabled(runs.running)
        self._window.menus.action("action_pause").setEnabled(runs.running and not runs.stopping)
        text = self.tr("&Continue") if runs.paused else self.tr("&Pause")
        self._window.menus.action("action_pause").setText(text)

    def _on_ended(self, finished: RunFinished) -> None:
        self._timer.stop()
        window, runs = self._window, self._context.runs
        window.rail.set_share("run", "")
        window.status.run.end_run()
        window.set_project(self._shown_name(), unsaved=window.isWindowModified())
        self._set_actions()
        if self._close_after:
            window.close()
            return
        self._context.results.list_runs(self._open_name() or self._run_name())
        again = bool(runs.current is not None and runs.current.again)
        stays = again or runs.waiting.next_up() is not None or self._is_elsewhere()
        if window.current_page() == "run" and not stays:
            window.open_run(finished.run_id)
        elif again and finished.status is RunStatus.COMPLETED:
            self._say_asked_again(finished)
        else:
            self._say_ended(finished)

    def _say_ended(self, finished: RunFinished) -> None:
        first = self.tr("The run has ended: {state}.").format(state=state_word(finished.status))
        text = self.tr("{done} of {planned} answers are in.").format(
            done=finished.completed, planned=finished.planned
        )
        self._say(finished, f"{self._run_name()}. {first}" if self._is_elsewhere() else first, text)

    def _say_asked_again(self, finished: RunFinished) -> None:
        first, text = again_words.asked_again(self._progress.done, self._progress.failed)
        result = self._context.results.result
        if result is not None and result.run_id == finished.run_id:
            self._context.results.open_run(finished.run_id)
        self._window.show_message(Message("asked_again", Tone.GOOD, first, text))

    def _say(self, finished: RunFinished, first: str, text: str) -> None:
        tone = Tone.GOOD if finished.status is RunStatus.COMPLETED else Tone.WARN
        see = StripButton(
            self.tr("See the result"), lambda: self._window.open_run(finished.run_id), closes=True
        )
        self._ended_run = finished.run_id
        self._window.show_message(Message("run_ended", tone, first, text, (see,)))

    def _on_shown(self, result: Result | None) -> None:
        """The message about the end of a run has done its work once that run is looked at."""
        if result is not None and result.run_id == self._ended_run and not result.live:
            self._window.close_message("run_ended")

    # closing

    def _on_close(self, event: QCloseEvent) -> None:
        runs = self._context.runs
        waiting = len(runs.waiting)
        if runs.running:
            event.ignore()
            if not self._close_after:
                done, running = self._progress.done, self._progress.running
                free = costs_nothing(runs)
                question = close_question(self._window, done, running, waiting, free=free)
                question.chosen.connect(self._on_close_chosen)
                question.open()
        elif waiting and not self._close_after:
            event.ignore()
            question = close_waiting_question(self._window, waiting)
            question.chosen.connect(self._on_close_waiting_chosen)
            question.open()

    def _on_close_chosen(self, choice: Choice) -> None:
        runs = self._context.runs
        if choice is Choice.NOTHING:
            return
        if choice is Choice.KEEP:
            self._window.showMinimized()
            return
        self._close_after = True
        runs.waiting.drop()
        if choice is Choice.FINISH:
            runs.cancel()
        else:
            runs.stop_now()
        if not runs.running:
            self._window.close()

    def _on_close_waiting_chosen(self, choice: Choice) -> None:
        if choice is not Choice.KEEP:
            self._close_after = True
            self._context.runs.waiting.drop()
            self._window.close()
