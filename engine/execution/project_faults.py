"""Faults of a project that are found without asking anybody: of its tests, checks, models and prices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from engine.config.schema import ModelEntry
from engine.domain import Problem, Severity
from engine.execution.candidates import ReadyModel
from engine.pricing import PriceBook

if TYPE_CHECKING:
    from engine.project import Project


def own_problems(project: Project, entries: Sequence[ModelEntry]) -> list[Problem]:
    """What is wrong with tests, checks and models, without what reading the project told already.

    What is wrong for all tests is told once, where it is written. `entries` are the models that
    are switched on.
    """
    from engine.scoring.project_options import scorers_problems

    found = scorers_problems(project)
    tests = list(_test_problems(project, found))
    if not project.cases:
        fix = "Add at least one test case."
        found.append(error_problem("no_cases", "The project has no test case.", fix))
    if not entries:
        fix = "Add a model, or set enabled: true on one."
        found.append(error_problem("no_models", "No model is switched on.", fix))
    return [problem for problem in dict.fromkeys([*found, *tests]) if problem not in project.problems]


def _test_problems(project: Project, shared: Sequence[Problem]) -> Iterator[Problem]:
    """What is wrong with the checks of each test, without what is `shared`."""
    from engine.scoring import validate_check
    from engine.scoring.judge_pair import against_problems

    config = project.config
    by_all = {_said(problem) for problem in shared if problem.path.startswith("scorers.options")}
    followed = {_said(problem) for problem in shared}
    for case in project.cases:
        # A check of its own has to be mended there.
        told = by_all if case.own_checks else followed
        for check in case.checks:
            faults = validate_check(
                check, case, config.scorers.options, project.root, config.judge, config.scorers.paths
            )
            faults += against_problems(check, case, config)
            yield from (fault for fault in faults if _said(fault) not in told)


def _said(problem: Problem) -> tuple[str, str]:
    return problem.code, problem.message


def understated(pricebook: PriceBook, models: Sequence[ReadyModel]) -> list[Problem]:
    """Warnings about models whose price in the project is far below the one that is known."""
    found = []
    for model in models:
        rates = pricebook.understated(model.entry, model.connection)
        if rates is not None:
            message = (
                f"The project says {model.entry.model} costs far less than the {rates[0]:f} and"
                f" {rates[1]:f} dollars per million tokens (in, out) that are known for it."
                " Costs and limits go by what the project says."
            )
            fix = "Remove the price from the project if you do not know it to be right."
            found.append(Problem(Severity.WARNING, message, fix, code="price_understated"))
    return list(dict.fromkeys(found))


def error_problem(code: str, message: str, fix: str) -> Problem:
    """A fault that keeps the run from starting."""
    return Problem(Severity.ERROR, message, fix, code=code)
