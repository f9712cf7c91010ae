"""The menu bar as data: every action with its object name, words, keys.

The keyboard list of the help is built from these actions. What they do is connected by `app`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QActionGroup, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QWidget

from arena_desktop.theme.switch import Appearance

_KEY = QKeySequence.StandardKey


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action. `needs_project`: off while no project is open."""

    name: str
    text: str
    keys: tuple[str | QKeySequence.StandardKey, ...] = ()
    needs_project: bool = False
    role: QAction.MenuRole = QAction.MenuRole.NoRole


class Menus(QObject):
    """All actions of the window. `action(name)` gives one; unknown names raise KeyError."""

    page_requested = Signal(str)
    appearance_chosen = Signal(object)
    zoom_requested = Signal(int)
    find_requested = Signal()

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._actions: dict[str, QAction] = {}
        self._specs: dict[str, ActionSpec] = {}
        self._appearance: dict[Appearance, QAction] = {}
        self.recent_menu = QMenu(self.tr("Open &recent"), window)
        self.pages_menu = QMenu(self.tr("&Go to"), window)

    def action(self, name: str) -> QAction:
        """An action by its object name."""
        return self._actions[name]

    def all_actions(self) -> list[QAction]:
        """All actions, in menu order."""
        return list(self._actions.values())

    def set_project_open(self, is_open: bool) -> None:
        """Switches off what needs a project."""
        for name, spec in self._specs.items():
            if spec.needs_project:
                self._actions[name].setEnabled(is_open)

    def set_appearance(self, appearance: Appearance) -> None:
        """Ticks the appearance in force."""
        self._appearance[appearance].setChecked(True)

    def set_pages(self, pages: Sequence[tuple[str, str]]) -> None:
        """One entry per page, the first nine with Ctrl+1 to Ctrl+9."""
        for number, (name, title) in enumerate(pages, start=1):
            action = self.pages_menu.addAction(title)
            action.setObjectName(f"action_page_{name}")
            if number <= 9:
                action.setShortcut(QKeySequence(f"Ctrl+{number}"))
            action.triggered.connect(lambda _checked=False, name=name: self.page_requested.emit(name))
            self._actions[action.objectName()] = action

    def fill(self, bar: QMenuBar) -> None:
        """Builds the menus."""
        self._file(bar.addMenu(self.tr("&File")))
        self._edit(bar.addMenu(self.tr("&Edit")))
        self._view(bar.addMenu(self.tr("&View")))
        self._run(bar.addMenu(self.tr("&Run")))
        self._help(bar.addMenu(self.tr("&Help")))

    # menus

    def _file(self, menu: QMenu) -> None:
        self._add(menu, ActionSpec("action_new_project", self.tr("&New project…"), (_KEY.New,)))
        self._add(menu, ActionSpec("action_open_project", self.tr("&Open project folder…"), (_KEY.Open,)))
        menu.addMenu(self.recent_menu)
        self._add(menu, ActionSpec("action_close_project", self.tr("&Close project"), needs_project=True))
        menu.addSeparator()
        self._add(menu, ActionSpec("action_save", self.tr("&Save now"), (_KEY.Save,), needs_project=True))
        self._add(menu, ActionSpec("action_import", self.tr("&Import test cases…"), needs_project=True))
        self._add(menu, ActionSpec("action_import_run", self.tr("Import a saved r&un…")))
        self._add(menu, ActionSpec("action_export", self.tr("&Export…"), ("Ctrl+E",), needs_project=True))
        self._add(menu, ActionSpec("action_print", self.tr("&Print…"), (_KEY.Print,), needs_project=True))
        menu.addSeparator()
        role = QAction.MenuRole
        keys = ("Ctrl+,",)
        self._add(menu, ActionSpec("action_settings", self.tr("Se&ttings…"), keys, role=role.PreferencesRole))
        self._add(menu, ActionSpec("action_quit", self.tr("&Quit"), ("Ctrl+Q",), role=role.QuitRole))

    def _edit(self, menu: QMenu) -> None:
        self._add(menu, ActionSpec("action_undo", self.tr("&Undo"), (_KEY.Undo,)))
        self._add(menu, ActionSpec("action_redo", self.tr("&Redo"), ("Ctrl+Shift+Z", "Ctrl+Y")))
        menu.addSeparator()
        # Copy and paste belong to the widget with the focus; here they are for people who look in menus.
        self._add(menu, ActionSpec("action_copy", self.tr("&Copy")))
        self._add(menu, ActionSpec("action_copy_head", self.tr("Copy with column &heads")))
        self._add(menu, ActionSpec("action_paste", self.tr("&Paste")))
        menu.addSeparator()
        self._add(menu, ActionSpec("action_add_case", self.tr("&Add test"), needs_project=True))
        self._add(menu, ActionSpec("action_delete", self.tr("&Delete"), needs_project=True))
        menu.addSeparator()
        find = self._add(menu, ActionSpec("action_find", self.tr("&Filter"), (_KEY.Find,)))
        find.triggered.connect(self.find_requested)

    def _view(self, menu: QMenu) -> None:
        menu.addMenu(self.pages_menu)
        menu.addSeparator()
        looks = menu.addMenu(self.tr("&Appearance"))
        group = QActionGroup(self)
        for appearance, text in (
            (Appearance.SYSTEM, self.tr("As the &system")),
            (Appearance.LIGHT, self.tr("&Light")),
            (Appearance.DARK, self.tr("&Dark")),
        ):
            action = self._add(looks, ActionSpec(f"action_appearance_{appearance}", text))
            action.setCheckable(True)
            group.addAction(action)
            action.triggered.connect(lambda _checked=False, a=appearance: self.appearance_chosen.emit(a))
            self._appearance[appearance] = action
        menu.addSeparator()
        # Both keys of "plus": with and without Shift on most layouts.
        for name, text, keys, steps in (
            ("action_text_larger", self.tr("&Larger text"), ("Ctrl++", "Ctrl+="), 1),
            ("action_text_smaller", self.tr("S&maller text"), ("Ctrl+-",), -1),
            ("action_text_usual", self.tr("&Usual text size"), ("Ctrl+0",), 0),
        ):
            action = self._add(menu, ActionSpec(name, text, keys))
            action.triggered.connect(lambda _checked=False, steps=steps: self.zoom_requested.emit(steps))

    def _run(self, menu: QMenu) -> None:
        self._add(menu, ActionSpec("action_run", self.tr("&Run…"), ("Ctrl+R",), needs_project=True))
        self._add(menu, ActionSpec("action_pause", self.tr("&Pause"), needs_project=True))
        self._add(menu, ActionSpec("action_cancel", self.tr("&Cancel run…"), needs_project=True))
        menu.addSeparator()
        self._add(
            menu,
            ActionSpec("action_retry_failed", self.tr("&Try the failed answers again"), needs_project=True),
        )
        self._add(menu, ActionSpec("action_compare", self.tr("C&ompare runs…"), needs_project=True))

    def _help(self, menu: QMenu) -> None:
        self._add(menu, ActionSpec("action_shortcuts", self.tr("&Keyboard shortcuts"), ("F1", "Ctrl+/")))
        self._add(menu, ActionSpec("action_glossary", self.tr("&Words and how they are worked out")))
        menu.addSeparator()
        self._add(menu, ActionSpec("action_diagnostics", self.tr("Save &diagnostics…")))
        about = QAction.MenuRole.AboutRole
        self._add(menu, ActionSpec("action_about", self.tr("&About Agent Arena"), role=about))

    def _add(self, menu: QMenu, spec: ActionSpec) -> QAction:
        action = QAction(spec.text, self._window)
        action.setObjectName(spec.name)
        action.setMenuRole(spec.role)
        if spec.keys:
            action.setShortcuts([QKeySequence(key) for key in spec.keys])
            action.setShortcutContext(Qt.ShortcutContext.WindowShortcut)
        menu.addAction(action)
        self._window.addAction(action)
        self._actions[spec.name] = action
        self._specs[spec.name] = spec
        return action
