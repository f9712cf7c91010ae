"""The list of sections at the left of the settings, drawn as the rail of the main window."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent, QKeyEvent, QMouseEvent, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListWidget,
    QListWidgetItem,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from arena_desktop.dialogs.settings_parts import Section
from arena_desktop.theme import current, row_height, scaled
from arena_desktop.theme.tokens import RAIL_ITEM
from arena_desktop.widgets.labels import LOOK_CHANGES
from arena_desktop.widgets.rail_look import ItemLook, paint_item

Index = QModelIndex | QPersistentModelIndex
_ICON = Qt.ItemDataRole.UserRole + 1
_NAME = Qt.ItemDataRole.UserRole + 2
_TAB = (Qt.FocusReason.TabFocusReason, Qt.FocusReason.BacktabFocusReason, Qt.FocusReason.ShortcutFocusReason)


class SectionList(QListWidget):
    """The list at the left: arrow keys move and choose at once. `chosen(name)` follows."""

    chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("list_sections")
        self.setAccessibleName(self.tr("Sections of the settings"))
        self.setItemDelegate(_ItemPainter(self))
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setStyleSheet("background: transparent; border: 0;")
        self.keyboard = False
        self.currentItemChanged.connect(self._on_current)

    def add(self, section: Section) -> None:
        """Adds a section's item."""
        item = QListWidgetItem(section.title)
        item.setData(_ICON, section.icon)
        item.setData(_NAME, section.section_name)
        self.addItem(item)

    def set_current(self, name: str) -> None:
        """Chooses a section."""
        for row in range(self.count()):
            if self.item(row).data(_NAME) == name:
                self.setCurrentRow(row)

    def current(self) -> str:
        """The chosen section."""
        item = self.currentItem()
        return str(item.data(_NAME)) if item is not None else ""

    def show_only(self, names: set[str]) -> None:
        """Hides the sections in which nothing was found; goes to the first that is left."""
        for row in range(self.count()):
            self.item(row).setHidden(self.item(row).data(_NAME) not in names)
        if names and self.current() not in names:
            first = next(
                (row for row in range(self.count()) if self.item(row).data(_NAME) in names), self.currentRow()
            )
            self.setCurrentRow(first)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.keyboard = True
        super().keyPressEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.keyboard = False
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self.keyboard = event.reason() in _TAB
        super().focusInEvent(event)
        self.viewport().update()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES:
            self.scheduleDelayedItemsLayout()

    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.chosen.emit(str(item.data(_NAME)))


class _ItemPainter(QStyledItemDelegate):
    """Items as those of the rail."""

    def __init__(self, view: SectionList) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, max(RAIL_ITEM, row_height(RAIL_ITEM) - 8))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        chosen = self._view.currentIndex() == index
        look = ItemLook(
            text=str(index.data() or ""),
            icon=str(index.data(_ICON)),
            current=chosen,
            hovered=bool(option.state & option.state.State_MouseOver),
            ring=self._view.keyboard and self._view.hasFocus() and chosen,
        )
        painter.save()
        # The items of the rail stand 8 px in; here the list itself does.
        paint_item(painter, current(), QRectF(option.rect).adjusted(-8, 0, 8, 0), look)
        painter.restore()


class SidePane(QWidget):
    """The plane below the list, as the rail of the main window."""

    def __init__(self) -> None:
        super().__init__()
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        QPainter(self).fillRect(self.rect(), current().color("win"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES:
            self._fit()

    def _fit(self) -> None:
        self.setFixedWidth(scaled(192))
