"""The leaderboard of a run: ranks, verdict, chances and notes from the calls alone.

`build_board` is pure: the same calls give the same board to the last digit, in whatever order
calls, cases and models are handed in. It is used for live boards, finished runs, re-scoring and
what-if alike. It may run on any thread, never on the one that draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal

from engine.config.schema import Card, Config, ModelEntry
from engine.domain import CallDone, Case, RunStatus, SkippedModel
from engine.stats.board import (
    Entry,
    EntryStatus,
    Leaderboard,
    MetricValue,
    PairResult,
    Planner,
    Reason,
    Verdict,
)
from engine.stats.board_json import board_from_json, board_to_json
from engine.stats.chance import Chance, Resampling, chances
from engine.stats.entries import Draft, Rules, Standing, draft, finish
from engine.stats.metrics import MIN, Reading, reading, relative_metrics, weight_shares
from engine.stats.normalise import composite, field_range, terms
from engine.stats.notes import board_notes, common_reasons
from engine.stats.ranking import Contender, Order, Place, place
from engine.stats.recommend import recommendation
from engine.stats.samples import (
    BUILT_IN,
    SHARES,
    Grid,
    ModelSample,
    cases_reached,
    collect,
    deciding_sample,
    deciding_values,
    make_grid,
)
from engine.stats.verdict import Contestant, Terms, compare_all, decide, standing
from engine.stats.what_if import nearest_change

__all__ = ["BoardInput", "board_from_json", "board_to_json", "build_board", "what_if"]

_GROUPS = (EntryStatus.RANKED, EntryStatus.INCOMPLETE, EntryStatus.FAILED, EntryStatus.NO_DATA)


@dataclass(frozen=True, slots=True)
class BoardInput:
    """Everything a board is built from.

    `entries` are all compared models, skipped ones included; `cards` the merged facts by model key
    (an entry without one uses its own card); `cases` the planned cases; `calls` at most one per
    planned cell. `waits` is seconds waited by connection id. `widths` is each model's lane width,
    for the minutes of the planner; without it they are not known.
    """

    config: Config
    entries: tuple[ModelEntry, ...]
    cases: tuple[Case, ...]
    calls: Sequence[CallDone]
    cards: Mapping[str, Card] = field(default_factory=dict)
    skipped: tuple[SkippedModel, ...] = ()
    planned: int = 0
    trials: int = 1
    status: RunStatus = RunStatus.COMPLETED
    waits: Mapping[str, float] = field(default_factory=dict)
    widths: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Field:
    """The drafts in order of key with the rules they are ranked by."""

    drafts: tuple[Draft, ...]
    grid: Grid
    order: Order
    readings: Mapping[str, Reading]

    def of(self, status: EntryStatus) -> list[Draft]:
        return [item for item in self.drafts if item.status is status]


@dataclass(frozen=True, slots=True)
class _Scored:
    """Terms, composites and places of all drafts."""

    terms: Mapping[str, Mapping[str, MetricValue]]
    composites: Mapping[str, float | None]
    places: tuple[Place, ...]


def _seed(config: Config) -> tuple[int, int]:
    return abs(config.statistics.seed), abs(config.run.seed or 0)


def _field_of(data: BoardInput, should_stop: Callable[[], bool] | None) -> _Field:
    config = data.config
    grid = make_grid(data.cases)
    entries = sorted((entry for entry in data.entries if entry.enabled), key=lambda entry: entry.key)
    samples = collect(grid, [entry.key for entry in entries], data.calls, should_stop=should_stop)
    reached = cases_reached(samples.values()) if data.status is RunStatus.RUNNING else None
    rules = Rules(
        config, grid, data.cards, {item.model_key: item for item in data.skipped}, data.trials, reached
    )
    drafts = tuple(draft(entry, samples[entry.key], rules) for entry in entries)
    metrics = config.metrics
    shares = weight_shares(metrics.weights)
    custom = sorted({name for sample in samples.values() for name in sample.custom} - set(shares))
    names = dict.fromkeys([*shares, *BUILT_IN, *custom])
    readings = {name: reading(name, metrics.rules) for name in names}
    order = Order(shares, readings, reading(metrics.tie_breaker, metrics.rules))
    return _Field(drafts, grid, order, readings)


def _score(whole: _Field) -> _Scored:
    """Composites and places. Only ranked models span a min-max range; with none of them the
    incomplete ones do, so that a run in its first minutes has an order at all."""
    eligible = whole.of(EntryStatus.RANKED) or whole.of(EntryStatus.INCOMPLETE)
    ranges = {name: field_range(item.raw.get(name) for item in eligible) for name in whole.readings}
    shares = whole.order.shares
    all_terms = {d.key: terms(d.raw, whole.readings, shares, ranges) for d in whole.drafts}
    composites = {key: composite(values) for key, values in all_terms.items()}
    places: list[Place] = []
    for status in _GROUPS:
        contenders = [_contender(item, composites, whole) for item in whole.of(status)]
        found = place(contenders, whole.order)
        places += found if status is EntryStatus.RANKED else [replace(item, rank=None) for item in found]
    return _Scored(all_terms, composites, tuple(places))


def _contender(item: Draft, composites: Mapping[str, float | None], whole: _Field) -> Contender:
    weighted = {name: item.raw.get(name) for name in whole.order.shares}
    return Contender(item.key, composites[item.key], item.raw.get(whole.order.tie_breaker.name), weighted)


def _contestant(item: Draft, metric: str, score: float | None, grid: Grid) -> Contestant:
    sample = item.sample
    within = {"accuracy": sample.within, "pass_rate": sample.within_pass}.get(metric)
    trials = deciding_sample(sample, metric, grid).trials
    return Contestant(
        key=item.key,
        mean=item.mean if item.mean is not None else 0.0,
        composite=score,
        values=deciding_values(sample, metric),
        within=within,
        inverse_trials=float((1.0 / trials).mean()),
    )


def _verdict(
    data: BoardInput, whole: _Field, scored: _Scored, should_stop: Callable[[], bool] | None
) -> tuple[Verdict, tuple[PairResult, ...], list[str]]:
    """The verdict, all pairs, and the standing by the deciding metric."""
    metric = data.config.metrics.deciding
    rule = reading(metric, data.config.metrics.rules)
    so_far = data.status is RunStatus.RUNNING
    ranked = whole.of(EntryStatus.RANKED)
    if not ranked:
        return Verdict(None, "none_ranked", reasons=common_reasons(whole.drafts), so_far=so_far), (), []
    measured = [item for item in ranked if item.mean is not None]
    if not measured:
        return Verdict(None, "nothing_scored", so_far=so_far), (), []
    setting = Terms(
        weights=whole.grid.weights,
        unit_of=whole.grid.unit_of,
        margin=data.config.statistics.margin,
        sign=-1.0 if rule.direction == MIN else 1.0,
        bounded=metric in SHARES,
        trials=data.trials,
        seed=_seed(data.config),
        should_stop=should_stop,
    )
    contestants = [_contestant(item, metric, scored.composites[item.key], whole.grid) for item in measured]
    ordered = standing(contestants, setting.sign)
    names = [item.key for item in ordered]
    if len(ordered) == 1:
        return Verdict(None, "only_one", names[0], names[0], tied=(names[0],), so_far=so_far), (), names
    pairs = compare_all(ordered, setting)
    verdict = decide(ordered, pairs, setting, _winner(scored))
    planner = _priced(verdict, whole, data.widths)
    return replace(verdict, planner=planner, so_far=so_far), pairs, names


def _winner(scored: _Scored) -> str | None:
    return next((item.key for item in scored.places if item.rank is not None), None)


def _priced(verdict: Verdict, whole: _Field, widths: Mapping[str, int]) -> Planner | None:
    """The planner with what the missing cases would cost and last, for the two models of the pair."""
    planner = verdict.planner
    if planner is None or planner.more_cases is None:
        return planner
    calls = planner.more_cases * planner.trials
    pair = [item for item in whole.drafts if item.key in (verdict.a, verdict.b)]
    costs = [item.raw.get("cost") for item in pair]
    waits = [item.raw.get("latency") for item in pair]
    cost = None
    if all(value is not None for value in costs):
        cost = Decimal(f"{sum(value or 0.0 for value in costs) / 1000.0 * calls:.6f}")
    minutes = None
    if all(value is not None for value in waits) and all(item.key in widths for item in pair):
        lanes = [max(1, widths[item.key]) for item in pair]
        minutes = max(
            calls * (wait or 0.0) / 60_000.0 / lane for wait, lane in zip(waits, lanes, strict=True)
        )
    return replace(planner, cost_usd=cost, minutes=minutes)


def _chances(
    data: BoardInput, whole: _Field, scored: _Scored, should_stop: Callable[[], bool] | None
) -> Mapping[str, Chance]:
    statistics = data.config.statistics
    if not statistics.enabled:
        return {}
    samples: list[ModelSample] = [
        item.sample for item in whole.of(EntryStatus.RANKED) if scored.composites[item.key] is not None
    ]
    how = Resampling(statistics.resamples, _seed(data.config), statistics.confidence, should_stop)
    return chances(samples, whole.grid, whole.order.shares, whole.readings, how)


def _rows(
    whole: _Field, scored: _Scored, chance: Mapping[str, Chance], verdict: Verdict, names: Sequence[str]
) -> tuple[Entry, ...]:
    by_key = {item.key: item for item in whole.drafts}
    rows = []
    for spot in scored.places:
        luck = chance.get(spot.key)
        behind = (Reason("dominated", {"by": spot.behind}),) if spot.behind else ()
        rows.append(
            finish(
                by_key[spot.key],
                Standing(
                    rank=spot.rank,
                    composite=scored.composites[spot.key],
                    terms=scored.terms[spot.key],
                    composite_interval=luck.composite if luck else None,
                    chance_first=luck.first if luck else None,
                    deciding_place=names.index(spot.key) + 1 if spot.key in names else None,
                    tied=spot.key in verdict.tied,
                    warnings=behind,
                ),
                whole.grid,
            )
        )
    return tuple(rows)


def build_board(data: BoardInput, *, should_stop: Callable[[], bool] | None = None) -> Leaderboard:
    """Ranks the models, words nothing: codes and numbers for the front end.

    `should_stop` is asked often; a yes raises `Cancelled` and nothing is returned.
    """
    whole = _field_of(data, should_stop)
    scored = _score(whole)
    verdict, pairs, names = _verdict(data, whole, scored, should_stop)
    chance = _chances(data, whole, scored, should_stop)
    rows = _rows(whole, scored, chance, verdict, names)
    winner = _winner(scored)
    finished = sum(row.answered + row.errors for row in rows)
    planned = data.planned or sum(item.planned for item in whole.drafts)
    config = data.config
    return Leaderboard(
        entries=rows,
        winner=winner,
        verdict=verdict,
        pairs=pairs,
        notes=board_notes(
            config, whole.drafts, waits=data.waits, status=data.status, finished=finished, planned=planned
        ),
        weights=dict(whole.order.shares),
        deciding=config.metrics.deciding,
        cases=len(whole.grid.case_ids),
        trials=data.trials,
        planned=planned,
        finished=finished,
        recommendation=recommendation(rows, winner, config.metrics, whole.readings),
        weight_change=nearest_change(rows, whole.order, winner),
        margin=config.statistics.margin,
        relative=relative_metrics(config),
    )


def what_if(
    data: BoardInput, weights: Mapping[str, float], *, should_stop: Callable[[], bool] | None = None
) -> Leaderboard:
    """The board under other weights, by the same function and from the same answers."""
    config = replace(data.config, metrics=replace(data.config.metrics, weights=dict(weights)))
    return build_board(replace(data, config=config), should_stop=should_stop)
