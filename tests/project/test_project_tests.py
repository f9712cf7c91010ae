"""Tests that a window adds: what a spreadsheet means, and that the files keep what stood in them."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_desktop.desks.project_files import take_back
from arena_desktop.desks.project_tests import (
    FEW,
    NewTest,
    add_tests_to_project,
    can_change,
    cells_to_tests,
    change_test,
    remove_test,
)
from engine.errors import UserError
from engine.project import load_project

CONFIG = "project: A\nmodels: [{model: 'mock:echo'}]\nscorers: {default: contains}\n"
TESTS = "# mine\ntests:\n  - {id: one, input: What?, reference: that}  # keep\n"


def project(folder: Path, config: str = CONFIG, tests: str = TESTS, name: str = "tests.yaml") -> Path:
    (folder / "config.yaml").write_text(config, "utf-8")
    (folder / name).write_text(tests, "utf-8")
    return folder


@pytest.mark.parametrize(
    ("cells", "wanted"),
    [
        ([["What?", "that", "one"]], [NewTest("What?", "that", "one")]),
        ([["What?"]], [NewTest("What?")]),
        ([["Expected", "Question"], ["that", " What? "], ["", ""]], [NewTest("What?", "that")]),
        ([["Question"], ["What?"]], [NewTest("What?")]),
        ([["What is the answer?", "42"]], [NewTest("What is the answer?", "42")]),
        ([["text", "about nothing"], ["a", "b"]], [NewTest("text", "about nothing"), NewTest("a", "b")]),
        ([[" "], []], []),
    ],
)
def test_cells_become_tests(cells: list[list[str]], wanted: list[NewTest]) -> None:
    assert cells_to_tests(cells) == wanted


def test_a_few_go_to_the_end_of_the_file_that_is_there(tmp_path: Path) -> None:
    opened = load_project(project(tmp_path))
    new = [NewTest("Who: me?\nSecond line", "- yes #1", "one"), NewTest("No answer"), NewTest("  ", "lost")]
    assert add_tests_to_project(opened, new).file.path == opened.root / "tests.yaml"
    assert (tmp_path / "tests.yaml").read_text("utf-8").startswith(TESTS)
    cases = load_project(tmp_path).all_cases
    assert [case.input for case in cases] == ["What?", "Who: me?\nSecond line", "No answer"]
    assert [case.reference for case in cases] == ["that", "- yes #1", None]
    assert cases[1].id == "one 2"


@pytest.mark.parametrize(
    "config", [CONFIG, CONFIG + "tests: {paths: [tests.csv]}\n", CONFIG + "tests: [tests.csv]\n"]
)
def test_beside_a_table_they_get_a_file_of_their_own(tmp_path: Path, config: str) -> None:
    opened = load_project(project(tmp_path, config, "id,input,reference\none,What?,that\n", "tests.csv"))
    assert add_tests_to_project(opened, [NewTest("When?", "now")]).file.path.name == "added-tests.yaml"
    again = load_project(tmp_path)
    assert sorted(str(case.input) for case in again.all_cases) == ["What?", "When?"]
    assert not again.problems


def test_many_are_written_at_once(tmp_path: Path) -> None:
    opened = load_project(project(tmp_path))
    new = [NewTest(f"Question {number}", str(number)) for number in range(FEW + 1)]
    place = add_tests_to_project(opened, new)
    assert place.file.path.name == "added-tests.yaml"
    cases = load_project(tmp_path).all_cases
    assert len(cases) == FEW + 2
    assert {case.reference for case in cases} >= {"0", str(FEW)}
    assert (tmp_path / "tests.yaml").read_text("utf-8") == TESTS


def test_a_config_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    opened = load_project(project(tmp_path, tests="id,input\none,What?\n", name="tests.csv"))
    (tmp_path / "config.yaml").write_text(CONFIG + "# mine\n", "utf-8")
    with pytest.raises(UserError, match="changed by another program"):
        add_tests_to_project(opened, [NewTest("When?")])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.yaml", "tests.csv"]


LONGER = """\
# mine
tests:
  - {id: one, input: What?, reference: that}  # keep
  # about the second
  - question: |
      Two
      lines
    tags: [a]
  - {id: three, input: Last, reference: [a, b]}
"""


def test_a_test_is_changed_where_it_stands(tmp_path: Path) -> None:
    opened = load_project(project(tmp_path, tests=LONGER))
    first, second, third = opened.all_cases
    assert [can_change(case) for case in (first, second, third)] == [True, True, False]
    change_test(opened, first, "What: now?", "this")
    change_test(load_project(tmp_path), load_project(tmp_path).all_cases[1], "One\nand two", "new answer")
    cases = load_project(tmp_path).all_cases
    assert [case.input for case in cases] == ["What: now?", "One\nand two", "Last"]
    assert [case.reference for case in cases] == ["this", "new answer", ["a", "b"]]
    text = (tmp_path / "tests.yaml").read_text("utf-8")
    assert "# mine" in text
    assert "# keep" in text
    assert "# about the second" in text
    change_test(load_project(tmp_path), cases[0], "What: now?", " ")
    assert load_project(tmp_path).all_cases[0].reference is None


def test_a_removed_test_comes_back_as_it_was(tmp_path: Path) -> None:
    opened = load_project(project(tmp_path, tests=LONGER))
    written = remove_test(opened, opened.all_cases[0])
    assert [case.id for case in load_project(tmp_path).all_cases][-1] == "three"
    assert len(load_project(tmp_path).all_cases) == 2
    take_back(written)
    assert (tmp_path / "tests.yaml").read_text("utf-8") == LONGER


def test_a_test_that_moved_is_not_guessed(tmp_path: Path) -> None:
    opened = load_project(project(tmp_path, tests=LONGER))
    (tmp_path / "tests.yaml").write_text("# one line more\n" + LONGER, "utf-8")
    with pytest.raises(UserError, match="does not stand by itself"):
        change_test(opened, opened.all_cases[0], "Other", "that")
    assert (tmp_path / "tests.yaml").read_text("utf-8") == "# one line more\n" + LONGER
