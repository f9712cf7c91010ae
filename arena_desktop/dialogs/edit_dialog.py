"""The frame of the dialogs that change the open project; forms over its settings."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtWidgets import QDialog, QHBoxLayout, QVBoxLayout, QWidget

from arena_desktop.desks.project_settings import Place, change_settings
from arena_desktop.dialogs.project_writing import write_to_project
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.forms import FormGrid
from arena_desktop.widgets.labels import Label
from arena_desktop.widgets.room import resize_within_screen
from arena_desktop.widgets.scrolled import Scrolled
from engine.config.schema import Config

if TYPE_CHECKING:
    from arena_desktop.context import AppContext

Form = TypeVar("Form", bound="SettingsDialog")


def _tr(text: str) -> str:
    return QCoreApplication.translate("EditDialog", text)


class EditDialog(QDialog):
    """Title, content, Cancel and the button that does it.

    `changed` follows the button with what `given` says, once the dialog is closed; it stays out
    where nothing is different.
    """

    changed = Signal(object)

    def __init__(self, name: str, title: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._name = name
        self.setObjectName(f"dialog_change_{name}")
        self.setWindowTitle(title)
        self.setWindowModality(Qt.WindowModality.WindowModal)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)

    def set_content(self, content: QWidget, button: Button, width: int, height: int) -> None:
        """Fills the frame, to be called once."""
        layout = QVBoxLayout(self)
        layout.setContentsMargins(24, 24, 24, 20)
        layout.setSpacing(16)
        layout.addWidget(Label(self.windowTitle(), "title"))
        layout.addWidget(content, 1)
        layout.addLayout(self._buttons(button))
        self.focus_ring = FocusRing(self)
        resize_within_screen(self, width, height)

    def scrolled(self, content: QWidget) -> Scrolled:
        """Content that is higher than a small screen with large text."""
        holder = QWidget()
        column = QVBoxLayout(holder)
        column.setContentsMargins(4, 4, 8, 4)
        column.addWidget(content)
        column.addStretch(1)
        return Scrolled(holder, _tr("What can be changed"), name=f"scroll_change_{self._name}")

    def _buttons(self, button: Button) -> FlowLayout:
        self.button_cancel = Button(_tr("Cancel"), name=f"button_cancel_{self._name}")
        self.button_cancel.setAutoDefault(False)
        self.button_cancel.clicked.connect(self.reject)
        self.button_change = button
        button.setDefault(True)
        button.clicked.connect(self._on_change)
        row = FlowLayout(right=True)
        row.addWidget(self.button_cancel)
        row.addWidget(button)
        return row

    def given(self) -> tuple[Any, ...]:
        """What `changed` carries; empty where nothing is different."""
        raise NotImplementedError

    def _on_change(self) -> None:
        given = self.given()
        self.accept()
        if given:
            self.changed.emit(*given)


class SettingsDialog(EditDialog):
    """A form over settings of the project. `changed(values)` holds only what is different.

    Forms give `now`, and call `keep_before` once they are filled.
    """

    def now(self) -> dict[Place, Any]:
        """What the fields say, by its place in the settings file; None = not given."""
        raise NotImplementedError

    def keep_before(self) -> None:
        """What the fields say now is what stands in the file."""
        self._before = self.now()

    def values(self) -> dict[Place, Any]:
        """What is different now; None = taken away."""
        return {place: value for place, value in self.now().items() if value != self._before[place]}

    def given(self) -> tuple[Any, ...]:
        values = self.values()
        return (values,) if values else ()


def open_settings(
    make: Callable[[Config, QWidget | None], Form],
    context: AppContext,
    parent: QWidget | None,
    said: str,
    name: str,
) -> Form | None:
    """Opens a form; what is changed goes into the open project, which is then read again.

    Args:
        said: what stands on the strip afterwards; `name` is what Undo calls it.
    """
    project = context.projects.project
    if project is None:
        return None
    dialog = make(project.config, parent)

    def write(values: dict[Place, Any]) -> None:
        write_to_project(context, lambda: change_settings(project, values), said, name=name)

    dialog.changed.connect(write)
    dialog.show()
    return dialog


def column(*parts: QWidget) -> QWidget:
    """Parts below each other; room that is left stays below them."""
    holder = QWidget()
    layout = QVBoxLayout(holder)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.setSpacing(16)
    for part in parts:
        layout.addWidget(part)
    layout.addStretch(1)
    return holder


def add_short(form: FormGrid, label: str, field: QWidget, *, help_text: str = "") -> None:
    """Adds a row whose field keeps its own width."""
    holder = QWidget()
    row = QHBoxLayout(holder)
    row.setContentsMargins(0, 0, 0, 0)
    row.addWidget(field)
    row.addStretch(1)
    form.add(label, holder, help_text=help_text).setBuddy(field)
