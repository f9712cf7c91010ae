"""ArenaTable: the one table of the program.

Carries copy, filter, columns, sort, context menu, remembered state and spoken text. The model is a
`TableRows` (see `arena_desktop.cells`); sorting and filtering happen there. Rows are chosen, Tab
leaves the table, there is always a current cell.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPoint, Qt, Signal
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QKeyEvent, QResizeEvent
from PySide6.QtWidgets import QLineEdit, QMenu, QWidget

from arena_desktop.cells import Align, Role, TableRows
from arena_desktop.settings import Settings
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.column_widths import ColumnWidths
from arena_desktop.widgets.labels import LOOK_CHANGES
from arena_desktop.widgets.table_copy import copy_chosen, make_copy_actions
from arena_desktop.widgets.table_drawn import DrawnTable
from arena_desktop.widgets.table_keys import press_key
from arena_desktop.widgets.table_memory import KeptChoice, TableMemory
from arena_desktop.widgets.table_menus import columns_menu, row_menu, sorted_words
from arena_desktop.widgets.table_selection import chosen_rows

_DOWN = Qt.SortOrder.DescendingOrder
_TAB_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)


class ArenaTable(DrawnTable):
    """A table over a `TableRows` model.

    `name` becomes the object name, `spoken` the accessible name. `lines`: 1 = row of 40, 2 = two lines
    (52), 3 = list row (56). `cells` lets single cells be chosen, as in a spreadsheet; else whole rows.
    """

    current_row_changed = Signal(object)
    """The record of the current row, or None."""
    chosen_changed = Signal()
    """Which rows are selected."""
    looks_changed = Signal()
    """Columns, widths, order or sorting changed (for keeping state)."""
    delete_pressed = Signal()
    add_pressed = Signal()
    paste_pressed = Signal()
    find_wanted = Signal()
    """Somebody looks for something here, and the table has no filter field of its own."""

    def __init__(
        self, name: str, spoken: str, *, lines: int = 1, cells: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(lines=lines, cells=cells, parent=parent)
        self._menu_extra: Callable[[QMenu, Any], None] | None = None
        self._filter_field: QLineEdit | None = None
        self.setObjectName(name)
        self.setAccessibleName(spoken)
        self._widths = ColumnWidths(self, self._header)
        self._memory = TableMemory(self)
        self._choice = KeptChoice(self)
        self._set_up_view()
        self.action_copy, self.action_copy_head = make_copy_actions(self)

    # model and rows

    def setModel(self, model: TableRows | None) -> None:
        """Takes the model; columns are laid out from its column data."""
        super().setModel(model)  # type: ignore[call-overload] - a TableRows is an item model
        if model is None:
            return
        # Order of connection matters: the view itself has already taken in a reset when these run.
        model.modelAboutToBeReset.connect(self._choice.note)
        model.modelReset.connect(self._on_reset)
        model.rowsInserted.connect(self._on_rows_changed)
        model.dataChanged.connect(self._on_data_changed)
        model.rowsRemoved.connect(self._on_rows_changed)
        self.selectionModel().currentRowChanged.connect(self._on_current_changed)
        self.selectionModel().selectionChanged.connect(self._on_selection_changed)
        self._widths.reset()
        self._on_reset()

    @property
    def rows(self) -> TableRows:
        """The model."""
        return self.model()  # type: ignore[return-value]

    def current_record(self) -> Any:
        """The record of the current row, or None."""
        return self.currentIndex().data(Role.RECORD) if self.currentIndex().isValid() else None

    def chosen_records(self) -> list[Any]:
        """Records of the selected rows, top to bottom."""
        return [self.model().index(row, 0).data(Role.RECORD) for row in chosen_rows(self.selectionModel())]

    def select_key(self, key: Any) -> bool:
        """Makes the row with this key current and selected. False when it is not shown."""
        row = self.rows.row_of(key)
        if row < 0:
            return False
        index = self.model().index(row, self.first_section())
        self.setCurrentIndex(index)
        self.scrollTo(index)
        return True

    # sorting, filter

    def sort_next(self, section: int) -> None:
        """What a click on a head does: up, down, original order; figures start with the largest."""
        column = self.rows.column_at(section)
        if not column.sortable:
            return
        first = Qt.SortOrder.DescendingOrder if column.align is Align.RIGHT else Qt.SortOrder.AscendingOrder
        now = self.rows.sorted_by()
        if now is None or now[0] != column.id:
            self.sort_by(column.id, first)
        elif now[1] == first:
            self.sort_by(column.id, _other(first))
        else:
            self.sort_by(None)

    def sort_by(self, column_id: str | None, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sorts by a column; None brings the original order back."""
        section = self._section_of(column_id) if column_id is not None else -1
        self.model().sort(section, order)
        self._header.viewport().update()
        self.looks_changed.emit()

    def sort_current(self, order: Qt.SortOrder) -> None:
        """Sorts by the column of the current cell; once more brings the original order back."""
        section = self.currentIndex().column()
        column = self.rows.column_at(section) if section >= 0 else None
        if column is None or not column.sortable or not column.title:
            return
        again = self.rows.sorted_by() == (column.id, order)
        self.sort_by(None if again else column.id, order)
        self.scrollTo(self.currentIndex())
        announce(self, sorted_words(None if again else column, order))

    def set_filter_field(self, field: QLineEdit) -> None:
        """The field on the page that filters this table: Ctrl+F goes there, and its text is remembered."""
        self._filter_field = field

    def find(self) -> None:
        """What Ctrl+F does here."""
        field = self._filter_field
        if field is None:
            self.find_wanted.emit()
        elif field.isVisible():
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            field.selectAll()

    # columns

    def hide_column(self, column_id: str, hidden: bool) -> None:
        """The person's choice of columns."""
        self._widths.set_hidden(column_id, hidden)
        self.looks_changed.emit()

    def columns_menu(self, parent: QWidget | None = None) -> QMenu:
        """A menu with a tick per column, for the "Columns…" button and the head's own menu."""
        return columns_menu(self, self._widths, parent or self)

    def shown_sections(self) -> list[int]:
        """The sections on screen, left to right."""
        order = (self._header.logicalIndex(n) for n in range(self._header.count()))
        return [section for section in order if not self._header.isSectionHidden(section)]

    def first_section(self) -> int:
        """The first shown column with words, so that the current cell says something."""
        sections = self.shown_sections()
        return next((s for s in sections if self.rows.column_at(s).title), sections[0] if sections else 0)

    def reset_looks(self) -> None:
        """Columns, widths and order as at first."""
        self.sort_by(None)
        self._widths.reset()
        self.looks_changed.emit()

    # copy

    def copy(self, *, with_head: bool = False) -> None:
        """Copies the selected cells as shown: as tab-separated text and as an HTML table."""
        copy_chosen(self, with_head=with_head)

    # menus

    def set_row_menu(self, extra: Callable[[QMenu, Any], None]) -> None:
        """`extra(menu, record)` adds the page's own entries on top of the row menu."""
        self._menu_extra = extra

    def fill_row_menu(self, menu: QMenu, record: Any) -> None:
        """Adds the page's own entries."""
        if self._menu_extra is not None:
            self._menu_extra(menu, record)

    def row_menu(self) -> QMenu:
        """The menu of the current row. Every entry must also stand in a menu bar or on the page."""
        return row_menu(self)

    # state

    def state(self) -> dict[str, Any]:
        """Widths, order, hidden columns, sorting and filter, by column id."""
        sorted_by = self.rows.sorted_by()
        return {
            **self._widths.state(),
            "sort": [sorted_by[0], sorted_by[1].value] if sorted_by else None,
            "filter": self.rows.filter_text() if self._filter_field is not None else "",
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Takes back what `state` gave; whatever does not fit the columns of today is left out."""
        self._widths.restore(state)
        sort = state.get("sort")
        if isinstance(sort, list) and len(sort) == 2 and self._section_of(str(sort[0])) >= 0:
            self.sort_by(str(sort[0]), Qt.SortOrder.AscendingOrder if sort[1] == 0 else _DOWN)
        text = state.get("filter")
        if isinstance(text, str):
            self.rows.set_filter(text)

    @property
    def remembers(self) -> bool:
        """Whether `remember` was called."""
        return self._memory.is_on

    def remember(self, settings: Settings, project: Path | None = None) -> None:
        """Restores the state kept under the object name and keeps it from now on. Call after `setModel`."""
        self._memory.remember(settings, project)

    # Qt events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._set_keyboard(True)
        if not press_key(self, event):
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._set_keyboard(event.reason() in _TAB_REASONS)
        super().focusInEvent(event)
        self._choice.ensure_current()
        self.viewport().update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self.viewport().update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        index = self.indexAt(event.pos())
        if index.isValid() and not self.selectionModel().isSelected(index):
            self.setCurrentIndex(index)
        where = event.globalPos()
        if event.reason() == QContextMenuEvent.Reason.Keyboard:
            where = self.viewport().mapToGlobal(self.visualRect(self.currentIndex()).bottomLeft())
        menu = self.row_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(where)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._widths.fit()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "_widths"):
            self._apply_row_height()
            self._widths.look_anew()

    # inside

    def _set_up_view(self) -> None:
        self._header.sectionClicked.connect(self.sort_next)
        self._header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._header.customContextMenuRequested.connect(self._on_head_menu)
        self._widths.changed.connect(self.looks_changed)
        self._apply_row_height()

    def _on_head_menu(self, position: QPoint) -> None:
        menu = self.columns_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._header.mapToGlobal(position))

    def _on_reset(self) -> None:
        self._choice.bring_back()
        self._on_rows_changed()
        self._on_current_changed()

    def _on_rows_changed(self, *_args: object) -> None:
        self._widths.look_at()
        self._choice.ensure_current()
        self._apply_height()
        self._header.viewport().update()

    def _on_data_changed(self, top: QModelIndex, bottom: QModelIndex, *_roles: object) -> None:
        self._widths.look_at(top.row(), bottom.row())

    def _on_current_changed(self, *_args: object) -> None:
        self.current_row_changed.emit(self.current_record())

    def _on_selection_changed(self, *_args: object) -> None:
        # A row is drawn as one: all its cells change when one of them does.
        self.viewport().update()
        self.chosen_changed.emit()

    def _section_of(self, column_id: str) -> int:
        count = self.model().columnCount()
        return next((s for s in range(count) if self.rows.column_at(s).id == column_id), -1)


def _other(order: Qt.SortOrder) -> Qt.SortOrder:
    up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
    return down if order == up else up
