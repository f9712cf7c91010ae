"""Settings > Data: the runs that were removed. They can be brought back until the bin is emptied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from arena_desktop.dialogs.settings_parts import SettingRow
from arena_desktop.widgets.buttons import Button, give_kind
from arena_desktop.widgets.labels import Label
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Job
    from arena_desktop.context import AppContext


class BinRow(SettingRow):
    """How many runs are in the bin; bring all back, or empty it after a question."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(self.tr("Removed runs"), self.tr("They take up room until the bin is emptied."))
        self._context = context
        self._ids: list[str] = []
        self.count = Label("", colour="text2", name="label_bin_count")
        self.restore = Button(self.tr("Bring all back"), "quiet", name="button_bin_restore")
        self.restore.clicked.connect(self._on_restore)
        self.empty = Button(self.tr("Empty bin…"), "quiet", name="button_bin_empty")
        self.empty.clicked.connect(self._on_empty)
        for widget in (self.count, self.restore, self.empty):
            self.place.addWidget(widget)
        self._show([])

    def look(self) -> None:
        """Counts anew, in the background."""
        results = self._context.results
        if not results.any_there:
            self._show([])  # looking must not make a history
            return

        def work(_job: Job) -> list[str]:
            runs = results.shelf().runs(include_deleted=True)
            return [run.run_id for run in runs if run.deleted_at is not None]

        self._context.background.run(work, self._show, self._on_failed, name="bin", replace=True)

    def _show(self, ids: list[str]) -> None:
        self._ids = ids
        self.count.setText(self._counted(len(ids)))
        self._enable(bool(ids))

    def _enable(self, on: bool) -> None:
        self.restore.setEnabled(on)
        self.empty.setEnabled(on)

    def _counted(self, count: int) -> str:
        if count == 0:
            return self.tr("none")
        return self.tr("1 run") if count == 1 else self.tr("{count} runs").format(count=count)

    def _on_restore(self) -> None:
        ids, results = list(self._ids), self._context.results

        def work(_job: Job) -> None:
            results.shelf().restore(ids)

        self._change(work)

    def _on_empty(self) -> None:
        """Asks first: nothing brings the runs back afterwards."""
        ask = QMessageBox(self)
        ask.setObjectName("dialog_empty_bin")
        ask.setTextFormat(Qt.TextFormat.PlainText)
        ask.setWindowTitle(self.tr("Empty the bin?"))
        ask.setText(self.tr("Empty the bin?"))
        text = self.tr("{runs} and all their answers are removed for good. This cannot be undone.")
        ask.setInformativeText(text.format(runs=self._counted(len(self._ids)).capitalize()))
        ask.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        keep = ask.addButton(self.tr("Keep them"), QMessageBox.ButtonRole.RejectRole)
        keep.setObjectName("button_bin_keep")
        give_kind(keep, "primary")
        go = ask.addButton(self.tr("Empty bin"), QMessageBox.ButtonRole.DestructiveRole)
        go.setObjectName("button_bin_go")
        give_kind(go, "danger")
        for button in (keep, go):
            button.setAccessibleName(button.text())
        ask.setDefaultButton(keep)
        ask.setEscapeButton(keep)
        go.clicked.connect(self._purge)
        ask.open()

    def _purge(self) -> None:
        results = self._context.results

        def work(_job: Job) -> None:
            results.shelf().purge()

        self._change(work)

    def _change(self, work: Any) -> None:
        self._enable(False)
        self._context.background.run(work, self._on_changed, self._on_failed, name="change the bin")

    def _on_changed(self, _nothing: object) -> None:
        opened = self._context.projects.current
        self._context.results.list_runs(opened.project.config.project if opened is not None else None)
        self.look()

    def _on_failed(self, error: Exception) -> None:
        self._enable(bool(self._ids))
        if not isinstance(error, ArenaError):
            raise error
        self.count.setText(error.message)
