"""Helpers shared by the tests of checks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

CASES = Path(__file__).parent.parent / "data" / "cases"
INDEX: list[dict[str, Any]] = json.loads((CASES / "scoring_index.json").read_text(encoding="utf-8"))


def field_text(name: str) -> str:
    """A field case file as text, line ends untouched."""
    return (CASES / name).read_bytes().decode("utf-8")


def field_cases(area: str, *scorers: str) -> list[dict[str, Any]]:
    """The field cases of an area whose scorer is one of those named (all when none is)."""
    return [case for case in INDEX if case["area"] == area and (not scorers or case.get("scorer") in scorers)]


def case_id(case: dict[str, Any]) -> str:
    """A readable test id."""
    return f"{case['id']}-{Path(case['file']).stem}"
