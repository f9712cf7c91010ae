"""Models to compare: what each one is, costs, promises, and whether it can be asked now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QCheckBox, QGridLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.itemmodels.models import ModelRow, model_columns, model_rows, price_text, ready_text
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import scaled
from arena_desktop.views.setup_parts import Glyph, RoomyArea, SetupView, clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.labels import LOOK_CHANGES, Label, LeadLabel, Span
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, TableCard
from arena_desktop.wording.reasons import reason_sentence
from arena_desktop.wording.setup import (
    counted,
    day_words,
    price_words,
    privacy_sentence,
    privacy_state,
    ready_sentence,
    run_sentence,
    words_of,
)
from engine.config.schema import Config
from engine.execution.preflight import Preflight

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_COLUMNS = 4
_FEW_ROWS = 3
_NO_LIMIT = 16_777_215  # Qt's largest size


class ModelsView(SetupView):
    """The models of the project. What they cost is worked out in the background, nothing is asked."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "models", self.tr("Models to compare"))
        self.button_look = Button(self.tr("Look again"), icon="search", name="button_look_again")
        self.button_look.setToolTip(self.tr("Looks again for keys and for servers on this computer. Free."))
        self.button_look.clicked.connect(self._on_look)
        self.header.controls.addWidget(self.button_look)
        self._add_table()
        self.details = ModelDetails()
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
        self.table.link_clicked.connect(lambda row, _link: self._explain(row))
        self.table.activated_row.connect(self._explain)
        self.bar = FilterBar(self.table, self.tr("Filter the models"))
        self._service = Combo(self.tr("Service"), name="combo_service")
        self._service.currentIndexChanged.connect(lambda _index: self._filter())
        self._only = QCheckBox(self.tr("Only ones that meet my must-haves"))
        self._only.setObjectName("check_only_meeting")
        self._only.toggled.connect(lambda _on: self._filter())
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
        chosen = self._service.currentData()
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


class ModelDetails(Card):
    """One model: why it cannot run and what to do, its settings, what is stated about it."""

    def __init__(self) -> None:
        super().__init__(padding=20, spacing=12, name="detail")
        self._open = False
        self._listed: list[tuple[str, str, str]] = []
        self.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Maximum)
        head = QHBoxLayout()
        self.title = Label("", "section", name="label_model")
        head.addWidget(self.title, 1)
        self.more = Button(self.tr("More"), "quiet", icon="down", name="button_more_settings")
        self.more.clicked.connect(self._on_more)
        head.addWidget(self.more)
        self.body.addLayout(head)
        self._reason = QWidget()
        row = QHBoxLayout(self._reason)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self._sign = Glyph("warn", "warn")
        row.addWidget(self._sign, 0, Qt.AlignmentFlag.AlignTop)
        self.reason = Label("", wrap=True, name="label_reason").selectable()
        row.addWidget(self.reason, 1)
        held = QWidget()
        held.setObjectName("scroll_body")
        column = QVBoxLayout(held)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(self._reason)
        self._facts = QGridLayout()
        column.addLayout(self._facts)
        self._facts.setHorizontalSpacing(24)
        self._facts.setVerticalSpacing(12)
        for number in range(_COLUMNS):
            self._facts.setColumnStretch(number, 1)
        self._area = RoomyArea(held, self.tr("Settings of the model"))
        self.body.addWidget(self._area)

    def show_model(self, row: ModelRow | None, config: Config | None) -> None:
        """Shows a model of a project; None hides the card."""
        self.setVisible(row is not None and config is not None)
        if row is None or config is None:
            return
        self.title.setText(self.tr("Settings for {model}").format(model=row.label))
        reason = self._reason_of(row)
        self._reason.setVisible(bool(reason))
        self.reason.setText(reason)
        good = row.state == "ready"
        self._sign.set_glyph("info" if good else "warn", "text2" if good else "warn")
        self._listed = self._facts_of(row, config)
        self._lay_out()

    def _lay_out(self) -> None:
        clear(self._facts)
        facts = self._listed if self._open else self._listed[:_COLUMNS]
        for number, (title, value, icon) in enumerate(facts):
            fact = _fact(title, value, icon)
            self._facts.addWidget(fact, number // _COLUMNS, number % _COLUMNS, Qt.AlignmentFlag.AlignTop)
        self._area.content_changed()

    def _on_more(self) -> None:
        self._open = not self._open
        self.more.set_icon("up" if self._open else "down")
        self.more.setText(self.tr("Less") if self._open else self.tr("More"))
        self._lay_out()

    def focus_reason(self) -> None:
        """Puts the focus on what is to be done."""
        self.reason.setFocus(Qt.FocusReason.OtherFocusReason)

    def _reason_of(self, row: ModelRow) -> str:
        if row.skipped is not None and row.failures:
            listed = " ".join(reason_sentence(reason) for reason in row.failures)
            return f"{listed} {row.skipped.fix}".strip()
        if row.skipped is not None:
            return f"{ready_text(row)}. {row.skipped.reason} {row.skipped.fix}".strip()
        if row.warning:
            return row.warning
        return " ".join(reason_sentence(reason) for reason in row.unknown)

    def _facts_of(self, row: ModelRow, config: Config) -> list[tuple[str, str, str]]:
        """Title, value and icon; the first row is always shown, the rest after More."""
        settings, promises = self._settings(row, config), self._promises(row, config)
        return [*settings[:2], *promises, *settings[2:]]

    def _settings(self, row: ModelRow, config: Config) -> list[tuple[str, str, str]]:
        entry, defaults = row.entry, config.defaults
        longest = entry.max_tokens or defaults.max_tokens
        variety = entry.temperature if entry.temperature is not None else defaults.temperature
        name = entry.model or entry.run or ""
        known = self.tr("{model} at {service}").format(model=name, service=row.service)
        own = self.tr("Its own") if entry.system is not None else self.tr("Those of the project")
        length = self.tr("About {words} words")
        price = f"{_capital(price_text(row))}. {price_words(row.price)}"
        return [
            (
                self.tr("Longest answer"),
                length.format(words=words_of(longest)) if longest else self.tr("As the service decides"),
                "",
            ),
            (
                self.tr("Variety"),
                f"{variety:g}" if variety is not None else self.tr("As the service decides"),
                "",
            ),
            (self.tr("Can read at once"), self._reads(row), ""),
            (self.tr("Instructions"), own, ""),
            (self.tr("What it is"), known, ""),
            (self.tr("Price per 100 answers"), price, ""),
        ]

    def _reads(self, row: ModelRow) -> str:
        size = row.card.context_tokens
        return self.tr("About {words} words").format(words=words_of(size)) if size else self.tr("Not known")

    def _promises(self, row: ModelRow, config: Config) -> list[tuple[str, str, str]]:
        found = []
        for name in config.constraints.privacy_required:
            words, icon = privacy_state(row.card, name)
            found.append((privacy_sentence(name), words, icon))
        return found


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


_TONES = {"check": "good", "close": "bad", "info": "text2"}


def _fact(title: str, value: str, icon: str) -> QWidget:
    """A small label with its value below; a promise has its icon at the left."""
    line = QWidget()
    row = QHBoxLayout(line)
    row.setContentsMargins(0, 0, 0, 0)
    row.setSpacing(8)
    if icon:
        row.addWidget(Glyph(icon, _TONES[icon]), 0, Qt.AlignmentFlag.AlignTop)
    words = QVBoxLayout()
    words.setSpacing(2)
    words.addWidget(Label(title, "head", colour="text2", wrap=True))
    words.addWidget(Label(value, wrap=True).selectable())
    row.addLayout(words, 1)
    return line
