"""Models to compare: what each one is, costs, promises, and whether it can be asked now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QVBoxLayout

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.desks.project_settings import remove_model
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.itemmodels.models import ModelRow, model_columns, model_rows
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import scaled
from arena_desktop.views.model_details import ModelDetails
from arena_desktop.views.setup_parts import SetupView
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.kept_choices import KeptChoices
from arena_desktop.widgets.labels import LOOK_CHANGES, Label, LeadLabel, Span
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, TableCard
from arena_desktop.wording.formats import counted
from arena_desktop.wording.reasons import reason_sentence
from arena_desktop.wording.setup import day_words, ready_sentence, run_sentence
from engine.execution.preflight import Preflight

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_FEW_ROWS = 3
_NO_LIMIT = 16_777_215  # Qt's largest size


class ModelsView(SetupView):
    """The models of the project. What they cost is worked out in the background, nothing is asked."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "models", self.tr("Models to compare"))
        self.button_look = Button(self.tr("Look again"), icon="search", name="button_look_again")
        self.button_look.setToolTip(self.tr("Looks again for keys and for servers on this computer. Free."))
        self.button_look.clicked.connect(self._on_look)
        self.button_add = Button(self.tr("Find more models…"), icon="plus", name="button_add_model")
        self.button_add.clicked.connect(self.find_models)
        self.header.controls.addWidget(self.button_look)
        self.header.controls.addWidget(self.button_add)
        self._add_table()
        self.details = ModelDetails()
        self.details.remove_pressed.connect(self._on_remove)
        self.content.addWidget(self.details)
        self.content.addStretch(1)
        self._add_foot()
        self.begin()

    # what is shown

    def show_project(self, opened: OpenProject) -> None:
        services = {"": self.tr("All services")}
        self._show_services(services)
        self._work_out(opened, None)

    def show_preflight(self, preflight: Preflight) -> None:
        opened = self.context.projects.current
        if opened is not None:
            self._work_out(opened, preflight)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "card"):
            self._fit_card()

    def _fit_card(self) -> None:
        """As high as its rows at most, and never lower than a few of them."""
        row = self.table.verticalHeader().defaultSectionSize()
        fixed = self.table.horizontalHeader().sizeHint().height() + 12
        rows = max(_FEW_ROWS, self.rows.shown_count())
        empty = self.rows.total_count() == 0
        self.card.setMinimumHeight(scaled(280) if empty else fixed + row * min(_FEW_ROWS, rows))
        self.card.setMaximumHeight(_NO_LIMIT if empty else fixed + row * rows)

    def _work_out(self, opened: OpenProject, preflight: Preflight | None) -> None:
        self.button_look.setEnabled(preflight is not None)
        self._sum.set_spans((Span(self.tr("Looking at the models…")),))

        def work(_job: Job) -> tuple[OpenProject, Preflight | None, list[ModelRow]]:
            return opened, preflight, model_rows(opened, preflight)

        self.context.background.run(work, self._on_rows, self._on_failed, name="model rows", replace=True)

    def _on_rows(self, answer: tuple[OpenProject, Preflight | None, list[ModelRow]]) -> None:
        opened, preflight, rows = answer
        if opened is not self.context.projects.current:
            return
        self.rows.set_rows(rows)
        self._show_services({"": self.tr("All services"), **{row.service: row.service for row in rows}})
        self._only.setVisible(any(row.has_must_haves for row in rows))
        self._fit_card()
        self._on_current(self.table.current_record())
        self._show_sum(rows, preflight)
        self._say_left_out(rows)

    def _on_failed(self, error: Exception) -> None:
        raise error

    # parts

    def _add_table(self) -> None:
        self.table = ArenaTable("table_models", self.tr("Models to compare"))
        self.rows: ColumnTable[ModelRow] = ColumnTable(
            model_columns(), key=lambda row: row.key, muted=lambda row: row.state == "off", parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.remember(self.context.settings)
        self.table.current_row_changed.connect(self._on_current)
        self.table.link_clicked.connect(self._on_link)
        self.table.activated_row.connect(self._explain)
        self.bar = FilterBar(self.table, self.tr("Filter the models"))
        self._service = Combo(self.tr("Service"), name="combo_service")
        self._service.currentIndexChanged.connect(lambda _index: self._filter())
        self._only = QCheckBox(self.tr("Only ones that meet my must-haves"))
        self._only.setObjectName("check_only_meeting")
        self._only.toggled.connect(lambda _on: self._filter())
        self._kept = KeptChoices(self.context.settings, "models", self)
        self._kept.keep_choice(self._service)
        self._kept.keep_switch(self._only)
        self.bar.extra.addWidget(self._service)
        self.bar.extra.addWidget(self._only)
        self.content.addWidget(self.bar)
        self.card = TableCard(self.table)
        self.card.set_empty(
            self.tr("No models yet."),
            self.tr("Write them into the settings file below “models”, then read the project again."),
            self.tr("Go to Project"),
        )
        self.rows.counts_changed.connect(lambda _shown, _total: self._fit_card())
        self.card.empty_pressed.connect(lambda: self.context.page_wanted.emit("project"))
        self.content.addWidget(self.card, 100)

    def _add_foot(self) -> None:
        row = QHBoxLayout()
        row.setSpacing(16)
        words = QVBoxLayout()
        words.setSpacing(2)
        self._sum = LeadLabel("body", name="label_cost")
        self._note = Label("", "caption", colour="text2", wrap=True, name="label_price_note")
        words.addWidget(self._sum)
        words.addWidget(self._note)
        row.addLayout(words, 1)
        self.button_run = Button(self.tr("Continue to Run"), "primary", name="button_continue")
        self.button_run.clicked.connect(lambda: self.context.page_wanted.emit("run"))
        row.addWidget(self.button_run, 0, Qt.AlignmentFlag.AlignVCenter)
        self.content.addLayout(row)

    # filling

    def _show_services(self, services: dict[str, str]) -> None:
        chosen = self._kept.chosen(self._service)
        self._service.blockSignals(True)
        self._service.clear()
        for service, words in services.items():
            self._service.addItem(words, service)
        self._service.setCurrentIndex(max(0, self._service.findData(chosen)))
        self._service.blockSignals(False)
        self._filter()

    def _filter(self) -> None:
        service, only = self._service.currentData(), self._only.isChecked()
        if not service and not only:
            self.rows.set_predicate(None)
            return
        self.rows.set_predicate(
            lambda row: (not service or row.service == service) and (not only or row.meets)
        )

    def _show_sum(self, rows: list[ModelRow], preflight: Preflight | None) -> None:
        if preflight is None:
            return
        chosen = sum(row.state != "off" for row in rows)
        ready = sum(row.state == "ready" for row in rows)
        if preflight.errors:
            faults = self.tr("The project's faults come first: see Project.")
            self._sum.set_spans((Span(ready_sentence(chosen, ready)), Span(f" {faults}")))
        else:
            cost = run_sentence(preflight.estimate.total.likely, preflight.planned)
            self._sum.set_spans((Span(ready_sentence(chosen, ready)), Span(f" {cost}", bold=True)))
        self._note.setText(_price_note(self, rows))

    def _say_left_out(self, rows: list[ModelRow]) -> None:
        ruled = [row for row in rows if row.state == "skipped" and row.failures]
        if not ruled:
            self.strips.close_message("ruled")
            return
        first = counted(
            len(ruled),
            self.tr("1 model would be ruled out and will not be asked."),
            self.tr("{count} models would be ruled out and will not be asked."),
        )
        words = self.tr("Show it") if len(ruled) == 1 else self.tr("Show the first")
        show = StripButton(words, lambda: self._show_row(ruled[0]))
        text = f"{ruled[0].label}: {reason_sentence(ruled[0].failures[0])}"
        self.strips.show_message(Message("ruled", Tone.WARN, first, text, (show,)))

    # doing

    def _on_look(self) -> None:
        opened = self.context.projects.current
        self.context.projects.examine()
        if opened is not None:
            self._work_out(opened, None)

    def _on_current(self, row: ModelRow | None) -> None:
        opened = self.context.projects.current
        self.details.show_model(row, opened.project.config if opened is not None else None)

    def find_models(self) -> None:
        """Opens the picker; what is chosen there goes into the project."""
        from arena_desktop.dialogs.model_picker_open import open_model_picker

        open_model_picker(self.context, self.window())

    def _on_remove(self, row: ModelRow | None) -> None:
        project = self.context.projects.project
        if row is None or project is None:
            return
        said = self.tr("{model} was taken out of the project.").format(model=row.label)
        name = self.tr("take {model} out").format(model=row.label)
        write_to_project(self.context, lambda: remove_model(project, row.key), said, name=name)

    def _on_link(self, row: ModelRow, link: str) -> None:
        if link == "key" and row.connection is not None:
            self.context.key_wanted.emit(row.connection.id)
            return
        self._explain(row)

    def _explain(self, row: ModelRow) -> None:
        self._show_row(row)
        self.details.focus_reason()

    def _show_row(self, row: ModelRow) -> None:
        self.table.select_key(row.key)


def _price_note(view: ModelsView, rows: list[ModelRow]) -> str:
    """What the prices stand on."""
    days = [row.price.as_of for row in rows if row.price is not None and row.price.as_of is not None]
    if not days:
        return view.tr("Prices are for answers as long as your tests suggest.")
    text = view.tr("Prices are for answers as long as your tests suggest, from {day}.")
    return text.format(day=day_words(min(days)))
