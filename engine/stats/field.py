"""The field of a run: all models as drafts, then their composites and places. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from engine.domain import RunStatus
from engine.stats.board import EntryStatus, MetricValue
from engine.stats.collecting import collect
from engine.stats.entries import Draft, Rules, draft
from engine.stats.inputs import BoardInput
from engine.stats.metrics import Reading, reading, weight_shares
from engine.stats.normalise import composite, field_range, terms
from engine.stats.ranking import Contender, Order, Place, place
from engine.stats.samples import BUILT_IN, Grid, cases_reached, make_grid

_GROUPS = (EntryStatus.RANKED, EntryStatus.INCOMPLETE, EntryStatus.FAILED, EntryStatus.NO_DATA)


@dataclass(frozen=True, slots=True)
class Field:
    """The drafts in order of key with the rules they are ranked by."""

    drafts: tuple[Draft, ...]
    grid: Grid
    order: Order
    readings: Mapping[str, Reading]

    def of(self, status: EntryStatus) -> list[Draft]:
        return [item for item in self.drafts if item.status is status]


@dataclass(frozen=True, slots=True)
class Scored:
    """Terms, composites and places of all drafts."""

    terms: Mapping[str, Mapping[str, MetricValue]]
    composites: Mapping[str, float | None]
    places: tuple[Place, ...]


def make_field(data: BoardInput, should_stop: Callable[[], bool] | None) -> Field:
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
    return Field(drafts, grid, order, readings)


def score_field(whole: Field) -> Scored:
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
    return Scored(all_terms, composites, tuple(places))


def _contender(item: Draft, composites: Mapping[str, float | None], whole: Field) -> Contender:
    weighted = {name: item.raw.get(name) for name in whole.order.shares}
    return Contender(item.key, composites[item.key], item.raw.get(whole.order.tie_breaker.name), weighted)


def winner_of(scored: Scored) -> str | None:
    return next((item.key for item in scored.places if item.rank is not None), None)
