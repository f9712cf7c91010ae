"""Below the answers side by side: what the marks mean, which time it was asked, copying."""

from __future__ import annotations

from collections.abc import Collection

from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QSizePolicy, QWidget

from arena_desktop.widgets.answer_view import MarkKind, MarkLegend
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.flow import FlowLayout


class AnswerFoot(QWidget):
    """Holds the controls; the pane does what they say."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)
        row = FlowLayout(self, gap=12)
        place = QWidget()
        self._legend_place = QHBoxLayout(place)
        self._legend_place.setContentsMargins(0, 0, 0, 0)
        row.addWidget(place)
        row.addStretch(1)
        self._legend: MarkLegend | None = None
        self._kinds: tuple[MarkKind, ...] = ()
        self.check_together = QCheckBox(self.tr("Scroll together"))
        self.check_together.setObjectName("check_scroll_together")
        self.check_together.setChecked(True)
        self.combo_trial = Combo(self.tr("Which time it was asked"), name="combo_trial")
        self.button_copy = Button(self.tr("Copy all"), "quiet", icon="copy", name="button_copy_answers")
        self.button_copy.setAccessibleName(self.tr("Copy question and answers"))
        for widget in (self.combo_trial, self.check_together, self.button_copy):
            row.addWidget(widget)

    @property
    def trial(self) -> int:
        """Which time it was asked is looked at."""
        return int(self.combo_trial.currentData() or 1)

    def set_trials(self, trials: int) -> None:
        """How often each question was asked; once offers no choice."""
        self.combo_trial.setVisible(trials > 1)
        if self.combo_trial.count() != trials:
            self.combo_trial.clear()
            for trial in range(1, trials + 1):
                text = self.tr("Time {trial} of {trials}").format(trial=trial, trials=trials)
                self.combo_trial.addItem(text, trial)

    def show_legend(self, kinds: Collection[MarkKind]) -> None:
        """What the kinds of marks mean that stand in the answers."""
        shown = tuple(sorted(kinds))
        if shown == self._kinds and self._legend is not None:
            return
        self._kinds = shown
        if self._legend is not None:
            self._legend.hide()
            self._legend.deleteLater()
        said = {
            MarkKind.EXPECTED: self.tr("what a good answer says"),
            MarkKind.AGAINST: self.tr("goes against it"),
            MarkKind.ONLY_HERE: self.tr("only this model says it"),
        }
        self._legend = MarkLegend({kind: said[kind] for kind in shown})
        self._legend_place.addWidget(self._legend)
