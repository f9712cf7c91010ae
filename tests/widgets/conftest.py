"""A theme in force for every widget test, in a fixed font so that sizes do not depend on the machine."""

from __future__ import annotations

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from arena_desktop.settings import Settings
from arena_desktop.theme.switch import Appearance, Theme

SLOW_MACHINE = 3.0
"""Shared build machines run other work at the same time."""


@pytest.fixture
def theme(qapp: QApplication, tmp_path: Path) -> Iterator[Theme]:
    """The light theme; put back to light and 100 % afterwards."""
    usual = qapp.font()
    made = Theme(qapp, tmp_path / "cache", appearance=Appearance.LIGHT, font=QFont("Inter", 10))
    yield made
    made.set_text_percent(100)
    made.set_appearance(Appearance.LIGHT)
    made.retire()
    qapp.setFont(usual)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Preferences in a file of their own."""
    return Settings(tmp_path / "settings.ini")


@pytest.fixture
def clipboard(qapp: QApplication):
    """The clipboard, emptied first."""
    board = qapp.clipboard()
    board.clear()
    return board


@pytest.fixture
def benchmark_clock():
    """A context that fails when its body takes longer than the seconds given (best of one, no sleep)."""

    @contextmanager
    def measure(limit_s: float) -> Iterator[None]:
        gc.collect()
        start = time.perf_counter()
        yield
        spent = time.perf_counter() - start
        assert spent < limit_s * SLOW_MACHINE, f"took {spent:.3f} s, allowed {limit_s} s"

    return measure


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The offscreen platform has no window manager and says so each time a window has a least size.
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("propagateSizeHints"))
