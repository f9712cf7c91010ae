"""What a run will cost, before anything is spent: low, likely and high, or not known."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from providers.base import Usage

from engine.config.schema import Budgets, Config, ModelEntry
from engine.domain import Case, Note
from engine.execution.budget import Worst
from engine.price import Price, cost, estimate_cost
from engine.prompts import Prompt, build_prompt

if TYPE_CHECKING:
    from engine.execution.candidates import ReadyModel

DEFAULT_MAX_TOKENS = 1024
"""Sent under a ceiling of money or tokens where nobody named a length: without one nothing is bounded."""
IMAGE_TOKENS = 3_200
"""The most one image costs with any of the vendors; the largest documented charge, rounded up."""

_BYTES_PER_MESSAGE = 16
_BYTES_PER_REQUEST = 64
CHARS_PER_TOKEN = 4
_LIKELY_OUTPUT = 256


@dataclass(frozen=True, slots=True)
class CostRange:
    """US dollars. None = not known, which is neither zero nor free."""

    low: Decimal | None = None
    likely: Decimal | None = None
    high: Decimal | None = None

    def __add__(self, other: CostRange) -> CostRange:
        return CostRange(
            _sum(self.low, other.low), _sum(self.likely, other.likely), _sum(self.high, other.high)
        )

    def times(self, count: int) -> CostRange:
        """So many times the same."""
        return CostRange(
            *(None if value is None else value * count for value in (self.low, self.likely, self.high))
        )


FREE = CostRange(Decimal(0), Decimal(0), Decimal(0))


@dataclass(frozen=True, slots=True)
class Estimate:
    """The cost of a run. `total` is not known as soon as one model's is not known.

    `known` sums the models that have a price; `unpriced` names the others. `judge` is what marking
    costs (in `total` already), by the judge and by models that make embeddings, None where none is
    asked; `judge_calls` how often they are likely to be asked; `by_marker` and `marker_calls` are the
    same for each.
    """

    total: CostRange = FREE
    known: CostRange = FREE
    by_model: Mapping[str, CostRange] = field(default_factory=dict)
    unpriced: tuple[str, ...] = ()
    calls: int = 0
    judge: CostRange | None = None
    judge_calls: int = 0
    by_marker: Mapping[str, CostRange] = field(default_factory=dict)
    marker_calls: Mapping[str, int] = field(default_factory=dict)


def _sum(a: Decimal | None, b: Decimal | None) -> Decimal | None:
    return None if a is None or b is None else a + b


def sent_max_tokens(prompt: Prompt, budgets: Budgets) -> int | None:
    """The length limit that is sent: the prompt's own, or the default under a ceiling it has to bound."""
    if prompt.max_tokens is not None:
        return prompt.max_tokens
    if budgets.max_run_usd is None and budgets.max_model_usd is None and budgets.max_tokens is None:
        return None
    return DEFAULT_MAX_TOKENS + thinking_tokens(prompt.params)


def thinking_tokens(params: Mapping[str, Any]) -> int:
    """The thinking budget that params name, in any vendor's spelling; 0 where they name none."""
    best = 0
    for name, value in params.items():
        if isinstance(value, Mapping):
            best = max(best, thinking_tokens(value))
        elif name in _THINKING_NAMES and isinstance(value, int) and not isinstance(value, bool):
            best = max(best, value)
    return best


_THINKING_NAMES = frozenset({"budget_tokens", "thinking_budget", "thinkingBudget", "max_thinking_tokens"})


def prompt_tokens_at_most(prompt: Prompt, case: Case) -> int:
    """An upper bound: no tokenizer makes more tokens than there are bytes."""
    texts = [message.content for message in prompt.messages]
    if prompt.system:
        texts.append(prompt.system)
    # Descriptions of tools and of the form of the answer are read by the service, and paid for.
    texts += [
        json.dumps(value, default=str) for value in prompt.params.values() if isinstance(value, dict | list)
    ]
    pictures = IMAGE_TOKENS * (len(case.images) + len(case.files))
    return text_tokens_at_most(texts) + pictures


def text_tokens_at_most(texts: Sequence[str]) -> int:
    """The bound for a request that holds these texts."""
    sent = sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)
    return sent + _BYTES_PER_MESSAGE * len(texts) + _BYTES_PER_REQUEST


def worst_case(prompt: Prompt, case: Case, price: Price | None, budgets: Budgets) -> Worst:
    """The most one attempt can use; it is reserved before the attempt starts."""
    output = sent_max_tokens(prompt, budgets) or DEFAULT_MAX_TOKENS
    return worst_of_tokens(prompt_tokens_at_most(prompt, case), output, price)


def worst_of_tokens(prompt_tokens: int, output: int, price: Price | None) -> Worst:
    """The most that so many tokens can cost."""
    tokens = prompt_tokens + output
    if price is None:
        return Worst(None, tokens)
    if price.free:
        return Worst(Decimal(0), tokens)
    # Writing a cache or reasoning may be billed above the plain rates.
    costs = [
        cost(price, Usage(input=prompt_tokens, output=output, cache_write=written, reasoning=reasoned))
        for written in (0, prompt_tokens)
        for reasoned in (0, output)
    ]
    known = [value for value in costs if value is not None]
    return Worst(max(known) if known else None, tokens)


def estimate(
    config: Config,
    cases: Sequence[Case],
    models: Sequence[tuple[ModelEntry, Price | None]],
    judge: ReadyModel | None = None,
    embedders: Sequence[ReadyModel] = (),
) -> Estimate:
    """The cost of asking every model every case as often as the run says, and of having it marked."""
    by_model = {
        entry.key: _model_range(config, cases, entry, price, config.run.trials) for entry, price in models
    }
    unpriced = tuple(key for key, found in by_model.items() if found.high is None)
    known = sum((found for found in by_model.values() if found.high is not None), FREE)
    by_marker, marked = _marking(config, cases, [entry for entry, _ in models], judge, embedders)
    unpriced += tuple(key for key, found in by_marker.items() if found.high is None)
    known += sum((found for found in by_marker.values() if found.high is not None), FREE)
    return Estimate(
        total=CostRange() if unpriced else known,
        known=known,
        by_model=by_model,
        unpriced=unpriced,
        calls=len(models) * len(cases) * config.run.trials,
        judge=sum(by_marker.values(), FREE) if by_marker else None,
        judge_calls=sum(marked.values()),
        by_marker=by_marker,
        marker_calls=marked,
    )


def _marking(
    config: Config,
    cases: Sequence[Case],
    entries: Sequence[ModelEntry],
    judge: ReadyModel | None,
    embedders: Sequence[ReadyModel],
) -> tuple[dict[str, CostRange], dict[str, int]]:
    """By who marks: what it costs, and how often it is likely to be asked."""
    costs: dict[str, CostRange] = {}
    calls: dict[str, int] = {}
    if judge is not None:
        from engine.execution.judge_estimate import judge_range  # needs the checks, and this module

        costs[judge.entry.key], calls[judge.entry.key] = judge_range(config, cases, entries, judge)
    if embedders:
        from engine.execution.embed_rules import embed_ranges

        compared, asked = embed_ranges(config, cases, entries, embedders)
        costs.update(compared)
        calls.update(asked)
    return costs, calls


def _model_range(
    config: Config, cases: Sequence[Case], entry: ModelEntry, price: Price | None, trials: int
) -> CostRange:
    if price is None:
        return CostRange()
    if price.free:
        return FREE
    total = FREE
    for case in cases:
        total += call_range(build_prompt(case, entry, config), case, price, config.budgets)
        if total.high is None:
            return CostRange()
    return total.times(trials)


def call_range(prompt: Prompt, case: Case, price: Price, budgets: Budgets) -> CostRange:
    """The cost of one question."""
    characters = sum(len(m.content) for m in prompt.messages) + len(prompt.system or "")
    usual = max(1, characters // CHARS_PER_TOKEN)
    shortest, likely, limit = answer_lengths(prompt, case, budgets)
    low = estimate_cost(price, usual, shortest)
    middle = estimate_cost(price, usual, likely)
    high = estimate_cost(price, max(usual, prompt_tokens_at_most(prompt, case)), limit)
    return CostRange(low, middle, high)


def answer_lengths(prompt: Prompt, case: Case, budgets: Budgets) -> tuple[int, int, int]:
    """Tokens of an answer: as short as the expected one, usual, and the longest there can be."""
    limit = sent_max_tokens(prompt, budgets) or DEFAULT_MAX_TOKENS + thinking_tokens(prompt.params)
    shortest = min(limit, _expected_tokens(case))
    likely = min(limit, max(2 * shortest, min(_LIKELY_OUTPUT, limit // 2)))
    return shortest, max(shortest, likely), limit


def _expected_tokens(case: Case) -> int:
    """Tokens of an answer as short as the expected one."""
    reference = case.reference
    if isinstance(reference, list | tuple):
        reference = reference[0] if reference else ""
    if reference is None:
        return 1
    text = reference if isinstance(reference, str) else json.dumps(reference, ensure_ascii=False)
    return max(1, len(text) // CHARS_PER_TOKEN)


def questions(config: Config, expected: Estimate) -> tuple[Note, ...]:
    """What must be confirmed before this run may start, by the project's own settings.

    `above`: the high estimate passes `confirm_above_usd`. `cost_unknown`: it cannot be known.
    `unpriced_under_ceiling`: a model without a price runs under a money ceiling that cannot
    bind it, and nothing else does.
    """
    budgets = config.budgets
    found: list[Note] = []
    limit = budgets.confirm_above_usd
    if limit is not None:
        high = expected.total.high
        if high is None:
            found.append(Note("cost_unknown", {"models": list(expected.unpriced), "limit": str(limit)}))
        elif high > limit:
            found.append(Note("above", {"high": str(high), "limit": str(limit)}))
    bounded = budgets.max_calls is not None or budgets.max_tokens is not None
    ceiling, unbound = budgets.max_run_usd, expected.unpriced
    if ceiling is None:
        # The ceiling of one model counts for those that are compared, not for who marks them.
        ceiling, unbound = budgets.max_model_usd, tuple(k for k in unbound if k in expected.by_model)
    if unbound and ceiling is not None and not bounded:
        values = {"models": list(unbound), "ceiling": str(ceiling)}
        found.append(Note("unpriced_under_ceiling", values))
    return tuple(found)
