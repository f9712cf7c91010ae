"""The sentences before a saved run is carried on: what is still asked, its price, why it is asked about."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from arena_desktop.wording.run import comparing_model, marking_ai
from arena_desktop.wording.run_start import (
    RunPrice,
    about_cost,
    confirm_sentence,
    limit_sentence,
    price_sentence,
)
from engine.config.embedder_key import PREFIX, is_embedder

if TYPE_CHECKING:
    from engine.config.schema import Config
    from engine.execution.rest import Rest


def _tr(text: str) -> str:
    return QCoreApplication.translate("Rest", text)


def _price(rest: Rest, config: Config) -> RunPrice:
    """Under the whole limit of the run."""
    budgets, labels = config.budgets, {entry.key: entry.label or entry.key for entry in config.models}
    for key in rest.expected.by_marker:
        labels[key] = comparing_model(key.removeprefix(PREFIX)) if is_embedder(key) else marking_ai()
    unpriced = tuple(labels.get(key, key) for key in rest.expected.unpriced)
    return RunPrice(rest.expected.total, budgets.max_run_usd, budgets.on_exceed == "stop", unpriced)


def _left(price: RunPrice, rest: Rest) -> Decimal | None:
    """What the limit leaves for the rest; None = nothing stops it."""
    if price.ceiling is None or not price.stops:
        return None
    return max(Decimal(0), price.ceiling - rest.before)


def _binds(price: RunPrice, left: Decimal | None) -> bool:
    """Whether the limit is likely to end it early."""
    likely = price.total.likely
    return not price.unpriced and left is not None and likely is not None and likely > left


def price_line(rest: Rest, config: Config) -> str:
    """The largest sentence of the question: "About $0.90, never more than $1.40."."""
    price = _price(rest, config)
    left = _left(price, rest)
    if left is not None and _binds(price, left):
        text = _tr("More than the {left} that your limit leaves.")
        return text.format(left=formats.money(left))
    return price_sentence(replace(price, ceiling=left, stops=left is not None))


def asked_line(rest: Rest, number: int | None) -> str:
    """What is asked: "Run 3: 12 questions to models, 12 questions to the second AI"."""
    expected = rest.expected
    parts = []
    if expected.calls:
        parts.append(
            counted(expected.calls, _tr("1 question to a model"), _tr("{count} questions to models"))
        )
    if expected.judge_calls:
        one, many = _tr("1 question about marks"), _tr("{count} questions about marks")
        parts.append(counted(expected.judge_calls, one, many))
    asked = ", ".join(parts)
    return asked if number is None else _tr("Run {number}: {asked}").format(number=number, asked=asked)


def reasons(rest: Rest, config: Config) -> list[str]:
    """Why it is asked about, and what its limit does."""
    price = _price(rest, config)
    said = [confirm_sentence(note, price.unpriced) for note in rest.confirm]
    if price.ceiling is None or not price.stops or price.unpriced or price.free or not rest.before:
        return said or [limit_sentence(price)]
    text = _tr("Your limit of {limit} counts the {spent} that this run has cost already.")
    said.append(text.format(limit=formats.money(price.ceiling), spent=formats.money(rest.before)))
    return said


def pay_button(rest: Rest, config: Config) -> str:
    """The button that spends says how much: "Ask 12 questions, about $0.90"."""
    expected, price = rest.expected, _price(rest, config)
    left = _left(price, rest)
    if left is not None and _binds(price, left):
        cost = _tr("at most {cost}").format(cost=formats.money(left))
    else:
        cost = about_cost(expected.total.likely)
    asked = counted(
        expected.calls + expected.judge_calls, _tr("Ask 1 question"), _tr("Ask {count} questions")
    )
    return _tr("{ask}, {cost}").format(ask=asked, cost=cost)
