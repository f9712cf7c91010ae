"""The reports that a project asks for: their place, their names, and nothing that acts in them."""

from __future__ import annotations

import csv
import json
import os
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from arena_desktop.reports import after_run
from arena_desktop.reports.after_run import write_reports
from arena_desktop.reports.text_page import escape
from engine.config.schema import Output
from engine.errors import WorldError
from engine.project import Project, load_project
from engine.storage.store import Store
from tests.views.run_world import run_now

HOSTILE = '=HYPERLINK(\\"http://x.test\\")\\u202e | <script>alert(1)</script>'
CONFIG = f"""\
project: "Replies <b>*now*</b>"
models:
  - {{key: good, model: "mock:oracle", label: "A|B [x](http://x.test)"}}
  - {{key: steers, model: "mock:fixed", label: Steers, params: {{text: "{HOSTILE}"}}}}
statistics: {{resamples: 100}}
tests: {{paths: [tests.yaml]}}
output: {{dir: out, formats: [json, csv, html, markdown]}}
"""
TESTS = "tests:\n" + "".join(
    f"  - {{id: c{n}, input: Question {n}, reference: right{n}}}\n" for n in range(3)
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path, str]:
    """A project, the store of one run of it, and the run's id."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "config.yaml").write_text(CONFIG, encoding="utf-8")
    (folder / "tests.yaml").write_text(TESTS, encoding="utf-8")
    store = folder / "store.sqlite"
    return load_project(folder), store, run_now(folder, store)


@pytest.fixture
def project(made: tuple[Project, Path, str], tmp_path: Path) -> Project:
    return replace(made[0], root=tmp_path)


@pytest.fixture
def store(made: tuple[Project, Path, str]) -> Iterator[Store]:
    with Store.open(made[1], read_only=True) as opened:
        yield opened


def asking(project: Project, **output: object) -> Project:
    return replace(project, config=replace(project.config, output=Output(**output)))  # type: ignore[arg-type]


def test_each_form_holds_the_run(project: Project, store: Store, made: tuple[Project, Path, str]) -> None:
    files = {path.suffix: path for path in write_reports(store, made[2], project)}
    assert list(files) == [".json", ".csv", ".html", ".md"]
    assert {path.parent for path in files.values()} == {project.root / "out"}
    assert {path.stem[10:] for path in files.values()} == {"-run-1"}
    document = json.loads(files[".json"].read_text(encoding="utf-8"))
    assert (document["run_id"], document["completed"], len(document["calls"])) == (made[2], 6, 6)
    with files[".csv"].open(encoding="utf-8-sig", newline="") as stream:
        rows = list(csv.DictReader(stream))
    assert [(row["case_id"], row["passed"]) for row in rows if row["model_key"] == "good"] == [
        ("c0", "true"), ("c1", "true"), ("c2", "true"),
    ]  # fmt: skip
    page = files[".md"].read_text(encoding="utf-8")
    assert "| 1 |" in page
    assert "3 / 3" in page
    web = files[".html"].read_text(encoding="utf-8")
    assert "<h1>" in web
    # What is kept must not say when it was looked at.
    assert not re.search(r"today \d", web + page)
    assert str(datetime.now().astimezone().year) in page


def test_nothing_in_them_acts(project: Project, store: Store, made: tuple[Project, Path, str]) -> None:
    files = {path.suffix: path for path in write_reports(store, made[2], project)}
    with files[".csv"].open(encoding="utf-8-sig", newline="") as stream:
        answers = {row["answer"] for row in csv.DictReader(stream) if row["model_key"] == "steers"}
    (answer,) = answers
    assert answer.startswith("'=HYPERLINK")
    assert "[U+202E]" in answer
    page = files[".md"].read_text(encoding="utf-8")
    assert "Replies \\<b\\>\\*now\\*\\</b\\>" in page
    assert "A\\|B \\[x\\](http\\://x.test)" in page
    assert "<script" not in files[".html"].read_text(encoding="utf-8")


def test_markdown_text_stays_on_its_line() -> None:
    assert escape("one\n# two\r\n- `three`") == "one \\# two - \\`three\\`"


def test_nothing_that_is_there_is_overwritten(
    project: Project, store: Store, made: tuple[Project, Path, str]
) -> None:
    wanted = asking(project, formats=("json",))
    (first,) = write_reports(store, made[2], wanted)
    first.write_text("mine", encoding="utf-8")
    (second,) = write_reports(store, made[2], wanted)
    assert first.parent.name == "results"
    assert first.read_text(encoding="utf-8") == "mine"
    assert second.name == f"{first.stem}-2.json"


def test_a_folder_that_leads_out_of_the_project_is_not_written_to(
    project: Project, store: Store, made: tuple[Project, Path, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside")
    os.symlink(outside, project.root / "out")
    assert write_reports(store, made[2], project) == ()
    assert list(outside.iterdir()) == []


def test_a_failure_is_a_sentence_and_leaves_no_half_file(
    project: Project, store: Store, made: tuple[Project, Path, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_path: Path, _text: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(after_run, "write_private", full)
    with pytest.raises(WorldError) as caught:
        write_reports(store, made[2], project)
    assert caught.value.code == "report_not_written"
    assert "No space left on device." in caught.value.message
    assert list((project.root / "out").iterdir()) == []


def test_a_place_that_cannot_be_made_is_a_sentence(
    project: Project, store: Store, made: tuple[Project, Path, str]
) -> None:
    (project.root / "file").write_text("", encoding="utf-8")
    with pytest.raises(WorldError) as caught:
        write_reports(store, made[2], asking(project, dir="file/out"))
    assert caught.value.code == "report_not_written"
    assert "ARENA_HOME" not in caught.value.hint


def test_a_project_that_asks_for_nothing_gets_nothing(
    project: Project, store: Store, made: tuple[Project, Path, str]
) -> None:
    assert write_reports(store, made[2], asking(project)) == ()
    assert list(project.root.iterdir()) == []
