"""The row above the answers: which tests to show, the text to look for, and how to look at them."""

from __future__ import annotations

from PySide6.QtCore import QTimer, Signal
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QWidget

from arena_desktop.cells import Tone
from arena_desktop.theme.switch import set_width
from arena_desktop.views.answer_choice import AnswerChoice
from arena_desktop.views.insights import AnswersWanted
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.chip import Chip
from arena_desktop.widgets.fields import Combo, FilterField
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import answers as words
from arena_desktop.wording import formats
from arena_desktop.wording.resume import retry_button, retry_sentence

_FILTER_DELAY_MS = 150


class AnswerTools(QWidget):
    """Holds the controls; the page asks for `choice` and decides what follows."""

    wanted = Signal()
    """Another choice is to be shown: at once, or a moment after the last letter."""
    clear_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.only: AnswersWanted | None = None
        self._wait = QTimer(self, singleShot=True, interval=_FILTER_DELAY_MS)
        self._wait.timeout.connect(self.wanted)
        row = FlowLayout(self)
        self._make_filter()
        self._make_switches()
        for widget in (self.combo_show, self.filter, self.chip_only, self.count, self.button_clear):
            row.addWidget(widget)
        row.addWidget(self.button_retry)
        row.addStretch(1)
        for switch in (self.check_marks, self.check_blind, self.button_table):
            row.addWidget(switch)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def _make_filter(self) -> None:
        self.combo_show = Combo(self.tr("Which tests to show"), name="combo_show")
        for key, text in (
            ("all", self.tr("All")),
            ("differ", self.tr("Where models differ")),
            ("failed", self.tr("Failed")),
            ("passed", self.tr("Passed")),
            ("unasked", self.tr("Could not be asked")),
            ("marked", self.tr("My marks")),
        ):
            self.combo_show.addItem(text, key)
        self.combo_show.activated.connect(lambda _index: self.wanted.emit())
        self.filter = FilterField(self.tr("Filter text"))
        set_width(self.filter, 200)
        self.filter.textChanged.connect(lambda _text: self._wait.start())
        self.filter.returnPressed.connect(self.wanted)
        self.count = Label("", colour="text2", name="label_filter_count")
        self.button_clear = Button(self.tr("Clear"), "quiet", name="button_clear_filter")
        self.button_clear.setAccessibleName(self.tr("Show all tests"))
        self.button_clear.clicked.connect(self.clear_wanted)
        self.chip_only = Chip(name="chip_only_these")
        self.chip_only.hide()

    def _make_switches(self) -> None:
        self.button_retry = Button("", name="button_retry_failed")
        self.button_retry.hide()
        self.check_marks = QCheckBox(self.tr("Mark differences"))
        self.check_marks.setObjectName("check_mark_differences")
        self.check_marks.setChecked(True)
        self.check_blind = QCheckBox(self.tr("Hide model names"))
        self.check_blind.setObjectName("check_hide_names")
        self.button_table = Button(self.tr("Show as table"), "quiet", name="button_all_calls")

    @property
    def choice(self) -> AnswerChoice:
        """What the controls say now."""
        return AnswerChoice(str(self.combo_show.currentData()), self.filter.text().strip(), self.only)

    def settle(self) -> None:
        """The choice is being shown: nothing more follows from the letters typed so far."""
        self._wait.stop()

    def clear(self) -> None:
        """Everything, without telling anybody."""
        self.only = None
        self.filter.clear()
        self.combo_show.setCurrentIndex(0)
        self._wait.stop()

    def show_counts(self, shown: int, total: int) -> None:
        """How many of how many are shown, and what narrows them."""
        text = self.tr("{shown} of {total} shown")
        self.count.setText(text.format(shown=formats.whole(shown), total=formats.whole(total)))
        self.count.setVisible(total > 0)
        self.button_clear.setVisible(self.choice.narrows)
        self.chip_only.setVisible(self.only is not None)
        if self.only is not None:
            self.chip_only.set_chip(words.only_these(len(self.only.case_ids), self.only.title), Tone.INFO)
            self.chip_only.setToolTip(self.only.title)

    def offer_retry(self, errors: int) -> None:
        """Offers to ask so many questions again; 0 offers nothing."""
        self.button_retry.setVisible(errors > 0)
        if errors:
            self.button_retry.setText(retry_button(errors))
            self.button_retry.setToolTip(retry_sentence(errors))

    def show_as_table(self, on: bool) -> None:
        """The switches of the table of all calls, or of the tests side by side."""
        self.button_table.setText(self.tr("Side by side") if on else self.tr("Show as table"))
        self.check_marks.setVisible(not on)
        self.check_blind.setVisible(not on)
