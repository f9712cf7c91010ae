"""Values nobody means: every one ends in a problem with its place, never in an exception or a freeze."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from engine.domain import Severity
from engine.execution.estimate import prompt_tokens_at_most
from engine.prompts import build_prompt
from engine.scoring.try_check import try_check
from tests.project.folders import MODELS, codes, only, project

ESCAPED = MODELS.replace("{", "{{").replace("}", "}}")
LENGTHS = ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens")
HUGE = "9" * 400
CASE = "tests:\n  - {id: a, input: hi, reference: x}\n"


@pytest.mark.parametrize(
    ("config", "path"),
    [
        (
            f"providers: [{{id: o, kind: openai, rate_limit: {{rpm: {HUGE}}}}}]\n",
            "providers[0].rate_limit.rpm",
        ),
        (f"run: {{timeout_s: {HUGE}}}\n", "run.timeout_s"),
        ("metrics: {weights: {accuracy: 1.0e+308}}\n", "metrics.weights.accuracy"),
        ("metrics: {latency: {target_ms: -5}}\n", "metrics.latency.target_ms"),
        ("statistics: {resamples: 100000000}\n", "statistics.resamples"),
        ("judge: {model: 'mock:judge', rubric: [{name: x, weight: 1.0e+308}]}\n", "judge.rubric[0].weight"),
        ("providers: [{id: o, kind: openai, card: yes}]\n", "providers[0].card"),
    ],
)
def test_a_setting_out_of_all_range_is_named(config: str, path: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, {"tests.yaml": CASE}, MODELS + config)
    fault = only(loaded.problems, "bad_value")
    assert (fault.severity, fault.path) == (Severity.ERROR, path)


def test_a_card_that_is_no_block_is_named(tmp_path: Path) -> None:
    config = "models: [{key: m, model: 'mock:oracle', card: free}]\n"
    loaded = project(tmp_path, {"tests.yaml": CASE}, config)
    assert only(loaded.problems, "bad_value").path == "models[0].card"


@pytest.mark.parametrize("setting", ["deciding: acuracy", "tie_breaker: latncy", "weights: {acuracy: 1}"])
def test_a_metric_that_looks_like_a_slip_is_warned_of(setting: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, {"tests.yaml": CASE}, f"{MODELS}metrics: {{{setting}}}\n")
    assert only(loaded.problems, "unknown_metric").severity is Severity.WARNING
    assert loaded.ok


def test_metrics_of_checks_are_no_slips(tmp_path: Path) -> None:
    config = f"{MODELS}metrics: {{deciding: abs_error, weights: {{abs_error: 1, my_metric: 2}}}}\n"
    assert codes(project(tmp_path, {"tests.yaml": CASE}, config)) == []


@pytest.mark.parametrize(
    "case",
    [
        f"{{id: a, input: hi, reference: x, weight: {HUGE}}}",
        "{id: a, input: hi, reference: x, weight: 1.0e+308}",
        "{id: a, input: hi, reference: x, temperature: .inf}",
    ],
)
def test_a_number_of_a_case_out_of_all_range_is_named(case: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, {"tests.yaml": f"tests:\n  - {case}\n"})
    assert only(loaded.problems, "bad_value").line == 2


@pytest.mark.parametrize(
    "check", ["{type: []}", "{type: {}}", "{type: [x]}", f"{{type: contains, weight: {HUGE}}}"]
)
def test_a_check_of_a_wrong_kind_is_named(check: str, tmp_path: Path) -> None:
    text = f"tests:\n  - {{id: a, input: hi, reference: x, checks: [{check}]}}\n"
    assert "bad_check" in codes(project(tmp_path, {"tests.yaml": text}))


@pytest.mark.parametrize("name", ["t" * 5000, "'a\\0b'", '"a\\0b"'])
@pytest.mark.parametrize(
    "setting", ["tests: {{paths: [{}]}}", "pricing: {{path: {}}}", "scorers: {{paths: [{}]}}"]
)
def test_names_that_no_file_can_have_are_faults(name: str, setting: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, {"tests.yaml": CASE}, f"{MODELS}{setting.format(name)}\n")
    assert loaded.errors


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
@pytest.mark.parametrize("setting", ["tests: {paths: [p.yaml]}", "pricing: {path: p.yaml}"])
def test_a_pipe_is_not_waited_for(setting: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "p.yaml")
    loaded = project(tmp_path, {"tests.yaml": CASE}, f"{MODELS}{setting}\n")
    from engine.pricing import PriceBook

    book = PriceBook.for_config(loaded.config, loaded.root)
    assert loaded.errors or book.problems


def test_names_are_one_line(tmp_path: Path) -> None:
    config = 'project: "P\\n1 winner"\nmodels: [{key: m, model: "mock:oracle", label: "L\\n 1  Fake"}]\n'
    loaded = project(tmp_path, {"tests.yaml": CASE}, config)
    assert loaded.config.project == "P 1 winner"
    assert loaded.config.models[0].label == "L 1 Fake"


@pytest.mark.parametrize("reference", [int(HUGE), {"a": int(HUGE)}, [int(HUGE)]])
def test_a_number_no_float_holds_is_a_number_all_the_same(reference: Any) -> None:
    result = try_check({"type": "numeric", "reference": reference}, "4", None, None)
    assert result.passed is not True


def test_a_weight_no_float_holds_is_refused() -> None:
    result = try_check({"type": "numeric", "weight": int(HUGE), "reference": "1"}, "1", None, None)
    assert result.state.value == "errored"
    assert "weight" in result.reason


@pytest.mark.parametrize(
    "param",
    [
        *("n: 50", "best_of: 2", "candidate_count: 3", "model: m", "messages: [{role: user, content: x}]"),
        *("max_tokens: '5000'", "max_completion_tokens: -1", "maxOutputTokens: 1.5", "system: {a: 1}"),
    ],
)
@pytest.mark.parametrize(
    "place",
    [
        "models: [{{key: m, model: 'mock:oracle', params: {{{}}}}}]\n",
        ESCAPED + "defaults: {{params: {{{}}}}}\n",
        MODELS.replace("{", "{{").replace("}", "}}")
        + "providers: [{{id: o, kind: openai, params: {{{}}}}}]\n",
        ESCAPED + "judge: {{model: 'mock:judge', params: {{{}}}}}\n",
    ],
    ids=["model", "defaults", "connection", "judge"],
)
def test_params_cannot_change_what_is_priced(place: str, param: str, tmp_path: Path) -> None:
    fault = only(project(tmp_path, {"tests.yaml": CASE}, place.format(param)).problems, "bad_param")
    assert fault.severity is Severity.ERROR
    assert fault.path.endswith(f"params.{param.partition(':')[0]}")


@pytest.mark.parametrize("name", LENGTHS)
@pytest.mark.parametrize("holder", ["defaults", "connection", "entry"])
def test_the_length_in_params_is_the_length_that_is_reserved(name: str, holder: str, tmp_path: Path) -> None:
    params = {key: f", params: {{{name}: 5000}}" if key == holder else "" for key in ("connection", "entry")}
    config = (
        f"providers: [{{id: s, kind: openai_compatible, base_url: 'http://127.0.0.1:9/v1'{params['connection']}}}]\n"
        f"models: [{{key: m, model: x, provider: s{params['entry']}}}]\n"
        + (f"defaults: {{params: {{{name}: 5000}}}}\n" if holder == "defaults" else "")
    )
    loaded = project(tmp_path, {"tests.yaml": CASE}, config)
    prompt = build_prompt(loaded.cases[0], loaded.config.models[0], loaded.config)
    assert prompt.max_tokens == 5000
    assert name not in prompt.params


def test_what_a_service_reads_in_params_is_reserved(tmp_path: Path) -> None:
    config = "models: [{key: m, model: 'mock:oracle', params: {tools: [{description: %s}]}}]\n" % ("x" * 5000)
    loaded = project(tmp_path, {"tests.yaml": CASE}, config)
    prompt = build_prompt(loaded.cases[0], loaded.config.models[0], loaded.config)
    assert prompt_tokens_at_most(prompt, loaded.cases[0]) > 5000


def test_a_connection_may_have_params_of_any_depth(tmp_path: Path) -> None:
    key = "sk-" + "a1" * 20
    config = (
        f"{MODELS}providers: [{{id: o, kind: openai, params: {{a: {{b: [{{c: {key}}}]}}, d: [1, {{}}]}}}}]\n"
    )
    loaded = project(tmp_path, {"tests.yaml": CASE}, config)
    assert codes(loaded) == ["literal_key"]
    assert loaded.connection("o").params == {"d": [1, {}]}


def test_half_a_character_is_a_fault_of_its_line(tmp_path: Path) -> None:
    lines = '{"input": "\\ud83d\\ude00", "reference": "x"}\n{"input": "\\ud83d", "reference": "x"}\n'
    loaded = project(tmp_path, {"tests.jsonl": lines})
    assert [problem.line for problem in loaded.errors] == [2]
    assert [case.input for case in loaded.all_cases] == ["\U0001f600"]


def test_a_cell_may_be_as_large_as_its_file(tmp_path: Path) -> None:
    cell = "a" * (16 * 1024 * 1024 + 10)
    loaded = project(tmp_path, {"tests.csv": f"input,reference\n{cell},x\n"})
    assert [len(case.input or "") for case in loaded.cases] == [len(cell)] or loaded.errors
