"""What preflight must know of models that make embeddings: which are wanted, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.config.embedder_key import PREFIX
from engine.config.embedders import Embedder, find_embedder, model_wanted, models_wanted
from engine.config.schema import Config, ModelEntry
from engine.domain import Case, CheckSpec, Problem, Severity, SkippedModel
from engine.execution.candidates import ReadyModel
from engine.execution.estimate import (
    CHARS_PER_TOKEN,
    FREE,
    CostRange,
    answer_lengths,
    text_tokens_at_most,
)
from engine.price import estimate_cost
from engine.prompts import build_prompt
from engine.scoring.base import as_texts
from engine.scoring.registry import reference_of

EMBEDDER_NOT_READY = "embedder_not_ready"
"""Code of the warning, the question and the note about a model for embeddings that cannot be asked."""


def embedder_entries(cases: Iterable[Case], config: Config) -> tuple[ModelEntry, ...]:
    """The models that checks of these cases compare by, as entries; names that lead nowhere are faults
    of the project, told when it is loaded."""
    found = (find_embedder(name, config) for name in models_wanted(cases, config))
    return tuple(embedder.entry for embedder in found if isinstance(embedder, Embedder))


def embeds(case: Case, config: Config) -> bool:
    """Whether a check of the case compares by embeddings."""
    return any(_name(check, config) is not None for check in case.checks)


def embedders_of(case: Case, config: Config) -> tuple[tuple[str, str | None, Mapping[str, Any]], ...]:
    """The models that the checks of a case compare by, by all that decides their vectors."""
    return tuple((e.model, e.provider, dict(e.params)) for e in embedder_entries((case,), config))


def _name(check: CheckSpec, config: Config) -> str | None:
    return model_wanted(check.type, check.options, config.scorers.options)


def embedder_not_ready(skip: SkippedModel) -> Problem:
    """A model cannot be asked: the run may go on, but checks that compare by it give no mark."""
    name = skip.model_key.removeprefix(PREFIX)
    return Problem(
        Severity.WARNING,
        f"The model `{name}`, which compares meanings, cannot be asked: {skip.reason}"
        " Its checks give no mark.",
        skip.fix,
        path="scorers",
        code=EMBEDDER_NOT_READY,
    )


def embedder_served(key: str, warning: str) -> Problem:
    """The server of a model for embeddings does not name it."""
    name = key.removeprefix(PREFIX)
    message = f"About the model `{name}`, which compares meanings: {warning}"
    return Problem(Severity.WARNING, message, path="scorers", code="embedder_served")


def embed_ranges(
    config: Config, cases: Sequence[Case], entries: Sequence[ModelEntry], models: Sequence[ReadyModel]
) -> tuple[dict[str, CostRange], dict[str, int]]:
    """By model, the cost of its embeddings and how many requests they take.

    Each right answer is asked once in a run, each answer once.
    """
    by_key = {model.entry.key: model for model in models}
    costs = {key: CostRange() if model.price is None else FREE for key, model in by_key.items()}
    calls = dict.fromkeys(by_key, 0)
    seen: dict[str, set[str]] = {key: set() for key in by_key}
    for case in cases:
        for check in case.checks:
            key = f"{PREFIX}{_name(check, config)}"
            model = by_key.get(key)
            if model is None:
                continue
            calls[key] += len(entries) * config.run.trials
            if model.price is None or model.price.free:
                continue
            texts = [t for t in dict.fromkeys(as_texts(reference_of(check, case))) if t not in seen[key]]
            seen[key].update(texts)
            costs[key] += _texts_range(texts, model)
            for entry in entries:
                costs[key] += _answer_range(case, entry, config, model).times(config.run.trials)
    return costs, calls


def _texts_range(texts: Sequence[str], model: ReadyModel) -> CostRange:
    usual = sum(max(1, len(text) // CHARS_PER_TOKEN) for text in texts)
    bound = text_tokens_at_most(texts) if texts else 0
    return _range(usual, usual, bound, model)


def _answer_range(case: Case, entry: ModelEntry, config: Config, model: ReadyModel) -> CostRange:
    return _range(*answer_lengths(build_prompt(case, entry, config), case, config.budgets), model)


def _range(low: int, likely: int, high: int, model: ReadyModel) -> CostRange:
    return CostRange(*(estimate_cost(model.price, tokens, 0) for tokens in (low, likely, high)))
