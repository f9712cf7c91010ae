"""Known before anything is spent: who can run, how wide, what it will cost."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from engine.config.schema import Budgets, Connection, RateLimit, Retry, RunSettings
from engine.domain import Case
from engine.errors import Cancelled, UserError
from engine.execution.budget import Worst
from engine.execution.estimate import sent_max_tokens, thinking_tokens, worst_case
from engine.execution.plan import make_plan
from engine.execution.preflight import Preflight, examine
from engine.execution.widths import lane_widths, read_environment
from engine.keystore import KeyStore
from engine.price import Price
from engine.pricing import PriceBook
from engine.prompts import Prompt
from providers.base import Message
from tests.execution.worlds import make_project, models

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
PRICE = Price(Decimal(1000), Decimal(2000))


def look(tmp_path: Path, config: dict, cases=3, **more) -> Preflight:
    project = make_project(tmp_path / "project", config, cases)
    keys = KeyStore(environ={"OPENAI_API_KEY": "k-open"})
    book = PriceBook.for_config(project.config, project.root)
    return examine(project, keystore=keys, pricebook=book, environ=more.pop("environ", {}), **more)


# ---- widths


def test_the_environment_is_read_with_spaces_and_empty_items() -> None:
    environ = {"ARENA_PROVIDER_CONCURRENCY": " openai=3, Anthropic = 4 ,,"}
    assert read_environment(environ) == {"openai": 3, "anthropic": 4}
    assert read_environment({}) == {}
    assert read_environment({"ARENA_PROVIDER_CONCURRENCY": ",,"}) == {}
    assert read_environment({"ARENA_PROVIDER_CONCURRENCY": "a=1,a=2"}) == {"a": 2}


@pytest.mark.parametrize(
    "item",
    ["openai=0", "openai=-1", "openai=1.5", "openai=three", "openai", "=3", "o p=3", "openai=" + "9" * 5000],
)
def test_a_malformed_width_names_the_item_and_the_form(item: str) -> None:
    with pytest.raises(UserError) as caught:
        read_environment({"ARENA_PROVIDER_CONCURRENCY": f"anthropic=2,{item}"})
    assert repr(item) in caught.value.message
    assert "ARENA_PROVIDER_CONCURRENCY" in caught.value.message
    assert "openai=6,anthropic=4" in caught.value.hint


def test_a_malformed_width_fails_the_plan(tmp_path: Path) -> None:
    preflight = look(tmp_path, models("a"), environ={"ARENA_PROVIDER_CONCURRENCY": "mock=0"})
    assert [p.code for p in preflight.errors] == ["bad_provider_concurrency"]
    project = make_project(tmp_path / "project", models("a"))
    with pytest.raises(UserError) as caught:
        make_plan(project, preflight)
    assert caught.value.code == "bad_provider_concurrency"


def _width(
    connection: Connection, run: RunSettings, environment: dict[str, int] | None = None
) -> tuple[int, str]:
    (width,) = lane_widths([connection], run, environment or {})
    return width.width, width.source


def test_the_first_width_that_is_set_wins() -> None:
    limited = Connection("work", "openai", rate_limit=RateLimit(concurrency=7))
    run = RunSettings(concurrency=20, provider_concurrency={"openai": 5, "work": 6})
    assert _width(limited, run, {"openai": 2}) == (2, "environment")
    assert _width(limited, run, {"openai": 2, "work": 9}) == (9, "environment")
    assert _width(limited, run) == (6, "run")
    assert _width(Connection("other", "openai"), run) == (5, "run")
    assert _width(limited, RunSettings(concurrency=20)) == (7, "connection")
    assert _width(Connection("x", "openai"), RunSettings(concurrency=20)) == (3, "default")
    assert _width(Connection("o", "ollama"), RunSettings(concurrency=20)) == (1, "local")
    far = Connection("o", "ollama", base_url="http://gpu.example:11434/v1")
    assert _width(far, RunSettings(concurrency=20)) == (3, "default")


@pytest.mark.parametrize(("cap", "asked", "width"), [(2, None, 2), (10, None, 3), (10, 40, 10)])
def test_widths_are_clamped_to_the_global_cap(cap: int, asked: int | None, width: int) -> None:
    environment = {} if asked is None else {"openai": asked}
    assert _width(Connection("openai", "openai"), RunSettings(concurrency=cap), environment)[0] == width


def test_a_kind_applies_to_each_of_its_connections_and_a_name_to_one() -> None:
    """Two accounts at one vendor have a lane each; the width of the kind is not shared between them."""
    accounts = [Connection("work", "openai"), Connection("home", "openai"), Connection("c", "anthropic")]
    run = RunSettings(concurrency=20, provider_concurrency={"openai": 5, "home": 2})
    assert [(w.lane, w.width) for w in lane_widths(accounts, run, {})] == [("work", 5), ("home", 2), ("c", 3)]
    asked = lane_widths(accounts, run, {"openai": 7})
    assert [(w.lane, w.width) for w in asked] == [("work", 7), ("home", 7), ("c", 3)]


def test_an_alias_names_the_kind() -> None:
    run = RunSettings(concurrency=9, provider_concurrency={"google": 5})
    assert _width(Connection("g", "gemini"), run) == (5, "run")


# ---- who can run


def test_a_model_without_a_key_is_skipped_with_a_fix(tmp_path: Path) -> None:
    config = {"models": [OPEN, {"key": "gem", "model": "gemini-9"}]}
    preflight = look(tmp_path, config)
    assert [m.entry.key for m in preflight.ready] == ["open"]
    (skip,) = preflight.skipped
    assert (skip.model_key, skip.code) == ("gem", "no_key")
    assert skip.reason
    assert skip.fix
    assert preflight.planned == 3


def test_no_key_shows_in_the_ready_model(tmp_path: Path) -> None:
    (ready,) = look(tmp_path, {"models": [OPEN]}).ready
    assert ready.settings.api_key == "k-open"
    assert "k-open" not in repr(ready)


def test_what_is_not_built_is_skipped_by_name(tmp_path: Path) -> None:
    config = {"models": [OPEN, {"key": "lite", "model": "bedrock/x", "provider": "litellm"}]}
    (skip,) = look(tmp_path, config).skipped
    assert (skip.model_key, skip.code) == ("lite", "not_built")


def test_a_model_that_cannot_meet_a_must_have_is_skipped_before_spending(tmp_path: Path) -> None:
    config = {
        "models": [{**OPEN, "card": {"context_tokens": 4000}}, *models("practice")["models"]],
        "constraints": {"min_context_tokens": 100000},
    }
    preflight = look(tmp_path, config)
    skip = next(s for s in preflight.skipped if s.model_key == "open")
    assert skip.code == "breaks_gate"
    assert "4000" in skip.reason
    assert "100000" in skip.reason
    wanted = look(tmp_path, config, include_gated=True)
    assert "open" in [m.entry.key for m in wanted.ready]


def test_undeclared_privacy_fails_its_must_have(tmp_path: Path) -> None:
    config = {"models": [OPEN], "constraints": {"privacy_required": ["zero_data_retention"]}}
    (skip,) = look(tmp_path, config).skipped
    assert skip.code == "breaks_gate"
    assert "zero_data_retention" in skip.reason


def test_own_code_needs_trust(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "bot.py").write_text("def answer(prompt):\n    return prompt\n")
    config = {"models": [{"key": "bot", "run": "bot.py:answer"}]}
    (skip,) = look(tmp_path, config).skipped
    assert skip.code == "no_trust"
    assert not look(tmp_path, config, trust=True).skipped


def test_faults_of_checks_are_found_before_the_run(tmp_path: Path) -> None:
    cases = [{"id": "a", "input": "x"}, {"id": "b", "input": "y", "reference": "1"}]
    preflight = look(tmp_path, models("m") | {"scorers": {"default": "exact_match"}}, cases)
    assert len(preflight.errors) == 1
    with pytest.raises(UserError) as caught:
        make_plan(make_project(tmp_path / "project", models("m"), cases), preflight)
    assert caught.value.code == "project_faults"


@pytest.mark.parametrize(
    ("scorers", "path"),
    [
        ({"checks": ["json_valid", "length"]}, "scorers.checks[1]"),
        ({"checks": [{"type": "regex", "pattern": "("}]}, "scorers.checks[0].pattern"),
        ({"default": "length"}, "scorers.default"),
        ({"default": "contains", "options": {"contains": {"mode": "some"}}}, "scorers.options.contains.mode"),
    ],
)
def test_a_fault_of_all_tests_is_told_once_where_it_is_written(
    tmp_path: Path, scorers: dict, path: str
) -> None:
    (fault,) = look(tmp_path, models("m") | {"scorers": scorers}, 3).errors
    assert (fault.file, fault.path) == ("config.yaml", path)


def test_a_test_is_told_of_its_own_check_also_where_the_project_has_the_same_fault(tmp_path: Path) -> None:
    own = {"id": "own", "input": "x", "checks": ["length"]}
    cases = [own, {"id": "b", "input": "y"}, {"id": "c", "input": "z"}]
    errors = look(tmp_path, models("m") | {"scorers": {"checks": ["length"]}}, cases).errors
    assert [fault.path for fault in errors] == ["scorers.checks[0]", "own.length"]


def test_a_way_of_marking_that_no_test_goes_by_keeps_no_run_from_starting(tmp_path: Path) -> None:
    cases = [{"id": "a", "input": "x", "reference": "R", "checks": ["contains"]}]
    for scorers in ({"checks": ["length"]}, {"default": "length"}):
        assert not look(tmp_path, models("m") | {"scorers": scorers}, cases).errors


def test_no_cases_and_no_models_are_errors_of_their_own(tmp_path: Path) -> None:
    project = make_project(tmp_path / "project", models("a"))
    book = PriceBook.for_config(project.config, project.root)
    for change, code in (
        ({"cases": ()}, "no_cases"),
        ({"config": replace(project.config, models=())}, "no_models"),
    ):
        changed = replace(project, **change)
        preflight = examine(changed, keystore=KeyStore(environ={}), pricebook=book, environ={})
        with pytest.raises(UserError) as caught:
            make_plan(changed, preflight)
        assert caught.value.code == code


def test_a_server_that_is_not_there_skips_its_models_only(tmp_path: Path) -> None:
    config = {
        "connections": [{"id": "gone", "kind": "ollama", "base_url": "http://127.0.0.1:9/v1"}],
        "models": [{"key": "far", "model": "llama", "provider": "gone"}, *models("practice")["models"]],
    }
    config["providers"] = config.pop("connections")
    preflight = look(tmp_path, config)
    assert [(s.model_key, s.code) for s in preflight.skipped] == [("far", "not_reachable")]
    assert [m.entry.key for m in preflight.ready] == ["practice"]


def test_looking_can_be_cancelled_and_never_takes_long(tmp_path: Path, monkeypatch) -> None:
    held = threading.Event()

    class Slow(KeyStore):
        def resolve(self, *args, **more):
            held.wait(30)
            return super().resolve(*args, **more)

    project = make_project(tmp_path / "project", {"models": [OPEN]})
    book = PriceBook.for_config(project.config, project.root)
    began = time.monotonic()
    with pytest.raises(Cancelled):
        examine(project, keystore=Slow(environ={}), pricebook=book, environ={}, should_stop=lambda: True)
    assert time.monotonic() - began < 3
    monkeypatch.setattr("engine.execution.candidates.TIME_LIMIT_S", 0.1)
    preflight = examine(project, keystore=Slow(environ={}), pricebook=book, environ={})
    held.set()
    assert [(s.model_key, s.code) for s in preflight.skipped] == [("open", "not_reachable")]


# ---- the plan


def test_lanes_of_a_plan_carry_limits_and_retries(tmp_path: Path) -> None:
    config = {
        "providers": [
            {
                "id": "work",
                "kind": "openai",
                "rate_limit": {"rpm": 100, "tpm": 9000, "concurrency": 2},
                "retry": {"attempts": 4, "backoff_s": 0.5},
            },
            {"id": "once", "kind": "openai", "retry": {"attempts": 0}},
        ],
        "models": [
            {"key": "a", "model": "gpt-x", "provider": "work"},
            {"key": "b", "model": "gpt-x", "provider": "once"},
            *models("c")["models"],
        ],
        "run": {"retries": 1},
    }
    preflight = look(tmp_path, config)
    plan = make_plan(make_project(tmp_path / "project", config), preflight)
    lanes = {lane.id: lane for lane in plan.lanes}
    assert (lanes["work"].rpm, lanes["work"].tpm, lanes["work"].width) == (100, 9000, 2)
    assert (lanes["work"].retry.retries, lanes["work"].retry.backoff_s) == (3, 0.5)
    assert lanes["once"].retry.retries == 0
    assert lanes["mock"].retry.retries == 1
    assert lanes["mock"].local
    assert not lanes["work"].local
    assert plan.concurrency_text == "4 at once · mock 3 · once 3 · work 2"
    assert Retry().attempts is None


# ---- cost


def test_the_worst_case_counts_bytes_and_the_length_that_is_sent() -> None:
    prompt = Prompt((Message("user", "äöü"),), system="four", max_tokens=100)
    worst = worst_case(prompt, Case("c"), PRICE, Budgets())
    tokens = 6 + 4 + 2 * 16 + 64
    assert worst == Worst(Decimal(tokens) * 1000 / 10**6 + Decimal(100) * 2000 / 10**6, tokens + 100)


def test_images_are_reserved_at_their_dearest() -> None:
    plain = worst_case(Prompt((Message("user", "x"),), max_tokens=1), Case("c"), PRICE, Budgets())
    picture = worst_case(
        Prompt((Message("user", "x"),), max_tokens=1), Case("c", images=("a.png",)), PRICE, Budgets()
    )
    assert picture.tokens - plain.tokens >= 1600


def test_under_a_ceiling_a_length_is_always_sent() -> None:
    budgets = Budgets(max_run_usd=Decimal(1))
    bare = Prompt(())
    assert sent_max_tokens(bare, Budgets()) is None
    assert sent_max_tokens(bare, budgets) == 1024
    assert sent_max_tokens(bare, Budgets(max_model_usd=Decimal(1))) == 1024
    # A ceiling of tokens is passed by the first long answer where nothing bounds it.
    assert sent_max_tokens(bare, Budgets(max_tokens=5000)) == 1024
    assert sent_max_tokens(bare, Budgets(max_calls=5)) is None
    assert sent_max_tokens(replace(bare, max_tokens=7), budgets) == 7
    thinking = replace(bare, params={"thinking": {"type": "enabled", "budget_tokens": 2000}})
    assert thinking_tokens(thinking.params) == 2000
    assert sent_max_tokens(thinking, budgets) == 3024


def test_the_estimate_is_a_range_and_unknown_stays_unknown(tmp_path: Path) -> None:
    priced = {**OPEN, "card": {"input_usd_per_mtok": 10, "output_usd_per_mtok": 20}, "max_tokens": 200}
    cost = look(tmp_path, {"models": [priced], "run": {"trials": 2}}).estimate
    assert cost.total.low is not None
    assert cost.total.likely is not None
    assert cost.total.high is not None
    assert 0 < cost.total.low <= cost.total.likely <= cost.total.high
    both = look(tmp_path, {"models": [priced, {**OPEN, "key": "u", "model": "gpt-unheard-of"}]}).estimate
    assert both.total.high is None
    assert both.unpriced == ("u",)
    assert both.known.high is not None


def test_confirmation_is_asked_where_the_project_wants_it(tmp_path: Path) -> None:
    priced = {**OPEN, "card": {"input_usd_per_mtok": 10, "output_usd_per_mtok": 20}, "max_tokens": 200}
    unpriced = {**OPEN, "key": "u", "model": "gpt-unheard-of"}

    def codes(**config) -> list[str]:
        return [note.code for note in look(tmp_path, config).confirm]

    assert codes(models=[priced]) == []
    assert codes(models=[priced], budgets={"confirm_above_usd": 0.0001}) == ["above"]
    assert codes(models=[priced], budgets={"confirm_above_usd": 100}) == []
    assert codes(models=[unpriced], budgets={"confirm_above_usd": 100}) == ["cost_unknown"]
    assert codes(models=[unpriced], budgets={"max_run_usd": 1}) == ["unpriced_under_ceiling"]
    assert codes(models=[unpriced], budgets={"max_run_usd": 1, "max_calls": 9}) == []
    assert codes(models=[unpriced], budgets={"max_model_usd": 1}) == ["unpriced_under_ceiling"]
    assert codes(models=[unpriced], budgets={"max_model_usd": 1, "max_tokens": 900}) == []
    assert codes(models=[priced], budgets={"max_model_usd": 1}) == []


def test_practice_costs_nothing(tmp_path: Path) -> None:
    cost = look(tmp_path, models("a", "b")).estimate
    assert cost.total.high == 0
    assert cost.unpriced == ()
