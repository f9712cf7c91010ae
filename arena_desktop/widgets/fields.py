"""Fields: filter, choice, numbers, money, longer text, a share. `forms` puts them into rows."""

from __future__ import annotations

from decimal import Decimal

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QFontMetricsF, QKeyEvent, QPainter, QPaintEvent, QWheelEvent
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QComboBox,
    QDoubleSpinBox,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QSlider,
    QSpinBox,
    QStyledItemDelegate,
    QWidget,
)

from arena_desktop.theme import F, current, icon_size, scaled
from arena_desktop.theme import icons as theme_icons
from arena_desktop.theme.switch import restyle, set_width
from arena_desktop.widgets.labels import LOOK_CHANGES, Label

_TEXT_MARGIN = 9
_LENS = 16


def set_state(widget: QWidget, state: str = "") -> None:
    """Draws the edge of a field as a fault: "bad", "warn", or "" for none. Say why with a `FieldNote`."""
    if widget.property("state") != (state or None):
        widget.setProperty("state", state or None)
        restyle(widget)


class FilterField(QLineEdit):
    """A field that filters: magnifier, clear button, Esc empties it, Down goes on to the table."""

    down_pressed = Signal()

    def __init__(self, placeholder: str, *, name: str = "edit_filter") -> None:
        super().__init__()
        self.setObjectName(name)
        self.setProperty("kind", "filter")
        self.setPlaceholderText(placeholder)
        self.setAccessibleName(placeholder)
        self.setClearButtonEnabled(False)
        # An action's icon is put too low once the style sheet gives the field a least height.
        self._apply_margin()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() in LOOK_CHANGES:
            self._apply_margin()

    def _apply_margin(self) -> None:
        margin = icon_size(_LENS) + 6
        if self.textMargins().left() != margin:
            self.setTextMargins(margin, 0, 0, 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        size = icon_size(_LENS)
        place = QRectF(8, (self.height() - size) / 2, size, size)
        theme_icons.draw(QPainter(self), "search", current()["text2"], place)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() == Qt.Key.Key_Down:
            self.down_pressed.emit()
        else:
            super().keyPressEvent(event)


class _CalmWheel:
    """The wheel scrolls the page unless the field has the focus: no value changes by accident."""

    def wheelEvent(self, event: QWheelEvent) -> None:
        if self.hasFocus():  # type: ignore[attr-defined]
            super().wheelEvent(event)  # type: ignore[misc]
        else:
            event.ignore()


class Combo(_CalmWheel, QComboBox):
    """A combo box; its accessible name must be given, because its value would be read as its name."""

    def __init__(self, spoken: str, *, name: str = "") -> None:
        super().__init__()
        self.setAccessibleName(spoken)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        self.setFont(F("button"))
        self.setProperty("text_role", "button")
        # The usual delegate of combo boxes ignores the style sheet's rows.
        self.setItemDelegate(QStyledItemDelegate(self))
        self.view().setTextElideMode(Qt.TextElideMode.ElideRight)
        if name:
            self.setObjectName(name)

    def minimumSizeHint(self) -> QSize:
        # A long entry is cut rather than making the page wider than its window.
        hint = super().minimumSizeHint()
        return QSize(min(hint.width(), scaled(140)), hint.height())


def _set_up_spin(box: QAbstractSpinBox, spoken: str, name: str) -> None:
    # The style sheet's left padding is lost on spin boxes.
    box.lineEdit().setTextMargins(_TEXT_MARGIN, 0, 0, 0)
    box.setAccessibleName(spoken)
    box.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
    box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
    set_width(box, 92, least=True)
    if name:
        box.setObjectName(name)


class Spin(_CalmWheel, QSpinBox):
    """A whole number."""

    def __init__(self, spoken: str, low: int, high: int, *, suffix: str = "", name: str = "") -> None:
        super().__init__()
        self.setRange(low, high)
        self.setSuffix(suffix)
        _set_up_spin(self, spoken, name)


class NumberSpin(_CalmWheel, QDoubleSpinBox):
    """A number of at most two decimals, shown without zeros at its end."""

    def __init__(self, spoken: str, low: float, high: float, *, prefix: str = "", name: str = "") -> None:
        super().__init__()
        self.setDecimals(2)
        self.setRange(low, high)
        self.setPrefix(prefix)
        _set_up_spin(self, spoken, name)

    def textFromValue(self, value: float) -> str:
        return self.locale().toString(value, "g", 12)


class MoneySpin(_CalmWheel, QDoubleSpinBox):
    """An amount of dollars, or none. `amount()` is a Decimal or None; the least value reads "none"."""

    def __init__(self, spoken: str, *, none_text: str = "", most: float = 100_000, name: str = "") -> None:
        super().__init__()
        self._can_be_none = bool(none_text)
        self.setDecimals(2)
        self.setPrefix("$ ")
        self.setSingleStep(0.5)
        self.setRange(-0.01 if none_text else 0.0, most)
        self.setSpecialValueText(none_text)
        _set_up_spin(self, spoken, name)
        set_width(self, 112, least=True)

    def amount(self) -> Decimal | None:
        """The amount, exact to the cent."""
        if self._can_be_none and self.value() < 0:
            return None
        return Decimal(self.text_cents()).scaleb(-2)

    def text_cents(self) -> int:
        """The amount in whole cents."""
        return round(self.value() * 100)

    def set_amount(self, amount: Decimal | None) -> None:
        """Shows an amount; None = the special text."""
        self.setValue(self.minimum() if amount is None else float(amount))

    def stepBy(self, steps: int) -> None:
        # From "none" the first step up goes to a round amount, not to 0.49.
        if self._can_be_none and self.value() < 0 and steps > 0:
            self.setValue(0.0)
            steps -= 1
        super().stepBy(steps)


class TextArea(QPlainTextEdit):
    """Several lines of plain text; Tab goes on to the next field."""

    def __init__(self, spoken: str, *, lines: int = 4, placeholder: str = "", name: str = "") -> None:
        super().__init__()
        self._lines = lines
        self.setAccessibleName(spoken)
        self.setPlaceholderText(placeholder)
        self.setTabChangesFocus(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        if name:
            self.setObjectName(name)

    def sizeHint(self) -> QSize:
        return QSize(240, int(QFontMetricsF(self.font()).lineSpacing() * self._lines + 24))

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.sizeHint().height())


class ShareSlider(QWidget):
    """A weight: name left, slider, share right. `moved` while moving, `released` once at the end."""

    moved = Signal(int)
    released = Signal(int)

    def __init__(self, title: str, value: int, *, name: str = "") -> None:
        super().__init__()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(12)
        words = Label(title, wrap=True)
        set_width(words, 100)
        self.slider = QSlider(Qt.Orientation.Horizontal)
        self.slider.setRange(0, 100)
        self.slider.setPageStep(10)
        self.slider.setAccessibleName(title)
        if name:
            self.slider.setObjectName(name)
        self._share = Label("", "strong")
        set_width(self._share, 32, least=True)
        self._share.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        row.addWidget(words)
        row.addWidget(self.slider, 1)
        row.addWidget(self._share)
        words.setBuddy(self.slider)
        self.set_value(value)
        self.slider.valueChanged.connect(self._on_moved)
        self.slider.sliderReleased.connect(lambda: self.released.emit(self.slider.value()))

    def value(self) -> int:
        """0 to 100."""
        return self.slider.value()

    def set_value(self, value: int) -> None:
        """Moves the handle."""
        self.slider.setValue(value)
        self.set_share(value)

    def set_share(self, share: int) -> None:
        """The figure at the right: the share of all weights, which is not always the handle's place."""
        self._share.setText(str(share))

    def _on_moved(self, value: int) -> None:
        self.set_share(value)
        self.moved.emit(value)
        if not self.slider.isSliderDown():
            self.released.emit(value)
