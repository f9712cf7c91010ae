"""Runs need an application object; the first one made in a process must be the window's kind."""

from __future__ import annotations

import pytest


@pytest.fixture(autouse=True)
def _application(qapp: object) -> None:
    """Made by pytest-qt before anything else makes a smaller one."""
