"""One row of the board before ranking: what a model did, whether it may be ranked, and why not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from engine.config.schema import Card, Config, ModelEntry
from engine.domain import SkippedModel
from engine.stats.board import Entry, EntryStatus, Interval, MetricValue, Reason
from engine.stats.gates import Gates, check_card, measured_gates
from engine.stats.intervals import clustered, mean_interval, percentile
from engine.stats.metrics import cost_per_correct, error_rate, no_metrics, raw_metrics
from engine.stats.samples import Grid, ModelSample, deciding_sample

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

_SLACK = 1e-9


@dataclass(frozen=True, slots=True)
class Draft:
    """A model with everything that does not depend on the others."""

    entry: ModelEntry
    sample: ModelSample
    raw: Mapping[str, float | None]
    status: EntryStatus
    coverage: float
    failures: tuple[Reason, ...]
    warnings: tuple[Reason, ...]
    mean: float | None
    interval: Interval | None
    planned: int

    @property
    def key(self) -> str:
        """The entry's key."""
        return self.entry.key


@dataclass(frozen=True, slots=True)
class Rules:
    """What drafts are judged by. `reached` counts the cases that any model was asked, and is set
    only while the run is going: then coverage is asked for over those, not over the whole plan."""

    config: Config
    grid: Grid
    cards: Mapping[str, Card]
    skipped: Mapping[str, SkippedModel]
    trials: int
    reached: int | None = None


def _no_data(sample: ModelSample, skipped: SkippedModel | None) -> Reason:
    """The one line that says why a model has no result."""
    if skipped is not None:
        return Reason(skipped.code, {"reason": skipped.reason, "fix": skipped.fix})
    if sample.counts.errors:
        error = sample.first_error
        return Reason(
            "every_call_failed",
            {
                "count": sample.counts.errors,
                "kind": error.kind if error else "unknown",
                "status": error.status if error else None,
                "message": error.message if error else "",
            },
        )
    return Reason("not_asked", {"stopped": sample.counts.stopped})


def _warnings(sample: ModelSample, raw: Mapping[str, float | None], config: Config) -> list[Reason]:
    counts = sample.counts
    found = []
    for name, weight in config.metrics.weights.items():
        if weight > 0.0 and raw.get(name) is None:
            found.append(Reason("metric_unknown", {"metric": name}))
    if counts.errors:
        attempted = counts.answered + counts.errors
        weighted = config.metrics.weights.get("reliability", 0.0) > 0.0
        found.append(Reason("errors", {"count": counts.errors, "of": attempted, "weighted": weighted}))
    table = (
        ("stopped", counts.stopped),
        ("score_errors", counts.score_errors),
        ("unscored", counts.unscored),
        ("refused", counts.refused),
        ("empty", counts.empty),
        ("cut_off", counts.cut_off),
        ("throttled", counts.throttled_calls),
        ("cost_estimated", counts.estimated_cost),
    )
    found += [Reason(code, {"count": count, "of": counts.answered}) for code, count in table if count]
    return found


def _coverage(sample: ModelSample, rules: Rules) -> tuple[float, bool]:
    """Answered over planned cases, and whether that is enough to be ranked."""
    planned = len(rules.grid.case_ids)
    answered = float((sample.answered > 0.0).sum())
    share = answered / planned if planned else 0.0
    asked = rules.reached if rules.reached is not None else planned
    enough = answered >= rules.config.statistics.min_coverage * asked - _SLACK
    return share, bool(answered and enough)


def draft(entry: ModelEntry, sample: ModelSample, rules: Rules) -> Draft:
    """Everything about one model that its own calls and its card decide."""
    config, skipped = rules.config, rules.skipped.get(entry.key)
    has_data = skipped is None and sample.counts.answered > 0
    # Without one answer nothing was measured; a reliability of 0 would make a board of zeros.
    raw = raw_metrics(sample) if has_data else no_metrics()
    coverage, enough = _coverage(sample, rules)
    planned = 0 if skipped is not None else len(rules.grid.case_ids) * rules.trials
    mean, interval = _deciding(sample, rules)
    if not has_data:
        failure = _no_data(sample, skipped)
        return Draft(
            entry, sample, raw, EntryStatus.NO_DATA, coverage, (failure,), (), mean, interval, planned
        )
    gates = _gates(entry, sample, raw, rules)
    warnings = [*gates.warnings, *_warnings(sample, raw, config)]
    status = EntryStatus.FAILED if gates.failures else EntryStatus.RANKED
    if status is EntryStatus.RANKED and not enough:
        status = EntryStatus.INCOMPLETE
        warnings.insert(0, _incomplete(sample, rules))
    return Draft(
        entry, sample, raw, status, coverage, gates.failures, tuple(warnings), mean, interval, planned
    )


def _gates(entry: ModelEntry, sample: ModelSample, raw: Mapping[str, float | None], rules: Rules) -> Gates:
    card = rules.cards.get(entry.key, entry.card)
    return check_card(rules.config, card) + measured_gates(rules.config, raw, error_rate(sample))


def _incomplete(sample: ModelSample, rules: Rules) -> Reason:
    return Reason(
        "incomplete",
        {
            "answered": int((sample.answered > 0.0).sum()),
            "planned": len(rules.grid.case_ids),
            "required": rules.config.statistics.min_coverage,
        },
    )


def _deciding(sample: ModelSample, rules: Rules) -> tuple[float | None, Interval | None]:
    values = deciding_sample(sample, rules.config.metrics.deciding, rules.grid)
    spread = clustered(values.values, values.weights, values.unit_of)
    if spread is None:
        return None, None
    return spread.mean, mean_interval(values, rules.config.statistics.confidence)


def _by_tag(sample: ModelSample, grid: Grid) -> dict[str, float]:
    """Weighted accuracy of each tag's cases."""
    ratio = sample.ratios["accuracy"]
    sums: dict[str, tuple[float, float]] = {}
    for index, tags in enumerate(grid.tags):
        if ratio.bottom[index] > 0.0:
            for tag in sorted(set(tags)):
                top, bottom = sums.get(tag, (0.0, 0.0))
                sums[tag] = (top + float(ratio.top[index]), bottom + float(ratio.bottom[index]))
    return {tag: top / bottom for tag, (top, bottom) in sorted(sums.items())}


@dataclass(frozen=True, slots=True)
class Standing:
    """What only the whole field decides about a model."""

    rank: int | None
    composite: float | None
    terms: Mapping[str, MetricValue]
    composite_interval: Interval | None
    chance_first: float | None
    deciding_place: int | None
    tied: bool
    warnings: Sequence[Reason] = ()


def finish(draft: Draft, standing: Standing, grid: Grid) -> Entry:
    """The finished row."""
    sample, counts = draft.sample, draft.sample.counts
    waits = sample.latencies if "latency" in sample.ratios else ()
    tokens = sample.ratios.get("tokens")
    return Entry(
        model_key=draft.key,
        label=draft.entry.label or draft.key,
        status=draft.status,
        rank=standing.rank,
        composite=standing.composite,
        metrics=standing.terms,
        interval=draft.interval,
        composite_interval=standing.composite_interval,
        chance_first=standing.chance_first,
        coverage=draft.coverage,
        failures=draft.failures,
        warnings=(*draft.warnings, *standing.warnings),
        planned=draft.planned,
        answered=counts.answered,
        errors=counts.errors,
        stopped=counts.stopped,
        scored_cases=int((sample.scored > 0.0).sum()),
        passed_cases=int((sample.pass_means >= 0.5 - _SLACK).sum()),
        refused=counts.refused,
        empty=counts.empty,
        cut_off=counts.cut_off,
        score_errors=counts.score_errors,
        throttled=counts.throttled,
        latency_p50_ms=percentile(waits, 50.0),
        latency_p95_ms=draft.raw.get("latency_p95"),
        total_cost_usd=sample.total_cost,
        cost_per_1k_usd=draft.raw.get("cost"),
        cost_per_correct_usd=cost_per_correct(sample),
        by_tag=_by_tag(sample, grid),
        deciding_mean=draft.mean,
        deciding_place=standing.deciding_place,
        tied=standing.tied,
        latency_max_ms=percentile(waits, 100.0),
        first_token_p50_ms=percentile(sample.first_words, 50.0) if sample.first_words is not None else None,
        total_tokens=int(tokens.top.sum()) if tokens is not None else None,
        priced_calls=counts.priced,
    )
