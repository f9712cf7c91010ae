"""Comparisons made by a second model: two answers against each other, in both orders always.

An answer meets the right answer here; how models meet each other is in `pairs`.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from dataclasses import dataclass, replace

from engine.config.schema import MOST_VOTES, Config, Judge
from engine.domain import Case, CheckSpec, Problem, Severity
from engine.scoring.base import CheckFault, CheckInput, CheckType, Fault, Finding, Option, as_texts
from engine.scoring.judge import RUBRIC, ask_until_read, judge_faults, the_judge
from engine.scoring.judge_prompt import new_fence, pair_prompt, pair_system, read_rubric, task_text
from engine.scoring.judge_reply import parse_winner
from engine.scoring.pairs import MODELS, REFERENCE, against_what, pair_terms, standing
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
    """Against the right answer: better 1, as good one half, worse 0. Against models: `standing`."""
    against = against_what(given.options, given.reference)
    if against != REFERENCE:
        the_judge(given)
        if given.context.meet is None:
            raise CheckFault("no_rivals", "The other models' answers are not at hand to compare with.")
        return standing(given.context.meet(pair_terms(given.options, against, given.context.judge_settings)))
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


def compares_models(case: Case, config: Config) -> bool:
    """Whether a check of the case compares the answers of several models."""
    return any(
        spec.type.strip() == PAIRWISE_JUDGE.name and _against(spec, case, config) != REFERENCE
        for spec in case.checks
    )


def _against(spec: CheckSpec, case: Case, config: Config) -> str:
    shared = config.scorers.options.get(PAIRWISE_JUDGE.name, {})
    reference = case.reference if spec.reference is None else spec.reference
    return against_what({**shared, **spec.options}, reference)


def against_problems(spec: CheckSpec, case: Case, config: Config) -> list[Problem]:
    """What is wrong with whom a comparing check of a case names. What the project names for all of
    them is told at its place, see `against_fault`."""
    own = spec.options.get("against")
    shared = config.scorers.options.get(PAIRWISE_JUDGE.name, {}).get("against")
    if spec.type.strip() != PAIRWISE_JUDGE.name or (own is None and shared is not None):
        return []
    fault = against_fault(_against(spec, case, config), config)
    if fault is None:
        return []
    path = f"{case.id}.{PAIRWISE_JUDGE.name}.{fault.option}"
    return [
        Problem(
            fault.severity,
            fault.message,
            fault.fix,
            file=case.file,
            line=case.line,
            path=path,
            code=fault.code,
        )
    ]


def against_fault(against: str, config: Config) -> Fault | None:
    """What is wrong with a value of `against`: a model that is not there, or nobody to meet."""
    keys = [entry.key for entry in config.models if entry.enabled]
    if against not in (REFERENCE, MODELS, *keys):
        return _nobody(against, keys, any(entry.key == against for entry in config.models))
    if against != REFERENCE and len(keys) == 1:
        return Fault(
            "Answers are to be compared with those of other models, and only one model takes part.",
            "Add a model, or write a right answer and `against: reference`.",
            "no_rivals",
            Severity.WARNING,
            "against",
        )
    return None


def _nobody(against: str, keys: list[str], is_off: bool) -> Fault:
    if is_off:
        message = f"`against` names the model `{against}`, which is switched off."
        return Fault(message, "Switch it on, or name another one.", "option_bad", option="against")
    near = difflib.get_close_matches(against, [REFERENCE, MODELS, *keys], 1, 0.6)
    known = ", ".join(f"`{key}`" for key in (REFERENCE, MODELS, *keys[:8]))
    fix = f"Did you mean `{near[0]}`?" if near else f"Known are: {known}."
    message = f"`against` names `{against[:60]}`, and there is no model of that key."
    return Fault(message, fix, "option_bad", option="against")


PAIRWISE_JUDGE = CheckType(
    name="pairwise_judge",
    title="A second AI compares two answers",
    rule="A second AI says which is better, in both orders. When the order decides, it is a tie.",
    run=_pairwise_judge,
    validate=lambda setup: judge_faults(replace(setup, options={"rubric": setup.options["rubric"]})),
    needs_reference=lambda options: options.get("against") == REFERENCE,
    opposite="it must not be so",
    paid=True,
    options=(
        RUBRIC,
        Option("against", "text", None, "Compared with: reference, models, or a model's key"),
        Option("votes", "int", None, "How many verdicts on a pair of models", minimum=1, maximum=MOST_VOTES),
    ),
)
"""`against` says with what an answer is compared:

* `reference`: the right answer. The default where there is one.
* `models`: every other model's answer to the same test and trial. The default elsewhere.
* a model's key: that model's answer, which itself meets all the others.

Two models' answers meet once, in both orders, whoever asks; `votes` (1) repeats that. The mark is
the mean over the decided pairs: a win 1, a tie one half, a loss 0; it passes from one half on. The
same words tie, and a refused or empty answer loses, without a question. A call that failed makes
no pair; an answer without any is errored.
"""
