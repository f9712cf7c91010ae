"""The verdict: all pairs on the deciding metric, the tied group, the first row that fits.

Rows and their order: spec 05 "Verdict". Emits codes and numbers only. Pure and cancellable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import TYPE_CHECKING

from engine.stats.board import Interval, PairResult, Planner, Verdict
from engine.stats.intervals import clopper_pearson_upper
from engine.stats.paired import Difference, difference, holm, sign_flips
from engine.stats.planner import Noise, cases_needed, total_cases

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Ints = NDArray[np.int64]

LEAST_UNITS = 5
LEAST_DIFFERING = 6
FLIP_BELOW = 20
ALPHA = 0.05
PLANNED_TRIALS = (1, 3, 5, 10)
PLANNED_ROWS = (1, 3, 7)
CODES = {
    1: "not_enough_tests",
    2: "same_few_differences",
    3: "few_differences",
    4: "better",
    5: "slightly_better",
    6: "same",
    7: "too_close",
}
_SLACK = 1e-12


@dataclass(frozen=True, slots=True)
class Contestant:
    """A complete ranked model as the verdict sees it.

    `values` are case means of the deciding metric, NaN where there is none; `within` the variance
    between trials of a case, None with one trial; `inverse_trials` the mean of 1 / trials.
    """

    key: str
    mean: float
    composite: float | None
    values: Floats
    within: float | None = None
    inverse_trials: float = 1.0


@dataclass(frozen=True, slots=True)
class Terms:
    """On what terms models are compared. `weights` and `unit_of` follow the cases.

    `sign` is 1 where more is better, else -1. `bounded`: values lie in 0..1 and the margin is in
    their unit; otherwise the margin is a share of the larger mean. `trials` is what a new case
    would be asked.
    """

    weights: Floats
    unit_of: Ints
    margin: float = 0.05
    sign: float = 1.0
    bounded: bool = True
    trials: int = 1
    seed: Sequence[int] = (0,)
    should_stop: Callable[[], bool] | None = None


def standing(contestants: Sequence[Contestant], sign: float = 1.0) -> list[Contestant]:
    """Best mean first; equal means (but for rounding) by composite, then key."""
    return sorted(contestants, key=lambda c: standing_key(c.key, c.mean, c.composite, sign))


def standing_key(
    key: str, mean: float, composite: float | None, sign: float = 1.0
) -> tuple[float, bool, float, str]:
    """What models are put in their standing by, ascending."""
    return (
        -sign * float(f"{mean:.10g}"),
        composite is None,
        -float(f"{composite or 0.0:.10g}"),
        key,
    )


def _margin(a: Contestant, b: Contestant, terms: Terms) -> float:
    return terms.margin if terms.bounded else terms.margin * max(abs(a.mean), abs(b.mean))


def _inside(interval: Interval | None, margin: float) -> bool:
    edge = margin + _SLACK
    return interval is not None and interval.low >= -edge and interval.high <= edge


def verdict_row(pair: PairResult, margin: float, *, bounded: bool = True) -> int:
    """The first row of the table that fits this pair, 1 to 7."""
    if pair.units < LEAST_UNITS or pair.delta is None:
        return 1
    if pair.differing < LEAST_DIFFERING:
        few = clopper_pearson_upper(pair.differing, pair.unit_count) <= margin + _SLACK
        return 2 if few and bounded else 3
    inside = _inside(pair.ci90, margin)
    separated = pair.p_holm is not None and pair.p_holm <= ALPHA
    if separated and pair.units < FLIP_BELOW:
        separated = pair.flip is not None and pair.flip <= ALPHA
    if separated:
        return 5 if inside else 4
    return 6 if inside else 7


def as_pair(
    a: Contestant, b: Contestant, seen: Difference, flip: float | None, adjusted: float | None
) -> PairResult:
    """The record of a computed difference, its row still open."""
    return PairResult(
        a=a.key,
        b=b.key,
        delta=seen.delta,
        se=seen.se,
        t=seen.t,
        df=seen.df,
        p=seen.p,
        p_holm=adjusted,
        flip=flip,
        ci95=seen.ci95,
        ci90=seen.ci90,
        units=seen.units,
        differing=seen.differing,
        row=None,
        unit_count=seen.unit_count,
        cases=seen.cases,
        higher=seen.higher,
        lower=seen.lower,
    )


def compare_two(a: Contestant, b: Contestant, terms: Terms) -> PairResult:
    """One pair by itself, without an adjusted p and without a row."""
    seen = difference(a.values, b.values, terms.weights, terms.unit_of)
    flip = sign_flips([seen.unit_sums], seed=terms.seed, should_stop=terms.should_stop)[0]
    return as_pair(a, b, seen, flip if seen.cases else None, None)


def compare_all(ordered: Sequence[Contestant], terms: Terms) -> tuple[PairResult, ...]:
    """All K(K-1)/2 pairs, the better standing first, with Holm over all of them and their rows."""
    both = list(combinations(ordered, 2))
    seen = [difference(a.values, b.values, terms.weights, terms.unit_of) for a, b in both]
    flips = sign_flips([item.unit_sums for item in seen], seed=terms.seed, should_stop=terms.should_stop)
    adjusted = holm([item.p for item in seen])
    pairs = []
    for (a, b), item, flip, p_holm in zip(both, seen, flips, adjusted, strict=True):
        pair = as_pair(a, b, item, flip if item.cases else None, p_holm)
        row = verdict_row(pair, _margin(a, b, terms), bounded=terms.bounded)
        pairs.append(replace(pair, row=row))
    return tuple(pairs)


def pair_of(pairs: Sequence[PairResult], a: str, b: str) -> PairResult | None:
    """The pair of two models, whichever is named first."""
    return next((pair for pair in pairs if {pair.a, pair.b} == {a, b}), None)


def telling_cases(a: Contestant, b: Contestant, case_ids: Sequence[str], most: int = 10) -> tuple[str, ...]:
    """The cases on which two models differ, largest gap first, then by id."""
    gaps = [(abs(float(x - y)), name) for x, y, name in zip(a.values, b.values, case_ids, strict=True)]
    apart = sorted((-gap, name) for gap, name in gaps if gap > _SLACK)
    return tuple(name for _, name in apart[:most])


def tied_group(names: Sequence[str], pairs: Sequence[PairResult], sign: float) -> tuple[str, ...]:
    """The leader and every model that it is not shown to be better than (row 4); `names` best first."""
    leader = names[0]
    tied = [leader]
    for other in names[1:]:
        pair = pair_of(pairs, leader, other)
        beaten = pair is not None and pair.row == 4 and sign * (pair.delta or 0.0) > 0.0
        if not beaten:
            tied.append(other)
    return tuple(tied)


def noise_of(pair: PairResult, a: Contestant, b: Contestant) -> Noise | None:
    """What the pair's differences vary by; groups and weights are inside as a design effect."""
    if pair.se is None:
        return None
    variance = pair.se * pair.se * pair.cases
    if a.within is None or b.within is None:
        return Noise(variance, 0.0)
    now = a.within * a.inverse_trials + b.within * b.inverse_trials
    return Noise(max(0.0, variance - now), a.within + b.within)


def plan(pair: PairResult, a: Contestant, b: Contestant, terms: Terms, pair_count: int) -> Planner:
    """How many cases would settle a gap of the size seen, at the trials of this run.

    Below five units the answer is at least five: fewer settle nothing.
    """
    noise, gap = noise_of(pair, a, b), pair.delta
    least = pair.cases + 1
    if pair.units < LEAST_UNITS:
        per_unit = pair.cases / pair.units if pair.units else 1.0
        least = max(least, math.ceil(LEAST_UNITS * per_unit - 1e-9))
    total = None
    by_trials: dict[int, int] = {}
    if noise is not None and gap is not None:
        total = total_cases(noise, gap, trials=terms.trials, pairs=pair_count, cases=pair.cases)
        by_trials = (
            _by_trials(noise, gap, terms.trials, pair_count) if noise.within or terms.trials > 1 else {}
        )
    if total is None and pair.units < LEAST_UNITS:
        total = least
    if total is None:
        return Planner(None, None, may_never=True, trials=terms.trials, gap=gap)
    total = max(total, least)
    return Planner(total - pair.cases, total, trials=terms.trials, gap=gap, by_trials=by_trials)


def _by_trials(noise: Noise, gap: float, trials: int, pairs: int) -> dict[int, int]:
    wanted = sorted({*PLANNED_TRIALS, trials})
    found = {count: cases_needed(noise, gap, trials=count, pairs=pairs) for count in wanted}
    return {count: cases for count, cases in found.items() if cases is not None}


def choose(names: Sequence[str], pairs: Sequence[PairResult], sign: float, winner: str | None) -> Verdict:
    """The verdict over at least two models in their standing, without a planner.

    Headline: the leader against the best other member of the tied group; if it is alone there,
    against the next by mean.
    """
    leader = names[0]
    tied = tied_group(names, pairs, sign)
    other = tied[1] if len(tied) > 1 else names[1]
    pair = pair_of(pairs, leader, other)
    if pair is None or pair.row is None:
        raise ValueError("the headline pair has not been compared")
    outside = None
    if winner is not None and winner in names and winner not in tied:
        outside = pair_of(pairs, leader, winner)
    return Verdict(
        row=pair.row,
        code=CODES[pair.row],
        leader=leader,
        a=leader,
        b=other,
        pair=pair,
        tied=tied,
        outside=outside,
    )


def decide(
    ordered: Sequence[Contestant], pairs: Sequence[PairResult], terms: Terms, winner: str | None
) -> Verdict:
    """The verdict over at least two contestants in their standing, from their compared pairs.

    The planner stands beside rows 1, 3 and 7.
    """
    by_key: Mapping[str, Contestant] = {item.key: item for item in ordered}
    verdict = choose([item.key for item in ordered], pairs, terms.sign, winner)
    pair = verdict.pair
    if pair is None or verdict.row not in PLANNED_ROWS:
        return verdict
    return replace(verdict, planner=plan(pair, by_key[pair.a], by_key[pair.b], terms, len(pairs)))
