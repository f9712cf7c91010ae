"""What makes a case the same case: derived ids and fingerprints."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from engine.config.canonical import digest
from engine.domain import Case, CheckSpec, Problem, Severity

_ID_DIGITS = 12


def asked(case: Case) -> list[Any]:
    """Everything of a case that a model gets to see."""
    messages = None if case.messages is None else [[turn.role, turn.content] for turn in case.messages]
    return [case.input, messages, case.vars, case.context, case.images, case.files]


def derived_id(case: Case) -> str:
    """12 hex digits over input, messages, vars, reference, context and files."""
    return digest([*asked(case), case.reference])[:_ID_DIGITS]


def fingerprint(case: Case, root: Path) -> str:
    """Over all that could change the answer or its mark; files by their bytes."""
    checks = [_check_content(check) for check in case.checks]
    bytes_of = [_file_digest(root / name) for name in (*case.images, *case.files)]
    return digest([*asked(case), case.reference, checks, case.max_tokens, case.temperature, bytes_of])


def with_fingerprint(case: Case, root: Path) -> Case:
    """The same record with its fingerprint, for whoever has just made it and shown it to nobody.

    A copy of every case takes longer than all its digests, and each would be kept twice.
    """
    object.__setattr__(case, "fingerprint", fingerprint(case, root))
    return case


def _check_content(check: CheckSpec) -> list[Any]:
    return [check.type, check.options, check.weight, check.must_pass, check.negate, check.reference]


def _file_digest(path: Path) -> str:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError:
        return ""


def with_ids(cases: Iterable[Case]) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """Gives every case its own id: explicit ones as written, the others derived.

    A clash of explicit ids is an error naming both places, and the later case is left out.
    Equal contents without an id get `-2`, `-3`, … and a warning.
    """
    problems: list[Problem] = []
    places: dict[str, Case] = {}
    kept: list[Case] = []
    for case in cases:
        if case.id and case.id in places:
            problems.append(_clash(case, places[case.id]))
            continue
        if case.id:
            places[case.id] = case
        kept.append(case)
    firsts: dict[str, Case] = {}
    result = []
    for case in kept:
        if not case.id:
            base = derived_id(case)
            name, number = base, 1
            while name in places:
                number += 1
                name = f"{base}-{number}"
            if base in firsts:
                problems.append(_twin(case, firsts[base]))
            firsts.setdefault(base, case)
            places[name] = case
            result.append(replace(case, id=name))
        else:
            result.append(case)
    return tuple(result), tuple(problems)


def _where(case: Case) -> str:
    return case.file if case.line is None else f"{case.file}:{case.line}"


def _clash(case: Case, first: Case) -> Problem:
    return Problem(
        Severity.ERROR,
        f"The id `{case.id}` is used twice: {_where(first)} and {_where(case)}.",
        "Give one of the two tests another id.",
        case.file,
        case.line,
        code="duplicate_id",
    )


def _twin(case: Case, first: Case) -> Problem:
    return Problem(
        Severity.WARNING,
        f"This test is the same as the one in {_where(first)}.",
        "Delete one of them, or give both an id.",
        case.file,
        case.line,
        code="equal_cases",
    )
