"""Both spellings of the reference, and what each block refuses."""

from __future__ import annotations

from decimal import Decimal

import pytest

from engine.config.loading import LoadedConfig, load_config
from engine.config.ranges import check_range
from engine.config.schema import Card, MetricRule
from engine.config.yaml_text import compose
from engine.domain import Severity

MODELS = "models: [{key: m, model: 'mock:oracle'}]\n"


def load(text: str, *, models: str = MODELS, name: str = "config.yaml") -> LoadedConfig:
    return load_config(compose(models + text, name), "folder")


def good(text: str, *, models: str = MODELS) -> LoadedConfig:
    loaded = load(text, models=models)
    assert loaded.problems == (), [str(problem) for problem in loaded.problems]
    return loaded


def test_top_level_names() -> None:
    loaded = good("name: n\nconnections: [{name: c, type: google, api_base: 'http://x.example/v1'}]\n")
    assert loaded.config.project == "n"
    link = loaded.config.connections[0]
    assert (link.id, link.kind, link.base_url) == ("c", "gemini", "http://x.example/v1")


def test_models_and_targets_are_one_list() -> None:
    text = "models: [gpt-5.5, {id: claude-opus-5}]\ntargets: [{callable: 'a.b:answer', key: own}]\n"
    entries = good(text, models="").config.models
    assert [(e.key, e.model, e.provider, e.label) for e in entries] == [
        ("gpt-5.5", "gpt-5.5", "openai", "gpt-5.5"),
        ("claude-opus-5", "claude-opus-5", "anthropic", "claude-opus-5"),
        ("own", "a.b:answer", "callable", "own"),
    ]


def test_an_id_beside_a_model_is_its_key_and_a_name_its_label() -> None:
    entry = good("", models="models: [{id: short, model: gpt-5.5, name: The short one}]\n").config.models[0]
    assert (entry.key, entry.model, entry.label) == ("short", "gpt-5.5", "The short one")


@pytest.mark.parametrize(
    ("written", "kind"),
    [
        ("claude-x", "anthropic"), ("gpt-5.5", "openai"), ("gemini-3", "gemini"), ("mock:echo", "mock"),
        ("llama3.2", "ollama"), ("smollm2-135m", "builtin"),
    ],
)  # fmt: skip
def test_a_name_tells_its_provider(written: str, kind: str) -> None:
    loaded = good("", models=f"models: ['{written}']\n")
    assert loaded.config.models[0].provider == kind
    assert [(link.id, link.kind) for link in loaded.config.connections] == [(kind, kind)]


def test_an_address_on_the_entry_gets_a_connection_of_its_own() -> None:
    text = "models:\n  - {model: own-7b, base_url: 'http://127.0.0.1:9000/v1'}\n"
    loaded = good("", models=text)
    assert loaded.config.models[0].provider == "openai_compatible@127.0.0.1:9000"
    assert loaded.config.connections[0].base_url == "http://127.0.0.1:9000/v1"


def test_a_name_that_tells_nothing_shows_how_to_write_it() -> None:
    problem = load("", models="models: [secret-sauce]\n").problems[0]
    assert (problem.code, problem.line) == ("provider_missing", 1)
    assert "{model: secret-sauce, provider: openai}" in problem.fix


def test_an_unknown_provider_lists_both_sets() -> None:
    text = "providers: [{id: office, kind: openai}]\nmodels: [{model: m, provider: offise}]\n"
    problem = load("", models=text).problems[0]
    assert (problem.code, problem.path) == ("unknown_provider", "models[0].provider")
    assert "Did you mean `office`?" in problem.fix
    assert "anthropic" in problem.fix


def test_gates_flat_and_nested_mean_the_same() -> None:
    flat = "constraints: {required_features: vision, min_context_tokens: 5, privacy_required: [dpa]}\n"
    nested = (
        "constraints:\n  deployment: {features: [vision], min_context: 5}\n  privacy: {requirements: dpa}\n"
    )
    assert good(flat).config.constraints == good(nested).config.constraints
    bare = "constraints: {privacy: [dpa], allow_unknown_card: true}\n"
    assert good(bare).config.constraints.privacy_required == ("dpa",)


def test_directions_in_both_spellings() -> None:
    one = "metrics: {directions: {abs_error: lower}, latency: {target_p95_ms: 0}}\n"
    two = "metrics: {abs_error: {direction: min}, latency: {target: 0}}\n"
    assert good(one).config.metrics == good(two).config.metrics
    assert good(one).config.metrics.rules == {
        "latency": MetricRule(normalize="target", target=0.0),
        "abs_error": MetricRule(direction="min"),
    }


def test_cards_in_all_spellings() -> None:
    text = (
        "models:\n  - model: gpt-5.5\n    privacy: [dpa, on_prem]\n"
        "    card: {input: 1.10, output: 2, context: 9, features: vision}\n"
    )
    card = good("", models=text).config.models[0].card
    assert card == Card(
        input_usd_per_mtok=Decimal("1.10"),
        output_usd_per_mtok=Decimal(2),
        context_tokens=9,
        features=("vision",),
        privacy={"dpa": True, "on_prem": True},
    )
    link = good(
        "providers: [{id: c, kind: vllm, features: [tools], privacy: {dpa: true}}]\n"
    ).config.connections[0]
    assert (link.card.features, link.card.privacy) == (("tools",), {"dpa": True})


def test_short_forms_of_blocks() -> None:
    config = good("statistics: false\ntests: a.yaml\npricing: prices.yaml\njudge: gpt-5.5\n").config
    assert config.statistics.enabled is False
    assert config.tests.paths == ("a.yaml",)
    assert config.pricing.path == "prices.yaml"
    assert (config.judge.model, config.judge.provider) == ("gpt-5.5", "openai")


def test_a_judge_that_is_a_compared_model_goes_the_same_way() -> None:
    text = "providers: [{id: main, kind: openai}]\nmodels: [{key: g, model: gpt-5.5, provider: main}]\n"
    judge = good("judge: {model: g}\n", models=text).config.judge
    assert (judge.model, judge.provider) == ("gpt-5.5", "main")


def test_null_and_absent_are_the_same() -> None:
    assert good("run:\nbudgets: null\nmetrics: ~\ntests:\nhooks:\n").config == good("").config


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("watch: {drift_threshold: 0.1}\n", "not_built", "`watch`"),
        ("hooks: {on_result: 'hooks.py:f', post_process: ''}\n", "not_built", "`hooks`"),
        ("providers: [{id: l, kind: litellm}]\n", "not_built", "LiteLLM"),
        ("targets: [{model: bedrock/some-model}]\n", "not_built", "LiteLLM"),
        ("project: a\nname: b\n", "not_used", "`name`"),
    ],
)
def test_what_is_accepted_but_not_used_is_said(text: str, code: str, words: str) -> None:
    problems = load(text).problems
    assert [(problem.severity, problem.code) for problem in problems] == [(Severity.WARNING, code)]
    assert words in problems[0].message


@pytest.mark.parametrize(
    ("text", "path", "fix"),
    [
        ("constraint: {}\n", "constraint", "`constraints`"),
        ("system: Be kind.\n", "system", "`defaults`"),
        ("trials: 3\n", "trials", "`run`"),
        ("zzzz: 3\n", "zzzz", "x-"),
        ("run: {trial: 3}\n", "run.trial", "`trials`"),
        ("metrics: {weigths: {accuracy: 1}}\n", "metrics.weigths", "`weights`"),
        ("metrics: {latency: {targt: 1}}\n", "metrics.latency.targt", "`target`"),
        (
            "providers: [{id: a, kind: openai, rate_limit: {rpms: 1}}]\n",
            "providers[0].rate_limit.rpms",
            "`rpm`",
        ),
        ("judge: {model: gpt-5.5, rubric: [{name: a, wieght: 1}]}\n", "judge.rubric[0].wieght", "`weight`"),
        ("hooks: {on_results: 'a.py:b'}\n", "hooks.on_results", "`on_result`"),
        ("constraints: {privacy: {requred: [dpa]}}\n", "constraints.privacy.requred", "`required`"),
    ],
)
def test_an_unknown_name_gets_the_nearest_known_one(text: str, path: str, fix: str) -> None:
    errors = [problem for problem in load(text).problems if problem.severity is Severity.ERROR]
    assert [(problem.code, problem.path, problem.line) for problem in errors] == [("unknown_key", path, 2)]
    assert fix in errors[0].fix


def test_notes_of_ones_own_are_free_everywhere() -> None:
    text = "x-a: {any: [thing]}\nrun: {x-why: 1}\nmetrics: {x-note: text}\nconstraints: {x-b: 1}\n"
    assert load(text).problems == ()


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("run: {trials: 1.5}\n", "run.trials", "whole number"),
        ("run: {trials: true}\n", "run.trials", "whole number"),
        ('run: {trials: "3"}\n', "run.trials", "without quotes"),
        ("run: {trials: [3]}\n", "run.trials", "a list"),
        ("run: {timeout_s: 0}\n", "run.timeout_s", "more than 0"),
        ("run: {timeout_s: .inf}\n", "run.timeout_s", "a number"),
        ("run: {seed: x}\n", "run.seed", "whole number"),
        ("run: {provider_concurrency: {mock: 0}}\n", "run.provider_concurrency.mock", "1 or more"),
        ("run: 3\n", "run", "block of settings"),
        ("budgets: {max_run_usd: cheap}\n", "budgets.max_run_usd", "a number"),
        ("statistics: {confidence: 1}\n", "statistics.confidence", "less than 1"),
        ("statistics: {resamples: 5}\n", "statistics.resamples", "100 or more"),
        ("statistics: {margin: 0}\n", "statistics.margin", "more than 0"),
        ("constraints: {min_accuracy: 60}\n", "constraints.min_accuracy", "at most 1"),
        ("providers: {a: 1}\n", "providers", "must be a list"),
        ("tests: {paths: {a: 1}}\n", "tests.paths", "must be a list"),
        ("metrics: {latency: {direction: up}}\n", "metrics.latency.direction", "`higher`"),
        ("defaults: {system: {a: 1}}\n", "defaults.system", "must be text"),
        ("defaults: {params: [1]}\n", "defaults.params", "block of settings"),
        ("schema_version: 0\n", "schema_version", "whole number"),
    ],
)
def test_types_and_ranges_in_plain_words(text: str, path: str, words: str) -> None:
    problems = load(text).problems
    assert [(problem.code, problem.path) for problem in problems] == [("bad_value", path)]
    assert words in f"{problems[0].message} {problems[0].fix}"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("metrics: {weights: {accuracy: 0}}\n", "no_weight"),
        ("metrics: {latency: {normalize: budget}}\n", "no_target"),
        ("providers: [{id: a, kind: opnai}]\n", "unknown_kind"),
        ("providers: [{id: a, kind: openai}, {id: a, kind: gemini}]\n", "duplicate_connection"),
        ("providers: [{kind: openai}]\n", "missing_key"),
        ("providers: [{id: a, kind: vllm, base_url: localhost:8000}]\n", "bad_url"),
        ("targets: [{run: no-function}]\n", "bad_run"),
        ("targets: [{label: nameless}]\n", "missing_key"),
        ("targets: [{key: m, model: 'mock:echo'}]\n", "duplicate_model"),
        ("run: {provider_concurrency: {opnai: 3}}\n", "unknown_provider"),
        ("providers: [{id: a, kind: openai, api_key_ref: '${vault:x}'}]\n", "bad_key_reference"),
        ("providers: [{id: a, kind: openai, api_key_ref: my-own-key}]\n", "literal_key"),
        ("providers: [{id: a, kind: openai, headers: {X-Api-Key: abc}}]\n", "literal_key"),
        ("providers: [{id: a, kind: openai, proxy: 'http://me:pw@proxy:1'}]\n", "literal_key"),
        ("targets: [{model: gpt-5.5, params: {extra: sk-abcdefghijklmnop1234}}]\n", "literal_key"),
        ("targets: [{model: gpt-5.5, api_key_env: sk-abcdefghijklmnop1234}]\n", "literal_key"),
    ],
)
def test_faults_that_only_the_whole_shows(text: str, code: str) -> None:
    problems = load(text).problems
    assert code in [problem.code for problem in problems]
    assert "sk-abc" not in "".join(map(str, problems))


def test_labels_of_the_config_stay_text() -> None:
    text = "scorers: {options: {classification: {labels: [no, 012], case_sensitive: true}}}\n"
    options = good(text).config.scorers.options
    assert options == {"classification": {"labels": ["no", "012"], "case_sensitive": True}}


def test_settings_that_are_text_keep_their_writing() -> None:
    config = good("project: 2024\ndescription: no\ndefaults: {system: 012}\n").config
    assert (config.project, config.description, config.defaults.system) == ("2024", "no", "012")


def test_a_ca_bundle_and_switched_off_checks() -> None:
    text = "providers: [{id: a, kind: vllm, verify: ca.pem}, {id: b, kind: vllm, verify_tls: false}]\n"
    assert [link.verify_tls for link in good(text).config.connections[:2]] == ["ca.pem", False]


def test_places_lead_to_what_is_written() -> None:
    loaded = good("defaults:\n  prompt: '{{input}}'\nproviders:\n  - {id: a, kind: openai}\n")
    assert loaded.places["defaults.prompt"].line == 3
    assert loaded.places["models.m"].line == 1
    assert loaded.places["connections.a"].path == "providers[0]"


@pytest.mark.parametrize("written", ["1001", "100000000000000000000"])
def test_nobody_means_more_than_a_thousand_at_once(written: str) -> None:
    (problem,) = load(f"run:\n  concurrency: {written}\n").problems
    assert (problem.severity, problem.path, problem.line) == (Severity.ERROR, "run.concurrency", 3)
    assert "at most 1000" in problem.message
    assert good("run: {concurrency: 1000}\n").config.run.concurrency == 1000


@pytest.mark.parametrize("setting", ["run: {seed: %d}", "run: {seed: -%d}", "budgets: {max_tokens: %d}"])
def test_a_whole_number_that_no_store_can_hold_is_a_fault_with_its_place(setting: str) -> None:
    (problem,) = load(setting % 2**70 + "\n").problems
    assert "larger than any that can be used" in problem.message
    assert (problem.code, problem.line) == ("bad_value", 2)
    assert good(setting % (2**63 - 1) + "\n").problems == ()


@pytest.mark.parametrize("value", [10**400, -(10**400), Decimal("sNaN"), Decimal("NaN"), float("inf")])
@pytest.mark.parametrize("base", [int, float, Decimal])
def test_a_value_nobody_can_mean_is_refused_and_never_breaks_the_reading(base: type, value: object) -> None:
    found, reason = check_range(base, value)
    if type(value) is base and base is not float:
        assert (found, bool(reason)) == (None, True)


def test_a_judge_is_asked_as_often_as_a_check_may_ask_it() -> None:
    (problem,) = load("judge: {model: 'mock:judge', votes: 26}\n").problems
    assert "`votes` must be at most 25" in problem.message
    assert good("judge: {model: 'mock:judge', votes: 25}\n").config.judge.votes == 25
