"""The window's frame: menu bar, rail, pages built on first visit, status bar, strips, focus ring.

No logic: what actions do is connected by `app` and the views. Pages come from a registry of
`PageEntry`; a page is built when it is first shown.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6.QtCore import QByteArray, QRect, Qt, Signal
from PySide6.QtGui import QCloseEvent, QGuiApplication, QKeyEvent, QKeySequence, QShortcut
from PySide6.QtWidgets import QApplication, QHBoxLayout, QMainWindow, QWidget

from arena_desktop.menus import Menus
from arena_desktop.settings import Settings
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.fields import FilterField
from arena_desktop.widgets.focus_keeper import FocusKeeper
from arena_desktop.widgets.focus_ring import FocusRing
from arena_desktop.widgets.kept_choices import SideSplitter
from arena_desktop.widgets.page import Page, PageArea, first_focus, is_narrow
from arena_desktop.widgets.rail import Rail, RailItem
from arena_desktop.widgets.status_bar import ArenaStatusBar
from arena_desktop.widgets.strip import Message, StripStack
from arena_desktop.widgets.table import ArenaTable

LEAST_SIZE = (960, 600)
USUAL_SIZE = (1280, 800)
_STATE_VERSION = 1


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A page in the registry: where it stands in the rail and how it is made."""

    name: str
    title: str
    icon: str
    factory: Callable[[], Page]
    group: str = ""
    needs_project: bool = True
    in_rail: bool = True
    """False: opened from another page only, and left for that page."""


class MainWindow(QMainWindow):
    """The main window. `page_changed(name)` follows every change of page, `page_built` its first visit."""

    page_changed = Signal(str)
    page_built = Signal(object)
    close_requested = Signal(object)
    """The QCloseEvent, before the window closes; a listener may ignore it (a run is going on)."""
    settings_requested = Signal()
    project_menu_requested = Signal()

    def __init__(self, settings: Settings, theme: Theme, pages: Sequence[PageEntry]) -> None:
        super().__init__()
        self.setObjectName("main_window")
        self._settings, self._theme = settings, theme
        self._entries = {entry.name: entry for entry in pages}
        self._pages: dict[str, Page] = {}
        self._project = ""
        self._came_from = ""
        self.setMinimumSize(*LEAST_SIZE)
        self.menus = Menus(self)
        self.menus.fill(self.menuBar())
        self.rail = Rail(
            [
                RailItem(entry.name, entry.title, entry.icon, entry.group, entry.needs_project)
                for entry in pages
                if entry.in_rail
            ]
        )
        self.area = PageArea()
        self.status = ArenaStatusBar()
        self.window_strips = StripStack()
        self._lay_out()
        self._connect()
        self.focus_ring = FocusRing(self)
        self._focus_keeper = FocusKeeper(self, self.focus_ring, self.area.stack.currentWidget)
        self.set_project("")
        self._restore()

    # pages

    def show_page(self, name: str) -> Page:
        """Shows a page, building it on first visit. Raises KeyError for an unknown name."""
        page = self.page(name)
        before = self.current_page()
        if before and self._entries[before].in_rail:
            self._came_from = before
        changed = self.area.stack.currentWidget() is not page
        self.area.stack.setCurrentWidget(page)
        page.take_window_strips(self.window_strips)
        if page.narrow != self.is_narrow():
            page.set_narrow(self.is_narrow())
        if self._entries[name].in_rail:
            self.rail.set_current(name)
        if changed:
            self.page_changed.emit(name)
        return page

    def leave_page(self) -> None:
        """Goes back from a page that is not in the rail to the one it was opened from."""
        if not self._entries[self.current_page()].in_rail:
            self.show_page(self._came_from)

    def has_page(self, name: str) -> bool:
        """Whether a page of this name stands in the rail."""
        return name in self._entries and self._entries[name].in_rail

    def page(self, name: str) -> Page:
        """The page, built if need be, without showing it."""
        page = self._pages.get(name)
        if page is None:
            page = self._entries[name].factory()
            self._pages[name] = page
            self.area.stack.addWidget(page)
            self._remember_looks(page)
            self.page_built.emit(page)
        return page

    def built_pages(self) -> dict[str, Page]:
        """Pages that were visited."""
        return dict(self._pages)

    def current_page(self) -> str:
        """The name of the page on show; empty before the first."""
        page = self.area.stack.currentWidget()
        return page.page_name if isinstance(page, Page) else ""

    # what the window says

    def show_message(self, message: Message) -> None:
        """A message of the whole program, below the header of whatever page is shown."""
        self.window_strips.show_message(message)

    def close_message(self, key: str) -> None:
        """Takes a message away."""
        self.window_strips.close_message(key)

    def close_project_messages(self) -> None:
        """Takes away what was said of a project that is open no more."""
        self.window_strips.close_of_project()

    def set_project(self, name: str, *, unsaved: bool = False, progress: str = "") -> None:
        """Title, project block and what can be reached. `progress` like "43 %" goes in front."""
        self._project = name
        title = f"{name}[*] - Agent Arena" if name else "Agent Arena[*]"
        self.setWindowTitle(f"{progress} - {title}" if progress else title)
        self.setWindowModified(unsaved)
        self.rail.set_project(name)
        self.menus.set_project_open(bool(name))

    def is_narrow(self) -> bool:
        """Below 1100 px, more when the text is larger."""
        return is_narrow(self.width())

    # Qt

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self._close_newest_strip():
            return
        super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.close_requested.emit(event)
        if not event.isAccepted():
            return
        self._keep()
        super().closeEvent(event)

    # inside

    def _lay_out(self) -> None:
        frame = QWidget()
        frame.setObjectName("frame")
        row = QHBoxLayout(frame)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.rail)
        row.addWidget(self.area, 1)
        self.setCentralWidget(frame)
        self.setStatusBar(self.status)

    def _connect(self) -> None:
        self.rail.page_chosen.connect(self.show_page)
        self.rail.settings_pressed.connect(self.settings_requested)
        self.rail.project_pressed.connect(self.project_menu_requested)
        self.menus.action("action_settings").triggered.connect(self.settings_requested)
        self.menus.page_requested.connect(self._on_page_key)
        self.menus.appearance_chosen.connect(self._on_appearance)
        self.menus.zoom_requested.connect(self._on_zoom)
        self.menus.find_requested.connect(self._focus_filter)
        self.menus.set_appearance(self._theme.appearance)
        in_rail = [entry for entry in self._entries.values() if entry.in_rail]
        self.menus.set_pages([(entry.name, entry.title) for entry in in_rail])
        QShortcut(QKeySequence("F6"), self, self._next_part)
        QShortcut(QKeySequence("Shift+F6"), self, lambda: self._next_part(back=True))

    def _on_page_key(self, name: str) -> None:
        entry = self._entries[name]
        if self._project or not entry.needs_project:
            self.show_page(name)

    def _on_appearance(self, appearance: Appearance) -> None:
        self._settings.appearance = appearance.value
        self._theme.set_appearance(appearance)

    def _on_zoom(self, steps: int) -> None:
        self._settings.text_percent = self._theme.zoom(steps)

    def _focus_filter(self) -> None:
        """Ctrl+F: in the table with the keyboard, else with the page's own field, else in its first table."""
        page, now = self.area.stack.currentWidget(), QApplication.focusWidget()
        if page is None:
            return
        tables = [table for table in page.findChildren(ArenaTable) if table.isVisible()]
        for table in tables:
            if now is not None and (now is table or table.isAncestorOf(now)):
                table.find()
                return
        fields = [field for field in page.findChildren(FilterField) if field.isVisible()]
        if fields:
            field = next((field for field in fields if field is now), fields[0])
            field.setFocus(Qt.FocusReason.ShortcutFocusReason)
            field.selectAll()
        elif tables:
            tables[0].find()

    def _next_part(self, *, back: bool = False) -> None:
        """F6: list, page, detail pane (a child named `detail`), status bar while a run goes on."""
        parts = self._parts()
        now = QApplication.focusWidget()
        at = next(
            (
                n
                for n, part in enumerate(parts)
                if now is not None and (part is now or part.isAncestorOf(now))
            ),
            -1,
        )
        # The detail pane is inside the page: the innermost part counts.
        for n, part in enumerate(parts):
            if n > at >= 0 and now is not None and part.isAncestorOf(now):
                at = n
        for step in range(1, len(parts) + 1):
            part = parts[(at + (-step if back else step)) % len(parts)]
            target = first_focus(part)
            if target is not None:
                target.setFocus(Qt.FocusReason.ShortcutFocusReason)
                return

    def _parts(self) -> list[QWidget]:
        page = self.area.stack.currentWidget()
        parts: list[QWidget] = [self.rail.list]
        if page is not None:
            parts.append(page)
            detail = page.findChild(QWidget, "detail")
            if detail is not None and detail.isVisibleTo(page):
                parts.append(detail)
        if self.status.run.isVisible():
            parts.append(self.status.run)
        return parts

    def _close_newest_strip(self) -> bool:
        page = self.area.stack.currentWidget()
        if self.window_strips.close_newest():
            return True
        return isinstance(page, Page) and page.strips.close_newest()

    def _remember_looks(self, page: Page) -> None:
        """Handles, and looks and order of every table of a page come back, whatever the page is."""
        for splitter in page.findChildren(SideSplitter):
            splitter.remember(self._settings)
        for table in page.findChildren(ArenaTable):
            if not table.remembers:
                table.remember(self._settings)

    def _restore(self) -> None:
        self.resize(*USUAL_SIZE)
        geometry: QByteArray = self._settings.bytes_of("geometry")
        if not geometry.isEmpty() and self.restoreGeometry(geometry):
            self._bring_on_screen()

    def _bring_on_screen(self) -> None:
        # A window saved on a screen that is gone would come back where nobody sees it.
        frame = self.frameGeometry()
        screens: list[QRect] = [screen.availableGeometry() for screen in QGuiApplication.screens()]
        if any(screen.intersected(frame).width() >= 120 and screen.intersects(frame) for screen in screens):
            return
        home = QGuiApplication.primaryScreen().availableGeometry()
        self.resize(min(self.width(), home.width()), min(self.height(), home.height()))
        self.move(home.topLeft())

    def _keep(self) -> None:
        self._settings.keep_bytes("geometry", self.saveGeometry())
        page = self.current_page()
        if page:
            self._settings.last_page = page if self._entries[page].in_rail else self._came_from
        self._settings.sync()
