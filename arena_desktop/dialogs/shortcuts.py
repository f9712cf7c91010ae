"""The keyboard list: every action with its keys, made from the actions themselves, with a filter."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QDialog, QVBoxLayout, QWidget

from arena_desktop.itemmodels.text_table import text_table
from arena_desktop.widgets.filter_bar import FilterBar
from arena_desktop.widgets.room import resize_within_screen
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.widgets.table_keys import COPY_HEAD


class ShortcutsDialog(QDialog):
    """Read-only; Esc closes it."""

    def __init__(self, actions: Sequence[QAction], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_shortcuts")
        self.setWindowTitle(self.tr("Keyboard shortcuts"))
        self.setAccessibleName(self.windowTitle())
        resize_within_screen(self, 560, 560)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 20, 24, 20)
        layout.setSpacing(12)
        self.table = ArenaTable("table_shortcuts", self.windowTitle())
        self._model = text_table((self.tr("What it does"), self.tr("Keys")), _rows(actions, self))
        self.table.setModel(self._model)
        self.bar = FilterBar(self.table, self.tr("Filter the shortcuts"), columns=False)
        layout.addWidget(self.bar)
        layout.addWidget(TableCard(self.table), 1)
        self.bar.field.setFocus()


def _rows(actions: Sequence[QAction], words: ShortcutsDialog) -> list[tuple[str, str]]:
    native = QKeySequence.SequenceFormat.NativeText
    copy = QKeySequence(QKeySequence.StandardKey.Copy).toString(native)
    rows = [
        (
            action.text().replace("&", "").rstrip("…"),
            ", ".join(key.toString(native) for key in action.shortcuts()),
        )
        for action in actions
        if action.shortcuts() and action.isVisible()
    ]
    return [
        *rows,
        (words.tr("Next part of the window: list, page, details"), "F6"),
        (words.tr("Sort a table by the column you are in"), "Alt+Up, Alt+Down"),
        (words.tr("Copy from a table, and copy with column heads"), f"{copy}, {COPY_HEAD.toString(native)}"),
        (words.tr("Close a message or a dialog"), "Esc"),
    ]
