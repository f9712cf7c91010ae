"""A blind duel in words: progress, and a result that says no more than the votes do."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from arena_desktop.desks.duel_desk import Standing
from arena_desktop.wording import formats
from engine.stats.duels import FEWEST_VOTES, DuelResult, Preference


def _tr(text: str) -> str:
    return QCoreApplication.translate("Duel", text)


@dataclass(frozen=True, slots=True)
class DuelWords:
    """The card of the result. `kind` is the chip's: good, info, warn or neutral."""

    chip: str
    kind: str
    headline: str
    lead: str


def votes_text(count: int) -> str:
    """How many votes."""
    if count == 1:
        return _tr("1 vote")
    return _tr("{count} votes").format(count=formats.whole(count))


def progress_sentence(standing: Standing) -> str:
    """Where the duel stands, and that it may end at any time."""
    if not standing.votes:
        return _tr("Names are hidden. Choose the answer you would rather send. Stop any time.")
    votes = votes_text(standing.votes)
    missing = FEWEST_VOTES - standing.votes
    if missing > 0:
        text = (
            _tr("{votes} so far. One more and they can begin to tell something.")
            if missing == 1
            else _tr("{votes} so far. {missing} more and they can begin to tell something.")
        )
        return text.format(votes=votes, missing=formats.whole(missing))
    if standing.left == 1:
        return _tr("{votes} so far. One more pair can be shown. Stop any time.").format(votes=votes)
    text = _tr("{votes} so far. {left} more pairs can be shown. Stop any time.")
    return text.format(votes=votes, left=formats.whole(standing.left))


def covered_name() -> str:
    """Stands in an answer where it names a model."""
    return _tr("[name hidden]")


def keys_sentence() -> str:
    """The keys of the page."""
    return _tr("Keys: 1 or ← left, 2 or → right, 0 or ↓ the same, S skip, Z undo, Esc stop")


def nothing_words(models: int, given: int) -> tuple[str, str]:
    """Heading and sentence where there is nothing to choose between."""
    if given:
        return (
            _tr("All pairs have been shown."),
            _tr("Show the result, or take the last vote back."),
        )
    if models < 2:
        return (
            _tr("There are no two answers to choose between."),
            _tr("A duel needs two models that answered the same question, and not with the same words."),
        )
    return _tr("There is nothing to vote on."), _tr("All models said the same.")


def result_words(result: DuelResult, names: Mapping[str, str]) -> DuelWords:
    """What the votes say."""
    first, second = names.get(str(result.first), ""), names.get(str(result.second), "")
    votes = votes_text(result.votes)
    if result.code == "no_votes":
        return DuelWords(
            _tr("No votes"),
            "neutral",
            _tr("You have not voted yet."),
            _tr("Without votes nothing can be said."),
        )
    if result.code == "few_votes":
        text = _tr("{votes} tell nothing yet. At least {more} more would be needed.")
        lead = text.format(votes=votes, more=formats.whole(result.more or 0))
        return DuelWords(_tr("Not enough votes to tell"), "warn", _tr("Too few votes to tell."), lead)
    if result.code == "preferred":
        text = _tr("{votes} tell {first} and {second} apart. {range}")
        lead = text.format(
            votes=votes, first=first, second=second, range=range_sentence(result.rows[0], first)
        )
        headline = _tr("You prefer the answers of {first}.").format(first=first)
        return DuelWords(_tr("A clear preference"), "good", headline, _with_notes(lead, result))
    headline = _tr("Too close to call after {votes}.").format(votes=votes)
    return DuelWords(
        _tr("Too close to call"), "info", headline, _with_notes(_close(result, first, second), result)
    )


def _close(result: DuelResult, first: str, second: str) -> str:
    top, next_one = result.rows[0], result.rows[1]
    level = round(top.chance * 100) == round(next_one.chance * 100)
    ahead = (
        _tr("{first} and {second} are level.")
        if level
        else _tr("{first} is ahead of {second}, but not by enough.")
    )
    sentence = ahead.format(first=first, second=second)
    if result.more is None:
        return f"{sentence} {_tr('More votes may never settle a gap this size.')}"
    if result.more == 1:
        return f"{sentence} {_tr('About one more vote would settle a gap this size.')}"
    more = _tr("About {more} more votes would settle a gap this size.")
    return f"{sentence} {more.format(more=formats.whole(_rounded(result.more)))}"


def _rounded(count: int) -> int:
    """Large estimates to two figures: more would promise what nobody knows."""
    step = 10 ** max(0, len(str(count)) - 2)
    return math.ceil(count / step) * step


def _with_notes(lead: str, result: DuelResult) -> str:
    notes = []
    if result.rough:
        notes.append(_tr("Someone won or lost every vote, so the numbers are cautious."))
    if result.skipped == 1:
        notes.append(_tr("One skipped pair does not count."))
    elif result.skipped:
        notes.append(_tr("{count} skipped pairs do not count.").format(count=formats.whole(result.skipped)))
    return " ".join((lead, *notes))


def chance_text(row: Preference) -> str:
    """The chance of being preferred, of 100."""
    return formats.points(row.chance)


def range_text(row: Preference) -> str:
    """Where the chance most likely lies."""
    return _tr("{low} to {high}").format(
        low=formats.points(row.interval.low), high=formats.points(row.interval.high)
    )


def range_sentence(row: Preference, name: str) -> str:
    """The chance of a model with its range, as a sentence."""
    text = _tr("You would prefer an answer of {name} in about {chance} of 100 pairs, likely {low} to {high}.")
    return text.format(
        name=name,
        chance=chance_text(row),
        low=formats.points(row.interval.low),
        high=formats.points(row.interval.high),
    )


def table_sentence() -> str:
    """What the column of chances is."""
    return _tr("The dot: how often you would prefer this model. The bar: where that most likely lies.")


def caution_sentence() -> str:
    """What the votes cannot tell."""
    return _tr(
        "These are your own votes on the answers of this run, with sides drawn by lot. They say which answers"
        " you like better, not which are right."
    )


def copy_text(words: DuelWords, result: DuelResult, names: Mapping[str, str]) -> str:
    """The result as plain text, with the names: for after the reveal only."""
    lines = [words.headline, words.lead, ""]
    for row in result.rows:
        text = _tr("{name}: {chance} of 100 (likely {range}), {wins} won, {losses} lost, {ties} the same")
        lines.append(
            text.format(
                name=names.get(row.model_key, row.model_key),
                chance=chance_text(row),
                range=range_text(row),
                wins=row.wins,
                losses=row.losses,
                ties=row.ties,
            )
        )
    return "\n".join(lines).strip()
