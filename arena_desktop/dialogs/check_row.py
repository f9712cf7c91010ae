"""One check of a list: which way of marking, its settings, how it counts among the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QHBoxLayout,
    QSizePolicy,
    QVBoxLayout,
    QWidget,
)

from arena_desktop.desks.project_checks import CheckChoice
from arena_desktop.dialogs.check_fields import Field, Kept, Many
from arena_desktop.dialogs.check_options import CheckOptions
from arena_desktop.theme.switch import set_width
from arena_desktop.widgets.buttons import IconButton
from arena_desktop.widgets.card import Divider
from arena_desktop.widgets.fields import Combo, NumberSpin
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.forms import FormGrid
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import check_choice as words
from arena_desktop.wording.setup import check_title
from engine.config.schema import MOST_WEIGHT
from engine.domain import CheckSpec, Problem
from engine.project import Project
from engine.scoring.custom_files import scorer_names
from engine.scoring.registry import CHECKS, canonical_check

_MOST_LABELS = 12


def _tr(text: str) -> str:
    return QCoreApplication.translate("CheckRow", text)


class CheckRow(QWidget):
    """The row. `moved(self, -1 or 1)` and `removed(self)` ask the list; `changed` follows every change."""

    changed = Signal()
    moved = Signal(object, int)
    removed = Signal(object)

    def __init__(self, choice: CheckChoice, project: Project, number: int) -> None:
        super().__init__()
        self._origin, self._given, self._project, self._number = (
            choice.origin,
            choice.spec,
            project,
            number,
        )
        self._kept: dict[str, CheckSpec] = {}
        self._spec = choice.spec
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self._line = Divider()
        column.addWidget(self._line)
        column.addLayout(self._head())
        self._rule = Label("", "caption", colour="text2", wrap=True)
        column.addWidget(self._rule)
        self._body = QVBoxLayout()
        self._body.setContentsMargins(0, 4, 0, 0)
        column.addLayout(self._body)
        column.addLayout(self._counting())
        self.form: CheckOptions | None = None
        self.reference: Field | None = None
        self._build()
        self.combo.currentIndexChanged.connect(lambda _index: self._on_kind())

    # what is chosen

    @property
    def check(self) -> Any:
        """The built-in check; None for one of the project's own."""
        return CHECKS.get(canonical_check(self._spec.type) or "")

    def choice(self) -> CheckChoice:
        """The check as it stands."""
        options = self._spec.options if self.form is None else self.form.options()
        reference = self._spec.reference if self.reference is None else self.reference.value()
        weight = self.spin_weight.value() if self.spin_weight.value() != self._weight else self._given.weight
        spec = replace(
            self._spec,
            options=options,
            reference=reference,
            weight=weight,
            must_pass=self.check_must.isChecked(),
            negate=self.check_not.isChecked(),
        )
        return CheckChoice(spec, self._origin)

    def stops(self) -> list[QWidget]:
        """Where the keyboard stops in it, in the order that the eye sees."""
        head = [self.combo, self.button_up, self.button_down, self.button_remove]
        inside = [] if self.form is None else self.form.stops()
        own = [] if self.reference is None else self.reference.stops()
        return [*head, *inside, *own, self.spin_weight, self.check_must, self.check_not]

    def show_faults(self, faults: Sequence[Problem]) -> bool:
        """Shows the faults of the settings; True where there are any."""
        return self.form is not None and self.form.show_faults(faults)

    def show_place(self, at: int, of: int) -> None:
        """What only means something among others is hidden where there is one alone."""
        self._line.setVisible(at > 0)
        for widget in (self.button_up, self.button_down, self.button_remove, self.check_must):
            widget.setVisible(of > 1)
        self.spin_weight.setVisible(of > 1)
        self.button_up.setEnabled(at > 0)
        self.button_down.setEnabled(at < of - 1)

    # parts

    def _head(self) -> QHBoxLayout:
        number, row = self._number, QHBoxLayout()
        row.setSpacing(8)
        spoken = _tr("Way of marking {number}").format(number=number)
        self.combo = Combo(spoken, name=f"combo_kind_{number}")
        self.combo.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        for name, check in CHECKS.items():
            self.combo.addItem(check_title(check, name), name)
        own = sorted(scorer_names(self._project.root, self._project.config.scorers.paths).names)
        for name in dict.fromkeys((*own, self._spec.type)):
            if canonical_check(name) is None:
                self.combo.addItem(check_title(None, name), name)
        self.combo.setCurrentIndex(self.combo.findData(canonical_check(self._spec.type) or self._spec.type))
        row.addWidget(self.combo, 1)
        self.button_up = self._button("up", _tr("Move check {number} up"), "up", -1)
        self.button_down = self._button("down", _tr("Move check {number} down"), "down", 1)
        self.button_remove = self._button("close", _tr("Remove check {number}"), "remove", 0)
        for button in (self.button_up, self.button_down, self.button_remove):
            row.addWidget(button)
        return row

    def _button(self, icon: str, spoken: str, name: str, step: int) -> IconButton:
        button = IconButton(
            icon, spoken.format(number=self._number), name=f"button_{name}_check_{self._number}"
        )
        if step:
            button.clicked.connect(lambda: self.moved.emit(self, step))
        else:
            button.clicked.connect(lambda: self.removed.emit(self))
        return button

    def _counting(self) -> FlowLayout:
        number, row = self._number, FlowLayout(gap=16)
        self.spin_weight = NumberSpin(
            _tr("How much check {number} counts").format(number=number),
            0.0,
            float(MOST_WEIGHT),
            prefix=_tr("counts "),
            name=f"spin_weight_{number}",
        )
        self.spin_weight.setValue(self._given.weight)
        self._weight = self.spin_weight.value()
        set_width(self.spin_weight, 130, least=True)
        self.check_must = self._box(_tr("Must pass"), f"check_must_{number}", self._given.must_pass)
        self.check_must.setAccessibleName(_tr("Check {number} must pass").format(number=number))
        self.check_not = self._box("", f"check_not_{number}", self._given.negate)
        for widget in (self.spin_weight, self.check_must, self.check_not):
            row.addWidget(widget)
        self.spin_weight.valueChanged.connect(lambda _value: self.changed.emit())
        return row

    def _box(self, title: str, name: str, on: bool) -> QCheckBox:
        box = QCheckBox(title)
        box.setObjectName(name)
        box.setChecked(on)
        box.toggled.connect(lambda _on: self.changed.emit())
        return box

    # another kind

    def _on_kind(self) -> None:
        self._kept[canonical_check(self._spec.type) or self._spec.type] = self.choice().spec
        kind = str(self.combo.currentData())
        own = self._given if kind == (canonical_check(self._given.type) or self._given.type) else None
        self._spec = self._kept.get(kind) or own or CheckSpec(kind, self._first_options(kind))
        self._build()
        self.changed.emit()

    def _first_options(self, kind: str) -> dict[str, Any]:
        """Labels are there already where the right answers of the tests are few."""
        usual = self._project.config.scorers.options
        if kind != "classification" or usual.get(kind, {}).get("labels"):
            return {}
        texts = {case.reference for case in self._project.all_cases if isinstance(case.reference, str)}
        return {"labels": sorted(texts)} if 1 < len(texts) <= _MOST_LABELS else {}

    def _build(self) -> None:
        for old in (self.form, *(() if self.reference is None else (self.reference,))):
            if old is not None:
                self._body.removeWidget(old)
                old.hide()
                old.deleteLater()
        self.form = self.reference = None
        check = self.check
        self._rule.setText(words.kind_sentence(check))
        self.check_not.setVisible(check is not None)
        if check is None:
            return
        self.check_not.setText(words.turned_words())
        self.form = CheckOptions(check, self._spec.options, self._project, self._number)
        self.form.changed.connect(self.changed)
        self._body.addWidget(self.form)
        if check.needs_reference({option.name: option.default for option in check.options}):
            self._add_reference(self.form)

    def _add_reference(self, form: CheckOptions) -> None:
        title = _tr("Compared with this, instead of the right answer of a test")
        value, name = self._spec.reference, f"check_{self._number}_reference"
        texts = value if isinstance(value, list | tuple) else [] if value is None else [value]
        plain = all(isinstance(text, str) and "\n" not in text for text in texts)
        self.reference = Many(title, value, name, single=True, lines=2) if plain else Kept(title, value)
        self.reference.changed.connect(self.changed)
        grid = FormGrid(above=True)
        grid.add(title, self.reference).setBuddy(self.reference.main)
        form.more.content.addWidget(grid)
        if value is not None:
            form.more.set_open(True)
