"""The cards of a blind duel: the question, and an answer on each side."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QTimer
from PySide6.QtGui import QResizeEvent

from arena_desktop.desks.duel_desk import Meeting
from arena_desktop.theme import scaled
from arena_desktop.theme.switch import set_width
from arena_desktop.widgets.answer_view import AnswerView
from arena_desktop.widgets.card import DENSE, Card, Divider
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.labels import LOOK_CHANGES, Label
from arena_desktop.wording.answers import question_of, reference_of

COLUMN_WIDTH = 260
_QUESTION_LINES = 6


class QuestionCard(Card):
    """What was asked, as high as its words need up to a few lines; what a good answer says, folded."""

    def __init__(self) -> None:
        super().__init__(DENSE, spacing=4, name="card_question")
        # Its own timer: it must not outlive the card.
        self._soon = QTimer(self, singleShot=True, interval=0)
        self._soon.timeout.connect(self.fit)
        self.body.addWidget(Label(self.tr("Question"), "head", colour="text2"))
        self.question = AnswerView(self.tr("Question"), name="text_question")
        self.body.addWidget(self.question)
        self.wanted = Collapsible(self.tr("What a good answer says"), name="button_wanted")
        self.reference = Label("", wrap=True, name="label_reference").selectable()
        self.wanted.content.addWidget(self.reference)
        self.body.addWidget(self.wanted)

    def show_meeting(self, meeting: Meeting) -> None:
        """Shows the question of two answers."""
        self.question.set_answer(question_of(meeting.case))
        reference = reference_of(meeting.case)
        self.reference.setText(reference)
        self.wanted.setVisible(bool(reference))
        self._soon.start()

    def fit(self) -> None:
        """Makes the question as high as its words need."""
        view = self.question
        line = view.edit.fontMetrics().lineSpacing() * 1.4
        wanted = max(line, min(view.edit.document().size().height(), line * _QUESTION_LINES))
        more = 0 if view.more.isHidden() else view.more.sizeHint().height() + 4
        view.setFixedHeight(int(wanted) + more + 4)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "wanted"):
            self._soon.start()


class SideCard(Card):
    """One of the two answers, without a name."""

    def __init__(self, title: str, spoken: str, name: str) -> None:
        super().__init__(DENSE, spacing=8, name=f"card_{name}")
        set_width(self, COLUMN_WIDTH, least=True)
        self.body.addWidget(Label(title, "strong"))
        self.body.addWidget(Divider())
        self.view = AnswerView(spoken, name=f"text_{name}")
        self.view.setMinimumHeight(scaled(120))
        self.body.addWidget(self.view, 1)
