"""The verdict in words: sentence, headline, lead, the two facts beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.gaps import gap_range, likely_gap
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.reasons import reason_sentence
from engine.stats.board import Entry, EntryStatus, Interval, Leaderboard, PairResult, Planner, Verdict

_NAMED_AT_MOST = 3
_RIGHT = frozenset({"accuracy", "pass_rate"})
FLAT_RATIO = 1.15  # below this a price or a wait counts as the same


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
        tests=more_tests(planner.more_cases), price=_price(planner)
    )


def _price(planner: Planner) -> str:
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


def _joined(*sentences: str) -> str:
    return " ".join(sentence for sentence in sentences if sentence)


def _no_pair(board: Leaderboard, verdict: Verdict, names: dict[str, str]) -> str:
    if verdict.code == "only_one":
        name = names.get(verdict.leader or "", verdict.leader or "")
        return _tr("Only {name} could be ranked, so there is nothing to compare it with.").format(name=name)
    if verdict.code == "nothing_scored":
        return _tr("No answer has been marked yet.")
    return _joined(_tr("No model can be recommended."), _failures(board))


def _failures(board: Leaderboard) -> str:
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
        1: _joined(_tr("Not enough tests to tell."), planner),
        2: (
            _tr("Practically the same: they differed on only {m} of {units} tests.")
            if pair.differing
            else _tr("Practically the same: they differed on none of {units} tests.")
        ).format(m=pair.differing, units=units),
        3: _joined(
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
        7: _joined(_tr("Too close to call."), _settle(verdict.planner)),
    }
    return sentences.get(verdict.row or 0, "")


def _settle(planner: Planner | None) -> str:
    if planner is None:
        return ""
    if planner.may_never or planner.more_cases is None:
        return _tr("More tests may never settle a gap this size.")
    return _tr("{tests} would settle a gap this size{price}.").format(
        tests=more_tests(planner.more_cases), price=_price(planner)
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


def passed_figure(board: Leaderboard, entry: Entry) -> str:
    """How many tests a model passed: "45 of your 50 tests"; fewer than all are not called yours."""
    text = _tr("{passed} of your {tests} tests")
    if entry.scored_cases < board.cases:
        text = _tr("{passed} of the {tests} tests that are marked")
    return text.format(passed=formats.whole(entry.passed_cases), tests=formats.whole(entry.scored_cases))


def _passed(board: Leaderboard, entry: Entry) -> str:
    if entry.scored_cases == 0:
        return _tr("No answer of {name} has been marked.").format(name=entry.label)
    return _tr("{name} passed {figure}.").format(name=entry.label, figure=passed_figure(board, entry))


def _ratio(more: float | None, less: float | None) -> float | None:
    if more is None or less is None or less <= 0 or more <= 0:
        return None
    ratio = more / less
    return ratio if ratio >= FLAT_RATIO else None


def _times(ratio: float) -> str:
    if ratio >= 10:
        return formats.whole(ratio)
    return f"{ratio:.1f}".removesuffix(".0")


def _cost_trade(entry: Entry, other: Entry) -> str:
    dearer = _ratio(entry.cost_per_1k_usd, other.cost_per_1k_usd)
    cheaper = _ratio(other.cost_per_1k_usd, entry.cost_per_1k_usd)
    if dearer:
        return _tr("It costs {times} times as much as {other}: {a} for 100 answers instead of {b}.").format(
            times=_times(dearer),
            other=other.label,
            a=formats.per_100(entry.cost_per_1k_usd),
            b=formats.per_100(other.cost_per_1k_usd),
        )
    if cheaper:
        return _tr("It costs less than {other}: {a} for 100 answers instead of {b}.").format(
            other=other.label,
            a=formats.per_100(entry.cost_per_1k_usd),
            b=formats.per_100(other.cost_per_1k_usd),
        )
    if entry.cost_per_1k_usd and other.cost_per_1k_usd == 0:
        return _tr("It costs {a} for 100 answers; {other} is free.").format(
            other=other.label, a=formats.per_100(entry.cost_per_1k_usd)
        )
    if other.cost_per_1k_usd and entry.cost_per_1k_usd == 0:
        return _tr("It is free; {other} costs {b} for 100 answers.").format(
            other=other.label, b=formats.per_100(other.cost_per_1k_usd)
        )
    return ""


def _wait_trade(entry: Entry, other: Entry) -> str:
    slower = _ratio(entry.latency_p50_ms, other.latency_p50_ms)
    faster = _ratio(other.latency_p50_ms, entry.latency_p50_ms)
    mine, theirs = formats.waiting(entry.latency_p50_ms), formats.waiting(other.latency_p50_ms)
    if (not slower and not faster) or mine == theirs:
        return ""
    text = (
        _tr("Its usual wait is longer: {a} instead of {b}.")
        if slower
        else _tr("Its usual wait is shorter than that of {other}: {a} instead of {b}.")
    )
    return text.format(other=other.label, a=mine, b=theirs)


def _rival(board: Leaderboard, winner: Entry) -> Entry | None:
    verdict = board.verdict
    if verdict.leader and verdict.leader != winner.model_key:
        return entry_of(board, verdict.leader)
    for key in (verdict.b, verdict.a):
        if key and key != winner.model_key:
            return entry_of(board, key)
    return next((e for e in board.entries if e.status is EntryStatus.RANKED and e is not winner), None)


def _rival_passed(board: Leaderboard, winner: Entry, rival: Entry) -> str:
    """What the rival passed, of how many where that differs, and why it is the one to compare with."""
    count = formats.whole(rival.passed_cases)
    if (rival.passed_cases, rival.scored_cases) == (winner.passed_cases, winner.scored_cases):
        return _tr("{name} passed as many.").format(name=rival.label)
    if rival.scored_cases != winner.scored_cases:
        count = _tr("{passed} of the {tests} tests it answered").format(
            passed=formats.whole(rival.passed_cases), tests=formats.whole(rival.scored_cases)
        )
    if board.deciding == "accuracy" and winner.rank == 1 and (rival.rank or 0) > 2:
        return _tr("Of the others {name} was right most often: it passed {count}.").format(
            name=rival.label, count=count
        )
    return _tr("{name} passed {count}.").format(name=rival.label, count=count)


def _against(board: Leaderboard, winner: Entry, rival: Entry) -> str:
    """The comparison with the rival, as the verdict's row allows it."""
    verdict = board.verdict
    pair = verdict.pair
    compared = _rival_passed(board, winner, rival)
    if pair is None or {pair.a, pair.b} != {winner.model_key, rival.model_key}:
        return compared
    tests = formats.whole(pair.unit_count)
    if verdict.row in (1, 3, 7):
        equal = (winner.passed_cases, winner.scored_cases) == (rival.passed_cases, rival.scored_cases)
        more = (
            _tr("With {tests} tests they cannot be told apart.")
            if equal
            else _tr("With {tests} tests that difference is too small to tell apart.")
        ).format(tests=tests)
        return _joined(compared, more)
    if verdict.row in (2, 6):
        return _joined(compared, _tr("In practice they are the same on your tests."))
    if verdict.row == 5:
        return _joined(compared, _tr("That gap is real, and smaller than the gap you care about."))
    if pair.ci95 is None:
        return compared
    return _joined(compared, likely_gap(pair, board.deciding))


def _outside(board: Leaderboard, winner: Entry) -> str:
    """The one sentence for a winner by weights that is not the one most often right."""
    verdict = board.verdict
    leader = entry_of(board, verdict.leader)
    if leader is None or winner.model_key in verdict.tied or leader.model_key == winner.model_key:
        return ""
    pair = verdict.outside
    if board.deciding not in _RIGHT:
        return _outside_otherwise(board, winner, leader)
    if pair is None or pair.delta is None or pair.ci95 is None:
        return _tr("By your weights {winner} comes first, although {leader} was right more often.").format(
            winner=winner.label, leader=leader.label
        )
    low, high = sorted((abs(pair.ci95.low), abs(pair.ci95.high)))
    return _tr(
        "By your weights {winner} comes first, although {leader} was right {more} more times per 100"
        " ({low} to {high})."
    ).format(
        winner=winner.label,
        leader=leader.label,
        more=formats.points(abs(pair.delta)),
        low=formats.points(low),
        high=formats.points(high),
    )


def _outside_otherwise(board: Leaderboard, winner: Entry, leader: Entry) -> str:
    """The same where another metric than being right decides."""
    pair = board.verdict.outside
    text = _tr("By your weights {winner} comes first, although {leader} is better on “{metric}”")
    said = text.format(winner=winner.label, leader=leader.label, metric=metric_name(board.deciding))
    gap = gap_range(pair, board.deciding) if pair is not None else ""
    return f"{said}: {gap}." if gap else f"{said}."


def recommendation(board: Leaderboard) -> str:
    """Which model to use and what that choice costs, in two or three sentences; empty without a winner."""
    winner = entry_of(board, board.winner)
    if winner is None:
        return ""
    rival = _rival(board, winner)
    if rival is None:
        alone = board.verdict.code == "only_one"
        return _joined(_tr("There is nothing to compare it with.") if alone else "", _passed(board, winner))
    outside = _outside(board, winner)
    middle = outside or _against(board, winner, rival)
    return _joined(_passed(board, winner), middle, _cost_trade(winner, rival), _wait_trade(winner, rival))


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
    meaning = _tr("would settle the first two{price}").format(price=_price(planner))
    return Fact(more_tests(planner.more_cases), meaning)


def _few_words(board: Leaderboard) -> str:
    """Why no model has a place: each reason for a few models, else how many for which kind of reason."""
    failed = [entry for entry in board.entries if entry.failures]
    if len(failed) <= _NAMED_AT_MOST:
        return _failures(board)
    short = sum(entry.status is EntryStatus.INCOMPLETE for entry in failed)
    out = sum(entry.status is EntryStatus.FAILED for entry in failed)
    nothing = len(failed) - short - out
    return _joined(
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
        recommendation=_joined(headline(board), advice),
        facts=facts(board),
    )


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
