"""Calls the command line in this process and gives back what it printed."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from arena_desktop.cli import run_command_line

ROOT = Path(__file__).resolve().parents[2]
TRIAGE = ROOT / "projects" / "support-triage"
LOCAL = ROOT / "projects" / "local-models"


@dataclass(frozen=True)
class Said:
    """The exit code and both streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """Standard output as one JSON document."""
        return json.loads(self.out)


def call(capfd: pytest.CaptureFixture[str], *arguments: str | Path) -> Said:
    """Runs one command line."""
    capfd.readouterr()
    code = run_command_line([str(word) for word in arguments])
    out, err = capfd.readouterr()
    return Said(code, out, err)


def small_project(folder: Path, *, models: str, cases: int = 4, more: str = "") -> Path:
    """Writes a project of practice models with `cases` test cases."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.yaml").write_text(
        f"schema_version: 1\nproject: Small\nmodels:\n{models}\ntests: {{paths: [tests.yaml]}}\n{more}",
        encoding="utf-8",
    )
    lines = "\n".join(f"  - {{id: c{n}, input: Question {n}, reference: right{n}}}" for n in range(cases))
    (folder / "tests.yaml").write_text(f"tests:\n{lines}\n", encoding="utf-8")
    return folder
