"""The second AI in words: what to know about its marks, and why a run asks about it before."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal
from typing import Any

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from engine.config.embedder_key import PREFIX, is_embedder

Values = Mapping[str, Any]
Names = Mapping[str, str]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Judge", text)


def _models(values: Values, names: Names) -> str:
    return ", ".join(names.get(str(key), str(key)) for key in values.get("models", ()))


def _of(count: int, one: str, many: str) -> str:
    return one if count == 1 else many.format(count=formats.whole(count))


def _takes_part(values: Values, names: Names) -> str:
    if values.get("marked"):
        text = _tr(
            "{models} marked its own answers too, as the project says. Judges favour their own answers."
        )
    else:
        text = _tr("{models} is also the second AI, so its own answers have no mark from it.")
    return text.format(models=_models(values, names))


def _same_family(values: Values, names: Names) -> str:
    text = _tr(
        "The second AI, {judge}, is of the same family as {models}. Judges tend to favour their family."
    )
    return text.format(judge=values.get("judge"), models=_models(values, names))


def _likes_length(values: Values, _names: Names) -> str:
    text = _tr(
        "The longer of two answers to the same test tended to get the better mark ({answers} answers to"
        " {tests} tests, correlation {r}). Look whether the longer ones were really better."
    )
    return text.format(
        answers=formats.whole(values.get("answers", 0)),
        tests=formats.whole(values.get("tests", 0)),
        r=f"{float(values.get('r', 0)):.2f}",
    )


def _flips(values: Values, _names: Names) -> str:
    flipped, pairs = int(values.get("flipped", 0)), int(values.get("pairs", 0))
    if not flipped:
        return _of(
            pairs,
            _tr("In the one comparison the second AI did not mind which answer came first."),
            _tr("In all {count} comparisons the second AI did not mind which answer came first."),
        )
    # Where the models' own pairs are told apart from all comparisons, two shares stand on one page.
    these = _tr("In {flipped} of these {pairs} comparisons")
    which = these if values.get("these") else _tr("In {flipped} of {pairs} comparisons in all")
    text = which + _tr(
        " ({share} of 100) the second AI chose by the order of the answers. Those count as a tie."
    )
    return text.format(
        flipped=formats.whole(flipped), pairs=formats.whole(pairs), share=round(100 * flipped / pairs)
    )


def _votes_split(values: Values, _names: Names) -> str:
    text = _tr("The votes of the second AI disagreed on {split} of {voted} answers.")
    return text.format(
        split=formats.whole(values.get("split", 0)), voted=formats.whole(values.get("voted", 0))
    )


def _cost(values: Values, _names: Names) -> str:
    usd = values.get("usd")
    asked = _of(int(values.get("calls", 0)), _tr("one question"), _tr("{count} questions"))
    if usd is None:
        return _tr("Marking took {asked} to a second AI. What that cost is not known.").format(asked=asked)
    cost = Decimal(str(usd))
    if cost == 0:
        return _tr("Marking took {asked} to a second AI, for free.").format(asked=asked)
    text = _tr("Marking took {asked} to a second AI and cost {cost}.")
    return text.format(asked=asked, cost=formats.money(cost))


def _stopped(values: Values, _names: Names) -> str:
    causes = {
        "denied": _tr("Its access key was refused."),
        "no_credit": _tr("Its account has no credit left."),
        "model_unknown": _tr("The service does not know its model."),
        "same_failure": _tr("The same fault came at every question."),
        "asked_to_slow_down": _tr("Its service kept asking us to slow down."),
        "wait_too_long": _tr("Its service asks to wait for a long time."),
        "day_quota": _tr("Its quota of the day is used up."),
    }
    cause = causes.get(str(values.get("code")), _tr("It could not be reached."))
    lane = str(values.get("lane") or "")
    if is_embedder(lane):
        text = _tr(
            "The model {model}, which compares meanings, was asked no more. {cause} The answers are kept:"
            " mend it and carry on with this run, and no model is asked again."
        )
        return text.format(model=lane.removeprefix(PREFIX), cause=cause)
    text = _tr(
        "The second AI was asked no more. {cause} The answers are kept: mend it and carry on with this"
        " run, and no model is asked again."
    )
    return text.format(cause=cause)


def not_ready_sentence(values: Values) -> str:
    """Why the second AI cannot be asked, what that means, and what mends it."""
    text = _tr("The second AI cannot be asked: {reason} Its checks give no mark. {fix}")
    return text.format(reason=values.get("reason", ""), fix=values.get("fix", "")).strip()


def embedder_not_ready_sentence(values: Values) -> str:
    """Why a model that compares meanings cannot be asked, what that means, and what mends it."""
    text = _tr(
        "The model {model}, which compares meanings, cannot be asked: {reason} Its checks give no mark. {fix}"
    )
    return text.format(
        model=values.get("model", ""), reason=values.get("reason", ""), fix=values.get("fix", "")
    ).strip()


def unmarked_sentence(code: str, values: Values) -> str:
    """Why a run would leave answers without a mark; empty for a note that says something else."""
    if code == "judge_not_ready":
        return not_ready_sentence(values)
    return embedder_not_ready_sentence(values) if code == "embedder_not_ready" else ""


def _compared(values: Values, _names: Names) -> str:
    usd = values.get("usd")
    asked = _of(int(values.get("calls", 0)), _tr("one request"), _tr("{count} requests"))
    model = values.get("model", "")
    if usd is None:
        text = _tr("Comparing meanings took {asked} to {model}. What that cost is not known.")
        return text.format(asked=asked, model=model)
    cost = Decimal(str(usd))
    if cost == 0:
        return _tr("Comparing meanings took {asked} to {model}, for free.").format(asked=asked, model=model)
    text = _tr("Comparing meanings took {asked} to {model} and cost {cost}.")
    return text.format(asked=asked, model=model, cost=formats.money(cost))


def _unclear(values: Values, _names: Names) -> str:
    answers = int(values.get("answers", 0))
    many = _tr(
        "The second AI gave no clear mark for {count} answers: {causes}. They are left out of the score."
    )
    one = _tr("The second AI gave no clear mark for one answer: {causes}. It is left out of the score.")
    text = one if answers == 1 else many
    fix = _tr("Mark them yourself, or take another second AI and mark the run again.")
    causes = values.get("causes", {})
    said = ", ".join(_cause(str(code), int(count), alone=len(causes) == 1) for code, count in causes.items())
    return f"{text.format(causes=said, count=formats.whole(answers))} {fix}"


def _cause(code: str, count: int, *, alone: bool) -> str:
    words = {
        "declined": _tr("it declined to mark"),
        "cut_off": _tr("its reply was cut off"),
        "several": _tr("its reply held several verdicts"),
        "wrong_type": _tr("its verdict was not in the form it was asked for"),
        "out_of_range": _tr("its mark lay outside the scale"),
        "disagrees": _tr("it disagreed with itself"),
    }
    cause = words.get(code, _tr("its reply held no verdict"))
    return cause if alone else _tr("{cause} ({count})").format(cause=cause, count=formats.whole(count))


NOTES: Mapping[str, Callable[[Values, Names], str]] = {
    "judge_unclear": _unclear,
    "judge_takes_part": _takes_part,
    "judge_same_family": _same_family,
    "judge_likes_length": _likes_length,
    "judge_flips": _flips,
    "judge_votes_split": _votes_split,
    "judge_cost": _cost,
    "judge_stopped": _stopped,
    "judge_not_ready": lambda values, _names: not_ready_sentence(values),
    "embed_cost": _compared,
    "embedder_not_ready": lambda values, _names: embedder_not_ready_sentence(values),
}
"""Sentences of the notes that a run with a judge may carry, by their code."""
