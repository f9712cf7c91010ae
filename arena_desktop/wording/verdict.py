"""The verdict in words: sentence, headline, lead, the two facts beside it."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.recommendation import recommendation
from arena_desktop.wording.verdict_rows import (
    entry_of,
    failures_sentence,
    joined,
    more_tests,
    planner_price,
    verdict_sentence,
)
from engine.stats.board import EntryStatus, Leaderboard, Planner

_NAMED_AT_MOST = 3


@dataclass(frozen=True, slots=True)
class Fact:
    """One figure beside the verdict: a short strong line and what it means."""

    figure: str
    meaning: str


@dataclass(frozen=True, slots=True)
class VerdictWords:
    """All texts of the verdict card. `kind` is the chip's kind: info, good, warn, neutral."""

    chip: str
    kind: str
    headline: str
    lead: str
    sentence: str
    recommendation: str
    facts: tuple[Fact, ...]


def _tr(text: str) -> str:
    return QCoreApplication.translate("Verdict", text)


def headline(board: Leaderboard) -> str:
    """The largest sentence on the page: what to do."""
    verdict = board.verdict
    if verdict.row is None and verdict.code == "nothing_scored":
        return _tr("No answer has been marked yet.")
    winner = entry_of(board, board.winner)
    if winner is None:
        return _tr("No model can be recommended.")
    if verdict.so_far:
        return _tr("So far {name} comes first.").format(name=winner.label)
    if verdict.code == "only_one":
        return _tr("Only {name} could be ranked.").format(name=winner.label)
    if verdict.row in (1, 3):
        return _tr("{name} comes first, but these tests cannot settle it.").format(name=winner.label)
    return _tr("Use {name} for this project.").format(name=winner.label)


def chip(board: Leaderboard) -> tuple[str, str]:
    """The chip above the headline: text and kind."""
    verdict = board.verdict
    chips = {
        1: (_tr("Not enough tests to tell"), "warn"),
        2: (_tr("Practically the same"), "info"),
        3: (_tr("Not enough tests to tell"), "warn"),
        4: (_tr("A clear difference"), "good"),
        5: (_tr("A small difference"), "info"),
        6: (_tr("Practically the same"), "info"),
        7: (_tr("Too close to call between the first two"), "info"),
    }
    if verdict.row is not None:
        return chips[verdict.row]
    codes = {
        "only_one": (_tr("Nothing to compare with"), "warn"),
        "nothing_scored": (_tr("Not marked yet"), "neutral"),
    }
    return codes.get(verdict.code, (_tr("No recommendation"), "warn"))


def facts(board: Leaderboard) -> tuple[Fact, ...]:
    """At most two figures: how often the winner comes first, and what would settle it."""
    chance = chance_fact(board)
    found = [chance] if chance is not None else []
    planner = board.verdict.planner
    if planner is not None and board.verdict.row in (1, 3, 7):
        found.append(_planner_fact(planner))
    return tuple(found[:2])


def chance_fact(board: Leaderboard) -> Fact | None:
    """How often the winner comes first; None where it is not known or there is nobody to be before."""
    winner = entry_of(board, board.winner)
    if winner is None or winner.chance_first is None or board.verdict.row is None:
        return None
    figure = _tr("{share} of 100").format(share=formats.points(winner.chance_first))
    return Fact(figure, _tr("How often it comes first when the tests are drawn again"))


def _planner_fact(planner: Planner) -> Fact:
    if planner.may_never or planner.more_cases is None:
        return Fact(
            _tr("May never settle"), _tr("More tests of this kind may never tell the first two apart")
        )
    meaning = _tr("would settle the first two{price}").format(price=planner_price(planner))
    return Fact(more_tests(planner.more_cases), meaning)


def _few_words(board: Leaderboard) -> str:
    """Why no model has a place: each reason for a few models, else how many for which kind of reason."""
    failed = [entry for entry in board.entries if entry.failures]
    if len(failed) <= _NAMED_AT_MOST:
        return failures_sentence(board)
    short = sum(entry.status is EntryStatus.INCOMPLETE for entry in failed)
    out = sum(entry.status is EntryStatus.FAILED for entry in failed)
    nothing = len(failed) - short - out
    return joined(
        _number(short, _tr("1 answered too few tests."), _tr("{count} answered too few tests.")),
        _number(out, _tr("1 breaks a must-have."), _tr("{count} break a must-have.")),
        _number(nothing, _tr("1 has no result."), _tr("{count} have no result.")),
    )


def _number(count: int, one: str, many: str) -> str:
    if count == 0:
        return ""
    return one if count == 1 else many.format(count=formats.whole(count))


def _lead(board: Leaderboard, sentence: str) -> str:
    """What stands below a headline without a recommendation; it does not say the headline again."""
    verdict = board.verdict
    if verdict.row is None and verdict.code not in ("only_one", "nothing_scored"):
        return _few_words(board)
    return "" if sentence == headline(board) else sentence


def verdict_words(board: Leaderboard) -> VerdictWords:
    """All texts of the verdict card for a board."""
    text, kind = chip(board)
    advice = recommendation(board)
    sentence = verdict_sentence(board)
    return VerdictWords(
        chip=text,
        kind=kind,
        headline=headline(board),
        lead=advice or _lead(board, sentence),
        sentence=sentence,
        recommendation=joined(headline(board), advice),
        facts=facts(board),
    )
