"""Offers a new history where the old one is damaged: nothing is deleted, what can be read comes along."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from arena_desktop.widgets.strip import Message, StripButton, Tone
from engine.errors import ArenaError

if TYPE_CHECKING:
    from arena_desktop.background import Job
    from arena_desktop.context import AppContext
    from engine.storage.recovery import NewStart

MENDABLE = frozenset({"store_damaged", "store_foreign"})
"""Faults of the file itself. A full disk or a locked file is not one of them."""


class StoreRepair(QObject):
    """Follows the desks; make it after the window, so that its words take the place of the plain error."""

    renewed = Signal(object)
    """engine.storage.recovery.NewStart, its store closed again."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self._context = context
        self._busy = False
        self._told, self._path = "results", context.results.path
        context.results.failed.connect(lambda error: self._on_failed("results", error))
        context.runs.failed.connect(lambda error: self._on_failed("run", error))

    def start_anew(self) -> None:
        """Sets the damaged file aside and begins a new one; `renewed` follows."""
        if self._busy:
            return
        self._busy = True
        path = self._path

        def work(_job: Job) -> NewStart:
            from engine.storage.recovery import start_anew

            made = start_anew(path)
            made.store.close()
            return made

        self._context.background.run(work, self._on_renewed, self._on_not_renewed, name="new history")

    def _on_failed(self, key: str, error: ArenaError) -> None:
        path = Path(error.details.get("path") or self._context.results.path)
        own = path == self._context.results.path
        # A file inside a project that is no history is somebody else's.
        if error.code not in MENDABLE or not (own or error.code == "store_damaged"):
            return
        self._told, self._path = key, path
        begin = StripButton(self.tr("Start a new history"), self.start_anew, strong=True, closes=True)
        text = self.tr(
            "Start a new one: the old file is kept, and the runs in it that can be read come along."
        )
        self._say(Message(key, Tone.BAD, error.message, text, (begin,)))

    def _on_renewed(self, made: NewStart) -> None:
        self._busy = False
        runs = len(made.complete) + len(made.partial)
        text = self.tr("The old file is kept as {path}. {runs}").format(
            path=str(made.set_aside), runs=self._brought(runs)
        )
        self._say(Message(self._told, Tone.GOOD, self.tr("A new history has been started."), text))
        self._context.results.close()
        self._context.results.list_runs(None)
        self.renewed.emit(made)

    def _brought(self, runs: int) -> str:
        if runs == 0:
            return self.tr("No run could be read from it.")
        if runs == 1:
            return self.tr("1 run was taken over from it.")
        return self.tr("{count} runs were taken over from it.").format(count=runs)

    def _on_not_renewed(self, error: Exception) -> None:
        self._busy = False
        if not isinstance(error, ArenaError):
            raise error
        self._say(Message(self._told, Tone.BAD, error.message, error.hint))

    def _say(self, message: Message) -> None:
        self._context.message_wanted.emit(message)
