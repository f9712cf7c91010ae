"""The bar above a table: filter, the page's own controls, how many rows are shown, columns."""

from __future__ import annotations

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QHBoxLayout, QSizePolicy, QWidget

from arena_desktop.theme import text_scale
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.table import ArenaTable

_FILTER_DELAY_MS = 120


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
        self,
        table: ArenaTable,
        placeholder: str = "",
        *,
        name: str = "edit_filter",
        columns: bool = True,
        passing: bool = False,
    ) -> None:
        """`passing`: it is there while somebody looks for something; the table remembers no filter."""
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
        self.field.down_pressed.connect(lambda: table.setFocus(Qt.FocusReason.ShortcutFocusReason))
        if not passing:
            table.set_filter_field(self.field)
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
        self._show_count()

    def _show_count(self, *_counts: int) -> None:
        rows = self._table.rows
        if self.field.text() != rows.filter_text() and not self._wait.isActive():
            # Somebody else set it: a remembered filter, or "Clear the filter" on the card.
            self.field.setText(rows.filter_text())
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
