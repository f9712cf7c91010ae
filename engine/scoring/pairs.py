"""Answers of several models held against each other by a judge: questions, verdicts, what they are worth.

Two answers meet in both orders, as often as there are votes. Verdicts are kept one by one, so that
none is paid for twice. Pure: who asks, and when, is not decided here.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from typing import Any

from engine.config.canonical import digest
from engine.config.schema import Judge
from engine.domain import Answer, Case, Outcome
from engine.scoring.answer_text import is_blank, visible_answer
from engine.scoring.base import CheckFault, Finding, has_reference
from engine.scoring.judge_prompt import new_fence, pair_prompt, pair_system, read_rubric, task_text
from engine.scoring.seams import JudgeRequest

REFERENCE, MODELS = "reference", "models"
"""Values of `against`; any other is the key of a model."""

WIN, TIE, LOSS = "win", "tie", "loss"
WORTH = {WIN: 1.0, TIE: 0.5, LOSS: 0.0}
JUDGED, SAME, NO_ANSWER, ABSENT = "judged", "same", "no_answer", "absent"
"""How a pair was decided; `absent`: the rival has no answer because its call failed or was never made."""

PASS_MARK = 0.5
NOT_ASKED = "judge_failed"
"""Code of a question that the judge could not be asked: carrying on asks it again."""

_REASON_LIMIT = 500
_SHORT_PRINT = 16


@dataclass(frozen=True, slots=True)
class PairTerms:
    """How a check compares. `key` is a digest of all that decides a verdict on given answers."""

    key: str
    against: str
    votes: int
    keep_reasoning: bool
    judge: Judge = field(compare=False)

    @property
    def place(self) -> tuple[str, str]:
        """Tells the pairs of one check from those of another."""
        return self.key, self.against


@dataclass(frozen=True, slots=True)
class Question:
    """Which of two models' answers is better, `first` shown first. `vote` counts from 1."""

    terms: str
    first: str
    second: str
    vote: int


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the judge said: A, B or tie; "" where it gave no verdict, and `code` says why.

    `cost_usd` None = not known; `calls` are requests, the one retry included.
    """

    winner: str = ""
    reason: str = ""
    code: str = ""
    model: str = ""
    calls: int = 1
    cost_usd: Decimal | None = Decimal(0)


@dataclass(frozen=True, slots=True)
class Meeting:
    """An answer beside a rival's. `result` is that of the answer; None = not decided.

    `how` is judged, same, no_answer or absent, or the code of why the judge gave no verdict.
    `votes` are the verdicts with the answer shown first and with it shown second.
    """

    rival: str
    result: str | None
    how: str
    votes: tuple[tuple[Verdict, Verdict], ...] = ()

    @property
    def flips(self) -> int:
        """Votes in which the order decided, or in which one order gave a winner and the other none."""
        return sum(_own(first, "A") != _own(second, "B") for first, second in self.votes)


Meet = Callable[[PairTerms], Sequence[Meeting]]
Met = Mapping[tuple[str, str], Sequence[Meeting]]
"""How an answer did, by the check that wants to know: see `PairTerms.place`."""


def against_what(options: Mapping[str, Any], reference: Any) -> str:
    """What a check compares with: what it says, else the right answer where there is one."""
    named = options.get("against")
    if named is not None and str(named).strip():
        return str(named).strip()
    return REFERENCE if has_reference(reference) else MODELS


def pair_terms(options: Mapping[str, Any], against: str, judge: Judge) -> PairTerms:
    """The terms of a check that compares models."""
    rubric = options.get("rubric")
    used = judge if rubric is None else replace(judge, rubric=rubric)
    votes, keeps = int(options.get("votes") or 1), bool(options.get("keep_reasoning"))
    decides = asdict(used)
    for name in ("prompt", "scale", "votes", "mark_itself", "api_key_env", "api_base"):
        decides.pop(name, None)  # marks and ways to reach the judge: they decide no comparison
    return PairTerms(digest([decides, keeps]), against, votes, keeps, used)


def rivals(terms: PairTerms, own: str, models: Sequence[str]) -> list[str]:
    """Whom a model meets. The one that all are held against meets everybody."""
    others = [key for key in models if key != own]
    if terms.against in (MODELS, own):
        return others
    return [key for key in others if key == terms.against]


def questions(terms: PairTerms, pair: tuple[str, str]) -> Iterator[Question]:
    """All questions about a pair: every vote in both orders. The order of the pair does not matter."""
    one, two = sorted(pair)
    for vote in range(1, terms.votes + 1):
        yield Question(terms.key, one, two, vote)
        yield Question(terms.key, two, one, vote)


def compared_text(answer: Answer, keep_reasoning: bool) -> str:
    """The text that is compared; "" for an answer that says nothing or refuses."""
    text = visible_answer(answer.text, keep_reasoning)
    return "" if answer.outcome is Outcome.REFUSED or is_blank(text) else text


def print_of(text: str) -> str:
    """A short digest by which a stored verdict is known to be about these very words."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:_SHORT_PRINT]


def without_asking(own: str, rival: str, key: str) -> Meeting | None:
    """Pairs that need no judge: the same words tie, no answer loses. None = it must be asked."""
    if not rival:
        return Meeting(key, WIN if own else None, NO_ANSWER)
    if not own:
        return Meeting(key, LOSS, NO_ANSWER)
    if own.strip() == rival.strip():
        return Meeting(key, TIE, SAME)
    return None


def pair_request(
    case: Case, texts: tuple[str, str], question: Question, terms: PairTerms, fence: Callable[[], str] | None
) -> JudgeRequest:
    """The question as the judge gets it: two texts, no name. `texts` are in the question's order."""
    judge = terms.judge
    first, second = texts
    code = new_fence(fence, (first, second, task_text(case)))
    return JudgeRequest(
        pair_prompt(case, first, second, read_rubric(judge.rubric), code),
        pair_system(code, judge.system),
        judge.max_tokens,
        judge.temperature or 0.0,
        2 * question.vote - int(question.first < question.second),
        purpose="pair",
        between=(question.first, question.second),
    )


def meeting(own: str, rival: str, terms: PairTerms, verdicts: Mapping[Question, Verdict]) -> Meeting:
    """What the verdicts on a pair say from one side. A vote that flips with the order is a tie.

    Several votes: the side with more of them wins. A vote that lacks one of its orders says nothing;
    where more than half of the votes say nothing, the pair is not decided.
    """
    votes, faults, balance = [], [], 0
    for vote in range(1, terms.votes + 1):
        first = verdicts[Question(terms.key, own, rival, vote)]
        second = verdicts[Question(terms.key, rival, own, vote)]
        if first.code or second.code:
            faults.append(first.code or second.code)
            continue
        votes.append((first, second))
        one, two = _own(first, "A"), _own(second, "B")
        balance += one if one == two else 0
    if 2 * len(votes) <= terms.votes:
        return Meeting(rival, None, NOT_ASKED if NOT_ASKED in faults else faults[0])
    result = WIN if balance > 0 else LOSS if balance < 0 else TIE
    return Meeting(rival, result, JUDGED, tuple(votes))


def _own(verdict: Verdict, name: str) -> int:
    """1 where the answer shown as `name` won, -1 where it lost, 0 for a tie."""
    return 0 if verdict.winner == "tie" else 1 if verdict.winner == name else -1


def standing(met: Sequence[Meeting]) -> Finding:
    """The mark of an answer: the mean of its decided pairs, a win 1, a tie one half, a loss 0.

    It passes from one half on: where it does at least as well as the others.

    Raises:
        CheckFault: No pair is decided.
    """
    decided = [one for one in met if one.result is not None]
    if not decided:
        raise _nothing_decided(met)
    results = [str(one.result) for one in decided]
    score = math.fsum(WORTH[result] for result in results) / len(results)
    code = "pairs_won" if score > PASS_MARK else "pairs_lost" if score < PASS_MARK else "pairs_level"
    votes = sum(len(one.votes) for one in decided)
    flips = sum(one.flips for one in decided)
    return Finding(
        score,
        score >= PASS_MARK,
        _fact(results, decided[0]),
        code,
        _detail(met, decided),
        {"judge_flips": flips / votes} if votes else {},
        _left_out_note(len(met) - len(decided)),
    )


def _nothing_decided(met: Sequence[Meeting]) -> CheckFault:
    hows = [one.how for one in met]
    if NOT_ASKED in hows:
        return CheckFault(NOT_ASKED, "The judge could not be asked which answer is better.")
    faults = [how for how in hows if how not in (ABSENT, NO_ANSWER)]
    if faults:
        return CheckFault(faults[0], "The judge gave no verdict that can be read on any pair of answers.")
    return CheckFault(
        "no_pair", "No other model has an answer to this test, so there was nothing to compare with."
    )


def _fact(results: Sequence[str], first: Meeting) -> str:
    if len(results) > 1:
        won, lost = results.count(WIN), results.count(LOSS)
        level = len(results) - won - lost
        return (
            f"Of {len(results)} comparisons with other models the answer won {won}, lost {lost}, tied {level}"
        )
    if first.how == NO_ANSWER:
        return "The other model gave no answer, so this one is better"
    if first.how == SAME:
        return "The other model said the same"
    if first.flips:
        return "The judge changed its mind when the two answers changed places, so nobody won"
    words = {WIN: "better than", TIE: "as good as", LOSS: "worse than"}[results[0]]
    return f"The judge found the answer {words} the other model's"


def _left_out_note(count: int) -> str:
    if not count:
        return ""
    return "One comparison could not be made." if count == 1 else f"{count} comparisons could not be made."


def _detail(met: Sequence[Meeting], decided: Sequence[Meeting]) -> dict[str, Any]:
    said = [verdict for one in decided for vote in one.votes for verdict in vote]
    costs = [verdict.cost_usd for verdict in said]
    known = [cost for cost in costs if cost is not None]
    detail: dict[str, Any] = {
        "pairs": [_pair_detail(one) for one in decided],
        "left_out": [{"rival": one.rival, "why": one.how} for one in met if one.result is None],
        "flipped": sum(one.flips for one in decided),
        "votes": sum(len(one.votes) for one in decided),
        "judge_calls": sum(verdict.calls for verdict in said),
        "judge_cost_usd": str(sum(known, Decimal(0))) if len(known) == len(costs) else None,
    }
    if models := sorted({verdict.model for verdict in said if verdict.model}):
        detail["judge_model"] = ", ".join(models)
    if any(one.how == NOT_ASKED for one in met):
        detail["not_asked"] = True
    return detail


def _pair_detail(one: Meeting) -> dict[str, Any]:
    told: dict[str, Any] = {"rival": one.rival, "result": one.result, "how": one.how}
    if one.votes:
        told["flips"] = one.flips
        told["votes"] = [
            {"first": a.winner, "second": b.winner, "reasons": [a.reason, b.reason]} for a, b in one.votes
        ]
    return told


def verdict_json(question: Question, verdict: Verdict, prints: tuple[str, str]) -> dict[str, Any]:
    """A verdict as it is stored. `prints` are those of the two texts, in the question's order."""
    return {
        "terms": question.terms,
        "first": question.first,
        "second": question.second,
        "vote": question.vote,
        "prints": list(prints),
        "winner": verdict.winner,
        "reason": verdict.reason[:_REASON_LIMIT],
        "code": verdict.code,
        "model": verdict.model,
        "calls": verdict.calls,
        "cost_usd": None if verdict.cost_usd is None else str(verdict.cost_usd),
    }


def verdict_from_json(data: Mapping[str, Any]) -> tuple[Question, Verdict, tuple[str, str]] | None:
    """A stored verdict; None where the values are not those of one."""
    try:
        question = Question(str(data["terms"]), str(data["first"]), str(data["second"]), int(data["vote"]))
        first, second = data["prints"]
        cost = data["cost_usd"]
        verdict = Verdict(
            str(data["winner"]), str(data["reason"]), str(data["code"]), str(data["model"]),
            int(data["calls"]), None if cost is None else Decimal(str(cost)),
        )  # fmt: skip
    except (KeyError, TypeError, ValueError, ArithmeticError):
        return None
    if verdict.winner not in ("A", "B", "tie") and not verdict.code:
        return None
    return question, verdict, (str(first), str(second))
