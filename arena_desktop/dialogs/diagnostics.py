"""Settings > Diagnostics: every check of this computer with its exact fix; on wish the connections too."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks import doctor_desk
from arena_desktop.desks.connections import OwnConnections
from arena_desktop.dialogs.settings_parts import Mark, RowCard, Section
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import doctor as words
from engine.doctor import Finding, State
from engine.paths import store_path

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


class FindingRow(QWidget):
    """One check: what was looked at, what was found, what to do, and how it stands."""

    def __init__(self, finding: Finding) -> None:
        super().__init__()
        self.finding = finding
        row = QHBoxLayout(self)
        row.setContentsMargins(20, 12, 16, 12)
        row.setSpacing(8)
        column = QVBoxLayout()
        column.setSpacing(2)
        column.addWidget(Label(words.finding_title(finding), "name", wrap=True))
        column.addWidget(Label(finding.sentence, colour="text2", wrap=True).selectable())
        if finding.fix and finding.state is not State.OK:
            column.addWidget(Label(finding.fix, wrap=True).selectable())
        row.addLayout(column, 1)
        text, tone = words.state_chip(finding.state)
        if finding.state is State.OK:
            # A chip is for what needs a look; the normal is grey.
            row.addWidget(Mark("check", "good"), 0, Qt.AlignmentFlag.AlignTop)
            row.addWidget(Label(text, colour="text2"), 0, Qt.AlignmentFlag.AlignTop)
        else:
            row.addWidget(Chip(text, Tone(tone)), 0, Qt.AlignmentFlag.AlignTop)


class DiagnosticsSection(Section):
    """The checks run when the section is opened; the network is used only by its own button."""

    def __init__(self, context: AppContext) -> None:
        super().__init__("diagnostics", self.tr("Diagnostics"), "settings")
        self._context = context
        self.findings: list[Finding] = []
        self.summary = Label("", "lead", wrap=True, name="label_diagnostics")
        self.body.addWidget(self.summary)
        row = QHBoxLayout()
        row.setSpacing(8)
        self.button_look = Button(self.tr("Look again"), name="button_diagnose")
        self.button_look.clicked.connect(lambda: self.look(probe=False))
        self.button_probe = Button(self.tr("Also ask every service"), name="button_probe")
        self.button_probe.setToolTip(self.tr("Asks each service for its list of models. Nothing is charged."))
        self.button_probe.clicked.connect(lambda: self.look(probe=True))
        self.button_copy = Button(self.tr("Copy"), "quiet", icon="copy", name="button_copy_diagnostics")
        self.button_copy.clicked.connect(self._on_copy)
        for button in (self.button_look, self.button_probe, self.button_copy):
            row.addWidget(button)
        row.addStretch(1)
        self.body.addLayout(row)
        self.card = RowCard()
        self.card.hide()
        self.body.addWidget(self.card)
        self.body.addStretch(1)

    def opened(self) -> None:
        """Looks, the first time."""
        if not self.findings:
            self.look(probe=False)

    def look(self, *, probe: bool) -> None:
        """Runs the checks in the background."""
        context = self._context
        keys, project, store = context.keys, context.projects.project, store_path()
        own = OwnConnections(context.settings).list()

        def work(_job: Job) -> list[Finding]:
            return doctor_desk.examine(keys, own, project, store, probe=probe)

        self._set_busy(True)
        asks = self.tr("Asking every service. This may take a minute.")
        self.summary.setText(asks if probe else self.tr("Looking…"))
        context.background.run(work, self._on_found, self._on_failed, name="doctor", replace=True)

    def _on_found(self, findings: list[Finding]) -> None:
        self.findings = findings
        self._set_busy(False)
        self.summary.setText(words.summary(findings))
        announce(self.summary, self.summary.text())
        self.card.clear()
        for finding in findings:
            self.card.add_row(FindingRow(finding))
        self.card.show()

    def _on_failed(self, error: Exception) -> None:
        self._set_busy(False)
        raise error

    def _set_busy(self, busy: bool) -> None:
        for button in (self.button_look, self.button_probe, self.button_copy):
            button.setEnabled(not busy)

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(words.as_text(self.findings))
