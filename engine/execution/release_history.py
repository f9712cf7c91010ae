"""The releases in a project's stored runs, with what got worse from one to the next."""

from __future__ import annotations

from collections.abc import Callable

from engine.errors import Cancelled
from engine.execution.stored_board import stored_config
from engine.stats.releases import (
    Appearance,
    ReleaseChange,
    ReleaseMarks,
    ReleaseStep,
    compare_releases,
    release_steps,
)
from engine.storage.rows import ModelPoint
from engine.storage.shelf import History

STEPS_COMPARED = 50
"""How many of the newest steps are looked at case by case."""


def appearance(point: ModelPoint) -> Appearance:
    """A stored result as one appearance of its release."""
    return Appearance(
        run_id=point.run_id,
        number=point.number,
        at=point.started_at,
        model_key=point.row.model_key,
        label=point.label,
        model=point.model,
        reported=point.reported,
    )


def project_releases(
    store: History, project: str, *, should_stop: Callable[[], bool] | None = None
) -> tuple[ReleaseChange, ...]:
    """What changed at each step from one release to the next, newest first.

    `project` is its name or folder. The newest run's config says how it is compared. Raises
    `Cancelled` on a yes.
    """
    points = store.model_history(project)
    if not points:
        return ()
    steps = release_steps([appearance(point) for point in points])[:STEPS_COMPARED]
    marks = []
    for step in steps:
        if should_stop is not None and should_stop():
            raise Cancelled
        marks.append(_marks(store, step))
    config = stored_config(store.run(points[0].run_id))
    return compare_releases(marks, config, should_stop=should_stop)


def _marks(store: History, step: ReleaseStep) -> ReleaseMarks:
    sides = [(side.run_id, side.model_key) for side in (step.before, step.after)]
    changes = store.case_changes(*sides)
    shared = {change.case_id for change in changes if change.same_case}
    before, after = (store.run(run_id).cases for run_id, _ in sides)
    everything = {case.id for case in (*before, *after)}
    return ReleaseMarks(
        step=step,
        cases=tuple(case for case in after if case.id in shared),
        before={c.case_id: c.before for c in changes if c.case_id in shared and c.before is not None},
        after={c.case_id: c.after for c in changes if c.case_id in shared and c.after is not None},
        other_cases=len(everything - shared),
    )
