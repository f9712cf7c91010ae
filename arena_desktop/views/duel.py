"""Blind duel: two answers without names, a choice by key, and a result only after stopping."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QResizeEvent, QShortcut, QShowEvent
from PySide6.QtWidgets import QGridLayout, QHBoxLayout, QStackedWidget, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.duel_desk import DuelDesk, Meeting, Reveal
from arena_desktop.itemmodels.duel import DuelRow, duel_columns
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme import scaled
from arena_desktop.theme.switch import set_width
from arena_desktop.views.duel_cards import COLUMN_WIDTH, QuestionCard, SideCard
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label, Span
from arena_desktop.widgets.page import MARGIN, Page
from arena_desktop.widgets.strip import Message
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import Legend, TableCard
from arena_desktop.widgets.verdict_card import VerdictButton, VerdictCard, VerdictText
from arena_desktop.wording import duel as words
from engine.errors import ArenaError
from engine.stats.duels import LEFT, RIGHT, SKIP, TIE

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_TONES = {"info": Tone.INFO, "good": Tone.GOOD, "warn": Tone.WARN, "neutral": Tone.NEUTRAL}
_KEYS = {
    LEFT: (Qt.Key.Key_1, Qt.Key.Key_Left),
    RIGHT: (Qt.Key.Key_2, Qt.Key.Key_Right),
    TIE: (Qt.Key.Key_0, Qt.Key.Key_Down),
    SKIP: (Qt.Key.Key_S,),
}
_NOTHING, _VOTING, _RESULT = range(3)


class DuelView(Page):
    """The page `duel`, opened from Answers and Leaderboard for the run on show.

    Until voting is stopped it holds texts of answers and no name, key or id of a model.
    """

    def __init__(self, context: AppContext) -> None:
        super().__init__("duel", self.tr("Which answer is better?"))
        self.context = context
        self.desk = DuelDesk(context.background, context.results, cover=words.covered_name())
        self.desk.shown.connect(self._on_shown)
        self.desk.revealed.connect(self._on_revealed)
        self.desk.failed.connect(self._on_failed)
        self._copied = ""
        self._add_controls()
        self.stack = QStackedWidget()
        self.nothing = EmptyState("", "")
        self.nothing.pressed.connect(lambda: context.page_wanted.emit("answers"))
        self.stack.addWidget(self.nothing)
        self.stack.addWidget(self._voting())
        self.stack.addWidget(self._result())
        self.body.addWidget(self.stack, 1)
        self._add_keys()
        context.results.shown.connect(lambda _result: self._follow())
        self._say_nothing(self.tr("No results yet."), self.tr("A duel needs the answers of a run."))

    # parts

    def _add_controls(self) -> None:
        self.button_undo = Button(self.tr("Undo"), "quiet", name="button_duel_undo", tip=self.tr("Undo (Z)"))
        self.button_undo.clicked.connect(self.desk.undo)
        self.button_stop = Button(
            self.tr("Stop and show the result"), name="button_duel_stop", tip=self.tr("Stop (Esc)")
        )
        self.button_stop.clicked.connect(self.desk.stop)
        for button in (self.button_undo, self.button_stop):
            self.header.controls.addWidget(button)

    def _voting(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        self.question = QuestionCard()
        layout.addWidget(self.question)
        self.sides = QGridLayout()
        self.sides.setSpacing(16)
        self.left = SideCard(self.tr("Left"), self.tr("Left answer"), "left")
        self.right = SideCard(self.tr("Right"), self.tr("Right answer"), "right")
        layout.addLayout(self.sides, 1)
        self._seat()
        layout.addLayout(self._choices())
        self.keys = Label(words.keys_sentence(), "caption", colour="text2", wrap=True, name="label_duel_keys")
        self.keys.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        layout.addWidget(self.keys)
        return page

    def _seat(self) -> None:
        below = self.narrow and self.width() < 2 * scaled(COLUMN_WIDTH) + 16 + 2 * MARGIN
        self.sides.addWidget(self.left, 0, 0)
        self.sides.addWidget(self.right, 1 if below else 0, 0 if below else 1)

    def _choices(self) -> QHBoxLayout:
        middle = QHBoxLayout()
        row = FlowLayout()
        middle.addStretch(1)
        middle.addLayout(row)
        middle.addStretch(1)
        self.choices: dict[str, Button] = {}
        for choice, text, tip, kind in (
            (LEFT, self.tr("Left is better"), self.tr("Left is better (1)"), "secondary"),
            (TIE, self.tr("Both the same"), self.tr("Both the same (0)"), "secondary"),
            (RIGHT, self.tr("Right is better"), self.tr("Right is better (2)"), "secondary"),
            (SKIP, self.tr("Skip"), self.tr("Skip (S)"), "quiet"),
        ):
            button = Button(text, kind, name=f"button_duel_{choice}", tip=tip)
            if kind == "secondary":
                set_width(button, 144, least=True)
            button.clicked.connect(lambda _on=False, chosen=choice: self.choose(chosen))
            self.choices[choice] = button
            row.addWidget(button)
        return middle

    def _result(self) -> QWidget:
        page = QWidget()
        layout = QVBoxLayout(page)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        self.verdict = VerdictCard(with_names=False)
        self.verdict.sentence.setObjectName("label_duel_verdict")
        self.verdict.pressed.connect(self._on_result_button)
        layout.addWidget(self.verdict)
        self.table = ArenaTable("table_duel", self.tr("Which model you prefer"))
        self.rows: ColumnTable[DuelRow] = ColumnTable(
            duel_columns(), key=lambda row: row.preference.model_key, parent=self.table
        )
        self.table.setModel(self.rows)
        self.table.fit_rows()
        self.table_card = TableCard(self.table)
        foot = self.table_card.add_foot()
        foot.addWidget(Legend("score", words.table_sentence()))
        foot.addStretch(1)
        layout.addWidget(self.table_card)
        self.caution = Label(words.caution_sentence(), "caption", colour="text2", wrap=True)
        self.caution.setObjectName("label_duel_caution")
        layout.addWidget(self.caution)
        layout.addStretch(1)
        return page

    def _add_keys(self) -> None:
        keys = [
            (key, lambda choice=choice: self.choose(choice)) for choice, ks in _KEYS.items() for key in ks
        ]
        keys += [(Qt.Key.Key_Z, self.desk.undo), (Qt.Key.Key_Escape, self._on_escape)]
        for key, act in keys:
            shortcut = QShortcut(QKeySequence(key), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(act)

    # doing

    def open_run(self, run_id: str) -> None:
        """Takes up the duel over the answers of a run."""
        self._say_nothing(self.tr("Reading the answers…"), "")
        self.desk.open(run_id)

    def choose(self, choice: str) -> None:
        """Votes for what is on show."""
        if self.stack.currentIndex() == _VOTING:
            self.desk.choose(choice)

    def _on_escape(self) -> None:
        if self.strips.close_newest():
            return
        if self.desk.is_revealed or not self.desk.standing.votes:
            self.context.page_left.emit()
        else:
            self.desk.stop()

    def _on_result_button(self, button: str) -> None:
        if button == "go_on":
            self.desk.go_on()
        elif button == "answers":
            self.context.page_wanted.emit("answers")
        else:
            QGuiApplication.clipboard().setText(self._copied)
            self.strips.show_message(Message("copied", Tone.GOOD, self.tr("The result is copied.")))

    # what is shown

    def _follow(self) -> None:
        """Goes along with the run on show, while this page is looked at."""
        result = self.context.results.result
        if not self.isVisible():
            return
        if result is None:
            self._say_nothing(self.tr("No results yet."), self.tr("A duel needs the answers of a run."))
        elif result.run_id != self.desk.run_id:
            self.open_run(result.run_id)

    def _say_nothing(self, heading: str, sentence: str, button: str = "") -> None:
        self.nothing.set_texts(heading, sentence, button)
        self._show_part(_NOTHING)

    def _show_part(self, part: int) -> None:
        if part != _RESULT:
            # Nothing of an earlier result stays while names are hidden.
            self.rows.set_rows([])
            self.verdict.set_text(VerdictText(""))
            self._copied = ""
        self.stack.setCurrentIndex(part)
        standing = self.desk.standing
        self.button_undo.setVisible(part != _RESULT and standing.given > 0)
        self.button_undo.setEnabled(standing.can_undo)
        self.button_stop.setVisible(part == _VOTING or (part == _NOTHING and standing.given > 0))
        self.button_stop.setEnabled(standing.votes > 0)
        progress = words.progress_sentence(standing) if part == _VOTING else ""
        self.header.set_title(self._title(part), progress)

    def _title(self, part: int) -> str:
        return self.tr("Your blind votes") if part == _RESULT else self.tr("Which answer is better?")

    def _on_shown(self, meeting: Meeting | None) -> None:
        self.strips.close_message("duel")
        if meeting is None:
            standing = self.desk.standing
            button = "" if standing.given else self.tr("Back to the answers")
            self._say_nothing(*words.nothing_words(standing.models, standing.given), button)
            return
        self.question.show_meeting(meeting)
        self.left.view.set_answer(meeting.left)
        self.right.view.set_answer(meeting.right)
        first = self.stack.currentIndex() != _VOTING
        self._show_part(_VOTING)
        if first and self.isVisible():
            self.choices[LEFT].setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self, self.tr("Next two answers. {progress}").format(progress=self.header.subtitle.text()))

    def _on_revealed(self, reveal: Reveal) -> None:
        names = {model.key: model.label or model.key for model in reveal.models}
        said = words.result_words(reveal.result, names)
        self._copied = words.copy_text(said, reveal.result, names)
        self.verdict.set_text(
            VerdictText(
                sentence=said.headline,
                lead=(Span(said.lead),),
                chip=said.chip,
                chip_tone=_TONES[said.kind],
                buttons=(
                    VerdictButton("go_on", self.tr("Go on voting")),
                    VerdictButton("answers", self.tr("Back to the answers")),
                    VerdictButton("copy", self.tr("Copy the result"), quiet=True, icon="copy"),
                ),
            )
        )
        index = {model.key: number for number, model in enumerate(reveal.models)}
        self.rows.set_rows(
            [DuelRow(names[row.model_key], index[row.model_key], row) for row in reveal.result.rows]
        )
        self.table_card.setVisible(bool(reveal.result.rows))
        self._show_part(_RESULT)
        first = self.verdict.button("go_on")
        if first is not None and self.isVisible():
            first.setFocus(Qt.FocusReason.OtherFocusReason)
        announce(self, f"{said.headline} {said.lead}")

    def _on_failed(self, error: ArenaError) -> None:
        self.strips.show_message(Message("duel", Tone.BAD, error.message, error.hint))

    # Qt

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        if hasattr(self, "sides"):
            self._seat()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        if hasattr(self, "sides"):
            self._seat()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._follow()
