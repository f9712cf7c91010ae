"""New project on one page: what the AI should do, a name, a folder. Everything has a preset."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QStandardPaths, Qt, Signal
from PySide6.QtWidgets import (
    QButtonGroup,
    QDialog,
    QFileDialog,
    QGridLayout,
    QHBoxLayout,
    QLineEdit,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.desks.new_project_defaults import apply_defaults, read_defaults
from arena_desktop.widgets.buttons import Button, ChoiceCard
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.forms import FieldNote, FormGrid
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from arena_desktop.widgets.scrolled import Scrolled
from arena_desktop.widgets.strip import Message
from engine.errors import ArenaError
from engine.new_project import JobType, create_project, job_types

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.project_desk import OpenProject

_NOT_IN_NAMES = re.compile(r'[<>:"/\\|?*\x00-\x1f]+')
_RESERVED = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\..*)?", re.IGNORECASE)
_LINE = 44


def folder_name(name: str) -> str:
    """The name of a folder that every system takes; empty where nothing is left."""
    plain = " ".join(_NOT_IN_NAMES.sub(" ", name).split()).strip(". ")[:80]
    return f"{plain} project" if _RESERVED.fullmatch(plain) else plain


def free_folder(base: Path, name: str) -> Path:
    """The folder for a project of that name in `base`: a new one, or an empty one that is there."""
    plain = folder_name(name)
    number = 1
    while True:
        folder = base / (plain if number == 1 else f"{plain} {number}")
        if not folder.exists() or (folder.is_dir() and not any(folder.iterdir())):
            return folder
        number += 1


def usual_place() -> Path:
    """Where projects are made when nobody says otherwise."""
    documents = QStandardPaths.writableLocation(QStandardPaths.StandardLocation.DocumentsLocation)
    return Path(documents or Path.home()) / "Agent Arena"


def _lead_to_tests(context: AppContext, path: Path) -> None:
    """Once the new project is open: its tests are examples, so they are what comes next."""

    def show(opened: OpenProject) -> None:
        context.projects.opened.disconnect(show)
        if opened.project.root != path.resolve():
            return
        context.page_wanted.emit("cases")
        first = QCoreApplication.translate("NewProjectDialog", "The project was made.")
        text = QCoreApplication.translate(
            "NewProjectDialog", "Its tests are examples: change them, delete them or add your own."
        )
        context.message_wanted.emit(Message("project made", Tone.GOOD, first, text, of_project=True))

    context.projects.opened.connect(show)


class NewProjectDialog(QDialog):
    """Makes the folder in the background. `made(path)` follows; the dialog is closed by then."""

    made = Signal(object)

    def __init__(self, context: AppContext, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._context = context
        self._jobs: Sequence[JobType] = job_types()
        self._named = False
        self.setObjectName("dialog_new_project")
        self.setWindowTitle(self.tr("Start a new project"))
        self.setAccessibleName(self.windowTitle())
        resize_within_screen(self, 792, 680)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(32, 24, 32, 20)
        layout.setSpacing(16)
        layout.addWidget(Label(self.tr("What should the AI do?"), "title"))
        layout.addWidget(self._cards(), 1)
        layout.addWidget(self._form())
        layout.addLayout(self._buttons())
        self.focus_ring = FocusRing(self)
        self._choose(0)

    @property
    def job(self) -> JobType:
        """The job that is chosen."""
        return self._jobs[self._group.checkedId()]

    @property
    def folder(self) -> Path | None:
        """Where the project will be made; None while there is no usable name."""
        name = self.edit_name.text()
        if not folder_name(name):
            return None
        return free_folder(Path(self.edit_folder.text()).expanduser(), name)

    def create(self) -> None:
        """Makes the project; `made` follows, or the reason stands below the folder."""
        folder = self.folder
        if folder is None:
            self._show_place()
            self.edit_name.setFocus(Qt.FocusReason.OtherFocusReason)
            return
        job, name = self.job.id, self.edit_name.text().strip()

        defaults = read_defaults(self._context.settings)

        def work(_job: Job) -> Path:
            made = create_project(folder, job, name)
            apply_defaults(made, defaults)
            return made

        self.button_create.setEnabled(False)
        self._context.background.run(work, self._on_made, self._on_failed, name="new project")

    # parts

    def _cards(self) -> QWidget:
        holder = QWidget()
        grid = QGridLayout(holder)
        grid.setContentsMargins(4, 4, 4, 4)
        grid.setSpacing(12)
        self._group = QButtonGroup(self)
        for number, job in enumerate(self._jobs):
            lines = textwrap.wrap(job.description, _LINE)
            card = ChoiceCard(
                job.title, lines[0] if lines else "", " ".join(lines[1:]), name=f"choice_{job.id}"
            )
            card.setToolTip(job.description)
            self._group.addButton(card, number)
            grid.addWidget(card, number // 2, number % 2)
        self._group.idClicked.connect(self._choose)
        # Arrow keys check a card without a click.
        self._group.idToggled.connect(lambda number, on: self._choose(number) if on else None)
        return Scrolled(holder, self.tr("Kinds of job"), name="scroll_jobs")

    def _form(self) -> QWidget:
        form = FormGrid()
        self.edit_name = QLineEdit()
        self.edit_name.setObjectName("edit_new_name")
        self.edit_name.textEdited.connect(self._on_name_edited)
        self.edit_name.textChanged.connect(lambda _text: self._show_place())
        self._name_note = FieldNote()
        form.add(self.tr("&Name"), self.edit_name, note=self._name_note)
        self.edit_folder = QLineEdit(str(self._start_folder()))
        self.edit_folder.setObjectName("edit_new_folder")
        self.edit_folder.setAccessibleName(self.tr("Make it in this folder"))
        self.edit_folder.textChanged.connect(lambda _text: self._show_place())
        choose = Button(self.tr("Choose…"), name="button_choose_folder")
        choose.setAccessibleName(self.tr("Choose the folder"))
        choose.clicked.connect(self._on_choose)
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.edit_folder, 1)
        row.addWidget(choose)
        form.add(self.tr("Make it &in"), line).setBuddy(self.edit_folder)
        return form

    def _buttons(self) -> QVBoxLayout:
        self._place = Label("", "caption", colour="text2", wrap=True, name="label_new_place")
        self._fault = FieldNote()
        foot = QVBoxLayout()
        foot.setSpacing(8)
        foot.addWidget(self._place)
        foot.addWidget(self._fault)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button(self.tr("Cancel"), name="button_cancel_new")
        cancel.clicked.connect(self.reject)
        self.button_create = Button(self.tr("Make the project"), "primary", name="button_create_project")
        self.button_create.setDefault(True)
        self.button_create.clicked.connect(self.create)
        row.addWidget(cancel)
        row.addWidget(self.button_create)
        foot.addLayout(row)
        return foot

    # inside

    def _start_folder(self) -> Path:
        last = self._context.settings.last_folder
        return Path(last) if last and Path(last).is_dir() else usual_place()

    def _choose(self, number: int) -> None:
        button = self._group.button(number)
        if not button.isChecked():
            button.setChecked(True)
        if not self._named:
            self.edit_name.setText(self._jobs[number].title)
        self._show_place()

    def _on_name_edited(self, text: str) -> None:
        self._named = bool(text.strip())

    def _show_place(self) -> None:
        folder = self.folder
        self._fault.show_note(self.edit_folder, "bad", "")
        missing = "" if folder is not None else self.tr("Give it a name with at least one letter or figure.")
        self._name_note.show_note(self.edit_name, "warn", missing)
        job = self.job
        tests = self.tr("It starts with {count} example tests and two practice models.")
        words = [tests.format(count=len(job.cases))]
        if folder is not None:
            words.append(self.tr("The folder will be {folder}.").format(folder=folder))
        if job.caution:
            words.append(job.caution)
        self._place.setText(" ".join(words))

    def _on_choose(self) -> None:
        title = self.tr("Make the project in")
        folder = QFileDialog.getExistingDirectory(self, title, self.edit_folder.text())
        if folder:
            self.edit_folder.setText(folder)

    def _on_made(self, path: Path) -> None:
        self._context.settings.last_folder = str(path.parent)
        _lead_to_tests(self._context, path)
        self.accept()
        self.made.emit(path)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.button_create.setEnabled(True)
        self._fault.show_note(self.edit_folder, "bad", f"{error.message} {error.hint}".strip())
