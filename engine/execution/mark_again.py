"""What marking a saved run again would ask of a judge, and what that costs. Nothing is asked here.

Each stored answer is laid before the checks as they are now; what they still want to know is what
a session of marking would ask. Marks by the same terms are taken over and ask for nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from providers.base import ConnectionSettings

from engine.config.embedder_key import PREFIX
from engine.config.schema import Card, Connection, ModelEntry
from engine.domain import Note
from engine.errors import Cancelled
from engine.execution.candidates import Means, ReadyModel
from engine.execution.clients import Clients
from engine.execution.estimate import FREE, CostRange, Estimate, questions
from engine.execution.jobs import JUDGE_LANE, LanePlan
from engine.execution.judge_estimate import asked_range, embedding_range
from engine.execution.kept_replies import known_replies
from engine.execution.late_marks import earlier_answers
from engine.execution.ledger_rows import carried_over
from engine.execution.machinery import caller_of
from engine.execution.messages import LateAnswers, LateMarking, WorkerMessage
from engine.execution.opening import Opening, make_head
from engine.execution.pair_groups import PairGroups, Steps
from engine.execution.pair_records import compared_cases, known_verdicts, pair_groups
from engine.execution.plan import Plan, ceilings_of, marking_lanes
from engine.execution.preflight import Preflight, examine_markers
from engine.execution.remark_sides import Sides, sides_of
from engine.execution.request import RunRequest
from engine.scoring.remark import EMBEDDING, JUDGE, OWN_CODE, needs_of
from engine.scoring.seams import EmbedAsk, MarkRequest
from engine.storage.rows import StoredRun
from engine.storage.store import Store

if TYPE_CHECKING:
    from engine.project import Project

_ASKS = frozenset({JUDGE, EMBEDDING, OWN_CODE})
_STAND_IN = "asked before"
"""Lane of the models whose answers are stored; nothing is ever asked there."""


@dataclass(frozen=True, slots=True)
class MarkAgain:
    """Everything one session of marking needs, with its price.

    `project` is the project as it is now. `answers` want `calls` questions to be asked, which cost
    `cost`; `unpriced` are those of whom no price is known. `confirm` lists what the project wants a
    yes for. `changed` are the cases whose answers are looked at again.
    """

    request: RunRequest
    project: Project
    changed: tuple[str, ...]
    answers: int = 0
    calls: int = 0
    cost: CostRange = FREE
    unpriced: tuple[str, ...] = ()
    confirm: tuple[Note, ...] = ()

    @property
    def run_id(self) -> str:
        """The run that is marked again."""
        return self.request.resume_from or ""

    @property
    def asks(self) -> bool:
        """Whether anything has to be asked at all; if not, scoring anew does it for nothing."""
        return self.answers > 0

    def open(self, store: Store) -> Opening:
        """The run with all its answers, none of them to be asked for again."""
        return _opening(store, store.run(self.run_id), self.request, self.changed)


def look(store: Store, run_id: str, project: Project, means: Means, **more: object) -> MarkAgain:
    """Finds out what marking a run again by a project would ask and cost. Any thread.

    `more` are further fields of the RunRequest. Takes as long as looking at every answer.

    Raises:
        UserError: As `sides_of`, and those of `Store.run`.
        Cancelled: `means.should_stop` said yes.
    """
    stored = store.run(run_id)
    sides = sides_of(stored, project)
    preflight = examine_markers(_with_cases(project, sides), means)
    given = {"store_path": store.path, "keystore": means.keystore, "pricebook": means.pricebook, **more}
    request = _request(stored, sides, project, preflight, given)
    changed = _wanting(sides, preflight)
    found = MarkAgain(request, project, changed)
    if not changed or not any(lane.marks for lane in request.plan.lanes):
        return found
    return _priced(found, _Count(request).over(store, _opening(store, stored, request, changed), means))


def _with_cases(project: Project, sides: Sides) -> Project:
    cases = tuple(case for name, case in sides.cases.items() if name not in sides.held)
    return replace(project, cases=cases)


def _wanting(sides: Sides, preflight: Preflight) -> tuple[str, ...]:
    """Cases with a check that may ask somebody."""
    asks = _ASKS if preflight.code_trusted else _ASKS - {OWN_CODE}
    return tuple(
        name
        for name, case in sides.cases.items()
        if name not in sides.held and asks & needs_of([case], sides.config)
    )


def _request(
    stored: StoredRun,
    sides: Sides,
    project: Project,
    preflight: Preflight,
    given: dict[str, object],
) -> RunRequest:
    now, run = project.config, project.config.run
    cases = tuple(sides.cases.values())
    keys = {model.key for model in stored.models}
    lanes = marking_lanes(preflight, run)
    plan = Plan(
        models=tuple(_stand_in(e, sides.config.connections) for e in sides.config.models if e.key in keys),
        cases=cases,
        trials=stored.info.trials,
        concurrency=run.concurrency,
        lanes=(*lanes, LanePlan(_STAND_IN, 1, local=True)),
        ceilings=ceilings_of(now.budgets),
        seed=stored.seed,
        judge=preflight.judge,
        embedders=preflight.embedders,
    )
    config = replace(sides.config, run=replace(run, trials=stored.info.trials), budgets=now.budgets)
    return RunRequest(
        project=replace(project, config=config, cases=cases),
        preflight=preflight,
        plan=plan,
        resume_from=stored.info.run_id,
        **given,  # type: ignore[arg-type]
    )


def _stand_in(entry: ModelEntry, connections: Iterable[Connection]) -> ReadyModel:
    """A model whose answers are there already. It has no key and no address, and nobody asks it."""
    known = next((c for c in connections if c.id == entry.provider), None)
    connection = known or Connection(entry.provider or entry.key, entry.provider or "")
    settings = ConnectionSettings(id=connection.id, kind=connection.kind)
    return ReadyModel(entry, connection, settings, None, Card(), _STAND_IN, timeout_s=0.0)


def _opening(store: Store, stored: StoredRun, request: RunRequest, changed: tuple[str, ...]) -> Opening:
    run_id, total = stored.info.run_id, request.plan.grid.total
    compares = compared_cases(request.plan.cases, request.project.config)
    return Opening(
        store=store,
        run_id=run_id,
        head=make_head(request, run_id),
        planned=total,
        done=frozenset(range(total)),
        carried=carried_over(store, run_id),
        pending=bool(store.pending_scores(run_id)),
        changed=changed,
        before=stored,
        said=known_verdicts(store, run_id, unread=False) if compares else {},
        replies=known_replies(store, run_id, request.plan.judge),
    )


@dataclass(slots=True)
class _Count:
    """Adds up what would be asked."""

    request: RunRequest
    answers: int = 0
    calls: int = 0
    costs: dict[str, CostRange] = field(default_factory=dict)

    def over(self, store: Store, opening: Opening, means: Means) -> _Count:
        """All answers of the run. Raises Cancelled."""
        plan, config = self.request.plan, self.request.project.config
        caller = caller_of(self.request, Clients({}), threading.Event())
        groups = pair_groups(plan, config, opening)
        for message in earlier_answers(opening, caller, plan, config):
            if means.should_stop is not None and means.should_stop():
                raise Cancelled
            self._take(message, groups)
        if groups is not None:
            self._meet(groups.nothing_earlier())
        return self

    def _take(self, message: WorkerMessage, groups: PairGroups | None) -> None:
        match message:
            case LateMarking():
                self.answers += 1
                for request in message.marking.wanted:
                    self._ask(request)
                if groups is not None and message.marking.awaits:
                    self._meet(groups.asks(message.cell, message.marking.awaits))
            case LateAnswers() if groups is not None:
                self._meet(groups.earlier((message.case_id, message.trial), message.answers))

    def _meet(self, steps: Steps) -> None:
        for asked in steps.due:
            self._ask(asked.request)

    def _ask(self, request: MarkRequest) -> None:
        plan = self.request.plan
        if isinstance(request, EmbedAsk):
            lane = f"{PREFIX}{request.model}"
            model = next((m for m in plan.embedders if m.entry.key == lane), None)
            cost = None if model is None else embedding_range(request.texts, model.price)
        else:
            lane = JUDGE_LANE
            cost = None if plan.judge is None else asked_range(request, plan.judge)
        if cost is not None:
            self.calls += 1
            self.costs[lane] = self.costs.get(lane, FREE) + cost


def _priced(found: MarkAgain, count: _Count) -> MarkAgain:
    unpriced = tuple(lane for lane, cost in count.costs.items() if cost.high is None)
    known = sum((cost for cost in count.costs.values() if cost.high is not None), FREE)
    total = CostRange() if unpriced else known
    expected = Estimate(total=total, known=known, unpriced=unpriced)
    return replace(
        found,
        answers=count.answers,
        calls=count.calls,
        cost=total,
        unpriced=unpriced,
        confirm=questions(found.project.config, expected),
    )
