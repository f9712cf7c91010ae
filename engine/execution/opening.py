"""How a run is entered in the store, or taken up again where an earlier session left it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from engine.domain import CallStatus, Case, Cell
from engine.errors import UserError
from engine.execution.budget import Carried
from engine.execution.embed_rules import embedders_of
from engine.execution.events import Earlier
from engine.execution.judge_rules import judge_terms
from engine.execution.kept_replies import KeptReplies, Key, known_replies
from engine.execution.ledger_rows import carried_over
from engine.execution.marking import JUDGE_CHECKS
from engine.execution.pair_groups import Known, Place
from engine.execution.pair_records import compared_cases, known_verdicts, mixed_places
from engine.execution.plan import Plan
from engine.execution.request import RunRequest
from engine.execution.resume import unjudged
from engine.project import Project, config_from_snapshot, snapshot
from engine.prompts import build_prompt, cell_fingerprint
from engine.scoring import canonical_check
from engine.scoring.remark import TERMS, Side, terms_of
from engine.storage.records import PlannedCell, RunHead, RunModel
from engine.storage.rows import CallFilter, StoredRun
from engine.storage.store import Store


@dataclass(frozen=True, slots=True)
class Opening:
    """An open run. `done` are places of the plan that need no call any more.

    `pending` says that stored answers lack a mark, `changed` are cases whose checks are others
    now, so that their answers are marked again. `unjudged` are cells whose judge could not be
    asked. `before` is the run as it was stored, `earlier` what each model has behind it. `beside`
    are cells whose stored answer goes on counting, whatever they are answered now.

    `mixed` are tests and trials in which answers of this session meet earlier ones, `said` the
    verdicts on pairs so far. `only_again`: earlier answers are met, and keep their marks. `replies`
    are those of the judge that no mark was made of yet.
    """

    store: Store
    run_id: str
    head: RunHead
    planned: int
    done: frozenset[int] = frozenset()
    carried: Mapping[str, Carried] = field(default_factory=dict)
    pending: bool = False
    changed: tuple[str, ...] = ()
    unjudged: frozenset[Cell] = frozenset()
    before: StoredRun | None = None
    earlier: Mapping[str, Earlier] = field(default_factory=dict)
    beside: frozenset[Cell] = frozenset()
    mixed: frozenset[Place] = frozenset()
    said: Mapping[Place, tuple[Known, ...]] = field(default_factory=dict)
    only_again: bool = False
    replies: Mapping[Key, KeptReplies] = field(default_factory=dict)

    @property
    def has_marks_to_make(self) -> bool:
        """True where answers of an earlier session must be marked."""
        return self.pending or bool(self.changed) or bool(self.unjudged) or bool(self.mixed)


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
        number_above=request.number_above,
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
    again, changed = frozenset(request.again), changed_checks(before, request)
    beside = _answered(store, before.info.run_id, again)
    if again and changed:
        raise UserError(
            "marks_differ",
            "The checks have changed since this run was marked, so a new answer would be marked differently.",
            hint="Mark the run again first, then ask again.",
        )
    stored = store.reopen_run(run_id, head, with_errors=request.retry_errors, only=again)
    run_id = stored.info.run_id
    missing = again or {unfinished.cell for unfinished in store.unfinished(run_id)}
    grid = request.plan.grid
    done = frozenset(i for i in range(grid.total) if grid.cell(i) not in missing)
    compared = compared_cases(request.plan.cases, request.project.config) if request.plan.judge else {}
    return Opening(
        store=store,
        run_id=run_id,
        head=head,
        planned=grid.total,
        done=done,
        carried=carried_over(store, run_id),
        # Answers without a mark are marked when the whole run is carried on.
        pending=not again and bool(store.pending_scores(run_id)),
        changed=changed,
        unjudged=unjudged_cells(store, run_id, request),
        before=before,
        earlier={} if again else _earlier(store, run_id),
        beside=beside,
        mixed=mixed_places(store, run_id, compared, missing),
        said=known_verdicts(store, run_id) if compared else {},
        only_again=bool(again),
        replies=known_replies(store, run_id, request.plan.judge),
    )


def _answered(store: Store, run_id: str, cells: frozenset[Cell]) -> frozenset[Cell]:
    """Those that have an answer that counts."""
    if not cells:
        return cells
    cases = tuple(sorted({cell.case_id for cell in cells}))
    chosen = CallFilter(cases=cases, statuses=(CallStatus.OK,))
    return frozenset(c.cell for c in store.iter_calls(run_id, chosen, texts=False) if c.cell in cells)


def unjudged_cells(store: Store, run_id: str, request: RunRequest) -> frozenset[Cell]:
    """Answers that the judge, or a model that compares meanings, is asked about anew."""
    asks = request.plan.judge is not None or request.plan.embedders
    if not asks or request.again:
        return frozenset()
    return frozenset((*unjudged(store, run_id), *_judged_otherwise(store, run_id, request)))


def _judged_otherwise(store: Store, run_id: str, request: RunRequest) -> Iterator[Cell]:
    """Answers whose judge marked them by other terms than those of now: its old mark was kept, or a
    session that was to make them anew was cut off."""
    config = request.project.config
    now = {
        case.id: [terms_of(check, Side(case, config)) for check in case.checks] for case in request.plan.cases
    }
    for call in store.iter_calls(run_id, CallFilter(statuses=(CallStatus.OK,))):
        terms = now.get(call.cell.case_id, [])
        checks = call.score.checks if call.score is not None else ()
        if len(checks) == len(terms) and any(
            check.detail.get(TERMS, wanted) != wanted for check, wanted in zip(checks, terms, strict=True)
        ):
            yield call.cell


def _earlier(store: Store, run_id: str) -> dict[str, Earlier]:
    """What each model has behind it, from one query."""
    found: dict[str, Earlier] = {}
    for mark in store.case_marks(run_id):
        sums = found.get(mark.model_key, Earlier())
        found[mark.model_key] = Earlier(
            sums.done + mark.answered,
            sums.failed + mark.errors,
            sums.scored + mark.scored,
            sums.passed + mark.passed,
        )
    return found


def changed_checks(before: StoredRun, request: RunRequest) -> tuple[str, ...]:
    """The cases whose answers are marked differently now than when the run was stored."""
    was, now = config_from_snapshot(before.config), request.project.config
    same_options = was.scorers.options == now.scorers.options
    same_judge = judge_terms(was.judge) == judge_terms(now.judge)
    checks = {case.id: (case.checks, case.reference) for case in before.cases}

    def changed(case: Case) -> bool:
        if not same_options or checks[case.id] != (case.checks, case.reference):
            return True
        if embedders_of(case, was) != embedders_of(case, now):
            return True
        return not same_judge and any(canonical_check(check.type) in JUDGE_CHECKS for check in case.checks)

    return tuple(case.id for case in request.plan.cases if case.id in checks and changed(case))
