"""A chart as a widget: hover values, keyboard, spoken description; and its card with table and copy."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QFocusEvent,
    QGuiApplication,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QStackedWidget, QWidget

from arena_desktop.charts.canvas import Drawing
from arena_desktop.charts.data import Chart
from arena_desktop.charts.render import draw, draw_hover, picture, svg, wanted_height
from arena_desktop.theme import current, scaled
from arena_desktop.widgets.announce import announce
from arena_desktop.widgets.buttons import Button, IconButton
from arena_desktop.widgets.card import DENSE, Card, CardHead


class ChartView(QWidget):
    """Shows one chart. Left and Right (or Up and Down) walk through its values, Esc leaves them.

    `set_chart` takes the data, a spoken name and a sentence that says what the picture says.
    """

    value_shown = Signal(str)
    """What is pointed at, as one spoken line; empty = nothing."""

    def __init__(self, name: str, *, height: int = 260) -> None:
        super().__init__()
        self.setObjectName(name)
        self._height = height
        self._wanted = 0.0
        self._chart: Chart | None = None
        self._drawing = Drawing(QRectF())
        self._at = -1
        self._keyboard = False
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)

    def set_chart(self, chart: Chart, spoken: str, description: str) -> None:
        """Other data."""
        self._chart = chart
        self._at = -1
        self._wanted = wanted_height(chart)
        self.updateGeometry()
        self.setAccessibleName(spoken)
        self.setAccessibleDescription(description)
        self.update()

    @property
    def chart(self) -> Chart | None:
        """The data."""
        return self._chart

    def picture(self) -> QImage:
        """A light picture of what is shown, twice as fine."""
        if self._chart is None:
            return QImage()
        return picture(self._chart, self.size())

    def svg(self) -> bytes:
        """A light SVG of what is shown."""
        return b"" if self._chart is None else svg(self._chart, self.size(), self.accessibleName())

    def pointed(self) -> str:
        """What is pointed at now, as spoken."""
        return self._drawing.hits[self._at].spoken if 0 <= self._at < len(self._drawing.hits) else ""

    def sizeHint(self) -> QSize:
        return QSize(420, scaled(max(self._height, self._wanted)))

    def minimumSizeHint(self) -> QSize:
        return QSize(240, scaled(max(min(self._height, 200), self._wanted)))

    def paintEvent(self, event: QPaintEvent) -> None:
        if self._chart is None:
            return
        painter, theme = QPainter(self), current()
        rect = QRectF(self.rect()).adjusted(0, 4, 0, 0)
        self._drawing = draw(painter, rect, self._chart, theme)
        if 0 <= self._at < len(self._drawing.hits):
            draw_hover(painter, rect, self._drawing, self._drawing.hits[self._at], theme)
        if self.hasFocus() and self._keyboard and self._at < 0:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(theme.color("accent"), 2))
            painter.drawRoundedRect(QRectF(self.rect()).adjusted(1, 1, -1, -1), 8, 8)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point_at(self._drawing.hit_at(QPointF(event.position())))

    def leaveEvent(self, event: QEvent) -> None:
        super().leaveEvent(event)
        if not self._keyboard:
            self._point_at(-1)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._keyboard = False
        super().mousePressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        self._keyboard = event.reason() != Qt.FocusReason.MouseFocusReason
        super().focusInEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._point_at(-1)
        self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        count = len(self._drawing.hits)
        steps = {
            Qt.Key.Key_Right: self._at + 1,
            Qt.Key.Key_Down: self._at + 1,
            Qt.Key.Key_Left: self._at - 1,
            Qt.Key.Key_Up: self._at - 1,
            Qt.Key.Key_Home: 0,
            Qt.Key.Key_End: count - 1,
        }
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape and self._at >= 0:
            self._point_at(-1)
        elif key in steps and count:
            self._keyboard = True
            self._point_at(min(count - 1, max(0, steps[key])), speak=True)
        else:
            super().keyPressEvent(event)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        self.update()

    def _point_at(self, at: int, *, speak: bool = False) -> None:
        if at == self._at:
            return
        self._at = at
        self.update()
        self.value_shown.emit(self.pointed())
        if speak:
            announce(self, self.pointed())


class ChartCard(Card):
    """Title, caption sentence, "Show as table", copy, save, and the chart. Copy works by itself;

    `save_pressed` asks the page for a file. `set_table` hands in how the same data becomes a table.
    """

    save_pressed = Signal()
    copied = Signal()

    def __init__(self, title: str, view: ChartView) -> None:
        super().__init__(DENSE, spacing=8)
        self.view = view
        self.head = CardHead(title)
        self.as_table = Button(self.tr("Show as table"), "quiet", name=f"{view.objectName()}_as_table")
        self.as_table.clicked.connect(lambda: self.show_table(self._stack.currentWidget() is self.view))
        self.copy = IconButton("copy", self.tr("Copy the picture"), name=f"{view.objectName()}_copy")
        self.copy.clicked.connect(self.copy_picture)
        self.save = IconButton("export", self.tr("Save the picture…"), name=f"{view.objectName()}_save")
        self.save.clicked.connect(self.save_pressed)
        for control in (self.as_table, self.copy, self.save):
            self.head.controls.addWidget(control)
        self.as_table.hide()
        self._make_table: Callable[[], QWidget] | None = None
        self._stack = QStackedWidget()
        self._stack.addWidget(view)
        self.body.addWidget(self.head)
        self.body.addWidget(self._stack, 1)

    def set_chart(self, chart: Chart, spoken: str, description: str) -> None:
        """The data; the description is also the caption below the title."""
        self.view.set_chart(chart, spoken, description)
        self.head.set_caption(description)

    def set_table(self, make: Callable[[], QWidget]) -> None:
        """How the same data becomes a table; from then on "Show as table" is there.

        Most people never ask for it, so it is made when they do.
        """
        shown = self._stack.currentIndex() == 1
        while self._stack.count() > 1:
            old = self._stack.widget(1)
            self._stack.removeWidget(old)
            old.deleteLater()
        self._make_table = make
        self.as_table.show()
        if shown:
            self.show_table(True)

    def show_table(self, on: bool) -> None:
        """Table instead of chart, or back."""
        if on and self._make_table is not None and self._stack.count() == 1:
            self._stack.addWidget(self._make_table())
        on = on and self._stack.count() > 1
        self._stack.setCurrentIndex(1 if on else 0)
        self.as_table.setText(self.tr("Show as picture") if on else self.tr("Show as table"))

    def copy_picture(self) -> None:
        """Puts the picture on the clipboard."""
        QGuiApplication.clipboard().setImage(self.view.picture())
        self.copied.emit()
