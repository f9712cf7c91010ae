"""The second AI that marks, as a card of the Scoring page: who it is, whether it can be asked, a change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtWidgets import QVBoxLayout

from arena_desktop.cells import Tone
from arena_desktop.desks.connections import judge_place
from arena_desktop.dialogs.change_judge import open_change_judge
from arena_desktop.views.setup_parts import ValueRows, clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, CardHead
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import judge_setup as words
from engine.execution.judge_rules import wants_judge

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from engine.project import Project


class JudgeCard(Card):
    """Hidden while the project neither names a judge nor needs one."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(spacing=12, name="card_judge")
        self._context = context
        self._project: Project | None = None
        head = CardHead(words.card_title())
        self.chip = Chip(name="chip_judge")
        self.button_change = Button(self.tr("Change…"), "quiet", name="button_change_judge")
        self.button_change.setAccessibleName(self.tr("Change the second AI that marks"))
        self.button_change.clicked.connect(lambda: open_change_judge(context, self.window()))
        head.controls.addWidget(self.chip)
        head.controls.addWidget(self.button_change)
        self.body.addWidget(head)
        self._rows = QVBoxLayout()
        self.body.addLayout(self._rows)
        self.label_state = Label("", wrap=True, name="label_judge_state")
        self.body.addWidget(self.label_state)
        line = FlowLayout()
        self.button_key = Button(self.tr("Enter its key…"), icon="key", name="button_judge_key")
        self.button_key.clicked.connect(self._on_key)
        line.addWidget(self.button_key)
        self.body.addLayout(line)
        context.projects.examined.connect(lambda _preflight: self._show_state())
        self.hide()

    def show_project(self, project: Project) -> None:
        """The judge of a project."""
        self._project = project
        config = project.config
        self.setVisible(config.judge.model is not None or wants_judge(project.cases, config))
        clear(self._rows)
        if config.judge.model is not None:
            self._rows.addWidget(ValueRows(words.rows(config)))
        self._show_state()

    def _show_state(self) -> None:
        """Whether it can be asked, once the models have been looked at."""
        project, preflight = self._project, self._context.projects.preflight
        if project is None:
            return
        skip = preflight.judge_skip if preflight is not None else None
        ready = preflight is not None and preflight.judge is not None
        text = words.not_ready_sentence(skip) if skip is not None else ""
        if project.config.judge.model is None:
            text = words.none_sentence()
        self.label_state.setText(text)
        self.label_state.setVisible(bool(text))
        self.button_key.setVisible(skip is not None and skip.code == "no_key")
        self.chip.setVisible(bool(text) or ready)
        if text:
            self.chip.set_chip(self.tr("Not ready"), Tone.WARN)
        elif ready:
            self.chip.set_chip(self.tr("Ready"), Tone.GOOD)

    def _on_key(self) -> None:
        if self._project is not None:
            self._context.key_wanted.emit(judge_place(self._project))
