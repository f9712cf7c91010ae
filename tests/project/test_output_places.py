"""Where a run writes inside the project folder, and where it does not."""

from __future__ import annotations

import os
import sqlite3
from pathlib import Path

import pytest

from engine.config.output_places import history_of, report_folder, report_forms
from engine.domain import Severity
from engine.project import Project
from engine.storage.store import Store
from tests.project.folders import MODELS, only, project

ONE = {"tests.yaml": "tests: [{id: a, input: Say ok, reference: ok}]\n"}


def with_output(root: Path, output: str) -> Project:
    root.mkdir(exist_ok=True)
    return project(root, ONE, f"{MODELS}output: {output}\n")


def test_nothing_is_written_unless_output_says_so(tmp_path: Path) -> None:
    loaded = project(tmp_path, ONE, MODELS)
    assert history_of(loaded.root, loaded.config) is None
    assert report_folder(loaded.root, loaded.config) is None


def test_a_file_that_is_not_there_yet_or_is_a_history_is_the_place(tmp_path: Path) -> None:
    loaded = with_output(tmp_path, "{db: runs/own.sqlite}")
    assert loaded.problems == ()
    place = tmp_path / "runs" / "own.sqlite"
    assert history_of(loaded.root, loaded.config) == place.resolve()
    Store.open(place).close()
    assert history_of(loaded.root, loaded.config) == place.resolve()
    with Store.open(place):
        # Its mark may still be in the log beside it.
        assert history_of(loaded.root, loaded.config) == place.resolve()


def foreign_database(path: Path) -> None:
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE results (id)")
    connection.close()


@pytest.mark.parametrize("kind", ["database", "text", "folder", "config"])
def test_what_is_something_else_is_told_and_left_alone(tmp_path: Path, kind: str) -> None:
    name = "config.yaml" if kind == "config" else "taken"
    path = tmp_path / name
    if kind == "database":
        foreign_database(path)
    elif kind == "text":
        path.write_text("my notes", encoding="utf-8")
    elif kind == "folder":
        path.mkdir()
    loaded = with_output(tmp_path, f"{{db: {name}}}")
    before = None if kind == "folder" else path.read_bytes()
    told = only(loaded.problems, "output_taken")
    assert (told.severity, told.path, told.file) == (Severity.WARNING, "output.db", "config.yaml")
    assert told.line is not None
    assert loaded.ok
    assert history_of(loaded.root, loaded.config) is None
    assert before is None or path.read_bytes() == before


def test_a_link_that_leads_out_later_is_not_followed(tmp_path: Path) -> None:
    loaded = with_output(tmp_path / "project", "{db: runs/own.sqlite, dir: reports}")
    (tmp_path / "outside").mkdir()
    os.symlink(tmp_path / "outside", loaded.root / "runs")
    os.symlink(tmp_path / "outside", loaded.root / "reports")
    assert history_of(loaded.root, loaded.config) is None
    assert report_folder(loaded.root, loaded.config) is None


@pytest.mark.parametrize(
    ("output", "folder", "forms"),
    [
        ("{dir: out}", "out", ("markdown", "json")),
        ("{formats: [csv, HTML, csv]}", "results", ("csv", "html")),
        ("{dir: a/b, formats: [md, markdown]}", "a/b", ("markdown",)),
    ],
)
def test_a_folder_or_a_form_alone_is_enough(
    tmp_path: Path, output: str, folder: str, forms: tuple[str, ...]
) -> None:
    loaded = with_output(tmp_path, output)
    assert loaded.problems == ()
    assert report_folder(loaded.root, loaded.config) == (tmp_path / folder).resolve()
    assert report_forms(loaded.config) == forms


def test_a_form_that_is_not_written_is_told(tmp_path: Path) -> None:
    loaded = with_output(tmp_path, "{formats: [json, pdf]}")
    told = only(loaded.problems, "not_built")
    assert told.path == "output.formats[1]"
    assert "pdf" in told.message
    assert report_forms(loaded.config) == ("json",)


def test_a_file_in_the_place_of_the_folder_is_kept(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("mine", encoding="utf-8")
    loaded = with_output(tmp_path, "{dir: out}")
    assert report_folder(loaded.root, loaded.config) is None
