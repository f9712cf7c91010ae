"""Adding or changing a service or server that is reached by its address."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from arena_desktop.desks.connections import PRESETS, KnownConnection, OwnConnections, vendor_connections
from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.forms import FieldNote, FormGrid
from arena_desktop.widgets.labels import Label
from engine.config.schema import Connection
from engine.errors import UserError

_OTHER = "other"


class ServerDialog(QDialog):
    """Name and address; a known service fills both. The key is entered on its card afterwards."""

    kept = Signal(object)
    """The KnownConnection that was added or changed."""
    forgotten = Signal(object)
    """The KnownConnection that was taken off the list."""

    def __init__(
        self, own: OwnConnections, place: KnownConnection | None = None, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._own, self._place = own, place
        self.setObjectName("dialog_server")
        title = self.tr("Add a service or server") if place is None else self.tr("Change the server")
        self.setWindowTitle(title)
        self.setAccessibleName(title)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(28, 24, 28, 20)
        layout.setSpacing(12)
        layout.addWidget(Label(title, "title"))
        layout.addWidget(self._form())
        layout.addLayout(self._buttons())
        self.setMinimumWidth(scaled(460))
        self.focus_ring = FocusRing(self)
        self._fill()

    def _form(self) -> FormGrid:
        form = FormGrid(above=True)
        self.combo = Combo(self.tr("What it is"), name="combo_server_kind")
        taken = {item.connection.id for item in (*vendor_connections(), *self._own.list())}
        for preset in PRESETS:
            if preset.id not in taken or (self._place and self._place.connection.id == preset.id):
                self.combo.addItem(preset.title, preset.id)
        self.combo.addItem(self.tr("Another server that speaks like OpenAI's"), _OTHER)
        self.combo.activated.connect(lambda _index: self._on_preset())
        form.add(self.tr("&What it is"), self.combo)
        self.edit_name = QLineEdit()
        self.edit_name.setObjectName("edit_server_name")
        form.add(self.tr("&Name"), self.edit_name)
        self.edit_address = QLineEdit()
        self.edit_address.setObjectName("edit_server_address")
        self.edit_address.setPlaceholderText("http://localhost:8080/v1")
        self.note = FieldNote()
        help_text = self.tr("Its web address. It usually ends in /v1.")
        form.add(self.tr("&Address"), self.edit_address, help_text=help_text, note=self.note)
        self.edit_address.textEdited.connect(lambda _text: self.note.show_note(self.edit_address, "bad", ""))
        return form

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        self.button_forget = Button(self.tr("Take off the list"), "danger", name="button_forget_server")
        self.button_forget.setVisible(self._place is not None)
        self.button_forget.clicked.connect(self._on_forget)
        row.addWidget(self.button_forget)
        row.addStretch(1)
        cancel = Button(self.tr("Cancel"), name="button_cancel_server")
        cancel.clicked.connect(self.reject)
        row.addWidget(cancel)
        words = self.tr("Add it") if self._place is None else self.tr("Change it")
        self.button_keep = Button(words, "primary", name="button_keep_server")
        self.button_keep.setDefault(True)
        self.button_keep.clicked.connect(self._on_keep)
        row.addWidget(self.button_keep)
        return row

    def _fill(self) -> None:
        place = self._place
        if place is None:
            self._on_preset()
            return
        known = self.combo.findData(place.connection.id)
        self.combo.setCurrentIndex(known if known >= 0 else self.combo.findData(_OTHER))
        self.edit_name.setText(place.title)
        self.edit_address.setText(place.address)

    def _on_preset(self) -> None:
        preset = next((item for item in PRESETS if item.id == self.combo.currentData()), None)
        self.edit_name.setText(preset.title if preset else self.tr("My server"))
        self.edit_address.setText(preset.base_url if preset else "")
        self.note.show_note(self.edit_address, "bad", "")

    def _on_keep(self) -> None:
        title, address = self.edit_name.text().strip(), self.edit_address.text().strip()
        preset = next((item for item in PRESETS if item.id == self.combo.currentData()), None)
        if not address:
            self.note.show_note(self.edit_address, "bad", self.tr("The address is missing."))
            self.edit_address.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        if self._place is not None:
            name, kind = self._place.connection.id, self._place.connection.kind
        else:
            name = preset.id if preset else self._own.free_id(title)
            kind = preset.kind if preset else "openai_compatible"
        try:
            place = self._own.keep(Connection(id=name, kind=kind, base_url=address), title or name)
        except UserError as error:
            self.note.show_note(self.edit_address, "bad", f"{error.message} {error.hint}".strip())
            self.edit_address.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        self.accept()
        self.kept.emit(place)

    def _on_forget(self) -> None:
        place = self._place
        if place is None:
            return
        self._own.forget(place.connection.id)
        self.accept()
        self.forgotten.emit(place)
