"""The question before a project's own code may run. Asked once per content; the answer is No by itself."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QMessageBox, QWidget

from arena_desktop.widgets.buttons import give_kind
from engine.trust import CodeItem

SHOWN = 8


class TrustDialog(QMessageBox):
    """`decided(bool)` follows. Esc and Enter say No, so that nothing runs by accident."""

    decided = Signal(bool)

    def __init__(self, items: Sequence[CodeItem], changed: bool, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_trust")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setWindowTitle(self.tr("Code in this project"))
        first = (
            self.tr("The code in this project has changed.")
            if changed
            else self.tr("This project contains code written by someone.")
        )
        self.setText(first)
        self.setInformativeText(_listing(self, items))
        self._no = self.addButton(self.tr("Keep it switched off"), QMessageBox.ButtonRole.RejectRole)
        self._no.setObjectName("button_trust_no")
        give_kind(self._no, "primary")
        self._yes = self.addButton(self.tr("I trust it, switch it on"), QMessageBox.ButtonRole.ActionRole)
        self._yes.setObjectName("button_trust_yes")
        self.setDefaultButton(self._no)
        self.setEscapeButton(self._no)
        self.finished.connect(lambda _code: self.decided.emit(self.clickedButton() is self._yes))


def _listing(dialog: TrustDialog, items: Sequence[CodeItem]) -> str:
    lines = [f"{item.place}: {item.what}" for item in items[:SHOWN]]
    if len(items) > SHOWN:
        lines.append(dialog.tr("and {count} more").format(count=len(items) - SHOWN))
    warning = dialog.tr("It can do anything you can do: read your files, send them, delete them.")
    off = dialog.tr("Switched off, the project still opens and runs without those parts.")
    return "\n".join([warning, "", *lines, "", off])
