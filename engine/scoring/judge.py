"""Marks given by a second model: one answer by a rubric.

No model is called here: the question goes out through `ScoringContext.judge`. A reply that
cannot be read is asked for once more, then the check is errored.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from engine.config.schema import MOST_VOTES, Judge
from engine.domain import Outcome
from engine.scoring.base import (
    CheckFault,
    CheckInput,
    CheckType,
    Fault,
    Finding,
    Option,
    Setup,
    as_text,
    never_needs,
    quoted,
)
from engine.scoring.judge_prompt import (
    Rubric,
    mark_prompt,
    mark_system,
    new_fence,
    read_rubric,
    task_text,
)
from engine.scoring.judge_reply import JudgeMark, parse_judge_reply
from engine.scoring.judge_template import unknown_names
from engine.scoring.seams import JudgeReply, JudgeRequest

_RETRY = ("judge_unreadable", "judge_several", "judge_wrong_type", "judge_out_of_range", "judge_disagrees")
_Read = TypeVar("_Read")


@dataclass(frozen=True, slots=True)
class _Terms:
    """How one check is judged: its own options, else the project's judge."""

    rubric: Rubric
    template: str | None
    system: str | None
    scale: float
    pass_mark: float
    votes: int
    max_tokens: int
    temperature: float


def judge_request(given: CheckInput, vote: int = 1) -> JudgeRequest:
    """The question about one answer, for asking it and for showing it."""
    terms = _terms(given)
    reference = given.reference
    shown = (
        given.text,
        task_text(given.case),
        "" if reference is None else as_text(reference),
        terms.template or "",
    )
    fence = new_fence(given.context.fence, shown)
    return JudgeRequest(
        prompt=mark_prompt(given.case, given.text, reference, terms.rubric, terms.template, fence),
        system=mark_system(terms.rubric, terms.scale, terms.pass_mark, fence, terms.system),
        max_tokens=terms.max_tokens,
        temperature=terms.temperature,
        vote=vote,
        criteria=tuple(criterion.name for criterion in terms.rubric.criteria),
    )


def _terms(given: CheckInput) -> _Terms:
    return _terms_of(given.options, given.context.judge_settings)


def _terms_of(options: Any, judge: Judge) -> _Terms:
    """The terms in force.

    Raises:
        CheckFault: The rubric cannot be read, or the pass mark lies outside the scale.
    """

    def pick(name: str) -> Any:
        own = options.get(name)
        return getattr(judge, name) if own is None else own

    scale = float(pick("scale") or 1.0)
    pass_mark = options.get("pass_mark")
    if pass_mark is None:
        share = options.get("threshold")
        pass_mark = scale * (0.5 if share is None else share)
    if not 0 <= pass_mark <= scale:
        raise CheckFault(
            "pass_mark_bad", f"The pass mark {pass_mark:g} is not within 0 and the scale {scale:g}."
        )
    return _Terms(
        read_rubric(pick("rubric")), pick("prompt"), pick("system"), scale, float(pass_mark),
        int(pick("votes")), int(pick("max_tokens")), float(pick("temperature") or 0.0),
    )  # fmt: skip


def ask_until_read(
    ask: Callable[[JudgeRequest], JudgeReply], request: JudgeRequest, read: Callable[[str], _Read]
) -> tuple[_Read, JudgeReply]:
    """Asks, reads, and asks once more when the reply cannot be read.

    Raises:
        CheckFault: The call failed, was declined or cut off, or the second reply is no better.
    """
    for attempt in (1, 2):
        reply = _asked(ask, replace(request, attempt=attempt))
        try:
            return read(reply.text), reply
        except CheckFault as fault:
            fault.detail["attempts"] = attempt
            if attempt == 2 or fault.code not in _RETRY:
                raise
    raise AssertionError("the second attempt returns or raises")


def _asked(ask: Callable[[JudgeRequest], JudgeReply], request: JudgeRequest) -> JudgeReply:
    """One reply that is complete, however it reads."""
    reply = ask(request)
    if reply.error is not None or reply.outcome in (Outcome.FAILED, Outcome.STOPPED):
        what = reply.error.message if reply.error is not None else "the call was stopped"
        kind = reply.error.kind if reply.error is not None else "stopped"
        if kind != "blocked":
            raise CheckFault("judge_failed", f"The judge could not be asked: {what}", kind=kind)
    if reply.outcome in (Outcome.REFUSED, Outcome.BLOCKED) or reply.error is not None:
        raise CheckFault("judge_declined", "The judge declined to mark this answer. Try another judge.",
                         reply=reply.text[:2000])  # fmt: skip
    if reply.outcome is Outcome.LENGTH:
        raise CheckFault(
            "judge_cut_off",
            "The judge's reply was cut off. Raise `judge.max_tokens`, the judge's longest answer.",
            reply=reply.text[:2000],
        )
    return reply


def the_judge(given: CheckInput) -> Callable[[JudgeRequest], JudgeReply]:
    if given.context.judge is None:
        raise CheckFault("no_judge", "There is no judge to ask. Set `judge.model` in the project.")
    return given.context.judge


def _llm_judge(given: CheckInput) -> Finding:
    """Each vote is asked on its own; more than half of them must be readable."""
    ask, terms = the_judge(given), _terms(given)
    marks: list[JudgeMark] = []
    replies: list[str] = []
    faults: list[CheckFault] = []

    def read(text: str) -> JudgeMark:
        return parse_judge_reply(
            text, scale=terms.scale, pass_mark=terms.pass_mark, criteria=terms.rubric.criteria
        )

    for vote in range(1, terms.votes + 1):
        try:
            mark, reply = ask_until_read(ask, judge_request(given, vote), read)
        except CheckFault as fault:
            faults.append(fault)
            if fault.code == "judge_failed":
                break
            continue
        marks.append(mark)
        replies.append(reply.text)
    if 2 * len(marks) <= terms.votes:
        raise faults[0]
    finding = combine_votes(marks, terms.pass_mark / terms.scale)
    detail = {**finding.detail, "reply": replies[0][:2000], "scale": terms.scale, "votes_unread": len(faults)}
    return replace(finding, detail=detail)


def combine_votes(marks: Sequence[JudgeMark], pass_share: float = 0.5) -> Finding:
    """Several verdicts as one: mean score, majority pass, and how far they agree.

    An even split passes where the mean score reaches the pass mark.
    """
    score = min(1.0, math.fsum(mark.score for mark in marks) / len(marks))
    yes = sum(mark.passed for mark in marks)
    passed = score >= pass_share if 2 * yes == len(marks) else 2 * yes > len(marks)
    agreement = max(yes, len(marks) - yes) / len(marks)
    told = next(mark for mark in marks if mark.passed is passed or mark is marks[-1])
    detail: dict[str, Any] = {
        "votes": [{"score": mark.score, "passed": mark.passed, "reason": mark.reason[:500]} for mark in marks]
    }
    if told.criteria:
        detail["criteria"] = dict(told.criteria)
    if told.gated_by:
        detail["gated_by"] = told.gated_by
    metrics = {}
    if len(marks) > 1:
        detail["agreement"] = metrics["judge_agreement"] = agreement
    fact = f"The judge {'passed' if passed else 'did not pass'} the answer with {score * 100:.0f} of 100"
    said = told.reason if told.reason.endswith((".", "!", "?")) or not told.reason else told.reason + "."
    note = " ".join(sentence for sentence in (said, *_what_decided(marks, told, passed=passed)) if sentence)
    return Finding(
        score, passed, fact, "judge_passed" if passed else "judge_failed_it", detail, metrics, note
    )


def _what_decided(marks: Sequence[JudgeMark], told: JudgeMark, *, passed: bool) -> list[str]:
    """What a reader must know beside the verdict's own reason: a criterion that gated it, split votes."""
    said = []
    if told.gated_by and not passed:
        said.append(f"It does not meet {quoted(told.gated_by)}, which must pass.")
    if len(marks) > 1:
        yes = sum(mark.passed for mark in marks)
        most = max(yes, len(marks) - yes)
        said.append(
            f"All {len(marks)} verdicts agree."
            if most == len(marks)
            else f"{most} of {len(marks)} verdicts agree."
        )
    return said


def judge_faults(setup: Setup) -> list[Fault]:
    try:
        terms = _terms_of(setup.options, setup.judge or Judge())
    except CheckFault as fault:
        return [Fault(fault.reason, "Mend it in the check or under `judge`.", fault.code, option="rubric")]
    texts = [
        terms.template or "",
        terms.rubric.text,
        *(c.name + c.description for c in terms.rubric.criteria),
    ]
    unknown = dict.fromkeys(name for text in texts for name in unknown_names(text, setup.case))
    return [
        Fault(
            f"The judge's instructions ask for `{{{{{name}}}}}`, which test `{setup.case.id}` does not have.",
            "Correct the name, or add it to the `vars` of the test case.",
            "undefined_variable",
            option="rubric",
        )
        for name in unknown
    ]


RUBRIC = Option("rubric", "any", None, "What the judge looks at")
LLM_JUDGE = CheckType(
    name="llm_judge",
    title="A second AI marks the answers",
    rule="A second AI reads the answer and gives a mark. It can be wrong and it costs extra.",
    run=_llm_judge,
    validate=judge_faults,
    needs_reference=never_needs,
    opposite="it must not",
    paid=True,
    options=(
        RUBRIC,
        Option("prompt", "text", None, "Own question to the judge"),
        Option("system", "text", None, "Own instructions to the judge"),
        Option("scale", "number", None, "Highest mark", minimum=0.001),
        Option("threshold", "number", None, "Passes from this share", minimum=0, maximum=1),
        Option("pass_mark", "number", None, "Passes from this mark", minimum=0),
        Option("votes", "int", None, "How many verdicts", minimum=1, maximum=MOST_VOTES),
        Option("max_tokens", "int", None, "Longest answer of the judge", minimum=1),
        Option("temperature", "number", None, "Variety", minimum=0),
    ),
)
