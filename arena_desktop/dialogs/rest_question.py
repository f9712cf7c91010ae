"""The question before a saved run is carried on: what is still asked, and what that may cost."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QWidget

from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog, CostQuestion
from arena_desktop.wording import ask_again as again_words
from arena_desktop.wording import rest as words

if TYPE_CHECKING:
    from arena_desktop.desks.run_desk import RunDesk
    from arena_desktop.desks.run_orders import RunOrder


def ask_about_rest(parent: QWidget, runs: RunDesk, order: RunOrder) -> None:
    """Asks; a yes starts it or puts it in the line, anything else leaves all as it is."""
    rest = order.rest
    if rest is None:
        return
    config = order.project.config
    question = CostQuestion(
        price=words.price_line(rest, config),
        counts=words.asked_line(rest, order.resume.number if order.resume is not None else None),
        reasons=words.reasons(rest, config),
        pay=words.pay_button(rest, config),
        keep=again_words.do_not_ask(),
    )
    if order.resume is not None and order.resume.again:
        calls = rest.expected.calls
        kept = again_words.ask_again_text(rest.kept, calls - rest.kept)
        title = again_words.ask_again_title(calls)
        question = replace(question, price=title, counts=question.price, reasons=[kept, *question.reasons])
    dialog = ConfirmCostDialog(parent, question)
    dialog.agreed.connect(lambda: runs.agree(order))
    dialog.open()
