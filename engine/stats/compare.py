"""Two runs side by side, on the cases both share unchanged. Pure; codes and numbers only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.config.schema import Config, ModelEntry
from engine.domain import Case
from engine.stats.board import PairResult, Reason
from engine.stats.collecting import collect
from engine.stats.inputs import BoardInput, seeds
from engine.stats.intervals import clustered, percentile
from engine.stats.metrics import MIN, composite_is_comparable, raw_metrics, reading, weight_shares
from engine.stats.paired import holm
from engine.stats.samples import (
    SHARES,
    Grid,
    ModelSample,
    deciding_sample,
    deciding_values,
    make_grid,
)
from engine.stats.verdict import Contestant, Terms, compare_two, verdict_row

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

AFTER, BEFORE = "after", "before"
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class SideFigures:
    """One run's figures of one model on the shared cases. None = not known."""

    mean: float | None
    scored_cases: int
    passed_cases: int
    latency_p50_ms: float | None
    metrics: Mapping[str, float | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModelChange:
    """What became of one model. `pair` is after - before on the deciding metric, its `row` that of
    the verdict; `better`, `worse` and `same` are case ids. `entry_changed`: another model id,
    prompt or parameters stand behind the same key. `less_is_better`: how the project reads the
    deciding metric."""

    model_key: str
    before: SideFigures
    after: SideFigures
    pair: PairResult | None
    better: tuple[str, ...] = ()
    worse: tuple[str, ...] = ()
    same: tuple[str, ...] = ()
    entry_changed: bool = False
    less_is_better: bool = False


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two runs compared. `problem` says why nothing can be compared: no_shared_cases,
    no_shared_models. `composite_comparable`: overall scores of the two may stand side by side."""

    shared: tuple[str, ...]
    changed: tuple[str, ...]
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    models: tuple[ModelChange, ...] = ()
    models_only_before: tuple[str, ...] = ()
    models_only_after: tuple[str, ...] = ()
    deciding: str = "accuracy"
    instructions_changed: bool = False
    composite_comparable: bool = False
    problem: Reason | None = None


def _split_cases(
    before: Sequence[Case], after: Sequence[Case]
) -> tuple[list[Case], list[str], list[str], list[str]]:
    """Shared cases (as they are in `after`), ids of changed ones, ids only in either."""
    old = {case.id: case for case in before}
    new = {case.id: case for case in after}
    both = sorted(old.keys() & new.keys())
    shared = [new[name] for name in both if old[name].fingerprint == new[name].fingerprint]
    changed = [name for name in both if old[name].fingerprint != new[name].fingerprint]
    return shared, changed, sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())


def _behind(entry: ModelEntry) -> tuple[object, ...]:
    """What makes an entry answer as it does; labels, prices and limits do not."""
    params = sorted((str(name), repr(value)) for name, value in entry.params.items())
    return (entry.model, entry.provider, entry.run, entry.system, entry.prompt, entry.temperature,
            entry.max_tokens, entry.api_base, params)  # fmt: skip


def _same_scale(before: Config, after: Config) -> bool:
    """Whether composites of both mean the same: same weights and rules, none of them min-max."""
    if not (composite_is_comparable(before) and composite_is_comparable(after)):
        return False
    shares = weight_shares(before.metrics.weights)
    other = weight_shares(after.metrics.weights)
    if shares.keys() != other.keys() or any(abs(shares[n] - other[n]) > _SAME for n in shares):
        return False
    return all(reading(n, before.metrics.rules) == reading(n, after.metrics.rules) for n in shares)


def _figures(sample: ModelSample, metric: str, grid: Grid) -> SideFigures:
    seen = deciding_sample(sample, metric, grid)
    spread = clustered(seen.values, seen.weights, seen.unit_of)
    known = "latency" in sample.ratios
    return SideFigures(
        mean=spread.mean if spread is not None else None,
        scored_cases=int((sample.scored > 0.0).sum()),
        passed_cases=int((sample.pass_means >= 0.5 - _SAME).sum()),
        latency_p50_ms=percentile(sample.latencies, 50.0) if known else None,
        metrics=raw_metrics(sample),
    )


def _moved(gaps: Floats, grid: Grid) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Case ids by direction of a gap that is positive where `after` is better; NaN is in none."""
    names = list(zip(grid.case_ids, gaps, strict=True))
    better = tuple(name for name, gap in names if gap > _SAME)
    worse = tuple(name for name, gap in names if gap < -_SAME)
    return better, worse, tuple(name for name, gap in names if abs(gap) <= _SAME)


@dataclass(frozen=True, slots=True)
class _Frame:
    grid: Grid
    metric: str
    terms: Terms


def _change(key: str, old: ModelSample, new: ModelSample, frame: _Frame, entry_changed: bool) -> ModelChange:
    before, after = (_figures(sample, frame.metric, frame.grid) for sample in (old, new))
    values = [deciding_values(sample, frame.metric) for sample in (new, old)]
    pair = None
    if after.mean is not None and before.mean is not None:
        sides = (
            Contestant(AFTER, after.mean, None, values[0]),
            Contestant(BEFORE, before.mean, None, values[1]),
        )
        pair = compare_two(*sides, frame.terms)
        pair = pair if pair.cases else None
    better, worse, same = _moved(frame.terms.sign * (values[0] - values[1]), frame.grid)
    less = frame.terms.sign < 0
    return ModelChange(key, before, after, pair, better, worse, same, entry_changed, less)


def _with_rows(changes: Sequence[ModelChange], terms: Terms) -> tuple[ModelChange, ...]:
    """Holm over the models compared, then each one's row."""
    adjusted = holm([change.pair.p if change.pair else None for change in changes])
    result = []
    for change, p_holm in zip(changes, adjusted, strict=True):
        if change.pair is None:
            result.append(change)
            continue
        pair = replace(change.pair, p_holm=p_holm)
        largest = max(abs(change.before.mean or 0.0), abs(change.after.mean or 0.0))
        margin = terms.margin if terms.bounded else terms.margin * largest
        row = verdict_row(pair, margin, bounded=terms.bounded)
        result.append(replace(change, pair=replace(pair, row=row)))
    return tuple(result)


def compare_runs(
    before: BoardInput, after: BoardInput, *, should_stop: Callable[[], bool] | None = None
) -> Comparison:
    """Compares two runs model by model over the cases whose content is the same in both.

    The deciding metric, margin and weights are those of `after`. Raises `Cancelled` on a yes.
    """
    config = after.config
    metric = config.metrics.deciding
    shared, changed, gone, added = _split_cases(before.cases, after.cases)
    old = {entry.key: entry for entry in before.entries}
    new = {entry.key: entry for entry in after.entries}
    keys = sorted(old.keys() & new.keys())
    outline = Comparison(
        shared=tuple(case.id for case in shared),
        changed=tuple(changed),
        only_before=tuple(gone),
        only_after=tuple(added),
        models_only_before=tuple(sorted(old.keys() - new.keys())),
        models_only_after=tuple(sorted(new.keys() - old.keys())),
        deciding=metric,
        instructions_changed=before.config.defaults != config.defaults,
        composite_comparable=_same_scale(before.config, config),
    )
    if not shared:
        return replace(outline, problem=Reason("no_shared_cases", {"changed": len(changed)}))
    if not keys:
        return replace(outline, problem=Reason("no_shared_models"))
    grid = make_grid(shared)
    rule = reading(metric, config.metrics.rules)
    sign = -1.0 if rule.direction == MIN else 1.0
    seed = seeds(config)
    terms = Terms(
        grid.weights, grid.unit_of, config.statistics.margin, sign, metric in SHARES, after.trials, seed
    )
    frame = _Frame(grid, metric, replace(terms, should_stop=should_stop))
    olds = collect(grid, keys, before.calls, should_stop=should_stop)
    news = collect(grid, keys, after.calls, should_stop=should_stop)
    changes = [_change(k, olds[k], news[k], frame, _behind(old[k]) != _behind(new[k])) for k in keys]
    return replace(outline, models=_with_rows(changes, terms))
