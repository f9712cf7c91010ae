"""Scoring: how answers are marked, a place to try it, what matters most, how sure it has to be."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.cells import Tone
from arena_desktop.desks.project_checks import usual_checks
from arena_desktop.desks.project_desk import OpenProject
from arena_desktop.dialogs.change_checks import open_change_checks
from arena_desktop.dialogs.change_margin import open_change_margin
from arena_desktop.dialogs.change_weights import open_change_weights
from arena_desktop.theme import current
from arena_desktop.theme.paint import rounded
from arena_desktop.theme.switch import set_width
from arena_desktop.views.check_tester import CheckTester, Marking, marking_title
from arena_desktop.views.judge_card import JudgeCard
from arena_desktop.views.mark_again_card import MarkAgainCard
from arena_desktop.views.setup_parts import SetupView, ValueRows, clear
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, CardHead, Divider
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.labels import Label
from arena_desktop.wording.check_choice import setting_row
from arena_desktop.wording.formats import counted
from arena_desktop.wording.setup import (
    coverage_sentence,
    deciding_sentence,
    margin_sentence,
    shares,
    weights_sentence,
)
from engine.config.schema import Config
from engine.domain import CheckSpec
from engine.project import Project
from engine.scoring.options import COMMON, read_options
from engine.scoring.registry import CHECKS, canonical_check

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_SHOWN_MARKINGS = 12


def markings(project: Project) -> list[Marking]:
    """The ways of marking that the project's tests use, the most used first; without tests, its default."""
    options = project.config.scorers.options
    found: dict[tuple[object, ...], CheckSpec] = {}
    counts: dict[tuple[object, ...], int] = {}
    for case in project.cases:
        for key, spec in {_kind_of(spec): spec for spec in case.checks}.items():
            found.setdefault(key, spec)
            counts[key] = counts.get(key, 0) + 1
    if not found:
        for spec in usual_checks(project):
            found[_kind_of(spec)], counts[_kind_of(spec)] = spec, 0
    listed = []
    for key in sorted(found, key=lambda key: -counts[key]):
        spec = found[key]
        name = canonical_check(spec.type)
        values = read_options(CHECKS[name], spec.options, options)[0] if name else dict(spec.options)
        listed.append(Marking(spec, counts[key], values))
    return listed


def _kind_of(spec: CheckSpec) -> tuple[object, ...]:
    """What two checks must share to be listed as one: all but the right answer."""
    name = canonical_check(spec.type) or spec.type
    return name, repr(sorted(spec.options.items(), key=str)), spec.negate, spec.must_pass


class ScoringView(SetupView):
    """What decides the result. It is shown as text; each card has a button that changes it."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(context, "scoring", self.tr("Scoring"), scrolls=True)
        self._columns = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        self._columns.setSpacing(16)
        self._tester = CheckTester(context)
        left, right = QVBoxLayout(), QVBoxLayout()
        for column in (left, right):
            column.setSpacing(16)
        left.addWidget(self._marking_card())
        self.judge = JudgeCard(context)
        left.addWidget(self.judge)
        left.addWidget(self._tester)
        left.addStretch(1)
        right.addWidget(self._weights_card())
        right.addWidget(self._sure_card())
        self.again = MarkAgainCard(context, self)
        right.addWidget(self.again)
        right.addStretch(1)
        self._columns.addLayout(left, 3)
        self._columns.addLayout(right, 2)
        self.content.addLayout(self._columns)
        self.content.addStretch(1)
        self.begin()
        self.again.refresh()

    def set_narrow(self, narrow: bool) -> None:
        super().set_narrow(narrow)
        direction = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        self._columns.setDirection(direction)

    # what is shown

    def show_project(self, opened: OpenProject) -> None:
        project = opened.project
        listed = markings(project)
        self._show_markings(listed)
        self.judge.show_project(project)
        self._tester.show_project(project, listed)
        self._show_weights(project.config)
        self._show_sure(project.config)
        self.again.refresh()

    # parts

    def _marking_card(self) -> Card:
        card = Card(spacing=12, name="card_marking")
        head = CardHead(self.tr("How answers are marked"))
        self.button_checks = Button(self.tr("Change…"), "quiet", name="button_change_checks")
        self.button_checks.setAccessibleName(self.tr("Change how answers are marked"))
        self.button_checks.clicked.connect(self._on_change_checks)
        head.controls.addWidget(self.button_checks)
        card.body.addWidget(head)
        self._markings = QVBoxLayout()
        self._markings.setSpacing(12)
        card.body.addLayout(self._markings)
        return card

    def _weights_card(self) -> Card:
        card = Card(spacing=12, name="card_weights")
        head = CardHead(self.tr("What matters most"))
        self.button_weights = Button(self.tr("Change…"), "quiet", name="button_change_weights")
        self.button_weights.setAccessibleName(self.tr("Change what matters most"))
        self.button_weights.clicked.connect(lambda: open_change_weights(self.context, self))
        head.controls.addWidget(self.button_weights)
        card.body.addWidget(head)
        self._sentence = Label("", wrap=True, name="label_weights")
        card.body.addWidget(self._sentence)
        self._shares = QVBoxLayout()
        self._shares.setSpacing(8)
        card.body.addLayout(self._shares)
        return card

    def _sure_card(self) -> Card:
        card = Card(spacing=8, name="card_sure")
        head = CardHead(self.tr("How sure it has to be"))
        self.button_margin = Button(self.tr("Change…"), "quiet", name="button_change_margin")
        self.button_margin.setAccessibleName(self.tr("Change how sure it has to be"))
        self.button_margin.clicked.connect(lambda: open_change_margin(self.context, self))
        head.controls.addWidget(self.button_margin)
        card.body.addWidget(head)
        self._sure = QVBoxLayout()
        self._sure.setSpacing(8)
        card.body.addLayout(self._sure)
        return card

    def _on_change_checks(self) -> None:
        open_change_checks(self.context, self, lambda: CheckTester(self.context, chosen_only=True))

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.again.refresh()

    # filling

    def _show_markings(self, listed: Sequence[Marking]) -> None:
        clear(self._markings)
        for number, marking in enumerate(listed[:_SHOWN_MARKINGS]):
            if number:
                self._markings.addWidget(Divider())
            self._markings.addWidget(self._marking(marking))
        hidden = len(listed) - _SHOWN_MARKINGS
        if hidden > 0:
            more = self.tr("{count} more ways of marking are used by single tests. Test cases shows them.")
            words = Label(more.format(count=hidden), "caption", colour="text2", wrap=True)
            self._markings.addWidget(words)

    def _marking(self, marking: Marking) -> QWidget:
        part = QWidget()
        column = QVBoxLayout(part)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(4)
        head = QHBoxLayout()
        head.setSpacing(12)
        title = Label(marking_title(marking), "name", wrap=True)
        head.addWidget(title, 1)
        if marking.spec.must_pass:
            head.addWidget(Chip(self.tr("Must pass"), Tone.INFO))
        check = CHECKS.get(marking.name or "")
        if check is not None and check.paid:
            head.addWidget(Chip(self.tr("Costs extra"), Tone.WARN))
        if marking.compares_meanings:
            head.addWidget(Chip(self.tr("Asks a model"), Tone.INFO))
        tests = counted(marking.tests, self.tr("1 test"), self.tr("{count} tests"))
        head.addWidget(Label(tests, "caption", colour="text2"))
        column.addLayout(head)
        own = self.tr("Code of the project marks the answer. It runs only after you trusted the project.")
        rule = check.rule if check is not None else own
        column.addWidget(Label(rule, wrap=True, colour="text2"))
        rows = self._option_rows(marking)
        if rows:
            column.addSpacing(4)
            column.addWidget(ValueRows(rows))
        return part

    def _option_rows(self, marking: Marking) -> list[tuple[str, str]]:
        """The options that are not as usual."""
        check = CHECKS.get(marking.name or "")
        if check is None:
            return []
        rows = []
        for option in (*check.options, *COMMON):
            value = marking.options.get(option.name)
            title, words = setting_row(check, option, value)
            if words and value != option.default:
                rows.append((title, words))
        return rows

    def _show_weights(self, config: Config) -> None:
        clear(self._shares)
        weights = config.metrics.weights
        self._sentence.setText(weights_sentence(weights))
        for _metric, name, points in shares(weights):
            self._shares.addWidget(ShareBar(name, points))
        self._shares.addWidget(
            Label(deciding_sentence(config.metrics.deciding), "caption", colour="text2", wrap=True)
        )

    def _show_sure(self, config: Config) -> None:
        clear(self._sure)
        statistics = config.statistics
        if not statistics.enabled:
            off = self.tr("The project has switched this off, so a result does not say how sure it is.")
            self._sure.addWidget(Label(off, wrap=True))
            return
        for sentence in (margin_sentence(statistics.margin), coverage_sentence(statistics.min_coverage)):
            self._sure.addWidget(Label(sentence, wrap=True))


class ShareBar(QWidget):
    """A weight to look at: name, bar, share of 100."""

    def __init__(self, name: str, points: int) -> None:
        super().__init__()
        self.setAccessibleName(self.tr("{name}: {points} of 100").format(name=name, points=points))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words = Label(name, wrap=True)
        set_width(words, 140)
        row.addWidget(words)
        row.addWidget(_Bar(points), 1)
        figure = Label(str(points), "strong")
        set_width(figure, 32, least=True)
        figure.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(figure)


class _Bar(QWidget):
    """The bar alone: decoration, the figure beside it says the same."""

    def __init__(self, points: int) -> None:
        super().__init__()
        self._points = points
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(80, 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), current()
        whole = QRectF(0, 0, self.width(), 8)
        rounded(painter, whole, 4, theme.color("track"))
        if self._points > 0:
            width = max(8.0, whole.width() * self._points / 100)
            rounded(painter, QRectF(0, 0, width, 8), 4, theme.color("accent"))
