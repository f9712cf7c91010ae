"""A theme and a world for every page test."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.theme.switch import Appearance, Theme
from arena_desktop.views.scoring import ScoringView
from tests.views.run_world import CONFIG, close_context, made_tests, make_context, run_now, write_project
from tests.views.setup_world import World


@pytest.fixture
def theme(qapp: QApplication, tmp_path: Path) -> Iterator[Theme]:
    """The light theme; put back to light and 100 % afterwards."""
    made = Theme(qapp, tmp_path / "cache", appearance=Appearance.LIGHT, font=QFont("Inter", 10))
    yield made
    made.set_text_percent(100)
    made.set_appearance(Appearance.LIGHT)
    made.retire()


@pytest.fixture
def world(theme: Theme, tmp_path: Path) -> Iterator[World]:
    """Desks over an empty folder, with a theme in force."""
    made = World(tmp_path)
    yield made
    made.close()


@pytest.fixture
def scoring_page(world: World, qtbot: QtBot) -> ScoringView:
    """The page before any project is open."""
    view = ScoringView(world)
    qtbot.addWidget(view)
    view.resize(1200, 900)
    with qtbot.waitExposed(view):
        view.show()
    return view


@dataclass(frozen=True)
class Stored:
    """Three runs of pretend models: `runs` oldest first, the second with other instructions and a better
    Birch, the third over the first six tests only."""

    folder: Path
    store: Path
    runs: tuple[str, str, str]


@pytest.fixture(scope="session")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """Real runs, made once for all tests."""
    home = tmp_path_factory.mktemp("stored")
    folder, store = write_project(home / "replies"), home / "arena.sqlite"
    better = CONFIG.replace("accuracy: 64, latency_ms: 180", "accuracy: 100, latency_ms: 180")
    write_project(home / "better", better.replace("Sort the", "Carefully sort the"))
    first = run_now(folder, store)
    second = run_now(home / "better", store)
    third = run_now(folder, store, limit=6)
    return Stored(folder, store, (first, second, third))


@pytest.fixture
def context(theme: Theme, tmp_path: Path, stored: Stored) -> Iterator[AppContext]:
    """The real context over a copy of the stored runs; no project is open."""
    made = make_context(tmp_path / "home", stored.store)
    yield made
    close_context(made)


@pytest.fixture
def fresh(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    """The real context over no store at all, with a project folder `replies` beside it."""
    write_project(tmp_path / "replies", tests=made_tests(12))
    made = make_context(tmp_path / "home")
    yield made
    close_context(made)
