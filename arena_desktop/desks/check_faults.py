"""What is wrong with a choice of checks, by the code that loads a project. Spends nothing, asks nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from engine.config.embedders import NoEmbedder, find_embedder, model_wanted
from engine.domain import Case, CheckSpec, Problem, Severity
from engine.project import Project
from engine.scoring.judge_pair import PAIRWISE_JUDGE, against_fault
from engine.scoring.registry import canonical_check, validate_check

MOST_TESTS = 200
"""So many tests are looked at: the rest would say the same and take longer than a key press may."""


@dataclass(frozen=True, slots=True)
class TestFaults:
    """How many of `looked` tests cannot be marked so: `missing` a right answer, or `unfit` otherwise."""

    __test__ = False

    looked: int = 0
    missing: int = 0
    unfit: int = 0
    first: Problem | None = None


def option_faults(spec: CheckSpec, project: Project) -> list[Problem]:
    """What is wrong with the settings of a check, whatever test it marks. The option ends the path."""
    usual = project.config.scorers.options.get(spec.type, {})
    labels = spec.options.get("labels") or usual.get("labels") or ["1"]
    base = project.all_cases[0] if project.all_cases else Case(id="x", input="x")
    sample = replace(base, id="x", reference=labels[0] if isinstance(labels, list | tuple) else labels)
    found = [
        problem
        for problem in _problems(spec, sample, project)
        if problem.severity is Severity.ERROR and not problem.code.startswith("reference_")
    ]
    return [*found, *_model_faults(spec, project)]


def test_faults(specs: Sequence[CheckSpec], cases: Sequence[Case], project: Project) -> TestFaults:
    """What keeps tests from being marked by checks whose settings are right."""
    missing = unfit = 0
    first: Problem | None = None
    looked = cases[:MOST_TESTS]
    for case in looked:
        marked = replace(case, checks=tuple(specs))
        errors = [
            problem
            for spec in specs
            for problem in _problems(spec, marked, project)
            if problem.severity is Severity.ERROR
        ]
        if any(problem.code == "reference_missing" for problem in errors):
            missing += 1
        elif errors:
            unfit += 1
            first = first or errors[0]
    return TestFaults(len(looked), missing, unfit, first)


def _problems(spec: CheckSpec, case: Case, project: Project) -> list[Problem]:
    config = project.config
    return validate_check(
        spec, case, config.scorers.options, project.root, config.judge, config.scorers.paths
    )


def _model_faults(spec: CheckSpec, project: Project) -> list[Problem]:
    """Models that a check names and the project does not have."""
    config = project.config
    name = model_wanted(spec.type, spec.options, config.scorers.options)
    embedder = find_embedder(name, config) if name is not None else None
    if isinstance(embedder, NoEmbedder):
        return [_problem(embedder.message, embedder.fix, embedder.code, "model")]
    against: Any = spec.options.get("against")
    if canonical_check(spec.type) == PAIRWISE_JUDGE.name and against is not None:
        fault = against_fault(str(against), config)
        if fault is not None and fault.severity is Severity.ERROR:
            return [_problem(fault.message, fault.fix, fault.code, "against")]
    return []


def _problem(message: str, fix: str, code: str, option: str) -> Problem:
    return Problem(Severity.ERROR, message, fix, path=option, code=code)
