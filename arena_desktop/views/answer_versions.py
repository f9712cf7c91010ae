"""Below an answer: ask its question again, and look at what is kept beside the one that counts."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.wording import ask_again as words
from engine.domain import Answer, CaseScore

Version = tuple[Answer, CaseScore | None]
"""An answer kept for a question, with its mark; None = it has none."""


class VersionRow(QWidget):
    """Hidden while there is no choice; `button` stands where its owner puts it.

    `again_pressed`: ask once more. `chosen(int)`: the place of the answer to be shown, 0 = what counts."""

    again_pressed = Signal()
    chosen = Signal(int)

    def __init__(self, number: int) -> None:
        super().__init__()
        row = FlowLayout(self, gap=4)
        self.button = Button(words.ask_again_button(1), "quiet", name=f"button_ask_again_{number}")
        self.button.clicked.connect(self.again_pressed)
        self.combo = Combo(self.tr("Which answer"), name=f"combo_versions_{number}")
        self.combo.activated.connect(self.chosen)
        self.combo.hide()
        row.addWidget(self.combo)
        self.hide()

    def set_name(self, name: str, *, can_ask: bool) -> None:
        """Whose answer stands above; `can_ask` False where nothing was planned to be asked."""
        self.button.setAccessibleName(words.ask_again_spoken(name))
        self.button.setEnabled(can_ask)
        self.combo.setAccessibleName(words.versions_spoken(name))

    @property
    def shows_other(self) -> bool:
        """Whether an answer is chosen that does not count."""
        return self.combo.currentIndex() > 0

    def set_versions(self, versions: Sequence[Version]) -> None:
        """The answers that are kept, the counting one first. One alone offers no choice."""
        self.combo.setVisible(len(versions) > 1)
        self.setVisible(len(versions) > 1)
        if self.combo.count() != len(versions):
            self.combo.clear()
            for place in range(len(versions)):
                self.combo.addItem(words.version_name(place, len(versions)))
        self.combo.setCurrentIndex(0)
