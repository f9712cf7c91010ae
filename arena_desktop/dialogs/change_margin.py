"""Changes how sure a result has to be: the gap that matters, and how much a model must have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from arena_desktop.desks.project_settings import Place
from arena_desktop.dialogs.edit_dialog import SettingsDialog, add_short, column, open_settings
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import NumberSpin, Spin
from arena_desktop.widgets.forms import FormGrid
from arena_desktop.widgets.labels import Label
from arena_desktop.wording.setup import coverage_sentence, margin_sentence
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_LEAST, _MOST = 0.01, 99.99
MARGIN: Place = ("statistics", "margin")
COVERAGE: Place = ("statistics", "min_coverage")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeMarginDialog", text)


class ChangeMarginDialog(SettingsDialog):
    """Two figures of 100, and what they mean."""

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__("margin", _tr("How sure it has to be"), parent)
        keep = Button(_tr("Keep these figures"), "primary", name="button_keep_margin")
        self.set_content(self._figures(config), keep, 480, 320)
        self.keep_before()
        self.spin_margin.valueChanged.connect(lambda _value: self._say())
        self.spin_coverage.valueChanged.connect(lambda _value: self._say())
        self._say()
        self.spin_margin.setFocus()

    def now(self) -> dict[Place, Any]:
        return {
            MARGIN: round(self.spin_margin.value() / 100, 6),
            COVERAGE: self.spin_coverage.value() / 100,
        }

    def _figures(self, config: Config) -> QWidget:
        form = FormGrid(above=True)
        spoken = _tr("The gap that matters, in points of 100")
        self.spin_margin = NumberSpin(spoken, _LEAST, _MOST, name="spin_margin")
        self.spin_margin.setValue(config.statistics.margin * 100)
        add_short(form, _tr("The &gap that matters, in points of 100"), self.spin_margin)
        spoken = _tr("A model must have answered, of 100 tests")
        self.spin_coverage = Spin(spoken, 0, 100, name="spin_coverage")
        self.spin_coverage.setValue(round(config.statistics.min_coverage * 100))
        add_short(form, _tr("A model must have &answered, of 100 tests"), self.spin_coverage)
        self._sentence = Label("", colour="text2", wrap=True, name="label_new_margin")
        return column(form, self._sentence)

    def _say(self) -> None:
        values = self.now()
        self._sentence.setText(f"{margin_sentence(values[MARGIN])} {coverage_sentence(values[COVERAGE])}")


def open_change_margin(context: AppContext, parent: QWidget | None = None) -> ChangeMarginDialog | None:
    """Opens the figures; what is changed goes into the open project, which is then read again."""
    said, name = _tr("How sure it has to be was changed."), _tr("change how sure it has to be")
    return open_settings(ChangeMarginDialog, context, parent, said, name)
