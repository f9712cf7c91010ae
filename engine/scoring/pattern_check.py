"""The check that an answer fits a pattern."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine.scoring.base import (
    CheckFault,
    CheckInput,
    CheckType,
    Fault,
    Finding,
    Option,
    Setup,
    as_texts,
    quoted,
)
from engine.scoring.patterns import PatternError, compile_pattern, matches
from engine.scoring.text_form import normalise


def _patterns(options: Mapping[str, Any], reference: Any) -> tuple[str, ...]:
    if options["pattern"] is not None:
        return as_texts(options["pattern"])
    return as_texts(reference) if reference is not None else ()


def _expected(given: CheckInput) -> tuple[str, ...] | None:
    """The texts that the captured part must equal, None = finding the pattern is enough.

    `expect_group` says it outright. Otherwise the reference counts when a pattern stands beside
    it, but on a case with several checks only if it was written on this check: there the case's
    reference is usually for another one.
    """
    options = given.options
    if options["expect_group"] is not None:
        return as_texts(options["expect_group"])
    if options["pattern"] is None or given.reference is None:
        return None
    if given.own_reference or len(given.case.checks) <= 1:
        return as_texts(given.reference)
    return None


def _regex(given: CheckInput) -> Finding:
    """Search, not full match; the last match counts unless `select` says the first."""
    options = given.options
    patterns = _patterns(options, given.reference)
    if not patterns:
        raise CheckFault(
            "no_pattern", "There is no pattern. Set `pattern`, or write one as the right answer."
        )
    expected = _expected(given)
    captured: str | None = None
    for pattern in patterns:
        found = matches(_compiled(pattern, options), given.text, only_first=expected is None)
        if not found:
            continue
        match = found[0] if options["select"] == "first" else found[-1]
        captured = match[1] if match.re.groups else match[0]
        detail = {"pattern": pattern, "match": match[0][:500], "captured": (captured or "")[:500]}
        if expected is None:
            fact = f"The answer fits the pattern at {quoted(match[0])}"
            return Finding(1.0, True, fact, "matched", {**detail, "position": match.start() + 1})
        if captured is not None and normalise(captured) in {normalise(text) for text in expected}:
            fact = f"The pattern caught {quoted(captured)}, as expected"
            return Finding(1.0, True, fact, "captured", detail)
    detail = {"patterns": [pattern[:500] for pattern in patterns[:10]], "captured": captured}
    if expected is not None and captured is not None:
        wanted = " or ".join(quoted(text, 40) for text in expected[:5])
        return Finding(
            0.0, False, f"The pattern caught {quoted(captured)}, not {wanted}", "captured_other", detail
        )
    return Finding(0.0, False, "The answer does not fit the pattern", "not_matched", detail)


def _compiled(pattern: str, options: Mapping[str, Any]) -> Any:
    try:
        return compile_pattern(
            pattern, case_sensitive=options["case_sensitive"], multiline=options["multiline"]
        )
    except PatternError as error:
        place = "" if error.position is None else f" at character {error.position}"
        raise CheckFault(
            "pattern_bad",
            f"The pattern {pattern[:80]!r} cannot be used{place}: {error.message}.",
            pattern=pattern[:500],
            position=error.position,
        ) from error


def _faults(setup: Setup) -> list[Fault]:
    faults = []
    for pattern in _patterns(setup.options, setup.reference):
        try:
            _compiled(pattern, setup.options)
        except CheckFault as fault:
            faults.append(Fault(fault.reason, "Mend the pattern.", fault.code, option="pattern"))
    return faults


REGEX = CheckType(
    name="regex",
    title="fits a pattern",
    rule="The pattern is found somewhere in the answer; what it catches is compared if asked for.",
    run=_regex,
    validate=_faults,
    needs_reference=lambda options: options.get("pattern") is None,
    options=(
        Option("pattern", "any", None, "Pattern"),
        Option("expect_group", "any", None, "The caught part must be"),
        Option("select", "choice", "last", "Which match counts", choices=("last", "first")),
        Option("case_sensitive", "bool", False, "Capital letters count"),
        Option("multiline", "bool", False, "Lines: ^ and $ fit at each line, a dot fits line ends"),
    ),
)
