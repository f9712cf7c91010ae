"""Looking at a window the way different people meet it: by ear, by keyboard, in large text, in the dark."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import shiboken6
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QColor, QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSlider,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QMenuBar,
    QPlainTextEdit,
    QProgressBar,
    QPushButton,
    QScrollBar,
    QTabBar,
    QTableView,
    QTextEdit,
    QWidget,
)

from arena_desktop.theme.tokens import Tokens
from arena_desktop.widgets.labels import ElidedLabel

CONTROLS: tuple[type[QWidget], ...] = (
    QAbstractButton,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QComboBox,
    QAbstractSpinBox,
    QAbstractItemView,
    QAbstractSlider,
    QProgressBar,
    QTabBar,
)
TILE = 12
BRIGHT = 0.3


def shown(root: QWidget, *kinds: type[QWidget]) -> list[QWidget]:
    """The visible widgets below `root`, those inside Qt's own left out."""
    QApplication.processEvents()
    return [
        child
        for child in root.findChildren(QWidget)
        if shiboken6.isValid(child)
        and child.isVisible()
        and child.window() is root.window()
        and isinstance(child, kinds or QWidget)
        and not of_qt(child)
    ]


def of_qt(widget: QWidget) -> bool:
    """True for the parts that Qt puts into its own controls: fields in spin boxes, heads, scroll bars."""
    if isinstance(widget, QScrollBar | QHeaderView | QMenuBar):
        return True
    if widget.objectName().startswith("qt_"):
        return True
    step = widget.parentWidget()
    while step is not None:
        if isinstance(step, QComboBox | QAbstractSpinBox | QHeaderView | QMenuBar):
            return True
        step = step.parentWidget()
    return False


def spoken(widget: QWidget) -> str:
    """The name that a screen reader says."""
    interface = QAccessible.queryAccessibleInterface(widget)
    return interface.text(QAccessible.Text.Name) if interface is not None else ""


def called(widget: QWidget) -> str:
    """A widget in a message of a failed test."""
    text = widget.text() if isinstance(widget, QAbstractButton | QLabel) else ""
    return f"{type(widget).__name__} {widget.objectName()!r} {text[:60]!r}".replace("\n", " ")


def nameless(root: QWidget) -> list[str]:
    """The visible controls, and whatever else takes the keyboard, that cannot be told by ear."""
    found = []
    for widget in shown(root):
        takes_keys = bool(widget.focusPolicy() & Qt.FocusPolicy.TabFocus)
        if not isinstance(widget, CONTROLS) and not takes_keys:
            continue
        name = spoken(widget).strip()
        bad = not name or name in (type(widget).__name__, widget.objectName()) or "object" in name.lower()
        if bad:
            found.append(f"{called(widget)} is called {name!r}")
    return found


def reachable(root: QWidget) -> list[QWidget]:
    """The enabled controls that Tab has to stop at: of a group of radio buttons one is enough."""
    found = []
    for widget in shown(root, *CONTROLS):
        if isinstance(widget, QProgressBar) or not widget.isEnabled():
            continue
        found.append(widget)
    return found


def tab_round(start: QWidget, most: int) -> tuple[list[QWidget], QWidget | None]:
    """Presses Tab from `start` until it is back there. Returns the stops and, if it got stuck, where."""
    stops = [start]
    for _ in range(most):
        now = QApplication.focusWidget()
        QTest.keyClick(now, Qt.Key.Key_Tab)
        QApplication.processEvents()
        after = QApplication.focusWidget()
        if after is now or after is None:
            return stops, now
        if after is start:
            return stops, None
        stops.append(after)
    return stops, stops[-1]


def covers(stop: QWidget, control: QWidget) -> bool:
    """Whether the keyboard at `stop` is at `control`: itself, a part of it, or one of its exclusive group."""
    if stop is control or control.isAncestorOf(stop) or stop.focusProxy() is control:
        return True
    if isinstance(stop, QAbstractButton) and isinstance(control, QAbstractButton):
        group = stop.group()
        if group is not None and group.exclusive() and control.group() is group:
            return True
        return stop.autoExclusive() and control.autoExclusive() and stop.parent() is control.parent()
    return False


def clipped(root: QWidget) -> list[str]:
    """Labels of one line and buttons that are smaller than their words."""
    found = []
    for widget in shown(root, QLabel, QPushButton, QComboBox):
        if isinstance(widget, ElidedLabel) or (isinstance(widget, QLabel) and not widget.text()):
            continue
        wish, size = widget.sizeHint(), widget.size()
        wraps = widget.wordWrap() if isinstance(widget, QLabel) else widget.heightForWidth(size.width()) >= 0
        if wraps:
            too_small = widget.heightForWidth(size.width()) > size.height() + 1
        else:
            too_small = wish.width() > size.width() + 1 or wish.height() > size.height() + 1
        if too_small:
            found.append(f"{called(widget)} wishes {wish.toTuple()}, has {size.toTuple()}")
    return found


def small_text(root: QWidget) -> list[str]:
    """Text in a font much smaller than the text size that the person chose."""
    least = QApplication.font().pointSizeF() * 0.75
    return [
        f"{called(widget)} in {size:g} of {least / 0.75:g} points"
        for widget in shown(root, *CONTROLS, QLabel)
        if (size := _points(widget)) < least
    ]


def _points(widget: QWidget) -> float:
    info = widget.fontInfo()
    return info.pointSizeF()


def sideways(root: QWidget, *, but: str = "") -> list[str]:
    """Scroll areas whose content is wider than they are, those of the spoken name `but` left out."""
    return [
        f"{called(area)} by {area.horizontalScrollBar().maximum()} px"
        for area in shown(root, QAbstractScrollArea)
        if area.horizontalScrollBar().maximum() > 0
        and not isinstance(area, QTextEdit | QPlainTextEdit)
        and area.accessibleName() != but
    ]


def outside(root: QWidget, *, but: str = "") -> list[str]:
    """Controls that lie beyond the right edge of the window, unless in an area of the spoken name `but`."""
    found = []
    for widget in shown(root, *CONTROLS, QLabel):
        right = widget.mapTo(root.window(), widget.rect().topRight()).x()
        if right > root.window().width() and not (but and _is_in(widget, but)):
            found.append(f"{called(widget)} ends at {right} of {root.window().width()}")
    return found


def _is_in(widget: QWidget, name: str) -> bool:
    step: QWidget | None = widget
    while step is not None:
        if step.accessibleName() == name:
            return True
        step = step.parentWidget()
    return False


def words(root: QWidget) -> list[str]:
    """Every text the program itself says: labels, buttons, cells, heads, hints, spoken names."""
    found: list[str] = []
    for widget in shown(root):
        found += [widget.toolTip(), spoken(widget), widget.accessibleDescription()]
        if isinstance(widget, QLabel | QAbstractButton):
            found.append(widget.text())
        elif isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit):
            found.append(widget.placeholderText())
        elif isinstance(widget, QComboBox):
            found += [widget.itemText(index) for index in range(widget.count())]
        elif isinstance(widget, QAbstractItemView) and widget.model() is not None:
            found += _cells(widget)
    return [text for text in found if text]


def _cells(view: QAbstractItemView) -> list[str]:
    model = view.model()
    columns = range(model.columnCount()) if isinstance(view, QTableView) else range(1)
    roles = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.ToolTipRole, Qt.ItemDataRole.AccessibleTextRole)
    heads = [model.headerData(column, Qt.Orientation.Horizontal) for column in columns]
    cells = [
        model.index(row, column).data(role)
        for row in range(model.rowCount())
        for column in columns
        for role in roles
    ]
    return [text for text in (*heads, *cells) if isinstance(text, str)]


def luminance(colour: QColor) -> float:
    """Relative luminance of WCAG 2."""

    def channel(value: float) -> float:
        return value / 12.92 if value <= 0.03928 else ((value + 0.055) / 1.055) ** 2.4

    parts = zip((0.2126, 0.7152, 0.0722), (colour.redF(), colour.greenF(), colour.blueF()), strict=True)
    return sum(weight * channel(value) for weight, value in parts)


def light_patches(picture: QImage, tokens: Tokens) -> list[str]:
    """Tiles of one bright colour that is no colour of a mark: what a dark window must not have."""
    marks = {
        QColor(tokens[name]).rgb()
        for name in ("accent", "accentHover", "good", "warn", "bad", "handle", "text")
    }
    marks |= {QColor(colour).rgb() for colour in tokens.models}
    found = []
    for left, top in _tiles(picture):
        colours = set(_corner_colours(picture, left, top))
        if len(colours) == 1:
            (rgb,) = colours
            if luminance(QColor(rgb)) > BRIGHT and rgb not in marks:
                found.append(f"{QColor(rgb).name()} at {left},{top}")
    return found


def _tiles(picture: QImage) -> Iterator[tuple[int, int]]:
    for top in range(0, picture.height() - TILE, TILE):
        for left in range(0, picture.width() - TILE, TILE):
            yield left, top


def _corner_colours(picture: QImage, left: int, top: int) -> Iterable[int]:
    steps = range(0, TILE, 3)
    return (picture.pixel(left + x, top + y) | 0xFF000000 for y in steps for x in steps)
