"""Field cases about checks, as files of a whole project: faults are told before anything is asked."""

from __future__ import annotations

import shutil
from pathlib import Path

from engine.domain import Severity
from engine.execution.preflight import Preflight, examine
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import load_project
from tests.scoring.fields import CASES


def looked_at(folder: Path, config: str) -> Preflight:
    """What the preflight says of a folder with this config."""
    (folder / "config.yaml").write_text(config, encoding="utf-8")
    project = load_project(folder)
    book = PriceBook.for_config(project.config, folder)
    return examine(project, keystore=KeyStore(), pricebook=book, probe=False)


def test_a_broken_pattern_in_a_row_is_named_with_its_line(tmp_path: Path) -> None:
    shutil.copy(CASES / "csv_bad_regex.csv", tmp_path / "tests.csv")
    found = looked_at(
        tmp_path,
        "project: x\nmodels: [{key: a, model: 'mock:echo'}]\ntests: {paths: [tests.csv]}\n"
        "scorers: {default: regex}\n",
    )
    (problem,) = found.errors
    assert (problem.file, problem.line, problem.code) == ("tests.csv", 2, "pattern_bad")
    assert "character 6" in problem.message


def test_a_judge_among_the_competitors_is_named(tmp_path: Path) -> None:
    field = (CASES / "yaml_self_judge.yaml").read_text(encoding="utf-8")
    assert "judge: alpha-large" in field
    tests = "tests:\n  - {id: t, input: hi, eval_type: llm_judge}\n"
    (tmp_path / "tests.yaml").write_text(tests, encoding="utf-8")
    found = looked_at(
        tmp_path,
        "project: Demo\n"
        "models: [{key: alpha-large, model: 'mock:oracle'}, {key: beta-mini, model: 'mock:echo'}]\n"
        "judge: {model: 'mock:oracle'}\ntests: {paths: [tests.yaml]}\n",
    )
    (warned,) = [problem for problem in found.problems if problem.code == "judge_takes_part"]
    assert warned.severity is Severity.WARNING
    assert "`alpha-large`" in warned.message
