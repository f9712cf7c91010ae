"""Settings > Data > Removed runs: brought back, or gone for good after a question."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QLabel, QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.dialogs.settings import SettingsDialog
from engine.storage.store import Store
from tests.storage import samples


@pytest.fixture
def dialog(qtbot: QtBot, context: AppContext) -> Iterator[SettingsDialog]:
    made = SettingsDialog(context)
    qtbot.addWidget(made)
    yield made
    _idle(qtbot, context)


def _idle(qtbot: QtBot, context: AppContext) -> None:
    qtbot.waitUntil(lambda: not context.background.busy, timeout=20_000)


def _runs(context: AppContext, removed: int) -> None:
    """Three finished runs, so many of them in the bin."""
    context.results.path.parent.mkdir(parents=True, exist_ok=True)
    with Store.open(context.results.path) as store:
        for number in range(3):
            head = samples.head(run_id=f"run_{number}")
            store.create_run(head)
            store.write(samples.done_writes(head))
            store.finish_run(head.run_id, samples.finish())
        store.delete([f"run_{number}" for number in range(removed)])


def _open(qtbot: QtBot, dialog: SettingsDialog, context: AppContext) -> None:
    dialog.show_section("data")
    _idle(qtbot, context)


def _count(dialog: SettingsDialog) -> str:
    return dialog.findChild(QLabel, "label_bin_count").text()


def _button(dialog: SettingsDialog, name: str) -> QPushButton:
    return dialog.findChild(QPushButton, name)


def test_without_a_history_nothing_is_made(qtbot: QtBot, dialog: SettingsDialog, context: AppContext) -> None:
    _open(qtbot, dialog, context)
    assert _count(dialog) == "none"
    assert not _button(dialog, "button_bin_restore").isEnabled()
    assert not _button(dialog, "button_bin_empty").isEnabled()
    assert not context.results.path.exists()


def test_removed_runs_are_brought_back(qtbot: QtBot, dialog: SettingsDialog, context: AppContext) -> None:
    _runs(context, removed=2)
    _open(qtbot, dialog, context)
    assert _count(dialog) == "2 runs"
    with qtbot.waitSignal(context.results.listed, timeout=20_000) as listed:
        _button(dialog, "button_bin_restore").click()
    assert {run.run_id for run in listed.args[0]} == {"run_0", "run_1", "run_2"}
    _idle(qtbot, context)
    assert _count(dialog) == "none"


@pytest.mark.parametrize(("answer", "left"), [("button_bin_keep", 3), ("button_bin_go", 2)])
def test_the_bin_is_emptied_only_after_a_yes(
    qtbot: QtBot, dialog: SettingsDialog, context: AppContext, answer: str, left: int
) -> None:
    _runs(context, removed=1)
    _open(qtbot, dialog, context)
    assert _count(dialog) == "1 run"
    _button(dialog, "button_bin_empty").click()
    ask = dialog.findChild(QMessageBox, "dialog_empty_bin")
    assert "cannot be undone" in ask.informativeText()
    assert ask.defaultButton().objectName() == "button_bin_keep"
    ask.findChild(QPushButton, answer).click()
    _idle(qtbot, context)
    qtbot.waitUntil(lambda: _count(dialog) == ("none" if left == 2 else "1 run"), timeout=20_000)
    assert len(context.results.store().runs(include_deleted=True)) == left
