"""What is said before a saved run is carried on, over limits that leave much, little, or bind nothing."""

from __future__ import annotations

from decimal import Decimal
from types import SimpleNamespace
from typing import Any

import pytest

from arena_desktop.wording import rest as words
from engine.config.schema import Budgets
from engine.domain import Note
from engine.execution.estimate import FREE, CostRange, Estimate
from engine.execution.rest import Rest

COST = CostRange(Decimal("0.30"), Decimal("0.90"), Decimal("1.40"))


def config(**budgets: Any) -> Any:
    named = SimpleNamespace(key="grok", label="Grok-W")
    return SimpleNamespace(budgets=Budgets(**budgets), models=[named])


def rest(before: str = "0.31", cost: CostRange = COST, **more: Any) -> Rest:
    return Rest(Estimate(total=cost, known=cost, calls=114, **more), Decimal(before))


@pytest.mark.parametrize(
    ("left", "limit", "price", "pay"),
    [
        (rest(), None, "About $0.90, never more than $1.40.", "Ask 114 questions, about $0.90"),
        (rest(), 2, "About $0.90, never more than $1.40.", "Ask 114 questions, about $0.90"),
        (rest("0.81"), 2, "About $0.90, never more than $1.19.", "Ask 114 questions, about $0.90"),
        (rest("1.51"), 2, "More than the $0.49 that your limit leaves.", "Ask 114 questions, at most $0.49"),
        (rest(cost=FREE), 2, "Free.", "Ask 114 questions, free"),
    ],
)
def test_the_price_is_under_what_the_limit_leaves(
    left: Rest, limit: int | None, price: str, pay: str
) -> None:
    found = config(max_run_usd=None if limit is None else Decimal(limit))
    assert words.price_line(left, found) == price
    assert words.pay_button(left, found) == pay


def test_a_limit_that_only_warns_lowers_no_price() -> None:
    warns = config(max_run_usd=Decimal(1), on_exceed="warn")
    assert words.price_line(rest(), warns) == "About $0.90, never more than $1.40."
    assert words.reasons(rest(), warns) == ["Your limit of $1.00 only warns."]


def test_what_was_spent_is_said_to_count() -> None:
    said = "Your limit of $2.00 counts the $0.31 that this run has cost already."
    assert words.reasons(rest(), config(max_run_usd=Decimal(2))) == [said]
    assert "cost already" not in words.reasons(rest("0"), config(max_run_usd=Decimal(2)))[0]


def test_what_has_no_price_is_named() -> None:
    note = Note("unpriced_under_ceiling", {"models": ["grok"], "ceiling": "2"})
    left = Rest(Estimate(total=CostRange(), unpriced=("grok",), calls=1), Decimal("0.31"), (note,))
    found = config(max_run_usd=Decimal(2))
    assert words.price_line(left, found) == "The price of Grok-W is not known."
    assert words.pay_button(left, found) == "Ask 1 question, price not known"
    assert words.reasons(left, found) == [
        "Your limit of $2.00 does not count Grok-W, because its price is not known."
    ]


def test_what_is_asked_names_the_questions_about_marks() -> None:
    assert words.asked_line(rest(judge_calls=40), 3) == (
        "Run 3: 114 questions to models, 40 questions about marks"
    )
    assert words.asked_line(rest(), None) == "114 questions to models"
