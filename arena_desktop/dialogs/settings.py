"""The settings: list of sections at the left, the section at the right, a search over all of them.

Not modal. Everything takes effect at once but keys, which have their own buttons.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QKeyEvent, QKeySequence, QShortcut, QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QStackedWidget, QVBoxLayout, QWidget

from arena_desktop.desks.connections import KnownConnection
from arena_desktop.dialogs.diagnostics import DiagnosticsSection
from arena_desktop.dialogs.keys import KeysSection
from arena_desktop.dialogs.model_picker_open import open_model_picker
from arena_desktop.dialogs.settings_about import AboutSection, PrivacySection, UpdatesSection
from arena_desktop.dialogs.settings_data import DataSection
from arena_desktop.dialogs.settings_general import (
    AppearanceSection,
    LanguageSection,
    NotificationsSection,
    RunningSection,
)
from arena_desktop.dialogs.settings_list import SectionList, SidePane
from arena_desktop.dialogs.settings_parts import RowCard, Section
from arena_desktop.main_window import MainWindow
from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

USUAL_SIZE = (1200, 720)
LEAST_SIZE = (640, 480)


class SettingsDialog(QDialog):
    """Made once per window; `show_section` and `show_connection` open it at a place."""

    appearance_chosen = Signal(object)
    """Appearance, to be applied by the window."""
    text_steps = Signal(int)
    """Larger or smaller text by steps of 10, 0 = usual."""

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self.setObjectName("dialog_settings")
        self.setWindowTitle(self.tr("Settings"))
        self.setAccessibleName(self.windowTitle())
        self.setModal(False)
        self.setMinimumSize(*LEAST_SIZE)
        self.keys = KeysSection(context)
        self.keys.models_wanted.connect(self._on_models_wanted)
        appearance = AppearanceSection(context.settings)
        appearance.appearance_chosen.connect(self.appearance_chosen)
        appearance.text_steps.connect(self.text_steps)
        self.diagnostics = DiagnosticsSection(context)
        self.sections: tuple[Section, ...] = (
            self.keys,
            RunningSection(context.settings),
            NotificationsSection(context.settings),
            appearance,
            LanguageSection(),
            DataSection(context),
            PrivacySection(),
            UpdatesSection(context),
            self.diagnostics,
            AboutSection(),
        )
        self._lay_out()
        self._connect(parent)
        self.focus_ring = FocusRing(self)
        self._resize()
        self.list.set_current("keys")

    def show_section(self, name: str) -> None:
        """Opens the dialog at a section: keys running notifications appearance language data privacy
        updates diagnostics about."""
        self.search.clear()
        self.list.set_current(name)
        self._present()

    def show_connection(self, connection_id: str) -> None:
        """Opens the dialog at the card of a connection, ready for its key."""
        self.show_section("keys")
        self.keys.show_connection(connection_id)

    def section(self, name: str) -> Section:
        """A section by its name. Raises StopIteration for an unknown one."""
        return next(section for section in self.sections if section.section_name == name)

    # parts

    def _lay_out(self) -> None:
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        side = SidePane()
        column = QVBoxLayout(side)
        column.setContentsMargins(12, 16, 12, 16)
        column.setSpacing(12)
        self.search = FilterField(self.tr("Search settings"), name="edit_search_settings")
        column.addWidget(self.search)
        self.list = SectionList()
        column.addWidget(self.list, 1)
        row.addWidget(side)
        right = QVBoxLayout()
        right.setContentsMargins(0, 0, 0, 20)
        right.setSpacing(12)
        self.stack = QStackedWidget()
        for section in self.sections:
            self.stack.addWidget(section)
            self.list.add(section)
        right.addWidget(self.stack, 1)
        foot = QHBoxLayout()
        foot.setContentsMargins(24, 0, 24, 0)
        self._found = Label("", colour="text2", name="label_search_result")
        foot.addWidget(self._found, 1)
        self.button_close = Button(self.tr("Close"), name="button_close_settings")
        self.button_close.clicked.connect(self.close)
        foot.addWidget(self.button_close)
        right.addLayout(foot)
        row.addLayout(right, 1)

    def _connect(self, parent: QWidget | None) -> None:
        self.list.chosen.connect(self._on_chosen)
        self.search.textChanged.connect(self._on_search)
        self.search.down_pressed.connect(lambda: self.list.setFocus(Qt.FocusReason.TabFocusReason))
        QShortcut(QKeySequence(QKeySequence.StandardKey.Find), self, self._focus_search)
        if isinstance(parent, MainWindow):
            self.appearance_chosen.connect(parent.menus.appearance_chosen)
            self.appearance_chosen.connect(parent.menus.set_appearance)
            self.text_steps.connect(parent.menus.zoom_requested)

    def _resize(self) -> None:
        width, height = (scaled(side) for side in USUAL_SIZE)
        room = self.screen().availableGeometry()
        self.resize(min(width, room.width() - 80), min(height, room.height() - 80))

    def _present(self) -> None:
        self.show()
        self.raise_()
        self.activateWindow()

    # doing

    def _on_chosen(self, name: str) -> None:
        section = self.section(name)
        self.stack.setCurrentWidget(section)
        if self.isVisible():
            section.opened()

    def _on_models_wanted(self, place: KnownConnection) -> None:
        open_model_picker(self._context, self, place.connection.id)

    def _on_search(self, text: str) -> None:
        words = text.casefold().split()
        names = set()
        for section in self.sections:
            title = section.title.casefold()
            if all(word in section.words() for word in words):
                names.add(section.section_name)
            rows = section.rows()
            hits = [row for row in rows if all(word in row.words() for word in words)]
            # Words of the title or of something else in the section show all of it.
            everything = not hits or all(word in title for word in words)
            for card in section.findChildren(RowCard):
                card.show_rows(lambda row, hits=hits, all_=everything: all_ or row in hits)
        self.list.show_only(names)
        self._found.setText("" if names else self.tr("No setting has these words."))

    def _focus_search(self) -> None:
        self.search.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.search.selectAll()

    # Qt

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.section(self.list.current()).opened()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        # Enter belongs to the button with the focus; a dialog would press its default one.
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            focused = self.focusWidget()
            if isinstance(focused, QPushButton):
                focused.click()
            event.accept()
            return
        super().keyPressEvent(event)
