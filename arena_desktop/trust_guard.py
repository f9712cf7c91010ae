"""Asks about a project's own code when it is opened, and says what stays off."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from arena_desktop.widgets.strip import Message, StripButton, Tone
from engine.errors import ArenaError
from engine.trust import CodeItem, TrustBook, TrustState, code_in, content_hash

if TYPE_CHECKING:
    from arena_desktop.arena_window import ArenaWindow
    from arena_desktop.background import Job
    from arena_desktop.context import AppContext
    from arena_desktop.desks.project_desk import OpenProject
    from engine.project import Project

REFUSED_KEY = "trust/refused"
REFUSED_KEPT = 200


@dataclass(frozen=True, slots=True)
class _Found:
    """What was found in a project: its code, as it was read."""

    project: Project
    state: TrustState
    items: tuple[CodeItem, ...]
    seen: str | None


class TrustGuard(QObject):
    """One per window. A No is remembered for exactly this content; changed code asks again."""

    def __init__(self, window: ArenaWindow, context: AppContext) -> None:
        super().__init__(window)
        self._window, self._context = window, context
        self._found: _Found | None = None
        context.projects.opened.connect(self._on_opened)
        context.projects.closed.connect(self._clear)

    def ask(self) -> None:
        """Asks about the open project's code."""
        found = self._found
        if found is None or found.state in (TrustState.NO_CODE, TrustState.TRUSTED):
            return
        from arena_desktop.dialogs.trust import TrustDialog

        dialog = TrustDialog(found.items, found.state is TrustState.CHANGED, self._window)
        dialog.decided.connect(self._on_decided)
        dialog.open()

    def _on_opened(self, opened: OpenProject) -> None:
        project = opened.project

        def work(_job: Job) -> _Found:
            # The hash is of the code that is shown: what changes later is not what was agreed to.
            seen = content_hash(project)
            return _Found(project, TrustBook().state(project), tuple(code_in(project)), seen)

        run = self._context.background.run
        run(work, self._on_found, self._on_failed, name="look for code", replace=True)

    def _on_found(self, found: _Found) -> None:
        self._found = found
        if found.state in (TrustState.NO_CODE, TrustState.TRUSTED):
            self._window.close_message("trust")
            return
        if found.seen in self._refused():
            self._say_off()
            return
        self.ask()

    def _on_failed(self, error: Exception) -> None:
        text = getattr(error, "hint", "")
        self._window.show_message(Message("trust", Tone.WARN, str(error), str(text)))

    def _on_decided(self, yes: bool) -> None:
        found = self._found
        if found is None:
            return
        if yes:
            try:
                TrustBook().trust(found.project, seen=found.seen)
            except (ArenaError, OSError) as error:
                self._on_failed(error)
                return
            self._window.close_message("trust")
            self._context.projects.examine()
            return
        refused = [item for item in self._refused() if item != found.seen]
        if found.seen:
            self._context.settings.write_json(REFUSED_KEY, [*refused, found.seen][-REFUSED_KEPT:])
        self._say_off()

    def _say_off(self) -> None:
        first = self.tr("The project's own code is switched off.")
        text = self.tr("What needs it is left out.")
        again = StripButton(self.tr("Decide again…"), self.ask)
        self._window.show_message(Message("trust", Tone.INFO, first, text, (again,)))

    def _refused(self) -> list[str]:
        kept = self._context.settings.read_json(REFUSED_KEY)
        return [item for item in kept if isinstance(item, str)] if isinstance(kept, list) else []

    def _clear(self) -> None:
        self._found = None
        self._window.close_message("trust")
