"""Raw metrics of a model, and how each metric is read: direction, normalisation, target. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from engine.config.schema import Config, MetricRule
from engine.stats.intervals import percentile
from engine.stats.samples import BUILT_IN, ModelSample

LOWER_IS_BETTER = frozenset({"cost", "latency", "latency_p95", "tokens", "abs_error"})
_RAW = frozenset({"accuracy", "pass_rate", "reliability"})
_COMPARABLE = frozenset({"raw", "target", "budget"})
MIN, MAX = "min", "max"


@dataclass(frozen=True, slots=True)
class Reading:
    """How a metric is read: `direction` max or min, `mode` minmax, target, budget or raw."""

    name: str
    direction: str
    mode: str
    target: float | None = None

    def better(self, value: float, other: float) -> bool:
        """Whether `value` is strictly better than `other`."""
        return value < other if self.direction == MIN else value > other

    def signed(self, value: float) -> float:
        """The value turned so that more is better."""
        return -value if self.direction == MIN else value


def reading(name: str, rules: Mapping[str, MetricRule]) -> Reading:
    """The rule of one metric: what the project says, else the built-in one for its name.

    A target alone switches to target mode; a custom metric counts up, but abs_error down.
    """
    rule = rules.get(name, MetricRule())
    direction = rule.direction or (MIN if name in LOWER_IS_BETTER else MAX)
    if rule.normalize is not None:
        mode: str = rule.normalize
    elif rule.target is not None:
        mode = "target"
    else:
        mode = "raw" if name in _RAW else "minmax"
    return Reading(name, direction, mode, rule.target)


def weight_shares(weights: Mapping[str, float]) -> dict[str, float]:
    """Weights as shares of their sum, those of 0 left out; the order of the project is kept."""
    kept = {name: float(weight) for name, weight in weights.items() if weight > 0.0}
    total = sum(kept.values())
    return {name: weight / total for name, weight in kept.items()} if total > 0.0 else {}


def composite_is_comparable(config: Config) -> bool:
    """Whether an overall score means the same in two runs: no weighted metric is min-max.

    A min-max score depends on who else ran, so lines over runs and `--fail-under` go by this.
    """
    shares = weight_shares(config.metrics.weights)
    return all(reading(name, config.metrics.rules).mode in _COMPARABLE for name in shares)


def relative_metrics(config: Config) -> tuple[str, ...]:
    """The weighted metrics that are normalised within the field of one run."""
    shares = weight_shares(config.metrics.weights)
    return tuple(name for name in shares if reading(name, config.metrics.rules).mode == "minmax")


def no_metrics() -> dict[str, float | None]:
    """The built-in metrics of a model without any answer: all unknown."""
    return dict.fromkeys(BUILT_IN)


def raw_metrics(sample: ModelSample) -> dict[str, float | None]:
    """Every metric measured for the model; the built-in ones always, None = unknown."""
    result = no_metrics()
    for name, ratio in sample.ratios.items():
        result[name] = ratio.value()
    if "latency" in sample.ratios:
        result["latency_p95"] = percentile(sample.latencies, 95.0)
    return result


def cost_per_correct(sample: ModelSample) -> float | None:
    """What one right answer cost: the marked answers' cost over the passed ones; None = unknown."""
    if sample.scored_cost is None or sample.counts.correct == 0:
        return None
    return float(sample.scored_cost) / sample.counts.correct


def error_rate(sample: ModelSample) -> float | None:
    """Failed calls over attempted ones; stopped calls were not attempted. None before any."""
    attempted = sample.counts.answered + sample.counts.errors
    return sample.counts.errors / attempted if attempted else None
