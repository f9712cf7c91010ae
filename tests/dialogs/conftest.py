"""A theme and a context for every dialog test; keys go into a store that counts, never into the system's."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QApplication

from arena_desktop.background import Background
from arena_desktop.context import AppContext
from arena_desktop.settings import Settings
from arena_desktop.theme.switch import Appearance, Theme
from engine.keystore import KeyStore
from engine.paths import settings_path, store_path
from tests.keystore.fakes import FakeStore
from tests.stub import StubServer, start_stub


@pytest.fixture(autouse=True)
def theme(qapp: QApplication, tmp_path: Path) -> Iterator[Theme]:
    made = Theme(qapp, tmp_path / "theme", appearance=Appearance.LIGHT, font=QFont("Inter", 10))
    yield made
    made.set_text_percent(100)
    made.set_appearance(Appearance.LIGHT)
    made.retire()


@pytest.fixture
def key_store() -> FakeStore:
    """What stands for the system's key store."""
    return FakeStore()


@pytest.fixture
def keys(key_store: FakeStore) -> KeyStore:
    return KeyStore(backend=key_store, environ={})


@pytest.fixture
def context(qapp: QApplication, keys: KeyStore) -> Iterator[AppContext]:
    background = Background()
    made = AppContext(Settings(settings_path()), background, keys, store_path())
    yield made
    background.close()
    made.results.close()


@pytest.fixture(scope="session")
def stub() -> Iterator[StubServer]:
    """A service that accepts one key only."""
    with start_stub(require_key=GOOD_KEY, models="alpha-small,beta-large") as server:
        yield server


GOOD_KEY = "tst-good-0123456789abcdef4f2a"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # The offscreen platform has no window manager and says so each time a window is raised or sized.
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.qt_log_ignore("propagateSizeHints", "does not support raise"))
