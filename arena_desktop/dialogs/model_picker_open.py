"""Opens the model picker and puts what is chosen into the open project."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtWidgets import QWidget

from arena_desktop.desks.project_models import add_models_to_project
from arena_desktop.dialogs.model_picker import ModelPicker
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.wording.formats import counted
from engine.config.schema import Connection, ModelEntry

if TYPE_CHECKING:
    from arena_desktop.context import AppContext


def open_model_picker(context: AppContext, parent: QWidget | None = None, service: str = "") -> ModelPicker:
    """Opens a picker whose choice goes into the open project; `service` shows one connection's models.

    What became of it is said by `context.message_wanted`; the project is read again afterwards.
    """
    picker = ModelPicker(context, parent)
    picker.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
    picker.chosen.connect(lambda entries: add_to_project(context, entries, picker.connections()))
    if service:
        picker.show_service(service)
    picker.show()
    return picker


def add_to_project(
    context: AppContext, entries: tuple[ModelEntry, ...], connections: tuple[Connection, ...]
) -> None:
    """Writes chosen models into the open project in the background and reads it again."""
    project = context.projects.project
    if project is None or not entries:
        return

    write_to_project(
        context,
        lambda: add_models_to_project(project, entries, connections),
        counted(len(entries), _tr("1 model was added."), _tr("{count} models were added.")),
        name=counted(len(entries), _tr("add 1 model"), _tr("add {count} models")),
    )


def _tr(text: str) -> str:
    return QCoreApplication.translate("ModelPicker", text)
