"""One question about two answers on its way to a verdict: asked, and once more where it cannot be read."""

from __future__ import annotations

from decimal import Decimal

from engine.execution.marking import Recorded
from engine.execution.pair_groups import Asked
from engine.scoring.base import CheckFault
from engine.scoring.judge import ask_until_read
from engine.scoring.judge_reply import parse_winner
from engine.scoring.pairs import NOT_ASKED, Verdict
from engine.scoring.seams import JudgeReply, JudgeRequest, MarkReply, MarkRequest


class PairQuestion:
    """Leads a question to its verdict in the steps of a `Marking`. Used by one thread at a time."""

    def __init__(self, asked: Asked) -> None:
        self.asked = asked
        self.verdict: Verdict | None = None
        self.wanted: tuple[MarkRequest, ...] = (asked.request,)
        self._replies: dict[JudgeRequest, JudgeReply] = {}
        self._cost: Decimal | None = Decimal(0)

    @property
    def is_worth_keeping(self) -> bool:
        """Whether the judge was heard: a question it could not be asked is asked again another day."""
        return self.verdict is not None and self.verdict.code != NOT_ASKED

    def take(self, request: MarkRequest, reply: MarkReply, cost_usd: Decimal | None) -> None:
        """The judge's reply, and what it cost; None = not known."""
        if not isinstance(request, JudgeRequest) or not isinstance(reply, JudgeReply):
            raise TypeError(f"a pair is no matter of {request}")
        self._replies[request] = reply
        self._cost = None if self._cost is None or cost_usd is None else self._cost + cost_usd

    def advance(self) -> bool:
        """Goes on with the replies that are there. True: `verdict` is known; else ask `wanted`."""
        judge = Recorded(self._replies)
        try:
            (winner, reason), reply = ask_until_read(judge, self.asked.request, parse_winner)
        except CheckFault as fault:
            self.wanted = tuple(judge.missing)
            if not judge.missing:
                self.verdict = self._verdict("", fault.reason, fault.code, "")
        else:
            self.wanted = ()
            self.verdict = self._verdict(winner, reason, "", reply.model)
        return self.verdict is not None

    def _verdict(self, winner: str, reason: str, code: str, model: str) -> Verdict:
        return Verdict(winner, reason, code, model, len(self._replies), self._cost)
