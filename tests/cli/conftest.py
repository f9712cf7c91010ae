"""The command line finds an application object: one process can hold only one."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication


@pytest.fixture(autouse=True)
def _one_application(qapp: QApplication) -> None:
    """A QCoreApplication made by a run would keep later tests from having windows."""
