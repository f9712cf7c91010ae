"""Fetching newer list prices: only when asked, checked first, nothing lost when it fails."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from engine.config.schema import Config, Connection, ModelEntry
from engine.errors import WorldError
from engine.paths import caches_dir
from engine.price_refresh import refresh_prices
from engine.pricing import Price, PriceBook

LIST = [
    {
        "id": "anthropic",
        "name": "Anthropic",
        "api_pattern": "https://api\\.anthropic\\.com",
        "pricing_urls": ["https://www.anthropic.com/pricing"],
        "models": [
            {
                "id": "claude-opus-9",
                "match": {"equals": "claude-opus-9"},
                "prices": {
                    "input_mtok": 7,
                    "output_mtok": {"base": 9, "tiers": [{"start": 1000, "price": 18}]},
                },
            }
        ],
    }
]
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def opus(model: str = "claude-opus-9") -> Price | None:
    book = PriceBook(Config(), now=NOW)
    return book.price(ModelEntry(model=model), Connection(id="a", kind="anthropic"))


def test_a_fetched_list_is_used_with_the_day_it_was_fetched() -> None:
    assert opus() is None
    assert refresh_prices(lambda: json.dumps(LIST).encode(), today=date(2026, 11, 30)) == 1
    found = opus()
    assert found is not None
    assert (found.input_usd_per_mtok, found.output_usd_per_mtok) == (Decimal(7), Decimal(9))
    assert found.tiers[0].output_usd_per_mtok == 18
    assert found.as_of == date(2026, 11, 30)
    assert "fetched 2026-11-30" in found.source


@pytest.mark.parametrize("answer", [b"", b"<html>", b"{}", b"[]", b"[1]", b'[{"id": 5}]', b"\xff"])
def test_an_answer_that_is_no_list_changes_nothing(answer: bytes) -> None:
    with pytest.raises(WorldError) as fault:
        refresh_prices(lambda: answer)
    assert fault.value.code == "prices_unusable"
    assert fault.value.hint
    assert opus("claude-fable-5") is not None
    assert not (caches_dir() / "prices.json").exists()


def test_no_network_changes_nothing() -> None:
    refresh_prices(lambda: json.dumps(LIST).encode())

    def offline() -> bytes:
        raise OSError("no route")

    with pytest.raises(WorldError) as fault:
        refresh_prices(offline)
    assert fault.value.code == "prices_not_fetched"
    assert opus() is not None


def test_a_damaged_cache_means_the_shipped_list() -> None:
    (caches_dir() / "prices.json").write_text('{"fetched": "2026-11-30"}\n[1, 2', encoding="utf-8")
    assert opus("claude-fable-5") is not None


def test_nothing_is_fetched_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx2

    def refused(*_: object, **__: object) -> None:
        raise AssertionError("a price was looked up on the network")

    monkeypatch.setattr(httpx2, "Client", refused)
    monkeypatch.setattr(httpx2, "get", refused)
    assert opus("claude-fable-5") is not None
