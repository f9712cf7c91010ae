"""Changes what matters most in a project. Nothing is asked again and nothing is spent by it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QWidget

from arena_desktop.desks.project_settings import Place
from arena_desktop.dialogs.edit_dialog import SettingsDialog, column, open_settings
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.share_sliders import WHOLE, ShareSliders
from arena_desktop.wording.metrics import metric_name
from arena_desktop.wording.setup import shares, weights_sentence
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

_ALWAYS = ("accuracy", "cost", "latency", "reliability")


def _tr(text: str) -> str:
    return QCoreApplication.translate("ChangeWeightsDialog", text)


class ChangeWeightsDialog(SettingsDialog):
    """Sliders for what counts, and what they mean."""

    def __init__(self, config: Config, parent: QWidget | None = None) -> None:
        super().__init__("weights", _tr("What matters most"), parent)
        keep = Button(_tr("Keep these weights"), "primary", name="button_keep_weights")
        self.set_content(self._sliders(config), keep, 520, 340)
        self.keep_before()
        self._say()

    def now(self) -> dict[Place, Any]:
        return {("metrics", "weights"): self.weights()}

    def weights(self) -> dict[str, float]:
        """The shares as parts of 1, zeros left out."""
        return {name: share / WHOLE for name, share in self.sliders.shares().items() if share}

    def _sliders(self, config: Config) -> QWidget:
        own = {name: points for name, _title, points in shares(config.metrics.weights)}
        names = [*own, *(name for name in _ALWAYS if name not in own)]
        self.sliders = ShareSliders()
        self.sliders.set_shares(
            {name: own.get(name, 0) for name in names}, {name: metric_name(name) for name in names}
        )
        self.sliders.moved.connect(self._say)
        self._sentence = Label("", colour="text2", wrap=True, name="label_new_weights")
        return column(self.sliders, self._sentence)

    def _say(self) -> None:
        self._sentence.setText(weights_sentence(self.weights()))


def open_change_weights(context: AppContext, parent: QWidget | None = None) -> ChangeWeightsDialog | None:
    """Opens the sliders; what is kept goes into the open project, which is then read again."""
    said, name = _tr("The weights were changed."), _tr("change what matters most")
    return open_settings(ChangeWeightsDialog, context, parent, said, name)
