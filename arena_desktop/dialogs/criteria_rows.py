"""The criteria of a rubric as rows: what is looked at, how much it counts, whether it must pass."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLineEdit, QVBoxLayout, QWidget

from arena_desktop.theme.switch import set_width
from arena_desktop.widgets.buttons import Button, IconButton
from arena_desktop.widgets.fields import NumberSpin
from engine.config.schema import Criterion


def _tr(text: str) -> str:
    return QCoreApplication.translate("CriteriaRows", text)


class CriterionRow(QWidget):
    """One criterion. What is not shown of it (its description) is kept."""

    changed = Signal()
    removed = Signal(object)

    def __init__(self, criterion: Criterion, number: int) -> None:
        super().__init__()
        self._criterion = criterion
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        self.edit_name = QLineEdit(criterion.name)
        self.edit_name.setObjectName(f"edit_criterion_{number}")
        self.edit_name.setAccessibleName(_tr("Criterion {number}").format(number=number))
        self.edit_name.setPlaceholderText(_tr("What it must do"))
        spoken = _tr("How much criterion {number} counts").format(number=number)
        name = f"spin_criterion_{number}"
        self.spin_weight = NumberSpin(spoken, 0.0, 1000.0, prefix=_tr("counts "), name=name)
        self.spin_weight.setValue(criterion.weight)
        set_width(self.spin_weight, 130, least=True)
        self.check_must = QCheckBox(_tr("must pass"))
        self.check_must.setChecked(criterion.must_pass)
        self.check_must.setObjectName(f"check_criterion_{number}")
        self.check_must.setAccessibleName(_tr("Criterion {number} must pass").format(number=number))
        self.button_away = away = IconButton(
            "close",
            _tr("Remove criterion {number}").format(number=number),
            name=f"button_remove_criterion_{number}",
        )
        away.clicked.connect(lambda: self.removed.emit(self))
        row.addWidget(self.edit_name, 1)
        for widget in (self.spin_weight, self.check_must, away):
            row.addWidget(widget)
        self.edit_name.textChanged.connect(self.changed)
        self.spin_weight.valueChanged.connect(self.changed)
        self.check_must.toggled.connect(self.changed)

    def stops(self) -> list[QWidget]:
        """Where the keyboard stops in it, in order."""
        return [self.edit_name, self.spin_weight, self.check_must, self.button_away]

    def value(self) -> dict[str, Any] | None:
        """As the settings file holds it; None where it has no name."""
        name = self.edit_name.text().strip()
        if not name:
            return None
        found: dict[str, Any] = {"name": name, "weight": _plain(self.spin_weight.value())}
        if self.check_must.isChecked():
            found["must_pass"] = True
        if self._criterion.description:
            found["description"] = self._criterion.description
        return found


class CriteriaRows(QWidget):
    """All criteria, with a button for one more."""

    changed = Signal()

    def __init__(self, criteria: Sequence[Criterion] = ()) -> None:
        super().__init__()
        self._rows: list[CriterionRow] = []
        self._made = 0
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        column.addLayout(self._list)
        line = QHBoxLayout()
        self.button_add = Button(_tr("Add a criterion"), "quiet", icon="plus", name="button_add_criterion")
        self.button_add.setAutoDefault(False)
        self.button_add.clicked.connect(self._on_add)
        line.addWidget(self.button_add)
        line.addStretch(1)
        column.addLayout(line)
        for criterion in criteria:
            self._add(criterion)

    def values(self) -> list[dict[str, Any]]:
        """Every criterion with a name, in order."""
        return [value for row in self._rows if (value := row.value()) is not None]

    def rows(self) -> tuple[CriterionRow, ...]:
        """The rows as they stand."""
        return tuple(self._rows)

    def _on_add(self) -> None:
        self._add(Criterion("")).edit_name.setFocus()
        self.changed.emit()

    def _add(self, criterion: Criterion) -> CriterionRow:
        self._made += 1
        row = CriterionRow(criterion, self._made)
        row.changed.connect(self.changed)
        row.removed.connect(self._remove)
        self._rows.append(row)
        self._list.addWidget(row)
        return row

    def _remove(self, row: CriterionRow) -> None:
        at = self._rows.index(row)
        self._rows.remove(row)
        row.hide()
        row.deleteLater()
        # The focus must not fall out of the window with the row.
        rest = self._rows[min(at, len(self._rows) - 1)].edit_name if self._rows else self.button_add
        rest.setFocus()
        self.changed.emit()


def _plain(weight: float) -> int | float:
    return int(weight) if weight == int(weight) else weight
