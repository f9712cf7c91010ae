"""One attempt of one call, carried out in a worker: ask, price, mark. Never raises."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from providers.base import (
    Finish,
    PracticeContext,
    Reply,
    Request,
)

from engine.config.schema import Config
from engine.domain import (
    Answer,
    Attempt,
    CallDone,
    CallStatus,
    Case,
    CaseScore,
    Outcome,
    ScoreState,
)
from engine.execution.budget import Worst
from engine.execution.clients import Clients
from engine.execution.embed_rules import embeds
from engine.execution.estimate import sent_max_tokens, worst_case
from engine.execution.jobs import Job
from engine.execution.judge_rules import unmarked_entries
from engine.execution.marking import JUDGE_CHECKS, Marking, first_marking, new_marking
from engine.execution.messages import Answered, AwaitsJudge, Marked, Ticket, WorkerMessage
from engine.execution.plan import Plan
from engine.execution.preflight import ReadyModel
from engine.execution.settling import cost_of, refused, used_of, waited_before
from engine.prompts import build_prompt
from engine.scoring import ScoringContext, canonical_check, final_outcome, score_case
from engine.scoring.remark import Side

_QUICK = frozenset(
    {"exact_match", "contains", "classification", "numeric", "json_valid", "json_match"}
    | {"length", "latency", "cost", "manual"}
)
"""Checks that take microseconds: answer and mark are stored together. All others are slow enough
to crash or hang in, so there the answer is stored first."""

JUDGE_OR_OWN = JUDGE_CHECKS | {None}
"""Checks that may ask the judge: those made for it, and the project's own."""

OUTCOMES = {
    Finish.COMPLETE: Outcome.COMPLETE,
    Finish.LENGTH: Outcome.LENGTH,
    Finish.REFUSED: Outcome.REFUSED,
    Finish.EMPTY: Outcome.EMPTY,
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What all calls of a run share. `context` lacks only the model key."""

    plan: Plan
    config: Config
    context: ScoringContext
    stop_event: threading.Event


class Caller:
    """Carries out attempts. Thread-safe: `attempt` is called from many workers at once."""

    def __init__(self, setting: Setting, clients: Clients) -> None:
        self._setting = setting
        self._clients = clients
        self._models = {model.entry.key: model for model in setting.plan.models}
        self._cases = {case.id: case for case in setting.plan.cases}
        self._contexts = {key: replace(setting.context, model_key=key) for key in self._models}
        self._by_itself = frozenset(unmarked_entries(setting.config))
        self._embeds = {case.id for case in setting.plan.cases if embeds(case, setting.config)}
        self._warm: set[str] = set()

    def worst_of(self, model: ReadyModel, case: Case) -> Worst:
        """The most one attempt of this cell can use."""
        prompt = build_prompt(case, model.entry, self._setting.config)
        return worst_case(prompt, case, model.price, self._setting.config.budgets)

    def attempt(self, ticket: Ticket, post: Callable[[WorkerMessage], None]) -> None:
        """Asks once and posts what became of it; where marking is slow, the answer first."""
        job = ticket.job
        began = datetime.now(UTC)
        clock = time.perf_counter()
        try:
            model, case = self._models[job.cell.model_key], self._cases[job.cell.case_id]
            reply = self._ask(job, model, case)
            answer = self._answer(reply, model, case)
        except BaseException as error:  # own code may raise anything: no cell is ever lost
            model_asked = self._models.get(job.cell.model_key)
            post(refused(ticket, error, model_asked, began, (time.perf_counter() - clock) * 1000))
            return
        used = used_of(answer.cost_usd, answer.cost_source, reply)
        self._warm.add(job.cell.model_key)
        if self.asks_judge(case):
            record = _record(ticket, answer, began)
            post(Answered(ticket, record, used, marked=False, limits=reply.limits))
            post(self._begin_marking(ticket, record, case, reply))
            return
        quick = all(canonical_check(check.type) in _QUICK for check in case.checks)
        if not quick:
            post(Answered(ticket, _record(ticket, answer, began), used, marked=False, limits=reply.limits))
        score = self.mark(case, answer, job.cell.model_key)
        if reply.metrics:
            score = replace(score, metrics={**reply.metrics, **score.metrics})
        record = _record(ticket, answer, began, score)
        if quick:
            post(Answered(ticket, record, used, marked=True, limits=reply.limits))
        else:
            post(Marked(ticket, record))

    def asks_judge(self, case: Case) -> bool:
        """Whether a check of the case asks something: needs the judge or embeddings, or is own code
        that may use the judge."""
        if case.id in self._embeds:
            return True
        if self._setting.plan.judge is None:
            return False
        return any(canonical_check(check.type) in JUDGE_OR_OWN for check in case.checks)

    def marking(self, case: Case, answer: Answer, model_key: str) -> Marking:
        """The marking of an answer in which the judge has a say."""
        by_itself = model_key in self._by_itself
        side = Side(case, self._setting.config)
        asks = self._setting.plan.judge is not None
        return first_marking(side, answer, self._contexts[model_key], by_itself=by_itself, asks=asks)

    def remarking(
        self, call: CallDone, answer: Answer, sides: tuple[Side, Side], *, new_rivals: bool = False
    ) -> Marking:
        """The marking of an answer that was marked before, by the checks as they are now. `sides`: its
        case as it was, and as it is."""
        key = call.cell.model_key
        asks = self._setting.plan.judge is not None and key not in self._by_itself
        context = replace(self._contexts[key], new_rivals=new_rivals)
        return new_marking(answer, call.score, sides, context, asks=asks)

    def _begin_marking(self, ticket: Ticket, record: CallDone, case: Case, reply: Reply) -> WorkerMessage:
        assert record.answer is not None  # noqa: S101 - it was made from an answer
        marking = self.marking(case, record.answer, record.cell.model_key)
        marking.metrics = reply.metrics
        if marking.advance():
            return Marked(ticket, replace(record, score=marking.score))
        return AwaitsJudge(ticket, record, marking)

    def mark(self, case: Case, answer: Answer, model_key: str) -> CaseScore:
        """The mark of an answer. A fault of the checks is an errored score, never an exception."""
        try:
            return score_case(case, answer, self._contexts[model_key])
        except BaseException as error:
            return CaseScore(ScoreState.ERRORED, reason=f"Scoring failed: {type(error).__name__}: {error}")

    def _ask(self, job: Job, model: ReadyModel, case: Case) -> Reply:
        prompt = build_prompt(case, model.entry, self._setting.config)
        loading = 0.0 if job.cell.model_key in self._warm else model.first_call_allowance_s
        request = Request(
            model=model.entry.model,
            messages=prompt.messages,
            system=prompt.system,
            max_tokens=sent_max_tokens(prompt, self._setting.config.budgets),
            temperature=prompt.temperature,
            params={**prompt.params, "run": model.entry.run} if model.entry.run else prompt.params,
            timeout_s=model.timeout_s + loading,
            stop_event=self._setting.stop_event,
            practice=PracticeContext(
                case.id, job.cell.trial, job.cell.model_key, case.reference, model.entry.pass_reference
            ),
        )
        return self._clients.ask(model, request)

    def _answer(self, reply: Reply, model: ReadyModel, case: Case) -> Answer:
        cost_usd, source = cost_of(reply, model)
        answer = Answer(
            text=reply.text,
            outcome=OUTCOMES[reply.finish],
            model_reported=reply.model_reported,
            reasoning=reply.reasoning,
            usage=reply.usage,
            latency_ms=reply.latency_ms,
            first_token_ms=reply.first_token_ms,
            cost_usd=cost_usd,
            cost_source=source,
            request_id=reply.request_id,
            notes=reply.notes,
        )
        outcome = final_outcome(answer, case.checks, self._setting.config.scorers.options)
        return answer if outcome is answer.outcome else replace(answer, outcome=outcome)


def _record(ticket: Ticket, answer: Answer, began: datetime, score: CaseScore | None = None) -> CallDone:
    tally = ticket.tally
    attempt = Attempt(
        number=ticket.job.attempt,
        started_at=began,
        wait_s=waited_before(ticket),
        latency_ms=answer.latency_ms,
        cost_usd=answer.cost_usd,
    )
    return CallDone(
        cell=ticket.job.cell,
        status=CallStatus.OK,
        outcome=answer.outcome,
        answer=answer,
        score=score,
        attempts=tally.attempts + 1,
        throttled=tally.throttled,
        waited_s=ticket.job.waited_s,
        started_at=ticket.first_started_at or began,
        finished_at=datetime.now(UTC),
        attempt_log=(*ticket.log, attempt),
    )
