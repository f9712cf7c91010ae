"""The checks of a choice one below the other: added, ordered, removed; never none."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.desks.project_checks import CheckChoice
from arena_desktop.dialogs.check_row import CheckRow
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.flow import FlowLayout
from arena_desktop.widgets.forms import FieldNote
from engine.domain import CheckSpec
from engine.project import Project
from engine.scoring.registry import CHECKS, canonical_check

_OFFERED_FIRST = ("contains", "length", "exact_match")


def _tr(text: str) -> str:
    return QCoreApplication.translate("CheckList", text)


class CheckList(QWidget):
    """The list, with a note below it and a button for one more."""

    changed = Signal()

    def __init__(self, project: Project, specs: Sequence[CheckSpec]) -> None:
        super().__init__()
        self._project, self._made = project, 0
        self._rows: list[CheckRow] = []
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(16)
        self._list = QVBoxLayout()
        self._list.setSpacing(16)
        column.addLayout(self._list)
        self._note = FieldNote()
        column.addWidget(self._note)
        line = FlowLayout()
        self.button_add = Button(_tr("Add another check"), "quiet", icon="plus", name="button_add_check")
        self.button_add.setAutoDefault(False)
        self.button_add.clicked.connect(self._on_add)
        line.addWidget(self.button_add)
        column.addLayout(line)
        for number, spec in enumerate(specs):
            self._add(CheckChoice(spec, number))

    def choices(self) -> list[CheckChoice]:
        """The checks in their order."""
        return [row.choice() for row in self._rows]

    def rows(self) -> tuple[CheckRow, ...]:
        """The rows in their order."""
        return tuple(self._rows)

    def stops(self) -> list[QWidget]:
        """Where the keyboard stops in it, in the order that the eye sees."""
        return [*(stop for row in self._rows for stop in row.stops()), self.button_add]

    @property
    def note(self) -> str:
        """What is said below the list."""
        return self._note.text

    def show_note(self, text: str) -> None:
        """A caution about the list as a whole; an empty text takes it away."""
        self._note.show_note(self._rows[0].combo, "warn", text)

    # changing it

    def _add(self, choice: CheckChoice) -> CheckRow:
        self._made += 1
        row = CheckRow(choice, self._project, self._made)
        row.changed.connect(self.changed)
        row.moved.connect(self._move)
        row.removed.connect(self._remove)
        self._rows.append(row)
        self._list.addWidget(row)
        self._show_places()
        return row

    def _on_add(self) -> None:
        used = {canonical_check(row.choice().spec.type) for row in self._rows}
        unused = (name for name in (*_OFFERED_FIRST, *CHECKS) if name not in used)
        row = self._add(CheckChoice(CheckSpec(next(unused, _OFFERED_FIRST[0]))))
        row.combo.setFocus()
        self.changed.emit()

    def _move(self, row: CheckRow, step: int) -> None:
        self.show_note("")
        at = self._rows.index(row)
        self._rows.insert(at + step, self._rows.pop(at))
        self._list.removeWidget(row)
        self._list.insertWidget(at + step, row)
        self._show_places()
        button = row.button_up if step < 0 else row.button_down
        # At the end of the list the button that was pressed can do no more.
        (button if button.isEnabled() else row.combo).setFocus()
        self.changed.emit()

    def _remove(self, row: CheckRow) -> None:
        self.show_note("")
        at = self._rows.index(row)
        self._rows.remove(row)
        self._list.removeWidget(row)
        row.hide()
        row.deleteLater()
        self._show_places()
        self._rows[min(at, len(self._rows) - 1)].combo.setFocus()
        self.changed.emit()

    def _show_places(self) -> None:
        for at, row in enumerate(self._rows):
            row.show_place(at, len(self._rows))
