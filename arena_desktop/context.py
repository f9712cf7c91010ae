"""What every view is handed: the services and the state that pages share. No globals, no locator."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop.desks.project_desk import ProjectDesk
from arena_desktop.desks.rescore_desk import RescoreDesk
from arena_desktop.desks.result_desk import ResultDesk
from arena_desktop.desks.run_desk import RunDesk

if TYPE_CHECKING:
    from arena_desktop.background import Background
    from arena_desktop.settings import Settings
    from engine.keystore import KeyStore


@dataclass(frozen=True, slots=True)
class Sample:
    """A project that ships with the program."""

    id: str
    folder: Path


class AppContext(QObject):
    """Built once by `app`; lives as long as the window. GUI thread only."""

    page_wanted = Signal(str)
    """A page asks for another page by name."""
    page_left = Signal()
    """A page that is not in the rail is left for the one it was opened from."""
    answers_wanted = Signal(object)
    """A page asks to see certain answers of the run on show: an AnswersWanted. Answers is shown first."""
    marks_changed = Signal(str)
    """A person's marks in a run are other ones now; its id."""
    key_wanted = Signal(str)
    """A page asks for the place where the access key of a connection is entered; its id."""
    message_wanted = Signal(object)
    """A widgets.strip.Message for the whole window."""

    def __init__(self, settings: Settings, background: Background, keys: KeyStore, store: Path) -> None:
        super().__init__()
        self.settings = settings
        self.background = background
        self.keys = keys
        self.projects = ProjectDesk(background, settings, keys)
        self.results = ResultDesk(background, store)
        self.runs = RunDesk(self.projects, self.results, keys, background)
        self.rescoring = RescoreDesk(background, self.projects, self.results, keys, self.runs)
        # Before anybody else looks: the list of runs that follows is that of the project opened.
        self.projects.opened.connect(self.results.follow)
        self.projects.closed.connect(lambda: self.results.follow(None))
        self.samples: dict[str, Sample] = {}
        self.open_sample: Callable[[str], None] = lambda _id: None
