"""What new releases of a model changed, for History: one line per step, newest first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from arena_desktop.background import Job
from arena_desktop.views.insights import Line, LinesCard
from arena_desktop.wording import releases as words
from engine.errors import ArenaError
from engine.execution.release_history import project_releases
from engine.stats.releases import ReleaseChange

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


@dataclass(frozen=True, slots=True)
class RunsWanted:
    """Two runs that a person wants to see side by side, and the tests that got worse."""

    before: str
    after: str
    model_key: str
    case_ids: tuple[str, ...] = ()


class ReleasesCard(LinesCard):
    """Hidden while no model of the project had a second release.

    `answers_wanted` carries `RunsWanted` here.
    """

    def __init__(self, context: AppContext) -> None:
        super().__init__("releases")
        self._context = context
        self._project: str | None = None
        self.changes: tuple[ReleaseChange, ...] = ()
        self.hide()

    def show_project(self, project: str | None) -> None:
        """Looks at the saved runs of a project; None hides the card."""
        self._project = project
        if project is None:
            self._show_changes(())
            return
        shelf = self._context.results.shelf

        def work(job: Job) -> tuple[str, tuple[ReleaseChange, ...]]:
            return project, project_releases(shelf(), project, should_stop=lambda: job.stopped)

        self._context.background.run(work, self._on_read, self._on_failed, name="releases", replace=True)

    def _on_read(self, answer: tuple[str, tuple[ReleaseChange, ...]]) -> None:
        project, changes = answer
        if project == self._project:
            self._show_changes(changes)

    def _on_failed(self, error: Exception) -> None:
        if not isinstance(error, ArenaError):
            raise error
        # The page itself says that its runs cannot be read; an empty card beside that says nothing more.
        self._show_changes(())

    def _show_changes(self, changes: tuple[ReleaseChange, ...]) -> None:
        self.changes = changes
        self.set_lines(self.tr("New releases"), words.releases_caption(changes), [_line(c) for c in changes])
        self.setVisible(bool(changes))


def _line(change: ReleaseChange) -> Line:
    step = change.step
    wanted = RunsWanted(step.before.run_id, step.after.run_id, step.after.model_key, change.worse)
    return Line(words.step_words(change), words.change_caption(change), wanted)
