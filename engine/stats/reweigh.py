"""A board under other weights, from the board alone: no answer is read again. Pure.

Weights move places, overall scores, the winner and what is said of it. They move neither what was
measured nor how any two models compare on the deciding metric.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from engine.config.schema import Config
from engine.stats.board import (
    Entry,
    EntryStatus,
    Interval,
    Leaderboard,
    MetricValue,
    PairResult,
    Reason,
    Verdict,
)
from engine.stats.field import Measured, Scored, score_rows, winner_of
from engine.stats.metrics import MIN, reading, relative_metrics, weight_shares
from engine.stats.ranking import Order, Place
from engine.stats.recommend import recommendation
from engine.stats.verdict import choose, standing_key
from engine.stats.what_if import nearest_change

_BY_WEIGHT = frozenset({"metric_unknown", "dominated"})
_GATES = frozenset(
    {"incomplete", "cannot_verify", "privacy_undeclared", "features_unknown", "context_unknown"}
)


def reweighed(board: Leaderboard, config: Config, weights: Mapping[str, float]) -> Leaderboard:
    """The board that `build_board` would give under these weights, as far as a board can tell.

    What takes resamples of the answers is not known here: chances of coming first and likely ranges
    of the overall scores are None. Planner and differing cases stay only beside the pair they were made
    for: weights break ties, so the headline may be about two others. Cheap
    enough for a slider. The weights and the config are those of the project with others in mind; one
    of the weights must be positive.
    """
    metrics = replace(config.metrics, weights=dict(weights))
    shares = weight_shares(weights)
    names = dict.fromkeys([*shares, *(name for entry in board.entries for name in entry.metrics)])
    readings = {name: reading(name, metrics.rules) for name in names}
    order = Order(shares, readings, reading(metrics.tie_breaker, metrics.rules))
    rows = [
        Measured(entry.model_key, entry.status, {n: value.raw for n, value in entry.metrics.items()})
        for entry in board.entries
    ]
    scored = score_rows(rows, order, readings)
    winner = winner_of(scored)
    sign = -1.0 if reading(board.deciding, metrics.rules).direction == MIN else 1.0
    standing = _standing(board, scored, sign)
    pairs = _pairs(board.pairs, standing)
    verdict = _verdict(board.verdict, pairs, standing, sign, winner)
    entries = _entries(board, scored, standing, verdict, weights)
    return replace(
        board,
        entries=entries,
        winner=winner,
        verdict=verdict,
        pairs=pairs,
        weights=dict(shares),
        recommendation=recommendation(entries, winner, metrics, readings),
        weight_change=nearest_change(entries, order, winner),
        relative=relative_metrics(replace(config, metrics=metrics)),
        differing_cases=board.differing_cases if _same_pair(board.verdict, verdict) else (),
    )


def _same_pair(before: Verdict, after: Verdict) -> bool:
    return {before.a, before.b} == {after.a, after.b}


def _standing(board: Leaderboard, scored: Scored, sign: float) -> tuple[str, ...]:
    """The ranked models by the deciding metric, best first."""
    keyed = [
        standing_key(entry.model_key, entry.deciding_mean, scored.composites[entry.model_key], sign)
        for entry in board.entries
        if entry.status is EntryStatus.RANKED and entry.deciding_mean is not None
    ]
    return tuple(key[-1] for key in sorted(keyed))


def _verdict(
    before: Verdict, pairs: Sequence[PairResult], standing: Sequence[str], sign: float, winner: str | None
) -> Verdict:
    if before.row is None or len(standing) < 2:
        return before
    found = choose(standing, pairs, sign, winner)
    planner = before.planner if _same_pair(before, found) else None
    return replace(found, planner=planner, so_far=before.so_far)


def _pairs(pairs: Sequence[PairResult], standing: Sequence[str]) -> tuple[PairResult, ...]:
    """All pairs in the order of the standing; weights change it among models of equal means."""
    known = {(pair.a, pair.b): pair for pair in pairs}
    known |= {(pair.b, pair.a): _turned(pair) for pair in pairs}
    return tuple(known[both] for both in combinations(standing, 2) if both in known)


def _turned(pair: PairResult) -> PairResult:
    """The same comparison seen from the other side."""

    def minus(interval: Interval | None) -> Interval | None:
        return None if interval is None else Interval(0.0 - interval.high, 0.0 - interval.low)

    return replace(
        pair,
        a=pair.b,
        b=pair.a,
        delta=None if pair.delta is None else 0.0 - pair.delta,
        t=None if pair.t is None else 0.0 - pair.t,
        ci95=minus(pair.ci95),
        ci90=minus(pair.ci90),
        higher=pair.lower,
        lower=pair.higher,
    )


def _entries(
    board: Leaderboard,
    scored: Scored,
    standing: Sequence[str],
    verdict: Verdict,
    weights: Mapping[str, float],
) -> tuple[Entry, ...]:
    by_key = {entry.model_key: entry for entry in board.entries}
    return tuple(
        replace(
            by_key[spot.key],
            rank=spot.rank,
            composite=scored.composites[spot.key],
            metrics=scored.terms[spot.key],
            composite_interval=None,
            chance_first=None,
            deciding_place=standing.index(spot.key) + 1 if spot.key in standing else None,
            tied=spot.key in verdict.tied,
            warnings=_warnings(by_key[spot.key], spot, scored.terms[spot.key], weights),
        )
        for spot in scored.places
    )


def _warnings(
    entry: Entry, spot: Place, terms: Mapping[str, MetricValue], weights: Mapping[str, float]
) -> tuple[Reason, ...]:
    """The warnings in the order of a new board; those that follow from weights are made anew."""
    behind = [Reason("dominated", {"by": spot.behind})] if spot.behind else []
    if entry.status is EntryStatus.NO_DATA:
        return tuple(behind)
    unknown = [
        Reason("metric_unknown", {"metric": name})
        for name, weight in weights.items()
        if weight > 0.0 and (name not in terms or terms[name].raw is None)
    ]
    counted = weights.get("reliability", 0.0) > 0.0
    kept = [
        replace(reason, values={**reason.values, "weighted": counted}) if reason.code == "errors" else reason
        for reason in entry.warnings
        if reason.code not in _BY_WEIGHT
    ]
    first = [reason for reason in kept if reason.code in _GATES]
    rest = [reason for reason in kept if reason.code not in _GATES]
    return (*first, *unknown, *rest, *behind)
