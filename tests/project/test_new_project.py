"""A new project asks nothing, loads without a fault and can be run at once."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.config.yaml_text import compose
from engine.errors import UserError, WorldError
from engine.new_project import JOB_IDS, Choices, create_project, job_type, job_types
from engine.project import load_project

# Reference A18.1: check, tokens, weights of accuracy, cost, latency.
FACTS = {
    "sort": ("classification", 8, (0.55, 0.25, 0.20)),
    "code": ("code_exec", 900, (0.75, 0.15, 0.10)),
    "extract": ("json_match", 400, (0.70, 0.15, 0.15)),
    "answer": ("similarity", 500, (0.65, 0.15, 0.20)),
    "find": ("contains", 200, (0.70, 0.15, 0.15)),
    "calculate": ("numeric", 64, (0.75, 0.10, 0.15)),
    "write": ("llm_judge", 1000, (0.70, 0.20, 0.10)),
    "match": ("exact_match", 32, (0.60, 0.20, 0.20)),
}


def test_the_eight_jobs_are_those_of_the_reference() -> None:
    found = {job.id: (job.check, job.max_tokens, tuple(job.weights.values())) for job in job_types()}
    assert found == FACTS
    assert tuple(job.id for job in job_types()) == JOB_IDS
    assert all(job.title and job.description and job.system and len(job.cases) >= 5 for job in job_types())
    assert [job.id for job in job_types() if job.needs_judge] == ["write"]


@pytest.mark.parametrize("job", JOB_IDS)
def test_a_new_project_loads_without_a_problem(job: str, tmp_path: Path) -> None:
    folder = create_project(tmp_path / "my project", job)
    loaded = load_project(folder)
    assert loaded.problems == ()
    assert loaded.config.project == "my project"
    assert loaded.config.scorers.default == FACTS[job][0]
    assert loaded.config.defaults.max_tokens == FACTS[job][1]
    assert tuple(loaded.config.metrics.weights.values()) == FACTS[job][2]
    assert {entry.provider for entry in loaded.config.models} == {"mock"}
    assert len(loaded.cases) == len(job_type(job).cases)
    assert [case.reference for case in loaded.cases] == [case["reference"] for case in job_type(job).cases]
    assert (folder / "config.yaml").read_text(encoding="utf-8").count("schema_version: 1\n") == 1
    assert sorted(path.name for path in folder.iterdir()) == ["config.yaml", "tests.yaml"]


def test_the_judge_of_a_new_project_is_named(tmp_path: Path) -> None:
    config = load_project(create_project(tmp_path / "p", "write")).config
    assert (config.judge.model, config.judge.provider) == ("mock:fixed", "mock")
    text = (tmp_path / "p" / "config.yaml").read_text(encoding="utf-8")
    assert "accepts everything" in text


@pytest.mark.parametrize("name", ["no", "012", "a: b", "# x", "Grüße 🚀", '"q"', "null"])
def test_any_name_is_kept(name: str, tmp_path: Path) -> None:
    loaded = load_project(create_project(tmp_path / "p", "sort", name))
    assert loaded.ok
    assert loaded.config.project == name


def test_what_a_wizard_asked_takes_the_place_of_what_the_job_brings(tmp_path: Path) -> None:
    choices = Choices(
        models=[{"key": "g", "model": "gpt-5.5"}],
        weights={"accuracy": 1.0},
        cases=[{"input": "Two\nlines: yes", "reference": "no"}],
        judge={"model": "gpt-5.5"},
    )
    loaded = load_project(create_project(tmp_path / "p", "write", "x", choices))
    assert loaded.problems == ()
    assert [entry.key for entry in loaded.config.models] == ["g"]
    assert loaded.config.metrics.weights == {"accuracy": 1.0}
    assert [(case.input, case.reference) for case in loaded.cases] == [("Two\nlines: yes", "no")]
    assert loaded.config.judge.provider == "openai"


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("mine")
    with pytest.raises(UserError) as caught:
        create_project(tmp_path, "sort")
    assert caught.value.code == "folder_not_empty"
    assert [path.name for path in tmp_path.iterdir()] == ["note.txt"]
    with pytest.raises(UserError) as file:
        create_project(tmp_path / "note.txt", "sort")
    assert file.value.code == "not_a_folder"


def test_an_empty_folder_is_used(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    assert load_project(create_project(tmp_path / "empty", "match")).ok


def test_an_unknown_job_names_the_nearest(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        create_project(tmp_path / "p", "exract")
    assert (caught.value.code, caught.value.hint) == ("unknown_job", "Did you mean `extract`?")
    assert not (tmp_path / "p").exists()


def test_a_place_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(WorldError) as caught:
        create_project(tmp_path / "file" / "inside", "sort")
    assert caught.value.code == "folder_unwritable"


def test_job_files_are_read_by_the_one_reader() -> None:
    from resources import ROOT

    for name in JOB_IDS:
        text = (ROOT / "job_types" / f"{name}.yaml").read_text(encoding="utf-8")
        assert compose(text, f"{name}.yaml").problems == ()
