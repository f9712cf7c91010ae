"""Small project folders for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from engine.domain import Problem
from engine.project import Overrides, Project, load_project

DATA = Path(__file__).resolve().parent.parent / "data"
CASES = DATA / "cases"
MODELS = "models: [{key: m, model: 'mock:oracle'}]\n"


def field_cases() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads((CASES / "index_project.json").read_text(encoding="utf-8"))
    return rows


def project(
    root: Path, files: dict[str, str | bytes], config: str = MODELS, overrides: Overrides | None = None
) -> Project:
    """Writes a folder and loads it; a file named `config.*` stands for the config itself."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)
    if not any(name.startswith(("config.", "arena.")) for name in files):
        (root / "config.yaml").write_text(config, encoding="utf-8")
    return load_project(root) if overrides is None else load_project(root, overrides)


def only(problems: tuple[Problem, ...], code: str) -> Problem:
    found = [problem for problem in problems if problem.code == code]
    assert len(found) == 1, [str(problem) for problem in problems]
    return found[0]


def codes(loaded: Project) -> list[str]:
    return [problem.code for problem in loaded.problems]
