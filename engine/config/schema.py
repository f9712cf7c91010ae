"""The config as typed records: the one definition of names, types, ranges and defaults.

Plain frozen dataclasses, so that the rest of the engine needs no pydantic; the reader validates
into them with pydantic (unknown keys are forbidden) and maps every fault to its line.
Ranges are `annotated_types` marks. Money is Decimal US dollars, durations say their unit.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Annotated, Any, Literal

from annotated_types import Ge, Gt, Interval

Usd = Annotated[Decimal, Ge(0)]
Seconds = Annotated[float, Gt(0)]
Share = Annotated[float, Interval(ge=0, le=1)]
Count = Annotated[int, Ge(1)]
# Each call under way has a thread of its own; beyond it a slip would only exhaust the computer.
AtOnce = Annotated[int, Interval(ge=1, le=1000)]
# Beyond it sums of weights leave the range of floats, and nobody means such a number.
MOST_WEIGHT = 1e9
# Each vote is a question that is paid for, and all of one answer are asked together.
MOST_VOTES = 25


@dataclass(frozen=True, slots=True)
class Card:
    """Facts about a model that the project declares. None = not declared."""

    provider: str | None = None
    display_name: str | None = None
    input_usd_per_mtok: Usd | None = None
    output_usd_per_mtok: Usd | None = None
    cache_read_usd_per_mtok: Usd | None = None
    cache_write_usd_per_mtok: Usd | None = None
    context_tokens: Count | None = None
    max_output_tokens: Count | None = None
    features: tuple[str, ...] | None = None
    privacy: Mapping[str, bool] = field(default_factory=dict)
    notes: str = ""
    as_of: str | None = None


@dataclass(frozen=True, slots=True)
class RateLimit:
    """Limits of one connection. `concurrency` is the width of its lane."""

    rpm: Annotated[float, Gt(0)] | None = None
    tpm: Annotated[float, Gt(0)] | None = None
    concurrency: Count | None = None
    burst: Annotated[float, Gt(0)] | None = None


@dataclass(frozen=True, slots=True)
class Retry:
    """Retry settings of one connection; they go before those of `run`."""

    attempts: Annotated[int, Ge(0)] | None = None
    backoff_s: Annotated[float, Ge(0)] | None = None
    jitter: bool = True
    respect_retry_after: bool = True


@dataclass(frozen=True, slots=True)
class Connection:
    """A provider profile: endpoint, key reference, limits."""

    id: str
    kind: str
    base_url: str | None = None
    api_key_ref: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    timeout_s: Seconds | None = None
    verify_tls: bool | str = True
    proxy: str | None = None
    model_prefix: str | None = None
    rate_limit: RateLimit = field(default_factory=RateLimit)
    retry: Retry = field(default_factory=Retry)
    params: Mapping[str, Any] = field(default_factory=dict)
    card: Card = field(default_factory=Card)


@dataclass(frozen=True, slots=True)
class ModelEntry:
    """One entry the project compares. After loading, `key`, `provider` and `label` are filled.

    `provider` names a declared connection or a kind; loading replaces None by the inferred
    kind. A kind used without a declared connection becomes an implicit connection with the
    kind as its id.
    """

    model: str = ""
    key: str = ""
    provider: str | None = None
    label: str = ""
    run: str | None = None
    system: str | None = None
    prompt: str | None = None
    max_tokens: Count | None = None
    temperature: Annotated[float, Ge(0)] | None = None
    timeout_s: Seconds | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    api_key_env: str | None = None
    api_base: str | None = None
    pass_reference: bool = False
    card: Card = field(default_factory=Card)
    enabled: bool = True


@dataclass(frozen=True, slots=True)
class Defaults:
    """What every model gets unless its entry or the case says otherwise."""

    system: str | None = None
    prompt: str | None = None
    max_tokens: Count | None = None
    temperature: Annotated[float, Ge(0)] | None = None
    params: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RunSettings:
    """How a run is carried out."""

    trials: Count = 1
    concurrency: AtOnce = 4
    timeout_s: Seconds = 120.0
    retries: Annotated[int, Ge(0)] = 2
    retry_backoff_s: Annotated[float, Ge(0)] = 2.0
    fail_fast: bool = False
    seed: int | None = None
    provider_concurrency: Mapping[str, Count] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Budgets:
    """Ceilings of one run. None = no ceiling."""

    max_run_usd: Usd | None = None
    max_model_usd: Usd | None = None
    confirm_above_usd: Usd | None = None
    on_exceed: Literal["stop", "warn"] = "stop"
    max_calls: Count | None = None
    max_tokens: Count | None = None


@dataclass(frozen=True, slots=True)
class MetricRule:
    """How one metric is read. None = the built-in rule for its name."""

    direction: Literal["max", "min"] | None = None
    normalize: Literal["minmax", "target", "budget", "raw"] | None = None
    target: float | None = None


@dataclass(frozen=True, slots=True)
class Metrics:
    """Weights (not negative, one positive) and how each metric is read."""

    weights: Mapping[str, float] = field(default_factory=lambda: {"accuracy": 1.0})
    deciding: str = "accuracy"
    tie_breaker: str = "accuracy"
    rules: Mapping[str, MetricRule] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Constraints:
    """Must-haves. A model that breaks one is ruled out."""

    min_accuracy: Share | None = None
    max_error_rate: Share | None = None
    max_cost_per_1k_calls_usd: Usd | None = None
    max_latency_p95_ms: Annotated[float, Gt(0)] | None = None
    required_features: tuple[str, ...] = ()
    min_context_tokens: Count | None = None
    privacy_required: tuple[str, ...] = ()
    allow_unknown_card: bool | None = None


@dataclass(frozen=True, slots=True)
class Statistics:
    """Settings of the comparison. `margin` is the gap that does not matter, 0..1."""

    enabled: bool = True
    margin: Annotated[float, Interval(gt=0, lt=1)] = 0.05
    resamples: Annotated[int, Interval(ge=100, le=100_000)] = 2000
    confidence: Annotated[float, Interval(gt=0.5, lt=1.0)] = 0.95
    seed: int = 0
    min_coverage: Share = 0.9


@dataclass(frozen=True, slots=True)
class TestsConfig:
    """Which files hold the cases and which of them count."""

    __test__ = False

    paths: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    all_tags: tuple[str, ...] = ()
    exclude_tags: tuple[str, ...] = ()
    limit: Count | None = None


@dataclass(frozen=True, slots=True)
class Scorers:
    """How tests without checks of their own are marked, and the options of each check type.

    `checks` are written as those of a test and stand for `default` where there are any; `default` is
    then only what the `params` of a test without a check belong to.
    """

    default: str = "exact_match"
    checks: tuple[Any, ...] = ()
    paths: tuple[str, ...] = ()
    options: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Criterion:
    """One line of a judge's rubric."""

    name: str
    weight: Annotated[float, Interval(ge=0, le=MOST_WEIGHT)] = 1.0
    must_pass: bool = False
    description: str = ""


@dataclass(frozen=True, slots=True)
class Judge:
    """The model that marks answers, where a check asks for one.

    `mark_itself` lets it mark its own answers too, where it also takes part.
    `votes` counts for marks; how often a pair of models is compared, its check says.
    """

    model: str | None = None
    provider: str | None = None
    params: Mapping[str, Any] = field(default_factory=dict)
    api_key_env: str | None = None
    api_base: str | None = None
    system: str | None = None
    max_tokens: Count = 512
    temperature: Annotated[float, Ge(0)] | None = None
    rubric: str | tuple[Criterion, ...] | None = None
    prompt: str | None = None
    scale: Annotated[float, Gt(0)] | None = None
    votes: Annotated[int, Interval(ge=1, le=MOST_VOTES)] = 1
    mark_itself: bool = False


@dataclass(frozen=True, slots=True)
class Pricing:
    """Project prices: a file inside the folder, and cards by model id."""

    path: str | None = None
    models: Mapping[str, Card] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Output:
    """What a run writes inside the project folder; empty = nothing.

    `db` keeps the runs themselves; `dir` and `formats` get a report of each, one of the two is enough.
    """

    dir: str | None = None
    db: str | None = None
    formats: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Watch:
    """Accepted from the reference system; read by nothing yet but the loader's warning."""

    drift_threshold: Annotated[float, Interval(gt=0, lt=1)] = 0.05
    webhook: str | None = None


@dataclass(frozen=True, slots=True)
class Config:
    """A whole config file, validated."""

    project: str = ""
    description: str = ""
    schema_version: int = 1
    connections: tuple[Connection, ...] = ()
    models: tuple[ModelEntry, ...] = ()
    defaults: Defaults = field(default_factory=Defaults)
    run: RunSettings = field(default_factory=RunSettings)
    budgets: Budgets = field(default_factory=Budgets)
    metrics: Metrics = field(default_factory=Metrics)
    constraints: Constraints = field(default_factory=Constraints)
    statistics: Statistics = field(default_factory=Statistics)
    tests: TestsConfig = field(default_factory=TestsConfig)
    scorers: Scorers = field(default_factory=Scorers)
    judge: Judge = field(default_factory=Judge)
    hooks: Mapping[str, str] = field(default_factory=dict)
    pricing: Pricing = field(default_factory=Pricing)
    output: Output = field(default_factory=Output)
    watch: Watch = field(default_factory=Watch)
