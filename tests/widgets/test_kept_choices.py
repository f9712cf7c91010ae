"""Switches, choices and places of handles come back as they were left; broken ones are left alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QObject, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QCheckBox, QWidget

from arena_desktop.settings import Settings
from arena_desktop.theme.switch import Theme
from arena_desktop.widgets.fields import Combo
from arena_desktop.widgets.kept_choices import KeptChoices, SideSplitter

ACROSS, DOWN = Qt.Orientation.Horizontal, Qt.Orientation.Vertical


def combo(*data: str) -> Combo:
    made = Combo("Which", name="combo_which")
    for word in data:
        made.addItem(word.title(), word)
    return made


def switch() -> QCheckBox:
    made = QCheckBox("Only these")
    made.setObjectName("check_only")
    return made


@pytest.fixture
def again(settings: Settings):
    """The choices of the page `test`, as a new start has them."""
    owners: list[QObject] = []

    def start(of: Path | None = None) -> KeptChoices:
        owners.append(QObject())
        return KeptChoices(Settings(settings.path), "test", owners[-1], lambda: of)

    return start


def test_what_was_left_comes_back(qtbot, theme: Theme, again) -> None:
    first, only, which = again(), switch(), combo("all", "failed")
    for widget in (only, which):
        qtbot.addWidget(widget)
    first.keep_switch(only)
    first.keep_choice(which)
    assert (only.isChecked(), which.currentData()) == (False, "all")
    QTest.keyClick(only, Qt.Key.Key_Space)
    QTest.keyClick(which, Qt.Key.Key_Down)
    first._settings.sync()
    later, other, choice = again(), switch(), combo("all", "failed")
    for widget in (other, choice):
        qtbot.addWidget(widget)
    later.keep_switch(other)
    later.keep_choice(choice)
    assert (other.isChecked(), choice.currentData()) == (True, "failed")
    # "Clear" on a page counts as well.
    choice.setCurrentIndex(0)
    later._settings.sync()
    last = combo("all", "failed")
    qtbot.addWidget(last)
    again().keep_choice(last)
    assert last.currentData() == "all"


def test_a_choice_whose_entries_come_later_waits_for_them(qtbot, theme: Theme, again, tmp_path: Path) -> None:
    one, two = again(tmp_path / "one"), again(tmp_path / "two")
    which = combo("", "refund")
    qtbot.addWidget(which)
    one.keep_choice(which)
    which.setCurrentIndex(1)
    one._settings.sync()
    empty = combo()
    qtbot.addWidget(empty)
    assert again(tmp_path / "one").chosen(empty) == "refund"
    assert two.chosen(empty) is None
    assert one.chosen(which) == "refund"


def splitter(qtbot, settings: Settings, width: int = 900) -> SideSplitter:
    made = SideSplitter("splitter_test")
    qtbot.addWidget(made)
    for _ in range(2):
        made.addWidget(QWidget())
    made.set_usual([600, 284])
    made.remember(Settings(settings.path))
    made.resize(width, 600)
    made.show()
    return made


def move(view: SideSplitter, place: int) -> None:
    """As the mouse does at the handle."""
    view.moveSplitter(place, 1)
    view._settings.sync()


def test_the_place_of_a_handle_goes_before_the_usual(qtbot, theme: Theme, settings: Settings) -> None:
    first = splitter(qtbot, settings)
    assert first.sizes() == [600, 284]
    move(first, 300)
    first.set_usual([700, 184])
    assert first.sizes() == [300, 584]
    later = splitter(qtbot, settings)
    assert later.sizes() == [300, 584]
    # Each direction has a place of its own.
    later.setOrientation(DOWN)
    later.set_usual([400, 184])
    assert later.sizes() == [400, 184]
    move(later, 200)
    later.setOrientation(ACROSS)
    assert later.sizes() == [300, 584]
    later.setOrientation(DOWN)
    assert later.sizes() == [200, 384]


@pytest.mark.parametrize("kept", [[1], [0, 0], ["a", 3], [5, -5], "x", [True, 5]])
def test_a_broken_place_is_left_alone(qtbot, theme: Theme, settings: Settings, kept: object) -> None:
    settings.keep_view_state("splitter_test", {"across": kept})
    settings.sync()
    assert splitter(qtbot, settings).sizes() == [600, 284]
