"""Verdicts on pairs in the store: written as events of the judge's lane, read when a run is carried on."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from engine.config.schema import Config
from engine.domain import CallStatus, Case, Cell
from engine.execution.jobs import JUDGE_LANE
from engine.execution.judge_rules import unmarked_entries
from engine.execution.pair_groups import Earlier, Known, PairGroups, Place
from engine.execution.pair_question import PairQuestion
from engine.execution.plan import Plan
from engine.scoring.judge_pair import compares_models
from engine.scoring.pairs import verdict_from_json, verdict_json
from engine.storage.records import EventWrite
from engine.storage.rows import CallFilter
from engine.storage.store import Store

if TYPE_CHECKING:
    from engine.execution.opening import Opening

PAIR_VERDICT = "pair_verdict"
"""Kind of the event that holds one verdict."""


def pair_write(run_id: str, question: PairQuestion, at: datetime) -> EventWrite:
    """A verdict as it is stored. Raises RuntimeError where there is none yet."""
    if question.verdict is None:
        raise RuntimeError(f"there is no verdict on {question.asked.question}")
    case_id, trial = question.asked.place
    told = verdict_json(question.asked.question, question.verdict, question.asked.prints)
    return EventWrite(run_id, at, PAIR_VERDICT, JUDGE_LANE, {"case": case_id, "trial": trial, **told})


def known_verdicts(store: Store, run_id: str, *, unread: bool = True) -> Mapping[Place, tuple[Known, ...]]:
    """All verdicts of a run by test and trial, the newest first. Without `unread`, replies that could
    not be read are none, so that the judge is asked anew."""
    found: dict[Place, list[Known]] = {}
    for event in reversed(store.events(run_id, kind=PAIR_VERDICT)):
        read = verdict_from_json(event.values)
        case_id, trial = event.values.get("case"), event.values.get("trial")
        if read is None or (read[1].code and not unread):
            continue
        if isinstance(case_id, str) and isinstance(trial, int):
            found.setdefault((case_id, trial), []).append(Known(*read))
    return {place: tuple(known) for place, known in found.items()}


def compared_cases(cases: Iterable[Case], config: Config) -> dict[str, Case]:
    """The tests in which models meet, by id."""
    return {case.id: case for case in cases if compares_models(case, config)}


def mixed_places(
    store: Store, run_id: str, cases: Iterable[str], missing: Collection[Cell]
) -> frozenset[Place]:
    """Tests and trials, among these tests, of which some calls are answered and some are missing."""
    wanted = set(cases)
    due = {(cell.case_id, cell.trial) for cell in missing if cell.case_id in wanted}
    if not due:
        return frozenset()
    chosen = CallFilter(cases=tuple(sorted({case_id for case_id, _ in due})), statuses=(CallStatus.OK,))
    answered = (call.cell for call in store.iter_calls(run_id, chosen, texts=False))
    return frozenset((c.case_id, c.trial) for c in answered if c not in missing) & due


def pair_groups(plan: Plan, config: Config, opening: Opening) -> PairGroups | None:
    """The groups of a run; None where no judge compares models."""
    cases = compared_cases(plan.cases, config)
    if plan.judge is None or not cases:
        return None
    earlier = Earlier(opening.done, opening.mixed, opening.said)
    return PairGroups(plan.grid, cases, nobody=unmarked_entries(config), earlier=earlier)
