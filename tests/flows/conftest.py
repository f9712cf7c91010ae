"""A whole program in a home of its own, closed in order at the end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.app import create
from arena_desktop.arena_window import ArenaWindow

LONG_MS = 40_000


@pytest.fixture
def window(qtbot: QtBot, tmp_path: Path) -> Iterator[ArenaWindow]:
    """The main window as a stranger gets it at the first start."""
    _app, made = create([], tmp_path / "home")
    assert isinstance(made, ArenaWindow)
    made.resize(1280, 800)
    made.show()
    qtbot.waitExposed(made)
    yield made
    context = made.context
    context.runs.stop_now()
    qtbot.waitUntil(lambda: not context.runs.running, timeout=LONG_MS)
    made.close()
    made.deleteLater()


@pytest.fixture
def find(window: ArenaWindow) -> Callable[..., QWidget]:
    """Finds a widget of the window by its object name; the name is part of the contract."""

    def by_name(name: str, kind: type[QWidget] = QWidget) -> QWidget:
        found = window.findChild(kind, name)
        assert found is not None, f"no {name}"
        return found

    return by_name
