"""The table of the Leaderboard, with its filter and its legends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QCheckBox, QVBoxLayout, QWidget

from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.itemmodels.leaderboard import BoardRow, board_rows, bracketed, leaderboard_columns
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.widgets.kept_choices import KeptChoices
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import FilterBar, Legend, TableCard
from arena_desktop.wording import board as words
from engine.stats.board import Leaderboard

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_USUAL_METRICS = frozenset(
    {"accuracy", "pass_rate", "reliability", "cost", "latency", "latency_p95", "tokens", "error_rate"}
)


class BoardTable(QWidget):
    """One row for each model. A model without its must-haves can be left out of the view."""

    def __init__(self, context: AppContext) -> None:
        super().__init__()
        self.table = ArenaTable("table_leaderboard", self.tr("Leaderboard"))
        self.rows: ColumnTable[BoardRow] = ColumnTable(
            leaderboard_columns(), key=lambda r: r.key, muted=lambda r: r.out, parent=self.table
        )
        self.table.setModel(self.rows)
        self.rows.layoutChanged.connect(self._bracket)
        self.rows.modelReset.connect(self._bracket)
        self.table.fit_rows()
        self.table.remember(context.settings)
        self.bar = FilterBar(self.table, self.tr("Filter models"))
        self.check_meets = QCheckBox(self.tr("Only models that meet my must-haves"))
        self.check_meets.setObjectName("check_only_meeting")
        self.check_meets.toggled.connect(self._on_meets)
        KeptChoices(context.settings, "results", self).keep_switch(self.check_meets)
        self.bar.extra.addWidget(self.check_meets)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(16)
        layout.addWidget(self.bar)
        layout.addWidget(self._card())

    def _card(self) -> TableCard:
        card = TableCard(self.table)
        foot = card.add_foot()
        self._tie = Legend("tie", "")
        foot.addWidget(self._tie)
        self._score = Legend("score", words.score_legend())
        self.label_preview = Label(
            words.preview_legend(), "caption", colour="accentText", name="label_preview"
        )
        self.label_preview.hide()
        foot.addWidget(self._score)
        foot.addWidget(self.label_preview)
        foot.addStretch(1)
        return card

    def show_board(
        self, board: Leaderboard, heads: Mapping[str, ModelHead], *, must_haves: bool, trial: bool
    ) -> None:
        """Shows the rows of a board. `trial`: under other weights than the project's."""
        own = sorted({name for entry in board.entries for name in entry.metrics} - _USUAL_METRICS)
        wanted = [column.id for column in leaderboard_columns(own)]
        if [column.id for column in self.rows.columns] != wanted:
            self.rows.set_columns(leaderboard_columns(own))
        rows = board_rows(board, heads, must_haves=must_haves)
        self.rows.set_rows(rows)
        self._bracket()
        self.check_meets.setVisible(must_haves)
        if self.check_meets.isChecked():
            self._on_meets(True)
        self._show_tie(board.cases, any(row.tied for row in rows))
        self._score.setVisible(not trial)
        self.label_preview.setVisible(trial)

    def _bracket(self) -> None:
        """The bracket follows the order that the table stands in."""
        shown = self.rows.shown_rows()
        for before, after in zip(shown, bracketed(shown), strict=True):
            if before is not after:
                self.rows.replace(after)

    def _show_tie(self, tests: int, tied: bool) -> None:
        label = self._tie.findChild(Label)
        if label is not None:
            label.setText(words.tie_legend(tests))
        self._tie.setVisible(tied)

    def _on_meets(self, only: bool) -> None:
        # The box keeps its tick from project to project; where it is not shown it must not hide rows.
        only = only and not self.check_meets.isHidden()
        self.rows.set_predicate((lambda row: row.meets) if only else None)
