"""`rescore` with a judge: price first, a yes where the project wants one, exit codes, what is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.storage.store import Store
from tests.cli.test_stored import Desk

JUDGE = 'judge: {{model: "mock:judge", provider: mock, rubric: {rubric}, max_tokens: 40}}\n'
USED = "scorers: {default: llm_judge}\n"
PRICED = 'pricing: {models: {"mock:judge": {input_usd_per_mtok: 1000, output_usd_per_mtok: 1000}}}\n'
MODELS = "  - {key: good, label: Good, model: 'mock:oracle'}\n"


@pytest.fixture
def desk(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> Desk:
    made = Desk(capfd, tmp_path)
    write(made, "Old")
    made.run()
    return made


def write(desk: Desk, rubric: str, more: str = "") -> None:
    desk.write(models=MODELS, more=JUDGE.format(rubric=rubric) + USED + more, cases=4)


def test_a_free_judge_is_asked_without_a_yes(desk: Desk) -> None:
    write(desk, "New")
    said = desk.say("rescore", "last", "--json")
    assert said.code == 0, said.err
    document = said.json
    assert (document["status"], document["unmarked"], document["kept"]) == ("completed", 0, {})
    assert [document["asked"][name] for name in ("answers", "marked", "calls")] == [4, 4, 4]
    assert "4 questions to the second AI about 4 answers that are saved." in said.err
    assert "No model is asked again. Free." in said.err
    again = desk.say("rescore", "last", "--json")
    assert again.json["asked"] is None


def test_the_project_may_want_a_yes(desk: Desk) -> None:
    write(desk, "New", PRICED + "budgets: {confirm_above_usd: 0.01}\n")
    said = desk.say("rescore", "last", "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "confirmation_needed"
    assert "never more than $" in said.json["error"]["message"]
    kept = desk.say("rescore", "last", "--json", "--no-judge")
    assert (kept.code, kept.json["kept"], kept.json["asked"]) == (0, {"judge": 4}, None)
    done = desk.say("rescore", "last", "--json", "--yes")
    assert done.code == 0
    estimate = done.json["asked"]["estimate"]
    assert estimate["low"] < estimate["likely"] < estimate["high"]
    assert done.json["cost_usd"] > 0


def test_a_ceiling_stops_it_with_exit_3(desk: Desk) -> None:
    write(desk, "New", PRICED + "budgets: {max_run_usd: 1.5}\nrun: {concurrency: 1}\n")
    said = desk.say("rescore", "last", "--json")
    assert said.code == 3, said.err
    assert said.json["status"] == "stopped_budget"
    assert said.json["cost_usd"] <= 1.5
    assert said.json["kept"]["judge"] == 4 - said.json["asked"]["marked"]
    told = desk.say("rescore", "last")
    assert "It stopped at the limit of the run." in told.err


def test_marks_that_the_store_cannot_take_are_saved_elsewhere_and_said(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    write(desk, "New")
    with Store.open(desk.store) as store:
        store.database.connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON scores BEGIN SELECT RAISE(FAIL, 'full'); END"
        )
    said = desk.say("rescore", "last", "--json")
    assert said.code == 1
    fault = said.json["error"]
    assert fault["code"] == "marking_broke_off"
    assert fault["hint"].startswith("All results are in ")
    (saved,) = tmp_path.glob("arena-results-*/arena.sqlite")
    assert str(saved) in fault["hint"]
    with Store.open(saved, read_only=True) as store:
        assert store.run("last").config["judge"]["rubric"] == "New"
