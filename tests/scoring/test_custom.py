"""Scorers that a project brings along."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from engine.domain import Answer, Case, CheckResult, CheckSpec, Outcome, ScoreState
from engine.scoring import ScoringContext, run_check, validate_check
from engine.scoring.custom_files import load_scorers, scorer_names
from engine.scoring.seams import JudgeReply

SUBCLASS = """
from engine.scoring.custom import Scorer, ScoreResult

class Tone(Scorer):
    name = "tone"
    def score(self, output, reference, context):
        polite = "please" in output.lower()
        return ScoreResult(score=2.0 if polite else 0.0, reason="Polite." if polite else "Rude.",
                           metrics={"politeness": 1.0, "flag": True}, detail={"seen": context.params})
"""
DECORATED = """
from agent_arena.scorers import scorer

@scorer("has_citation", requires_reference=False)
def has_citation(output, reference, context):
    return "[" in output
"""
MAPPING = """
def half(output, reference, context):
    return 0.5

class Plain:
    def score(self, output, reference, context):
        return {"score": 0.9, "passed": False}

def raises(output, reference, context):
    raise RuntimeError("no dice")

def leaves(output, reference, context):
    raise SystemExit(3)

def nothing(output, reference, context):
    return None

def not_a_number(output, reference, context):
    return float("nan")

def asks(output, reference, context):
    return 1.0 if context.judge("Is it good?", system="Be brief.") == "yes" else 0.0

SCORERS = {"half": half, "plain": Plain, "raises": raises, "leaves": leaves, "nothing": nothing,
           "not_a_number": not_a_number, "asks": asks}
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "project" / "scorers"
    folder.mkdir(parents=True)
    for name, text in (("tone.py", SUBCLASS), ("cites.py", DECORATED), ("many.py", MAPPING)):
        (folder / name).write_text(text, encoding="utf-8")
    return tmp_path / "project"


def _run(
    root: Path, kind: str, answer: str = "please [1]", *, trusted: bool = True, **spec: object
) -> CheckResult:
    check = CheckSpec(kind, **spec)  # type: ignore[arg-type]
    case = Case(id="c", input="i", reference="ref", checks=(check,))
    context = ScoringContext(root=root, trusted=trusted, judge=lambda request: JudgeReply("yes"))
    return run_check(check, Answer(answer, Outcome.COMPLETE), case, context)


@pytest.mark.parametrize(
    ("kind", "score", "passed"),
    [
        ("tone", 1.0, True),
        ("has_citation", 1.0, True),
        ("half", 0.5, True),
        ("plain", 0.9, False),
        ("asks", 1.0, True),
    ],
)
def test_all_three_forms_are_found(root: Path, kind: str, score: float, passed: bool) -> None:
    result = _run(root, kind)
    assert (result.state, result.score, result.passed) == (ScoreState.SCORED, score, passed), result.reason


def test_a_result_carries_reason_detail_and_numbers(root: Path) -> None:
    result = _run(root, "tone", options={"strict": 1})
    assert result.reason == "Polite."
    assert result.metrics == {"politeness": 1.0}
    assert result.detail["seen"] == {"strict": 1}
    assert _run(root, "tone", negate=True).passed is False


@pytest.mark.parametrize("kind", ["raises", "leaves", "nothing", "not_a_number"])
def test_a_scorer_that_fails_is_errored_with_its_name(root: Path, kind: str) -> None:
    result = _run(root, kind)
    assert (result.state, result.score) == (ScoreState.ERRORED, None)
    assert f"`{kind}`" in result.reason
    assert "many.py" in result.reason


def test_without_trust_no_line_of_it_runs(root: Path, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    (root / "scorers" / "evil.py").write_text(
        f"open({str(mark)!r}, 'w').close()\nSCORERS = {{'evil': len}}", "utf-8"
    )
    spec = CheckSpec("evil")
    assert validate_check(spec, Case(id="c", checks=(spec,)), {}, root) == []
    result = _run(root, "evil", trusted=False)
    assert (result.state, result.reason_code) == (ScoreState.ERRORED, "no_trust")
    assert not mark.exists()


def test_a_file_that_fails_does_not_take_the_others_along(root: Path) -> None:
    (root / "scorers" / "a_broken.py").write_text(
        "SCORERS = {'broken': 1}\nraise ValueError('nope')\n", "utf-8"
    )
    assert _run(root, "tone").passed
    result = _run(root, "broken")
    assert (result.reason_code, "nope" in result.reason) == ("scorer_file_failed", True)


def test_names_are_read_without_running(root: Path) -> None:
    named = scorer_names(root)
    assert {"tone", "has_citation", "half", "plain"} <= named.names
    assert not named.open_ended
    spec = CheckSpec("ton")
    (problem,) = validate_check(spec, Case(id="c", checks=(spec,)), {}, root)
    assert "`tone`" in problem.fix
    (root / "scorers" / "dynamic.py").write_text("SCORERS = dict(made=len)\n", "utf-8")
    made = CheckSpec("made")
    (warning,) = validate_check(made, Case(id="c", checks=(made,)), {}, root)
    assert (warning.severity, warning.code) == ("warning", "scorer_not_seen")


def test_only_the_source_is_run_and_only_inside_the_project(root: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("SCORERS = {'outside': len}", "utf-8")
    (root / "scorers" / "link.py").symlink_to(outside)
    assert "outside" not in load_scorers(root, ("../outside.py",)).scorers
    assert not (root / "scorers" / "__pycache__").exists()


def test_changed_code_is_loaded_anew_under_its_own_name(root: Path) -> None:
    assert _run(root, "half").score == 0.5
    path = root / "scorers" / "many.py"
    path.write_text("SCORERS = {'half': lambda o, r, c: 0.25}", "utf-8")
    assert _run(root, "half").score == 0.25
    assert "many" not in sys.modules


def test_the_projects_other_paths_count(root: Path) -> None:
    (root / "extra.py").write_text("SCORERS = {'extra': lambda o, r, c: 1}", "utf-8")
    assert "extra" in load_scorers(root, ("extra.py",)).scorers
    spec = CheckSpec("extra")
    assert validate_check(spec, Case(id="c", checks=(spec,)), {}, root, None, ("extra.py",)) == []
