"""What is wrong with the block `scorers` of a project: its default check and the options of each check."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from engine.cases.checks import project_check
from engine.config.schema import Config
from engine.domain import CheckSpec, Problem
from engine.scoring.base import Fault
from engine.scoring.custom_files import scorer_names
from engine.scoring.judge_pair import PAIRWISE_JUDGE, against_fault
from engine.scoring.options import read_options
from engine.scoring.registry import CHECKS, canonical_check, shared_faults, unknown_check

if TYPE_CHECKING:
    from engine.project import Project


def scorers_problems(project: Project) -> list[Problem]:
    """The faults with their place in the config. Reads at most files inside the project."""
    config, root = project.config, project.root
    # What is wrong with a way of marking matters only where a test goes by it.
    followed = any(not case.own_checks for case in project.cases)
    options = list(_option_faults(config, root))
    said = [(fault.code, fault.message) for _path, fault in options]
    checks = [
        *_default_faults(config, root, followed=followed),
        *_check_faults(config, root, followed=followed),
    ]
    found = [(path, fault) for path, fault in checks if (fault.code, fault.message) not in said]
    return [_placed(project, path, fault) for path, fault in (*found, *options)]


def _placed(project: Project, path: str, fault: Fault) -> Problem:
    places = project.places
    place = places.get(path) or places.get(path.split("[")[0]) or places.get("scorers")
    problem = Problem(fault.severity, fault.message, fault.fix, path=path, code=fault.code)
    if place is not None:
        problem = replace(problem, line=place.line, column=place.column)
    return replace(problem, file=project.config_file.name)


def _default_faults(config: Config, root: Path, *, followed: bool) -> Iterator[tuple[str, Fault]]:
    scorers = config.scorers
    own = scorer_names(root, scorers.paths)
    if canonical_check(scorers.default) is not None:
        if followed and not scorers.checks:
            for fault in shared_faults(CheckSpec(scorers.default), scorers.options, root, config.judge):
                yield "scorers.default", fault
    elif scorers.default not in own.names and not own.open_ended:
        yield "scorers.default", unknown_check(scorers.default, own.names)


def _option_faults(config: Config, root: Path) -> Iterator[tuple[str, Fault]]:
    own = scorer_names(root, config.scorers.paths)
    for name, options in config.scorers.options.items():
        path = f"scorers.options.{name}"
        known = canonical_check(name)
        if known is not None:
            for fault in read_options(CHECKS[known], options, {})[1]:
                # What is missing here may stand on the checks themselves.
                if fault.code != "option_missing":
                    yield f"{path}.{fault.option}", fault
            against = options.get("against") if known == PAIRWISE_JUDGE.name else None
            if against is not None and (unmet := against_fault(str(against).strip(), config)) is not None:
                yield f"{path}.{unmet.option}", unmet
        elif name not in own.names and not own.open_ended:
            yield path, unknown_check(name, own.names)


def _check_faults(config: Config, root: Path, *, followed: bool) -> Iterator[tuple[str, Fault]]:
    """Those of the checks that all tests share; what needs a test to be seen is told with the tests."""
    own = scorer_names(root, config.scorers.paths)
    for number, item in enumerate(config.scorers.checks):
        path = f"scorers.checks[{number}]"
        try:
            spec = project_check(item)
        except ValueError as error:
            yield path, Fault(str(error), "Write `{type: contains, …}`.", "bad_check")
            continue
        known = canonical_check(spec.type)
        if known is None:
            if spec.type not in own.names and not own.open_ended:
                yield path, unknown_check(spec.type, own.names)
            continue
        if followed:
            faults = shared_faults(spec, config.scorers.options, root, config.judge)
        else:
            faults = read_options(CHECKS[known], spec.options, config.scorers.options)[1]
        for fault in faults:
            yield f"{path}.{fault.option}".rstrip("."), fault
