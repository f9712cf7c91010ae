"""`rescore`, `compare`, `history`: what saved runs say without asking a model again."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.calling import Said, call, small_project

MODELS = (
    "  - {key: good, label: Good, model: 'mock:oracle'}\n"
    "  - {key: wordy, label: Wordy, model: 'mock:fixed', params: {text: It is right0 and right1 I think}}\n"
)
CHECK_CONTAINS = "scorers: {default: contains}\n"


class Desk:
    """A project folder with a store of its own."""

    def __init__(self, capfd: pytest.CaptureFixture[str], folder: Path) -> None:
        self.capfd, self.folder, self.store = capfd, folder / "project", folder / "arena.sqlite"
        self.write()

    def write(self, models: str = MODELS, more: str = "", cases: int = 8) -> None:
        small_project(self.folder, models=models, more=more, cases=cases)

    def say(self, *words: str | Path) -> Said:
        return call(self.capfd, *words, "--store", self.store)

    def run(self) -> str:
        said = self.say("run", self.folder, "--json")
        assert said.code == 0, said.err
        return str(said.json["run_id"])


@pytest.fixture
def desk(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Desk:
    return Desk(capfd, tmp_path)


def passed(document: dict) -> dict[str, int]:
    return {entry["model_key"]: entry["passed_cases"] for entry in document["leaderboard"]}


def test_rescore_uses_the_project_as_it_is_now(desk: Desk) -> None:
    run_id = desk.run()
    assert passed(desk.say("show", run_id, "--json").json) == {"good": 8, "wordy": 0}
    desk.write(more=CHECK_CONTAINS)
    said = desk.say("rescore", "last", "--json")
    assert said.code == 0
    document = said.json
    assert (document["run_id"], document["answers"], document["changed"]) == (run_id, 16, 2)
    assert passed(document) == {"good": 8, "wordy": 2}
    assert (document["kept"], document["waiting"], document["gone"]) == ({}, {}, [])
    shown = desk.say("show", "last", "--json").json
    assert passed(shown) == {"good": 8, "wordy": 2}
    assert shown["verdict"] == document["verdict"]
    assert any("2 of 16 marks changed" in note for note in shown["notes"])


def test_rescore_says_what_it_did_to_people(desk: Desk) -> None:
    desk.run()
    desk.write(more=CHECK_CONTAINS)
    said = desk.say("rescore", "last")
    assert "2 of 16 marks changed." in said.err
    assert "Wordy" in said.out
    again = desk.say("rescore", "last")
    assert "16 answers were marked again. No mark changed." in again.err
    assert again.code == 0


def test_rescore_takes_another_folder(desk: Desk, tmp_path: Path) -> None:
    desk.run()
    other = small_project(tmp_path / "other", models=MODELS, cases=6, more=CHECK_CONTAINS)
    said = desk.say("rescore", "last", "--project", other, "--json")
    assert said.json["gone"] == ["c6", "c7"]
    assert said.json["answers"] == 12


def test_rescore_without_its_folder_says_what_to_do(desk: Desk, tmp_path: Path) -> None:
    desk.run()
    desk.folder.rename(tmp_path / "moved")
    said = desk.say("rescore", "last", "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "project_missing"
    assert "--project" in said.json["error"]["hint"]


@pytest.mark.parametrize(
    "words", [("rescore", "run_x"), ("compare", "run_x", "last"), ("compare", "last", "run_y")]
)
def test_a_run_that_is_not_there_is_a_sentence(desk: Desk, words: tuple[str, ...]) -> None:
    desk.run()
    said = desk.say(*words, "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "run_not_found"


def test_compare_counts_only_shared_tests(desk: Desk) -> None:
    first = desk.run()
    desk.write(models=MODELS.replace("mock:oracle", "mock:fixed"), cases=10)
    second = desk.run()
    document = desk.say("compare", first, second, "--json").json
    assert (document["before"]["run_id"], document["after"]["run_id"]) == (first, second)
    assert document["shared"] == [f"c{n}" for n in range(8)]
    assert document["only_after"] == ["c8", "c9"]
    good = next(model for model in document["models"] if model["model_key"] == "good")
    assert (good["before"]["passed_cases"], good["after"]["passed_cases"]) == (8, 0)
    assert good["worse"] == document["shared"]
    assert good["entry_changed"] is True
    assert (good["pair"]["row"], good["pair"]["delta"]) == (4, -1.0)
    assert document["headline"].startswith("Good got worse")
    assert "2 tests were asked only now" in document["caution"]


def test_compare_for_people_opens_with_the_sentence(desk: Desk) -> None:
    desk.run()
    desk.write(models=MODELS.replace("mock:oracle", "mock:fixed"))
    desk.run()
    first = [info["run_id"] for info in desk.say("runs", "--json").json["runs"]][-1]
    said = desk.say("compare", first, "last")
    assert said.out.startswith("Good got worse")
    assert "8 of 8" in said.out
    assert "Good, worse: c0, c1" in said.err


def test_a_run_is_not_compared_with_itself(desk: Desk) -> None:
    desk.run()
    said = desk.say("compare", "last", "last", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "same_run")


def test_runs_without_a_shared_test_are_said(desk: Desk, tmp_path: Path) -> None:
    first = desk.run()
    desk.write(more=CHECK_CONTAINS)
    second = desk.run()
    document = desk.say("compare", first, second, "--json").json
    assert document["problem"] == "no_shared_cases"
    assert document["models"] == []
    assert document["headline"]


def test_history_shows_every_run_of_every_model(desk: Desk) -> None:
    runs = [desk.run(), desk.run()]
    for name in ("Small", str(desk.folder)):
        document = desk.say("history", name, "--json").json
        assert document["project"] == "Small"
        assert [info["run_id"] for info in document["runs"]] == runs[::-1]
        good = next(model for model in document["models"] if model["model_key"] == "good")
        assert [(point["number"], point["score"], point["passed_cases"]) for point in good["points"]] == [
            (2, 1.0, 8),
            (1, 1.0, 8),
        ]
        assert good["drift"] == {"score": 1.0, "baseline": 1.0, "baseline_runs": 1}
        assert document["releases"] == []


def test_history_of_one_model(desk: Desk) -> None:
    desk.run()
    document = desk.say("history", "Small", "--model", "wordy", "--json").json
    assert [model["model_key"] for model in document["models"]] == ["wordy"]
    wrong = desk.say("history", "Small", "--model", "nobody", "--json")
    assert (wrong.code, wrong.json["error"]["code"]) == (1, "model_unknown")


def test_history_tells_what_a_new_release_changed(desk: Desk) -> None:
    desk.run()
    desk.write(models=MODELS.replace("mock:oracle", "mock:fixed"))
    desk.run()
    (step,) = desk.say("history", desk.folder, "--json").json["releases"]
    assert (step["kind"], step["got_worse"], step["row"]) == ("replaced", True, 4)
    assert (step["before"]["model"], step["after"]["model"]) == ("mock:oracle", "mock:fixed")
    assert len(step["worse"]) == 8
    said = desk.say("history", "Small")
    assert "It got worse. 0 of 8 tests got better, 8 got worse." in said.err
    assert "Complete" in said.out


def test_a_project_that_never_ran_is_a_sentence(desk: Desk) -> None:
    said = desk.say("history", desk.folder, "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "no_runs")
