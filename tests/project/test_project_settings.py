"""Single settings that the window changes; the rest of the file keeps its bytes."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena_desktop.desks.project_files import take_back
from arena_desktop.desks.project_settings import change_settings, remove_model
from engine.errors import UserError
from engine.project import Project, load_project

CONFIG = """\
name: A  # its name
models:
  - {key: one, model: "mock:echo"}
  # the second
  - mock:flaky
budgets: {max_run_usd: 2}
"""


def opened(folder: Path) -> Project:
    if not (folder / "config.yaml").exists():
        (folder / "config.yaml").write_text(CONFIG, "utf-8")
        (folder / "tests.yaml").write_text("tests: [{input: Hello, reference: Hello}]\n", "utf-8")
    return load_project(folder)


def test_settings_are_written_where_they_stand_and_taken_back(tmp_path: Path) -> None:
    written = change_settings(
        opened(tmp_path),
        {
            ("project",): "B: the second",
            ("description",): "For trying",
            ("defaults", "system"): "Be short.\nBe kind.",
            ("constraints", "min_accuracy"): 0.8,
            ("budgets", "max_run_usd"): None,
            ("budgets", "confirm_above_usd"): 0.5,
        },
    )
    config = opened(tmp_path).config
    assert (config.project, config.description) == ("B: the second", "For trying")
    assert config.defaults.system == "Be short.\nBe kind."
    assert config.constraints.min_accuracy == 0.8
    assert (config.budgets.max_run_usd, float(config.budgets.confirm_above_usd or 0)) == (None, 0.5)
    text = (tmp_path / "config.yaml").read_text("utf-8")
    assert "# its name" in text
    assert "# the second" in text
    take_back(written)
    assert (tmp_path / "config.yaml").read_text("utf-8") == CONFIG


@pytest.mark.parametrize(("number", "left"), [(0, "mock:flaky"), (1, "mock:echo")])
def test_a_model_is_taken_out(tmp_path: Path, number: int, left: str) -> None:
    project = opened(tmp_path)
    remove_model(project, project.config.models[number].key)
    assert [entry.model for entry in opened(tmp_path).config.models] == [left]


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    project = opened(tmp_path)
    (tmp_path / "config.yaml").write_text(CONFIG + "# more\n", "utf-8")
    with pytest.raises(UserError, match="changed by another program"):
        change_settings(project, {("project",): "B"})
    with pytest.raises(UserError, match="changed by another program"):
        remove_model(project, "one")


def test_a_model_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be taken out here"):
        remove_model(opened(tmp_path), "nobody")
