"""What the result pages share: which run is on show, reading it in the background, the empty states."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from PySide6.QtGui import QAction, QShowEvent
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.result_desk import Result
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.theme.switch import set_width
from arena_desktop.views.missing_answers import KEY as MISSING
from arena_desktop.views.missing_answers import missing_message
from arena_desktop.views.run_facts import model_heads
from arena_desktop.views.saved_steps import can_carry_on, carry_on
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.turns import Turns
from arena_desktop.wording.board import nothing_yet, partial_sentence, run_title
from arena_desktop.wording.setup import run_sentence
from engine.config.schema import Config
from engine.domain import RunInfo, RunStatus
from engine.errors import ArenaError
from engine.project import config_from_snapshot

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_COMBO_WIDTH = 292


@dataclass(frozen=True, slots=True)
class ResultFacts:
    """A result with what its stored project says. `config` None = the snapshot cannot be read."""

    result: Result
    config: Config | None
    heads: Mapping[str, ModelHead] = field(default_factory=dict)

    @property
    def info(self) -> RunInfo:
        """The head of the run."""
        return self.result.stored.info


def read_result_facts(result: Result) -> ResultFacts:
    """Reads the stored project of a result. For a background thread."""
    stored = result.stored
    heads = {
        model.key: ModelHead(model.key, model.label or model.key, number)
        for number, model in enumerate(stored.models)
    }
    try:
        config = config_from_snapshot(stored.config)
    except ArenaError:
        # A snapshot of a newer program still has its answers and its board.
        return ResultFacts(result, None, heads)
    connections = {connection.id: connection for connection in config.connections}
    named = model_heads(config, connections)
    return ResultFacts(result, config, {key: named.get(key, head) for key, head in heads.items()})


class ResultPage(Page):
    """A page about the run on show. `content` takes its parts; without a run an empty state stands.

    Subclasses override `show_facts`, which runs on the GUI thread, and fill `content`.
    """

    def __init__(self, context: AppContext, name: str, title: str, *, scrolls: bool = False) -> None:
        super().__init__(name, title, scrolls=scrolls)
        self.context = context
        self.facts: ResultFacts | None = None
        self._arrival = Turns(self)
        self.combo_run = Combo(self.tr("Run on show"), name="combo_run")
        set_width(self.combo_run, _COMBO_WIDTH)
        self.combo_run.activated.connect(self._on_run_chosen)
        self.header.controls.addWidget(self.combo_run)
        self.nothing = EmptyState("", "", icon="run")
        self.nothing.pressed.connect(self._on_nothing_pressed)
        self._holder = QWidget()
        self.content = QVBoxLayout(self._holder)
        self.content.setContentsMargins(0, 0, 0, 0)
        self.content.setSpacing(16)
        self.body.addWidget(self.nothing, 1)
        self.body.addWidget(self._holder, 1)

    def begin(self) -> None:
        """Connects and shows what is there; the last step of a subclass's constructor."""
        context = self.context
        context.results.shown.connect(self._on_shown)
        context.results.listed.connect(lambda _runs: self._on_listed())
        context.projects.opened.connect(lambda _opened: self._on_project())
        context.projects.examined.connect(lambda _preflight: self._show_nothing_words())
        context.projects.closed.connect(self._show_nothing_words)
        self._fill_combo()
        if context.results.result is not None:
            self._on_shown(context.results.result)
        else:
            self._show_nothing()

    def show_facts(self, facts: ResultFacts) -> None:
        """Another run, or newer figures of the same one."""
        raise NotImplementedError

    # what is shown

    def _on_shown(self, result: Result | None) -> None:
        if result is None:
            self._show_nothing()
            return

        def work(_job: Job) -> ResultFacts:
            return read_result_facts(result)

        name = f"facts for {self.page_name}"
        self.context.background.run(work, self._on_read, self._on_failed, name=name, replace=True)

    def _on_read(self, facts: ResultFacts) -> None:
        # Not in the turn in which the page is built and shown for the first time.
        self._arrival.start(lambda: self._on_facts(facts))

    def _on_facts(self, facts: ResultFacts) -> None:
        if facts.result is not self.context.results.result:
            return
        self.facts = facts
        self._fill_combo()
        self.nothing.hide()
        self._holder.show()
        self._show_controls(True)
        self._say_partial(facts)
        self.show_facts(facts)

    def _on_failed(self, error: Exception) -> None:
        raise error

    def _show_nothing(self) -> None:
        self.facts = None
        self.strips.close_all()
        self._holder.hide()
        self.nothing.show()
        self._show_controls(False)
        self.header.set_title(self.header.title.text(), "")
        self._show_nothing_words()

    def _show_controls(self, shown: bool) -> None:
        layout = self.header.controls
        for number in range(layout.count()):
            widget = layout.itemAt(number).widget()
            if widget is not None:
                widget.setVisible(shown)

    def _show_nothing_words(self) -> None:
        if self.facts is not None:
            return
        if self.context.results.runs:
            self.nothing.set_texts(self.tr("Reading the newest run…"), "")
            return
        opened, preflight = self.context.projects.current, self.context.projects.preflight
        if opened is None:
            self.nothing.set_texts(
                self.tr("No results yet."), self.tr("Open a project first."), self.tr("Go to Home")
            )
            return
        sentence = ""
        if preflight is not None and not preflight.errors:
            cost = run_sentence(preflight.estimate.total.likely, preflight.planned)
            sentence = nothing_yet(len(opened.project.cases), len(preflight.ready), cost)
        self.nothing.set_texts(self.tr("No results yet."), sentence, self.tr("Run the tests"))

    def _say_partial(self, facts: ResultFacts) -> None:
        info = facts.info
        missing = missing_message(self.context, facts) if self.page_name == "results" else None
        if missing is None:
            self.strips.close_message(MISSING)
        else:
            self.strips.show_message(missing)
        whole = info.status in (RunStatus.COMPLETED, RunStatus.RUNNING) or facts.result.live
        if whole:
            self.strips.close_message("partial")
            return
        first, text = partial_sentence(info.completed + info.errors, info.planned)
        buttons = ()
        if can_carry_on(self.context, info):
            carry = StripButton(self.tr("Carry on"), lambda: carry_on(self.context, info))
            buttons = (carry,)
        self.strips.show_message(Message("partial", Tone.WARN, first, text, buttons))

    # which run

    def _fill_combo(self) -> None:
        result = self.context.results.result
        runs = list(self.context.results.runs)
        if result is not None and all(info.run_id != result.run_id for info in runs):
            runs.insert(0, result.stored.info)
        wanted = result.run_id if result is not None else None
        self.combo_run.blockSignals(True)
        self.combo_run.clear()
        for info in runs:
            self.combo_run.addItem(run_title(info), info.run_id)
        self.combo_run.setCurrentIndex(max(0, self.combo_run.findData(wanted)))
        self.combo_run.blockSignals(False)

    def _on_run_chosen(self, index: int) -> None:
        run_id = self.combo_run.itemData(index)
        if run_id:
            self.context.results.open_run(run_id)

    def _on_listed(self) -> None:
        self._fill_combo()
        self._show_nothing_words()
        if self.isVisible():
            self._open_newest()

    def _on_project(self) -> None:
        result, project = self.context.results.result, self.context.projects.project
        if (
            result is not None
            and project is not None
            and result.stored.info.project != project.config.project
        ):
            # The pages of a project never show another one's numbers.
            self.context.results.show(None)

    def _open_newest(self) -> None:
        if self.context.results.result is not None:
            return
        newest = next((r for r in self.context.results.runs if r.status is not RunStatus.RUNNING), None)
        if newest is not None:
            self.context.results.open_run(newest.run_id)

    def _on_nothing_pressed(self) -> None:
        self.context.page_wanted.emit("run" if self.context.projects.current is not None else "home")

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._open_newest()


def press(widget: QWidget, action: str) -> None:
    """Triggers an action of the window's menus, where the widget stands in the window."""
    found = widget.window().findChild(QAction, action)
    if found is not None:
        found.trigger()
