"""What models can do and promise: the words of the gates and the shipped facts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache
from typing import Any

from engine.config.schema import Card

FEATURES = (
    "function_calling",
    "structured_outputs",
    "vision",
    "prompt_caching",
    "adaptive_thinking",
    "batch",
)
PRIVACY = ("training_opt_out", "zero_data_retention", "dpa", "on_prem")
FEATURE_ALIASES: Mapping[str, str] = {
    "tools": "function_calling",
    "tool_use": "function_calling",
    "tool_calling": "function_calling",
    "json_mode": "structured_outputs",
    "json_schema": "structured_outputs",
    "images": "vision",
    "image_input": "vision",
    "caching": "prompt_caching",
    "thinking": "adaptive_thinking",
    "extended_thinking": "adaptive_thinking",
    "batching": "batch",
}
PRIVACY_ALIASES: Mapping[str, str] = {
    "data_processing_agreement": "dpa",
    "no_training": "training_opt_out",
    "opt_out": "training_opt_out",
    "zdr": "zero_data_retention",
    "self_hosted": "on_prem",
    "on_premise": "on_prem",
}
# True by construction where nothing leaves this computer.
ON_THIS_COMPUTER: Mapping[str, bool] = {
    "dpa": True,
    "training_opt_out": True,
    "zero_data_retention": True,
    "on_prem": True,
}


def canonical_feature(name: str) -> str:
    """The one name of a feature that has several."""
    word = _word(name)
    return FEATURE_ALIASES.get(word, word)


def canonical_privacy(name: str) -> str:
    """The one name of a privacy promise that has several."""
    word = _word(name)
    return PRIVACY_ALIASES.get(word, word)


def canonical_card(card: Card) -> tuple[tuple[str, ...] | None, dict[str, bool]]:
    """Features (None = not declared) and privacy of a card under their one name each.

    Where a card says both true and false for one promise under two names, false holds.
    """
    features = card.features
    if features is not None:
        features = tuple(dict.fromkeys(canonical_feature(name) for name in features))
    privacy: dict[str, bool] = {}
    for name, value in card.privacy.items():
        key = canonical_privacy(name)
        privacy[key] = value and privacy.get(key, True)
    return features, privacy


def shipped_facts(model_id: str) -> Card | None:
    """The shipped facts of exactly this model (a trailing date is the same model)."""
    table = _table()
    name = model_id.strip().lower()
    return table.get(name) or table.get(re.sub(r"[-@]\d{8}$|-\d{4}-\d{2}-\d{2}$", "", name))


@cache
def _table() -> Mapping[str, Card]:
    import yaml
    from resources import ROOT

    # libyaml's reader, where it was built in, takes a tenth of the time.
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    data = yaml.load((ROOT / "model_facts.yaml").read_text(encoding="utf-8"), loader)  # noqa: S506
    return {name: _card(block) for block in data["facts"] for name in block["models"]}


def _card(block: Mapping[str, Any]) -> Card:
    features = block.get("features")
    return Card(
        features=tuple(features) if features is not None else None,
        privacy=dict(block.get("privacy", {})),
        notes=str(block["source"]),
        as_of=str(block["as_of"]),
    )


def _word(name: str) -> str:
    return name.strip().lower().replace("-", "_").replace(" ", "_")
