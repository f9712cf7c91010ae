"""Wrong arguments, names that steer a terminal, readers that go away: one document, one code, no trace."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from arena_desktop.cli.output import table
from arena_desktop.wording.harmless import harmless
from tests.cli.calling import ROOT, TRIAGE, call, small_project

WRONG: tuple[tuple[str, ...], ...] = (
    ("run", "--json"),
    ("bogus", "--json"),
    ("--json",),
    ("run", ".", "--trials", "1e3", "--json"),
    ("run", ".", "--fail-under", "nan", "--json"),
    ("run", ".", "--fail-under", "-inf", "--json"),
    ("verdict", "x.csv", "--margin", "nan", "--json"),
    ("keys", "--json"),
)
ESCAPES = "\x1b[2J\x1b]0;owned\x07\r\u202etxt.exe\x9b31m"


@pytest.mark.parametrize("words", WRONG, ids=" ".join)
def test_wrong_arguments_are_a_document_as_every_error_is(
    words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    said = call(capfd, *words)
    assert said.code == 1
    assert said.json["error"]["code"] == "wrong_arguments"
    assert "Usage: arena-desktop" in said.err


def test_settings_to_carry_on_with_need_a_run_to_carry_on_with(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "run", TRIAGE, "--resume-from", "new", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "resume_from_alone")


@pytest.mark.parametrize("verb", ["run", "check", "history"])
def test_a_path_too_long_for_the_system_is_a_sentence(verb: str, capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, verb, "a" * 10_000, "--json")
    assert said.code == 1
    assert said.json["error"]["message"]
    assert "Traceback" not in said.err


def test_a_fault_of_the_program_is_a_document_and_hides_keys(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("key sk-ant-REDACTED")

    monkeypatch.setattr("arena_desktop.cli.saved.open_shelf", broken)
    said = call(capfd, "runs", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "program_fault")
    assert "Traceback" in said.err
    assert "REDACTED0123456789" not in said.err + said.out


def test_nothing_a_project_or_a_model_writes_steers_the_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    label = json.dumps(ESCAPES + "\n1  Faked  100 of 100")
    models = f"  - {{key: m, model: 'mock:oracle', label: {label}}}"
    folder = small_project(tmp_path / "p", models=models)
    said = call(capfd, "run", folder)
    assert said.code == 0
    for text in (said.out, said.err):
        assert not set(text) & set("\x1b\x07\r\u202e\x9b")
    assert "[U+001B]" in said.out
    assert not [line for line in said.out.splitlines() if line.startswith("1  Faked")]


def test_harmless_keeps_what_people_write() -> None:
    kept = "Grüße, 東京 \U0001f469\u200d\U0001f4bb\tx\n"
    assert harmless(kept) == kept
    assert harmless("a\x1b[31m") == "a[U+001B][31m"


def test_a_cell_of_a_table_is_one_bounded_line() -> None:
    lines = table([("Name", "x"), ("a\nb", "y"), ("c" * 10_000, "z")]).splitlines()
    assert len(lines) == 3
    assert max(map(len, lines)) < 250


@pytest.mark.skipif(os.name != "posix", reason="a POSIX shell closes the streams")
@pytest.mark.parametrize(
    ("streams", "code"),
    [
        (">&-", 0),
        ("2>&-", 0),
        ("<&-", 0),
        (">&- 2>&- <&-", 0),
        pytest.param(">/dev/full", 1, marks=pytest.mark.skipif(sys.platform != "linux", reason="/dev/full")),
    ],
)
def test_closed_and_full_streams_end_in_a_code_and_no_trace(streams: str, code: int, tmp_path: Path) -> None:
    done = subprocess.run(
        ["bash", "-c", f'"{sys.executable}" -m arena_desktop runs --json {streams}'],
        cwd=ROOT,
        env={**os.environ, "ARENA_HOME": str(tmp_path), "ARENA_KEYRING": "memory"},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == code, done.stderr
    assert b"Traceback" not in done.stderr


def test_a_plan_nobody_means_is_refused_before_anything_is_made(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "run", TRIAGE, "--trials", "10000000", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "too_many_calls")


def test_a_run_of_another_project_is_not_carried_on(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    models = "  - {key: m, model: 'mock:oracle'}"
    mine = small_project(tmp_path / "mine", models=models, more="budgets: {max_calls: 1}\n")
    run_id = call(capfd, "run", mine, "--json").json["run_id"]
    said = call(capfd, "run", TRIAGE, "--resume", run_id, "--resume-from", "snapshot", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "run_of_other_project")
    assert str(mine) in said.json["error"]["hint"]
    again = call(capfd, "run", mine, "--resume", run_id, "--json")
    assert again.json["run_id"] == run_id


def test_the_report_hides_and_reorders_nothing(tmp_path: Path) -> None:
    from arena_desktop.reports.page import escape

    assert escape("<b>\x1b[2J\u202e") == "&lt;b&gt;[U+001B][2J[U+202E]"


@pytest.mark.parametrize("weight", [1e308, -1, "1" + "0" * 400])
def test_a_weight_nobody_means_is_a_fault_of_its_row(
    weight: object, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    rows = [{"model": m, "case": c, "score": 1, "weight": weight} for m in "ab" for c in "12"]
    (tmp_path / "s.json").write_text(json.dumps(rows), encoding="utf-8")
    said = call(capfd, "verdict", tmp_path / "s.json", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "bad_scores")
