"""One attempt of one call, carried out in a worker: ask, price, mark. Never raises."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from decimal import Decimal

from providers.base import (
    ErrorKind,
    Finish,
    PracticeContext,
    ProviderError,
    Reply,
    Request,
)

from engine.config.schema import Config
from engine.domain import (
    Answer,
    Attempt,
    CallDone,
    CallError,
    CallStatus,
    Case,
    CaseScore,
    Outcome,
    ScoreState,
)
from engine.execution.budget import Used, Worst
from engine.execution.clients import Clients
from engine.execution.estimate import sent_max_tokens, worst_case
from engine.execution.jobs import Job
from engine.execution.messages import Answered, Marked, Refused, Ticket, WorkerMessage
from engine.execution.plan import Plan
from engine.execution.preflight import ReadyModel
from engine.execution.retry import Failure
from engine.price import cost
from engine.prompts import build_prompt
from engine.redact import redact
from engine.scoring import ScoringContext, canonical_check, final_outcome, score_case

_QUICK = frozenset(
    {"exact_match", "contains", "classification", "numeric", "json_valid", "json_match"}
    | {"length", "latency", "cost", "manual"}
)
"""Checks that take microseconds: answer and mark are stored together. All others are slow enough
to crash or hang in, so there the answer is stored first."""

_OUTCOMES = {
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
            post(self._refused(ticket, error, began, (time.perf_counter() - clock) * 1000))
            return
        used = _used(answer, reply, model)
        self._warm.add(job.cell.model_key)
        quick = all(canonical_check(check.type) in _QUICK for check in case.checks)
        if not quick:
            post(Answered(ticket, _record(ticket, answer, began), used, marked=False))
        score = self.mark(case, answer, job.cell.model_key)
        if reply.metrics:
            score = replace(score, metrics={**reply.metrics, **score.metrics})
        record = _record(ticket, answer, began, score)
        post(Answered(ticket, record, used, marked=True) if quick else Marked(ticket, record))

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
        reply = self._clients.provider_for(model).complete(request)
        if loading:
            # The first answer may hold the loading of the model, which is not its speed.
            return replace(reply, notes=(*reply.notes, ("first_call", {"allowance_s": loading})))
        return reply

    def _answer(self, reply: Reply, model: ReadyModel, case: Case) -> Answer:
        cost_usd, source = _cost(reply, model)
        answer = Answer(
            text=reply.text,
            outcome=_OUTCOMES[reply.finish],
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
        outcome = final_outcome(answer, case.checks)
        return answer if outcome is answer.outcome else replace(answer, outcome=outcome)

    def _refused(self, ticket: Ticket, error: BaseException, began: datetime, latency_ms: float) -> Refused:
        model = self._models.get(ticket.job.cell.model_key)
        if not isinstance(error, ProviderError):
            secrets = [model.settings.api_key] if model else []
            text = redact(f"{type(error).__name__}: {error}", secrets)
            error = ProviderError(ErrorKind.UNKNOWN, text)
        failure = Failure.of(error)
        told = CallError(error.kind.value, error.message, error.status)
        used = None
        if error.usage is not None and model is not None and not error.usage.estimated:
            charged = cost(model.price, error.usage)
            used = (
                Used(charged, _tokens(error.usage.input, error.usage.output)) if charged is not None else None
            )
        attempt = Attempt(
            number=ticket.job.attempt,
            started_at=began,
            wait_s=_waited_before(ticket),
            latency_ms=latency_ms,
            error=told,
            cost_usd=used.usd if used else (Decimal(0) if failure.not_charged else None),
        )
        return Refused(ticket, failure, told, attempt, used, datetime.now(UTC))


def _waited_before(ticket: Ticket) -> float:
    return max(0.0, ticket.job.waited_s - sum(attempt.wait_s for attempt in ticket.log))


def _tokens(*parts: int | None) -> int | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _cost(reply: Reply, model: ReadyModel) -> tuple[Decimal | None, str]:
    """What the answer cost and who says so. Own code may report its cost, which is trusted."""
    if reply.cost_usd is not None:
        return reply.cost_usd, "reported"
    if model.price is None:
        return None, "unknown"
    if model.price.free:
        return Decimal(0), "free"
    found = cost(model.price, reply.usage)
    if found is None:
        return None, "unknown"
    return found, "estimated" if reply.usage.estimated else "computed"


def _used(answer: Answer, reply: Reply, model: ReadyModel) -> Used:
    """What is settled: a cost that the server's own numbers prove. Otherwise the reservation stays."""
    tokens = None if reply.usage.estimated else _tokens(reply.usage.input, reply.usage.output)
    if answer.cost_source == "estimated":
        return Used(None, tokens)
    if answer.cost_source == "free" and tokens is None:
        tokens = _tokens(reply.usage.input, reply.usage.output)
    return Used(answer.cost_usd, tokens)


def _record(ticket: Ticket, answer: Answer, began: datetime, score: CaseScore | None = None) -> CallDone:
    tally = ticket.tally
    attempt = Attempt(
        number=ticket.job.attempt,
        started_at=began,
        wait_s=_waited_before(ticket),
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
