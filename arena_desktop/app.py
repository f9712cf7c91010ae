"""The composition root: builds the application, the context and the window, and nothing else.

View modules are imported when their page is first shown, so that the window paints before any of
them, an SDK, NumPy or a chart is loaded.
"""

from __future__ import annotations

import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QSocketNotifier, QTimer, QTranslator
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

import engine.plain_imports  # noqa: F401 - must follow Qt and go before all others
from arena_desktop import __version__
from arena_desktop.arena_window import ArenaWindow
from arena_desktop.background import Background, Job
from arena_desktop.collecting import Collector
from arena_desktop.context import AppContext
from arena_desktop.keep_awake import KeepAwake
from arena_desktop.main_window import MainWindow, PageEntry
from arena_desktop.notify import system_notifier
from arena_desktop.run_care import RunCare
from arena_desktop.samples import find_samples
from arena_desktop.settings import Settings
from arena_desktop.store_repair import StoreRepair
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.widgets.page import Page
from engine.keystore import KeyStore
from engine.paths import caches_dir, settings_path, store_path
from providers.heavy_import import heavy_import
from resources import ROOT

_log = logging.getLogger(__name__)

_LOOP_BEGINS_S = 2.0
"""How long the first work waits for the event loop; without one it goes ahead."""
_TURN_S = 0.001
"""How long a thread keeps the interpreter while another wants it; the usual 5 ms, several times in
one repaint while sixteen threads work, are a stand-still."""


def _tr(text: str) -> str:
    return QCoreApplication.translate("Pages", text)


def _view(module: str, name: str, context: AppContext) -> Callable[[], Page]:
    def build() -> Page:
        page: Page = getattr(import_module(f"arena_desktop.views.{module}"), name)(context)
        return page

    return build


def page_entries(context: AppContext) -> list[PageEntry]:
    """All pages in the order of the job."""
    setup, results = _tr("Set up"), _tr("Results")
    rows = (
        ("home", _tr("Home"), "home", "HomeView", "", False),
        ("project", _tr("Project"), "project", "ProjectView", setup, True),
        ("cases", _tr("Test cases"), "cases", "CasesView", setup, True),
        ("models", _tr("Models"), "models", "ModelsView", setup, True),
        ("scoring", _tr("Scoring"), "scoring", "ScoringView", setup, True),
        ("run", _tr("Run"), "run", "RunView", _tr("Run"), True),
        ("results", _tr("Leaderboard"), "results", "ResultsView", results, True),
        ("answers", _tr("Answers"), "answers", "AnswersView", results, True),
        ("history", _tr("History"), "history", "HistoryView", results, True),
        ("compare", _tr("Compare"), "compare", "CompareView", results, True),
    )
    return [
        *(
            PageEntry(name, title, icon, _view(name, view, context), group, needs)
            for name, title, icon, view, group, needs in rows
        ),
        PageEntry("duel", _tr("Compare blind"), "compare", _view("duel", "DuelView", context), in_rail=False),
    ]


def _appearance(settings: Settings) -> Appearance:
    try:
        return Appearance(settings.appearance)
    except ValueError:
        return Appearance.SYSTEM


def _run_care(context: AppContext, window: ArenaWindow) -> RunCare:
    """Keeps the computer awake during a run and tells its end to whoever looks elsewhere."""
    notifier = system_notifier("Agent Arena", QApplication.windowIcon, window)
    return RunCare(context.runs, context.settings, KeepAwake(), notifier)


_ENGINE = (
    "engine.config.loading",
    "engine.project",
    "engine.execution.preflight",
    "engine.execution.controller",
    "engine.execution.resume",
    "engine.storage.store",
    "engine.stats.board_json",
)


_PAGES = tuple(
    f"arena_desktop.views.{name}"
    for name in ("run", "results", "answers", "project", "cases", "models", "scoring", "history")
)


def _import_engine(painted: threading.Event) -> None:
    """The modules that open projects and stores, imported by one thread: pydantic's own imports go in
    circles, and two threads in one circle see half a module. It does not begin before the window's
    loop does, with which it would share the interpreter."""
    painted.wait(_LOOP_BEGINS_S)
    with heavy_import():
        for module in _ENGINE:
            import_module(module)


def _import_pages(background: Background) -> None:
    """Imports the pages that are likely next: the first look at one need not wait for it."""
    wanted = [name for name in _PAGES if name not in sys.modules]
    if not wanted:
        return

    def work(job: Job) -> None:
        with heavy_import():
            for name in wanted:
                job.check()
                import_module(name)

    def failed(error: Exception) -> None:
        # Whoever opens that page is told; this only went ahead.
        _log.warning("a page could not be imported ahead", exc_info=error)

    background.run(work, lambda _nothing: None, failed, name="import pages")


def _import_pages_when_idle(background: Background) -> None:
    """Once what the window reads at its start is read: its list of runs, and a project if one was named."""

    def looked(busy: int) -> None:
        if not busy:
            background.busy_changed.disconnect(looked)
            _import_pages(background)

    background.busy_changed.connect(looked)


def _translate(app: QApplication) -> None:
    """Qt's own words (dialog buttons, menus of fields) in the system's language."""
    translator = QTranslator(app)
    folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    if translator.load(QLocale(), "qtbase", "_", folder):
        app.installTranslator(translator)


def create(argv: Sequence[str], home: Path | None = None) -> tuple[QApplication, MainWindow]:
    """Builds everything without entering the event loop.

    `home` puts every file that the program writes below one folder, as ARENA_HOME does. An
    application that is there already is used again, so that several windows can be made in one
    process. The first argument that names a folder or file is opened as a project.
    """
    sys.setswitchinterval(_TURN_S)
    if home is not None:
        os.environ["ARENA_HOME"] = str(home)
    existing = QApplication.instance()
    app = existing if isinstance(existing, QApplication) else QApplication([sys.argv[0], *argv])
    app.setApplicationName("Agent Arena")
    app.setApplicationVersion(__version__)
    app.setOrganizationName("AgentArena")
    if existing is None:
        _translate(app)
    settings = Settings(settings_path())
    theme = Theme(
        app,
        caches_dir() / "theme",
        appearance=_appearance(settings),
        text_percent=settings.text_percent,
    )
    painted = threading.Event()
    background = Background(prepare=lambda: _import_engine(painted))
    context = AppContext(settings, background, KeyStore(), store_path())
    context.samples = find_samples()
    window = ArenaWindow(context, theme, page_entries(context))
    # Made after the window: their words take the place of its plain ones.
    window.keep(_run_care(context, window), StoreRepair(context))
    window.show_page("home")
    QTimer.singleShot(0, painted.set)
    _import_pages_when_idle(background)
    given = next((word for word in argv if not word.startswith("-") and Path(word).exists()), None)
    if given is not None:
        window.open_project(Path(given))
    else:
        window.come_back()
    return app, window


def _quit_on_ctrl_c(app: QApplication) -> QSocketNotifier:
    """Makes Ctrl-C reach Python at once, although Qt's loop sleeps in C."""
    ours, theirs = socket.socketpair()
    for end in (ours, theirs):
        end.setblocking(False)
    signal.set_wakeup_fd(theirs.fileno())
    signal.signal(signal.SIGINT, lambda *_args: app.closeAllWindows())
    notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read, app)

    def drain() -> None:
        ours.recv(64)

    notifier.activated.connect(drain)
    # The sockets live as long as the notifier does.
    notifier.setProperty("sockets", [ours, theirs])
    return notifier


def run_window(argv: Sequence[str]) -> int:
    """Opens the window and returns the exit code of the program."""
    app, window = create(argv)
    _quit_on_ctrl_c(app)
    Collector(app).start()
    window.show()
    # Drawing the icon is not worth a later first paint.
    QTimer.singleShot(0, lambda: app.setWindowIcon(QIcon(str(ROOT / "app.svg"))))
    return app.exec()
