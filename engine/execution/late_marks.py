"""Marks for answers of an earlier session: those without one, and those whose checks have changed."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

from engine.config.schema import Config
from engine.domain import Answer, CallDone, CallStatus, Cell
from engine.execution.call import Caller
from engine.execution.marking import Marking
from engine.execution.messages import LateAnswers, LateMark, LateMarking, LateMarksOver, WorkerMessage
from engine.execution.opening import Opening
from engine.execution.pair_groups import Place
from engine.execution.pair_records import compared_cases
from engine.execution.plan import Plan
from engine.project import config_from_snapshot
from engine.scoring.remark import Side
from engine.storage.rows import CallFilter

Post = Callable[[WorkerMessage], None]


def mark_earlier_answers(
    opening: Opening, caller: Caller, plan: Plan, config: Config, post: Post, stop: threading.Event
) -> None:
    """Marks stored answers that have no mark, other checks than before, or no word of their judge.

    Runs on its own thread and posts each mark, or what the judge has to be asked for it.
    """
    try:
        for message in earlier_answers(opening, caller, plan, config):
            if stop.is_set():
                break
            post(message)
    except Exception as error:
        post(LateMarksOver(error))
        return
    post(LateMarksOver())


def earlier_answers(opening: Opening, caller: Caller, plan: Plan, config: Config) -> Iterator[WorkerMessage]:
    """Every mark that is due, or what has to be asked for it. Reads the store, changes nothing."""
    yield from _LateMarks(opening, caller, plan, config).messages()


class _LateMarks:
    def __init__(self, opening: Opening, caller: Caller, plan: Plan, config: Config) -> None:
        self._opening, self._caller, self._config = opening, caller, config
        self._cases = {case.id: case for case in plan.cases}
        self._models = {model.entry.key for model in plan.models}
        before = opening.before
        self._was = config if before is None else config_from_snapshot(before.config)
        self._old = {} if before is None else {case.id: case for case in before.cases}

    def messages(self) -> Iterator[WorkerMessage]:
        """One message per answer, in plan order: first those that new ones are compared with, then
        those without any mark."""
        store, run_id = self._opening.store, self._opening.run_id
        taken: set[Cell] = set()
        pending = store.pending_scores(run_id) if self._opening.pending else []
        yield from self._met({(write.cell.case_id, write.cell.trial) for write in pending})
        for write in pending:
            if self._takes_part(write.cell):
                taken.add(write.cell)
                yield self._first(write.cell, write.answer)
        again = {*self._opening.changed, *(cell.case_id for cell in self._opening.unjudged)}
        if not self._opening.only_again:
            again |= {case_id for case_id, _ in self._opening.mixed}
        if not again:
            return
        chosen = CallFilter(cases=tuple(sorted(again)), statuses=(CallStatus.OK,))
        for call in store.iter_calls(run_id, chosen):
            if call.cell in taken:
                continue  # its mark may have been made in the meantime
            if (
                self._is_due(call.cell)
                and call.answer is not None
                and call.score is not None
                and self._takes_part(call.cell)
            ):
                message = self._again(call, call.answer)
                if message is not None:
                    yield message

    def _is_due(self, cell: Cell) -> bool:
        """Whether a mark may be another one now. New answers are new rivals of earlier ones."""
        opening = self._opening
        return cell.case_id in opening.changed or cell in opening.unjudged or self._has_new_rivals(cell)

    def _has_new_rivals(self, cell: Cell) -> bool:
        return (cell.case_id, cell.trial) in self._opening.mixed and not self._opening.only_again

    def _met(self, pending: set[Place]) -> Iterator[LateAnswers]:
        """All stored answers of each group in which somebody has to be compared."""
        compared = compared_cases(self._cases.values(), self._config)
        places = pending | self._opening.mixed | {(c.case_id, c.trial) for c in self._opening.unjudged}
        changed = set(self._opening.changed) & set(compared)
        cases = {case_id for case_id, _ in places if case_id in compared} | changed
        if not cases:
            return
        found: dict[Place, dict[str, Answer]] = {}
        chosen = CallFilter(cases=tuple(sorted(cases)), statuses=(CallStatus.OK,))
        for call in self._opening.store.iter_calls(self._opening.run_id, chosen):
            place = (call.cell.case_id, call.cell.trial)
            if call.answer is not None and (place in places or place[0] in changed):
                found.setdefault(place, {})[call.cell.model_key] = call.answer
        for (case_id, trial), answers in found.items():
            yield LateAnswers(case_id, trial, answers)

    def _takes_part(self, cell: Cell) -> bool:
        return cell.case_id in self._cases and cell.model_key in self._models

    def _first(self, cell: Cell, answer: Answer) -> WorkerMessage:
        case = self._cases[cell.case_id]
        if self._caller.asks_judge(case):
            marking = self._caller.marking(case, answer, cell.model_key)
            return self._told(cell, answer, marking, first=True)
        score = self._caller.mark(case, answer, cell.model_key)
        return LateMark(cell, answer, score, datetime.now(UTC), first=True)

    def _again(self, call: CallDone, answer: Answer) -> WorkerMessage | None:
        """Marks that were paid for and mean the same are kept, and so are a person's.

        None: the mark is the same again.
        """
        case = self._cases[call.cell.case_id]
        old = Side(self._old.get(case.id, case), self._was)
        sides, new = (old, Side(case, self._config)), self._has_new_rivals(call.cell)
        marking = self._caller.remarking(call, answer, sides, new_rivals=new)
        message = self._told(call.cell, answer, marking, first=False)
        return None if marking.score == call.score else message

    def _told(self, cell: Cell, answer: Answer, marking: Marking, *, first: bool) -> LateMark | LateMarking:
        marking.remember(self._opening.replies.get((cell, marking.about)))
        if marking.advance() and marking.score is not None:
            return LateMark(cell, answer, marking.score, datetime.now(UTC), first=first)
        return LateMarking(cell, answer, marking, first=first)
