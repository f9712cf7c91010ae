"""Runs, and saved ones to be marked again, that wait their turn, in words: what waits, what has changed
since, what becomes of it."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

from arena_desktop.wording import formats
from arena_desktop.wording.formats import counted
from arena_desktop.wording.run_start import counts_line

if TYPE_CHECKING:
    from arena_desktop.desks.run_orders import Order, Terms, WaitingRun


def _tr(text: str) -> str:
    return QCoreApplication.translate("RunQueue", text)


def waiting_title(count: int, markings: int = 0) -> str:
    """The head of the list: "2 runs wait their turn". `markings` of them mark a saved run again."""
    if markings:
        return counted(count, _tr("1 waits its turn"), _tr("{count} wait their turn"))
    return counted(count, _tr("1 run waits its turn"), _tr("{count} runs wait their turn"))


def waiting_short(count: int) -> str:
    """For the status bar: "1 waits", "3 wait"; empty where none does."""
    return "" if not count else counted(count, _tr("1 waits"), _tr("{count} wait"))


def at_most(usd: Decimal | None) -> str:
    """The most it can cost, inside a sentence: "up to $0.40", "free", "price not known"."""
    if usd is None:
        return _tr("price not known")
    if usd == 0:
        return _tr("free")
    return _tr("up to {cost}").format(cost=formats.money(usd))


def order_line(order: Order, most: Decimal | None) -> str:
    """What waits: "Support triage, 3 models, 20 tests: 60 questions, up to $0.40"."""
    return _tr("{name}, {what}, {cost}").format(name=order.name, what=_what(order), cost=at_most(most))


def _what(order: Order) -> str:
    if order.marking is not None:
        return _marked_again(order.number, order.marking.answers)
    resume, plan = order.resume, order.plan
    if resume is None:
        return counts_line(len(plan.models), len(plan.cases), plan.trials, plan.planned)
    asked = ""
    if resume.missing:
        asked = counted(resume.missing, _tr("1 question"), _tr("{count} questions"))
    if resume.again:
        text = _tr("{asked} of run {number} again") if resume.number else _tr("{asked} again")
        return text.format(asked=asked or _tr("questions"), number=resume.number)
    if resume.number is None:
        return _tr("the rest of a run")
    if not asked:
        return _tr("the rest of run {number}").format(number=resume.number)
    return _tr("the rest of run {number}, {asked}").format(number=resume.number, asked=asked)


def _marked_again(number: int | None, answers: int) -> str:
    asked = counted(answers, _tr("1 answer"), _tr("{count} answers"))
    if number is None:
        return _tr("{answers} of a run to be marked again").format(answers=asked)
    return _tr("{answers} of run {number} to be marked again").format(answers=asked, number=number)


def turn_word(entry: WaitingRun, place: int) -> str:
    """How one waits. `place` counts from 1 among those whose turn comes by itself; 0 = it does not."""
    words = {
        "turn": _tr("Next") if place == 1 else _tr("Waits its turn"),
        "checking": _tr("About to start"),
        "asks": _tr("Needs your answer"),
        "cannot": _tr("Cannot start"),
    }
    return words[entry.wait.value]


def change_sentences(agreed: Terms, now: Terms, found: Sequence[str]) -> list[str]:
    """What is other than it was when the run was ordered."""
    sentences = []
    for change in found:
        if change == "dearer":
            text = _tr("It can cost up to {now} now. It was up to {before} when you ordered it.")
            sentences.append(text.format(now=formats.money(now.most), before=formats.money(agreed.most)))
        elif change == "price_unknown":
            sentences.append(_tr("A price is not known any more, so nobody can say what it will cost."))
        elif change == "trust":
            sentences.append(
                _tr(
                    "The project's own code is not allowed any more, because it has changed."
                    " The run would go on without it."
                    " To allow it, open the project and say yes, then order the run anew."
                )
            )
    return sentences


def held_sentence(entry: WaitingRun) -> str:
    """The first sentence about a run whose turn came and that did not start."""
    if entry.wait == "asks":
        return _tr("{name} waits for your answer.").format(name=entry.order.name)
    return _tr("{name} could not start.").format(name=entry.order.name)


def held_text(entry: WaitingRun) -> str:
    """Why it did not start."""
    if entry.error is not None:
        return f"{entry.error.message} {entry.error.hint}".strip()
    if entry.now is None:
        return ""
    return " ".join(change_sentences(entry.agreed, entry.now, entry.changes))


def ordered_sentence(order: Order) -> str:
    """Something was ordered while a run goes on, or one is marked again."""
    marking = order.marking is not None
    text = _tr("{name} waits to be marked again.") if marking else _tr("{name} waits its turn.")
    return text.format(name=order.name)


def ordered_text(running: str) -> str:
    """When it starts."""
    if not running:
        return _tr("It starts by itself.")
    return _tr("It starts by itself when {running} and what was ordered before it have ended.").format(
        running=running
    )


def removed_sentence(orders: Sequence[Order]) -> str:
    """Some were taken out of the line."""
    marking = any(order.marking is not None for order in orders)
    if len(orders) == 1:
        text = _tr("{name} will not be marked again.") if marking else _tr("{name} will not run.")
        return text.format(name=orders[0].name)
    text = (
        _tr("{count} that waited will not start.") if marking else _tr("{count} waiting runs will not start.")
    )
    return text.format(count=len(orders))


def began_without(name: str, labels: Sequence[str]) -> str:
    """A run that waited has begun without models that were to take part."""
    return _tr("{name} began without {models}.").format(name=name, models=", ".join(labels))


def began_without_text() -> str:
    """What that means."""
    return _tr("They could be asked when the run was ordered and cannot now. The page of the run says why.")


def turn_text() -> str:
    """Beside the button while another run goes on."""
    return _tr("It starts by itself when the runs before it have ended.")


def cancel_rest(waiting: int, following: str) -> str:
    """In the question about a cancel: what comes after it. `following` is the next one's name."""
    if not waiting:
        return ""
    if not following:
        return counted(
            waiting, _tr("1 more run waits for your answer."), _tr("{count} more runs wait for your answer.")
        )
    return _tr("{waiting} {next}").format(
        waiting=counted(waiting, _tr("1 more run waits."), _tr("{count} more runs wait.")),
        next=_tr("{name} starts next, by itself.").format(name=following),
    )


def drop_too(waiting: int) -> str:
    """The box in that question."""
    return counted(waiting, _tr("Drop the waiting run too"), _tr("Drop the {count} waiting runs too"))


def close_rest(waiting: int) -> str:
    """In the question about closing the window: what becomes of those that wait."""
    if not waiting:
        return ""
    return counted(
        waiting,
        _tr("1 more run waits. It starts only if the program keeps running; closing drops it."),
        _tr("{count} more runs wait. They start only if the program keeps running; closing drops them."),
    )


def close_idle_title(waiting: int) -> str:
    """The question where nothing runs and some wait for an answer."""
    return counted(waiting, _tr("1 run has not started yet."), _tr("{count} runs have not started yet."))


def close_idle_text(waiting: int) -> str:
    """What closing does to them."""
    return counted(
        waiting,
        _tr("It waits for your answer. Closing drops it; nothing was spent on it."),
        _tr("They wait for your answer. Closing drops them; nothing was spent on them."),
    )


def agree_button(most: Decimal | None, *, marking: bool = False) -> str:
    """The button that says yes to the terms of today."""
    if marking:
        if not most:
            return _tr("Mark, price not known") if most is None else _tr("Mark, for free")
        return _tr("Mark for at most {cost}").format(cost=formats.money(most))
    if most is None:
        return _tr("Run, price not known")
    if most == 0:
        return _tr("Run, for free")
    return _tr("Run for at most {cost}").format(cost=formats.money(most))


def decide_later() -> str:
    """The button that leaves it waiting."""
    return _tr("Decide later")
