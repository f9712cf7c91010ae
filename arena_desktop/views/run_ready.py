"""The Run page before a run: price, the two ways to run, the models, the button that carries the amount."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QBoxLayout, QButtonGroup, QCheckBox, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.itemmodels.lanes import ReadyRow, ready_columns
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.settings import Settings
from arena_desktop.views.run_facts import RunChoice, RunFacts
from arena_desktop.widgets.buttons import Button, ChoiceCard
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import formats
from arena_desktop.wording import run_start as words
from arena_desktop.wording.run_queue import turn_text


class RunReady(QWidget):
    """Shows `RunFacts`. `run_pressed(quick)` is the only thing that leads to spending."""

    run_pressed = Signal(bool)
    key_wanted = Signal(str)
    """A model's key is missing: its connection id."""
    faults_wanted = Signal()

    def __init__(self, settings: Settings) -> None:
        super().__init__()
        self._settings = settings
        self._facts: RunFacts | None = None
        self._waits = False
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(12)
        layout.addWidget(self._price_card())
        layout.addWidget(self._models())
        layout.addStretch(1)
        self.show_looking()

    @property
    def facts(self) -> RunFacts | None:
        """What is shown; None while the models are looked at."""
        return self._facts

    @property
    def waits(self) -> bool:
        """Whether what is started here has to wait its turn."""
        return self._waits

    def set_waits(self, waits: bool) -> None:
        """Another run goes on, or does not any more: what is started here waits its turn."""
        if waits != self._waits:
            self._waits = waits
            self._show_chosen()

    @property
    def quick(self) -> bool:
        """Whether the quick look is chosen."""
        return self.choice_quick.isChecked()

    # what is shown

    def show_looking(self) -> None:
        """Nothing is known yet."""
        self._facts = None
        self.label_counts.setText("")
        self.label_price.setText(self.tr("Looking at the models…"))
        self.label_limit.setText(self.tr("Access keys and servers on this computer are looked at. Free."))
        self.choices.setEnabled(False)
        self.button_run.setText(self.tr("Run…"))
        self.button_run.setEnabled(False)
        self.button_plan.setEnabled(False)

    def show_facts(self, facts: RunFacts) -> None:
        """Prices, times and who takes part."""
        self._facts = facts
        self.choices.setEnabled(True)
        self.button_plan.setEnabled(True)
        self._show_choices(facts)
        self._show_chosen()

    def _show_choices(self, facts: RunFacts) -> None:
        whole, quick = facts.whole, facts.quick
        self.choice_quick.setVisible(quick.tests < whole.tests)
        if quick.tests >= whole.tests:
            self.choice_all.setChecked(True)
        title = formats.counted(whole.tests, self.tr("The one test"), self.tr("All {count} tests"))
        self.choice_all.setText(title)
        self.choice_all.setAccessibleName(title)
        self.choice_all.set_lines(
            words.choice_line(whole.tests, whole.asked, whole.price.total.likely), _time(whole)
        )
        too_few = self.tr("Too few to decide.")
        self.choice_quick.set_lines(
            words.choice_line(quick.tests, quick.asked, quick.price.total.likely),
            f"{_time(quick)} {too_few}".strip(),
        )

    def _show_chosen(self) -> None:
        facts = self._facts
        if facts is None:
            return
        choice = facts.choice(self.quick)
        trials = facts.opened.project.config.run.trials
        ready = len(facts.preflight.ready)
        self.rows.set_rows(facts.rows(self.quick))
        self.label_plan.setText(self._plan(facts))
        runs = ready > 0 and choice.asked > 0 and not facts.preflight.errors
        self.button_run.setEnabled(runs)
        # What cannot run has no price either, and nothing to choose between.
        self.choices.setVisible(runs)
        self.button_plan.setVisible(runs)
        self.button_faults.setVisible(bool(facts.preflight.errors))
        if not runs:
            self._show_cannot(facts)
            return
        self.label_counts.setText(words.counts_line(ready, choice.tests, trials, choice.asked))
        self.label_price.setText(words.price_sentence(choice.price))
        said = (words.limit_sentence(choice.price), _time(choice), turn_text() if self._waits else "")
        self.label_limit.setText(" ".join(sentence for sentence in said if sentence))
        self.button_run.setText(words.run_button(choice.price, waits=self._waits))

    def _show_cannot(self, facts: RunFacts) -> None:
        self.button_run.setText(self.tr("Run…"))
        self.label_counts.setText("")
        if facts.preflight.errors:
            self.label_price.setText(self.tr("The project has faults."))
            self.label_limit.setText(self.tr("It runs once they are mended."))
        elif not facts.whole.tests:
            self.label_price.setText(self.tr("There are no tests yet."))
            self.label_limit.setText(self.tr("A test is one question and what a good answer looks like."))
        else:
            self.label_price.setText(self.tr("No model can be asked."))
            self.label_limit.setText(self.tr("The table says what each of them needs."))

    def _plan(self, facts: RunFacts) -> str:
        run = facts.opened.project.config.run
        lanes = {}
        for model in facts.preflight.ready:
            head = facts.heads.get(model.entry.key)
            if head is not None:
                lanes[head.service] = facts.preflight.lanes.get(model.lane, 1)
        return words.plan_sentence(run.concurrency, list(lanes.items()), run.timeout_s)

    # parts

    def _price_card(self) -> Card:
        card = Card(spacing=6, name="card_price")
        self.label_counts = Label("", colour="text2", wrap=True, name="label_counts")
        self.label_price = Label("", "verdict", wrap=True, name="label_price").selectable()
        self.label_limit = Label("", "lead", colour="text2", wrap=True, name="label_limit")
        for label in (self.label_counts, self.label_price, self.label_limit):
            card.body.addWidget(label)
        card.body.addSpacing(10)
        card.body.addWidget(self._choices())
        card.body.addSpacing(10)
        card.body.addWidget(Divider())
        card.body.addSpacing(4)
        card.body.addWidget(self._foot())
        self.label_plan = Label("", colour="text2", wrap=True, name="label_plan")
        self.label_plan.hide()
        card.body.addWidget(self.label_plan)
        return card

    def _choices(self) -> QWidget:
        self.choices = QWidget()
        self._choice_row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self.choices)
        self._choice_row.setContentsMargins(0, 0, 0, 0)
        self._choice_row.setSpacing(12)
        self.choice_quick = ChoiceCard(self.tr("Quick look"), "", name="choice_quick")
        self.choice_all = ChoiceCard(self.tr("All tests"), "", name="choice_all")
        self.choice_all.setChecked(True)
        group = QButtonGroup(self)
        for card in (self.choice_quick, self.choice_all):
            group.addButton(card)
            self._choice_row.addWidget(card, 1)
        self.choice_quick.toggled.connect(lambda _on: self._show_chosen())
        return self.choices

    def set_narrow(self, narrow: bool) -> None:
        """Puts the two choices below each other where there is no room beside."""
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._choice_row.setDirection(way)

    def _foot(self) -> QWidget:
        foot = QWidget()
        foot.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        row = FlowLayout(foot, gap=8)
        self.check_awake = QCheckBox(self.tr("Keep the computer awake"))
        self.check_awake.setObjectName("check_keep_awake")
        self.check_awake.setChecked(self._settings.keep_awake)
        self.check_awake.toggled.connect(lambda on: setattr(self._settings, "keep_awake", on))
        self.check_tell = QCheckBox(self.tr("Tell me when it is done"))
        self.check_tell.setObjectName("check_notify")
        self.check_tell.setChecked(self._settings.notify_done)
        self.check_tell.toggled.connect(lambda on: setattr(self._settings, "notify_done", on))
        self.button_plan = Button(self.tr("Show the plan"), "quiet", name="button_plan")
        self.button_plan.clicked.connect(self._on_plan)
        self.button_faults = Button(self.tr("Show the faults"), "quiet", name="button_faults")
        self.button_faults.clicked.connect(self.faults_wanted)
        self.button_faults.hide()
        self.button_run = Button("", "primary", icon="run", name="button_run")
        self.button_run.clicked.connect(lambda: self.run_pressed.emit(self.quick))
        row.addWidget(self.check_awake)
        row.addWidget(self.check_tell)
        row.addStretch(1)
        row.addWidget(self.button_plan)
        row.addWidget(self.button_faults)
        row.addWidget(self.button_run)
        return foot

    def _models(self) -> TableCard:
        self.table = ArenaTable("table_ready", self.tr("Models of this run"))
        self.rows: ColumnTable[ReadyRow] = ColumnTable(
            ready_columns(),
            key=lambda row: row.head.key,
            muted=lambda row: row.skipped is not None,
            parent=self.table,
        )
        self.table.setModel(self.rows)
        self.table.fit_rows()
        self.table.link_clicked.connect(self._on_link)
        return TableCard(self.table)

    # doing

    def refresh_boxes(self) -> None:
        """The preferences may have changed elsewhere."""
        self.check_awake.setChecked(self._settings.keep_awake)
        self.check_tell.setChecked(self._settings.notify_done)

    def _on_plan(self) -> None:
        shown = self.label_plan.isHidden()
        self.label_plan.setVisible(shown)
        self.button_plan.setText(self.tr("Hide the plan") if shown else self.tr("Show the plan"))

    def _on_link(self, row: ReadyRow, _link: str) -> None:
        connection = self._facts.connection_of(row.head.key) if self._facts is not None else ""
        if connection:
            self.key_wanted.emit(connection)


def _time(choice: RunChoice) -> str:
    """How long it takes, where earlier runs tell."""
    if choice.seconds is None:
        return ""
    return f"{words.sentence_case(formats.about_time(choice.seconds))}."
