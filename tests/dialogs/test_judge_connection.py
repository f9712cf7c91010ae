"""The key of what marks answers: its connection is listed beside those of the models, at its own address."""

from __future__ import annotations

from pathlib import Path

from arena_desktop.desks.connections import judge_place, project_connections
from engine.project import Project, load_project

CONFIG = """\
project: Judged
models: [{key: m, model: "mock:oracle"}]
providers: [{id: gate, kind: openai_compatible, base_url: "https://gate.test/v1"}]
judge: {judge}
tests: {paths: [tests.yaml]}
"""
TESTS = "tests:\n  - {id: a, input: Q, eval_type: llm_judge}\n"


def project(folder: Path, judge: str) -> Project:
    folder.mkdir(exist_ok=True)
    (folder / "config.yaml").write_text(CONFIG.replace("{judge}", judge))
    (folder / "tests.yaml").write_text(TESTS)
    return load_project(folder)


def test_the_judges_vendor_is_listed(tmp_path: Path) -> None:
    found = project_connections(project(tmp_path, "{model: gpt-5.5, provider: openai}"))
    assert "openai@api.openai.com" in [item.key for item in found]
    assert judge_place(project(tmp_path, "{}")) == ""


def test_a_judge_at_another_address_has_a_key_of_its_own(tmp_path: Path) -> None:
    judge = '{model: big, provider: gate, api_base: "https://judge.test/v1"}'
    found = {item.key: item for item in project_connections(project(tmp_path, judge))}
    assert {"gate@judge.test", "gate@gate.test"} <= set(found)
    assert found["gate@judge.test"].entry is not None
    assert judge_place(project(tmp_path, judge)) == "gate@judge.test"


def test_a_judge_that_takes_its_key_from_a_variable_says_so(tmp_path: Path) -> None:
    found = project_connections(project(tmp_path, "{model: big, provider: gate, api_key_env: JUDGE_KEY}"))
    assert [item.elsewhere for item in found if item.key == "gate@gate.test"] == ["env"]
