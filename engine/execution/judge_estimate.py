"""What marking by a judge will cost: found out by putting the questions together, without asking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from engine.config.schema import Config, ModelEntry
from engine.domain import Answer, Case, Outcome
from engine.execution.candidates import ReadyModel
from engine.execution.estimate import (
    CHARS_PER_TOKEN,
    FREE,
    CostRange,
    answer_lengths,
    text_tokens_at_most,
    thinking_tokens,
)
from engine.execution.judge_rules import unmarked_entries
from engine.execution.marking import JUDGE_CHECKS
from engine.price import Price, estimate_cost
from engine.prompts import build_prompt
from engine.scoring.base import ScoringContext
from engine.scoring.judge_schema import sent_texts
from engine.scoring.pairs import Meeting, PairTerms, Question, pair_request, questions, rivals
from engine.scoring.registry import canonical_check
from engine.scoring.score import run_check
from engine.scoring.seams import JudgeReply, JudgeRequest

_PLACE = "\ue000the answer\ue000"
"""Stands for the answer in a question, so that its places can be counted."""
_SHORT_VERDICT = 20
_LIKELY_VERDICT = 80
_ASKED_AT_MOST = 2
"""Each question may be asked once more where its reply cannot be read."""


@dataclass(frozen=True, slots=True)
class _Question:
    """One question to the judge without the answer in it. `bound` is the most tokens it can have."""

    usual: int
    bound: int
    places: int
    longest: int


def judge_range(
    config: Config, cases: Sequence[Case], entries: Sequence[ModelEntry], judge: ReadyModel
) -> tuple[CostRange, int]:
    """The cost of marking every answer of a run, and how many questions that takes.

    Votes and both orders of a comparison count, and in the highest figure the one retry. Two
    models meet once, whoever asks for it. What own code asks the judge cannot be known before.
    """
    total, calls = FREE, 0
    unmarked = unmarked_entries(config)
    marked = [entry for entry in entries if entry.key not in unmarked]
    for case in cases:
        single, terms = _questions(case, config, judge)
        met = _meetings(terms, [entry.key for entry in marked])
        calls += len(single) * len(marked) + len(met)
        if (single or met) and judge.price is None:
            total = CostRange()
        if judge.price is None or judge.price.free:
            continue
        lengths = {
            entry.key: answer_lengths(build_prompt(case, entry, config), case, config.budgets)
            for entry in (marked if single or met else ())
        }
        for question in single:
            for found in lengths.values():
                total += _range(question, found, judge.price)
        for asked, how in met.items():
            both = zip(lengths[asked.first], lengths[asked.second], strict=True)
            shortest, likely, limit = (one + two for one, two in both)
            total += _range(_pair_question(case, how, judge), (shortest, likely, limit), judge.price)
    return total.times(config.run.trials), calls * config.run.trials


def _range(question: _Question, lengths: tuple[int, int, int], price: Price) -> CostRange:
    shortest, likely, limit = lengths
    low = estimate_cost(
        price, question.usual + question.places * shortest, min(_SHORT_VERDICT, question.longest)
    )
    middle = estimate_cost(
        price, question.usual + question.places * likely, min(_LIKELY_VERDICT, question.longest)
    )
    high = estimate_cost(price, question.bound + question.places * limit, question.longest)
    return CostRange(low, middle, None if high is None else high * _ASKED_AT_MOST)


def _meetings(terms: Sequence[PairTerms], keys: Sequence[str]) -> dict[Question, PairTerms]:
    """All questions about pairs of these models, each once."""
    return {
        question: how
        for how in terms
        for own in keys
        for rival in rivals(how, own, keys)
        for question in questions(how, (own, rival))
    }


def _pair_question(case: Case, terms: PairTerms, judge: ReadyModel) -> _Question:
    """A comparison without its two answers, which together take one place."""
    asked = Question(terms.key, "", "", 1)
    request = pair_request(case, (_PLACE, _PLACE), asked, terms, lambda: "0" * 16)
    return replace(_question(request, judge), places=1)


def _questions(case: Case, config: Config, judge: ReadyModel) -> tuple[list[_Question], list[PairTerms]]:
    """What the judge is asked about one answer to a case, and how answers to it are compared."""
    asked: list[JudgeRequest] = []
    terms: list[PairTerms] = []

    def note(request: JudgeRequest) -> JudgeReply:
        asked.append(request)
        return JudgeReply('{"winner": "tie"}' if request.purpose == "pair" else '{"pass": true}')

    def meet(how: PairTerms) -> Sequence[Meeting]:
        terms.append(how)
        return ()

    context = ScoringContext(
        options=config.scorers.options,
        judge=note,
        judge_settings=config.judge,
        fence=lambda: "0" * 16,
        meet=meet,
    )
    for check in case.checks:
        if canonical_check(check.type) in JUDGE_CHECKS:
            run_check(check, Answer(_PLACE, Outcome.COMPLETE), case, context)
    return [_question(request, judge) for request in asked], terms


def _question(request: JudgeRequest, judge: ReadyModel) -> _Question:
    texts = [text.replace(_PLACE, "") for text in sent_texts(request)]
    return _Question(
        usual=max(1, sum(map(len, texts)) // CHARS_PER_TOKEN),
        bound=text_tokens_at_most(texts),
        places=request.prompt.count(_PLACE),
        longest=request.max_tokens + thinking_tokens(judge.entry.params),
    )


def asked_range(request: JudgeRequest, judge: ReadyModel) -> CostRange:
    """The cost of one question whose texts are all known."""
    if judge.price is None:
        return CostRange()
    return FREE if judge.price.free else _range(_question(request, judge), (0, 0, 0), judge.price)


def embedding_range(texts: Sequence[str], price: Price | None) -> CostRange:
    """The cost of the vectors of texts that are known; what comes back is numbers and costs nothing."""
    if price is None:
        return CostRange()
    if price.free:
        return FREE
    usual = max(1, sum(map(len, texts)) // CHARS_PER_TOKEN)
    return CostRange(
        estimate_cost(price, usual, 0),
        estimate_cost(price, usual, 0),
        estimate_cost(price, text_tokens_at_most(texts), 0),
    )
