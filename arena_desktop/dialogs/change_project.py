"""Changes what a project says about itself: name, instructions, the mark it needs, spending."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QLineEdit, QWidget

from arena_desktop.desks.project_settings import Place
from arena_desktop.dialogs.edit_dialog import SettingsDialog, add_short, open_settings
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import MoneySpin, Spin, TextArea
from arena_desktop.widgets.forms import FormGrid
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeProjectDialog", text)


class ChangeProjectDialog(SettingsDialog):
    """A form over the settings people change most."""

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__("project", _tr("Change the project"), parent)
        change = Button(_tr("Change the project"), "primary", name="button_change_project_now")
        self.set_content(self.scrolled(self._form(config)), change, 600, 640)
        self.keep_before()
        self.edit_name.textChanged.connect(lambda text: change.setEnabled(bool(text.strip())))
        self.edit_name.setFocus()

    def now(self) -> dict[Place, Any]:
        right = self.spin_right.value()
        return {
            ("project",): self.edit_name.text().strip(),
            ("description",): self.edit_purpose.text().strip() or None,
            ("defaults", "system"): self.edit_system.toPlainText().strip() or None,
            ("constraints", "min_accuracy"): right / 100 if right else None,
            ("budgets", "max_run_usd"): _number(self.spin_limit.amount()),
            ("budgets", "confirm_above_usd"): _number(self.spin_ask.amount()),
        }

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
        title, told = _tr("&Instructions every model gets"), _tr("Sent before each question")
        form.add(title, self.edit_system, help_text=told)
        self.spin_right = Spin(_tr("Must get right, of 100"), 0, 100, name="spin_min_right")
        self.spin_right.setSpecialValueText(_tr("Any"))
        least = config.constraints.min_accuracy
        self.spin_right.setValue(round(float(least) * 100) if least is not None else 0)
        told = _tr("A model with less is ruled out")
        add_short(form, _tr("Must get &right, of 100"), self.spin_right, help_text=told)
        self.spin_limit = _money(
            _tr("Stop a run at"), _tr("No limit"), "spin_limit", config.budgets.max_run_usd
        )
        add_short(form, _tr("&Stop a run at"), self.spin_limit)
        self.spin_ask = _money(
            _tr("Ask me first above"), _tr("Never ask"), "spin_ask_above", config.budgets.confirm_above_usd
        )
        add_short(form, _tr("&Ask me first above"), self.spin_ask)
        return form


def _money(spoken: str, none: str, name: str, amount: Decimal | None) -> MoneySpin:
    spin = MoneySpin(spoken, none_text=none, name=name)
    spin.set_amount(amount)
    return spin


def _number(amount: Decimal | None) -> float | None:
    return None if amount is None else float(amount)


def open_change_project(context: AppContext, parent: QWidget | None = None) -> ChangeProjectDialog | None:
    """Opens the form; what is changed goes into the open project, which is then read again."""
    said, name = _tr("The project was changed."), _tr("change the project")
    return open_settings(ChangeProjectDialog, context, parent, said, name)
