"""Opening a project: all faults at once, overrides under the same ranges, paths inside the folder."""

from __future__ import annotations

import json
import os
import shutil
from decimal import Decimal
from pathlib import Path

import pytest

from engine.config.schema import Criterion
from engine.domain import CheckSpec, Severity
from engine.errors import UserError
from engine.project import (
    Overrides,
    case_from_json,
    case_to_json,
    config_from_snapshot,
    load_project,
    snapshot,
)
from tests.project.folders import DATA, MODELS, codes, only, project

ONE = {"tests.yaml": "tests: [{id: a, input: Say ok, reference: ok}]\n"}


@pytest.fixture
def example(tmp_path: Path) -> Path:
    shutil.copy(DATA / "example-config.yaml", tmp_path / "config.yaml")
    shutil.copy(DATA / "example-tests.yaml", tmp_path / "example-tests.yaml")
    return tmp_path


def test_the_example_project_loads_without_a_fault(example: Path) -> None:
    loaded = load_project(example)
    assert loaded.problems == ()
    config = loaded.config
    assert config.project == "customer-replies"
    assert [entry.provider for entry in config.models] == [
        "anthropic", "anthropic", "openai-main", "office-server", "builtin", "mock",
    ]  # fmt: skip
    assert {link.id for link in config.connections} == {
        "openai-main", "office-server", "anthropic", "builtin", "mock",
    }  # fmt: skip
    assert loaded.connection("office-server").card.privacy["on_prem"] is True
    assert config.budgets.max_run_usd == Decimal("5.00")
    assert config.metrics.rules["cost"].normalize == "target"
    assert config.constraints.privacy_required == ("training_opt_out",)
    assert config.constraints.min_context_tokens == 8000
    assert config.scorers.options["classification"]["labels"] == ["refund", "voucher", "no"]
    assert config.judge.rubric == (Criterion("follows the rules", 2, True), Criterion("friendly", 1))
    assert config.judge.provider == "openai-main"


def test_the_example_tests_are_read_as_written(example: Path) -> None:
    first, label, order, turns = load_project(example).cases
    assert (first.weight, first.group, first.tags, first.vars) == (2, "refunds", ("refund",), {"lang": "en"})
    assert first.checks == (CheckSpec("llm_judge"),)
    assert (label.reference, label.checks) == ("no", (CheckSpec("classification"),))
    assert order.checks == (
        CheckSpec("contains", reference="00123", must_pass=True),
        CheckSpec("length", {"max_words": 60}, weight=0.5),
    )
    assert turns.messages is not None
    assert [turn.role for turn in turns.messages] == ["user", "assistant", "user"]


def test_a_stored_run_gives_back_config_and_cases_exactly(example: Path) -> None:
    loaded = load_project(example)
    stored = json.loads(json.dumps(snapshot(loaded)))
    assert config_from_snapshot(stored) == loaded.config
    for case in loaded.cases:
        assert case_from_json(json.loads(json.dumps(case_to_json(case)))) == case


def test_snapshots_hold_no_secret(tmp_path: Path) -> None:
    config = """
providers:
  - {id: a, kind: openai, api_key_ref: '${env:MY_KEY}', proxy: 'http://me:pw@proxy.example:80',
     headers: {Authorization: Bearer abc123, X-Team: red}}
models: [{model: gpt-5.5, provider: a, api_key_env: MY_KEY}]
"""
    loaded = project(tmp_path, ONE, config)
    text = json.dumps(snapshot(loaded))
    assert [problem.code for problem in loaded.errors] == ["literal_key", "literal_key"]
    assert "abc123" not in text
    assert "me:pw" not in text
    assert "${env:MY_KEY}" in text
    assert "red" in text
    assert loaded.config.models[0].api_key_env == "MY_KEY"


def test_a_snapshot_of_a_later_version_is_refused() -> None:
    with pytest.raises(UserError) as newer:
        config_from_snapshot({"snapshot_version": 99})
    assert newer.value.code == "snapshot_newer"
    with pytest.raises(UserError) as damaged:
        config_from_snapshot({"run": {"trials": "many"}})
    assert damaged.value.code == "snapshot_damaged"


def test_all_faults_of_all_files_come_at_once(tmp_path: Path) -> None:
    config = """\
schema_version: 1
projct: x
models:
  - {key: a, model: gpt-5.5, temperatur: 0.5}
  - {key: a, model: mock:oracle}
run: {trials: 0, retries: two, fail_fast: yes}
budgets: {on_exceed: explode, max_run_usd: -1}
metrics: {weights: {accuracy: -1}, latncy: 3}
tests: [cases.csv, gone.yaml]
"""
    loaded = project(tmp_path, {"cases.csv": "input,expected\na,b,c\n", "config.yaml": config})
    found = {(problem.file, problem.line, problem.path) for problem in loaded.errors}
    assert {
        ("config.yaml", 2, "projct"),
        ("config.yaml", 4, "models[0].temperatur"),
        ("config.yaml", 5, "models[1]"),
        ("config.yaml", 6, "run.trials"),
        ("config.yaml", 6, "run.retries"),
        ("config.yaml", 6, "run.fail_fast"),
        ("config.yaml", 7, "budgets.on_exceed"),
        ("config.yaml", 7, "budgets.max_run_usd"),
        ("config.yaml", 8, "metrics.weights.accuracy"),
        ("config.yaml", 8, "metrics.latncy"),
        ("config.yaml", 9, "tests.paths[1]"),
        ("cases.csv", 2, ""),
    } <= found
    text = "\n".join(str(problem) for problem in loaded.errors)
    assert "Did you mean `project`?" in text
    assert "Did you mean `temperature`?" in text
    assert "`trials` must be 1 or more, but is `0`." in text
    assert "Write true or false." in text
    assert "must be one of `stop` or `warn`" in text
    assert "pydantic" not in text.lower()


def test_a_fault_in_a_json_config_has_its_line(tmp_path: Path) -> None:
    text = '{\n  "models": ["mock:oracle"],\n  "run": {\n    "trials": 0\n  }\n}\n'
    loaded = project(tmp_path, {**ONE, "config.json": text})
    assert str(loaded.errors[0]).startswith("config.json:4: run.trials: ")


def test_a_newer_schema_is_refused_with_both_numbers(tmp_path: Path) -> None:
    loaded = project(tmp_path, ONE, "schema_version: 7\nmodels: [mock:oracle]\nunheard_of: 1\n")
    fault = only(loaded.errors, "schema_newer")
    assert "7" in fault.message
    assert "1" in fault.message
    assert "unknown_key" not in codes(loaded)


@pytest.mark.parametrize(
    ("overrides", "path"),
    [
        (Overrides(trials=0), "--trials"),
        (Overrides(concurrency=0), "--concurrency"),
        (Overrides(timeout_s=0), "--timeout"),
        (Overrides(timeout_s=float("nan")), "--timeout"),
        (Overrides(timeout_s=float("inf")), "--timeout"),
        (Overrides(retries=-1), "--retries"),
        (Overrides(limit=0), "--limit"),
        (Overrides(models=("nobody",)), "--models"),
        (Overrides(ids=("nobody",)), "tests.ids"),
    ],
)
def test_overrides_are_under_the_same_ranges(overrides: Overrides, path: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, ONE, overrides=overrides)
    assert [problem.path for problem in loaded.errors] == [path]


def test_overrides_change_this_run_only(tmp_path: Path) -> None:
    files = {
        "tests.yaml": "tests: [{id: a, input: x, tags: [t]}, {id: b, input: y}, {id: c, input: z, tags: [t]}]"
    }
    config = "models: [{key: one, model: mock:oracle}, {key: two, model: mock:echo, enabled: false}]\n"
    given = Overrides(models=("two",), trials=4, timeout_s=9, fail_fast=True, tags=("t",), limit=1)
    loaded = project(tmp_path, files, config, given)
    assert loaded.ok
    assert [(entry.key, entry.enabled) for entry in loaded.config.models] == [("two", True)]
    assert (loaded.config.run.trials, loaded.config.run.timeout_s, loaded.config.run.fail_fast) == (
        4,
        9,
        True,
    )
    assert [case.id for case in loaded.cases] == ["a"]
    assert [case.id for case in loaded.all_cases] == ["a", "b", "c"]
    assert [case.id for case in load_project(tmp_path).cases] == ["a", "b", "c"]


def test_filters_that_leave_nothing_say_so(tmp_path: Path) -> None:
    loaded = project(tmp_path, ONE, overrides=Overrides(exclude_tags=("x",), tags=("gone",)))
    assert "1 tests" in only(loaded.errors, "no_cases_left").message


@pytest.mark.parametrize(
    ("line", "path"),
    [
        ("tests: [../outside.yaml]", "tests.paths[0]"),
        ("tests: [/etc/passwd]", "tests.paths[0]"),
        ("tests: [link.yaml]", "tests.paths[0]"),
        ("pricing: ../prices.yaml", "pricing.path"),
        ("scorers: {paths: [../scorers]}", "scorers.paths[0]"),
        ("output: {dir: ../results}", "output.dir"),
        ("providers: [{id: p, kind: openai, verify_tls: ../ca.pem}]", "connections.p"),
        ("targets: [{key: own, run: '../code.py:answer'}]", "models.own"),
    ],
)
def test_no_path_leads_out_of_the_folder(line: str, path: str, tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.yaml").write_text("tests: [{input: secret}]")
    os.symlink(tmp_path / "outside.yaml", root / "link.yaml")
    loaded = project(root, ONE, f"{MODELS}{line}\n")
    fault = only(loaded.errors, "path_outside")
    assert (fault.path, fault.line) == (path, 2)
    assert "secret" not in "".join(case.input for case in loaded.all_cases)


def test_a_linked_file_of_tests_is_not_followed_out(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (tmp_path / "outside.yaml").write_text("tests: [{input: secret}]")
    os.symlink(tmp_path / "outside.yaml", root / "tests.yaml")
    loaded = project(root, {}, MODELS)
    assert only(loaded.errors, "path_outside").file == "tests.yaml"
    assert loaded.all_cases == ()


def test_cases_are_discovered_beside_the_config_and_below_tests(tmp_path: Path) -> None:
    case = "tests: [{{id: {0}, input: {0}}}]"
    files = {
        "Test_a.yml": case.format("a"),
        "tests/b.yaml": case.format("b"),
        "tests/deep/c.json": '{"tests": [{"id": "c", "input": "c"}]}',
        "tests/d.csv": "id,input\nd,d\n",
        "tests/.hidden.yaml": case.format("h"),
        "tests/notes.txt": "no cases",
        "other.yaml": case.format("o"),
    }
    assert [entry.id for entry in project(tmp_path, files).cases] == ["a", "b", "d", "c"]


def test_a_folder_of_tests_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "s.yaml").write_text("tests: [{input: secret}]")
    root = tmp_path / "project"
    files = {"more/a.yaml": "tests: [{id: a, input: a}]", "empty/note.txt": ""}
    root.mkdir()
    os.makedirs(root / "more")
    os.symlink(tmp_path / "outside" / "s.yaml", root / "more" / "s.yaml")
    os.symlink(tmp_path / "outside", root / "more" / "linked")
    loaded = project(root, files, f"{MODELS}tests: [more, empty]\n")
    assert [case.id for case in loaded.cases] == ["a"]
    assert [(problem.code, problem.file) for problem in loaded.problems] == [
        ("linked_folder", "more/linked"),
        ("path_outside", "more/s.yaml"),
        ("no_case_files", "config.yaml"),
    ]


def test_no_file_of_tests_is_an_error(tmp_path: Path) -> None:
    assert codes(project(tmp_path, {}, MODELS)) == ["no_case_files"]


def test_an_empty_file_beside_a_full_one_is_a_warning(tmp_path: Path) -> None:
    loaded = project(tmp_path, {**ONE, "tests2.yaml": ""})
    assert only(loaded.problems, "empty_file").severity is Severity.WARNING
    assert loaded.ok


@pytest.mark.parametrize("name", ["sheet.xlsx", "cases.ods", "cases.txt"])
def test_files_that_are_not_read_say_what_to_do(name: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, {name: "x"}, f"{MODELS}tests: {name}\n")
    assert loaded.errors[0].code in ("spreadsheet", "unknown_suffix")
    assert name in loaded.errors[0].message


def test_no_folder_and_no_config_are_said_apart(tmp_path: Path) -> None:
    with pytest.raises(UserError) as missing:
        load_project(tmp_path / "gone")
    assert missing.value.code == "project_missing"
    with pytest.raises(UserError) as empty:
        load_project(tmp_path)
    assert empty.value.code == "config_missing"
    assert "arena.json" in empty.value.message


def test_a_config_that_is_too_large_or_no_text_is_said(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_bytes(b"#" * (16 * 1024 * 1024 + 1))
    with pytest.raises(UserError) as large:
        load_project(tmp_path)
    assert large.value.code == "file_too_large"
    loaded = project(tmp_path, {"config.yaml": b"\x00\x01\x02\x81\x00"})
    assert loaded.errors[0].code == "bad_encoding"


@pytest.mark.parametrize("text", ["", "# nothing\n", "- a\n", "just text\n", "models: []\n", "models:\n"])
def test_a_config_without_content_is_an_error(text: str, tmp_path: Path) -> None:
    loaded = project(tmp_path, {**ONE, "config.yaml": text})
    assert not loaded.ok
    assert loaded.errors[0].fix


def test_the_project_is_named_after_its_folder(tmp_path: Path) -> None:
    root = tmp_path / "my-project"
    root.mkdir()
    assert project(root, ONE).config.project == "my-project"


def test_the_config_is_found_in_a_fixed_order(tmp_path: Path) -> None:
    loaded = project(
        tmp_path,
        {**ONE, "arena.yaml": "project: arena\n" + MODELS, "config.yml": "project: config\n" + MODELS},
    )
    assert (loaded.config.project, loaded.config_file.name) == ("config", "config.yml")
