"""Undo and Redo of the Edit menu: the steps of the open project. Text fields keep their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QTextEdit, QWidget

from arena_desktop.dialogs.project_writing import redo_edit, undo_edit

if TYPE_CHECKING:
    from arena_desktop.context import AppContext
    from arena_desktop.desks.edit_steps import EditStep
    from arena_desktop.menus import Menus

_LONGEST = 60


class EditActions(QObject):
    """Names both actions after the step they would move, and does it. GUI thread only."""

    def __init__(self, menus: Menus, context: AppContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._undo, self._redo = menus.action("action_undo"), menus.action("action_redo")
        self._undo.triggered.connect(lambda _checked=False: undo_edit(context))
        self._redo.triggered.connect(lambda _checked=False: redo_edit(context))
        for action in (self._undo, self._redo):
            action.installEventFilter(self)
        context.projects.edits.changed.connect(self._renew)
        self._renew()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        # A key that the field with the focus does not know itself (Ctrl+Y on some systems) still
        # means its text, and never a change of the project behind it.
        if event.type() != QEvent.Type.Shortcut:
            return False
        field = _writable(QApplication.focusWidget())
        if field is None:
            return False
        if watched is self._undo:
            field.undo()
        else:
            field.redo()
        return True

    def _renew(self, *_told: object) -> None:
        edits = self._context.projects.edits
        _name(self._undo, self.tr("&Undo"), self.tr("&Undo: {step}"), edits.last)
        _name(self._redo, self.tr("&Redo"), self.tr("&Redo: {step}"), edits.undone)


def _name(action: QAction, plain: str, named: str, step: EditStep | None) -> None:
    action.setEnabled(step is not None)
    if step is None:
        action.setText(plain)
        return
    name = step.name if len(step.name) <= _LONGEST else f"{step.name[: _LONGEST - 1].rstrip()}…"
    action.setText(named.format(step=name.replace("&", "&&")))


def _writable(widget: QWidget | None) -> QLineEdit | QPlainTextEdit | QTextEdit | None:
    if isinstance(widget, QLineEdit | QPlainTextEdit | QTextEdit) and not widget.isReadOnly():
        return widget
    return None
