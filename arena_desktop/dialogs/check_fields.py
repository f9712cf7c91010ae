"""Fields for the settings of a check, one for each kind of value. What a field cannot show it keeps."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QCheckBox, QFileDialog, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from arena_desktop.dialogs.criteria_rows import CriteriaRows
from arena_desktop.theme.switch import set_width
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import Combo, NumberSpin, TextArea
from arena_desktop.widgets.labels import Label
from engine.config.schema import Criterion

_MOST = 1_000_000_000.0


def _tr(text: str) -> str:
    return QCoreApplication.translate("CheckFields", text)


class Field(QWidget):
    """A field of one setting. `main` takes the keyboard; `value()` is as the settings file has it."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.main: QWidget = self
        self.row = QHBoxLayout(self)
        self.row.setContentsMargins(0, 0, 0, 0)
        self.row.setSpacing(8)

    def take(self, main: QWidget, stretch: int = 0) -> None:
        """Puts the control in; a short one stays at the left."""
        self.main = main
        self.row.addWidget(main, stretch)
        if not stretch:
            self.row.addStretch(1)

    def stops(self) -> list[QWidget]:
        """Where the keyboard stops in it, in order."""
        return [self.main]

    def value(self) -> Any:
        """What is given; None = nothing."""
        raise NotImplementedError


class Kept(Field):
    """Shows that a value stands in the settings file and gives it back as it is."""

    def __init__(self, spoken: str, value: Any) -> None:
        super().__init__()
        self._value = value
        self.take(Label(_tr("In the settings file, and kept as it is"), colour="text2", wrap=True), 1)
        self.main.setAccessibleName(spoken)

    def stops(self) -> list[QWidget]:
        return []

    def value(self) -> Any:
        return self._value


class Tick(Field):
    """Yes or no; the words are its own."""

    def __init__(self, title: str, value: Any, name: str) -> None:
        super().__init__()
        self.box = QCheckBox(title)
        self.box.setObjectName(name)
        self.box.setChecked(bool(value))
        self.take(self.box)
        self.box.toggled.connect(lambda _on: self.changed.emit())

    def value(self) -> bool:
        return self.box.isChecked()


class Pick(Field):
    """One of some values. A value that is not among them is kept as one more."""

    def __init__(self, spoken: str, choices: Mapping[Any, str], value: Any, name: str) -> None:
        super().__init__()
        self.combo = Combo(spoken, name=name)
        for item, words in choices.items():
            self.combo.addItem(words, item)
        if value not in choices:
            self.combo.addItem(str(value), value)
        self.combo.setCurrentIndex(max(0, self.combo.findData(value)))
        self.combo.setMinimumContentsLength(12)
        self.take(self.combo)
        self.combo.currentIndexChanged.connect(lambda _index: self.changed.emit())

    def value(self) -> Any:
        return self.combo.currentData()


class Number(Field):
    """A number, or none where `none_text` is given. `scale` is how many of its units make one of the file."""

    def __init__(
        self, spoken: str, value: Any, name: str, *, low: float, high: float, whole: bool = False
    ) -> None:
        super().__init__()
        self._whole, self._scale, self._can_be_none, self._low = whole, 1.0, False, low
        self._given = value
        self.spin = NumberSpin(spoken, low, high, name=name)
        self.spin.setDecimals(0 if whole else 6)
        set_width(self.spin, 160, least=True)
        self.take(self.spin)

    def show(self, *, scale: float = 1.0, none_text: str = "", prefix: str = "", suffix: str = "") -> Number:
        """Sets how it is shown and puts the value in. Call once."""
        self._scale, self._can_be_none = scale, bool(none_text)
        low, high = self._low * scale, min(_MOST, self.spin.maximum() * scale)
        self.spin.setRange(low - 1 if none_text else low, high)
        self.spin.setSpecialValueText(none_text)
        self.spin.setPrefix(prefix)
        self.spin.setSuffix(suffix)
        self.spin.setValue(self.spin.minimum() if self._given is None else float(self._given) * scale)
        self._before = self.spin.value()
        self.spin.valueChanged.connect(lambda _value: self.changed.emit())
        return self

    def value(self) -> float | int | None:
        # An untouched value keeps every digit that it has in the file.
        if self.spin.value() == self._before:
            return self._given
        shown = self.spin.value()
        if self._can_be_none and shown < self._low * self._scale:
            return None
        exact = round(shown / self._scale, 9)
        return int(exact) if self._whole or exact == int(exact) else exact


class Line(Field):
    """Text of one line; empty = nothing."""

    def __init__(self, spoken: str, value: Any, name: str, *, placeholder: str = "") -> None:
        super().__init__()
        self.edit = QLineEdit("" if value is None else str(value))
        self.edit.setObjectName(name)
        self.edit.setAccessibleName(spoken)
        self.edit.setPlaceholderText(placeholder)
        self.take(self.edit, 1)
        self.edit.textChanged.connect(lambda _text: self.changed.emit())

    def value(self) -> str | None:
        return self.edit.text().strip() or None


class Area(Field):
    """Text of several lines, as it is; blank = nothing."""

    def __init__(self, spoken: str, value: Any, name: str, *, lines: int = 3) -> None:
        super().__init__()
        self.area = TextArea(spoken, lines=lines, name=name)
        self.area.setPlainText("" if value is None else str(value))
        self.take(self.area, 1)
        self.area.textChanged.connect(self.changed)

    def value(self) -> Any:
        text = self.area.toPlainText()
        return text if text.strip() else None


class Many(Area):
    """One text in each line. `single` gives a lone text as itself, not as a list of one."""

    def __init__(self, spoken: str, value: Any, name: str, *, single: bool = False, lines: int = 3) -> None:
        texts = value if isinstance(value, list | tuple) else [] if value is None else [value]
        super().__init__(spoken, "\n".join(str(text) for text in texts), name, lines=lines)
        self._single, self._given, self._shown = single, value, self.area.toPlainText()

    def value(self) -> Any:
        if self.area.toPlainText() == self._shown:
            return self._given
        lines = [line.strip() for line in self.area.toPlainText().split("\n") if line.strip()]
        if not lines:
            return None
        return lines[0] if self._single and len(lines) == 1 else lines


class FilePick(Line):
    """A file inside the project folder, by its path from there."""

    def __init__(self, spoken: str, value: Any, name: str, root: Path) -> None:
        super().__init__(spoken, value, name, placeholder="schema.json")
        self._root = root
        self.button = Button(_tr("Choose…"), name=f"{name}_choose")
        self.button.setAccessibleName(_tr("Choose a file of the project"))
        self.button.setAutoDefault(False)
        self.button.clicked.connect(self._on_choose)
        self.row.addWidget(self.button)

    def stops(self) -> list[QWidget]:
        return [self.edit, self.button]

    def _on_choose(self) -> None:
        title, kinds = _tr("Choose a file of the project"), _tr("JSON files (*.json);;All files (*)")
        path, _kind = QFileDialog.getOpenFileName(self, title, str(self._root), kinds)
        if path:
            self.set_path(Path(path))

    def set_path(self, path: Path) -> None:
        """Shows a file by its path from the project; one from outside in full, which is then a fault."""
        try:
            self.edit.setText(path.resolve().relative_to(self._root.resolve()).as_posix())
        except ValueError:
            self.edit.setText(str(path))


class Rubric(Field):
    """What a second AI looks at: words of one's own, or criteria that are marked one by one."""

    def __init__(self, spoken: str, value: Any, name: str) -> None:
        super().__init__()
        self._given = value
        column = QVBoxLayout()
        column.setSpacing(8)
        words = _tr("{what}, in your words").format(what=spoken)
        self.area = TextArea(words, lines=3, placeholder=_tr("In your words"), name=name)
        self.area.setPlainText(value if isinstance(value, str) else "")
        self.criteria = CriteriaRows(criteria_of(value) or ())
        column.addWidget(self.area)
        column.addWidget(Label(_tr("Or criteria that it marks one by one"), "caption", colour="text2"))
        column.addWidget(self.criteria)
        self.row.addLayout(column, 1)
        self.main = self.area
        self._before = self._read()
        self.area.textChanged.connect(self.changed)
        self.criteria.changed.connect(self.changed)

    def value(self) -> Any:
        now = self._read()
        if now == self._before:
            return self._given
        text, criteria = now
        return criteria or text or None

    def stops(self) -> list[QWidget]:
        rows = [widget for row in self.criteria.rows() for widget in row.stops()]
        return [self.area, *rows, self.criteria.button_add]

    def fault(self) -> str:
        """What keeps it from being written, in a sentence; empty = nothing."""
        text, criteria = self._read()
        if text and criteria:
            return _tr("Give either your words or criteria. Empty one of the two.")
        return ""

    def _read(self) -> tuple[str, list[dict[str, Any]]]:
        return self.area.toPlainText().strip(), self.criteria.values()


def criteria_of(value: Any) -> list[Criterion] | None:
    """Criteria as they are written in a file; None where they are written in another way."""
    found: list[Criterion] = []
    for item in value if isinstance(value, list | tuple) else ():
        if isinstance(item, str):
            found.append(Criterion(item))
        elif isinstance(item, Mapping) and set(item) <= {"name", "weight", "must_pass", "description"}:
            found.append(
                Criterion(
                    str(item.get("name", "")),
                    float(item.get("weight", 1.0)),
                    bool(item.get("must_pass", False)),
                    str(item.get("description", "")),
                )
            )
        else:
            return None
    return found
