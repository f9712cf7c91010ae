"""The field of a run: all models as drafts, then their composites and places. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Measured:
    """What places are given by: a model's status and its raw metrics."""

    key: str
    status: EntryStatus
    raw: Mapping[str, float | None]


def score_field(whole: Field) -> Scored:
    """Composites and places of a field."""
    rows = [Measured(item.key, item.status, item.raw) for item in whole.drafts]
    return score_rows(rows, whole.order, whole.readings)


def score_rows(rows: Sequence[Measured], order: Order, readings: Mapping[str, Reading]) -> Scored:
    """Composites and places. Only ranked models span a min-max range; with none of them the
    incomplete ones do, so that a run in its first minutes has an order at all."""
    groups = {status: [row for row in rows if row.status is status] for status in _GROUPS}
    eligible = groups[EntryStatus.RANKED] or groups[EntryStatus.INCOMPLETE]
    ranges = {name: field_range(row.raw.get(name) for row in eligible) for name in readings}
    all_terms = {row.key: terms(row.raw, readings, order.shares, ranges) for row in rows}
    composites = {key: composite(values) for key, values in all_terms.items()}
    places: list[Place] = []
    for status in _GROUPS:
        found = place([_contender(row, composites, order) for row in groups[status]], order)
        places += found if status is EntryStatus.RANKED else [replace(item, rank=None) for item in found]
    return Scored(all_terms, composites, tuple(places))


def _contender(row: Measured, composites: Mapping[str, float | None], order: Order) -> Contender:
    weighted = {name: row.raw.get(name) for name in order.shares}
    return Contender(row.key, composites[row.key], row.raw.get(order.tie_breaker.name), weighted)


def winner_of(scored: Scored) -> str | None:
    return next((item.key for item in scored.places if item.rank is not None), None)
