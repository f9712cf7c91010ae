"""Checks on size, speed and price, and the check that a person makes."""

from __future__ import annotations

import math
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from engine.domain import ScoreState
from engine.scoring.base import CheckFault, CheckInput, CheckType, Fault, Finding, Option, Setup, never_needs

_LENGTH = ("min_words", "max_words", "min_chars", "max_chars")


def _length(given: CheckInput) -> Finding:
    """Words are what white space separates; characters are counted without it at both ends."""
    text = given.text.strip()
    counts = {"words": len(text.split()), "chars": len(text)}
    units = {"words": "words", "chars": "characters"}
    for name in _LENGTH:
        limit = given.options[name]
        bound, unit = name.split("_")
        if limit is None:
            continue
        count = counts[unit]
        if (bound == "min" and count < limit) or (bound == "max" and count > limit):
            side = "fewer" if bound == "min" else "more"
            fact = f"The answer has {count:,} {units[unit]}, {side} than {limit:,}"
            return Finding(
                0.0, False, fact, f"too_{'short' if bound == 'min' else 'long'}", {**counts, name: limit}
            )
    shown = "words" if given.options["min_words"] or given.options["max_words"] else "chars"
    return Finding(1.0, True, f"The answer has {counts[shown]:,} {units[shown]}", "length_fits", counts)


def _latency(given: CheckInput) -> Finding:
    """Time to the complete answer of the successful attempt, waiting not counted."""
    measured = given.context.latency_ms if given.context.latency_ms is not None else given.answer.latency_ms
    if not math.isfinite(measured):
        raise CheckFault(
            "latency_unknown", "How long the answer took is not known, so this check cannot decide."
        )
    limit = float(given.options["max_ms"])
    passed = measured <= limit
    if not passed and given.answer.holds_loading:
        raise CheckFault(
            "latency_unknown",
            "The model was loaded while it answered, so how long the answer itself took is not known.",
        )
    fact = f"The answer took {measured:,.0f} ms, {'within' if passed else 'longer than'} {limit:,.0f} ms"
    detail = {"latency_ms": measured, "max_ms": limit}
    return Finding(float(passed), passed, fact, "fast_enough" if passed else "too_slow", detail)


def _cost(given: CheckInput) -> Finding:
    """The price of the call. Not known is not free: the check is errored."""
    known = given.context.cost_usd if given.context.cost_usd is not None else given.answer.cost_usd
    if known is None:
        raise CheckFault("cost_unknown", "The price of the answer is not known, so this check cannot decide.")
    limit = Decimal(str(given.options["max_usd"]))
    passed = known <= limit
    fact = f"The answer cost ${known:f}, {'within' if passed else 'more than'} ${limit:f}"
    detail = {"cost_usd": str(known), "max_usd": str(limit)}
    return Finding(float(passed), passed, fact, "cheap_enough" if passed else "too_expensive", detail)


def _manual(given: CheckInput) -> Finding:
    """Nobody has marked it yet: neither right nor wrong."""
    return Finding(0.0, False, "Waits for a person to mark it", "manual", state=ScoreState.UNSCORED)


def _length_faults(setup: Setup) -> list[Fault]:
    options = setup.options
    if all(options[name] is None for name in _LENGTH):
        return [Fault("The length check has no limit.", "Set `max_words` or another limit.",
                      "no_limit")]  # fmt: skip
    return [fault for unit in ("words", "chars") for fault in _crossed(options, unit)]


def _crossed(options: Mapping[str, Any], unit: str) -> list[Fault]:
    low, high = options[f"min_{unit}"], options[f"max_{unit}"]
    if low is None or high is None or low <= high:
        return []
    return [Fault(f"`min_{unit}` {low} is larger than `max_{unit}` {high}.", "Swap them.", "limits_crossed")]


LENGTH = CheckType(
    name="length",
    title="has the right length",
    rule="The answer is neither longer nor shorter than the limits.",
    run=_length,
    validate=_length_faults,
    needs_reference=never_needs,
    opposite="it must not be so",
    options=(
        Option("min_words", "int", None, "At least this many words", minimum=0),
        Option("max_words", "int", None, "At most this many words", minimum=0),
        Option(
            "min_chars", "int", None, "At least this many characters", minimum=0, aliases=("min_characters",)
        ),
        Option(
            "max_chars", "int", None, "At most this many characters", minimum=0, aliases=("max_characters",)
        ),
    ),
)
LATENCY = CheckType(
    name="latency",
    title="comes fast enough",
    rule="The complete answer came within the time.",
    run=_latency,
    needs_reference=never_needs,
    opposite="it must not be so",
    options=(
        Option(
            "max_ms",
            "number",
            None,
            "Longest wait in ms",
            minimum=0,
            required=True,
            aliases=("max_latency_ms",),
        ),
    ),
)
COST = CheckType(
    name="cost",
    title="is cheap enough",
    rule="The answer cost no more than the limit. A price that is not known decides nothing.",
    run=_cost,
    needs_reference=never_needs,
    opposite="it must not be so",
    options=(
        Option("max_usd", "number", None, "Highest price in US dollars", minimum=0, required=True,
               aliases=("max_cost_usd",)),
    ),
)  # fmt: skip
MANUAL = CheckType(
    name="manual",
    title="I mark it myself",
    rule="Not counted until a person has marked it.",
    run=_manual,
    needs_reference=never_needs,
)
