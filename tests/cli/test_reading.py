"""`check`, `score`, `verdict`, `new`: the verbs that ask no model."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from arena_desktop import __version__
from arena_desktop.cli.parser import JOBS
from tests.cli.calling import ROOT, TRIAGE, call, small_project

A = "010 110 111 111 111 111 100 111 111 111 011 111"
B = "000 111 101 111 111 000 000 011 111 111 000 001"


def rows(text: str, model: str) -> list[tuple[str, str, int, str]]:
    return [
        (model, f"case{number}", trial, mark)
        for number, group in enumerate(text.split(), start=1)
        for trial, mark in enumerate(group, start=1)
    ]


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "scores.csv"
    lines = ["model,case,trial,score"]
    lines += [",".join(map(str, row)) for row in rows(A, "A") + rows(B, "B")]
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def test_verdict_prints_the_worked_example(capfd: pytest.CaptureFixture[str], example: Path) -> None:
    document = call(capfd, "verdict", example, "--json").json
    (pair,) = document["pairs"]
    assert document["row"] == pair["row"] == 4
    assert round(pair["delta"], 6) == 0.277778
    assert round(pair["se"], 6) == 0.107256
    assert round(pair["t"], 6) == 2.589849
    assert round(pair["p"], 6) == 0.025145
    assert pair["flip"] == 12 / 256
    assert [round(pair["ci95"][end], 6) for end in ("low", "high")] == [0.041708, 0.513847]
    assert document["sentence"] == "A is better on your tests: about 28 points (4 to 51)."
    assert document["tied"] == ["A"]


def test_verdict_for_people_opens_with_the_sentence(capfd: pytest.CaptureFixture[str], example: Path) -> None:
    said = call(capfd, "verdict", example)
    assert said.out.splitlines()[0] == "A is better on your tests: about 28 points (4 to 51)."


def test_verdict_takes_a_margin(capfd: pytest.CaptureFixture[str], example: Path) -> None:
    document = call(capfd, "verdict", example, "--json", "--margin", "0.9").json
    assert document["row"] == 5


@pytest.mark.parametrize(
    ("text", "word"),
    [("model,case,score\nA,1,often\n", "often"), ("", "scores.csv"), ("a,b\n1,2\n", "model")],
)
def test_verdict_names_what_it_cannot_read(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, text: str, word: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    said = call(capfd, "verdict", path, "--json")
    assert said.code == 1
    assert word in said.json["error"]["message"]


def test_check_lists_models_cases_and_plan(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "check", TRIAGE, "--json")
    document = said.json
    assert said.code == 0
    assert document["problems"] == []
    assert len(document["cases"]) == 40
    assert document["plan"] == {"planned": 240, "lanes": {"mock": 8}}
    by_key = {model["key"]: model for model in document["models"]}
    assert by_key["aster"]["ready"] is True
    assert by_key["grove"]["ready"] is False
    assert "ARENA_SAMPLE_GROVE_KEY" in by_key["grove"]["reason"]
    first = document["cases"][0]
    assert set(first) == {
        "id",
        "input",
        "messages",
        "reference",
        "vars",
        "tags",
        "weight",
        "group",
        "checks",
        "fingerprint",
    }


def test_check_reports_all_faults_with_their_places(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project = small_project(tmp_path / "p", models="  - {key: a, model: 'mock:oracle'}")
    config = project / "config.yaml"
    text = config.read_text(encoding="utf-8")
    config.write_text(text + "weigths: {accuracy: 1}\nrun:\n  trials: none\n", encoding="utf-8")
    said = call(capfd, "check", project, "--json")
    assert said.code == 1
    found = {problem["path"]: problem for problem in said.json["problems"]}
    assert found["weigths"]["line"] == 6
    assert found["run.trials"]["line"] == 8
    assert all(problem["file"].endswith("config.yaml") for problem in found.values())


def test_an_unknown_check_names_file_and_line(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models="  - {key: a, model: 'mock:oracle'}")
    (project / "tests.yaml").write_text(
        "tests:\n  - {id: a, input: hi, reference: x, eval_type: exactmatch}\n", encoding="utf-8"
    )
    said = call(capfd, "check", project, "--json")
    assert said.code == 1
    (problem,) = said.json["problems"]
    assert problem["line"] == 2
    assert "exact_match" in problem["message"] + problem["fix"]


def test_empty_cases_are_a_sentence(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models="  - {key: a, model: 'mock:oracle'}")
    (project / "tests.yaml").write_text("tests: []\n", encoding="utf-8")
    said = call(capfd, "run", project, "--json")
    assert said.code == 1
    assert "test case" in said.err


@pytest.mark.parametrize(
    ("check", "answer", "reference", "passed"),
    [
        ({"type": "exact_match"}, "Voucher.", "voucher", True),
        ({"type": "contains", "not": True}, "no refund", "refund", False),
        ({"type": "numeric", "abs_tol": 0.5}, "It is 3.4", "3", True),
        ({"type": "json_match"}, 'Sure: {"a": 1}', '{"a": 1}', True),
        ({"type": "regex", "pattern": "^[A-Z]{2}$"}, "DE", None, True),
    ],
)
def test_score_tries_one_check(
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    check: dict,
    answer: str,
    reference: str | None,
    passed: bool,
) -> None:
    file = tmp_path / "answer.txt"
    file.write_text(answer, encoding="utf-8")
    more = [] if reference is None else ["--reference", reference]
    said = call(capfd, "score", "--check", json.dumps(check), "--answer", file, *more, "--json")
    assert said.code == 0
    assert said.json["state"] == "scored"
    assert said.json["passed"] is passed
    assert said.json["reason"]


def test_score_with_a_broken_check_is_a_sentence(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    file = tmp_path / "answer.txt"
    file.write_text("x", encoding="utf-8")
    said = call(capfd, "score", "--check", "{not json", "--answer", file, "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "check_not_json"


@pytest.mark.parametrize("job", JOBS)
def test_new_makes_a_project_that_checks(capfd: pytest.CaptureFixture[str], tmp_path: Path, job: str) -> None:
    folder = tmp_path / job
    assert call(capfd, "new", folder, "--job", job).code == 0
    said = call(capfd, "check", folder, "--json")
    assert [p for p in said.json["problems"] if p["severity"] == "error"] == []
    assert said.json["cases"]


def test_new_never_writes_over_a_folder(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    said = call(capfd, "new", tmp_path, "--job", "sort")
    assert said.code == 1
    assert [path.name for path in tmp_path.iterdir() if path.name != "arena-home"] == ["letter.txt"]


@pytest.mark.parametrize("words", [["nothing"], ["run"], ["new", "x", "--job", "cook"], []])
def test_wrong_arguments_exit_1(capfd: pytest.CaptureFixture[str], words: list[str]) -> None:
    assert call(capfd, *words).code == 1


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "--version")
    assert said.code == 0
    assert __version__ in said.out


def test_the_command_line_imports_no_widget_module() -> None:
    code = (
        "import sys\n"
        "from arena_desktop.cli import run_command_line\n"
        f"assert run_command_line(['run', {str(TRIAGE)!r}, '--dry-run', '--json']) == 0\n"
        "bad = [n for n in sys.modules if n in ('PySide6.QtWidgets', 'PySide6.QtGui')]\n"
        "assert not bad, bad\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]


def test_score_runs_code_in_the_sandbox_or_says_how_to_get_it(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from engine.scoring import sandbox as sandboxes
    from engine.scoring.seams import SandboxRequest, SandboxResult

    class Refuses:
        is_kept = False

        def __call__(self, request: SandboxRequest) -> SandboxResult:
            return SandboxResult(1, "", "AssertionError: 2 is not 1")

    file = tmp_path / "answer.txt"
    file.write_text("def f(): return 2", encoding="utf-8")
    check = json.dumps({"type": "code_exec", "tests": "assert f() == 1"})
    monkeypatch.setattr(sandboxes, "program_sandbox", Refuses)
    monkeypatch.setattr(sandboxes, "is_installed", lambda: True)
    said = call(capfd, "score", "--check", check, "--answer", file, "--json")
    assert said.json["reason"] == "The code does not work: AssertionError: 2 is not 1."
    assert "Preparing the sandbox" in said.err
    monkeypatch.setattr(sandboxes, "is_installed", lambda: False)
    missing = call(capfd, "score", "--check", check, "--answer", file, "--json")
    assert missing.json["state"] == "errored"
    assert "pip install" in missing.json["reason"]
