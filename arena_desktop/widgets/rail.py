"""The list at the left: project block, groups in the order of the job, Settings at the foot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QModelIndex, QPersistentModelIndex, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QFontMetricsF,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QStandardItem,
    QStandardItemModel,
)
from PySide6.QtWidgets import (
    QAbstractItemView,
    QListView,
    QPushButton,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.theme import F, current, icon_size, row_height
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.paint import rounded
from arena_desktop.theme.tokens import RAIL_ITEM, RAIL_WIDTH
from arena_desktop.widgets.labels import LOOK_CHANGES
from arena_desktop.widgets.rail_look import INSET, ItemLook, Mark, paint_item
from arena_desktop.wording.harmless import plain_tip

Index = QModelIndex | QPersistentModelIndex
_NAME = Qt.ItemDataRole.UserRole + 1
_ICON = Qt.ItemDataRole.UserRole + 2
_MARK = Qt.ItemDataRole.UserRole + 3
_SHARE = Qt.ItemDataRole.UserRole + 4
_GROUP = 34


@dataclass(frozen=True, slots=True)
class RailItem:
    """One section. `group` is its heading; items with the same group stand together."""

    name: str
    title: str
    icon: str
    group: str = ""
    needs_project: bool = True


class Rail(QWidget):
    """Navigation. `page_chosen(name)` when the person (or `set_current`) goes to another section."""

    page_chosen = Signal(str)
    settings_pressed = Signal()
    project_pressed = Signal()

    def __init__(self, items: Sequence[RailItem]) -> None:
        super().__init__()
        self.setObjectName("rail")
        self._items = {item.name: item for item in items}
        self._rows: dict[str, QStandardItem] = {}
        self._wanted = ""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 8, 0, 12)
        layout.setSpacing(8)
        self.project = ProjectBlock()
        self.project.clicked.connect(self.project_pressed)
        layout.addWidget(self.project)
        self.list = _RailList()
        self._model = QStandardItemModel(self)
        self._fill(items)
        self.list.setModel(self._model)
        self.list.selectionModel().currentChanged.connect(self._on_current)
        # From a page that is not in the list, the section marked as current leads back.
        self.list.clicked.connect(self._on_current)
        self.list.activated.connect(self._on_current)
        layout.addWidget(self.list, 1)
        self.settings = _FootItem(self.tr("Settings"), "settings")
        self.settings.setObjectName("rail_settings")
        self.settings.clicked.connect(self.settings_pressed)
        layout.addWidget(self.settings)
        self.set_project("")
        self._apply_width()

    def set_current(self, name: str) -> None:
        """Marks a section as the current one, as soon as it can be reached."""
        self._wanted = name
        item = self._rows.get(name)
        if item is not None and self.list.currentIndex() != item.index():
            self.list.setCurrentIndex(item.index())

    def current(self) -> str:
        """The current section's name."""
        return str(self.list.currentIndex().data(_NAME) or "")

    def set_project(self, name: str) -> None:
        """Shows the project; empty = none is open, then only Home can be used."""
        self.project.set_project(name)
        for item in self._items.values():
            row = self._rows[item.name]
            row.setEnabled(bool(name) or not item.needs_project)
        # A list refuses to make a row current that is switched off.
        if self._wanted and self._wanted != self.current():
            self.set_current(self._wanted)
        self.list.viewport().update()

    def set_mark(self, name: str, mark: Mark) -> None:
        """Dot (not saved) or triangle (needs attention) at a section; also spoken."""
        self._rows[name].setData(mark.value, _MARK)
        self._speak(name)

    def set_share(self, name: str, text: str) -> None:
        """A text like "55 %" at a section while a run goes on; empty takes it away."""
        self._rows[name].setData(text, _SHARE)
        self._speak(name)

    def mark(self, name: str) -> Mark:
        """The mark at a section."""
        return Mark(self._rows[name].data(_MARK) or "")

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES and hasattr(self, "settings"):
            self._apply_width()

    def _fill(self, items: Sequence[RailItem]) -> None:
        group = ""
        for spec in items:
            if spec.group != group and spec.group:
                head = QStandardItem(spec.group)
                head.setFlags(Qt.ItemFlag.NoItemFlags)
                self._model.appendRow(head)
            group = spec.group
            item = QStandardItem(spec.title)
            item.setEditable(False)
            item.setData(spec.name, _NAME)
            item.setData(spec.icon, _ICON)
            self._rows[spec.name] = item
            self._model.appendRow(item)

    def _speak(self, name: str) -> None:
        item = self._rows[name]
        mark = {
            Mark.UNSAVED: self.tr("{section}, not saved yet"),
            Mark.ATTENTION: self.tr("{section}, needs attention"),
            Mark.NONE: "{section}",
        }[self.mark(name)].format(section=item.text())
        share = item.data(_SHARE)
        item.setData(f"{mark}, {share}" if share else mark, Qt.ItemDataRole.AccessibleTextRole)

    def _apply_width(self) -> None:
        metrics = QFontMetricsF(F("strong"))
        words = max(metrics.horizontalAdvance(item.title) for item in self._items.values())
        self.setFixedWidth(max(RAIL_WIDTH, int(words) + icon_size(19) + 94))

    def _on_current(self, index: QModelIndex) -> None:
        name = index.data(_NAME)
        if name:
            self._wanted = str(name)
            self.page_chosen.emit(str(name))


class _RailList(QListView):
    """Arrow keys move and choose at once; headings are passed over."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("rail_list")
        self.setAccessibleName(self.tr("Sections"))
        self.setItemDelegate(_RailDelegate(self))
        self.setMouseTracking(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        self.setProperty("kind", "bare")
        self.keyboard = False

    def keyPressEvent(self, event: QKeyEvent) -> None:
        self.keyboard = True
        super().keyPressEvent(event)
        self.viewport().update()

    def mousePressEvent(self, event) -> None:
        self.keyboard = False
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        reasons = (
            Qt.FocusReason.TabFocusReason,
            Qt.FocusReason.BacktabFocusReason,
            Qt.FocusReason.ShortcutFocusReason,
        )
        self.keyboard = event.reason() in reasons
        super().focusInEvent(event)
        self.viewport().update()


class _RailDelegate(QStyledItemDelegate):
    def __init__(self, view: _RailList) -> None:
        super().__init__(view)
        self._view = view

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        height = row_height(RAIL_ITEM if index.data(_NAME) else _GROUP)
        # A row of text needs less air here than in a table.
        height = max(RAIL_ITEM if index.data(_NAME) else _GROUP, height - 8)
        return QSize(100, height)

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        painter.save()
        box, theme = QRectF(option.rect), current()
        if not index.data(_NAME):
            painter.setFont(F("head"))
            painter.setPen(theme.color("text2"))
            text = box.adjusted(22, 8, -12, 0)
            painter.drawText(text, Qt.AlignmentFlag.AlignVCenter, index.data() or "")
            painter.restore()
            return
        paint_item(
            painter,
            theme,
            box,
            ItemLook(
                text=index.data() or "",
                icon=str(index.data(_ICON)),
                current=self._view.currentIndex() == index,
                hovered=bool(option.state & option.state.State_MouseOver),
                enabled=bool(index.flags() & Qt.ItemFlag.ItemIsEnabled),
                mark=str(index.data(_MARK) or ""),
                share=str(index.data(_SHARE) or ""),
                ring=self._view.keyboard and self._view.hasFocus() and self._view.currentIndex() == index,
            ),
        )
        painter.restore()


class ProjectBlock(QPushButton):
    """Initials on the accent and the project's name; opens the project menu."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("button_project")
        self.setProperty("kind", "plain")
        self._name = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.set_project("")

    def set_project(self, name: str) -> None:
        """Another project, or none."""
        self._name = name
        self.setText(name or self.tr("No project open"))
        spoken = (
            self.tr("Project {name}, menu").format(name=name) if name else self.tr("No project open, menu")
        )
        self.setAccessibleName(spoken)
        self.setToolTip(plain_tip(name))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(100, row_height(40))

    def paintEvent(self, event: QPaintEvent) -> None:
        painter, theme = QPainter(self), current()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if self.underMouse():
            rounded(painter, QRectF(self.rect()).adjusted(INSET, 0, -INSET, 0), 8, theme.color("press"))
        side = icon_size(28)
        tile = QRectF(18, (self.height() - side) / 2, side, side)
        left = tile.right() + 10
        rounded(painter, tile, 7, theme.color("accent" if self._name else "track"))
        if self._name:
            painter.setFont(F("head"))
            painter.setPen(theme.color("onAccent"))
            painter.drawText(tile, Qt.AlignmentFlag.AlignCenter, initials(self._name))
        else:
            inset = side / 4.6
            inner = tile.adjusted(inset, inset, -inset, -inset)
            theme_icons.draw(painter, "project", theme["text2"], inner)
        font = F("strong" if self._name else "name")
        painter.setFont(font)
        painter.setPen(theme.color("text" if self._name else "text2"))
        room = self.width() - left - (icon_size(16) + 24 if self._name else 12)
        text = QFontMetricsF(font).elidedText(self.text(), Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRectF(left, 0, room + 2, self.height()), Qt.AlignmentFlag.AlignVCenter, text)
        if self._name:
            size = icon_size(16)
            arrow = QRectF(self.width() - 18 - size, (self.height() - size) / 2, size, size)
            theme_icons.draw(painter, "down", theme["text2"], arrow)


class _FootItem(QPushButton):
    """A rail item that stands alone at the foot."""

    def __init__(self, text: str, icon: str) -> None:
        super().__init__(text)
        self._icon_name = icon
        self.setProperty("kind", "plain")
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(100, max(RAIL_ITEM, row_height(RAIL_ITEM) - 8))

    def paintEvent(self, event: QPaintEvent) -> None:
        look = ItemLook(self.text(), self._icon_name, hovered=self.underMouse(), enabled=self.isEnabled())
        paint_item(QPainter(self), current(), QRectF(self.rect()), look)


def initials(name: str) -> str:
    """Up to two letters of a project's name: "Customer replies" gives CR."""
    words = [word for word in name.replace("-", " ").replace("_", " ").split() if word[0].isalnum()]
    if not words:
        return name[:1].upper()
    return "".join(word[0] for word in words[:2]).upper() if len(words) > 1 else words[0][:2].upper()
