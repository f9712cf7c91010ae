"""Home: three ways to begin, what can be carried on, the projects opened lately."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QFontMetricsF, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFileDialog, QHBoxLayout, QMenu, QVBoxLayout, QWidget

from arena_desktop.background import Job
from arena_desktop.cells import Tone
from arena_desktop.itemmodels.recent import RecentRow, recent_columns, recent_rows
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.settings import RecentProject
from arena_desktop.theme import F
from arena_desktop.theme.switch import set_width
from arena_desktop.views.home_facts import HomeFacts, read_facts
from arena_desktop.views.home_unfinished import UnfinishedRuns
from arena_desktop.widgets.buttons import ActionCard, Button
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.labels import LOOK_CHANGES, Label
from arena_desktop.widgets.page import MARGIN, Page
from arena_desktop.widgets.strip import Message, StripButton
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from engine.domain import RunInfo
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

SAMPLE = "support-triage"
SAMPLE_LOCAL = "local-models"
SAMPLE_JUDGE = "judge-demo"
_CARD_AIR = 56  # padding of a card and the gap beside it


class HomeView(Page):
    """What a person sees first. Reads folders and the store in the background."""

    def __init__(self, context: AppContext) -> None:
        self._greeted = False
        super().__init__("home", self.tr("Which AI model should you use?"), scrolls=True)
        self._context = context
        self._facts = HomeFacts()
        self._carrying: str | None = None
        self.choose_folder: Callable[[str], str] = self._ask_for_folder
        self.setAcceptDrops(True)
        self.header.set_lead(
            self.tr(
                "Bring the questions your job really has. Agent Arena asks every model, marks the answers"
                " and tells you which one to pick."
            )
        )
        self._add_cards()
        self._add_unfinished()
        self._add_recent()
        self._connect()
        self.refresh()

    # what is shown

    def refresh(self) -> None:
        """Shows the list as it is in the preferences and looks again in the background."""
        self._show_rows()
        paths = [item.path for item in self._context.settings.recent()]
        results = self._context.results
        # A store that is not there yet is not made by looking.
        open_store = results.store if results.any_there else None

        def work(_job: Job) -> HomeFacts:
            return read_facts(paths, open_store)

        self._context.background.run(work, self._on_read, self._on_not_read, name="home", replace=True)

    def focus_first(self) -> None:
        # Taken away first: a focus that is there already would get no ring.
        self.card_sample.clearFocus()
        self.card_sample.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # Qt

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if not self._context.settings.recent():
            self.card_sample.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.refresh()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._turn_cards()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_cards"):
            self._turn_cards()

    def _turn_cards(self) -> None:
        """The cards stand below each other where their titles would not fit side by side."""
        metrics = QFontMetricsF(F("section"))
        cards = [self.card_sample, self.card_new, self.card_open]
        widest = max(metrics.horizontalAdvance(card.text()) for card in cards) + _CARD_AIR
        beside = self.width() - 2 * MARGIN >= len(cards) * widest
        turned = QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        self._cards.setDirection(turned)

    def event(self, event: QEvent) -> bool:
        # The ring on the first card is drawn once the window has the keyboard, not before.
        if event.type() == QEvent.Type.WindowActivate and not self._greeted:
            self._greeted = True
            if not self._context.settings.recent() and self.isVisible():
                QTimer.singleShot(0, self.focus_first)
        return super().event(event)

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        if event.mimeData().hasUrls():
            event.acceptProposedAction()

    def dropEvent(self, event: QDropEvent) -> None:
        event.acceptProposedAction()
        folder = dropped_project(event.mimeData())
        if folder is not None:
            self.strips.close_message("drop")
            self._context.projects.open(folder)
            return
        self.strips.show_message(
            Message(
                "drop",
                Tone.WARN,
                self.tr("Only a project folder can be opened here."),
                self.tr("Drop the folder that holds the settings file, or the settings file itself."),
            )
        )

    # parts

    def _add_cards(self) -> None:
        self._cards = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._cards.setSpacing(16)
        self.card_sample = ActionCard(
            "sample",
            self.tr("Try the sample"),
            self.tr("No key, no cost, about 15 seconds"),
            lead=True,
            name="card_sample",
        )
        self.card_new = ActionCard(
            "plus", self.tr("Start a new project"), self.tr("Choose a job and a name"), name="card_new"
        )
        self.card_open = ActionCard(
            "project", self.tr("Open a project folder"), self.tr("Or drop one here"), name="card_open"
        )
        self.card_sample.clicked.connect(lambda: self._context.open_sample(SAMPLE))
        self.card_new.clicked.connect(self.start_new)
        self.card_open.clicked.connect(self._on_open)
        for card in (self.card_sample, self.card_new, self.card_open):
            self._cards.addWidget(card, 1)
        self.body.addLayout(self._cards)
        self.body.addWidget(self._other_samples())

    def _other_samples(self) -> QWidget:
        lines = QWidget()
        column = QVBoxLayout(lines)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        self.button_local = Button(
            self.tr("Real small models on this computer"),
            "quiet",
            icon="computer",
            name="button_sample_local",
        )
        sentence = self.tr("A second sample. Free, nothing leaves this computer, a few minutes.")
        column.addWidget(self._sample_line(SAMPLE_LOCAL, self.button_local, sentence))
        self.button_judge = Button(
            self.tr("A second AI marks the answers"),
            "quiet",
            icon="scoring",
            name="button_sample_judge",
        )
        sentence = self.tr("For answers in free words, and how far to trust such marks. Free, a few seconds.")
        column.addWidget(self._sample_line(SAMPLE_JUDGE, self.button_judge, sentence))
        return lines

    def _sample_line(self, sample: str, button: Button, sentence: str) -> QWidget:
        line = QWidget()
        row = QHBoxLayout(line)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        button.clicked.connect(lambda: self._context.open_sample(sample))
        words = Label(sentence, colour="text2", wrap=True)
        button.setAccessibleDescription(words.text())
        row.addWidget(button)
        row.addWidget(words, 1)
        return line

    def _add_unfinished(self) -> None:
        self._unfinished = UnfinishedRuns()
        self._unfinished.see_wanted.connect(self._see)
        self._unfinished.carry_on_wanted.connect(self._carry_on)
        self.body.addWidget(self._unfinished)

    def _add_recent(self) -> None:
        head = QHBoxLayout()
        head.addWidget(Label(self.tr("Recent projects"), "section"))
        head.addStretch(1)
        self.filter = FilterField(self.tr("Filter"), name="edit_filter")
        self.filter.setAccessibleName(self.tr("Filter the recent projects"))
        set_width(self.filter, 200)
        head.addWidget(self.filter)
        self.body.addLayout(head)
        self.table = ArenaTable("table_recent", self.tr("Recent projects"), lines=2)
        self.rows: ColumnTable[RecentRow] = ColumnTable(
            recent_columns(), key=lambda row: row.path, muted=lambda row: not row.found, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.set_filter_field(self.filter)
        self.table.fit_rows()
        self.table.remember(self._context.settings)
        self.rows.set_filter("")
        self.card = TableCard(self.table)
        self.card.watch()
        self.body.addWidget(self.card)
        self.empty = EmptyState(
            "", self.tr("No projects yet. The sample shows what you get in 15 seconds."), filled=True
        )
        self.body.addWidget(self.empty, 1)
        self.body.addStretch(0)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self.rows.set_filter)
        self.filter.down_pressed.connect(self.table.setFocus)
        self.rows.counts_changed.connect(self._on_counts)
        self.table.activated_row.connect(self._on_activated)
        self.table.link_clicked.connect(self._on_link)
        self.table.delete_pressed.connect(lambda: self._forget(self.table.current_record()))
        self.table.set_row_menu(self._fill_menu)
        projects, runs = self._context.projects, self._context.runs
        projects.opened.connect(self._on_opened)
        projects.examined.connect(self._on_examined)
        projects.failed.connect(self._on_open_failed)
        runs.state_changed.connect(self.refresh)

    # rows

    def _show_rows(self) -> None:
        recent = self._context.settings.recent()
        self.rows.set_rows(recent_rows(recent, self._facts.found, self._facts.best))
        self.card.setVisible(bool(recent))
        self.filter.setVisible(bool(recent))
        self.empty.setVisible(not recent)
        for sample, button in ((SAMPLE_LOCAL, self.button_local), (SAMPLE_JUDGE, self.button_judge)):
            button.parentWidget().setVisible(sample in self._context.samples)

    def _on_counts(self, _shown: int, _total: int) -> None:
        if not self.rows.filter_text() and self.filter.text():
            self.filter.clear()

    def _on_read(self, facts: HomeFacts) -> None:
        self._facts = facts
        self.strips.close_message("store")
        self._show_rows()
        has = self._context.runs.has
        self._unfinished.show_runs([run for run in facts.unfinished if not has(run.run_id)])

    def _on_not_read(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        self.strips.show_message(Message("store", Tone.BAD, error.message, error.hint))

    def _on_activated(self, row: RecentRow) -> None:
        self._on_link(row, "open" if row.found else "find")

    def _on_link(self, row: RecentRow, link: str) -> None:
        actions = {"open": self._open_row, "find": self._find, "remove": self._forget}
        actions[link](row)

    def _open_row(self, row: RecentRow) -> None:
        self._context.projects.open(Path(row.path))

    def _find(self, row: RecentRow) -> None:
        folder = self.choose_folder(self.tr("Where is {name} now?").format(name=row.name))
        if not folder:
            return
        from engine.project import find_config

        try:
            find_config(Path(folder))
        except ArenaError as error:
            self.strips.show_message(Message("find", Tone.WARN, error.message, error.hint))
            return
        self.strips.close_message("find")
        self._context.settings.forget_project(row.path)
        self._context.projects.open(Path(folder))

    def _forget(self, row: RecentRow | None) -> None:
        if row is None:
            return
        settings = self._context.settings
        kept = next((item for item in settings.recent() if item.path == row.path), None)
        settings.forget_project(row.path)
        self._show_rows()
        if kept is None:
            return
        first = self.tr("{name} was removed from the list.").format(name=row.name)
        undo = StripButton(self.tr("Undo"), lambda: self._put_back(kept), closes=True)
        text = self.tr("Its folder was not touched.")
        self.strips.show_message(Message("forgotten", Tone.INFO, first, text, (undo,)))

    def _put_back(self, project: RecentProject) -> None:
        self._context.settings.remember_project(project)
        self._show_rows()

    def _fill_menu(self, menu: QMenu, row: RecentRow) -> None:
        if row.found:
            action = menu.addAction(self.tr("Remove from list"))
            action.triggered.connect(lambda: self._forget(row))

    # unfinished runs

    def _see(self, run: RunInfo) -> None:
        self._context.results.open_run(run.run_id)
        self._context.page_wanted.emit("results")

    def _carry_on(self, run: RunInfo) -> None:
        project = self._context.projects.project
        if project is not None and project.root == run.project_root and self._context.projects.preflight:
            self._go_on(run.run_id)
        elif run.project_root is not None:
            self._carrying = run.run_id
            self._context.projects.open(run.project_root)

    def _on_examined(self, _preflight: object) -> None:
        if self._carrying is not None:
            run_id, self._carrying = self._carrying, None
            self._go_on(run_id)

    def _go_on(self, run_id: str) -> None:
        self._context.runs.carry_on(run_id)
        self._context.page_wanted.emit("run")

    def _on_open_failed(self, _error: object) -> None:
        # The window says why.
        self._carrying = None

    def _on_opened(self, _opened: object) -> None:
        self._show_rows()

    # beginning

    def start_new(self) -> None:
        """Asks for job, name and folder, makes the project and opens it."""
        # Read only when it is wanted: the job types are files.
        from arena_desktop.dialogs.new_project import NewProjectDialog

        dialog = NewProjectDialog(self._context, self.window())
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.made.connect(self._context.projects.open)
        dialog.open()

    def _on_open(self) -> None:
        folder = self.choose_folder(self.tr("Open a project folder"))
        if folder:
            self._context.settings.last_folder = str(Path(folder).parent)
            self._context.projects.open(Path(folder))

    def _ask_for_folder(self, title: str) -> str:
        return QFileDialog.getExistingDirectory(self, title, self._context.settings.last_folder)


def dropped_project(data: QMimeData) -> Path | None:
    """The project folder or settings file among what was dropped, or None."""
    for url in data.urls():
        path = Path(url.toLocalFile())
        if url.isLocalFile() and (path.is_dir() or path.suffix in (".yaml", ".yml", ".json")):
            return path
    return None
