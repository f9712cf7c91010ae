"""History: all saved runs of the project; a double click opens one; scores over time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QBoxLayout, QLineEdit, QMenu, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.itemmodels.history import HistoryRow, history_columns
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import text_scale
from arena_desktop.theme.switch import set_width
from arena_desktop.views.chart_saving import save_chart, set_chart_table
from arena_desktop.views.history_data import HistoryFacts, read_history
from arena_desktop.views.releases import ReleasesCard, RunsWanted
from arena_desktop.views.saved_steps import can_carry_on, can_retry, carry_on, retry
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.chart_view import ChartCard, ChartView
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import history as words
from arena_desktop.wording.resume import retry_button, retry_sentence
from engine.domain import RunInfo
from engine.errors import ArenaError
from engine.storage.shelf import Shelf

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

TO_COMPARE = 2
_LARGE_TEXT = 1.4


class HistoryView(Page):
    """Holds which runs are ticked; everything else is read from the store."""

    def __init__(self, context: AppContext) -> None:
        super().__init__("history", self.tr("History"), scrolls=True)
        self._context = context
        self._facts = HistoryFacts("")
        self._deciding = self._facts.deciding
        self._chosen: set[str] = set()
        self._noting: RunInfo | None = None
        self._add_controls()
        self._add_table()
        self._add_details()
        self._add_chart()
        self.releases = ReleasesCard(context)
        self.releases.answers_wanted.connect(self._on_runs_wanted)
        self.body.addWidget(self.releases)
        self.body.addStretch(1)
        context.results.listed.connect(self._on_listed)
        context.projects.opened.connect(lambda _opened: self._forget())
        context.runs.state_changed.connect(self._show_rows)
        self._on_listed(context.results.runs)

    # parts

    def _add_controls(self) -> None:
        self.filter = FilterField(self.tr("Filter"))
        self.filter.setAccessibleName(self.tr("Filter the runs"))
        set_width(self.filter, 200)
        self.button_compare = Button(
            words.chosen_button(0), "primary", icon="compare", name="button_compare_chosen"
        )
        self.button_compare.clicked.connect(self._on_compare)
        self.header.controls.addWidget(self.filter)
        self.header.controls.addWidget(self.button_compare)

    def _add_table(self) -> None:
        self.nothing = EmptyState(
            self.tr("No runs yet."),
            self.tr("Every run is kept here. After two runs you can see what changed."),
            self.tr("Run the tests"),
            icon="run",
        )
        self.nothing.pressed.connect(lambda: self._context.page_wanted.emit("run"))
        self.body.addWidget(self.nothing, 1)
        self.table = ArenaTable("table_history", self.tr("Saved runs"))
        self.rows: ColumnTable[HistoryRow] = ColumnTable(
            history_columns(self._on_choose), key=lambda row: row.info.run_id, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.set_filter_field(self.filter)
        self.table.fit_rows(most=12)
        self.table.remember(self._context.settings)
        self.filter.setText(self.rows.filter_text())
        self.filter.textChanged.connect(self._on_filter)
        self.filter.down_pressed.connect(self.table.setFocus)
        self.table.activated_row.connect(self._on_open)
        self.table.current_row_changed.connect(self._on_current)
        self.table.link_clicked.connect(lambda row, _link: carry_on(self._context, row.info))
        self.table.delete_pressed.connect(self._on_delete)
        self.table.set_row_menu(self._fill_menu)
        self.card = TableCard(self.table)
        self.body.addWidget(self.card)

    def _add_details(self) -> None:
        self.details = QWidget()
        self.details.setObjectName("detail")
        row = self._details = QBoxLayout(QBoxLayout.Direction.LeftToRight, self.details)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.label_note = Label("", name="label_run_note")
        self.edit_note = QLineEdit()
        self.edit_note.setObjectName("edit_run_note")
        self.edit_note.setPlaceholderText(self.tr("A note for this run"))
        set_width(self.edit_note, 160, least=True)
        self.edit_note.editingFinished.connect(self._on_note)
        self.label_note.setBuddy(self.edit_note)
        self.button_open = Button(self.tr("Open"), icon="results", name="button_open_run")
        self.button_open.clicked.connect(lambda: self._on_open(self.table.current_record()))
        self.button_remove = Button(self.tr("Remove"), "danger", name="button_remove_run")
        self.button_remove.clicked.connect(self._on_delete)
        row.addWidget(self.label_note)
        row.addWidget(self.edit_note, 1)
        self.button_retry = Button("", name="button_retry_failed")
        self.button_retry.clicked.connect(self._on_retry)
        buttons = FlowLayout(right=True)
        for button in (self.button_retry, self.button_open, self.button_remove):
            buttons.addWidget(button)
        row.addLayout(buttons)
        self.body.addWidget(self.details)

    def _add_chart(self) -> None:
        self.chart = ChartCard(words.over_time_title("accuracy"), ChartView("chart_history", height=320))
        self.chart.save_pressed.connect(lambda: save_chart(self.chart, self._context))
        self.chart.hide()
        self.body.addWidget(self.chart)
        self.one_run = Label(
            self.tr("After two runs you see here how each model did over time."),
            colour="text2",
            wrap=True,
            name="label_one_run",
        )
        self.one_run.hide()
        self.body.addWidget(self.one_run)

    # what is shown

    def _on_filter(self, text: str) -> None:
        self.rows.set_filter(text)
        self.table.looks_changed.emit()

    def _project(self) -> str:
        project = self._context.projects.project
        if project is not None:
            return project.config.project
        result = self._context.results.result
        return result.stored.info.project if result is not None else ""

    def _forget(self) -> None:
        self._chosen.clear()
        self.strips.close_all()

    def _on_listed(self, runs: tuple[RunInfo, ...]) -> None:
        self._chosen &= {run.run_id for run in runs}
        self._show_rows()
        project = self._project()
        self.releases.show_project(project if runs and project else None)
        if not runs or not project:
            self._on_facts(HistoryFacts(project))
            return
        self._read(lambda store: read_history(store, project, runs), self._on_facts, "history")

    def _on_facts(self, facts: HistoryFacts) -> None:
        self._facts = facts
        self._show_rows()
        several = facts.chart is not None and len(facts.chart.runs) > 1
        self.chart.setVisible(several)
        self.one_run.setVisible(facts.chart is not None and not several)
        if facts.chart is not None and several:
            title = words.over_time_title(facts.deciding)
            self.chart.head.title.setText(title)
            self.chart.set_chart(facts.chart, title, facts.sentence)
            set_chart_table(self.chart, facts.chart, self.tr("Scores over time as a table"))

    def _show_rows(self) -> None:
        facts, context = self._facts, self._context
        heads = facts.heads
        if facts.deciding != self._deciding:
            self._deciding = facts.deciding
            self.rows.set_columns(history_columns(self._on_choose, facts.deciding))
        self.rows.set_rows(
            HistoryRow(
                info=run,
                best=heads.get(run.winner) if run.winner else None,
                chosen=run.run_id in self._chosen,
                can_carry_on=can_carry_on(context, run),
                metric=facts.metrics.get(run.run_id, facts.deciding),
                usual=facts.deciding,
                figures=facts.best.get(run.run_id),
            )
            for run in context.results.runs
        )
        empty = not context.results.runs
        self.nothing.setVisible(empty)
        self.card.setVisible(not empty)
        self.filter.setVisible(not empty)
        self._show_compare()
        self._on_current(self.table.current_record())

    def _show_compare(self) -> None:
        self.button_compare.setText(words.chosen_button(len(self._chosen)))
        self.button_compare.setEnabled(len(self._chosen) == TO_COMPARE)
        tip = "" if len(self._chosen) == TO_COMPARE else self.tr("Tick two runs to compare them.")
        self.button_compare.setToolTip(tip)
        self.button_compare.setVisible(self.rows.total_count() > 1)

    def _on_current(self, row: HistoryRow | None) -> None:
        if self._noting is not None and (row is None or row.info.run_id != self._noting.run_id):
            self._on_note()
        same = self._noting is not None and row is not None and row.info.run_id == self._noting.run_id
        self.details.setVisible(row is not None)
        self._noting = row.info if row is not None else None
        if row is None:
            return
        self.button_retry.setVisible(can_retry(self._context, row.info))
        self.button_retry.setText(retry_button(row.info.errors))
        self.button_retry.setToolTip(retry_sentence(row.info.errors))
        text = self.tr("Note for run {number}").format(number=row.info.number)
        self.label_note.setText(text)
        self.edit_note.setAccessibleName(text)
        # What is being typed is not overwritten by newer figures of the same run.
        if not (same and self.edit_note.hasFocus()):
            self.edit_note.setText(row.info.label)

    # doing

    def _on_open(self, row: HistoryRow | None) -> None:
        if row is not None:
            self._context.results.open_run(row.info.run_id)
            self._context.page_wanted.emit("results")

    def _on_retry(self) -> None:
        row = self.table.current_record()
        if row is not None and can_retry(self._context, row.info):
            retry(self._context, row.info)

    def _on_choose(self, row: HistoryRow, on: bool) -> None:
        run_id = row.info.run_id
        if on:
            self._chosen.add(run_id)
        else:
            self._chosen.discard(run_id)
        self.rows.replace(replace(row, chosen=on))
        self._show_compare()

    def _on_compare(self) -> None:
        ordered = [run.run_id for run in self._context.results.runs if run.run_id in self._chosen]
        if len(ordered) == TO_COMPARE:
            # The list is newest first; the older run stands before.
            self._compare(ordered[1], ordered[0])

    def _on_runs_wanted(self, wanted: RunsWanted) -> None:
        self._compare(wanted.before, wanted.after)

    def _compare(self, before: str, after: str) -> None:
        from arena_desktop.views.compare import CompareView

        self._context.page_wanted.emit("compare")
        page = self.window().findChild(CompareView)
        if page is not None:
            page.choose(before, after)

    def _on_note(self) -> None:
        info, text = self._noting, self.edit_note.text().strip()
        if info is None or text == info.label:
            return
        self._noting = replace(info, label=text)
        self._read(lambda store: store.set_label(info.run_id, text), self._list_again, f"note {info.run_id}")

    def _on_delete(self) -> None:
        rows = self.table.chosen_records() or [self.table.current_record()]
        infos = [row.info for row in rows if row is not None]
        if infos:
            self._remove(infos)

    def _remove(self, infos: list[RunInfo]) -> None:
        ids = [info.run_id for info in infos]

        def done(_answer: object) -> None:
            result = self._context.results.result
            if result is not None and result.run_id in ids:
                self._context.results.show(None)
            self._list_again()
            undo = StripButton(self.tr("Undo"), lambda: self._restore(infos), closes=True)
            first = words.removed_sentence([info.number for info in infos])
            self.strips.show_message(Message("removed", Tone.INFO, first, words.removed_text(), (undo,)))

        self._read(lambda store: store.delete(ids), done, "remove runs")

    def _restore(self, infos: list[RunInfo]) -> None:
        def done(_answer: object) -> None:
            self._list_again()
            first = words.restored_sentence([info.number for info in infos])
            self.strips.show_message(Message("removed", Tone.GOOD, first))

        self._read(lambda store: store.restore([i.run_id for i in infos]), done, "restore runs")

    def _fill_menu(self, menu: QMenu, row: HistoryRow) -> None:
        menu.addAction(self.tr("Open")).triggered.connect(lambda: self._on_open(row))
        if can_retry(self._context, row.info):
            again = menu.addAction(retry_button(row.info.errors))
            again.triggered.connect(lambda: retry(self._context, row.info))
        note = menu.addAction(self.tr("Note…"))
        note.triggered.connect(lambda: self.edit_note.setFocus(Qt.FocusReason.ShortcutFocusReason))
        menu.addAction(self.tr("Remove")).triggered.connect(self._on_delete)

    def _list_again(self, _answer: object = None) -> None:
        project = self._project()
        if project:
            self._context.results.list_runs(project)

    def _read(self, work: Callable[[Shelf], Any], done: Callable[[Any], None], name: str) -> None:
        shelf = self._context.results.shelf

        def job(_job: Job) -> Any:
            return work(shelf())

        self._context.background.run(job, done, self._on_failed, name=name, replace=True)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.strips.show_message(Message("history", Tone.BAD, error.message, error.hint))

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        below = narrow and text_scale() > _LARGE_TEXT
        way = QBoxLayout.Direction.TopToBottom if below else QBoxLayout.Direction.LeftToRight
        self._details.setDirection(way)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._list_again()
