"""The check that an answer names the right one of several labels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import NamedTuple

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
from engine.scoring.text_form import fold, normalise

_MAX_MENTIONS = 5_000  # of one label: more changes nothing and costs time
_JOINS = "#+-_"
_NEGATION = re.compile(
    r"(?:^|[^\w'])"
    r"(not|isn't|is not|no|never|nor|neither|without|rather than|instead of|nicht|kein|keine|pas|non)"
    r"(?:\s+(?:a|an|the|about|as|really|ein|eine|de))?[\s\"'`*(\[]+$"
)


class _Mention(NamedTuple):
    start: int
    end: int
    label: str
    negated: bool


def predict(text: str, labels: tuple[str, ...]) -> tuple[str | None, tuple[str, ...]]:
    """The label an answer names, and all labels it mentions.

    An answer that is a label wins outright. Otherwise exactly one label named is the
    prediction; with several, the last line decides if it names exactly one. There a negated
    label names nothing: the others that it is set against stand further up.

    Returns:
        (prediction or None, labels mentioned in order, without repeats).
    """
    forms = {normalise(label): label for label in labels}
    whole = normalise(text)
    if whole in forms:
        return forms[whole], (forms[whole],)
    named = _named(text, forms)
    if len(named) == 1:
        return named[0], named
    lines = [line for line in text.splitlines() if line.strip()]
    if len(named) > 1 and len(lines) > 1:
        last = _plainly_named(lines[-1], forms)
        if len(last) == 1:
            return last[0], named
    return None, named


def _named(text: str, forms: Mapping[str, str]) -> tuple[str, ...]:
    """The distinct labels in a text; a negated one only where no other is left."""
    everything = dict.fromkeys(forms[mention.label] for mention in _read(text, forms))
    return _plainly_named(text, forms) or tuple(everything)


def _plainly_named(text: str, forms: Mapping[str, str]) -> tuple[str, ...]:
    """The distinct labels in a text that no word such as `not` stands before."""
    return tuple(dict.fromkeys(forms[found.label] for found in _read(text, forms) if not found.negated))


def _read(text: str, forms: Mapping[str, str]) -> list[_Mention]:
    return _mentions(" ".join(fold(text).lower().split()), tuple(forms))


def _mentions(text: str, labels: tuple[str, ...]) -> list[_Mention]:
    """Whole-word mentions, a longer label hiding a shorter one inside it."""
    spans: list[tuple[int, int, str]] = []
    for label in labels:
        position, tried = text.find(label), 0
        while position >= 0 and tried < _MAX_MENTIONS:
            end = position + len(label)
            if _whole(text, position, end):
                spans.append((position, -end, label))
            position, tried = text.find(label, position + 1), tried + 1
    mentions: list[_Mention] = []
    covered = 0
    for start, negative_end, label in sorted(spans):
        if -negative_end > covered:
            mentions.append(_Mention(start, -negative_end, label, _negated(text, start, labels)))
            covered = -negative_end
    return mentions


def _whole(text: str, start: int, end: int) -> bool:
    """Whether a span is a word of its own: `non-technical` does not hold `technical`."""
    return not (_joined(text, start, -1) or _joined(text, end - 1, 1))


def _joined(text: str, edge: int, step: int) -> bool:
    beside = text[edge + step] if 0 <= edge + step < len(text) else " "
    if beside.isalnum() or (beside in _JOINS and not text[edge].isalnum()):
        return True
    if beside not in _JOINS:
        return False
    beyond = text[edge + 2 * step] if 0 <= edge + 2 * step < len(text) else " "
    return beyond.isalnum() or (step > 0 and beside in "#+")


def _negated(text: str, start: int, labels: tuple[str, ...]) -> bool:
    """Whether a word such as `not` stands right before, and is not itself a label."""
    match = _NEGATION.search(text[max(0, start - 40) : start])
    return match is not None and match[1] not in labels


def _classification(given: CheckInput) -> Finding:
    labels = as_texts(given.options["labels"])
    wanted = {normalise(text): text for text in as_texts(given.reference)}
    prediction, named = predict(given.text, labels)
    detail = {"prediction": prediction, "named": list(named[:20]), "accepted": list(wanted.values())[:20]}
    if prediction is None:
        if named:
            names = ", ".join(quoted(name, 30) for name in named[:4])
            return Finding(0.0, False, f"The answer named several labels: {names}", "several_labels", detail)
        return Finding(0.0, False, "The answer names none of the labels", "no_label", detail)
    expected = " or ".join(quoted(text, 30) for text in list(wanted.values())[:4])
    if normalise(prediction) in wanted:
        return Finding(1.0, True, f"The answer names {quoted(prediction, 40)}", "right_label", detail)
    fact = f"The answer names {quoted(prediction, 40)}, not {expected}"
    return Finding(0.0, False, fact, "wrong_label", detail)


def _faults(setup: Setup) -> list[Fault]:
    labels = as_texts(setup.options["labels"])
    forms: dict[str, str] = {}
    faults = []
    for label in labels:
        form = normalise(label)
        if not form.strip():
            faults.append(
                Fault("A label is empty.", "Write a word or remove it.", "label_empty", option="labels")
            )
        elif form in forms:
            message = f"The labels {quoted(forms[form])} and {quoted(label)} cannot be told apart."
            faults.append(Fault(message, "Keep one of them.", "label_twice", option="labels"))
        forms[form] = label
    for text in as_texts(setup.reference) if setup.reference is not None else ():
        if normalise(text) not in forms:
            message = f"The right answer {quoted(text)} is none of the labels."
            known = ", ".join(labels[:12])
            faults.append(
                Fault(message, f"Use one of: {known}; or add it to the labels.", "reference_no_label")
            )
    return faults


def _run(given: CheckInput) -> Finding:
    faults = _faults(Setup(given.options, given.reference, given.case, given.spec, None))
    if faults:
        raise CheckFault(faults[0].code, f"{faults[0].message} {faults[0].fix}")
    return _classification(given)


CLASSIFICATION = CheckType(
    name="classification",
    title="is the right label",
    rule="The answer names exactly one of the labels, and it is the right one.",
    run=_run,
    validate=_faults,
    opposite="it must not",
    options=(Option("labels", "texts", None, "Labels", required=True),),
)
