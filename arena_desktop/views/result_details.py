"""Details of a leaderboard: the overall score term by term, tags, every pair. Built when unfolded."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QVBoxLayout, QWidget

from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.itemmodels.text_table import TextColumn, TextRow, text_rows, text_table
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_card import TableCard
from arena_desktop.wording import exact as words
from engine.config.schema import Config
from engine.stats.board import Entry, Leaderboard, PairResult
from engine.stats.metrics import Reading, reading

_TERMS = (
    TextColumn(150, stretch=1, words=True),
    TextColumn(196),
    TextColumn(270, stretch=1, words=True),
    TextColumn(100),
    TextColumn(80),
    TextColumn(80),
)
_TAGS = (TextColumn(200, stretch=1, words=True), TextColumn(140), TextColumn(300, stretch=1, words=True))
_PAIRS = (
    TextColumn(150, stretch=1, words=True),
    TextColumn(150, stretch=1, words=True),
    TextColumn(88),
    TextColumn(124),
    TextColumn(110),
    TextColumn(100),
    TextColumn(116),
    TextColumn(150, words=True),
)


class _Section(QWidget):
    """A heading with a sentence, and a table below it."""

    def __init__(self, name: str, title: str, columns: Sequence[TextColumn]) -> None:
        super().__init__()
        self._name, self._title, self._columns = name, title, columns
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        self.head = QHBoxLayout()
        self.head.setSpacing(12)
        self.head.addWidget(Label(title, "section"))
        self.head.addStretch(1)
        layout.addLayout(self.head)
        self.sentence = Label("", colour="text2", wrap=True).selectable()
        layout.addWidget(self.sentence)
        self._layout = layout
        self._rows: ColumnTable[TextRow] | None = None

    def show_rows(self, sentence: str, table: words.Table) -> None:
        """Other rows; without any the whole section is hidden."""
        heads, rows = table
        self.sentence.setText(sentence)
        self.sentence.setVisible(bool(sentence))
        self.setVisible(bool(rows))
        if self._rows is not None:
            self._rows.set_rows(text_rows(rows))
            return
        shown = ArenaTable(f"table_{self._name}", self._title)
        self._rows = text_table(heads, rows, shown, self._columns)
        shown.setModel(self._rows)
        shown.fit_rows(most=24)
        self._layout.addWidget(TableCard(shown))

    def cells(self) -> list[tuple[str, ...]]:
        """The rows that are shown."""
        return [row.cells for row in self._rows.shown_rows()] if self._rows is not None else []


class ResultDetails(Collapsible):
    """Closed at first. `show_board` is cheap while it is closed."""

    def __init__(self) -> None:
        super().__init__(self.tr("Details: how the scores are made, exact figures"), name="button_details")
        self._board: Leaderboard | None = None
        self._config: Config | None = None
        self._readings: dict[str, Reading] = {}
        self._pairs_of: tuple[tuple[PairResult, ...], str, float] | None = None
        self._is_built = self._is_stale = False
        self.toggled.connect(lambda _opened: self._fill())

    def show_board(self, board: Leaderboard, config: Config | None) -> None:
        """Another board. Without a config it is not known how values were put on their scales."""
        self._board, self._config = board, config
        self._is_stale = True
        self._fill()

    # inside

    def _fill(self) -> None:
        board = self._board
        if board is None or not self.is_open() or not self._is_stale:
            return
        self._is_stale = False
        if not self._is_built:
            self._build()
        rules = self._config.metrics.rules if self._config is not None else None
        self._readings = {name: reading(name, rules) for name in board.weights} if rules is not None else {}
        self._fill_models(board)
        self._show_model()
        # Weights that are tried change no pair.
        if self._pairs_of != (board.pairs, board.deciding, board.margin):
            self._pairs_of = (board.pairs, board.deciding, board.margin)
            self.pairs.show_rows(words.pairs_sentence(board), words.pairs_table(board))

    def _build(self) -> None:
        self._is_built = True
        self.content.setSpacing(24)
        self.terms = _Section("score_terms", self.tr("How the overall score is made"), _TERMS)
        self.combo_model = Combo(self.tr("Model whose score is taken apart"), name="combo_score_model")
        self.combo_model.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.combo_model.activated.connect(lambda _index: self._show_model())
        self.terms.head.addWidget(self.combo_model, 0, Qt.AlignmentFlag.AlignRight)
        self.tags = _Section("score_tags", self.tr("By tag"), _TAGS)
        self.pairs = _Section("score_pairs", self.tr("Every pair of models, in exact figures"), _PAIRS)
        for section in (self.terms, self.tags, self.pairs):
            self.content.addWidget(section)

    def _fill_models(self, board: Leaderboard) -> None:
        chosen = self.combo_model.currentData()
        self.combo_model.clear()
        for entry in board.entries:
            if entry.composite is not None:
                self.combo_model.addItem(entry.label, entry.model_key)
        self.combo_model.setCurrentIndex(max(0, self.combo_model.findData(chosen)))

    def _entry(self) -> Entry | None:
        key, board = self.combo_model.currentData(), self._board
        return next((entry for entry in board.entries if entry.model_key == key), None) if board else None

    def _show_model(self) -> None:
        board, entry = self._board, self._entry()
        self.terms.setVisible(entry is not None)
        self.tags.setVisible(entry is not None)
        if board is None or entry is None:
            return
        sentence = words.listed((words.terms_sentence(board, entry), words.cost_sentence(entry)))
        self.terms.show_rows(sentence, words.terms_table(board, entry, self._readings))
        self.tags.show_rows("", words.tags_table(board, entry))
