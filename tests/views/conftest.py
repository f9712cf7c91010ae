"""A theme and a world for every page test."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from arena_desktop.theme.switch import Appearance, Theme
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
