"""The question of a test and what a good answer says, side by side above the answers."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QFrame, QHBoxLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.theme import scaled
from arena_desktop.widgets.card import DENSE, Card
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import answers as words
from engine.domain import Case

_HEIGHT = 132
_LEAST_WIDTH = 200


class QuestionCard(Card):
    """As high as its words, up to a limit from which on it scrolls."""

    def __init__(self) -> None:
        super().__init__(DENSE, spacing=4, name="card_question")
        self.scroll = QScrollArea()
        self.scroll.setWidgetResizable(True)
        self.scroll.setFrameShape(QFrame.Shape.NoFrame)
        self.scroll.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.scroll.viewport().setAutoFillBackground(False)
        self.scroll.setAccessibleName(self.tr("Question and right answer"))
        self.scroll.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        inner = QWidget()
        row = QHBoxLayout(inner)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(24)
        self.question = Label("", wrap=True, name="label_question").selectable()
        self.reference = Label("", wrap=True, name="label_reference").selectable()
        titles = (self.tr("Question"), self.tr("What a good answer says"))
        for title, label in zip(titles, (self.question, self.reference), strict=True):
            column = QVBoxLayout()
            column.setSpacing(4)
            column.addWidget(Label(title, "head", colour="text2"))
            column.addWidget(label)
            column.addStretch(1)
            row.addLayout(column, 1)
        self.scroll.setWidget(inner)
        # Giving a widget to a scroll area switches this on.
        inner.setAutoFillBackground(False)
        self.body.addWidget(self.scroll)

    def show_case(self, case: Case, width: int) -> None:
        """Another test, for a card of this width."""
        self.question.setText(words.question_of(case))
        self.reference.setText(words.reference_of(case) or words.no_reference())
        self.fit(width)

    def fit(self, width: int) -> None:
        """Takes the height that the words need in this width."""
        room = max(_LEAST_WIDTH, width - 2 * DENSE)
        wanted = self.scroll.widget().layout().totalHeightForWidth(room)
        self.scroll.setFixedHeight(min(wanted, scaled(_HEIGHT)))
