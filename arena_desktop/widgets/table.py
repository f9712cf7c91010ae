"""ArenaTable: the one table of the program.

Carries copy, filter, columns, sort, context menu, remembered state and spoken text. The model is a
`TableRows` (see `arena_desktop.cells`); sorting and filtering happen there. Rows are chosen, Tab
leaves the table, there is always a current cell.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, QModelIndex, QPoint, QSize, Qt, Signal
from PySide6.QtGui import (
    QAction,
    QContextMenuEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QKeySequence,
    QMouseEvent,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QAbstractItemView, QHeaderView, QMenu, QTableView, QWidget

from arena_desktop.cells import Align, Role, TableRows
from arena_desktop.settings import Settings
from arena_desktop.theme import row_height
from arena_desktop.theme.tokens import TABLE_ROW, TABLE_ROW_LIST, TABLE_ROW_TWO_LINES
from arena_desktop.widgets.cell_paint import links_of
from arena_desktop.widgets.clipboard import table_mime
from arena_desktop.widgets.column_widths import ColumnWidths
from arena_desktop.widgets.labels import LOOK_CHANGES
from arena_desktop.widgets.table_delegate import RowDelegate
from arena_desktop.widgets.table_header import TableHeader
from arena_desktop.widgets.table_memory import KeptChoice, TableMemory
from arena_desktop.widgets.table_menus import columns_menu, row_menu, selected_texts
from arena_desktop.widgets.table_pointer import TablePointer

_TAB_REASONS = (
    Qt.FocusReason.TabFocusReason,
    Qt.FocusReason.BacktabFocusReason,
    Qt.FocusReason.ShortcutFocusReason,
)
_COPY_HEAD = QKeySequence("Ctrl+Shift+C")[0]
_ROWS = {1: TABLE_ROW, 2: TABLE_ROW_TWO_LINES, 3: TABLE_ROW_LIST}


class ArenaTable(QTableView):
    """A table over a `TableRows` model.

    `name` becomes the object name, `spoken` the accessible name. `lines`: 1 = row of 40, 2 = two lines
    (52), 3 = list row (56). `cells` lets single cells be chosen, as in a spreadsheet; else whole rows.
    """

    activated_row = Signal(object)
    """Enter or a double click on a row: its record."""
    current_row_changed = Signal(object)
    """The record of the current row, or None."""
    link_clicked = Signal(object, str)
    """Record and id of a link in a cell, by mouse, key or menu."""
    chosen_changed = Signal()
    """Which rows are selected."""
    looks_changed = Signal()
    """Columns, widths, order or sorting changed (for keeping state)."""
    delete_pressed = Signal()
    add_pressed = Signal()
    paste_pressed = Signal()

    def __init__(
        self, name: str, spoken: str, *, lines: int = 1, cells: bool = False, parent: QWidget | None = None
    ) -> None:
        super().__init__(parent)
        self._lines = lines
        self._fit_rows = 0
        self._menu_extra: Callable[[QMenu, Any], None] | None = None
        self.setObjectName(name)
        self.setAccessibleName(spoken)
        self._delegate = RowDelegate(self)
        self._header = TableHeader(self)
        self._widths = ColumnWidths(self, self._header)
        self._pointer = TablePointer(self, self._delegate, self._header)
        self._memory = TableMemory(self)
        self._choice = KeptChoice(self)
        self._set_up_view(cells)
        self._make_actions()

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
        rows = sorted({index.row() for index in self.selectionModel().selectedIndexes()})
        return [self.model().index(row, 0).data(Role.RECORD) for row in rows]

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
        rows, head = selected_texts(self)
        if rows:
            QGuiApplication.clipboard().setMimeData(table_mime(rows, head if with_head else None))

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
            "filter": self.rows.filter_text(),
        }

    def restore(self, state: dict[str, Any]) -> None:
        """Takes back what `state` gave; whatever does not fit the columns of today is left out."""
        self._widths.restore(state)
        sort = state.get("sort")
        if isinstance(sort, list) and len(sort) == 2 and self._section_of(str(sort[0])) >= 0:
            self.sort_by(str(sort[0]), Qt.SortOrder(sort[1]))
        text = state.get("filter")
        if isinstance(text, str):
            self.rows.set_filter(text)

    def remember(self, settings: Settings, project: Path | None = None) -> None:
        """Restores the state kept under the object name and keeps it from now on. Call after `setModel`."""
        self._memory.remember(settings, project)

    # size

    def fit_rows(self, most: int = 1000) -> None:
        """Makes the table as high as its rows (at most `most`), for pages that scroll as a whole."""
        self._fit_rows = most
        self.setProperty("last_line", False)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        self._apply_height()

    @property
    def fits_rows(self) -> bool:
        """Whether the table is as high as its rows."""
        return self._fit_rows > 0

    def sizeHint(self) -> QSize:
        if not self._fit_rows:
            return super().sizeHint()
        return QSize(super().sizeHint().width(), self._wanted_height())

    # Qt events

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self._set_keyboard(True)
        if not self._own_key(event):
            super().keyPressEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._set_keyboard(False)
        position = event.position().toPoint()
        if self._pointer.press(position):
            # Qt would ask the style for the place of the box; ours is drawn by the delegate.
            self.setCurrentIndex(self.indexAt(position))
            return
        super().mousePressEvent(event)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        target = self._pointer.release(event.position().toPoint())
        if target is not None:
            index = self.model().index(target.row, target.column)
            if target.link is None:
                self._pointer.toggle(index)
                return
            self.link_clicked.emit(index.data(Role.RECORD), target.link.id)
        super().mouseReleaseEvent(event)

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        super().mouseDoubleClickEvent(event)
        position = event.position().toPoint()
        index = self.indexAt(position)
        if index.isValid() and self._pointer.target_at(position) is None:
            self.activated_row.emit(index.data(Role.RECORD))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        super().mouseMoveEvent(event)
        self._pointer.hover(event.position().toPoint())

    def paintEvent(self, event: QPaintEvent) -> None:
        self._delegate.begin_page()
        try:
            super().paintEvent(event)
        finally:
            self._delegate.end_page()

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        self._pointer.light(-1)

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
            self._widths.fit()

    # inside

    def _set_up_view(self, cells: bool) -> None:
        behaviour = QAbstractItemView.SelectionBehavior
        self.setItemDelegate(self._delegate)
        self.setHorizontalHeader(self._header)
        self._header.sectionClicked.connect(self.sort_next)
        self._header.check_clicked.connect(self._pointer.toggle_all)
        self._header.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self._header.customContextMenuRequested.connect(self._on_head_menu)
        self._widths.changed.connect(self.looks_changed)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setSelectionBehavior(behaviour.SelectItems if cells else behaviour.SelectRows)
        self.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.setEditTriggers(
            QAbstractItemView.EditTrigger.EditKeyPressed | QAbstractItemView.EditTrigger.DoubleClicked
            if cells
            else QAbstractItemView.EditTrigger.NoEditTriggers
        )
        self.setTabKeyNavigation(False)
        self.setMouseTracking(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.verticalHeader().hide()
        self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.Fixed)
        self.setCornerButtonEnabled(False)
        # The card behind has round corners that a view's own background would square off.
        self.setFrameShape(QTableView.Shape.NoFrame)
        self.setProperty("kind", "bare")
        self.viewport().setAutoFillBackground(False)
        self._apply_row_height()

    def _make_actions(self) -> None:
        self.action_copy = QAction(self.tr("Copy"), self)
        self.action_copy.setShortcut(QKeySequence(QKeySequence.StandardKey.Copy))
        self.action_copy.triggered.connect(lambda _checked=False: self.copy())
        self.action_copy_head = QAction(self.tr("Copy with column heads"), self)
        self.action_copy_head.setShortcut(QKeySequence("Ctrl+Shift+C"))
        self.action_copy_head.triggered.connect(lambda: self.copy(with_head=True))
        for action in (self.action_copy, self.action_copy_head):
            action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            self.addAction(action)

    def _own_key(self, event: QKeyEvent) -> bool:
        key, index = event.key(), self.currentIndex()
        if event.matches(QKeySequence.StandardKey.Copy):
            # Qt's own copy would take the current cell only.
            self.copy()
        elif event.keyCombination() == _COPY_HEAD:
            self.copy(with_head=True)
        elif event.matches(QKeySequence.StandardKey.Paste):
            self.paste_pressed.emit()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            if event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self.add_pressed.emit()
            elif index.isValid():
                self._press_enter(index)
        elif key == Qt.Key.Key_Insert and not event.modifiers():
            self.add_pressed.emit()
        elif key == Qt.Key.Key_Delete:
            self.delete_pressed.emit()
        elif key == Qt.Key.Key_Space and self._check_section() >= 0 and index.isValid():
            self._pointer.toggle(index.siblingAtColumn(self._check_section()))
        else:
            return False
        return True

    def _press_enter(self, index: QModelIndex) -> None:
        links = links_of(index.data(Role.CELL))
        if links:
            self.link_clicked.emit(index.data(Role.RECORD), links[0].id)
        else:
            self.activated_row.emit(index.data(Role.RECORD))

    def _check_section(self) -> int:
        sections = range(self.model().columnCount())
        return next((s for s in sections if self.rows.column_at(s).checked is not None), -1)

    def _on_head_menu(self, position: QPoint) -> None:
        menu = self.columns_menu()
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.popup(self._header.mapToGlobal(position))

    def _on_reset(self) -> None:
        self._choice.bring_back()
        self._on_rows_changed()
        self._on_current_changed()

    def _on_rows_changed(self, *_args: object) -> None:
        self._choice.ensure_current()
        self._apply_height()
        self._header.viewport().update()

    def _on_current_changed(self, *_args: object) -> None:
        self.current_row_changed.emit(self.current_record())

    def _on_selection_changed(self, *_args: object) -> None:
        # A row is drawn as one: all its cells change when one of them does.
        self.viewport().update()
        self.chosen_changed.emit()

    def _set_keyboard(self, on: bool) -> None:
        if self._delegate.keyboard != on:
            self._delegate.keyboard = on
            self.viewport().update()

    def _apply_row_height(self) -> None:
        height = row_height(_ROWS[self._lines], min(2, self._lines))
        self.verticalHeader().setMinimumSectionSize(height)
        self.verticalHeader().setDefaultSectionSize(height)
        self._apply_height()

    def _wanted_height(self) -> int:
        shown = min(self._fit_rows, self.model().rowCount() if self.model() is not None else 0)
        return self._header.sizeHint().height() + shown * self.verticalHeader().defaultSectionSize()

    def _apply_height(self) -> None:
        if self._fit_rows:
            self.setFixedHeight(self._wanted_height())

    def _section_of(self, column_id: str) -> int:
        count = self.model().columnCount()
        return next((s for s in range(count) if self.rows.column_at(s).id == column_id), -1)


def _other(order: Qt.SortOrder) -> Qt.SortOrder:
    up, down = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder
    return down if order == up else up
