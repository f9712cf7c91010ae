"""What the leaderboard and the verdict are, as frozen records. Built by `leaderboard` and `verdict`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Any

from engine.domain import Note


class EntryStatus(StrEnum):
    """`incomplete`: coverage below the minimum; shown after the complete ones, never winner."""

    RANKED = "ranked"
    INCOMPLETE = "incomplete"
    FAILED = "failed"
    NO_DATA = "no_data"


@dataclass(frozen=True, slots=True)
class Interval:
    """A range in the unit of its value (0..1 for scores)."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class MetricValue:
    """One term of the composite. None = not measured; contribution = normalized x weight used."""

    raw: float | None
    normalized: float | None
    weight: float
    contribution: float | None
    direction: str = "max"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why something is so: a code and its numbers (measured, required, …).

    Failures: gate_accuracy gate_error_rate gate_cost gate_latency_p95 gate_features gate_context
    gate_privacy privacy_undeclared features_unknown context_unknown cannot_verify;
    every_call_failed, not_asked, or the code of a `SkippedModel`.
    Warnings: incomplete metric_unknown errors stopped score_errors unscored refused empty cut_off
    throttled cost_estimated dominated, and the last five of the gates where they are allowed.
    Recommendation: winner strength weakness.
    """

    code: str
    values: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Entry:
    """One row of the board. Counts: `planned`, `answered`, `errors`, `stopped` are calls;
    `passed_cases` of `scored_cases` are cases (passed: mean pass over trials >= 0.5). `interval` and
    `deciding_mean` are of the deciding metric, `deciding_place` counts by it from 1; `tied`: a
    member of the verdict's tied group. `first_token_p50_ms` is over the answers that were streamed,
    `priced_calls` counts answers whose cost is known."""

    model_key: str
    label: str
    status: EntryStatus
    rank: int | None = None
    composite: float | None = None
    metrics: Mapping[str, MetricValue] = field(default_factory=dict)
    interval: Interval | None = None
    composite_interval: Interval | None = None
    chance_first: float | None = None
    coverage: float = 0.0
    failures: tuple[Reason, ...] = ()
    warnings: tuple[Reason, ...] = ()
    planned: int = 0
    answered: int = 0
    errors: int = 0
    stopped: int = 0
    scored_cases: int = 0
    passed_cases: int = 0
    refused: int = 0
    empty: int = 0
    cut_off: int = 0
    score_errors: int = 0
    throttled: int = 0
    latency_p50_ms: float | None = None
    latency_p95_ms: float | None = None
    total_cost_usd: Decimal | None = None
    cost_per_1k_usd: float | None = None
    cost_per_correct_usd: float | None = None
    by_tag: Mapping[str, float] = field(default_factory=dict)
    deciding_mean: float | None = None
    deciding_place: int | None = None
    tied: bool = False
    latency_max_ms: float | None = None
    first_token_p50_ms: float | None = None
    total_tokens: int | None = None
    priced_calls: int = 0


@dataclass(frozen=True, slots=True)
class PairResult:
    """One paired comparison a - b on the deciding metric; None where not computable.

    `units` is the effective number n_e, `unit_count` how many cases or groups there are (equal
    without weights and unequal groups); `differing` of `unit_count` units differ. `t` is also None
    where the error is 0 and the gap is not. On `higher` of the `cases` a's value is the higher one, on
    `lower` b's. Where less is better, a negative delta favours a.
    """

    a: str
    b: str
    delta: float | None
    se: float | None
    t: float | None
    df: float | None
    p: float | None
    p_holm: float | None
    flip: float | None
    ci95: Interval | None
    ci90: Interval | None
    units: float
    differing: int
    row: int | None
    unit_count: int = 0
    cases: int = 0
    higher: int = 0
    lower: int = 0


@dataclass(frozen=True, slots=True)
class Planner:
    """How much more evidence would settle the headline pair.

    `more_cases` None with `may_never` True = may never separate. `cost_usd` and `minutes` are for
    asking the two models of the pair `more_cases` cases; None = not known. `gap` is the gap planned
    for. `by_trials`: total cases by trials per case, empty where each case was asked once.
    """

    more_cases: int | None
    total_cases: int | None = None
    may_never: bool = False
    cost_usd: Decimal | None = None
    minutes: float | None = None
    trials: int = 1
    gap: float | None = None
    by_trials: Mapping[int, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The headline. `row` 1..7, or None before there is a pair; then `code` says why:
    none_ranked, only_one, nothing_scored. `a` is the leader, `b` the other of the pair. Codes of rows
    1 to 7: not_enough_tests, same_few_differences, few_differences, better, slightly_better, same,
    too_close. `outside` is the pair leader - winner where the winner is not in the tied group."""

    row: int | None
    code: str
    leader: str | None = None
    a: str | None = None
    b: str | None = None
    pair: PairResult | None = None
    tied: tuple[str, ...] = ()
    planner: Planner | None = None
    reasons: tuple[Reason, ...] = ()
    so_far: bool = False
    outside: PairResult | None = None


@dataclass(frozen=True, slots=True)
class WeightChange:
    """The smallest change of one weight at which another model comes first.

    `factor` multiplies the weight of `metric` (others stay): above 1 it matters more, 0 = not at
    all. `share_before` and `share_after` are its shares of all weights.
    """

    metric: str
    factor: float
    share_before: float
    share_after: float
    leader: str


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """The whole result: entries in board order, the verdict, all pairs, notes.

    `relative` names the weighted metrics whose score depends on who else ran: where it is not
    empty, composites of different runs must not be compared. `differing_cases`: up to 10 cases on which
    the headline pair differs, largest gap first.
    """

    entries: tuple[Entry, ...]
    winner: str | None
    verdict: Verdict
    pairs: tuple[PairResult, ...] = ()
    notes: tuple[Note, ...] = ()
    weights: Mapping[str, float] = field(default_factory=dict)
    deciding: str = "accuracy"
    cases: int = 0
    trials: int = 1
    planned: int = 0
    finished: int = 0
    recommendation: tuple[Reason, ...] = ()
    weight_change: WeightChange | None = None
    margin: float = 0.05
    relative: tuple[str, ...] = ()
    differing_cases: tuple[str, ...] = ()
