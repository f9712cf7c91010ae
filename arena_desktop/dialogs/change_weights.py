"""Changes what matters most in a project. Nothing is asked again and nothing is spent by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.project_settings import change_settings
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from arena_desktop.widgets.share_sliders import WHOLE, ShareSliders
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.setup import shares, weights_sentence
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_WIDTH, _HEIGHT = 520, 340
_ALWAYS = ("accuracy", "cost", "latency", "reliability")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeWeightsDialog", text)


class ChangeWeightsDialog(QDialog):
    """Sliders for what counts. `changed(weights)` follows the button, zeros left out."""

    changed = Signal(object)

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("dialog_change_weights")
        self.setWindowTitle(_tr("What matters most"))
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(Label(self.windowTitle(), "title"))
        own = {name: points for name, _title, points in shares(config.metrics.weights)}
        names = [*own, *(name for name in _ALWAYS if name not in own)]
        self.sliders = ShareSliders()
        self.sliders.set_shares(
            {name: own.get(name, 0) for name in names}, {name: metric_name(name) for name in names}
        )
        self.sliders.moved.connect(self._say)
        layout.addWidget(self.sliders)
        self._sentence = Label("", colour="text2", wrap=True, name="label_new_weights")
        layout.addWidget(self._sentence)
        layout.addStretch(1)
        row = QHBoxLayout()
        row.setSpacing(8)
        row.addStretch(1)
        cancel = Button(_tr("Cancel"), name="button_cancel_weights")
        cancel.setAutoDefault(False)
        cancel.clicked.connect(self.reject)
        self.button_keep = Button(_tr("Keep these weights"), "primary", name="button_keep_weights")
        self.button_keep.setDefault(True)
        self.button_keep.clicked.connect(self._on_keep)
        row.addWidget(cancel)
        row.addWidget(self.button_keep)
        layout.addLayout(row)
        self._before = self.sliders.shares()
        self.focus_ring = FocusRing(self)
        self._say()
        resize_within_screen(self, _WIDTH, _HEIGHT)

    def weights(self) -> dict[str, float]:
        """The shares as parts of 1, zeros left out."""
        return {name: share / WHOLE for name, share in self.sliders.shares().items() if share}

    def _say(self) -> None:
        self._sentence.setText(weights_sentence(self.weights()))

    def _on_keep(self) -> None:
        changed = self.sliders.shares() != self._before
        self.accept()
        if changed:
            self.changed.emit(self.weights())


def open_change_weights(context: AppContext, parent: QWidget | None = None) -> ChangeWeightsDialog | None:
    """Opens the sliders; what is kept goes into the open project, which is then read again."""
    project = context.projects.project
    if project is None:
        return None
    dialog = ChangeWeightsDialog(project.config, parent)
    dialog.changed.connect(
        lambda weights: write_to_project(
            context,
            lambda: change_settings(project, {("metrics", "weights"): weights}),
            _tr("The weights were changed."),
            name=_tr("change what matters most"),
        )
    )
    dialog.show()
    return dialog
