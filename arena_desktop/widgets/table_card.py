"""A table in its card with foot and empty state, and the bar above it: filter, count, columns."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QFontMetricsF, QPainter, QPaintEvent
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QStackedLayout, QWidget

from arena_desktop.cells import Column, ScoreCell, Tie
from arena_desktop.theme import current, text_scale
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.card import Card, Divider
from arena_desktop.widgets.cell_figures import paint_bracket, paint_score
from arena_desktop.widgets.cell_pen import Pen
from arena_desktop.widgets.empty_state import EmptyState
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable

_FILTER_DELAY_MS = 120


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
    only the filter hides everything, the sentence says so and offers to clear it.
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


class _BeforeLast(FlowLayout):
    """The page's own controls stand between the field and the count."""

    last: QWidget | None = None

    def addWidget(self, widget: QWidget) -> None:
        super().addWidget(widget)
        if self.last is not None:
            self._items.insert(self.count() - 2, self._items.pop())
            self.invalidate()


class FilterBar(QWidget):
    """Filter field, the page's own controls, "14 of 50 shown" with Clear, and "Columns…".

    Ctrl+F focuses the field (the window forwards it). `extra` is the layout for own controls.
    """

    def __init__(
        self, table: ArenaTable, placeholder: str = "", *, name: str = "edit_filter", columns: bool = True
    ) -> None:
        super().__init__()
        self._table = table
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.extra = _BeforeLast(gap=16)
        row.addLayout(self.extra, 1)
        self.field = FilterField(placeholder or self.tr("Filter"), name=name)
        self.field.setFixedWidth(round(220 * min(1.5, text_scale())))
        self.extra.addWidget(self.field)
        self.count = Label("", "body", colour="text2", name="label_filter_count")
        self.clear = Button(self.tr("Clear"), "quiet", name="button_clear_filter")
        self.clear.setAccessibleName(self.tr("Clear the filter"))
        self.clear.clicked.connect(self.clear_filter)
        self._shown = QWidget()
        shown = QHBoxLayout(self._shown)
        shown.setContentsMargins(0, 0, 0, 0)
        shown.setSpacing(4)
        shown.addWidget(self.count)
        shown.addWidget(self.clear)
        self.extra.addWidget(self._shown)
        self.extra.last = self._shown
        self._counted = True
        self.columns = Button(self.tr("Columns…"), "quiet", name="button_columns")
        self.columns.clicked.connect(self._on_columns)
        row.addWidget(self.columns, 0, Qt.AlignmentFlag.AlignTop)
        self.columns.setVisible(columns)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._wait = QTimer(self, singleShot=True, interval=_FILTER_DELAY_MS)
        self._wait.timeout.connect(self.apply)
        self.field.textChanged.connect(lambda _text: self._wait.start())
        self.field.returnPressed.connect(self.apply)
        self._follow()

    def apply(self) -> None:
        """Filters with the text in the field now."""
        self._wait.stop()
        self._table.rows.set_filter(self.field.text())
        self._table.looks_changed.emit()
        self._show_count()

    def hide_count(self) -> None:
        """For pages on which the count would only repeat what the table shows."""
        self._counted = False
        self._show_count()

    def clear_filter(self) -> None:
        """Shows all rows again and keeps the focus in the field."""
        self.field.clear()
        self.apply()
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def _follow(self) -> None:
        if self._table.model() is None:
            return
        self._table.rows.counts_changed.connect(self._show_count)
        self.field.setText(self._table.rows.filter_text())
        self._wait.stop()
        self._show_count()

    def _show_count(self, *_counts: int) -> None:
        rows = self._table.rows
        if self.field.text() and not rows.filter_text() and not self._wait.isActive():
            self.field.clear()
            self._wait.stop()
        text = self.tr("{shown} of {total} shown").format(shown=rows.shown_count(), total=rows.total_count())
        self.count.setText(text)
        self.count.setVisible(rows.total_count() > 0)
        self.clear.setVisible(bool(rows.filter_text()))
        shown = rows.total_count() > 0 and (self._counted or bool(rows.filter_text()))
        self._shown.setVisible(shown)
        self.extra.invalidate()

    def _on_columns(self) -> None:
        menu = self._table.columns_menu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self.columns.mapToGlobal(self.columns.rect().bottomLeft()))


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
