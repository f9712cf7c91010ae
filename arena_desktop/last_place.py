"""Where the person was when the program was closed: the project and the page come back at the next start."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from arena_desktop.widgets.strip import Message, Tone
from arena_desktop.wording.home import folder_words

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from arena_desktop.context import AppContext
    from engine.errors import ArenaError


class LastPlace(QObject):
    """Notes the open project, and opens it again at the start. GUI thread only.

    Nothing is opened after an end that was none (a crash, a kill, a second program beside this one):
    Home offers what was interrupted, and a project that brings the program down does so only once.
    """

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._wanted: Path | None = None
        settings = context.settings
        self._was_closed = not settings.is_going_on
        settings.is_going_on = True
        settings.sync()
        context.projects.opened.connect(self._on_opened)
        context.projects.closed.connect(self._on_closed)
        context.projects.failed.connect(self._on_failed)

    def come_back(self) -> None:
        """Opens the project that was open last, in the background, and then shows the page of then."""
        path = self._context.settings.last_project
        if not path or not self._was_closed:
            return
        self._wanted = Path(path)
        self._window.page_after_opening = self._context.settings.last_page
        self._context.projects.open(self._wanted)

    def end(self) -> None:
        """The window was closed as it should be."""
        self._context.settings.is_going_on = False
        self._context.settings.sync()

    def _on_opened(self, _opened: object) -> None:
        self._wanted = None
        project = self._context.projects.project
        if project is not None:
            self._context.settings.last_project = str(project.root)

    def _on_closed(self) -> None:
        self._context.settings.last_project = ""

    def _on_failed(self, error: ArenaError) -> None:
        wanted, self._wanted = self._wanted, None
        if wanted is None:
            return
        self._window.page_after_opening = ""
        self._context.settings.last_project = ""
        first = self.tr("The project that was open last cannot be opened.")
        # Looked at only now: the disk of a project that opens is not asked twice.
        if not wanted.exists():
            first = self.tr("The project that was open last is not where it was.")
            text = self.tr("{folder} was moved, or its drive is not connected.")
            words = text.format(folder=folder_words(wanted))
        else:
            words = error.message
        self._window.show_message(Message("project", Tone.WARN, first, words))
