"""Marking a saved run again in words: its price before, how it goes, how it ended."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from engine.domain import RunStatus

if TYPE_CHECKING:
    from engine.domain import SkippedModel
    from engine.execution.mark_again import MarkAgain

_A_TRIFLE = Decimal("0.01")


def _tr(text: str) -> str:
    return QCoreApplication.translate("MarkAgain", text)


def price_sentence(found: MarkAgain) -> str:
    """What asking the second AI costs: low, likely and high."""
    cost = found.cost
    if cost.low is None or cost.likely is None or cost.high is None:
        return _tr("The price of the second AI is not known.")
    if cost.high == 0:
        return _tr("Free.")
    if cost.high < _A_TRIFLE:
        return _tr("Less than 1 cent.")
    return _tr("About {likely}, never more than {high}.").format(
        likely=formats.money(cost.likely), high=formats.money(cost.high)
    )


def counts_sentence(found: MarkAgain) -> str:
    """What will be asked, and that no model is."""
    answers = counted(found.answers, _tr("1 answer"), _tr("{count} answers"))
    if not found.calls:
        return _tr("The project's own check asks the second AI about {answers}.").format(answers=answers)
    asked = counted(found.calls, _tr("1 question"), _tr("{count} questions"))
    text = _tr("{questions} to the second AI about {answers} that are saved. No model is asked again.")
    return text.format(questions=asked, answers=answers)


def reasons(found: MarkAgain) -> tuple[str, ...]:
    """Further sentences of the question: the least it can cost, the limit."""
    said = []
    if found.cost.low is not None and found.cost.high is not None and found.cost.high >= _A_TRIFLE:
        said.append(
            _tr("At least {low}, if its replies are short.").format(low=formats.money(found.cost.low))
        )
    budgets = found.project.config.budgets
    if budgets.max_run_usd is not None:
        limit = formats.money(budgets.max_run_usd)
        if found.unpriced:
            said.append(_tr("Your limit of {limit} does not count what has no price.").format(limit=limit))
        elif budgets.on_exceed == "warn":
            said.append(_tr("Your limit of {limit} for a run only warns.").format(limit=limit))
        else:
            text = _tr(
                "Your limit of {limit} for a run counts what it has cost already, and stops the marking."
            )
            said.append(text.format(limit=limit))
    if budgets.confirm_above_usd is not None and any(note.code == "above" for note in found.confirm):
        text = _tr("This project asks for your yes above {limit}.")
        said.append(text.format(limit=formats.money(budgets.confirm_above_usd)))
    return tuple(said)


def before_sentence(found: MarkAgain) -> str:
    """The price beside the button, before anything is pressed; empty where nothing is asked."""
    if not found.asks:
        return ""
    answers = counted(found.answers, _tr("1 answer"), _tr("{count} answers"))
    text = _tr("The second AI has to be asked about {answers}. {price}")
    return text.format(answers=answers, price=price_sentence(found))


def pay_button(found: MarkAgain) -> str:
    """The button that spends says how much."""
    likely = found.cost.likely
    if likely is None:
        return _tr("Mark, price not known")
    if likely < _A_TRIFLE:
        return _tr("Mark for less than 1 cent")
    return _tr("Mark for about {cost}").format(cost=formats.money(likely))


def keep_button() -> str:
    """The button that spends nothing."""
    return _tr("Do not mark")


def going_sentence(marked: int, answers: int, spent: Decimal | None, *, slowed: bool) -> str:
    """How far it is."""
    text = _tr("{marked} of {answers} answers.").format(
        marked=formats.whole(marked), answers=formats.whole(answers)
    )
    if spent:
        text += " " + _tr("Spent {cost} so far.").format(cost=formats.money(spent))
    if slowed:
        text += " " + _tr("Its service asks us to slow down.")
    return text


def ended_sentence(status: RunStatus | None) -> str:
    """How a session ended that did not make all marks; empty where it did."""
    if status is RunStatus.CANCELLED:
        return _tr("You stopped it. Mark again to make the rest.")
    if status is RunStatus.STOPPED_BUDGET:
        return _tr("It stopped at the limit of the run. Raise it and mark again to make the rest.")
    return ""


def skipped_sentence(skip: SkippedModel | None) -> str:
    """Why the second AI was not asked, and what mends it; empty where nothing kept it."""
    if skip is None:
        return ""
    return (
        _tr("The second AI cannot be asked: {reason} {fix}").format(reason=skip.reason, fix=skip.fix).strip()
    )
