"""Compare: what changed between two runs, on the tests that are the same in both."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QShowEvent, QStandardItemModel
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.itemmodels.history import (
    CompareRow,
    MovedRow,
    compare_columns,
    compare_rows,
    moved_columns,
)
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme.switch import set_width
from arena_desktop.views.compare_data import ComparedRuns, compare_stored
from arena_desktop.views.result_parts import press
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import ElidedLabel, Label, Span
from arena_desktop.widgets.page import Page
from arena_desktop.widgets.strip import Message
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.widgets.verdict_card import VerdictCard, VerdictText
from arena_desktop.wording import compare as words
from arena_desktop.wording import formats
from engine.domain import RunInfo
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_COMBO_WIDTH = 190
_TONES = {"good": Tone.GOOD, "warn": Tone.WARN, "info": Tone.INFO, "neutral": Tone.NEUTRAL}
WORSE, BETTER, BOTH = "worse", "better", "both"


class CompareView(Page):
    """Holds which two runs are chosen; the comparison itself is made in the background."""

    def __init__(self, context: AppContext) -> None:
        super().__init__("compare", self.tr("Compare"), scrolls=True)
        self._context = context
        self._compared: ComparedRuns | None = None
        self._pair: tuple[str, str] | None = None
        self._add_controls()
        self._add_parts()
        context.results.listed.connect(self._on_listed)
        context.projects.opened.connect(lambda _opened: self._forget())
        self._on_listed(context.results.runs)

    # parts

    def _add_controls(self) -> None:
        self.combo_before = Combo(self.tr("Run before"), name="combo_before")
        self.combo_after = Combo(self.tr("Run after"), name="combo_after")
        for combo in (self.combo_before, self.combo_after):
            set_width(combo, _COMBO_WIDTH)
            combo.activated.connect(lambda _index: self._on_chosen())
        self.label_with = Label(self.tr("with"), colour="text2")
        self.button_swap = Button(self.tr("Swap"), icon="compare", name="button_swap")
        self.button_swap.clicked.connect(self.swap)
        self.button_export = Button(self.tr("Export…"), icon="export", name="button_export")
        self.button_export.clicked.connect(lambda: press(self, "action_export"))
        self._controls: tuple[QWidget, ...] = (
            self.combo_before,
            self.label_with,
            self.combo_after,
            self.button_swap,
            self.button_export,
        )
        for widget in self._controls:
            self.header.controls.addWidget(widget)

    def _add_parts(self) -> None:
        self.nothing = EmptyState("", "", icon="run")
        self.nothing.pressed.connect(lambda: self._context.page_wanted.emit("run"))
        self.body.addWidget(self.nothing, 1)
        self._whole = QWidget()
        layout = QVBoxLayout(self._whole)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        self.body.addWidget(self._whole, 1)
        self.verdict = VerdictCard(with_names=False)
        self.verdict.sentence.setObjectName("label_compare")
        self.verdict.lead.setObjectName("label_compare_lead")
        layout.addWidget(self.verdict)
        self.table = ArenaTable("table_compare", self.tr("Models in both runs"))
        self.rows: ColumnTable[CompareRow] = ColumnTable(
            compare_columns(), key=lambda r: r.key, muted=lambda r: r.change is None, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.fit_rows()
        self.table.current_row_changed.connect(lambda _row: self._show_moved())
        layout.addWidget(TableCard(self.table))
        layout.addWidget(self._moved_head())
        self.moved = ArenaTable("table_moved", self.tr("Tests that changed"))
        self.moved_rows: ColumnTable[MovedRow] = ColumnTable(
            moved_columns("", ""), key=lambda r: (r.case_id, r.better), parent=self.moved
        )
        self.moved.setModel(self.moved_rows)
        self.moved.fit_rows(most=100)
        self.moved.activated_row.connect(self._open_in_answers)
        self.moved_card = TableCard(self.moved)
        layout.addWidget(self.moved_card)
        self.label_none = Label("", colour="text2", wrap=True, name="label_no_moved")
        layout.addWidget(self.label_none)
        layout.addStretch(1)

    def _moved_head(self) -> QWidget:
        head = QWidget()
        head.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        row = FlowLayout(head, gap=16)
        self.label_moved = ElidedLabel(
            self.tr("Tests that changed"), "section", name="label_moved", fills=False
        )
        self.combo_moved = Combo(self.tr("Which tests that changed"), name="combo_moved")
        self.combo_moved.activated.connect(lambda _index: self._fill_moved())
        row.addWidget(self.label_moved)
        row.addWidget(self.combo_moved)
        row.addStretch(1)
        self.button_answers = Button(
            self.tr("Open in Answers"), "quiet", icon="right", name="button_open_in_answers"
        )
        self.button_answers.clicked.connect(lambda: self._open_in_answers(self.moved.current_record()))
        row.addWidget(self.button_answers)
        return head

    # which runs

    def choose(self, before: str, after: str) -> None:
        """Compares two runs by their ids."""
        self._pair = (before, after)
        self._show_pair()
        self._compare()

    def swap(self) -> None:
        """The other way round."""
        if self._pair is not None:
            self.choose(self._pair[1], self._pair[0])

    def _forget(self) -> None:
        self._pair = self._compared = None
        self.strips.close_all()

    def _on_listed(self, runs: tuple[RunInfo, ...]) -> None:
        usable = [run for run in runs if run.completed > 0]
        self._fill_combos(runs)
        known = {run.run_id for run in usable}
        if self._pair is not None and not set(self._pair) <= known:
            self._pair = self._compared = None
        if self._pair is None and len(usable) > 1:
            self._pair = (usable[1].run_id, usable[0].run_id)
        self._show_pair()
        if self.isVisible():
            self._compare()

    def _fill_combos(self, runs: tuple[RunInfo, ...]) -> None:
        for combo in (self.combo_before, self.combo_after):
            combo.blockSignals(True)
            combo.clear()
            for run in runs:
                text = self.tr("Run {number}, {when}").format(
                    number=run.number, when=formats.when(run.started_at)
                )
                if run.completed == 0:
                    text = self.tr("{run} (no answers)").format(run=text)
                combo.addItem(text, run.run_id)
                model = combo.model()
                if run.completed == 0 and isinstance(model, QStandardItemModel):
                    model.item(combo.count() - 1).setEnabled(False)
            combo.blockSignals(False)

    def _show_pair(self) -> None:
        pair = self._pair
        shown = pair is not None
        for widget in self._controls:
            widget.setVisible(shown)
        if pair is None:
            self._show_nothing(
                self.tr("After two runs you can see what changed."),
                self.tr("Both runs stay as they are. Only tests that are the same in both are compared."),
                self.tr("Run the tests"),
            )
            return
        for combo, run_id in zip((self.combo_before, self.combo_after), pair, strict=True):
            combo.setCurrentIndex(max(0, combo.findData(run_id)))

    def _on_chosen(self) -> None:
        before, after = self.combo_before.currentData(), self.combo_after.currentData()
        if before and after:
            self.choose(before, after)

    # comparing

    def _compare(self) -> None:
        pair = self._pair
        if pair is None:
            return
        if pair[0] == pair[1]:
            self._show_nothing(*words.problem_words("same_run"))
            return
        shown = self._compared
        if shown is not None and (shown.before.run_id, shown.after.run_id) == pair:
            return
        self._show_nothing(self.tr("Comparing…"), "")
        shelf = self._context.results.shelf

        def work(job: Job) -> ComparedRuns:
            return compare_stored(shelf(), *pair, lambda: job.stopped)

        self._context.background.run(work, self._on_compared, self._on_failed, name="compare", replace=True)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self._show_nothing(error.message, error.hint)

    def _on_compared(self, compared: ComparedRuns) -> None:
        if (compared.before.run_id, compared.after.run_id) != self._pair:
            return
        self._compared = compared
        if compared.found.problem is not None:
            self._show_nothing(*words.problem_words(compared.found.problem.code))
            return
        self.nothing.hide()
        self._whole.show()
        self._show_words(compared)
        self._show_rows(compared)
        self._show_moved()

    def _show_nothing(self, heading: str, sentence: str, button: str = "") -> None:
        self._compared = None if heading == self.tr("Comparing…") else self._compared
        self._whole.hide()
        self.nothing.show()
        self.nothing.set_texts(heading, sentence, button)
        self.strips.close_message("shared")

    def _show_words(self, compared: ComparedRuns) -> None:
        said = words.compare_words(compared.found, compared.names, compared.ranks)
        self.verdict.set_text(
            VerdictText(
                said.headline,
                (Span(said.lead),),
                said.chip,
                _TONES[said.kind],
                "compare" if said.kind == "info" else "",
            )
        )
        first, text = words.shared_sentence(compared.found)
        if first:
            self.strips.show_message(Message("shared", Tone.INFO, first, text, can_close=False))
        else:
            self.strips.close_message("shared")

    def _show_rows(self, compared: ComparedRuns) -> None:
        found, heads = compared.found, compared.heads
        rows = compare_rows(found.models, heads, found.deciding)
        for keys, missing in (
            (found.models_only_after, compared.before.number),
            (found.models_only_before, compared.after.number),
        ):
            rows += [CompareRow(heads[key], found.deciding, None, missing) for key in keys if key in heads]
        self.rows.set_rows(rows)
        if rows:
            self.table.select_key(max(rows, key=_weight_of).key)

    # tests that changed

    def _show_moved(self) -> None:
        compared, row = self._compared, self.table.current_record()
        if compared is None or row is None:
            return
        before = self.tr("Run {number}").format(number=compared.before.number)
        after = self.tr("Run {number}").format(number=compared.after.number)
        self.moved_rows.set_columns(moved_columns(before, after))
        self.label_moved.setText(self.tr("Tests that changed for {model}").format(model=row.head.label))
        worse = len(row.change.worse) if row.change is not None else 0
        better = len(row.change.better) if row.change is not None else 0
        wanted = self.combo_moved.currentData()
        self.combo_moved.clear()
        self.combo_moved.addItem(self.tr("Got worse ({count})").format(count=worse), WORSE)
        self.combo_moved.addItem(self.tr("Got better ({count})").format(count=better), BETTER)
        self.combo_moved.addItem(self.tr("All that changed ({count})").format(count=worse + better), BOTH)
        counts = {WORSE: worse, BETTER: better, BOTH: worse + better}
        usual = WORSE if worse or not better else BETTER
        shown = wanted if counts.get(wanted) else usual
        self.combo_moved.setCurrentIndex(max(0, self.combo_moved.findData(shown)))
        self._fill_moved()

    def _fill_moved(self) -> None:
        compared, row = self._compared, self.table.current_record()
        if compared is None or row is None:
            return
        which = self.combo_moved.currentData()
        rows: list[MovedRow] = []
        if which in (WORSE, BOTH):
            rows += compared.moved(row.key, better=False)
        if which in (BETTER, BOTH):
            rows += compared.moved(row.key, better=True)
        self.moved_rows.set_rows(sorted(rows, key=lambda moved: moved.number))
        self.moved_card.setVisible(bool(rows))
        self.button_answers.setVisible(bool(rows))
        self.label_none.setVisible(not rows)
        none = {
            WORSE: self.tr("No test got worse."),
            BETTER: self.tr("No test got better."),
            BOTH: self.tr("Every test came out the same."),
        }
        self.label_none.setText(none.get(which, ""))

    def _open_in_answers(self, row: MovedRow | None) -> None:
        from arena_desktop.views.answers import AnswersView

        compared = self._compared
        if compared is None:
            return
        self._context.results.open_run(compared.after.run_id)
        self._context.page_wanted.emit("answers")
        page = self.window().findChild(AnswersView)
        if page is not None and row is not None:
            page.show_case(row.case_id)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._compare()


def _weight_of(row: CompareRow) -> tuple[bool, int]:
    """Which row is looked at first: a real difference, then the one that moved most."""
    change = row.change
    if change is None:
        return False, -1
    return words.is_real(change), len(change.better) + len(change.worse)
