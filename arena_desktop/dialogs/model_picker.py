"""Finding models to compare: search, service, price, size, what they can do, whether they can be used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QShowEvent
from PySide6.QtWidgets import QCheckBox, QDialog, QHBoxLayout, QLineEdit, QPushButton, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.connections import KnownConnection, OwnConnections, all_connections
from arena_desktop.desks.model_finder import Finding, FoundModel, Means, find_models
from arena_desktop.desks.project_models import entries_for
from arena_desktop.itemmodels.found_models import found_model_columns, service_text
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.strip import Message, StripStack
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, TableCard
from arena_desktop.wording import formats
from arena_desktop.wording.metrics import feature_name
from engine.config.schema import Connection
from engine.model_facts import canonical_feature
from engine.paths import caches_dir
from providers.checkup import ModelLists

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_FEATURES = ("function_calling", "structured_outputs", "vision")
_SHOWN_TITLES = 3


class ModelPicker(QDialog):
    """Non-modal. `chosen` carries the entries; `connections()` what a project must declare for them."""

    chosen = Signal(object)
    """tuple[ModelEntry, ...]; the dialog is closed by then."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._lists = ModelLists(caches_dir() / "models.json")
        self._picked: dict[str, FoundModel] = {}
        self._typed: dict[str, FoundModel] = {}
        self._places: list[KnownConnection] = []
        self.finding = Finding()
        self.setObjectName("dialog_models")
        self.setWindowTitle(self.tr("Find models"))
        self.setAccessibleName(self.windowTitle())
        self._lay_out()
        self.focus_ring = FocusRing(self)
        width, height = scaled(1120), scaled(720)
        room = self.screen().availableGeometry()
        self.resize(min(width, room.width() - 60), min(height, room.height() - 60))
        self.setMinimumSize(640, 480)
        self._show_sum()

    def look(self, *, ask: bool = False) -> None:
        """Looks for models in the background; with `ask` in every account that has a key."""
        context = self._context
        opened = context.projects.current
        self._places = all_connections(OwnConnections(context.settings), context.projects.project)
        places = tuple(self._places)
        means = Means(
            context.keys,
            self._lists,
            opened.project if opened is not None else None,
            opened.prices if opened is not None else None,
        )

        def work(job: Job) -> Finding:
            return find_models(means, places, ask=ask, should_stop=job.check)

        self.button_ask.setEnabled(False)
        self.asked.setText(self.tr("Asking your accounts…") if ask else self.tr("Looking for models…"))
        context.background.run(work, self._on_found, self._on_failed, name="find models", replace=True)

    def show_service(self, connection_id: str) -> None:
        """Shows the models of one connection only."""
        self._wanted_service = connection_id
        self._apply_wanted()

    def connections(self) -> tuple[Connection, ...]:
        """The connections of what is picked."""
        found = {model.place.connection.id: model.place.connection for model in self._picked.values()}
        return tuple(found.values())

    # parts

    def _lay_out(self) -> None:
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addLayout(self._head())
        self.strips = StripStack()
        layout.addWidget(self.strips)
        self._add_table(layout)
        layout.addWidget(self._by_hand())
        layout.addLayout(self._foot())

    def _head(self) -> QHBoxLayout:
        head = QHBoxLayout()
        head.setSpacing(12)
        head.addWidget(Label(self.tr("Find models"), "title"), 1)
        self.asked = Label("", "caption", colour="text2", name="label_asked_at")
        head.addWidget(self.asked)
        self.button_ask = Button(self.tr("Look in my accounts"), icon="search", name="button_ask_accounts")
        self.button_ask.setToolTip(self.tr("Asks each service with a key which models you may use. Free."))
        self.button_ask.clicked.connect(lambda: self.look(ask=True))
        head.addWidget(self.button_ask)
        return head

    def _add_table(self, layout: QVBoxLayout) -> None:
        self.table = ArenaTable("table_found_models", self.tr("Models that could be compared"), lines=2)
        columns = found_model_columns(lambda row: row.key in self._picked, self._pick)
        self.rows: ColumnTable[FoundModel] = ColumnTable(
            columns, key=lambda row: row.key, muted=lambda row: row.added, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.remember(self._context.settings)
        self.table.link_clicked.connect(self._on_link)
        self.table.activated_row.connect(lambda row: self._pick(row, row.key not in self._picked))
        self.bar = FilterBar(self.table, self.tr("Search models"), name="edit_search_models")
        self._service = Combo(self.tr("Service"), name="combo_model_service")
        self._feature = Combo(self.tr("Can do"), name="combo_model_feature")
        self._feature.addItem(self.tr("Can do anything"), "")
        for name in _FEATURES:
            words = self.tr("Can {do}").format(do=feature_name(name))
            self._feature.addItem(words, name)
        self._usable = QCheckBox(self.tr("Only ones I can use now"))
        self._usable.setObjectName("check_usable")
        for combo in (self._service, self._feature):
            combo.currentIndexChanged.connect(lambda _index: self._filter())
            self.bar.extra.addWidget(combo)
        self._usable.toggled.connect(lambda _on: self._filter())
        self.bar.extra.addWidget(self._usable)
        layout.addWidget(self.bar)
        self.card = TableCard(self.table)
        self.card.set_empty(self.tr("Looking for models…"), "")
        layout.addWidget(self.card, 1)
        self._wanted_service = ""

    def _by_hand(self) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        words = Label(self.tr("Not in the &list?"), colour="text2")
        row.addWidget(words)
        self.edit_model = QLineEdit()
        self.edit_model.setObjectName("edit_model_name")
        self.edit_model.setAccessibleName(self.tr("Name of the model as the service spells it"))
        self.edit_model.setPlaceholderText(self.tr("Name of the model as the service spells it"))
        words.setBuddy(self.edit_model)
        row.addWidget(self.edit_model, 1)
        self._at = Combo(self.tr("Service of the model"), name="combo_typed_service")
        row.addWidget(self._at)
        self.button_typed = Button(self.tr("Add this name"), name="button_add_typed")
        self.button_typed.setEnabled(False)
        self.edit_model.textChanged.connect(lambda text: self.button_typed.setEnabled(bool(text.strip())))
        self.edit_model.returnPressed.connect(self._on_typed)
        self.button_typed.clicked.connect(self._on_typed)
        row.addWidget(self.button_typed)
        return line

    def _foot(self) -> QHBoxLayout:
        foot = QHBoxLayout()
        foot.setSpacing(8)
        column = QVBoxLayout()
        column.setSpacing(2)
        self.sum = Label("", wrap=True, name="label_picked")
        self.note = Label("", "caption", colour="text2", wrap=True, name="label_price_note")
        column.addWidget(self.sum)
        column.addWidget(self.note)
        foot.addLayout(column, 1)
        cancel = Button(self.tr("Cancel"), name="button_cancel_models")
        cancel.clicked.connect(self.reject)
        foot.addWidget(cancel)
        self.button_add = Button("", "primary", name="button_add_models")
        self.button_add.clicked.connect(self._on_add)
        foot.addWidget(self.button_add)
        return foot

    # what is shown

    def _on_found(self, finding: Finding) -> None:
        self.finding = finding
        self.button_ask.setEnabled(True)
        here = {model.key for model in finding.models}
        typed = [model for key, model in self._typed.items() if key not in here]
        self.rows.set_rows((*typed, *finding.models))
        fresh = {model.key: model for model in self.rows.rows()}
        self._picked = {key: fresh.get(key, model) for key, model in self._picked.items()}
        self._show_services()
        self._show_asked(finding)
        self._show_faults(finding)
        self._filter()
        self._show_sum()

    def _on_failed(self, error: Exception) -> None:
        self.button_ask.setEnabled(True)
        raise error

    def _show_services(self) -> None:
        listed = {row.place.connection.id: service_text(row) for row in self.rows.rows()}
        before, at = self._service.currentData(), self._at.currentData()
        self._service.blockSignals(True)
        self._service.clear()
        self._service.addItem(self.tr("All services"), "")
        for name, title in listed.items():
            self._service.addItem(title, name)
        self._service.setCurrentIndex(max(0, self._service.findData(before)))
        self._service.blockSignals(False)
        self._at.clear()
        for place in self._places:
            self._at.addItem(place.title, place.key)
        self._at.setCurrentIndex(max(0, self._at.findData(at)))
        self._apply_wanted()

    def _apply_wanted(self) -> None:
        index = self._service.findData(self._wanted_service) if self._wanted_service else -1
        if index >= 0:
            self._service.setCurrentIndex(index)
            self._wanted_service = ""

    def _show_asked(self, finding: Finding) -> None:
        if finding.asked_at is None:
            self.asked.setText("")
            return
        words = self.tr("Your accounts as of {when}")
        self.asked.setText(words.format(when=formats.when(finding.asked_at)))

    def _show_faults(self, finding: Finding) -> None:
        self.strips.close_all()
        for title, sentence in finding.faults.items():
            first = self.tr("{service} could not be asked.").format(service=title)
            self.strips.show_message(Message(f"fault {title}", Tone.WARN, first, sentence))

    def _filter(self) -> None:
        service, feature = str(self._service.currentData() or ""), str(self._feature.currentData() or "")
        usable = self._usable.isChecked()

        def wanted(row: FoundModel) -> bool:
            features = {canonical_feature(name) for name in row.card.features or ()}
            return (
                (not service or row.place.connection.id == service)
                and (not feature or feature in features)
                and (not usable or (row.state == "ready" and row.seen is not False))
            )

        self.rows.set_predicate(wanted if service or feature or usable else None)

    def _show_sum(self) -> None:
        count = len(self._picked)
        titles = [model.title for model in self._picked.values()]
        listed = ", ".join(titles[:_SHOWN_TITLES])
        if count > _SHOWN_TITLES:
            listed = self.tr("{names} and {count} more").format(names=listed, count=count - _SHOWN_TITLES)
        chosen = self.tr("Chosen: {names}").format(names=listed)
        self.sum.setText(chosen if count else self.tr("Tick the models you want to compare."))
        words = self.tr("Add 1 model") if count == 1 else self.tr("Add {count} models").format(count=count)
        self.button_add.setText(words if count else self.tr("Add models"))
        self.button_add.setEnabled(count > 0)
        suggested = self.tr("Prices are for 100 answers as long as your tests suggest.")
        usual = self.tr("Prices are for 100 answers of about 150 words.")
        self.note.setText(suggested if self.finding.from_project else usual)

    # doing

    def _pick(self, row: FoundModel, on: bool) -> None:
        if on and not row.added:
            self._picked[row.key] = row
        else:
            self._picked.pop(row.key, None)
        self.rows.replace(row)
        self._show_sum()

    def _on_typed(self) -> None:
        name = self.edit_model.text().strip()
        place = next((p for p in self._places if p.key == self._at.currentData()), None)
        if not name or place is None:
            return
        same = next((row for row in self.rows.rows() if row.key == f"{place.key} {name}"), None)
        row = same or FoundModel(name, name, place, "ready")
        if same is None:
            self._typed[row.key] = row
            self.rows.set_rows((row, *self.rows.rows()))
        self.edit_model.clear()
        self.bar.clear_filter()
        self._pick(row, True)
        self.table.select_key(row.key)

    def _on_link(self, row: FoundModel, _link: str) -> None:
        self._context.key_wanted.emit(row.place.connection.id)

    def _on_add(self) -> None:
        wanted = [(m.model, m.place.connection.id, m.title) for m in self._picked.values()]
        entries = entries_for(self._context.projects.project, wanted)
        self.accept()
        self.chosen.emit(entries)

    # Qt

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.bar.field.setFocus(Qt.FocusReason.OtherFocusReason)
        self.look()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter belongs to the button with the focus; a dialog would press its default one.
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            if isinstance(focused, QPushButton):
                focused.click()
            event.accept()
            return
        super().keyPressEvent(event)
