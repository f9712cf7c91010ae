"""What the menu actions of the window do. Each dialog is imported when it is first asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QPoint, Qt, QUrl
from PySide6.QtGui import QAction, QDesktopServices
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QPlainTextEdit, QTextEdit, QWidget

from arena_desktop.edit_actions import EditActions
from arena_desktop.widgets.strip import Message, StripButton, Tone
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.wording.home import folder_words
from engine.storage.file_names import file_name

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from arena_desktop.background import Job
    from arena_desktop.context import AppContext
    from arena_desktop.dialogs.settings import SettingsDialog

# Actions whose work is not in the program yet: not shown, rather than shown dead.
NOT_YET = (
    "action_save",
    "action_import",
    "action_import_run",
    "action_print",
    "action_paste",
    "action_add_case",
    "action_delete",
    "action_glossary",
    "action_diagnostics",
)


class WindowActions(QObject):
    """Connects menus and rail of one window. GUI thread only."""

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._settings_dialog: SettingsDialog | None = None
        self._root: Path | None = None
        for name in NOT_YET:
            window.menus.action(name).setVisible(False)
            window.menus.action(name).setEnabled(False)
        self._connect()

    def _connect(self) -> None:
        window, context = self._window, self._context
        work = {
            "action_new_project": self.new_project,
            "action_open_project": self.choose_project,
            "action_close_project": context.projects.close,
            "action_run": self.show_run,
            "action_retry_failed": self.retry_failed,
            "action_compare": lambda: window.show_page("compare"),
            "action_export": self.export_report,
            "action_copy": lambda: self.copy(with_head=False),
            "action_copy_head": lambda: self.copy(with_head=True),
            "action_shortcuts": self.show_shortcuts,
            "action_about": lambda: self.settings_dialog().show_section("about"),
            "action_quit": window.close,
        }
        for name, call in work.items():
            window.menus.action(name).triggered.connect(lambda _checked=False, call=call: call())
        for changed in (
            context.runs.state_changed,
            context.results.listed,
            context.results.shown,
            context.projects.opened,
            context.projects.closed,
        ):
            changed.connect(self._set_retry)
        self._set_retry()
        context.projects.opened.connect(lambda opened: self._on_project(opened.project.root))
        context.projects.closed.connect(lambda: self._on_project(None))
        window.settings_requested.connect(lambda: self.settings_dialog().show_section("keys"))
        context.key_wanted.connect(lambda connection: self.settings_dialog().show_connection(connection))
        window.menus.recent_menu.aboutToShow.connect(lambda: self._fill_recent(window.menus.recent_menu))
        window.project_menu_requested.connect(self.show_project_menu)
        EditActions(window.menus, context, self)

    def show_run(self) -> None:
        """Goes to the Run page and, where a run can start, to the button that starts it."""
        button = self._window.show_page("run").findChild(QWidget, "button_run")
        if button is not None and button.isVisible() and button.isEnabled():
            self._window.focus_ring.focus(button)

    def retry_failed(self) -> None:
        """Asks again what failed in the run on show, else in the newest."""
        from arena_desktop.views.saved_steps import retry, run_to_retry

        info = run_to_retry(self._context)
        if info is not None:
            retry(self._context, info)

    def _on_project(self, root: Path | None) -> None:
        """What was said of another project would read as if it were said of this one, its Undo too."""
        if root != self._root:
            self._root = root
            self._window.close_project_messages()

    def _set_retry(self, *_told: object) -> None:
        results = self._context.results
        possible = False
        if results.result is not None or results.runs:
            # Imported only then: the pages of results must not keep the window from its first paint.
            from arena_desktop.views.saved_steps import run_to_retry

            possible = run_to_retry(self._context) is not None
        self._window.menus.action("action_retry_failed").setEnabled(possible)

    def settings_dialog(self) -> SettingsDialog:
        """The settings, made on first use."""
        if self._settings_dialog is None:
            from arena_desktop.dialogs.settings import SettingsDialog

            dialog = SettingsDialog(self._context, self._window)
            for told in (dialog.keys.desk.saved, dialog.keys.desk.removed):
                told.connect(lambda _result: self._context.projects.examine())
            self._settings_dialog = dialog
        return self._settings_dialog

    def new_project(self) -> None:
        """Asks for job, name and folder, makes the project and opens it."""
        from arena_desktop.dialogs.new_project import NewProjectDialog

        dialog = NewProjectDialog(self._context, self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.made.connect(self._context.projects.open)
        dialog.open()

    def choose_project(self) -> None:
        """Asks for a project folder and opens it."""
        start = self._context.settings.last_folder
        folder = QFileDialog.getExistingDirectory(self._window, self.tr("Open a project folder"), start)
        if folder:
            self._context.settings.last_folder = str(Path(folder).parent)
            self._window.open_project(folder)

    def show_project_menu(self) -> None:
        """The menu below the project block: recent projects, open, close."""
        menu = QMenu(self._window)
        menu.setObjectName("menu_project")
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._fill_recent(menu)
        menu.addSeparator()
        for name in ("action_open_project", "action_new_project", "action_close_project"):
            menu.addAction(self._window.menus.action(name))
        menu.popup(self._window.rail.mapToGlobal(QPoint(8, 52)))

    def _fill_recent(self, menu: QMenu) -> None:
        menu.clear()
        menu.setToolTipsVisible(True)
        for item in self._context.settings.recent():
            if not Path(item.path).is_dir():
                continue
            entry = QAction(item.name.replace("&", "&&"), menu)
            entry.setToolTip(folder_words(Path(item.path)))
            entry.triggered.connect(lambda _checked=False, path=item.path: self._window.open_project(path))
            menu.addAction(entry)
        if menu.isEmpty():
            nothing = menu.addAction(self.tr("No project was opened yet"))
            nothing.setEnabled(False)

    def copy(self, *, with_head: bool) -> None:
        """Copies from the widget with the focus, as Ctrl+C there would."""
        widget: QWidget | None = QApplication.focusWidget()
        if isinstance(widget, ArenaTable):
            widget.copy(with_head=with_head)
        elif isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
            widget.copy()

    def show_shortcuts(self) -> None:
        """The list of keys, made from the actions themselves."""
        from arena_desktop.dialogs.shortcuts import ShortcutsDialog

        dialog = ShortcutsDialog(self._window.menus.all_actions(), self._window)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def export_report(self) -> None:
        """Saves the shown run as a web page that can be sent."""
        result = self._context.results.result
        if result is None:
            text = self.tr("Run the tests or open a saved run first.")
            self._say(Message("export", Tone.INFO, self.tr("There is no result to export."), text))
            return
        name = self.tr("{project}, run {number}").format(
            project=result.stored.info.project, number=result.stored.info.number
        )
        start = Path(self._context.settings.export_folder or Path.home()) / f"{file_name(name)}.html"
        chosen, _kind = QFileDialog.getSaveFileName(
            self._window, self.tr("Save the report"), str(start), self.tr("Web page (*.html)")
        )
        if chosen:
            self._context.settings.export_folder = str(Path(chosen).parent)
            self.save_report(result.run_id, Path(chosen))

    def save_report(self, run_id: str, target: Path) -> None:
        """Writes the report in the background and says where it is."""

        def work(_job: Job) -> Path:
            from arena_desktop.reports.page import write_report

            return write_report(self._context.results.store(run_id), run_id, target)

        self._context.background.run(work, self._on_saved, self._on_failed, name="report")

    def _on_saved(self, path: Path) -> None:
        folder = QUrl.fromLocalFile(str(path.parent))
        show = StripButton(self.tr("Open folder"), lambda: QDesktopServices.openUrl(folder))
        first = self.tr("The report is saved.")
        self._say(Message("export", Tone.GOOD, first, str(path), (show,)))

    def _on_failed(self, error: Exception) -> None:
        hint = str(getattr(error, "hint", ""))
        self._say(Message("export", Tone.BAD, str(error), hint))

    def _say(self, message: Message) -> None:
        self._window.show_message(message)
