"""The judge's desk of a run in which answers of several models meet. One thread owns it.

Every question about a pair is a job of the judge's lane, and its verdict is durable before the job
gives its slots back: a kill costs at most the questions under way, and nothing is asked twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from engine.domain import CallDone, CallStatus, Cell
from engine.execution.jobs import Job
from engine.execution.judging import Asking, Desk, JudgeDesk, Waiting
from engine.execution.messages import LateAnswers
from engine.execution.pair_groups import Asked, Complete, PairGroups, Steps
from engine.execution.pair_question import PairQuestion
from engine.execution.pair_records import pair_write
from engine.storage.records import EventWrite


@dataclass(slots=True)
class _Pairing(Asking):
    """One question about a pair."""

    marking: PairQuestion


class PairDesk(JudgeDesk):
    """Leads answers to their marks, some of which depend on other models' answers."""

    def __init__(self, desk: Desk, groups: PairGroups) -> None:
        super().__init__(desk)
        self._groups = groups
        self._askers: dict[Cell, Waiting] = {}
        self._keeping: dict[int, tuple[EventWrite, Asked, PairQuestion, Job | None]] = {}

    # ---- what comes

    def _wait(self, waiting: Waiting) -> None:
        super()._wait(waiting)
        awaits = waiting.marking.awaits
        if awaits:
            self._askers[waiting.cell] = waiting
            self._desk.dispatcher.hold(waiting.index, held=True)
        if waiting.record is not None:
            self._follow(self._groups.answered(waiting.cell, waiting.record.answer, awaits))
        elif awaits:
            self._follow(self._groups.asks(waiting.cell, awaits))

    def call_is_over(self, done: CallDone) -> None:
        """A call's record is durable: its answer can be met, or will not come."""
        self._follow(self._groups.answered(done.cell, done.answer if done.status is CallStatus.OK else None))

    def take_earlier(self, message: LateAnswers) -> None:
        """What an earlier session answered in one test and trial."""
        self._follow(self._groups.earlier((message.case_id, message.trial), message.answers))

    def nothing_earlier(self) -> None:
        """Nothing of an earlier session comes any more."""
        self._follow(self._groups.nothing_earlier())

    # ---- what follows

    def _follow(self, steps: Steps) -> None:
        for asked in steps.due:
            index = self._place(asked.owner)
            if index is None:
                raise RuntimeError(f"{asked.owner} is not in the plan")
            self._ask(_Pairing(index, PairQuestion(asked)))
        for complete in steps.over:
            self._pairs_are_over(complete)

    def _pairs_are_over(self, complete: Complete) -> None:
        waiting = self._askers.pop(complete.cell, None)
        if waiting is None:
            return
        self._desk.dispatcher.hold(waiting.index, held=False)
        if complete.met is None:
            waiting.left = True
        else:
            waiting.marking.met = complete.met
        if not waiting.open:
            self._go_on(waiting, None)

    def _save(self, waiting: Asking, job: Job | None) -> None:
        """A mark, or a verdict on a pair, is there."""
        if not isinstance(waiting, _Pairing):
            super()._save(waiting, job)
            return
        question, run_id = waiting.marking, self._desk.run_id
        spent = tuple(self._spent())
        if question.is_worth_keeping:
            write = pair_write(run_id, question, datetime.now(UTC))
            self._keeping[id(write)] = (write, question.asked, question, job)
            self._desk.save(write, *spent)
        else:
            self._desk.save(*spent)
            self._decided(question, job)

    def event_is_durable(self, write: EventWrite) -> None:
        """A verdict is stored: its slots are free, and marks that waited for it are made."""
        super().event_is_durable(write)
        kept = self._keeping.pop(id(write), None)
        if kept is not None:
            self._decided(kept[2], kept[3])

    def _decided(self, question: PairQuestion, job: Job | None) -> None:
        if question.verdict is None:
            raise RuntimeError(f"there is no verdict on {question.asked.question}")
        if job is not None:
            self._desk.dispatcher.judge_done(job)
        self._follow(self._groups.said(question.asked, question.verdict))

    def _leave(self, waiting: Asking) -> None:
        """The run ends: a question that was not asked leaves the answers of its pair without a mark."""
        if isinstance(waiting, _Pairing):
            self._follow(self._groups.left(waiting.marking.asked))
            return
        super()._leave(waiting)
        if isinstance(waiting, Waiting):
            self._askers.pop(waiting.cell, None)
            self._groups.forget(waiting.cell)
