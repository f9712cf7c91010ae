"""All ways of marking by name, and the faults of a check that can be found without an answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from engine.config.schema import Judge
from engine.domain import Case, CheckSpec, Problem, Severity
from engine.scoring.base import CheckType, Fault, Setup, has_reference
from engine.scoring.code import CODE_EXEC
from engine.scoring.custom_files import scorer_names
from engine.scoring.judge import LLM_JUDGE
from engine.scoring.judge_pair import PAIRWISE_JUDGE
from engine.scoring.labels import CLASSIFICATION
from engine.scoring.limits import COST, LATENCY, LENGTH, MANUAL
from engine.scoring.numeric import NUMERIC
from engine.scoring.options import read_options
from engine.scoring.pattern_check import REGEX
from engine.scoring.schema_check import JSON_SCHEMA
from engine.scoring.similar import SIMILARITY
from engine.scoring.structured import JSON_MATCH, JSON_VALID
from engine.scoring.text import CONTAINS, EXACT

CHECKS: Mapping[str, CheckType] = {
    check.name: check
    for check in (
        EXACT,
        CONTAINS,
        REGEX,
        CLASSIFICATION,
        NUMERIC,
        JSON_MATCH,
        JSON_VALID,
        JSON_SCHEMA,
        SIMILARITY,
        LLM_JUDGE,
        PAIRWISE_JUDGE,
        CODE_EXEC,
        LENGTH,
        LATENCY,
        COST,
        MANUAL,
    )
}
_NO_TEST = Case(id="", input="")
_OF_A_TEST = frozenset({"undefined_variable"})
"""Faults that depend on the test, not only on its right answer."""
_ALIASES = {alias: check.name for check in CHECKS.values() for alias in check.aliases}


def canonical_check(name: str) -> str | None:
    """The one name of a built-in check, None for a name that is none."""
    plain = name.strip()
    return plain if plain in CHECKS else _ALIASES.get(plain)


def reference_of(spec: CheckSpec, case: Case) -> Any:
    """The check's own reference, else the case's; None = there is none."""
    return case.reference if spec.reference is None else spec.reference


def validate_check(
    spec: CheckSpec,
    case: Case,
    options: Mapping[str, Mapping[str, Any]],
    root: Path | None,
    judge: Judge | None = None,
    scorer_paths: Sequence[str] = (),
) -> list[Problem]:
    """Everything wrong with one check of one case, in sentences that say how to mend it.

    Reads at most files inside the project; runs no code of the project.

    Args:
        spec: The check.
        case: The case it belongs to.
        options: The project's `scorers.options`.
        root: The project folder.
        judge: The project's judge, whose rubric holds where the check has none.
        scorer_paths: The project's `scorers.paths`.
    """
    if canonical_check(spec.type) is None:
        found = _own_scorer_faults(spec.type, root, scorer_paths)
        return [_problem(fault, spec, case) for fault in found]
    return [_problem(fault, spec, case) for fault in _faults(spec, case, options, root, judge)]


def _own_scorer_faults(name: str, root: Path | None, paths: Sequence[str]) -> list[Fault]:
    """What is wrong with the name of a check that is not built in."""
    named = scorer_names(root, paths)
    if name in named.names:
        return []
    if not named.open_ended:
        return [unknown_check(name, named.names)]
    message = f"Whether the project has a scorer `{name[:60]}` is only known when its code runs."
    return [Fault(message, "Write the name out in `SCORERS`.", "scorer_not_seen", Severity.WARNING)]


def _faults(
    spec: CheckSpec,
    case: Case,
    options: Mapping[str, Mapping[str, Any]],
    root: Path | None,
    judge: Judge | None,
) -> list[Fault]:
    check, values, faults = _read(spec, options)
    reference = reference_of(spec, case)
    if check.needs_reference(values) and not has_reference(reference):
        faults.append(missing_reference(check))
    if not any(fault.severity is Severity.ERROR for fault in faults):
        faults += check.validate(Setup(values, reference, case, spec, root, judge))
    return faults


def _read(
    spec: CheckSpec, options: Mapping[str, Mapping[str, Any]]
) -> tuple[CheckType, dict[str, Any], list[Fault]]:
    """A built-in check with the options in force, and what is wrong with what is written."""
    check = CHECKS[canonical_check(spec.type) or spec.type]
    values, faults = read_options(check, spec.options, options)
    if not spec.weight >= 0:
        faults.append(Fault("The weight of a check is negative.", "Write 0 or more.", "weight_bad"))
    return check, values, faults


def shared_faults(
    spec: CheckSpec,
    options: Mapping[str, Mapping[str, Any]],
    root: Path | None,
    judge: Judge | None = None,
) -> list[Fault]:
    """What is wrong with a built-in check whatever test it marks; arguments as in `validate_check`."""
    check, values, faults = _read(spec, options)
    if not any(fault.severity is Severity.ERROR for fault in faults):
        faults += check.validate(Setup(values, spec.reference, _NO_TEST, spec, root, judge))
    return [fault for fault in faults if fault.code not in _OF_A_TEST]


def missing_reference(check: CheckType) -> Fault:
    """The fault of a check that has nothing to compare with."""
    return Fault(
        f"The check `{check.name}` needs a right answer and the test case has none.",
        "Write a `reference`, or choose a check that needs none.",
        "reference_missing",
    )


def unknown_check(name: str, own: Iterable[str] = ()) -> Fault:
    """The fault of a name that is no check, with the nearest one."""
    near = difflib.get_close_matches(name, [*CHECKS, *_ALIASES, *own], 1, 0.6)
    fix = f"Did you mean `{near[0]}`?" if near else "Known are: " + ", ".join(CHECKS) + "."
    return Fault(f"There is no check called `{name[:60]}`.", fix, "check_unknown")


def _problem(fault: Fault, spec: CheckSpec, case: Case) -> Problem:
    path = ".".join(part for part in (case.id, spec.type, fault.option) if part)
    return Problem(
        fault.severity, fault.message, fault.fix, file=case.file, line=case.line, path=path, code=fault.code
    )
