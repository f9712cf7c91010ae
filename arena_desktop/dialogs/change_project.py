"""Changes what a project says about itself: name, instructions, the mark it needs, spending."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLineEdit, QScrollArea, QVBoxLayout, QWidget

from arena_desktop.desks.project_settings import Place, change_settings
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import FormGrid, MoneySpin, Spin, TextArea
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_WIDTH, _HEIGHT = 600, 640


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeProjectDialog", text)


class ChangeProjectDialog(QDialog):
    """A form over the settings people change most. `changed(values)` holds only what is different."""

    changed = Signal(object)

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_change_project")
        self.setWindowTitle(_tr("Change the project"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(Label(self.windowTitle(), "title"))
        layout.addWidget(self._scrolled(self._form(config)), 1)
        layout.addLayout(self._buttons())
        self.focus_ring = FocusRing(self)
        self._before = self._values()
        self.edit_name.textChanged.connect(lambda text: self.button_change.setEnabled(bool(text.strip())))
        resize_within_screen(self, _WIDTH, _HEIGHT)
        self.edit_name.setFocus()

    def values(self) -> dict[Place, Any]:
        """What is different now, by its place in the settings file; None = taken away."""
        return {place: value for place, value in self._values().items() if value != self._before[place]}

    # parts

    def _form(self, config: Config) -> QWidget:
        # Labels above: beside them nothing would be left for the fields at large text.
        form = FormGrid(above=True)
        self.edit_name = QLineEdit(config.project)
        self.edit_name.setObjectName("edit_project_name")
        form.add(_tr("&Name"), self.edit_name)
        self.edit_purpose = QLineEdit(config.description)
        self.edit_purpose.setObjectName("edit_project_purpose")
        form.add(_tr("&What it is for"), self.edit_purpose)
        self.edit_system = TextArea(_tr("Instructions every model gets"), lines=5, name="edit_system")
        self.edit_system.setPlainText(config.defaults.system or "")
        form.add(
            _tr("&Instructions every model gets"),
            self.edit_system,
            help_text=_tr("Sent before each question"),
        )
        self.spin_right = Spin(_tr("Must get right, of 100"), 0, 100, name="spin_min_right")
        self.spin_right.setSpecialValueText(_tr("Any"))
        least = config.constraints.min_accuracy
        self.spin_right.setValue(round(float(least) * 100) if least is not None else 0)
        form.add(
            _tr("Must get &right, of 100"),
            _left(self.spin_right),
            help_text=_tr("A model with less is ruled out"),
        ).setBuddy(self.spin_right)
        self.spin_limit = _money(
            _tr("Stop a run at"), _tr("No limit"), "spin_limit", config.budgets.max_run_usd
        )
        form.add(_tr("&Stop a run at"), _left(self.spin_limit)).setBuddy(self.spin_limit)
        self.spin_ask = _money(
            _tr("Ask me first above"), _tr("Never ask"), "spin_ask_above", config.budgets.confirm_above_usd
        )
        form.add(_tr("&Ask me first above"), _left(self.spin_ask)).setBuddy(self.spin_ask)
        return form

    def _scrolled(self, form: QWidget) -> QScrollArea:
        """With large text the form is higher than a small screen."""
        holder = QWidget()
        holder.setObjectName("scroll_body")
        column = QVBoxLayout(holder)
        column.setContentsMargins(4, 4, 8, 4)
        column.addWidget(form)
        column.addStretch(1)
        area = QScrollArea()
        area.setObjectName("scroll_change_project")
        area.setAccessibleName(_tr("What can be changed"))
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setFrameShape(QScrollArea.Shape.NoFrame)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        area.setWidgetResizable(True)
        area.setWidget(holder)
        holder.setAutoFillBackground(False)
        area.viewport().setAutoFillBackground(False)
        return area

    def _buttons(self) -> QHBoxLayout:
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button(_tr("Cancel"), name="button_cancel_project")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.button_change = Button(_tr("Change the project"), "primary", name="button_change_project_now")
        self.button_change.setDefault(True)
        self.button_change.clicked.connect(self._on_change)
        row.addWidget(cancel)
        row.addWidget(self.button_change)
        return row

    # inside

    def _values(self) -> dict[Place, Any]:
        right = self.spin_right.value()
        return {
            ("project",): self.edit_name.text().strip(),
            ("description",): self.edit_purpose.text().strip() or None,
            ("defaults", "system"): self.edit_system.toPlainText().strip() or None,
            ("constraints", "min_accuracy"): right / 100 if right else None,
            ("budgets", "max_run_usd"): _number(self.spin_limit.amount()),
            ("budgets", "confirm_above_usd"): _number(self.spin_ask.amount()),
        }

    def _on_change(self) -> None:
        values = self.values()
        self.accept()
        if values:
            self.changed.emit(values)


def _money(spoken: str, none: str, name: str, amount: Decimal | None) -> MoneySpin:
    spin = MoneySpin(spoken, none_text=none, name=name)
    spin.set_amount(amount)
    return spin


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def _left(field: QWidget) -> QWidget:
    """A short field at the left of its place."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(field)
    row.addStretch(1)
    return holder


def open_change_project(context: AppContext, parent: QWidget | None = None) -> ChangeProjectDialog | None:
    """Opens the form; what is changed goes into the open project, which is then read again."""
    project = context.projects.project
    if project is None:
        return None
    dialog = ChangeProjectDialog(project.config, parent)
    dialog.changed.connect(
        lambda values: write_to_project(
            context,
            lambda: change_settings(project, values),
            _tr("The project was changed."),
            name=_tr("change the project"),
        )
    )
    dialog.show()
    return dialog
