"""The settings of one check as a form: the usual ones at once, the others unfold, faults beside the field."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtWidgets import QVBoxLayout, QWidget

from arena_desktop.dialogs.check_editors import Place, make_field
from arena_desktop.dialogs.check_fields import Field, Rubric, Tick
from arena_desktop.widgets.collapsible import Collapsible
from arena_desktop.widgets.forms import FieldNote, FormGrid
from arena_desktop.wording import check_choice as words
from engine.domain import Problem
from engine.project import Project
from engine.scoring.base import CheckType, Option
from engine.scoring.options import COMMON, read_options

_SHOWN_WHEN: Mapping[tuple[str, str], tuple[str, Any]] = {("similarity", "model"): ("method", "embedding")}
"""Settings that mean something only beside a value of another one."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("CheckOptions", text)


class CheckOptions(QWidget):
    """The form. `options()` is what the check itself says: only what differs from the project's usual."""

    changed = Signal()

    def __init__(self, check: CheckType, own: Mapping[str, Any], project: Project, number: int) -> None:
        super().__init__()
        self._check, self._own, self._project, self._number = check, dict(own), project, number
        self._usual, _ = read_options(check, {}, project.config.scorers.options)
        self._shown, _ = read_options(check, own, project.config.scorers.options)
        self.fields: dict[str, Field] = {}
        self._notes: dict[str, FieldNote] = {}
        self._rows: dict[str, list[QWidget]] = {}
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        self._general = FieldNote()
        column.addWidget(self._general)
        self._add(column, words.first_options(check))
        self.more = Collapsible(
            _tr("More choices"), opened=self._has_more(), name=f"button_more_choices_{number}"
        )
        self.more.head.setAutoDefault(False)
        self.more.head.setAccessibleName(_tr("More choices of check {number}").format(number=number))
        self._add(self.more.content, words.more_options(check))
        column.addWidget(self.more)
        self._before = {name: field.value() for name, field in self.fields.items()}
        self._show_fitting()

    def options(self) -> dict[str, Any]:
        """As the check's own block in the file; untouched ones are as they were, spelled as they were."""
        found = dict(self._own)
        spelled = {
            spelling: option.name
            for option in (*self._check.options, *COMMON)
            for spelling in (option.name, *option.aliases)
        }
        written = {spelled.get(name, name): name for name in self._own}
        for name, field in self.fields.items():
            value = field.value()
            if value == self._before[name]:
                continue
            key = written.get(name, name)
            if _same(value, self._usual.get(name)):
                found.pop(key, None)
            else:
                found[key] = value
        return found

    def stops(self) -> list[QWidget]:
        """Where the keyboard stops in it, in the order that the eye sees."""
        first = [option.name for option in words.first_options(self._check)]
        more = [option.name for option in words.more_options(self._check)]
        return [*self._stops(first), self.more.head, *self._stops(more)]

    def _stops(self, names: Sequence[str]) -> list[QWidget]:
        fields = sorted((self.fields[name] for name in names), key=lambda field: isinstance(field, Tick))
        return [stop for field in fields for stop in field.stops()]

    def show_faults(self, faults: Sequence[Problem]) -> bool:
        """Shows each fault beside its field; True where one is shown that can be mended there.

        What the file has and no field can mend is told as a caution: it must not keep the rest from
        being changed.
        """
        by_name: dict[str, str] = {}
        others: list[str] = []
        first = next(iter(self._notes), "")
        for fault in faults:
            name = fault.path.rsplit(".", 1)[-1]
            if fault.code == "no_limit":
                name = first
            if name in self._notes:
                by_name.setdefault(name, words.fault_words(fault))
            else:
                others.append(words.fault_words(fault))
        self._general.show_note(self, "warn", " ".join(others))
        for name, field in self.fields.items():
            if isinstance(field, Rubric) and field.fault():
                by_name[name] = field.fault()
        for name, note in self._notes.items():
            note.show_note(self.fields[name].main, "bad", by_name.get(name, ""))
            if name in by_name and name in {option.name for option in words.more_options(self._check)}:
                self.more.set_open(True)
        return bool(by_name)

    # inside

    def _has_more(self) -> bool:
        own, _ = read_options(self._check, self._own, {})
        return any(own[option.name] != option.default for option in words.more_options(self._check))

    def _add(self, column: QVBoxLayout, options: Sequence[Option]) -> None:
        form, ticks = FormGrid(above=True), []
        for option in options:
            name = f"check_{self._number}_{option.name}"
            field = make_field(Place(self._check, option, self._shown[option.name], self._project, name))
            self.fields[option.name] = field
            field.changed.connect(self._on_changed)
            if isinstance(field, Tick):
                ticks.append(field)
                continue
            note = FieldNote()
            label = form.add(
                words.option_title(self._check, option),
                field,
                help_text=words.option_help(self._check, option),
                note=note,
            )
            label.setBuddy(field.main)
            self._notes[option.name] = note
            self._rows[option.name] = [label, field]
        if len(options) > len(ticks):
            column.addWidget(form)
        for tick in ticks:
            column.addWidget(tick)

    def _on_changed(self) -> None:
        self._show_fitting()
        self.changed.emit()

    def _show_fitting(self) -> None:
        for (check, name), (other, value) in _SHOWN_WHEN.items():
            if check == self._check.name:
                fits = self.fields[other].value() == value
                for widget in self._rows[name]:
                    widget.setVisible(fits)


def _same(one: Any, other: Any) -> bool:
    """Whether two values say the same: nothing is nothing, and a list is a list."""
    empty = (None, "", (), [])
    if one in empty and other in empty:
        return True
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return list(one) == list(other)
    return bool(one == other)
