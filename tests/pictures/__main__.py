"""Pictures of every page of the real program, light and dark, for the README and for looking at them.

    python -m tests.pictures [FOLDER] [--size 1280x800] [--text 200]

A home of its own, no screen, no key and no network: the sample is really run, and what is grabbed is what
a person would see. Without a folder the pictures of the README are made anew.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")

from PySide6.QtCore import QEventLoop, QTimer
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import QApplication, QWidget

from arena_desktop.app import create
from arena_desktop.arena_window import ArenaWindow
from arena_desktop.theme.switch import Appearance

SHOWN = Path(__file__).resolve().parent / "shown"
PAGES = ("project", "cases", "models", "scoring", "run", "results", "answers", "duel", "history", "compare")
PATIENCE_MS = 60_000


def wait(milliseconds: int) -> None:
    """Lets the window live for a moment."""
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Lets the window live until something is so. Raises TimeoutError."""
    for _ in range(PATIENCE_MS // 50):
        if true():
            return
        wait(50)
    raise TimeoutError(what)


class Camera:
    """Grabs a widget in both looks; a picture's name is `page-light.png` or `page-dark.png`."""

    def __init__(self, window: ArenaWindow, folder: Path) -> None:
        self._window, self._folder = window, folder
        folder.mkdir(parents=True, exist_ok=True)

    def take(self, name: str, widget: QWidget | None = None) -> None:
        """One picture per look."""
        for look in (Appearance.LIGHT, Appearance.DARK):
            self._window.menus.appearance_chosen.emit(look)
            wait(250)
            target = self._folder / f"{name}-{look.value}.png"
            (widget or self._window).grab().save(str(target))
            sys.stderr.write(f"{target}\n")


def walk(window: ArenaWindow, camera: Camera) -> None:
    """The way of a newcomer: first start, sample, two runs, every page, settings, recents."""
    context = window.context
    wait(500)
    camera.take("home-first")
    window.open_sample("support-triage")
    wait_until(lambda: context.projects.preflight is not None, "the sample is looked at")
    wait(600)
    camera.take("run-ready")
    context.runs.start()
    wait_until(lambda: context.runs.progress.done > 90, "half of the answers")
    window.menus.appearance_chosen.emit(Appearance.LIGHT)
    wait(300)
    camera.take("run")
    wait_until(lambda: not context.runs.running, "the run ends")
    wait_until(lambda: context.results.result is not None, "its result is shown")
    context.runs.start()
    wait_until(lambda: not context.runs.running, "the second run ends")
    wait(1500)
    window.close_message("run_ended")
    for page in PAGES:
        window.show_page(page)
        wait(1500)
        camera.take(f"{page}-after" if page == "run" else page)
    window.menus.action("action_settings").trigger()
    wait(1200)
    dialog = next(w for w in QApplication.topLevelWidgets() if w.objectName() == "dialog_settings")
    camera.take("settings", dialog)
    dialog.close()
    window.show_page("home")
    wait(800)
    camera.take("home")


def main() -> int:
    """Makes all pictures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, default=SHOWN)
    parser.add_argument("--size", default="1280x800")
    parser.add_argument("--text", type=int, default=100, help="the text size in percent")
    options = parser.parse_args()
    width, height = (int(part) for part in options.size.split("x"))
    os.environ.update(ARENA_KEYRING="memory")
    app = QApplication([])
    if "Inter" in QFontDatabase.families():
        app.setFont(QFont("Inter", 10))
    with tempfile.TemporaryDirectory() as home:
        _app, window = create([], Path(home))
        assert isinstance(window, ArenaWindow)
        window.resize(width, height)
        window.menus.zoom_requested.emit((options.text - 100) // 10)
        window.show()
        walk(window, Camera(window, options.folder))
        window.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
