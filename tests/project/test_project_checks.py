"""Checks that a project gives all its tests: who is marked by them, what is wrong with them, what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cases.json_form import case_from_json, case_to_json
from engine.domain import CheckSpec
from engine.project import Project, config_from_snapshot, load_project, snapshot
from engine.scoring.project_options import scorers_problems

CONFIG = "project: p\nmodels: [{key: a, model: 'mock:oracle'}]\ntests: {paths: [t.yaml, u.csv]}\n"
CASES = """\
- {id: plain, input: Q, reference: R}
- {id: own, input: Q, reference: R, eval_type: numeric}
- {id: listed, input: Q, reference: R, checks: [length]}
"""
CHECKS = """\
scorers:
  checks:
    - {type: contains, must_pass: true, reference: 012}
    - {type: classification, labels: [no, 01], weight: 2, not: true}
    - json_valid
"""


def loaded(folder: Path, scorers: str) -> Project:
    (folder / "config.yaml").write_text(CONFIG + scorers, encoding="utf-8")
    (folder / "t.yaml").write_text(CASES, encoding="utf-8")
    (folder / "u.csv").write_text("input,reference,eval_type\nA,a,\nB,b,contains\n", encoding="utf-8")
    return load_project(folder)


def test_they_mark_the_tests_that_have_none_of_their_own(tmp_path: Path) -> None:
    project = loaded(tmp_path, CHECKS)
    assert project.problems == ()
    first, *others = project.cases
    assert first.checks == (
        CheckSpec("contains", {}, must_pass=True, reference="012"),
        CheckSpec("classification", {"labels": ["no", "01"]}, 2.0, negate=True),
        CheckSpec("json_valid"),
    )
    assert [case.checks[0].type for case in others] == ["numeric", "length", "contains", "contains"]
    assert [case.own_checks for case in project.cases] == [False, True, True, False, True]
    assert scorers_problems(project) == []


def test_they_are_part_of_what_a_run_keeps(tmp_path: Path) -> None:
    project = loaded(tmp_path, CHECKS)
    assert config_from_snapshot(snapshot(project)).scorers.checks == project.config.scorers.checks
    (case, *_rest) = project.cases
    assert case_from_json(case_to_json(case)) == case


def test_they_change_the_fingerprint_of_their_tests_only(tmp_path: Path) -> None:
    before = {case.id: case.fingerprint for case in loaded(tmp_path, "").cases}
    after = {case.id: case.fingerprint for case in loaded(tmp_path, CHECKS).cases}
    changed = {name for name in before if before[name] != after[name]}
    assert "plain" in changed
    assert not changed & {"own", "listed"}


@pytest.mark.parametrize(
    ("item", "path", "said"),
    [
        ("{labels: [a]}", "scorers.checks[0]", "a `type`"),
        ("[contains]", "scorers.checks[0]", "a `type`"),
        ("{type: contains, weight: -1}", "scorers.checks[0]", "`weight`"),
        ("{type: contians}", "scorers.checks[0]", "`contains`"),
        ("{type: numeric, abs_tol: far}", "scorers.checks[0].abs_tol", "not a number"),
        ("length", "scorers.checks[0]", "no limit"),
        ("{type: regex, pattern: (}", "scorers.checks[0].pattern", "cannot be used"),
        ("{type: classification}", "scorers.checks[0].labels", "needs the option `labels`"),
    ],
)
def test_what_is_wrong_with_one_is_told_with_its_place(
    tmp_path: Path, item: str, path: str, said: str
) -> None:
    (fault,) = scorers_problems(loaded(tmp_path, f"scorers:\n  checks:\n    - {item}\n"))
    assert (fault.path, fault.line) == (path, 6)
    assert said in f"{fault.message} {fault.fix}"


def test_a_model_that_is_not_there_is_told_where_the_checks_are_written(tmp_path: Path) -> None:
    project = loaded(tmp_path, "scorers:\n  checks:\n    - {type: similarity, method: embedding}\n")
    (problem,) = project.problems
    assert (problem.code, problem.file, problem.path) == ("embedder_missing", "config.yaml", "scorers.checks")
    assert problem.line == 6
