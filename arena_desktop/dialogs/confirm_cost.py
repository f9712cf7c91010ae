"""The question before money is spent. Its default answer spends nothing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.theme import scaled
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label

_WIDTH = 520


@dataclass(frozen=True, slots=True)
class CostQuestion:
    """What is asked: the price, what will be asked, why the question comes, and the paying button.

    `keep` is the button that spends nothing, where it is not "Do not run".
    """

    price: str
    counts: str
    reasons: Sequence[str]
    pay: str
    keep: str = ""


class ConfirmCostDialog(QDialog):
    """`agreed` follows when the person presses the button that carries the amount; Esc and Enter do not."""

    agreed = Signal()

    def __init__(self, parent: QWidget, question: CostQuestion) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_confirm_cost")
        self.setWindowTitle(self.tr("Before money is spent"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._ring = FocusRing(self)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(8)
        layout.addWidget(Label(question.price, "title", wrap=True, name="label_confirm_price").selectable())
        layout.addWidget(Label(question.counts, colour="text2", wrap=True, name="label_confirm_counts"))
        for number, reason in enumerate(question.reasons, start=1):
            layout.addWidget(Label(reason, wrap=True, name=f"label_confirm_reason_{number}"))
        layout.addSpacing(12)
        buttons = QHBoxLayout()
        buttons.setSpacing(8)
        buttons.addStretch(1)
        self.button_pay = Button(question.pay, "secondary", icon="run", name="button_pay")
        self.button_pay.clicked.connect(self._on_pay)
        self.button_keep = Button(question.keep or self.tr("Do not run"), "primary", name="button_do_not_run")
        self.button_keep.clicked.connect(self.reject)
        self.button_keep.setDefault(True)
        buttons.addWidget(self.button_pay)
        buttons.addWidget(self.button_keep)
        layout.addLayout(buttons)
        self.button_keep.setFocus()

    def showEvent(self, event: QShowEvent) -> None:
        # A small screen may have made it narrower than it wished, and its lines wrap more often.
        self.resize(self.width(), self.layout().totalHeightForWidth(self.width()))
        super().showEvent(event)

    def sizeHint(self) -> QSize:
        width = scaled(_WIDTH)
        # Wrapped lines need their height at this width, not at the one they would like.
        return QSize(width, self.layout().totalHeightForWidth(width))

    def _on_pay(self) -> None:
        self.accept()
        self.agreed.emit()
