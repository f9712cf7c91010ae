"""The verdict of a run, from its field: who is compared, and what more tests would cost. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from engine.domain import RunStatus
from engine.stats.board import EntryStatus, PairResult, Planner, Verdict
from engine.stats.entries import Draft
from engine.stats.field import Field, Scored, winner_of
from engine.stats.inputs import BoardInput, seeds
from engine.stats.metrics import MIN, reading
from engine.stats.notes import common_reasons
from engine.stats.samples import SHARES, Grid, deciding_sample, deciding_values
from engine.stats.verdict import Contestant, Terms, compare_all, decide, standing, telling_cases


@dataclass(frozen=True, slots=True)
class Headline:
    """The verdict with its pairs, the standing by the deciding metric (keys, best first), and the
    cases on which the headline pair differs most."""

    verdict: Verdict
    pairs: tuple[PairResult, ...] = ()
    standing: tuple[str, ...] = ()
    differing_cases: tuple[str, ...] = ()


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


def _terms(data: BoardInput, grid: Grid, should_stop: Callable[[], bool] | None) -> Terms:
    metric = data.config.metrics.deciding
    rule = reading(metric, data.config.metrics.rules)
    return Terms(
        weights=grid.weights,
        unit_of=grid.unit_of,
        margin=data.config.statistics.margin,
        sign=-1.0 if rule.direction == MIN else 1.0,
        bounded=metric in SHARES,
        trials=data.trials,
        seed=seeds(data.config),
        should_stop=should_stop,
    )


def headline(
    data: BoardInput, whole: Field, scored: Scored, should_stop: Callable[[], bool] | None
) -> Headline:
    """The verdict over the complete ranked models; codes where there is no pair to judge."""
    metric = data.config.metrics.deciding
    so_far = data.status is RunStatus.RUNNING
    ranked = whole.of(EntryStatus.RANKED)
    if not ranked:
        return Headline(Verdict(None, "none_ranked", reasons=common_reasons(whole.drafts), so_far=so_far))
    measured = [item for item in ranked if item.mean is not None]
    if not measured:
        return Headline(Verdict(None, "nothing_scored", so_far=so_far))
    terms = _terms(data, whole.grid, should_stop)
    contestants = [_contestant(item, metric, scored.composites[item.key], whole.grid) for item in measured]
    ordered = standing(contestants, terms.sign)
    names = tuple(item.key for item in ordered)
    if len(ordered) == 1:
        alone = Verdict(None, "only_one", names[0], names[0], tied=names, so_far=so_far)
        return Headline(alone, standing=names)
    pairs = compare_all(ordered, terms)
    verdict = decide(ordered, pairs, terms, winner_of(scored))
    verdict = replace(verdict, planner=_priced(verdict, whole, data), so_far=so_far)
    first, second = (next(item for item in ordered if item.key == key) for key in (verdict.a, verdict.b))
    return Headline(verdict, pairs, names, telling_cases(first, second, whole.grid.case_ids))


def _priced(verdict: Verdict, whole: Field, data: BoardInput) -> Planner | None:
    """The planner with what the missing cases would cost, marking included, and how long they would
    last, for the two models of the pair."""
    planner, widths = verdict.planner, data.widths
    if planner is None or planner.more_cases is None:
        return planner
    calls = planner.more_cases * planner.trials
    pair = [item for item in whole.drafts if item.key in (verdict.a, verdict.b)]
    costs = [item.raw.get("cost") for item in pair]
    waits = [item.raw.get("latency") for item in pair]
    cost = None
    marking = _marking_of_one(whole, data.marking_usd)
    if all(value is not None for value in costs) and marking is not None:
        answers = sum(value or 0.0 for value in costs) / 1000.0 * calls
        cost = Decimal(f"{answers + marking * len(pair) * calls:.6f}")
    minutes = None
    if all(value is not None for value in waits) and all(item.key in widths for item in pair):
        minutes = _longest_lane(pair, [calls * (wait or 0.0) / 60_000.0 for wait in waits], widths)
    return replace(planner, cost_usd=cost, minutes=minutes)


def _longest_lane(pair: Sequence[Draft], minutes: Sequence[float], widths: Mapping[str, int]) -> float:
    """How long the fuller lane needs; two models of one connection share theirs."""
    lanes: dict[str, float] = {}
    for item, needed in zip(pair, minutes, strict=True):
        lane = item.entry.provider or item.key
        lanes[lane] = lanes.get(lane, 0.0) + needed / max(1, widths[item.key])
    return max(lanes.values())


def _marking_of_one(whole: Field, spent: Decimal | None) -> float | None:
    """What marking one answer cost on average; None = not known."""
    answered = sum(item.sample.counts.answered for item in whole.drafts)
    if spent is None or not answered:
        return None
    return float(spent) / answered
