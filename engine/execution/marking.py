"""The mark of one answer where a judge has a say: what is to be asked, and the mark once it is known.

The checks are run again and again over the replies that are there, until nothing is left to
ask. So every request can wait in a queue of its own, and no thread ever waits for a judge.
"""

from __future__ import annotations

import hashlib
import itertools
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal

from engine.domain import Answer, CallError, CaseScore, CheckResult, Outcome, ScoreState
from engine.execution.kept_replies import KeptReplies, print_of_mark
from engine.scoring.base import CheckFault, ScoringContext
from engine.scoring.pairs import Meeting, Met, PairTerms
from engine.scoring.registry import canonical_check
from engine.scoring.remark import Side, remark, with_terms
from engine.scoring.score import combine, run_check
from engine.scoring.seams import EmbedAsk, EmbedSaid, JudgeReply, JudgeRequest, MarkReply, MarkRequest

JUDGE_CHECKS = frozenset({"llm_judge", "pairwise_judge"})
_MOST_ROUNDS = 24
_NOT_YET = JudgeReply(outcome=Outcome.BLOCKED, error=CallError("blocked", "not asked yet"))
"""Stands for a reply that is not there: one that no check asks again, so that all votes are asked
for at once. What comes of it is thrown away."""
_NO_VECTOR_YET = EmbedSaid(error=CallError("blocked", "not asked yet"))


class Vectors:
    """The vectors that one marking has, by model and text, and why there are none of others."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], Sequence[float] | CallError] = {}

    def take(self, ask: EmbedAsk, said: EmbedSaid) -> None:
        """What came of a request."""
        for place, text in enumerate(ask.texts):
            missing = CallError("unreadable", "The connection gave fewer embeddings than asked for.")
            vector = said.vectors[place] if place < len(said.vectors) else missing
            self._found[ask.model, text] = vector if said.error is None else said.error

    def answer(self, ask: EmbedAsk) -> EmbedSaid | EmbedAsk:
        """The vectors of these texts, the reason why there are none, or what is still to be asked."""
        found = [self._found.get((ask.model, text)) for text in ask.texts]
        open_texts = tuple(text for text, one in zip(ask.texts, found, strict=True) if one is None)
        if open_texts:
            return EmbedAsk(ask.model, open_texts)
        error = next((one for one in found if isinstance(one, CallError)), None)
        if error is not None:
            return EmbedSaid(error=error)
        return EmbedSaid(tuple(one for one in found if one is not None and not isinstance(one, CallError)))


Before = Callable[[JudgeRequest], JudgeReply | None]


class Recorded:
    """A judge that knows the replies so far and writes down what else is asked."""

    def __init__(
        self,
        replies: dict[JudgeRequest, JudgeReply],
        met: Met | None = None,
        vectors: Vectors | None = None,
        before: Before | None = None,
        seed: str = "",
    ) -> None:
        self._replies = replies
        self._before = before
        self.seed = seed
        self._met = met or {}
        self._vectors = vectors or Vectors()
        self.missing: list[MarkRequest] = []
        self.awaits: list[PairTerms] = []

    def meet(self, terms: PairTerms) -> Sequence[Meeting]:
        """How the answer did against other models' answers, once they are there."""
        found = self._met.get(terms.place)
        if found is None:
            self.awaits.append(terms)
            raise CheckFault("pairs_open", "The answers to compare with are not all there yet.")
        return found

    def embed(self, ask: EmbedAsk) -> EmbedSaid:
        """The vectors of texts, as far as they are there."""
        said = self._vectors.answer(ask)
        if isinstance(said, EmbedAsk):
            self.missing.append(said)
            return _NO_VECTOR_YET
        return said

    @property
    def open(self) -> int:
        """How much is not there yet."""
        return len(self.missing) + len(self.awaits)

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        reply = self._replies.get(request)
        if reply is None and self._before is not None:
            reply = self._before(request)
        if reply is None:
            self.missing.append(request)
            return _NOT_YET
        return reply


Produce = Callable[[Recorded], CaseScore]


class Marking:
    """One answer on its way to its mark. Used by one thread at a time.

    `metrics` are measures that came with the answer. `awaits` are comparisons with other models'
    answers that the mark waits for; `met` is how they went. `about` tells which mark is made, and
    `seed` makes the codes of its questions.
    """

    def __init__(self, produce: Produce, about: str = "") -> None:
        self._produce = produce
        self.about, self.seed = about, secrets.token_hex(16)
        self._kept: KeptReplies | None = None
        self._replies: dict[JudgeRequest, JudgeReply] = {}
        self._rounds = 0
        self._cost: Decimal | None = Decimal(0)
        self.metrics: Mapping[str, float] = {}
        self._vectors = Vectors()
        self.wanted: tuple[MarkRequest, ...] = ()
        self.awaits: tuple[PairTerms, ...] = ()
        self.met: Met = {}
        self.score: CaseScore | None = None

    def advance(self) -> bool:
        """Goes on with the replies that are there. True: `score` is the mark; else ask `wanted`, and
        come back when what it `awaits` is over."""
        self._rounds += 1
        judge = Recorded(self._replies, self.met, self._vectors, self._said_before, self.seed)
        try:
            score = self._produce(judge)
        except BaseException as error:  # a mistake here must not cost the answer that is paid for
            score = CaseScore(ScoreState.ERRORED, reason=f"Scoring failed: {type(error).__name__}: {error}")
            judge.missing, judge.awaits = [], []
        if judge.missing and self._rounds >= _MOST_ROUNDS:
            reason = f"The check asked the judge in {_MOST_ROUNDS} rounds and came to no end."
            score, judge.missing, judge.awaits = CaseScore(ScoreState.ERRORED, reason=reason), [], []
        self.wanted = tuple(dict.fromkeys(judge.missing))
        self.awaits = tuple({terms.place: terms for terms in judge.awaits}.values())
        self.score = None if judge.open else self._with_facts(score)
        return self.score is not None

    def remember(self, kept: KeptReplies | None) -> None:
        """Before the first `advance`: what an earlier session heard of the judge for this mark."""
        if kept is not None:
            self._kept, self.seed = kept, kept.seed

    def _said_before(self, request: JudgeRequest) -> JudgeReply | None:
        found = None if self._kept is None else self._kept.find(request)
        if found is None:
            return None
        self.take(request, *found)
        return found[0]

    def take(self, request: MarkRequest, reply: MarkReply, cost_usd: Decimal | None) -> None:
        """The reply to a request, and what it cost; None = not known."""
        if isinstance(request, EmbedAsk) and isinstance(reply, EmbedSaid):
            self._vectors.take(request, reply)  # shared by several answers, so none of them has a cost
            return
        if not isinstance(request, JudgeRequest) or not isinstance(reply, JudgeReply):
            raise TypeError(f"{reply} is no answer to {request}")
        self._replies[request] = reply
        known = self._cost is not None and cost_usd is not None
        self._cost = self._cost + cost_usd if known else None  # type: ignore[operator]

    @property
    def asked(self) -> int:
        """Requests that were answered or failed."""
        return len(self._replies)

    def _with_facts(self, score: CaseScore) -> CaseScore:
        """Says on the first judge's check who marked, with how many calls, and what they cost."""
        if self.metrics:
            score = replace(score, metrics={**self.metrics, **score.metrics})
        if not self._replies:
            return score
        models = {reply.model for reply in self._replies.values() if reply.model}
        facts = {
            "judge_model": ", ".join(sorted(models)),
            "judge_calls": self.asked,
            "judge_cost_usd": None if self._cost is None else str(self._cost),
        }
        checks = list(score.checks)
        for place, result in enumerate(checks):
            if result.type in JUDGE_CHECKS and "pairs" not in result.detail:
                checks[place] = replace(result, detail={**result.detail, **facts})
                break
        return replace(score, checks=tuple(checks))


def first_marking(
    side: Side, answer: Answer, context: ScoringContext, *, by_itself: bool = False, asks: bool = True
) -> Marking:
    """The marking of a new answer. `by_itself`: the judge is the model that answered, so its
    checks stay without a mark. `asks` False: there is no judge but that of the context."""
    return Marking(_Checks(side, answer, context, by_itself=by_itself, asks=asks))


def new_marking(
    answer: Answer, mark: CaseScore | None, sides: tuple[Side, Side], context: ScoringContext, *, asks: bool
) -> Marking:
    """The marking of an answer that has a mark already. `sides`: its case as it was, and as it is.

    `asks` False: no judge marks this answer, so a judge's old marks stay.
    """

    def produce(judge: Recorded) -> CaseScore:
        offered, meet = (judge, judge.meet) if asks else (None, None)
        using = replace(context, judge=offered, meet=meet, embed=judge.embed, fence=fences(judge.seed, 0))
        return remark(answer, mark, *sides, using).score

    return Marking(produce, print_of_mark(mark))


class _Checks:
    """The checks of a case; each is run until it has all its replies, and not again."""

    def __init__(
        self, side: Side, answer: Answer, context: ScoringContext, *, by_itself: bool, asks: bool
    ) -> None:
        self._side, self._case = side, side.case
        self._answer, self._context = answer, context
        self._by_itself, self._asks = by_itself, asks
        self._done: dict[int, CheckResult] = {}

    def __call__(self, judge: Recorded) -> CaseScore:
        if self._answer.outcome in (Outcome.BLOCKED, Outcome.FAILED, Outcome.STOPPED):
            return CaseScore(ScoreState.UNSCORED, reason="There is no answer to mark.")
        return combine([self._result(place, judge) for place in range(len(self._case.checks))])

    def _result(self, place: int, judge: Recorded) -> CheckResult:
        if place in self._done:
            return self._done[place]
        spec, before = self._case.checks[place], judge.open
        offered, meet = (judge, judge.meet) if self._asks else (self._context.judge, self._context.meet)
        context = replace(
            self._context,
            judge=None if self._by_itself else offered,
            meet=meet,
            embed=judge.embed,
            fence=fences(judge.seed, place),
        )
        result = run_check(spec, self._answer, self._case, context)
        if self._by_itself and canonical_check(spec.type) in JUDGE_CHECKS:
            result = _left_to_others(result)
        if judge.open == before:
            self._done[place] = result = with_terms(result, spec, self._side)
        return result


def fences(seed: str, place: int) -> Callable[[], str]:
    """Codes that nobody can foresee and that are the same again in the next round."""
    numbers = itertools.count()
    return lambda: hashlib.sha256(f"{seed}/{place}/{next(numbers)}".encode()).hexdigest()[:16]


def _left_to_others(result: CheckResult) -> CheckResult:
    if result.reason_code != "no_judge":
        return result  # a refused or empty answer needs no judge
    return replace(
        result,
        state=ScoreState.UNSCORED,
        reason="The second AI is this model itself, and it does not mark its own answers.",
        reason_code="judge_is_candidate",
    )
