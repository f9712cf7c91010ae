"""The question about a run whose turn has come and that is not what was agreed to any more."""

from __future__ import annotations

from PySide6.QtWidgets import QWidget

from arena_desktop.desks.run_orders import WaitingRun
from arena_desktop.desks.waiting_runs import WaitingRuns
from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog, CostQuestion
from arena_desktop.wording import run_queue as words


def ask_to_agree(parent: QWidget, waiting: WaitingRuns, entry: WaitingRun) -> None:
    """Asks; a yes lets it start at its turn, anything else leaves it where it is. Spends nothing itself."""
    now = entry.now
    if now is None:
        return
    question = CostQuestion(
        price=words.held_sentence(entry),
        counts=words.order_line(entry.order, now.most),
        reasons=words.change_sentences(entry.agreed, now, entry.changes),
        pay=words.agree_button(now.most, marking=entry.order.marking is not None),
        keep=words.decide_later(),
    )
    dialog = ConfirmCostDialog(parent, question)
    dialog.agreed.connect(lambda: waiting.agree(entry.number))
    dialog.open()
