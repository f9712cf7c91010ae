"""Comparisons made by a second model: two answers against each other, in both orders always."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.config.schema import Config, Judge
from engine.domain import Case, Problem, Severity
from engine.scoring.base import CheckInput, CheckType, Finding, as_texts
from engine.scoring.judge import RUBRIC, ask_until_read, judge_faults, the_judge
from engine.scoring.judge_prompt import new_fence, pair_prompt, pair_system, read_rubric, task_text
from engine.scoring.judge_reply import parse_winner
from engine.scoring.seams import JudgeReply, JudgeRequest


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """Which of two answers won: left, right or tie. `flipped`: the order decided, so nobody won."""

    winner: str
    flipped: bool
    reasons: tuple[str, str]


def compare_answers(
    case: Case,
    pair: tuple[str, str],
    ask: Callable[[JudgeRequest], JudgeReply],
    *,
    judge: Judge | None = None,
    fence: Callable[[], str] | None = None,
) -> PairVerdict:
    """Asks which of two answers, left and right, is better; in both orders always.

    Raises:
        CheckFault: One of the two replies cannot be read or had.
    """
    settings = judge or Judge()
    looked_at = read_rubric(settings.rubric)
    left, right = pair
    code = new_fence(fence, (left, right, task_text(case)))

    def request(first: str, second: str, vote: int) -> JudgeRequest:
        return JudgeRequest(
            pair_prompt(case, first, second, looked_at, code),
            pair_system(code, settings.system),
            settings.max_tokens,
            settings.temperature or 0.0,
            vote,
            purpose="pair",
        )

    first, _ = ask_until_read(ask, request(left, right, 1), parse_winner)
    second, _ = ask_until_read(ask, request(right, left, 2), parse_winner)
    return pair_verdict(first, second)


def pair_verdict(first: tuple[str, str], second: tuple[str, str]) -> PairVerdict:
    """Two verdicts as one: `first` with the left answer as A, `second` with it as B.

    They agree, or it is a tie; it counts as flipped unless both said tie.
    """
    one = {"A": "left", "B": "right"}.get(first[0], "tie")
    two = {"A": "right", "B": "left"}.get(second[0], "tie")
    return PairVerdict(one if one == two else "tie", one != two, (first[1], second[1]))


def _pairwise_judge(given: CheckInput) -> Finding:
    """Better than the right answer 1, as good one half, worse 0."""
    judge = given.context.judge_settings
    if given.options["rubric"] is not None:
        judge = replace(judge, rubric=given.options["rubric"])
    pair = (given.text, as_texts(given.reference)[0])
    verdict = compare_answers(given.case, pair, the_judge(given), judge=judge, fence=given.context.fence)
    score = {"left": 1.0, "tie": 0.5, "right": 0.0}[verdict.winner]
    facts = {
        "left": "The judge found the answer better than the right answer",
        "tie": "The judge found the two answers equal",
        "right": "The judge found the answer worse than the right answer",
    }
    fact = facts[verdict.winner]
    if verdict.flipped:
        fact = "The judge changed its mind when the two answers changed places, so nobody won"
    detail = {"winner": verdict.winner, "flipped": verdict.flipped, "reasons": list(verdict.reasons)}
    code = "pair_flipped" if verdict.flipped else f"pair_{verdict.winner}"
    return Finding(score, score >= 0.5, fact, code, detail, {"judge_flips": float(verdict.flipped)})


def self_judging(config: Config) -> list[Problem]:
    """A warning for each model that takes part and is the judge as well."""
    if config.judge.model is None:
        return []
    return [
        Problem(
            Severity.WARNING,
            f"The judge also takes part as `{entry.key or entry.model}`. Judges favour their own answers.",
            "Choose a judge that does not take part, or add a second one.",
            path="judge.model",
            code="judge_takes_part",
        )
        for entry in config.models
        if entry.enabled and entry.model == config.judge.model
    ]


PAIRWISE_JUDGE = CheckType(
    name="pairwise_judge",
    title="A second AI compares with the right answer",
    rule="A second AI says which is better, in both orders. When the order decides, it is a tie.",
    run=_pairwise_judge,
    validate=lambda setup: judge_faults(replace(setup, options={"rubric": setup.options["rubric"]})),
    opposite="it must not be so",
    paid=True,
    options=(RUBRIC,),
)
