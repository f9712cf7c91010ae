"""A project that keeps its runs itself, from the command line."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest

from engine.paths import store_path
from engine.storage.store import Store
from tests.cli.calling import Said, call, small_project

MODELS = "  - {key: good, model: 'mock:oracle'}\n  - {key: bad, model: 'mock:fixed', params: {text: No}}\n"
OWN = "output: {db: runs/own.sqlite}\n"


class Desk:
    """A project folder, and the user's own history in the home of the test."""

    def __init__(self, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capfd, self.folder = capfd, folder
        self.own = folder / "runs" / "own.sqlite"

    def write(self, more: str = OWN) -> None:
        small_project(self.folder, models=MODELS, more=more)

    def say(self, *words: str | Path) -> Said:
        return call(self.capfd, *words)

    def run(self) -> str:
        said = self.say("run", self.folder, "--json")
        assert said.code == 0, said.err
        return str(said.json["run_id"])

    def listed(self, *words: str | Path) -> list[str]:
        return [run["run_id"] for run in self.say("runs", "--json", *words).json["runs"]]


@pytest.fixture
def desk(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Desk:
    made = Desk(capfd, tmp_path / "project")
    made.write("")
    return made


def test_runs_of_both_places_are_one_history(desk: Desk) -> None:
    first = desk.run()
    desk.write()
    second = desk.run()
    with Store.open(desk.own, read_only=True) as own, Store.open(store_path(), read_only=True) as users:
        assert [(run.run_id, run.number) for run in own.runs()] == [(second, 2)]
        assert [(run.run_id, run.number) for run in users.runs()] == [(first, 1)]
    assert desk.listed() == desk.listed("--project", desk.folder) == desk.listed("--project", "Small")
    assert desk.listed() == [second, first]
    assert desk.say("show", second, "--json").json["completed"] == 8
    history = desk.say("history", desk.folder, "--json").json
    assert [point["run_id"] for point in history["models"][0]["points"]] == [second, first]
    compared = desk.say("compare", first, second, "--json").json
    assert len(compared["shared"]) == 4
    assert desk.listed("--store", store_path()) == [first]


def test_marking_again_and_carrying_on_go_to_its_file(desk: Desk) -> None:
    desk.write()
    run_id = desk.run()
    users = store_path().read_bytes()
    desk.write(f"{OWN}scorers: {{default: contains}}\n")
    assert desk.say("rescore", run_id, "--json").json["run_id"] == run_id
    with Store.open(desk.own) as store, store.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'running', owner_pid = -1")
        connection.execute("UPDATE cells SET state = 'planned', status = NULL WHERE id = 1")
    said = desk.say("run", desk.folder, "--resume", "last", "--json")
    assert said.code == 0, said.err
    assert (said.json["run_id"], said.json["completed"]) == (run_id, 8)
    assert desk.listed() == [run_id]
    assert store_path().read_bytes() == users


def test_a_store_that_is_named_goes_before(desk: Desk, tmp_path: Path) -> None:
    desk.write()
    said = desk.say("run", desk.folder, "--json", "--store", tmp_path / "other.sqlite")
    assert said.code == 0
    assert not desk.own.exists()


def test_a_foreign_file_is_told_and_left_alone(desk: Desk) -> None:
    desk.own.parent.mkdir()
    with sqlite3.connect(desk.own) as connection:
        connection.execute("CREATE TABLE results (id)")
    connection.close()
    before = desk.own.read_bytes()
    desk.write()
    said = desk.say("run", desk.folder)
    assert said.code == 0
    assert "is not a history of this program" in said.err
    assert desk.own.read_bytes() == before
    assert len(desk.listed()) == 1


def test_a_place_that_cannot_be_made_is_a_sentence(desk: Desk) -> None:
    (desk.folder / "runs").write_text("a file", encoding="utf-8")
    desk.write()
    said = desk.say("run", desk.folder, "--json")
    assert said.code == 1
    fault = json.loads(said.out)["error"]
    assert str(desk.folder) in fault["message"]
    assert "ARENA_HOME" not in fault["hint"]


def test_a_file_that_cannot_be_written_is_a_sentence_and_is_read(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write()
    run_id = desk.run()
    allowed = os.access
    monkeypatch.setattr(
        os, "access", lambda place, how: allowed(place, how) and not (how == os.W_OK and "own" in str(place))
    )
    assert desk.listed() == [run_id]
    said = desk.say("run", desk.folder, "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "store_readonly"
    assert str(desk.own) in said.json["error"]["message"]


@pytest.mark.parametrize(("folder", "journal"), [("Dropbox", 1), ("plain", 2)])
def test_a_synced_folder_gets_no_log_beside_the_file(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, folder: str, journal: int
) -> None:
    desk = Desk(capfd, tmp_path / folder / "project")
    desk.write()
    desk.run()
    # Bytes 18 and 19 of SQLite's header: 1 = rollback journal, 2 = write-ahead log.
    assert desk.own.read_bytes()[18:20] == bytes([journal, journal])


def test_a_folder_may_be_named_as_people_name_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write()
    run_id = desk.run()
    monkeypatch.chdir(desk.folder)
    assert desk.listed("--project", ".") == [run_id]


def test_a_damaged_one_hides_no_run(desk: Desk) -> None:
    first = desk.run()
    desk.write()
    desk.run()
    whole = desk.own.read_bytes()
    desk.own.write_bytes(whole[:100] + b"\xff" * 8000)
    said = desk.say("runs", "--json")
    assert [run["run_id"] for run in said.json["runs"]] == [first]
    assert "Its runs are left out." in said.err


def test_a_run_that_claims_another_folder_is_not_marked_by_it(desk: Desk, tmp_path: Path) -> None:
    desk.write()
    run_id = desk.run()
    other = small_project(tmp_path / "other", models=MODELS)
    with Store.open(desk.own) as store, store.database.transaction() as connection:
        connection.execute("UPDATE runs SET project_root = ?", (str(other),))
    said = desk.say("rescore", run_id)
    assert said.code == 1
    assert "--project" in said.err


def test_reports_are_written_where_the_project_says(desk: Desk) -> None:
    desk.write("output: {dir: out, formats: [csv, json]}\n")
    said = desk.say("run", desk.folder, "--json")
    files = sorted((desk.folder / "out").iterdir())
    assert [path.suffix for path in files] == [".csv", ".json"]
    assert all(f"Report: {path}" in said.err for path in files)
    assert json.loads(files[1].read_text(encoding="utf-8")) == said.json


def test_a_report_that_cannot_be_written_changes_no_exit_code(desk: Desk) -> None:
    (desk.folder / "taken").write_text("", encoding="utf-8")
    desk.write("output: {dir: taken/out}\n")
    said = desk.say("run", desk.folder)
    assert said.code == 0
    assert "could not be written" in said.err


def test_the_doctor_looks_at_it_too(desk: Desk) -> None:
    desk.write()
    desk.run()

    def found() -> dict[str, str]:
        said = desk.say("doctor", "--project", desk.folder, "--json")
        return next(row for row in said.json["checks"] if "store" in row["id"] and row["id"] != "key_store")

    assert found()["state"] == "ok"
    whole = desk.own.read_bytes()
    desk.own.write_bytes(whole[:100] + b"\xff" * 8000)
    assert found()["state"] == "fail"
    assert str(desk.own) in found()["sentence"]
