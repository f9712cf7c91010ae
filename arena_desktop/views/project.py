"""Project: what it is for, what every model is told, must-haves, spending, faults of its files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.dialogs.change_project import open_change_project
from arena_desktop.itemmodels.models import cards_of, stating
from arena_desktop.views.file_pane import FilePane
from arena_desktop.views.setup_parts import FaultList, QuietNote, SetupView, ValueRows, ValueText, clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, CardHead, Divider
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.kept_choices import SideSplitter
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.scrolled import Scrolled
from arena_desktop.widgets.strip import Message
from arena_desktop.wording import formats
from arena_desktop.wording.must_haves import MustHave, must_haves, stated_words
from arena_desktop.wording.setup import asking_rows, limit_rows
from engine.domain import Problem
from engine.execution.preflight import Preflight
from engine.project import Project

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


class ProjectView(SetupView):
    """The project at a glance. Values are text; the settings file is the place to change them."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "project", self.tr("Project"))
        self._root: Path | None = None
        self._add_controls()
        self._splitter = SideSplitter("splitter_project")
        self._splitter.addWidget(self._overview())
        self.pane = FilePane()
        self.pane.closed.connect(self._on_pane_closed)
        self.pane.hide()
        self._splitter.addWidget(self.pane)
        self._splitter.setStretchFactor(0, 3)
        self._splitter.setStretchFactor(1, 2)
        self.content.addWidget(self._splitter, 1)
        self.begin()

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        self._splitter.setOrientation(Qt.Orientation.Vertical if narrow else Qt.Orientation.Horizontal)

    # what is shown

    def show_project(self, opened: OpenProject) -> None:
        project = opened.project
        self._root = project.root
        self._show_general(project)
        self._show_must_haves(opened)
        self._limits.set_rows(limit_rows(project.config.budgets))
        self._asking.set_rows([*asking_rows(project.config.run), *_places(self, project)])
        self.faults.set_problems(project.problems)
        self.pane.set_faults(project.config_file, project.problems)

    def show_preflight(self, preflight: Preflight) -> None:
        self.faults.set_problems(preflight.problems)

    def show_file(self, file: Path | None = None, line: int | None = None) -> None:
        """Opens the pane with a file of the project, by default the settings file, at a line."""
        project = self.context.projects.project
        if project is None:
            return
        shown = self.pane.show_file(file or project.config_file, line)
        self.pane.setVisible(shown)
        if not shown:
            self.strips.show_message(
                Message(
                    "file",
                    Tone.WARN,
                    self.tr("The file cannot be read."),
                    self.tr("It may have been moved since the project was opened. Read the project again."),
                )
            )
            return
        self.button_show_file.setText(self.tr("Hide the settings file"))
        self.pane.text.setFocus(Qt.FocusReason.OtherFocusReason)

    # parts

    def _add_controls(self) -> None:
        self.button_show_file = Button(self.tr("Show the settings file"), "quiet", name="button_show_file")
        self.button_show_file.clicked.connect(self._on_show_file)
        reload = Button(self.tr("Read again"), name="button_reload")
        reload.setToolTip(self.tr("Reads the project's files again after you changed them elsewhere"))
        reload.clicked.connect(self.context.projects.reload)
        folder = Button(self.tr("Open folder"), icon="project", name="button_open_folder")
        folder.clicked.connect(self._on_open_folder)
        self.button_change = Button(self.tr("Change…"), icon="edit", name="button_change_project")
        self.button_change.setAccessibleName(self.tr("Change the project"))
        self.button_change.clicked.connect(lambda: open_change_project(self.context, self))
        for button in (self.button_show_file, reload, folder, self.button_change):
            self.header.controls.addWidget(button)

    def _overview(self) -> QWidget:
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(0, 0, 4, 0)
        column.setSpacing(16)
        self.faults = FaultList(self._on_show_place)
        column.addWidget(self.faults)
        for card in (self._general_card(), self._must_have_card(), self._limit_card()):
            column.addWidget(card)
        column.addWidget(
            QuietNote(
                "info",
                self.tr(
                    "“Change…” changes what people change most. All the rest can be changed in the settings"
                    " file, in any text editor; then press “Read again”."
                ),
            )
        )
        column.addStretch(1)
        spoken = self.tr("The project at a glance")
        area = Scrolled(holder, spoken, name="scroll_project", stops=True)
        area.setMinimumWidth(320)
        return area

    def _general_card(self) -> Card:
        card = Card(spacing=12)
        rows = ValueRows()
        self._name = ValueText(name="label_project_name", spoken=self.tr("Name"))
        self._purpose = ValueText(
            missing=self.tr("Not written down yet"),
            name="label_project_purpose",
            spoken=self.tr("What it is for"),
        )
        self._system = ValueText(
            missing=self.tr("No instructions: each model gets the question alone"),
            name="label_system_prompt",
            spoken=self.tr("Instructions every model gets"),
        )
        self._length = Label("", "caption", colour="text2", name="label_system_length")
        told = QWidget()
        column = QVBoxLayout(told)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        column.addWidget(self._system)
        column.addWidget(self._length)
        rows.add(0, self.tr("Name"), self._name)
        rows.add(1, self.tr("What it is for"), self._purpose)
        rows.add(2, self.tr("Instructions every model gets"), told, self.tr("Sent before each question"))
        card.body.addWidget(rows)
        return card

    def _must_have_card(self) -> Card:
        card = Card(spacing=12, name="card_must_haves")
        card.body.addWidget(
            CardHead(
                self.tr("Must-haves"), self.tr("A model that breaks one is ruled out, and you are told why.")
            )
        )
        self._must_haves = QVBoxLayout()
        self._must_haves.setSpacing(8)
        card.body.addLayout(self._must_haves)
        return card

    def _limit_card(self) -> Card:
        card = Card(spacing=12, name="card_spending")
        card.body.addWidget(CardHead(self.tr("Spending")))
        self._limits = ValueRows()
        card.body.addWidget(self._limits)
        more = Collapsible(self.tr("More: how questions are asked"), name="button_more_choices")
        self._asking = ValueRows()
        more.content.addWidget(self._asking)
        card.body.addWidget(more)
        return card

    # filling

    def _show_general(self, project: Project) -> None:
        config = project.config
        self._name.set_text(config.project)
        self._purpose.set_text(config.description)
        system = config.defaults.system or ""
        self._system.set_text(system)
        words = self.tr("{count} characters")
        self._length.setText(words.format(count=formats.whole(len(system))) if system else "")
        self._length.setVisible(bool(system))

    def _show_must_haves(self, opened: OpenProject) -> None:
        clear(self._must_haves)
        config = opened.project.config
        cards = cards_of(opened)
        listed = must_haves(config)
        if not listed:
            self._must_haves.addWidget(
                Label(self.tr("No must-haves yet: every model may take part."), colour="text2", wrap=True)
            )
        for number, item in enumerate(listed):
            if number:
                self._must_haves.addWidget(Divider())
            count = None if item.kind == "measured" else stating(config, cards, item.kind, item.name)
            self._must_haves.addWidget(self._must_have_row(item, count, len(cards)))

    def _must_have_row(self, item: MustHave, count: int | None, models: int) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 4, 0, 4)
        row.setSpacing(12)
        row.addWidget(Label(item.sentence, wrap=True), 1)
        if count is None:
            row.addWidget(Label(self.tr("measured in a run"), "caption", colour="text2"))
            return line
        link = Button(stated_words(count, models), "quiet", name="button_stated")
        link.setAccessibleDescription(item.sentence)
        link.clicked.connect(lambda: self.context.page_wanted.emit("models"))
        row.addWidget(link)
        return line

    # doing

    def _on_show_file(self) -> None:
        if self.pane.isVisibleTo(self):
            self.pane.close_pane()
        else:
            self.show_file()

    def _on_pane_closed(self) -> None:
        self.pane.hide()
        self.button_show_file.setText(self.tr("Show the settings file"))
        self.button_show_file.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_show_place(self, problem: Problem) -> None:
        if self._root is not None:
            self.show_file(self._root / problem.file, problem.line)

    def _on_open_folder(self) -> None:
        if self._root is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._root)))


def _places(view: ProjectView, project: Project) -> list[tuple[str, str]]:
    """Where the project and its test cases lie."""
    files = ", ".join(project.config.tests.paths)
    rows = [(view.tr("Folder"), str(project.root)), (view.tr("Settings file"), project.config_file.name)]
    return [*rows, (view.tr("Files with test cases"), files)] if files else rows
