"""The list of tests at the left of the Answers page, with its steps and keys."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from arena_desktop.itemmodels.answer_tests import TestRow, list_columns
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.theme.switch import set_width
from arena_desktop.widgets.buttons import IconButton
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import answers as words

_LEAST_WIDTH = 220
_STEPS = {Qt.Key.Key_Left: -1, Qt.Key.Key_Right: 1}
_MARKS = {Qt.Key.Key_G: "good", Qt.Key.Key_B: "bad"}


class TestList(TableCard):
    """Up and down choose a test; left and right an answer, G and B mark it (the page listens)."""

    __test__ = False

    answer_stepped = Signal(int)
    answer_marked = Signal(str)

    def __init__(self) -> None:
        tests = ArenaTable("table_tests", QCoreApplication.translate("TestList", "Tests"), lines=3)
        super().__init__(tests)
        self.tests = tests
        self.rows: ColumnTable[TestRow] = ColumnTable(
            list_columns((), blind=False), key=lambda row: row.case.id, parent=tests
        )
        tests.setModel(self.rows)
        self.tests.installEventFilter(self)
        set_width(self, _LEAST_WIDTH, least=True)
        self.watch()
        self._make_foot()

    def _make_foot(self) -> None:
        foot = self.add_foot()
        foot.setContentsMargins(12, 8, 20, 4)
        self.button_up = IconButton("up", self.tr("Test before"), name="button_test_before")
        self.button_down = IconButton("down", self.tr("Next test"), name="button_test_next")
        self.button_up.clicked.connect(lambda: self.step(-1))
        self.button_down.clicked.connect(lambda: self.step(1))
        self.label_at = Label("", colour="text2", name="label_test_at")
        steps = QWidget()
        row = QHBoxLayout(steps)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.button_up)
        row.addWidget(self.button_down)
        foot.addWidget(steps)
        foot.addStretch(1)
        foot.addWidget(self.label_at)

    @property
    def current(self) -> TestRow | None:
        """The test that is looked at."""
        found: TestRow | None = self.tests.current_record()
        return found

    def set_heads(self, heads: Sequence[ModelHead], *, blind: bool) -> None:
        """The models whose marks stand beside each test; `blind` hides who passed."""
        self.rows.set_columns(list_columns(heads, blind=blind))

    def step(self, by: int) -> None:
        """The test before or the next one."""
        row = self.current
        at = self.rows.row_of(row.case.id) if row is not None else -1
        to = min(self.rows.shown_count() - 1, max(0, at + by))
        if to >= 0:
            self.tests.select_key(self.rows.row_key(to))

    def show_place(self) -> None:
        """Which of the tests shown is looked at."""
        row = self.current
        at = self.rows.row_of(row.case.id) + 1 if row is not None else 0
        self.label_at.setText(words.at_of(at, self.rows.shown_count()))

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self.tests and event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            return self._key(event)
        return super().eventFilter(watched, event)

    def _key(self, event: QKeyEvent) -> bool:
        if event.modifiers() & ~Qt.KeyboardModifier.KeypadModifier:
            return False
        key = Qt.Key(event.key())
        if key in _STEPS:
            self.answer_stepped.emit(_STEPS[key])
            return True
        if key in _MARKS:
            self.answer_marked.emit(_MARKS[key])
            return True
        return False
