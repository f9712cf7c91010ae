"""What a judge's comparisons of models say, in words."""

from __future__ import annotations

import math
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.duel import chance_text
from arena_desktop.wording.judge import NOTES
from engine.stats.duels import DuelResult
from engine.stats.judged_pairs import PairReport


def _tr(text: str) -> str:
    return QCoreApplication.translate("Pairs", text)


def pairs_title(report: PairReport, names: Mapping[str, str]) -> str:
    """Whose answers the judge prefers, or that it cannot be told."""
    result = report.result
    if result.code == "preferred":
        return _tr("The second AI prefers the answers of {first}").format(first=_name(result.first, names))
    if result.code == "few_votes":
        return _tr("Too few comparisons to tell whose answers the second AI prefers")
    return _tr("The second AI prefers no model clearly")


def pairs_sentences(report: PairReport, names: Mapping[str, str]) -> list[str]:
    """On what that stands: the range, what is missing, the order, a person's own blind votes."""
    result = report.result
    told = [_base(report), _leading(result, names)]
    if report.votes:
        told.append(
            NOTES["judge_flips"]({"flipped": report.flipped, "pairs": report.votes, "these": True}, names)
        )
    if report.both:
        told.append(_agreement(report))
    return [sentence for sentence in told if sentence]


def _name(key: str | None, names: Mapping[str, str]) -> str:
    return names.get(str(key), str(key))


def _base(report: PairReport) -> str:
    text = (
        _tr("One comparison of two models' answers to the same question.")
        if report.pairs == 1
        else _tr("{count} comparisons of two models' answers to the same question.")
    ).format(count=formats.whole(report.pairs))
    if report.unasked == 1:
        return f"{text} {_tr('One needed no second AI: both said the same, or one said nothing.')}"
    if report.unasked:
        more = _tr("{count} needed no second AI: both said the same, or one said nothing.")
        return f"{text} {more.format(count=formats.whole(report.unasked))}"
    return text


def _leading(result: DuelResult, names: Mapping[str, str]) -> str:
    first, second = _name(result.first, names), _name(result.second, names)
    row = result.rows[0]
    if result.code == "few_votes":
        return _tr("At least {more} more would be needed.").format(more=formats.whole(result.more or 0))
    if result.code == "preferred":
        text = _tr("An answer of {name} is preferred in about {chance} of 100 pairs, likely {low} to {high}.")
        sentence = text.format(
            name=first,
            chance=chance_text(row),
            low=formats.points(row.interval.low),
            high=formats.points(row.interval.high),
        )
    elif round(row.chance * 100) == round(result.rows[1].chance * 100):
        sentence = _tr("{first} and {second} are level.").format(first=first, second=second)
    else:
        sentence = _tr("{first} is ahead of {second}, but not by enough.").format(first=first, second=second)
    notes = [sentence]
    if result.code == "too_close":
        notes.append(_missing(result))
    if result.rough:
        notes.append(_tr("A model won or lost every comparison, so the numbers are cautious."))
    return " ".join(notes)


def _missing(result: DuelResult) -> str:
    if result.more is None:
        return _tr("More comparisons may never settle a gap this size.")
    step = 10 ** max(0, len(str(result.more)) - 2)
    more = math.ceil(result.more / step) * step
    return _tr("About {more} more comparisons would settle a gap this size.").format(more=formats.whole(more))


def _agreement(report: PairReport) -> str:
    if report.both == 1:
        return (
            _tr("You voted blind on one of these pairs, and chose as it did.")
            if report.same
            else _tr("You voted blind on one of these pairs, and chose the other answer.")
        )
    text = _tr("You voted blind on {both} of these pairs, and chose as it did in {same}.")
    return text.format(both=formats.whole(report.both), same=formats.whole(report.same))


def pairs_legend() -> str:
    """What the column of chances is."""
    return _tr(
        "The dot: how often the second AI would prefer this model. The bar: where that most likely lies."
    )


def pairs_caution() -> str:
    """What comparisons cannot tell."""
    return _tr("A second AI says which answer it likes better, not which is right. It can be wrong.")
