"""One request to the judge, carried out in a worker. Never raises."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from providers.base import Message, PracticeContext, Request

from engine.config.call_params import without_own
from engine.domain import Cell
from engine.execution.budget import Worst
from engine.execution.call import OUTCOMES
from engine.execution.candidates import ReadyModel
from engine.execution.clients import Clients
from engine.execution.estimate import text_tokens_at_most, thinking_tokens, worst_of_tokens
from engine.execution.jobs import JUDGE_LANE
from engine.execution.kept_replies import judge_print
from engine.execution.messages import JudgeSaid, Ticket, WorkerMessage
from engine.execution.settling import cost_of, refused, used_of
from engine.scoring.judge_schema import reply_schema, sent_texts
from engine.scoring.seams import JudgeReply, JudgeRequest


class JudgeCaller:
    """Asks the judge. Thread-safe: `attempt` is called from many workers at once.

    `right` are the right answers by case, for a practice judge; no other is told.
    """

    def __init__(
        self,
        judge: ReadyModel,
        clients: Clients,
        stop_event: threading.Event,
        right: Mapping[str, Any] | None = None,
    ) -> None:
        self._judge = judge
        self.identity = judge_print(judge)
        self._right = right or {}
        self._clients = clients
        self._stop_event = stop_event
        self._warm = False

    def worst_of(self, request: JudgeRequest) -> Worst:
        """The most one attempt of this request can use."""
        prompt_tokens = text_tokens_at_most(sent_texts(request))
        return worst_of_tokens(prompt_tokens, _longest(request, self._judge), self._judge.price)

    def attempt(self, ticket: Ticket, post: Callable[[WorkerMessage], None]) -> None:
        """Asks once and posts what became of it."""
        began, clock = datetime.now(UTC), time.perf_counter()
        judge = self._judge
        try:
            if not isinstance(ticket.request, JudgeRequest):
                raise TypeError("a job for the judge came without a question")
            request = self._request(ticket.request, ticket.job.cell)
            reply = self._clients.ask(judge, request)
        except BaseException as error:  # own code may raise anything: no mark is ever lost
            post(refused(ticket, error, judge, began, (time.perf_counter() - clock) * 1000))
            return
        self._warm = True
        usd, source = cost_of(reply, judge)
        model = reply.model_reported or judge.entry.model
        said = JudgeReply(reply.text, OUTCOMES[reply.finish], None, model)
        post(JudgeSaid(ticket, said, used_of(usd, source, reply), usd, reply.limits))

    def _request(self, request: JudgeRequest, cell: Cell) -> Request:
        judge = self._judge
        loading = 0.0 if self._warm else judge.first_call_allowance_s
        about = "|".join(request.between) or cell.model_key
        asked = f"{about}|{cell.case_id}|{request.vote}"
        return Request(
            model=judge.entry.model,
            messages=(Message("user", request.prompt),),
            system=request.system or None,
            max_tokens=_longest(request, judge),
            temperature=request.temperature,
            params=_params(judge),
            timeout_s=judge.timeout_s + loading,
            stop_event=self._stop_event,
            practice=PracticeContext(asked, cell.trial, JUDGE_LANE, self._right.get(cell.case_id)),
            answer_schema=reply_schema(request),
        )


def _params(judge: ReadyModel) -> Mapping[str, Any]:
    return without_own(judge.entry.params)


def _longest(request: JudgeRequest, judge: ReadyModel) -> int:
    """The longest reply: what the project allows, and thinking on top of it."""
    return request.max_tokens + thinking_tokens(judge.entry.params)
