"""The card of one connection: what it is, where to get a key, the field, the answer, where it is kept."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.dialogs.keys_field import KeyField
from arena_desktop.dialogs.settings_parts import Note, clear
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.forms import FieldNote
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.strip import Message, MessageStrip
from arena_desktop.wording.connections import ServiceFacts


def open_page(address: str) -> None:
    """Opens a web page in the person's browser; only ever called from a click."""
    QDesktopServices.openUrl(QUrl(address))


class KeyCard(Card):
    """The parts and how they are filled; `KeyPane` says what they do."""

    def __init__(self) -> None:
        super().__init__(padding=28, spacing=8, name="pane_key")
        self.facts = ServiceFacts("")
        self.setAccessibleName(self.tr("Access key"))
        self._add_head()
        self._add_field()
        self._add_message()
        self._add_steps()
        self._add_foot()

    def show_service(self, title: str, facts: ServiceFacts, what: str = "") -> None:
        """Another service. `what` stands instead of what the service is, where that matters more."""
        self.facts = facts
        self.title.setText(self.tr("Access key for {service}").format(service=title))
        self.what.setText(what or facts.what)
        self._steps_holder.setVisible(bool(facts.steps))
        self.page.setText(facts.key_page)
        for holder in (self.button_page, self.page):
            holder.setVisible(bool(facts.key_page))
        clear(self._steps)
        for number, step in enumerate(facts.steps, start=1):
            text = self.tr("{number}.  {step}").format(number=number, step=step)
            self._steps.addWidget(Label(text, wrap=True))

    @property
    def message(self) -> Message | None:
        """What it says right now."""
        return self.strip.message if not self.strip.isHidden() else None

    def say(self, message: Message | None) -> None:
        """Says something below the field; None = nothing."""
        if message is not None:
            self.strip.set_message(message)
            announce(self.strip, f"{message.first} {message.text}")
        self.strip.setVisible(message is not None)

    def _add_head(self) -> None:
        self.title = Label("", "title", wrap=True, name="label_key_title")
        self.what = Label("", colour="text2", wrap=True, name="label_key_what")
        self.body.addWidget(self.title)
        self.body.addWidget(self.what)
        self.body.addSpacing(8)
        self.combo = Combo(self.tr("Service"), name="combo_connection")
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        service = Label(self.tr("Ser&vice"), "head", colour="text2")
        service.setBuddy(self.combo)
        self.body.addWidget(service)
        self.body.addWidget(self.combo)

    def _add_field(self) -> None:
        line = QHBoxLayout()
        head = Label(self.tr("Access &key"), "head", colour="text2")
        line.addWidget(head)
        line.addStretch(1)
        self.before = Label("", "caption", colour="text2", name="label_key_before")
        line.addWidget(self.before)
        self.body.addSpacing(4)
        self.body.addLayout(line)
        self.field = KeyField(self.tr("Access key"))
        head.setBuddy(self.field)
        self.body.addWidget(self.field)
        self.note = FieldNote()
        self.body.addWidget(self.note)

    def _add_message(self) -> None:
        self.strip = MessageStrip(Message("key", Tone.INFO, "", can_close=False))
        self.strip.setObjectName("label_key_answer")
        self.strip.hide()
        self.body.addWidget(self.strip)

    def _add_steps(self) -> None:
        self._steps_holder = QWidget()
        column = QVBoxLayout(self._steps_holder)
        column.setContentsMargins(0, 8, 0, 0)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.addWidget(Label(self.tr("How to get a key"), "strong"))
        head.addStretch(1)
        self.button_page = Button(self.tr("Open the page"), "quiet", icon="open", name="button_open_key_page")
        self.button_page.clicked.connect(lambda: open_page(self.facts.key_page))
        head.addWidget(self.button_page)
        column.addLayout(head)
        self._steps = QVBoxLayout()
        self._steps.setSpacing(4)
        column.addLayout(self._steps)
        self.page = Label("", "caption", colour="text2", wrap=True, name="label_key_page").selectable()
        self.page.setAccessibleName(self.tr("Address of the page"))
        column.addWidget(self.page)
        self.body.addWidget(self._steps_holder)

    def _add_foot(self) -> None:
        self.body.addStretch(1)
        self.body.addSpacing(4)
        self.kept = Note("lock", role="caption", name="label_key_kept")
        self.body.addWidget(self.kept)
        self.session_note = Note("warn", role="caption", name="label_no_key_store")
        self.session_note.hide()
        self.body.addWidget(self.session_note)
        self.body.addSpacing(4)
        self.body.addWidget(Divider())
        self.body.addSpacing(4)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.button_remove = Button(self.tr("Remove"), "danger", name="button_remove_key")
        self.button_remove.setAccessibleName(self.tr("Remove the key"))
        row.addWidget(self.button_remove)
        row.addStretch(1)
        self.button_test = Button(self.tr("Test key"), name="button_test_key")
        row.addWidget(self.button_test)
        self.button_save = Button(self.tr("Save and check"), "primary", name="button_save_key")
        row.addWidget(self.button_save)
        self.body.addLayout(row)
