"""Which model to use and what that choice costs, in two or three sentences."""

from __future__ import annotations

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.gaps import gap_range, likely_gap
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.verdict_rows import entry_of, joined
from engine.stats.board import Entry, EntryStatus, Leaderboard

_RIGHT = frozenset({"accuracy", "pass_rate"})
_FLAT_RATIO = 1.15  # below this a price or a wait counts as the same


def _tr(text: str) -> str:
    return QCoreApplication.translate("Verdict", text)


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
    return ratio if ratio >= _FLAT_RATIO else None


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
        return joined(compared, more)
    if verdict.row in (2, 6):
        return joined(compared, _tr("In practice they are the same on your tests."))
    if verdict.row == 5:
        return joined(compared, _tr("That gap is real, and smaller than the gap you care about."))
    if pair.ci95 is None:
        return compared
    return joined(compared, likely_gap(pair, board.deciding))


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
        return joined(_tr("There is nothing to compare it with.") if alone else "", _passed(board, winner))
    outside = _outside(board, winner)
    middle = outside or _against(board, winner, rival)
    return joined(_passed(board, winner), middle, _cost_trade(winner, rival), _wait_trade(winner, rival))
