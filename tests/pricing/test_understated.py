"""A project that claims a vendor's model costs nothing is contradicted where the list knows better."""

from __future__ import annotations

from decimal import Decimal

import pytest

from engine.config.schema import Card, Config, Connection, ModelEntry
from engine.pricing import PriceBook

OPENAI = Connection(id="openai", kind="openai")


def entry(card: Card) -> ModelEntry:
    return ModelEntry(model="gpt-5", key="m", provider="openai", card=card)


@pytest.mark.parametrize("claimed", ["0", "0.01"])
def test_a_claim_far_below_the_list_is_found(claimed: str) -> None:
    price = Decimal(claimed)
    card = Card(input_usd_per_mtok=price, output_usd_per_mtok=price)
    known = PriceBook(Config()).understated(entry(card), OPENAI)
    assert known is not None
    assert min(known) > 1


def test_the_list_itself_and_a_discount_are_not() -> None:
    book = PriceBook(Config())
    listed = book.price(entry(Card()), OPENAI)
    assert listed is not None
    assert book.understated(entry(Card()), OPENAI) is None
    discount = Card(
        input_usd_per_mtok=listed.input_usd_per_mtok * Decimal("0.6"),
        output_usd_per_mtok=listed.output_usd_per_mtok * Decimal("0.6"),
    )
    assert book.understated(entry(discount), OPENAI) is None


def test_models_on_this_computer_may_cost_nothing() -> None:
    here = Connection(id="here", kind="openai_compatible", base_url="http://127.0.0.1:9/v1")
    free = Card(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0))
    assert PriceBook(Config()).understated(entry(free), here) is None
