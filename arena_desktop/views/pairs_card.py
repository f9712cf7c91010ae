"""The card of a judge's comparisons: one ranking of the models, as a blind duel shows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.itemmodels.duel import DuelRow, duel_columns
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.widgets.card import CardHead
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import Legend, TableCard
from arena_desktop.wording import pairs as words
from engine.stats.judged_pairs import PairReport


class PairsCard(TableCard):
    """Hidden until `set_report` is given something to show."""

    def __init__(self) -> None:
        table = ArenaTable("table_pairs", self.tr("Which model the second AI prefers"))
        super().__init__(table)
        self.setObjectName("card_pairs")
        self.rows: ColumnTable[DuelRow] = ColumnTable(
            duel_columns(), key=lambda row: row.preference.model_key, parent=table
        )
        table.setModel(self.rows)
        table.fit_rows()
        self.head = CardHead("", words.pairs_caution())
        self.head.title.setWordWrap(True)
        self.sentences = Label("", wrap=True, name="label_pairs").selectable()
        top = QWidget()
        above = QVBoxLayout(top)
        above.setContentsMargins(20, 12, 20, 8)
        above.setSpacing(8)
        above.addWidget(self.head)
        above.addWidget(self.sentences)
        self.body.insertWidget(0, top)
        foot = self.add_foot()
        foot.addWidget(Legend("score", words.pairs_legend()))

    def set_report(self, report: PairReport | None, names: Mapping[str, str], order: Sequence[str]) -> None:
        """Another run's comparisons; None where it has none. `order` are all models in project order."""
        self.setVisible(report is not None)
        if report is None:
            self.rows.set_rows([])
            return
        self.head.title.setText(words.pairs_title(report, names))
        self.sentences.setText("\n".join(words.pairs_sentences(report, names)))
        place = {key: number for number, key in enumerate(order)}
        self.rows.set_rows(
            [
                DuelRow(names.get(row.model_key, row.model_key), place.get(row.model_key, 0), row)
                for row in report.result.rows
            ]
        )
