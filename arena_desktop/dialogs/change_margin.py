"""Changes how sure a result has to be: the gap that matters, and how much a model must have answered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.project_settings import Place, change_settings
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.fields import FormGrid, NumberSpin, Spin
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from arena_desktop.wording.setup import coverage_sentence, margin_sentence
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_WIDTH, _HEIGHT = 480, 320
_LEAST, _MOST = 0.01, 99.99
MARGIN: Place = ("statistics", "margin")
COVERAGE: Place = ("statistics", "min_coverage")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeMarginDialog", text)


class ChangeMarginDialog(QDialog):
    """Two figures of 100. `changed(values)` holds only what is different."""

    changed = Signal(object)

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        statistics = config.statistics
        self.setObjectName("dialog_change_margin")
        self.setWindowTitle(_tr("How sure it has to be"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(Label(self.windowTitle(), "title"))
        form = FormGrid(above=True)
        self.spin_margin = NumberSpin(
            _tr("The gap that matters, in points of 100"), _LEAST, _MOST, name="spin_margin"
        )
        self.spin_margin.setValue(statistics.margin * 100)
        form.add(_tr("The &gap that matters, in points of 100"), _left(self.spin_margin)).setBuddy(
            self.spin_margin
        )
        self.spin_coverage = Spin(
            _tr("A model must have answered, of 100 tests"), 0, 100, name="spin_coverage"
        )
        self.spin_coverage.setValue(round(statistics.min_coverage * 100))
        form.add(_tr("A model must have &answered, of 100 tests"), _left(self.spin_coverage)).setBuddy(
            self.spin_coverage
        )
        layout.addWidget(form)
        self._sentence = Label("", colour="text2", wrap=True, name="label_new_margin")
        layout.addWidget(self._sentence)
        layout.addStretch(1)
        row = FlowLayout(right=True)
        cancel = Button(_tr("Cancel"), name="button_cancel_margin")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.button_keep = Button(_tr("Keep these figures"), "primary", name="button_keep_margin")
        self.button_keep.setDefault(True)
        self.button_keep.clicked.connect(self._on_keep)
        row.addWidget(cancel)
        row.addWidget(self.button_keep)
        layout.addLayout(row)
        self._before = self._values()
        self.focus_ring = FocusRing(self)
        self.spin_margin.valueChanged.connect(lambda _value: self._say())
        self.spin_coverage.valueChanged.connect(lambda _value: self._say())
        self._say()
        resize_within_screen(self, _WIDTH, _HEIGHT)
        self.spin_margin.setFocus()

    def values(self) -> dict[Place, Any]:
        """What is different now, by its place in the settings file."""
        return {place: value for place, value in self._values().items() if value != self._before[place]}

    def _values(self) -> dict[Place, Any]:
        return {
            MARGIN: round(self.spin_margin.value() / 100, 6),
            COVERAGE: self.spin_coverage.value() / 100,
        }

    def _say(self) -> None:
        values = self._values()
        self._sentence.setText(f"{margin_sentence(values[MARGIN])} {coverage_sentence(values[COVERAGE])}")

    def _on_keep(self) -> None:
        values = self.values()
        self.accept()
        if values:
            self.changed.emit(values)


def _left(field: QWidget) -> QWidget:
    """A short field at the left of its place."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(field)
    row.addStretch(1)
    return holder


def open_change_margin(context: AppContext, parent: QWidget | None = None) -> ChangeMarginDialog | None:
    """Opens the figures; what is changed goes into the open project, which is then read again."""
    project = context.projects.project
    if project is None:
        return None
    dialog = ChangeMarginDialog(project.config, parent)
    dialog.changed.connect(
        lambda values: write_to_project(
            context,
            lambda: change_settings(project, values),
            _tr("How sure it has to be was changed."),
            name=_tr("change how sure it has to be"),
        )
    )
    dialog.show()
    return dialog
