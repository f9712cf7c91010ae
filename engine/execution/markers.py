"""Who answers what a check asks on its way to a mark: the judge its questions, models their texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from engine.domain import CallError
from engine.execution.budget import Worst
from engine.execution.embed_call import EmbedCaller
from engine.execution.jobs import JUDGE_LANE
from engine.execution.judge_call import JudgeCaller
from engine.execution.messages import Ticket, WorkerMessage
from engine.scoring.seams import EmbedAsk, MarkRequest


@dataclass(frozen=True, slots=True)
class Markers:
    """Leads each request to who can answer it. Thread-safe."""

    judge: JudgeCaller | None
    embedders: EmbedCaller

    @property
    def judged_by(self) -> str:
        """Tells the judge from others; "" where there is none."""
        return "" if self.judge is None else self.judge.identity

    @property
    def lanes(self) -> tuple[str, ...]:
        """All lanes, and so payers, that mark."""
        return ((JUDGE_LANE,) if self.judge is not None else ()) + self.embedders.lanes

    def lane_of(self, request: MarkRequest) -> str:
        """The lane that a request waits in."""
        return self.embedders.lane_of(request) if isinstance(request, EmbedAsk) else JUDGE_LANE

    def cannot(self, request: MarkRequest) -> CallError | None:
        """Why a request cannot be sent at all; None where it can."""
        if isinstance(request, EmbedAsk):
            return self.embedders.cannot(request)
        return None if self.judge is not None else CallError("no_judge", "There is no judge to ask.")

    def worst_of(self, request: MarkRequest) -> Worst:
        """The most one attempt of this request can use."""
        if isinstance(request, EmbedAsk):
            return self.embedders.worst_of(request)
        if self.judge is None:
            raise RuntimeError("there is no judge to ask")
        return self.judge.worst_of(request)

    def attempt(self, ticket: Ticket, post: Callable[[WorkerMessage], None]) -> None:
        """Asks once and posts what became of it. Never raises."""
        if isinstance(ticket.request, EmbedAsk):
            self.embedders.attempt(ticket, ticket.request, post)
        elif self.judge is not None:
            self.judge.attempt(ticket, post)
