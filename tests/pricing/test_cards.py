"""Facts for the gates: one name for each, nothing declared that nobody said."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from engine.config.schema import Card, Config, Connection, ModelEntry, Pricing
from engine.model_facts import canonical_feature, canonical_privacy, shipped_facts
from engine.price_catalogue import Catalogue
from engine.pricing import PriceBook


def card(model: str, connection: Connection, own: Card | None = None, pricing: Pricing | None = None) -> Card:
    config = Config(pricing=pricing or Pricing())
    return PriceBook(config).card(ModelEntry(model=model, card=own or Card()), connection)


ANTHROPIC = Connection(id="anthropic", kind="anthropic")


def test_fable_5_can_not_run_without_retention() -> None:
    for name in ("claude-fable-5", "claude-fable-5-20260609", "anthropic/claude-fable-5"):
        assert card(name, ANTHROPIC).privacy == {"zero_data_retention": False}


def test_a_newer_sibling_inherits_no_fact() -> None:
    assert shipped_facts("claude-fable-6") is None
    assert "zero_data_retention" not in card("claude-fable-5-1", ANTHROPIC).privacy


def test_no_hosted_model_is_given_a_promise() -> None:
    for name in ("claude-opus-5", "claude-haiku-4-5"):
        assert card(name, ANTHROPIC).privacy == {}


def test_every_shipped_fact_is_of_a_model_with_a_known_price() -> None:
    from engine.model_facts import _table

    kinds = {"claude": "anthropic", "gpt": "openai", "gemini": "google"}
    unpriced = {"claude-mythos-5"}
    for name in set(_table()) - unpriced:
        assert Catalogue().find([name], vendor=kinds[name.split("-")[0]]) is not None, name
        assert _table()[name].notes.startswith("https://")
        assert _table()[name].as_of


def test_features_are_unknown_where_nobody_declares_them() -> None:
    assert card("gpt-5.9", Connection(id="o", kind="openai")).features is None


def test_what_stays_on_this_computer_keeps_every_promise() -> None:
    promised = {"dpa", "training_opt_out", "zero_data_retention", "on_prem"}
    for kind in ("mock", "builtin", "ollama"):
        found = card("small", Connection(id=kind, kind=kind))
        assert {name for name, held in found.privacy.items() if held} == promised
    away = Connection(id="o", kind="ollama", base_url="http://192.168.1.5:11434")
    assert card("small", away).privacy == {}


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("tools", "function_calling"),
        ("tool_use", "function_calling"),
        ("Tool Calling", "function_calling"),
        ("json_mode", "structured_outputs"),
        ("json-schema", "structured_outputs"),
        ("images", "vision"),
        ("image_input", "vision"),
        ("caching", "prompt_caching"),
        ("thinking", "adaptive_thinking"),
        ("extended_thinking", "adaptive_thinking"),
        ("batching", "batch"),
        ("something_new", "something_new"),
    ],
)
def test_feature_names(said: str, meant: str) -> None:
    assert canonical_feature(said) == meant


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("data_processing_agreement", "dpa"),
        ("no_training", "training_opt_out"),
        ("opt_out", "training_opt_out"),
        ("zdr", "zero_data_retention"),
        ("self_hosted", "on_prem"),
        ("on_premise", "on_prem"),
    ],
)
def test_privacy_names(said: str, meant: str) -> None:
    assert canonical_privacy(said) == meant


def test_a_contract_declared_by_the_project_goes_over_the_shipped_fact() -> None:
    connection = Connection(id="a", kind="anthropic", card=Card(privacy={"dpa": True}))
    found = card("claude-fable-5", connection, Card(privacy={"zdr": True}, features=("tools", "tool_use")))
    assert found.privacy == {"dpa": True, "zero_data_retention": True}
    assert found.features == ("function_calling",)


def test_two_names_for_one_promise_that_disagree_mean_no() -> None:
    own = Card(privacy={"zdr": True, "zero_data_retention": False})
    assert card("x", Connection(id="v", kind="vllm"), own).privacy == {"zero_data_retention": False}


def test_the_context_window_is_known_where_the_price_is_not(tmp_path: Path) -> None:
    (tmp_path / "prices.yaml").write_text("own: {context: 4096}\n", encoding="utf-8")
    config = Config(pricing=Pricing(path="prices.yaml"))
    book = PriceBook.for_config(config, tmp_path)
    entry, connection = ModelEntry(model="own"), Connection(id="v", kind="vllm")
    assert book.card(entry, connection).context_tokens == 4096
    assert book.price(entry, connection) is None


def test_a_free_model_has_a_price_of_zero_on_its_card() -> None:
    assert card("small", Connection(id="m", kind="mock")).input_usd_per_mtok == Decimal(0)
