"""A table in its card, with foot, empty state and a row for finding."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedLayout, QWidget

from arena_desktop.cells import Column, ScoreCell, Tie
from arena_desktop.theme import current
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.cell_figures import paint_bracket, paint_score
from arena_desktop.widgets.cell_pen import Pen
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.filter_bar import FilterBar as FilterBar
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_find import FindRow


class _OnTop(QStackedLayout):
    """As high as the page on top, not as the highest of all."""

    def sizeHint(self) -> QSize:
        widget = self.currentWidget()
        return widget.sizeHint() if widget is not None else super().sizeHint()

    def minimumSize(self) -> QSize:
        widget = self.currentWidget()
        return _least(widget) if widget is not None else super().minimumSize()

    def hasHeightForWidth(self) -> bool:
        widget = self.currentWidget()
        return widget is not None and widget.hasHeightForWidth()

    def heightForWidth(self, width: int) -> int:
        widget = self.currentWidget()
        return widget.heightForWidth(width) if widget is not None else -1


def _least(widget: QWidget) -> QSize:
    """What a layout would take as the least size of a widget."""
    hint = widget.minimumSizeHint()
    policy = widget.sizePolicy()
    if policy.verticalPolicy() == QSizePolicy.Policy.Fixed:
        hint.setHeight(widget.sizeHint().height())
    return hint.expandedTo(widget.minimumSize()).boundedTo(widget.maximumSize())


class TableCard(Card):
    """An `ArenaTable` on a card. `foot` (made by `add_foot`) is a row below a hairline.

    With `set_empty` the table gives way to an empty state while its model has no rows at all; when
    only the filter hides everything, the sentence says so and offers to clear it. A table without a
    filter field of its own gets one above it when it is asked for (Ctrl+F).
    """

    empty_pressed = Signal()
    clear_pressed = Signal()
    """Everything is hidden and the person wants to see it: for pages with controls of their own."""

    def __init__(self, table: ArenaTable) -> None:
        super().__init__(padding=0, spacing=0)
        # A frame's radius does not clip its children: keep them off the round corners.
        self.body.setContentsMargins(1, 4, 1, 6)
        self.table = table
        self._stack = _OnTop()
        self._stack.currentChanged.connect(self._on_turned)
        # A stack shows what is put in; without a place of its own that would be a window.
        self.body.addLayout(self._stack, 1)
        self._stack.addWidget(table)
        self._empty: EmptyState | None = None
        self._nothing = EmptyState("", "", drawing=False)
        self._nothing.set_texts(self.tr("Nothing matches the filter."), "", self.tr("Clear the filter"))
        self._nothing.button.set_kind("secondary")
        self._nothing.pressed.connect(lambda: table.rows.set_filter(""))
        self._nothing.pressed.connect(self.clear_pressed)
        self._stack.addWidget(self._nothing)
        self._watched = False
        self._find_row: FindRow | None = None
        table.find_wanted.connect(self._on_find)

    def set_empty(self, heading: str, sentence: str, button: str = "", *, icon: str = "") -> None:
        """The empty state. Call after the table has its model."""
        if self._empty is not None:
            self._empty.set_texts(heading, sentence, button)
            return
        self._empty = EmptyState(heading, sentence, button, icon=icon)
        self._empty.pressed.connect(self.empty_pressed)
        self._stack.addWidget(self._empty)
        self.watch()

    def watch(self) -> None:
        """Follows the counts of the table's model from now on."""
        if not self._watched:
            self._watched = True
            self.table.rows.counts_changed.connect(self._on_counts)
        self._on_counts(self.table.rows.shown_count(), self.table.rows.total_count())

    def add_foot(self) -> FlowLayout:
        """A row below the table, for legends and counts."""
        self.table.setProperty("last_line", False)
        self.body.addWidget(Divider())
        holder = QWidget()
        row = FlowLayout(holder, gap=24, line_gap=4)
        row.setContentsMargins(20, 8, 20, 4)
        self.body.addWidget(holder)
        return row

    def _on_find(self) -> None:
        if self._find_row is None:
            self.watch()
            self._find_row = FindRow(self.table)
            self.body.insertWidget(self.body.indexOf(self._stack), self._find_row)
        self._find_row.open()

    def _on_turned(self, _index: int) -> None:
        self._stack.invalidate()
        self.updateGeometry()

    def _on_counts(self, shown: int, total: int) -> None:
        if total == 0 and self._empty is not None:
            self._stack.setCurrentWidget(self._empty)
        elif shown == 0 and total > 0:
            self._stack.setCurrentWidget(self._nothing)
        else:
            self._stack.setCurrentWidget(self.table)


class Legend(QWidget):
    """A small drawing with its words, for the foot of a table. `kind`: tie or score."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__()
        self._kind = kind
        row = QHBoxLayout(self)
        row.setContentsMargins({"tie": 18, "score": 45}[kind], 0, 0, 0)
        self._label = Label(text, "caption", colour="text2", wrap=True)
        row.addWidget(self._label)

    def sizeHint(self) -> QSize:
        # All in one line; a wrapped label would ask for a square.
        metrics = QFontMetricsF(self._label.font())
        width = metrics.horizontalAdvance(self._label.text()) + self.layout().contentsMargins().left() + 2
        return QSize(int(width) + 1, max(20, int(metrics.height()) + 1))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), current()
        middle = self.height() / 2
        if self._kind == "tie":
            # One short bracket: the two halves of a row that is 15 px high with the usual inset of 11.
            paint_bracket(painter, theme, Tie.FIRST, 8, QRectF(0, middle - 18, 10, 18))
            paint_bracket(painter, theme, Tie.LAST, 8, QRectF(0, middle, 10, 18))
            return
        box = QRectF(0, middle - 8, 36, 16)
        column: Column[None] = Column("legend", "", lambda _row: "")
        pen = Pen(painter, theme, box, box, theme.color("surface"), column)
        paint_score(pen, ScoreCell(54, 0, 100), box)
