"""What can be done with a saved run: carry it on, ask what failed again, mark it again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena_desktop.views.home_facts import UNFINISHED, missing_calls
from engine.domain import RunInfo, RunStatus

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


def can_carry_on(context: AppContext, info: RunInfo) -> bool:
    """Whether a stored run can be carried on: it is unfinished, its project is open, and nobody did yet."""
    project = context.projects.project
    return (
        project is not None
        and info.project_root == project.root
        and info.status in UNFINISHED
        and missing_calls(info) > 0
        and not context.runs.has(info.run_id)
    )


def carry_on(context: AppContext, info: RunInfo) -> None:
    """Carries on with a stored run and shows how it goes."""
    context.page_wanted.emit("run")
    context.runs.carry_on(info.run_id)


def can_retry(context: AppContext, info: RunInfo) -> bool:
    """Whether what failed in a stored run can be asked again: its project is open, and it is not asked
    already. While another run goes on it waits its turn."""
    project = context.projects.project
    return (
        project is not None
        and info.project_root == project.root
        and info.errors > 0
        and info.status is not RunStatus.RUNNING
        and not context.runs.has(info.run_id)
    )


def run_to_retry(context: AppContext) -> RunInfo | None:
    """The run whose failures the menu would ask again: the one on show, else the newest."""
    result, runs = context.results.result, context.results.runs
    shown = result.stored.info if result is not None and not result.live else None
    wanted = shown or next(iter(runs), None)
    return wanted if wanted is not None and can_retry(context, wanted) else None


def can_mark_again(context: AppContext, info: RunInfo) -> bool:
    """Whether a stored run can be marked again now by the project that is open."""
    project = context.projects.project
    return (
        project is not None
        and info.project == project.config.project
        and info.completed > 0
        and info.status is not RunStatus.RUNNING
        and not context.rescoring.running
    )


def retry(context: AppContext, info: RunInfo) -> None:
    """Asks what failed in a stored run again and shows how it goes."""
    context.page_wanted.emit("run")
    context.runs.carry_on(info.run_id, retry_errors=True)
