"""One model's answer beside the others: name, mark, figures, the text as it came, why."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.theme import current
from arena_desktop.theme.paint import card, draw_shape
from arena_desktop.theme.switch import set_width
from arena_desktop.theme.tokens import RADIUS_CARD
from arena_desktop.views.answer_versions import Version, VersionRow
from arena_desktop.widgets.answer_view import AnswerView, TextMark
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.fields import Combo, Spin
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import ElidedLabel, Label
from arena_desktop.wording import answers as words
from arena_desktop.wording import ask_again as again_words
from engine.domain import CallDone
from engine.stats.own_marks import OwnView

WIDTH = 260
_TONES = {"good": Tone.GOOD, "bad": Tone.BAD, "warn": Tone.WARN, "neutral": Tone.NEUTRAL}
MARKS = (None, "good", "bad")
_NO_SCORE = -1


class ModelShape(QWidget):
    """The shape and colour of a model; empty while names are hidden."""

    def __init__(self) -> None:
        super().__init__()
        self._index: int | None = None
        self.setFixedSize(14, 16)

    def set_index(self, index: int | None) -> None:
        """The model's number in the project; None draws nothing."""
        self._index = index
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._index is None:
            return
        theme, centre = current(), QRectF(self.rect()).center()
        draw_shape(QPainter(self), theme.model_shape(self._index), centre, 9, theme.model_color(self._index))


class AnswerColumn(Card):
    """A column of the Answers page. `mark_chosen` carries an OwnView, or None for no mark."""

    mark_chosen = Signal(object)
    again_pressed = Signal()

    def __init__(self, number: int) -> None:
        super().__init__(16, spacing=8, name=f"answer_column_{number}")
        self.call: CallDone | None = None
        self.head: ModelHead | None = None
        self._alias = ""
        self._kept: tuple[Version, ...] = ()
        self._text_marks: tuple[TextMark, ...] = ()
        self._at = False
        self._own: OwnView | None = None
        set_width(self, WIDTH, least=True)
        line = QHBoxLayout()
        line.setSpacing(8)
        self._shape = ModelShape()
        self.name = ElidedLabel("", "strong", name=f"label_answer_model_{number}")
        self.chip = Chip(name=f"chip_answer_{number}")
        line.addWidget(self._shape)
        line.addWidget(self.name, 1)
        line.addWidget(self.chip)
        self.body.addLayout(line)
        self.figures = Label("", "caption", colour="text2", name=f"label_answer_figures_{number}")
        self.body.addWidget(self.figures)
        self.body.addWidget(Divider())
        self.view = AnswerView(self.tr("Answer"), name=f"answer_text_{number}")
        self.body.addWidget(self.view, 1)
        self.body.addWidget(Divider())
        self.body.addWidget(Label(self.tr("Why"), "head", colour="text2"))
        self.why = Label("", wrap=True, name=f"label_answer_why_{number}").selectable()
        self.body.addWidget(self.why)
        self.body.addWidget(Label(self.tr("My mark"), "head", colour="text2"))
        self.versions = VersionRow(number)
        self.body.addLayout(self._mark_row(number))
        self.versions.again_pressed.connect(self.again_pressed)
        self.versions.chosen.connect(self._show_version)
        self.body.addWidget(self.versions)

    def _mark_row(self, number: int) -> FlowLayout:
        row = FlowLayout(gap=4)
        self.mark = Combo(self.tr("My mark"), name=f"combo_mark_{number}")
        for text, value in ((self.tr("No mark"), None), (self.tr("Good"), "good"), (self.tr("Bad"), "bad")):
            self.mark.addItem(text, value)
        self.mark.activated.connect(lambda index: self._choose(MARKS[index]))
        self.score = Spin(self.tr("My score"), _NO_SCORE, 100, name=f"spin_mark_score_{number}")
        self.score.setSpecialValueText(self.tr("no score"))
        self.score.setToolTip(self.tr("A score from 0 to 100 beside the mark, if you want to give one"))
        self.score.editingFinished.connect(self._on_score)
        row.addWidget(self.mark)
        row.addWidget(self.score)
        row.addWidget(self.versions.button)
        return row

    def _choose(self, mark: str | None) -> None:
        """Another mark; a score belonged to the one before."""
        self.set_mark(None if mark is None else OwnView(mark == "good"))
        self.mark_chosen.emit(self._own)

    def _on_score(self) -> None:
        score = None if self.score.value() == _NO_SCORE else self.score.value() / 100
        if self._own is None or score == self._own.score:
            return
        self._own = OwnView(self._own.good, score)
        self.mark_chosen.emit(self._own)

    def show_answer(
        self,
        head: ModelHead,
        call: CallDone | None,
        mark: OwnView | None,
        *,
        alias: str = "",
        text_marks: Sequence[TextMark] = (),
    ) -> None:
        """Shows an answer. `alias` takes the place of the name while names are hidden."""
        self.head, self.call, self._kept = head, call, ()
        self._text_marks = tuple(text_marks)
        self._alias, name = alias, alias or head.label
        self._shape.set_index(None if alias else head.index)
        self.name.setText(name)
        self._fill(call, text_marks)
        self.mark.setAccessibleName(self.tr("My mark for {model}").format(model=name))
        self.score.setAccessibleName(self.tr("My score for {model}").format(model=name))
        self.mark.setEnabled(call is not None and call.answer is not None)
        self.versions.set_name(name, can_ask=call is not None)
        self.versions.set_versions(())
        self.score.setEnabled(True)
        self.set_mark(mark)

    def _fill(self, call: CallDone | None, text_marks: Sequence[TextMark] = ()) -> None:
        name = self.name.text()
        text, kind = words.verdict_word(call)
        self.chip.set_chip(text, _TONES[kind])
        self.figures.setText("" if self._alias else words.figures(call))
        self.view.set_answer(words.shown_text(call), text_marks)
        self.view.edit.setAccessibleName(self.tr("Answer of {model}, {mark}").format(model=name, mark=text))
        self.view.edit.setPlaceholderText("" if words.shown_text(call) else text)
        self.why.setText(words.why(call))

    def set_versions(self, versions: Sequence[Version]) -> None:
        """The answers that are kept for this question, the counting one first."""
        self._kept = tuple(versions)
        self.versions.set_versions(versions)

    def _show_version(self, place: int) -> None:
        """Another answer of the same model; marks are only given to the one that counts."""
        call = self.call
        if call is None or place >= len(self._kept):
            return
        if place == 0:
            self._fill(call, self._text_marks)
        else:
            answer, score = self._kept[place]
            other = replace(call, answer=answer, score=score, outcome=answer.outcome, attempts=1)
            self._fill(other)
            self.why.setText(again_words.version_why(words.why(other)))
        self.mark.setEnabled(place == 0 and call.answer is not None)
        self.score.setEnabled(place == 0)

    def set_mark(self, mark: OwnView | None) -> None:
        """The person's own mark; None = none. A score can be given to an answer that has a mark."""
        self._own = mark
        self.mark.setCurrentIndex(MARKS.index(None if mark is None else "good" if mark.good else "bad"))
        self.score.setVisible(mark is not None)
        self.score.setValue(_NO_SCORE if mark is None or mark.score is None else round(mark.score * 100))

    def set_text_marks(self, marks: Sequence[TextMark]) -> None:
        """Which pieces of the answer are marked."""
        self._text_marks = tuple(marks)
        if not self.versions.shows_other:
            self.view.set_marks(marks)

    def set_at(self, at: bool) -> None:
        """Whether the keys of the list mean this answer."""
        if at != self._at:
            self._at = at
            self.update()

    @property
    def at(self) -> bool:
        """Whether the keys of the list mean this answer."""
        return self._at

    def spoken(self) -> str:
        """The answer as a screen reader says it."""
        return f"{self.name.text()}, {self.chip.text}. {self.view.answer()[:400]}"

    def hasHeightForWidth(self) -> bool:
        # The text scrolls by itself: a column is as high as there is room, not as its words would like.
        return False

    def minimumSizeHint(self) -> QSize:
        """Never so low that the reason is cut; what does not fit is scrolled to."""
        width = max(self.width(), self.minimumWidth())
        return QSize(super().minimumSizeHint().width(), self.layout().totalMinimumHeightForWidth(width))

    def paintEvent(self, event: QPaintEvent) -> None:
        if not self._at:
            super().paintEvent(event)
            return
        theme, painter = current(), QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        card(painter, QRectF(self.rect()), RADIUS_CARD, theme.color("surface"), theme.color("accent"), 2.0)
