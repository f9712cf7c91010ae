"""Settings > Access keys: one row for each service, and the card of the chosen one beside it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QTimer, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.connections import KnownConnection, OwnConnections, all_connections, known
from arena_desktop.desks.key_desk import KeyDesk, KeyState
from arena_desktop.dialogs.keys_pane import KeyPane
from arena_desktop.dialogs.keys_row import ConnectionRow
from arena_desktop.dialogs.keys_server import ServerDialog
from arena_desktop.dialogs.settings_parts import Note, RowCard, Section
from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import keys as words
from arena_desktop.wording.connections import service_title
from engine.config.schema import Connection
from engine.key_backends import BackendChoice
from providers.base import ConnectionSettings
from providers.checkup import discover

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_WIDE = 840


class KeysSection(Section):
    """All connections that may need a key. What they are is looked up each time the section is opened."""

    models_wanted = Signal(object)

    def __init__(self, context: AppContext) -> None:
        super().__init__("keys", self.tr("Access keys"), "key")
        self._context = context
        self.own = OwnConnections(context.settings)
        self.desk = KeyDesk(context.background, context.keys, context.settings, self)
        self._rows: dict[str, ConnectionRow] = {}
        self._wanted = ""
        self._found: list[KnownConnection] = []
        self._lay_out()
        self.desk.states_changed.connect(self._on_states)
        self.desk.store_known.connect(self._on_store)
        for signal in (self.desk.saved, self.desk.tested, self.desk.removed):
            signal.connect(lambda _answer: self.look())
        self.desk.failed.connect(self._on_failed)
        context.projects.opened.connect(self._on_project)
        self._show_places(self.places())

    def opened(self) -> None:
        """Looks at the key store, and for servers on this computer."""
        self.look()
        self._discover()

    def look(self) -> None:
        """Finds out anew how every connection stands."""
        self.desk.look(self.places())

    def places(self) -> list[KnownConnection]:
        """Vendors, own servers, those found running here, and the open project's."""
        listed = all_connections(self.own, self._context.projects.project)
        taken = {place.address.rstrip("/") for place in listed}
        return [*listed, *(place for place in self._found if place.address.rstrip("/") not in taken)]

    def show_connection(self, connection_id: str) -> None:
        """Opens the card of a connection, by its id or by its key among all others; the open project's
        goes before one of the same name."""
        self._wanted = connection_id
        place = self._by_id(connection_id)
        if place is not None:
            self._open(place.key)
        self.look()

    # parts

    def _lay_out(self) -> None:
        self.split = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self.split.setSpacing(20)
        left = QVBoxLayout()
        left.setSpacing(12)
        self.card = RowCard()
        left.addWidget(self.card)
        self.kept = Note("lock", name="label_keys_kept")
        left.addWidget(self.kept)
        self.wins = Label(
            self.tr("Where your computer sets a key too (as OPENAI_API_KEY), the one kept here is used."),
            "caption",
            colour="text2",
            wrap=True,
        )
        left.addWidget(self.wins)
        row = QHBoxLayout()
        self.button_add = Button(
            self.tr("Add a service or server…"), icon="plus", name="button_add_connection"
        )
        self.button_add.clicked.connect(lambda: self._on_server(None))
        row.addWidget(self.button_add)
        row.addStretch(1)
        left.addLayout(row)
        left.addStretch(1)
        self.pane = KeyPane(self.desk)
        self.pane.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.pane.chosen.connect(self._mark)
        self.pane.models_wanted.connect(self.models_wanted)
        projects = self._context.projects
        self.pane.can_use_models = lambda: projects.project is not None
        self.split.addLayout(left, 13)
        self.split.addWidget(self.pane, 10)
        self.body.addLayout(self.split, 1)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        wide = self.width() >= scaled(_WIDE)
        direction = QBoxLayout.Direction.LeftToRight if wide else QBoxLayout.Direction.TopToBottom
        if self.split.direction() != direction:
            self.split.setDirection(direction)

    # what is shown

    def _show_places(self, places: Sequence[KnownConnection]) -> None:
        """Rows for these connections, as far as they are not there yet."""
        if [place.key for place in places] == list(self._rows):
            return
        self.card.clear()
        self._rows = {}
        for place in places:
            row = self.card.add_row(ConnectionRow(place))
            row.open_wanted.connect(self._on_open)
            row.check_wanted.connect(self._on_check)
            row.change_wanted.connect(self._on_change)
            self._rows[place.key] = row
        # Until they are looked at, nothing is said about them.
        blank = [KeyState(place, "looking", "none") for place in places]
        self.pane.set_states(blank)
        for state in blank:
            self._rows[state.place.key].chip.set_chip(self.tr("Looking…"), Tone.NEUTRAL, "clock")
            self._rows[state.place.key].open.setText(self.tr("Add key…"))
            self._rows[state.place.key].check.hide()
        self._mark(self.pane.place.key if self.pane.place else "")

    def _on_states(self, states: tuple[KeyState, ...]) -> None:
        self._show_places([state.place for state in states])
        for state in states:
            self._rows[state.place.key].show_state(state)
        self.pane.set_states(states)
        if self._wanted:
            place = self._by_id(self._wanted)
            self._wanted = ""
            if place is not None:
                self._open(place.key)
        self._mark(self.pane.place.key if self.pane.place else "")

    def _on_store(self, choice: BackendChoice) -> None:
        usable = choice.backend is not None
        name = choice.name if choice.name == "memory" else words.store_name(choice.name)
        self.kept.label.setText(words.kept_sentence(name, usable))

    def _on_project(self, _opened: object) -> None:
        if self.isVisible():
            self.look()

    def _on_failed(self, error: Exception) -> None:
        raise error

    def _mark(self, key: str) -> None:
        for name, row in self._rows.items():
            row.set_chosen(name == key)

    def _by_id(self, connection_id: str) -> KnownConnection | None:
        places = [p for p in self.places() if connection_id in (p.connection.id, p.holder, p.key)]
        mine = [p for p in places if p.origin == "project" or p.root is not None]
        return (mine or places or [None])[0]

    # doing

    def _open(self, key: str) -> None:
        self.pane.show_place(key)
        self._mark(key)
        self.pane.focus_field()
        # Only after the next layout it is known where the field stands.
        QTimer.singleShot(0, self._scroll_to_field)

    def _scroll_to_field(self) -> None:
        self.area.ensureWidgetVisible(self.pane.field, 24, 160)

    def _on_open(self, key: str) -> None:
        self._open(key)

    def _on_check(self, key: str) -> None:
        self.pane.show_place(key)
        self._mark(key)
        self.pane.test_kept()

    def _on_change(self, key: str) -> None:
        place = next((place for place in self.places() if place.key == key), None)
        self._on_server(place)

    def _on_server(self, place: KnownConnection | None) -> None:
        dialog = ServerDialog(self.own, place, self)
        dialog.kept.connect(self._on_server_kept)
        dialog.forgotten.connect(self._on_server_forgotten)
        dialog.open()

    def _on_server_kept(self, place: KnownConnection) -> None:
        self._wanted = place.connection.id
        self._found = [item for item in self._found if item.address != place.address]
        self.look()

    def _on_server_forgotten(self, place: KnownConnection) -> None:
        self.desk.remove(place)
        self.look()

    def _discover(self) -> None:
        def work(_job: Job) -> list[ConnectionSettings]:
            return discover()

        background = self._context.background
        background.run(work, self._on_discovered, self._on_failed, name="discover", replace=True)

    def _on_discovered(self, found: list[ConnectionSettings]) -> None:
        # The usual address in its usual spelling, so that a project can name the kind alone.
        self._found = [
            known(Connection(id=item.kind, kind=item.kind), "local", service_title(item.kind))
            for item in found
        ]
        self.look()
