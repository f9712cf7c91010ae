"""What lies behind a leaderboard: why answers failed, tests that waver, tests that tell models apart.

`InsightsSection` is put below the leaderboard; each line leads to the answers it speaks of.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QBoxLayout, QGridLayout, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.insight_desk import InsightDesk, Insights
from arena_desktop.desks.result_desk import Result
from arena_desktop.theme.switch import set_width
from arena_desktop.views.pairs_card import PairsCard
from arena_desktop.views.setup_parts import clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import DENSE, Card, CardHead, Divider
from arena_desktop.widgets.labels import ElidedLabel, Label
from arena_desktop.widgets.strip import Message, StripStack
from arena_desktop.wording import formats
from arena_desktop.wording import insights as words
from arena_desktop.wording import marks as mark_words
from arena_desktop.wording.answers import title_of
from engine.errors import ArenaError
from engine.execution.own_marking import MarkBook

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_AT_FIRST = 5
_RATE_SHARES = (2, 2, 5)


@dataclass(frozen=True, slots=True)
class AnswersWanted:
    """Which answers a person wants to see: a heading for them, the tests, and the model if it is one."""

    title: str
    case_ids: tuple[str, ...]
    model_key: str | None = None


@dataclass(frozen=True, slots=True)
class Line:
    """One line of a card: a count or nothing, what it says, what `answers_wanted` then carries."""

    title: str
    caption: str
    wanted: object
    count: str = ""


class LinesCard(Card):
    """A heading, a sentence, and lines that lead to answers; the first few until asked for all."""

    answers_wanted = Signal(object)
    """What a line leads to."""

    def __init__(self, name: str) -> None:
        super().__init__(DENSE, spacing=8, name=f"card_{name}")
        self._name = name
        self._lines: tuple[Line, ...] = ()
        self.head = CardHead("")
        self.head.title.setWordWrap(True)
        self.body.addWidget(self.head)
        self._rows = QVBoxLayout()
        self._rows.setSpacing(0)
        self.body.addLayout(self._rows)
        self.more = Button("", "quiet", name=f"button_all_{name}")
        self.more.clicked.connect(lambda: self._show(len(self._lines)))
        self.body.addWidget(self.more)
        self.body.addStretch(1)

    def set_lines(self, title: str, caption: str, lines: Sequence[Line]) -> None:
        """Other lines."""
        self.head.title.setText(title)
        self.head.set_caption(caption)
        self._lines = tuple(lines)
        self._show(_AT_FIRST)

    def titles(self) -> list[str]:
        """What the lines say, hidden ones too."""
        return [line.title for line in self._lines]

    def _show(self, at_most: int) -> None:
        clear(self._rows)
        for number, line in enumerate(self._lines[:at_most]):
            if number:
                self._rows.addWidget(Divider())
            self._rows.addWidget(self._row(number, line))
        hidden = len(self._lines) - at_most
        self.more.setVisible(hidden > 0)
        self.more.setText(self.tr("Show {count} more").format(count=formats.whole(max(0, hidden))))

    def _row(self, number: int, line: Line) -> QWidget:
        row = QWidget()
        layout = QHBoxLayout(row)
        layout.setContentsMargins(0, 8, 0, 8)
        layout.setSpacing(12)
        if line.count:
            count = Label(line.count, "strong")
            set_width(count, 104)
            layout.addWidget(count, 0, Qt.AlignmentFlag.AlignTop)
        texts = QVBoxLayout()
        texts.setSpacing(2)
        texts.addWidget(ElidedLabel(line.title, "body"))
        if line.caption:
            texts.addWidget(Label(line.caption, "caption", colour="text2", wrap=True))
        layout.addLayout(texts, 1)
        show = Button(self.tr("Show"), "quiet", name=f"button_{self._name}_{number}")
        spoken = self.tr("Show the answers: {what}").format(what=line.title)
        show.setAccessibleName(spoken)
        show.clicked.connect(lambda: self.answers_wanted.emit(line.wanted))
        layout.addWidget(show, 0, Qt.AlignmentFlag.AlignTop)
        return row


class MarksCard(Card):
    """How far the judge, or the checks, agree with the person's own marks."""

    answers_wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__(DENSE, spacing=8, name="card_own_marks")
        self.head = CardHead("")
        self.show_marked = Button(self.tr("Show"), "quiet", name="button_show_marked")
        self.show_marked.setAccessibleName(self.tr("Show the answers you marked"))
        self.show_marked.clicked.connect(self._on_show)
        self.head.controls.addWidget(self.show_marked)
        self.body.addWidget(self.head)
        self.label = Label("", wrap=True, name="label_agreement").selectable()
        self.body.addWidget(self.label)
        self._holder = QWidget()
        self._rates = QGridLayout(self._holder)
        self._rates.setContentsMargins(0, 4, 0, 0)
        self._rates.setHorizontalSpacing(32)
        self._rates.setVerticalSpacing(4)
        self.body.addWidget(self._holder)
        self.body.addStretch(1)
        self._marked: tuple[str, ...] = ()

    def set_book(self, book: MarkBook, names: dict[str, str]) -> None:
        """Other marks."""
        self._marked = tuple(dict.fromkeys(cell.case_id for cell in book.own))
        self.show_marked.setVisible(bool(self._marked))
        self.head.title.setText(mark_words.marks_title(book.by))
        self.label.setText("\n".join(mark_words.agreement_sentences(book.report, book.by)))
        self.label.setToolTip(mark_words.luck_help() if book.report.agreement is not None else "")
        self._show_rates(book, names)

    def _show_rates(self, book: MarkBook, names: dict[str, str]) -> None:
        clear(self._rates)
        told = book.report.corrected is not None
        self._holder.setVisible(told)
        if not told:
            return
        heads = (self.tr("Model"), mark_words.rater_passed(book.by), self.tr("Put right by your marks"))
        for column, head in enumerate(heads):
            self._rates.addWidget(Label(head, "head", colour="text2", wrap=True), 0, column)
        for row, cells in enumerate(mark_words.model_rates(book.report, names), start=1):
            for column, text in enumerate(cells):
                cell = Label(text, "strong" if column == 0 else "body", wrap=True)
                self._rates.addWidget(cell, row, column)
        # Wrapping labels share the room by these; alone they would all be as narrow as a word.
        for column, share in enumerate(_RATE_SHARES):
            self._rates.setColumnStretch(column, share)

    def _on_show(self) -> None:
        self.answers_wanted.emit(AnswersWanted(self.tr("My marks"), self._marked))


class InsightsSection(QWidget):
    """Four or five cards about one run. Call `show_result`; `answers_wanted(AnswersWanted)` leads on.

    It reads in the background and stays as it was until the new figures are there.
    """

    answers_wanted = Signal(object)

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.setObjectName("section_insights")
        self._run_id = ""
        self._insights: Insights | None = None
        self._narrow = False
        self.desk = InsightDesk(context.background, context.results)
        self.desk.read.connect(self._on_read)
        self.desk.failed.connect(self._on_failed)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        self.strips = StripStack()
        self.groups = LinesCard("failure_groups")
        self.telling = LinesCard("telling_tests")
        self.flaky = LinesCard("wavering_tests")
        self.marks = MarksCard()
        self.pairs = PairsCard()
        layout.addWidget(self.strips)
        layout.addWidget(self.pairs)
        layout.addWidget(self.groups)
        self._pair = QHBoxLayout()
        self._pair.setSpacing(16)
        self._pair.addWidget(self.telling, 1)
        self._pair.addWidget(self.flaky, 1)
        layout.addLayout(self._pair)
        layout.addWidget(self.marks)
        for card in (self.groups, self.telling, self.flaky, self.marks):
            card.answers_wanted.connect(self.answers_wanted)
            card.hide()
        self.pairs.hide()

    @property
    def insights(self) -> Insights | None:
        """What is shown; None before the first."""
        return self._insights

    def show_result(self, result: Result | None) -> None:
        """Looks into another run, or the same one again after it changed."""
        if result is None or result.live:
            self._run_id = ""
            self._show_cards(None)
            return
        self._run_id = result.run_id
        self.desk.load(result)

    def set_narrow(self, narrow: bool) -> None:
        """Puts the two smaller cards below each other."""
        self._narrow = narrow
        way = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._pair.setDirection(way)

    def _on_read(self, found: Insights) -> None:
        if found.run_id != self._run_id:
            return
        self.strips.close_message("insights")
        self._show_cards(found)

    def _on_failed(self, error: ArenaError) -> None:
        self.strips.show_message(Message("insights", Tone.BAD, error.message, error.hint))

    def _show_cards(self, found: Insights | None) -> None:
        self._insights = found
        if found is None:
            for card in (self.pairs, self.groups, self.telling, self.flaky, self.marks):
                card.hide()
            return
        self.pairs.set_report(found.pairs, found.names, tuple(found.names))
        self.groups.set_lines(
            self.tr("Why answers failed"), words.groups_caption(found.groups), group_lines(found)
        )
        self.flaky.set_lines(
            self.tr("Tests that waver"), words.flaky_caption(found.flaky, found.trials), flaky_lines(found)
        )
        self.marks.set_book(found.marks, found.names)
        self.groups.show()
        self.flaky.show()
        self.marks.show()
        self._show_telling(found)

    def _show_telling(self, found: Insights) -> None:
        apart = found.first is not None and found.second is not None
        self.telling.setVisible(apart)
        if apart:
            first, second = (found.names.get(str(key), str(key)) for key in (found.first, found.second))
            caption = words.separating_caption(found.differing, found.units)
            self.telling.set_lines(words.separating_title(first, second), caption, telling_lines(found))


def _title(found: Insights, case_id: str) -> str:
    case = found.cases.get(case_id)
    return title_of(case) if case is not None else case_id


def group_lines(found: Insights) -> list[Line]:
    """The causes of failure, largest first."""
    lines = []
    for group in found.groups:
        title = words.group_title(group)
        only = next(iter(group.by_model)) if len(group.by_model) == 1 else None
        wanted = AnswersWanted(title, group.cases, only)
        lines.append(Line(title, words.group_caption(group, found.names), wanted, words.group_count(group)))
    return lines


def flaky_lines(found: Insights) -> list[Line]:
    """The tests that a model did not always answer equally well."""
    return [
        Line(
            _title(found, case.case_id),
            words.flaky_words(case, found.names),
            AnswersWanted(_title(found, case.case_id), (case.case_id,), case.model_key),
        )
        for case in found.flaky
    ]


def telling_lines(found: Insights) -> list[Line]:
    """The tests on which the two of the verdict differ, largest gap first."""
    first, second = (found.names.get(str(key), str(key)) for key in (found.first, found.second))
    return [
        Line(
            _title(found, case.case_id),
            words.separating_words(first, second, (case.first, case.second)),
            AnswersWanted(_title(found, case.case_id), (case.case_id,)),
        )
        for case in found.separating
    ]
