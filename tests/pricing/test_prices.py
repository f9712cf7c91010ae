"""Prices: exact, dated, layered, never a sibling's, never zero for unknown."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.config.schema import Card, Config, Connection, ModelEntry, Pricing
from engine.pricing import Price, PriceBook, cost, estimate_cost
from providers.base import Usage

CASES = Path(__file__).parents[1] / "data" / "cases"
NOW = datetime(2026, 12, 1, tzinfo=UTC)


def book(config: Config | None = None, **kind: object) -> PriceBook:
    return PriceBook(config or Config(), now=NOW, **kind)  # type: ignore[arg-type]


def price(
    model: str, kind: str, url: str | None = None, config: Config | None = None, **entry: object
) -> Price | None:
    connection = Connection(id=kind, kind=kind, base_url=url)
    return book(config).price(ModelEntry(model=model, key=model, **entry), connection)  # type: ignore[arg-type]


def test_a_list_price_carries_its_source_and_day() -> None:
    found = price("claude-fable-5", "anthropic")
    assert found is not None
    assert (found.input_usd_per_mtok, found.output_usd_per_mtok) == (Decimal(10), Decimal(50))
    assert found.cache_read_usd_per_mtok == Decimal(1)
    assert found.context_tokens == 1_000_000
    assert found.source.startswith("https://www.anthropic.com/pricing")
    assert found.as_of is not None
    assert date(2026, 6, 1) < found.as_of <= NOW.date()
    assert not found.free


@pytest.mark.parametrize(
    ("model", "kind"),
    [
        ("gpt-5-turbo", "openai"),
        ("gpt-5.9", "openai"),
        ("gpt-4o:something-else", "openai"),
        ("gpt-4.1-mini-long", "openai"),
        ("claude-opus-4-10", "anthropic"),
        ("claude-opus-4-99", "anthropic"),
        ("claude-haiku-4-5-large", "anthropic"),
        ("claude-fable-5-3", "anthropic"),
        ("gemini-2.5-pro-ultra", "gemini"),
        ("meta-llama/llama-3.1-8b-instruct:made-up", "openrouter"),
    ],
)
def test_a_siblings_price_is_never_borrowed(model: str, kind: str) -> None:
    assert price(model, kind) is None


@pytest.mark.parametrize(
    ("model", "kind", "matched"),
    [
        ("claude-haiku-4-5-20251001", "anthropic", "claude-haiku-4-5"),
        ("anthropic/claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("us.claude-haiku-4-5", "anthropic", "claude-haiku-4-5"),
        ("models/gemini-2.5-flash", "gemini", "gemini-2.5-flash"),
        ("GPT-4o", "openai", "gpt-4o"),
        ("gpt-4o-2024-08-06", "openai", "gpt-4o"),
        ("gpt-4o:extended", "openai", "gpt-4o:extended"),
        ("openrouter/anthropic/claude-opus-5", "openrouter", "anthropic/claude-opus-5"),
    ],
)
def test_the_same_model_under_another_spelling_has_its_price(model: str, kind: str, matched: str) -> None:
    found = price(model, kind)
    assert found is not None
    assert found.matched == matched
    assert found.inherited == (model.lower() != matched)


def test_a_prefix_of_the_connection_belongs_to_the_name() -> None:
    connection = Connection(id="or", kind="openrouter", model_prefix="anthropic/")
    found = book().price(ModelEntry(model="claude-opus-5"), connection)
    assert found is not None
    assert found.matched == "anthropic/claude-opus-5"


@pytest.mark.parametrize("kind", ["mock", "builtin"])
def test_what_runs_inside_the_program_is_free(kind: str) -> None:
    found = price("anything", kind)
    assert found is not None
    assert found.free
    assert cost(found, Usage()) == 0


@pytest.mark.parametrize("kind", ["ollama", "lmstudio", "llamacpp"])
@pytest.mark.parametrize(
    ("url", "free"),
    [
        (None, True),
        ("http://127.0.0.1:5000/v1", True),
        ("http://[::1]:5000", True),
        ("localhost:5000", True),
        ("http://192.168.0.9:11434", False),
        ("http://127.0.0.1.example.com", False),
        ("https://localhost.example.com", False),
        ("no address at all \\", False),
    ],
)
def test_local_servers_are_free_on_this_computer_only(kind: str, url: str | None, free: bool) -> None:
    found = price("llama3", kind, url)
    assert (found is not None and found.free) == free
    if not free:
        assert found is None


@pytest.mark.parametrize(
    ("kind", "url"),
    [
        ("openai_compatible", "http://127.0.0.1:4000/v1"),
        ("vllm", None),
        ("local", "http://127.0.0.1:4000/v1"),
        ("callable", None),
    ],
)
def test_any_other_server_is_unknown_even_on_this_computer(kind: str, url: str | None) -> None:
    assert price("gpt-5", kind, url) is None


def test_a_cloud_model_behind_a_local_server_is_not_free() -> None:
    assert price("gpt-oss:120b-cloud", "ollama") is None


def test_own_code_is_never_free() -> None:
    assert price("own", "mock", run="own.py:answer") is None


def test_a_vendors_price_does_not_follow_to_another_host() -> None:
    assert price("gpt-5", "openai", "https://gateway.example.com/v1") is None
    assert price("gpt-5", "openai", "https://api.openai.com.example.com/v1") is None
    assert price("gpt-5", "openai", "https://api.openai.com/v1") is not None


def test_a_known_vendor_is_priced_by_its_address() -> None:
    found = price("deepseek-chat", "openai_compatible", "https://api.deepseek.com/v1")
    assert found is not None
    assert "deepseek" in found.source
    assert price("kimi-k2", "openai_compatible", "https://api.moonshot.ai/v1") is not None


def test_project_layers_win_field_by_field() -> None:
    connection = Connection(
        id="a", kind="anthropic", card=Card(input_usd_per_mtok=Decimal(1), context_tokens=5)
    )
    config = Config(pricing=Pricing(models={"claude-fable-5": Card(input_usd_per_mtok=Decimal(3))}))
    files = {
        "claude-fable-5": Card(
            input_usd_per_mtok=Decimal(2), output_usd_per_mtok=Decimal(7), as_of="2026-01-01"
        )
    }
    shelf = PriceBook(config, files, now=NOW)
    plain = shelf.price(ModelEntry(model="claude-fable-5"), connection)
    assert plain is not None
    assert (plain.input_usd_per_mtok, plain.output_usd_per_mtok) == (Decimal(3), Decimal(7))
    assert plain.cache_read_usd_per_mtok == Decimal(1)
    assert plain.context_tokens == 5
    assert plain.source == "project, pricing.models"
    entry = ModelEntry(model="claude-fable-5", card=Card(output_usd_per_mtok=Decimal(9), as_of="2026-11-30"))
    own = shelf.price(entry, connection)
    assert own is not None
    assert (own.input_usd_per_mtok, own.output_usd_per_mtok) == (Decimal(3), Decimal(9))
    assert own.as_of == date(2026, 11, 30)


def test_half_a_price_is_no_price() -> None:
    assert price("own-model", "vllm", card=Card(input_usd_per_mtok=Decimal(1))) is None
    both = Card(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(2))
    assert price("own-model", "vllm", card=both) is not None


def test_a_projects_own_zero_is_a_price() -> None:
    zero = Card(input_usd_per_mtok=Decimal(0), output_usd_per_mtok=Decimal(0))
    found = price("own-model", "vllm", card=zero)
    assert found is not None
    assert not found.free
    assert cost(found, Usage(input=5, output=5)) == 0
    assert cost(found, Usage(input=None, output=5)) is None


def test_a_project_may_price_a_local_or_practice_model() -> None:
    card = Card(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(2))
    for kind in ("mock", "ollama"):
        found = price("small", kind, card=card)
        assert found is not None
        assert not found.free
        assert cost(found, Usage(input=1_000_000, output=0)) == 1


def test_a_project_prices_a_family_under_the_name_before_the_colon() -> None:
    card = Card(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(2))
    config = Config(pricing=Pricing(models={"llama3": card}))
    found = price("ollama/llama3:8b", "vllm", config=config)
    assert found is not None
    assert found.inherited
    assert found.matched == "llama3"


def test_a_projects_flat_price_replaces_the_steps_of_the_list() -> None:
    stepped = price("claude-haiku-5-5", "anthropic")
    flat = price("claude-haiku-5-5", "anthropic", card=Card(output_usd_per_mtok=Decimal(1)))
    assert stepped is not None
    assert stepped.tiers
    assert flat is not None
    assert flat.tiers == ()


def test_tiers_price_the_whole_request() -> None:
    found = price("claude-haiku-5-5", "anthropic")
    assert cost(found, Usage(input=100_000, output=0)) == Decimal("0.01")
    assert cost(found, Usage(input=100_001, output=0)) == Decimal("0.0500005")


def test_a_faster_service_costs_what_it_costs() -> None:
    normal = price("claude-opus-5", "anthropic")
    fast = price("claude-opus-5", "anthropic", params={"speed": "fast"})
    assert normal is not None
    assert fast is not None
    assert fast.input_usd_per_mtok == 2 * normal.input_usd_per_mtok


def test_cached_tokens_are_billed_once_at_their_own_rate() -> None:
    found = Price(
        Decimal(10), Decimal(50), cache_read_usd_per_mtok=Decimal(1), cache_write_usd_per_mtok=Decimal("12.5")
    )
    usage = Usage(input=1_000_000, output=0, cache_read=400_000, cache_write=200_000)
    assert cost(found, usage) == Decimal(4) + Decimal("0.4") + Decimal("2.5")


def test_cached_tokens_without_a_rate_cost_what_input_costs() -> None:
    found = Price(Decimal(10), Decimal(50))
    assert cost(found, Usage(input=100, output=0, cache_read=60, cache_write=40)) == Decimal("0.001")


def test_fc118_reasoning_is_not_billed_twice() -> None:
    case = json.loads((CASES / "usage_reasoning.json").read_text(encoding="utf-8"))
    sent = case["usage"]
    usage = Usage(
        input=sent["prompt_tokens"],
        output=sent["completion_tokens"],
        reasoning=sent["completion_tokens_details"]["reasoning_tokens"],
    )
    found = Price(Decimal(0), Decimal(1_000_000))
    assert cost(found, usage) == case["billed_output"] == 900


def test_reasoning_with_a_rate_of_its_own() -> None:
    found = Price(Decimal(0), Decimal(8), reasoning_usd_per_mtok=Decimal(3))
    assert cost(found, Usage(input=0, output=1_000_000, reasoning=400_000)) == Decimal("4.8") + Decimal("1.2")


@pytest.mark.parametrize("usage", [Usage(), Usage(input=5), Usage(output=5)])
def test_fc098_missing_usage_is_unknown_and_never_zero(usage: Usage) -> None:
    assert cost(price("gpt-5", "openai"), usage) is None


def test_an_unknown_price_is_unknown_and_never_zero() -> None:
    assert cost(None, Usage(input=5, output=5)) is None
    assert estimate_cost(None, 5, 5) is None


def test_estimates_of_the_reference() -> None:
    found = Price(Decimal(5), Decimal(25))
    assert estimate_cost(found, 500, 8) == Decimal("0.0027")
    assert estimate_cost(found, 500, 512) == Decimal("0.0153")
    assert estimate_cost(found, 500, None) is None


def test_old_prices_are_stale_after_90_days() -> None:
    found = Price(Decimal(1), Decimal(1), as_of=date(2026, 6, 24))
    assert not found.is_stale(date(2026, 9, 22))
    assert found.is_stale(date(2026, 9, 23))
    assert not Price(Decimal(1), Decimal(1)).is_stale(date(2030, 1, 1))
    assert not Price(Decimal(0), Decimal(0), as_of=date(2000, 1, 1), free=True).is_stale(date(2030, 1, 1))


def test_a_malformed_day_never_crashes() -> None:
    card = Card(input_usd_per_mtok=Decimal(1), output_usd_per_mtok=Decimal(1), as_of="last spring")
    found = price("own", "vllm", card=card)
    assert found is not None
    assert found.as_of is None


@pytest.mark.parametrize(
    ("model", "kind", "vendor"),
    [
        ("claude-fable-5", "anthropic", "anthropic"),
        ("claude-haiku-5-5", "anthropic", "anthropic"),
        ("gpt-5.4", "openai", "openai"),
        ("gemini-2.5-pro", "gemini", "google"),
    ],
)
@given(data=st.data())
def test_the_cost_is_that_of_the_price_package(
    model: str, kind: str, vendor: str, data: st.DataObject
) -> None:
    import genai_prices

    tokens = st.integers(0, 400_000)
    given_in, read, write, out = (data.draw(tokens) for _ in range(4))
    found = price(model, kind)
    assert found is not None
    if found.cache_write_usd_per_mtok is None:
        write = 0
    usage = Usage(input=given_in + read + write, output=out, cache_read=read, cache_write=write)
    theirs = genai_prices.calc_price(
        genai_prices.Usage(
            input_tokens=given_in + read + write,
            output_tokens=out,
            cache_read_tokens=read,
            cache_write_tokens=write,
        ),
        model,
        provider_id=vendor,
        genai_request_timestamp=NOW,
    )
    assert cost(found, usage) == theirs.total_price


@given(
    tokens=st.tuples(*[st.none() | st.integers(0, 10**7)] * 5),
    rates=st.tuples(*[st.decimals(0, 1000, places=4)] * 4),
)
def test_no_usage_ever_costs_less_than_nothing(
    tokens: tuple[int | None, ...], rates: tuple[Decimal, ...]
) -> None:
    given_in, out, read, write, reasoning = tokens
    usage = Usage(given_in, out, read, write, reasoning)
    total = cost(Price(rates[0], rates[1], rates[2], rates[3]), usage)
    assert (total is None) == (given_in is None or out is None)
    assert total is None or total >= 0
