"""The steps of one project: in order, one at a time, bounded, forgotten with the project."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from arena_desktop.background import Background
from arena_desktop.desks import edit_history
from arena_desktop.desks.edit_history import EditHistory
from arena_desktop.desks.edit_steps import EditStep
from arena_desktop.desks.project_files import Written
from engine.config.saving import save_text
from engine.config.text_files import read_text
from engine.config.yaml_text import MAX_BYTES
from engine.errors import ArenaError


class Person:
    """Edits one file, and notes what was told."""

    def __init__(self, folder: Path, qtbot: QtBot) -> None:
        self.background = Background()
        self.history = EditHistory(self.background)
        self.file = folder / "a.txt"
        self.file.write_text("0", "utf-8")
        self.told: list[str] = []
        self._bot = qtbot

    def write(self, text: str) -> None:
        """Writes a text, as a dialog does."""
        self.history.write(partial(_replace, self.file, text), text, self._done, self._failed)

    def undo(self, only: EditStep | None = None) -> None:
        """One step back."""
        self.history.undo(self._done, self._failed, only)

    def redo(self) -> None:
        """One step again."""
        self.history.redo(self._done, self._failed)

    def rest(self) -> str:
        """Waits until nothing is under way; the text of the file."""
        self._bot.waitUntil(lambda: not self.history.busy)
        return self.file.read_text("utf-8")

    def _done(self, step: EditStep) -> None:
        self.told.append(step.name)

    def _failed(self, error: ArenaError) -> None:
        self.told.append(error.code)


def _replace(path: Path, text: str) -> Written:
    file = read_text(path, path.name, MAX_BYTES)
    return Written(save_text(file, text), file.text)


@pytest.fixture
def person(tmp_path: Path, qtbot: QtBot) -> Iterator[Person]:
    made = Person(tmp_path, qtbot)
    yield made
    assert made.background.close()


def names(person: Person) -> tuple[str | None, str | None]:
    last, undone = person.history.last, person.history.undone
    return last.name if last else None, undone.name if undone else None


def test_quick_presses_take_as_many_steps_in_order(person: Person) -> None:
    for text in ("1", "2", "3"):
        person.write(text)
    assert person.rest() == "3"
    for _ in range(3):
        person.undo()
    assert person.rest() == "0"
    assert names(person) == (None, "1")
    for _ in range(5):
        person.redo()
    assert person.rest() == "3"
    assert names(person) == ("3", None)
    assert person.told == ["1", "2", "3", "3", "2", "1", "1", "2", "3"]


def test_a_new_step_forgets_what_was_undone(person: Person) -> None:
    person.write("1")
    person.undo()
    person.write("2")
    person.redo()
    assert person.rest() == "2"
    assert names(person) == ("2", None)


def test_a_step_that_changed_nothing_is_no_step(person: Person) -> None:
    person.write("1")
    person.write("1")
    person.rest()
    person.undo()
    assert person.rest() == "0"


def test_only_the_step_that_is_meant_goes_back(person: Person) -> None:
    person.write("1")
    person.rest()
    first = person.history.last
    person.write("2")
    person.undo(first)
    assert person.rest() == "2"
    assert names(person) == ("2", None)


def test_a_step_that_cannot_go_back_stays_and_stops_those_behind_it(person: Person) -> None:
    person.write("1")
    person.write("2")
    person.rest()
    person.file.write_text("theirs", "utf-8")
    person.undo()
    person.undo()
    person.write("4")
    assert person.rest() == "4"
    assert person.told == ["1", "2", "changed_on_disk", "4"]
    person.undo()
    assert person.rest() == "theirs"
    assert names(person) == ("2", "4")
    person.file.write_text("2", "utf-8")
    person.undo()
    assert person.rest() == "1"


def test_a_step_in_the_way_can_be_forgotten(person: Person, tmp_path: Path) -> None:
    other = tmp_path / "b.txt"
    other.write_text("0", "utf-8")
    person.history.write(partial(_replace, other, "1"), "other", person._done, person._failed)
    person.write("1")
    person.rest()
    first, stuck = person.history._undo
    person.file.write_text("theirs", "utf-8")
    person.history.forget(first)
    assert person.history.last is stuck
    person.history.forget(stuck)
    person.undo()
    assert person.rest() == "theirs"
    assert other.read_text("utf-8") == "0"


def test_a_failed_write_is_told_and_keeps_no_step(person: Person) -> None:
    person.file.unlink()
    person.history.write(partial(_replace, person.file, "1"), "1", person._done, person._failed)
    person._bot.waitUntil(lambda: not person.history.busy)
    assert person.told == ["file_missing"]
    assert names(person) == (None, None)


@pytest.mark.parametrize(("bound", "most"), [("MOST_STEPS", 3), ("MOST_BYTES", 6)])
def test_the_oldest_steps_are_forgotten(
    person: Person, monkeypatch: pytest.MonkeyPatch, bound: str, most: int
) -> None:
    # A step from one digit to another keeps two bytes.
    monkeypatch.setattr(edit_history, bound, most)
    for text in "12345":
        person.write(text)
    person.rest()
    for _ in range(5):
        person.undo()
    assert person.rest() == "2"


def test_the_newest_step_is_kept_however_large(person: Person, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_history, "MOST_BYTES", 4)
    person.write("1")
    person.write("a long text")
    person.rest()
    assert names(person) == ("a long text", None)


def test_another_project_begins_with_no_steps_and_loses_no_write(person: Person) -> None:
    person.write("1")
    person.write("2")
    person.undo()
    person.history.clear()
    assert person.rest() == "2"
    assert names(person) == (None, None)
    person.undo()
    assert person.rest() == "2"
