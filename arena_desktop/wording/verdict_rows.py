"""The sentences of the verdict table: what a pair of models has come to, and what would settle it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.gaps import gap_range
from arena_desktop.wording.reasons import reason_sentence
from engine.stats.board import Entry, EntryStatus, Interval, Leaderboard, PairResult, Planner, Verdict


def _tr(text: str) -> str:
    return QCoreApplication.translate("Verdict", text)


def _names(board: Leaderboard) -> dict[str, str]:
    return {entry.model_key: entry.label for entry in board.entries}


def entry_of(board: Leaderboard, key: str | None) -> Entry | None:
    """The row of a model, or None."""
    return next((entry for entry in board.entries if entry.model_key == key), None)


def planner_sentence(planner: Planner | None) -> str:
    """What would settle it, "About 40 more tests would settle it, about $0.40, about 6 minutes.", or an
    honest no."""
    if planner is None:
        return ""
    if planner.may_never or planner.more_cases is None:
        return _tr("More tests may never tell them apart.")
    return _tr("{tests} would settle it{price}.").format(
        tests=more_tests(planner.more_cases), price=planner_price(planner)
    )


def planner_price(planner: Planner) -> str:
    """What more tests would cost and how long they would take: ", about $0.40, about 6 minutes"."""
    parts = []
    if planner.cost_usd is not None:
        free = planner.cost_usd == 0
        about = _tr("about {cost}").format(cost=formats.money(planner.cost_usd))
        parts.append(_tr("for free") if free else about)
    if planner.minutes is not None:
        parts.append(formats.about_time(planner.minutes * 60))
    return "".join(f", {part}" for part in parts)


def more_tests(count: int) -> str:
    """How many more tests, as the start of a sentence."""
    if count == 1:
        return _tr("About 1 more test")
    return _tr("About {count} more tests").format(count=formats.whole(count))


def joined(*sentences: str) -> str:
    """The sentences that are not empty, with a space between them."""
    return " ".join(sentence for sentence in sentences if sentence)


def _no_pair(board: Leaderboard, verdict: Verdict, names: dict[str, str]) -> str:
    if verdict.code == "only_one":
        name = names.get(verdict.leader or "", verdict.leader or "")
        return _tr("Only {name} could be ranked, so there is nothing to compare it with.").format(name=name)
    if verdict.code == "nothing_scored":
        return _tr("No answer has been marked yet.")
    return joined(_tr("No model can be recommended."), failures_sentence(board))


def failures_sentence(board: Leaderboard) -> str:
    """Why each model without a place has none: what rules it out, or that too few answers came."""
    without = (entry for entry in board.entries if entry.status is not EntryStatus.RANKED)
    causes = ((entry.label, next(iter((*entry.failures, *entry.warnings)), None)) for entry in without)
    return " ".join(f"{label}: {reason_sentence(cause)}" for label, cause in causes if cause is not None)


def _row_sentence(verdict: Verdict, names: dict[str, str], metric: str = "accuracy") -> str:
    pair = verdict.pair
    if pair is None:
        return ""
    better = names.get(verdict.a or pair.a, pair.a)
    planner = planner_sentence(verdict.planner)
    units = formats.whole(pair.unit_count)
    sentences = {
        1: joined(_tr("Not enough tests to tell."), planner),
        2: (
            _tr("Practically the same: they differed on only {m} of {units} tests.")
            if pair.differing
            else _tr("Practically the same: they differed on none of {units} tests.")
        ).format(m=pair.differing, units=units),
        3: joined(
            (
                _tr("Not enough tests to tell: they differed on only {m} of {units}.")
                if pair.differing
                else _tr("Not enough tests to tell: they differed on none of {units}.")
            ).format(m=pair.differing, units=units),
            planner,
        ),
        4: _tr("{name} is better on your tests: {range}.").format(name=better, range=gap_range(pair, metric)),
        5: _tr("{name} is slightly better, by less than the gap you care about.").format(name=better),
        6: _tr("Practically the same. Choose on price or speed."),
        7: joined(_tr("Too close to call."), _settle(verdict.planner)),
    }
    return sentences.get(verdict.row or 0, "")


def _settle(planner: Planner | None) -> str:
    if planner is None:
        return ""
    if planner.may_never or planner.more_cases is None:
        return _tr("More tests may never settle a gap this size.")
    return _tr("{tests} would settle a gap this size{price}.").format(
        tests=more_tests(planner.more_cases), price=planner_price(planner)
    )


def verdict_sentence(board: Leaderboard) -> str:
    """The sentence of the verdict table; names its models where the sentence needs them."""
    verdict, names = board.verdict, _names(board)
    if verdict.row is None:
        sentence = _no_pair(board, verdict, names)
    else:
        sentence = _row_sentence(verdict, names, board.deciding)
    if verdict.so_far and sentence:
        return _tr("So far: {sentence}").format(sentence=sentence)
    return sentence


def pair_sentence(pair: PairResult, names: Mapping[str, str] | None = None) -> str:
    """The sentence of one pair by its row, with the better one first."""
    flipped = pair.delta is not None and pair.delta < 0
    turned = _turned(pair) if flipped else pair
    verdict = Verdict(row=pair.row, code="", a=turned.a, b=turned.b, pair=turned)
    return _row_sentence(verdict, dict(names or {}))


def _turned(pair: PairResult) -> PairResult:
    def minus(interval: Interval | None) -> Interval | None:
        return None if interval is None else Interval(-interval.high, -interval.low)

    delta = None if pair.delta is None else -pair.delta
    return replace(pair, a=pair.b, b=pair.a, delta=delta, ci95=minus(pair.ci95), ci90=minus(pair.ci90))
