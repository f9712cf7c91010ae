"""How a run is entered in the store, or taken up again where an earlier session left it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime

from engine.domain import CallStatus
from engine.execution.budget import Carried
from engine.execution.call import Caller
from engine.execution.ledger_rows import carried_over
from engine.execution.messages import LateMark, LateMarksOver, WorkerMessage
from engine.execution.plan import Plan
from engine.execution.request import RunRequest
from engine.project import Project, config_from_snapshot, snapshot
from engine.prompts import build_prompt, cell_fingerprint
from engine.storage.records import PlannedCell, RunHead, RunModel
from engine.storage.rows import CallFilter, StoredRun
from engine.storage.store import Store


@dataclass(frozen=True, slots=True)
class Opening:
    """An open run. `done` are places of the plan that need no call any more.

    `pending` says that stored answers lack a mark, `changed` are cases whose checks are others
    now, so that their answers are marked again.
    """

    store: Store
    run_id: str
    head: RunHead
    planned: int
    done: frozenset[int] = frozenset()
    carried: Mapping[str, Carried] = field(default_factory=dict)
    pending: bool = False
    changed: tuple[str, ...] = ()

    @property
    def has_marks_to_make(self) -> bool:
        """True where answers of an earlier session must be marked."""
        return self.pending or bool(self.changed)


def open_run(request: RunRequest, run_id: str) -> Opening:
    """Enters a new run under that id, or takes up `resume_from`. Raises the faults of the store."""
    store = Store.open(request.store_path)
    try:
        if request.resume_from is None:
            head = make_head(request, run_id)
            store.create_run(head)
            return Opening(store, head.run_id, head, request.plan.planned)
        return _take_up(request, store, request.resume_from)
    except BaseException:
        store.close()
        raise


def make_head(request: RunRequest, run_id: str) -> RunHead:
    """Everything known before the first call."""
    project, plan = request.project, request.plan
    return RunHead(
        run_id=run_id,
        project=project.config.project,
        project_root=project.root,
        started_at=request.clock.utc(),
        config=snapshot(project),
        models=tuple(
            RunModel(e.key, e.label, e.model, e.provider or "") for e in project.config.models if e.enabled
        ),
        cases=plan.cases,
        cells=PlannedCells(project, plan),
        trials=plan.trials,
        skipped=plan.skipped,
        lanes={lane: {"width": width, "configured": width} for lane, width in plan.lane_widths.items()},
        label=request.label,
        practice=all(model.settings.kind == "mock" for model in plan.models),
        seed=plan.seed,
        app_version=request.app_version,
    )


class PlannedCells:
    """The plan with its fingerprints, made while it is read; can be read again."""

    def __init__(self, project: Project, plan: Plan) -> None:
        self._project = project
        self._plan = plan

    def __iter__(self) -> Iterator[PlannedCell]:
        plan, grid = self._plan, self._plan.grid
        marks = [
            cell_fingerprint(
                build_prompt(case, model.entry, self._project.config), model.entry, model.connection, case
            )
            for case in plan.cases
            for model in plan.models
        ]
        for index in range(grid.total):
            yield PlannedCell(grid.cell(index), marks[index % len(marks)])


def _take_up(request: RunRequest, store: Store, run_id: str) -> Opening:
    head = make_head(request, run_id)
    before = store.run(run_id)
    stored = store.reopen_run(run_id, head)
    run_id = stored.info.run_id
    missing = {unfinished.cell for unfinished in store.unfinished(run_id)}
    grid = request.plan.grid
    done = frozenset(i for i in range(grid.total) if grid.cell(i) not in missing)
    return Opening(
        store=store,
        run_id=run_id,
        head=head,
        planned=grid.total,
        done=done,
        carried=carried_over(store, run_id),
        pending=bool(store.pending_scores(run_id)),
        changed=_changed_checks(before, request),
    )


def _changed_checks(before: StoredRun, request: RunRequest) -> tuple[str, ...]:
    now = request.project.config
    same_options = config_from_snapshot(before.config).scorers.options == now.scorers.options
    checks = {case.id: (case.checks, case.reference) for case in before.cases}
    return tuple(
        case.id
        for case in request.plan.cases
        if case.id in checks and (not same_options or checks[case.id] != (case.checks, case.reference))
    )


def mark_earlier_answers(
    opening: Opening,
    caller: Caller,
    plan: Plan,
    post: Callable[[WorkerMessage], None],
    stop: threading.Event,
) -> None:
    """Marks stored answers that have no mark, or other checks than before. Runs on its own thread."""
    try:
        cases = {case.id: case for case in plan.cases}
        models = {model.entry.key for model in plan.models}
        for write in opening.store.pending_scores(opening.run_id):
            if stop.is_set():
                break
            if write.cell.case_id in cases and write.cell.model_key in models:
                score = caller.mark(cases[write.cell.case_id], write.answer, write.cell.model_key)
                post(LateMark(write.cell, write.answer, score, datetime.now(UTC), first=True))
        chosen = CallFilter(cases=opening.changed, statuses=(CallStatus.OK,))
        for call in opening.store.iter_calls(opening.run_id, chosen) if opening.changed else ():
            if stop.is_set():
                break
            answer, cell = call.answer, call.cell
            if answer is not None and call.score is not None and cell.model_key in models:
                score = caller.mark(cases[cell.case_id], answer, cell.model_key)
                post(LateMark(cell, answer, score, datetime.now(UTC), first=False))
    except Exception as error:
        post(LateMarksOver(error))
        return
    post(LateMarksOver())
