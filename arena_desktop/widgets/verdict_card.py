"""The verdict: the largest thing on the page. All words are handed in; nothing is worded here."""

from __future__ import annotations

from dataclasses import dataclass, field

from PySide6.QtCore import Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import PADDING, Card, Divider
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.facts import Fact, FactColumn
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label, LeadLabel, Span


@dataclass(frozen=True, slots=True)
class VerdictButton:
    """A button below the lead: id, text, and whether it is quiet with an icon."""

    id: str
    text: str
    quiet: bool = False
    icon: str = ""


@dataclass(frozen=True, slots=True)
class VerdictText:
    """Everything the card says. `chip` empty = none; at most two facts."""

    sentence: str
    lead: tuple[Span, ...] = ()
    chip: str = ""
    chip_tone: Tone = Tone.INFO
    chip_icon: str = ""
    buttons: tuple[VerdictButton, ...] = field(default=())
    facts: tuple[Fact, ...] = field(default=())

    def plain(self) -> str:
        """Sentence and lead as plain text, for Copy summary."""
        return f"{self.sentence} {''.join(span.text for span in self.lead)}".strip()


class VerdictCard(Card):
    """Chip, sentence (`label_verdict`), lead (`label_recommendation`), buttons; facts right of a hairline.

    `below` is a layout under the buttons for what "Why this one?" unfolds.
    """

    pressed = Signal(str)

    def __init__(self, *, with_names: bool = True) -> None:
        super().__init__(padding=PADDING, spacing=0, name="card_verdict")
        row = QHBoxLayout()
        row.setSpacing(0)
        left = QVBoxLayout()
        left.setSpacing(0)
        self._specs: tuple[VerdictButton, ...] = ()
        self.chip = Chip()
        self.sentence = Label(
            "", "verdict", wrap=True, name="label_verdict" if with_names else ""
        ).selectable()
        self.lead = LeadLabel("lead", name="label_recommendation" if with_names else "")
        self._buttons = FlowLayout()
        left.addWidget(self.chip)
        left.addSpacing(12)
        left.addWidget(self.sentence)
        left.addSpacing(6)
        left.addWidget(self.lead)
        self._button_row = QWidget()
        self._button_row.setLayout(self._buttons)
        self._buttons.setContentsMargins(0, 16, 0, 0)
        left.addWidget(self._button_row)
        left.addStretch(1)
        self.below = QVBoxLayout()
        self.below.setSpacing(8)
        row.addLayout(left, 1)
        self._line = Divider(vertical=True)
        self.facts = FactColumn()
        row.addWidget(self._line)
        row.addWidget(self.facts)
        row.setSpacing(24)
        self.body.addLayout(row)
        self.body.addLayout(self.below)
        self._row = row

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        # Facts need their column and the sentence at least twice as much.
        beside = self.width() >= 3 * self.facts.column_width()
        self._row.setDirection(
            QBoxLayout.Direction.LeftToRight if beside else QBoxLayout.Direction.TopToBottom
        )
        self._line.set_vertical(beside)
        self.facts.set_column(beside)

    def set_text(self, text: VerdictText) -> None:
        """Shows a verdict."""
        self.chip.setVisible(bool(text.chip))
        if text.chip:
            self.chip.set_chip(text.chip, text.chip_tone, text.chip_icon)
        self.sentence.setText(text.sentence)
        self.sentence.setAccessibleName(text.sentence)
        self.lead.set_spans(text.lead)
        self.lead.setVisible(bool(text.lead))
        self.facts.set_facts(text.facts)
        for widget in (self._line, self.facts):
            widget.setVisible(bool(text.facts))
        self._make_buttons(text.buttons)

    def button(self, button_id: str) -> Button | None:
        """One of the buttons, by id."""
        return self.findChild(Button, f"button_{button_id}")

    def _make_buttons(self, specs: tuple[VerdictButton, ...]) -> None:
        if specs == self._specs:
            return  # the same ones keep their focus
        self._specs = specs
        while (item := self._buttons.takeAt(0)) is not None:
            old = item.widget()
            if old is not None:
                # Off the card at once: until deletion it would still be found by its name.
                old.setParent(None)
                old.deleteLater()
        for spec in specs:
            kind = "quiet" if spec.quiet else "secondary"
            button = Button(spec.text, kind, icon=spec.icon, name=f"button_{spec.id}")
            button.clicked.connect(lambda _checked=False, button_id=spec.id: self.pressed.emit(button_id))
            self._buttons.addWidget(button)
        self._button_row.setVisible(bool(specs))
