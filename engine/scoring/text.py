"""Checks that compare texts: is exactly, mentions."""

from __future__ import annotations

import re

from engine.domain import Severity
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
from engine.scoring.text_form import first_difference, fold, normalise

_CASE = Option("case_sensitive", "bool", False, "Capital letters count")
_STRICT = Option("strict", "bool", False, "Every character counts, also invisible ones")
_SHORT_NUMBER = re.compile(r"[+-]?\d{1,6}(?:[.,]\d{1,3})?\Z")


def _exact(given: CheckInput) -> Finding:
    """Equal to one of the accepted texts, in the form that the options ask for."""
    texts = as_texts(given.reference)
    options = given.options
    if options["strict"]:
        forms = {text: text for text in texts}
        answer = given.text
    else:
        form = {
            name: bool(options[name])
            for name in ("case_sensitive", "strip_punctuation", "collapse_whitespace")
        }
        forms = {text: normalise(text, **form) for text in texts}
        answer = normalise(given.text, **form)
    for text, wanted in forms.items():
        if wanted == answer:
            return Finding(1.0, True, f"The answer is exactly {quoted(text)}", "equal", {"matched": text})
    wanted = " or ".join(quoted(text) for text in texts[:5])
    detail: dict[str, object] = {"answer": given.text[:2000], "accepted": list(texts[:20])}
    note = ""
    if len(texts) == 1 and (difference := first_difference(answer, forms[texts[0]])):
        detail["difference"] = difference
        if normalise(given.text) == normalise(texts[0]):
            note = (
                f"They look alike but part at character {difference['position']}: "
                f"the answer has {difference['answer']}, the right answer {difference['reference']}."
            )
    fact = f"The answer is {quoted(given.text.strip())}, not exactly {wanted}"
    return Finding(0.0, False, fact, "not_equal", detail, note=note)


def _contains(given: CheckInput) -> Finding:
    """The share of the wanted texts that stand in the answer, or whether any of them does."""
    texts = as_texts(given.reference)
    if any(not text.strip() for text in texts):
        raise CheckFault(
            "reference_empty", "The text to look for is empty. Write what the answer must mention."
        )
    strict, case = given.options["strict"], given.options["case_sensitive"]

    def form(text: str) -> str:
        folded = text if strict else fold(text)
        return folded if case else folded.lower()

    answer = form(given.text)
    found = [text for text in texts if form(text) in answer]
    missing = [text for text in texts if form(text) not in answer]
    share = float(bool(found)) if given.options["mode"] == "any" else len(found) / len(texts)
    passed = share >= given.options["threshold"]
    inside = [text for text in found if _only_inside_numbers(form(text), answer)]
    detail: dict[str, object] = {"found": found[:50], "missing": missing[:50]}
    note = ""
    if inside:
        detail["inside_numbers"] = inside
        note = f"{quoted(inside[0])} stands only inside a longer number."
    fact = _contains_fact(found, missing, len(texts))
    return Finding(share, passed, fact, "mentioned" if passed else "not_mentioned", detail, note=note)


def _contains_fact(found: list[str], missing: list[str], total: int) -> str:
    if not missing:
        return (
            f"The answer mentions {quoted(found[0])}"
            if total == 1
            else f"The answer mentions all {total} texts"
        )
    if total == 1:
        return f"The answer does not mention {quoted(missing[0])}"
    names = ", ".join(quoted(text, 40) for text in missing[:3])
    return f"The answer mentions {len(found)} of {total} texts; missing: {names}"


def _only_inside_numbers(text: str, answer: str) -> bool:
    """Whether a short number never stands alone in the answer, as 5 in 25."""
    if not _SHORT_NUMBER.match(text):
        return False
    return re.search(rf"(?<![\d.,]){re.escape(text)}(?![\d]|[.,]\d)", answer) is None


def _contains_faults(setup: Setup) -> list[Fault]:
    faults = []
    texts = as_texts(setup.reference) if setup.reference is not None else ()
    if any(not text.strip() for text in texts):
        faults.append(
            Fault("The text to look for is empty.", "Write what the answer must mention.", "reference_empty")
        )
    if setup.spec.negate and len(texts) > 1 and setup.options["mode"] == "all":
        faults.append(
            Fault(
                "With `not: true` and several texts the check passes unless all of them are mentioned.",
                "Set `mode: any` if none of them may be mentioned.",
                "not_with_all",
                Severity.WARNING,
                "mode",
            )
        )
    return faults


EXACT = CheckType(
    name="exact_match",
    title="is exactly",
    rule="The answer is the right answer, apart from capitals, spaces and marks around words.",
    run=_exact,
    opposite="it must not be",
    options=(
        _CASE,
        Option("strip_punctuation", "bool", True, "Marks at the ends of words do not count"),
        Option("collapse_whitespace", "bool", True, "Extra spaces and line breaks do not count"),
        _STRICT,
    ),
)
CONTAINS = CheckType(
    name="contains",
    title="mentions",
    rule="The answer holds the text, or all the texts, somewhere.",
    run=_contains,
    validate=_contains_faults,
    options=(
        Option("mode", "choice", "all", "How many of the texts", choices=("all", "any")),
        _CASE,
        Option("threshold", "number", 1.0, "Passes from this share", minimum=0, maximum=1),
        _STRICT,
    ),
)
