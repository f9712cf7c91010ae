"""`run`, `runs`, `show`: whole runs through the command line, on practice models and on real small ones."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from providers.weights import builtin_model
from tests.cli.calling import LOCAL, ROOT, TRIAGE, Said, call, small_project

ORACLE = "  - {key: good, model: 'mock:oracle'}\n  - {key: bad, model: 'mock:fixed', params: {text: no}}"


@pytest.fixture(scope="module")
def triage(tmp_path_factory: pytest.TempPathFactory) -> dict:
    """The sample, run once as a stranger would, in a process of its own."""
    import json

    home = tmp_path_factory.mktemp("home")
    environment = dict(os.environ, ARENA_HOME=str(home), ARENA_KEYRING="memory")
    command = [sys.executable, "-m", "arena_desktop", "run", str(TRIAGE), "--json"]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    document: dict = json.loads(done.stdout)
    document["stderr"] = done.stderr
    return document


def row(document: dict, key: str) -> dict:
    found: dict = next(entry for entry in document["leaderboard"] if entry["model_key"] == key)
    return found


def test_the_sample_shows_its_known_truth(triage: dict) -> None:
    statuses = {entry["model_key"]: entry["status"] for entry in triage["leaderboard"]}
    assert statuses == {
        "aster": "ranked",
        "birch": "ranked",
        "cedar": "ranked",
        "dune": "ranked",
        "fjord": "failed",
        "ember": "no_data",
        "grove": "no_data",
    }
    assert triage["winner"] == "aster"
    assert triage["verdict"]["row"] == 4
    assert triage["verdict"]["leader"] == "aster"
    assert triage["verdict"]["tied"] == ["aster"]
    assert triage["verdict"]["sentence"].startswith("Aster Large is better on your tests: about ")


def test_the_two_equal_models_are_equal(triage: dict) -> None:
    birch, cedar = row(triage, "birch"), row(triage, "cedar")
    assert birch["metrics"]["accuracy"]["raw"] == cedar["metrics"]["accuracy"]["raw"] == 29 / 40


def test_planned_is_models_times_cases_times_trials(triage: dict) -> None:
    assert triage["planned"] == 6 * 40 * 1
    assert triage["completed"] + triage["errors"] + triage["stopped"] == triage["planned"]
    assert len(triage["calls"]) == triage["planned"]
    assert len({(c["model_key"], c["case_id"], c["trial"]) for c in triage["calls"]}) == triage["planned"]


def test_an_error_is_not_a_wrong_answer(triage: dict) -> None:
    failed = [c for c in triage["calls"] if c["status"] == "error"]
    assert failed
    assert all(c["score"] is None and c["passed"] is None and c["error"] for c in failed)
    dune = [c for c in triage["calls"] if c["model_key"] == "dune" and c["status"] == "ok"]
    right = sum(c["score"] for c in dune)
    assert row(triage, "dune")["metrics"]["accuracy"]["raw"] == pytest.approx(right / len(dune))


def test_the_model_without_a_key_is_skipped_with_its_reason(triage: dict) -> None:
    assert [item["model_key"] for item in triage["skipped"]] == ["grove"]
    assert "ARENA_SAMPLE_GROVE_KEY" in triage["skipped"][0]["reason"]
    assert len(row(triage, "grove")["failures"]) == 1


def test_the_ruled_out_model_says_measured_and_required(triage: dict) -> None:
    (failure,) = row(triage, "fjord")["failures"]
    assert "38 of 100" in failure
    assert "60 of 100" in failure


def test_cost_is_a_number_and_free_where_it_is_free(triage: dict) -> None:
    assert triage["cost_usd"] == 0
    assert all(c["cost_usd"] == 0 for c in triage["calls"] if c["status"] == "ok")


def test_lanes_say_what_gated_the_run(triage: dict) -> None:
    lane = triage["lanes"]["mock"]
    assert lane["width"] == lane["configured"] == 8
    assert 1 <= lane["max_in_flight"] <= 8


def test_composite_is_the_sum_of_its_terms(triage: dict) -> None:
    for entry in triage["leaderboard"]:
        if entry["composite"] is not None:
            terms = sum(m["contribution"] for m in entry["metrics"].values() if m["contribution"] is not None)
            assert entry["composite"] == pytest.approx(terms)


def test_show_prints_the_same_document(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE, cases=6)
    ran = call(capfd, "run", project, "--json")
    assert ran.code == 0
    shown = call(capfd, "show", ran.json["run_id"], "--json")
    assert shown.json == ran.json
    listed = call(capfd, "runs", "--json").json["runs"]
    assert [item["run_id"] for item in listed] == [ran.json["run_id"]]
    assert listed[0]["completed"] == 12
    assert listed[0]["winner"] == "good"


def test_json_stands_alone_on_standard_output(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE)
    said = call(capfd, "run", project, "--json")
    assert said.json["status"] == "completed"
    assert "questions" in said.err


def test_quiet_says_nothing_but_the_result(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE)
    said = call(capfd, "run", project, "--quiet", "--json")
    assert said.err == ""


@pytest.mark.parametrize(("mark", "code"), [("0.5", 0), ("1.0", 0), ("1.01", 2)])
def test_fail_under(capfd: pytest.CaptureFixture[str], tmp_path: Path, mark: str, code: int) -> None:
    project = small_project(tmp_path / "p", models=ORACLE, cases=6)
    assert call(capfd, "run", project, "--quiet", "--fail-under", mark).code == code


@pytest.mark.parametrize(("rules", "noted"), [("", True), ("\n  cost: {target: 1}", False)])
def test_a_mark_to_reach_says_where_the_score_is_relative(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, rules: str, noted: bool
) -> None:
    more = f"metrics:\n  weights: {{accuracy: 0.5, cost: 0.5}}{rules}\n"
    project = small_project(tmp_path / "p", models=ORACLE, cases=3, more=more)
    said = call(capfd, "run", project, "--json", "--fail-under", "0.1")
    assert said.code == 0
    assert ("--fail-under goes by an overall score that depends on" in said.err) is noted


def test_what_is_ruled_out_is_asked_only_on_wish(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    refuses = "card: {privacy: {dpa: false}}"
    models = f"  - {{key: good, model: 'mock:oracle'}}\n  - {{key: out, model: 'mock:oracle', {refuses}}}"
    more = "constraints: {privacy_required: [dpa]}\n"
    project = small_project(tmp_path / "p", models=models, cases=3, more=more)
    plain = call(capfd, "run", project, "--json").json
    asked = call(capfd, "run", project, "--json", "--include-ruled-out").json
    assert (plain["planned"], asked["planned"]) == (3, 6)
    status = {entry["model_key"]: entry["status"] for entry in asked["leaderboard"]}
    assert status == {"good": "ranked", "out": "failed"}


def test_no_winner_counts_as_zero(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    broken = "  - {key: broken, model: 'mock:oracle', params: {error_status: 400}}"
    project = small_project(tmp_path / "p", models=broken)
    said = call(capfd, "run", project, "--json", "--fail-under", "0.1")
    assert said.code == 2
    assert said.json["winner"] is None
    assert said.json["verdict"]["row"] is None


def test_a_dry_run_spends_and_stores_nothing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE, cases=5)
    said = call(capfd, "run", project, "--dry-run", "--json", "--trials", "3")
    assert said.code == 0
    assert said.json["planned"] == 2 * 5 * 3
    assert said.json["estimate"]["cost_usd"]["high"] == 0
    assert call(capfd, "runs", "--json").json == {"runs": []}


def test_limit_and_models_choose(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE, cases=9)
    said = call(capfd, "run", project, "--json", "--quiet", "--limit", "2", "--models", "good")
    assert said.json["planned"] == 2
    assert {c["model_key"] for c in said.json["calls"]} == {"good"}


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["--models", "nobody"], "nobody"),
        (["--trials", "0"], "--trials"),
        (["--ids", "no-such-case"], "no-such-case"),
    ],
)
def test_wrong_choices_are_sentences(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, arguments: list[str], word: str
) -> None:
    project = small_project(tmp_path / "p", models=ORACLE)
    said = call(capfd, "run", project, "--json", *arguments)
    assert said.code == 1
    assert word in said.err
    error = said.json["error"]
    assert error["code"]
    assert error["message"]


def test_a_missing_project_is_a_sentence(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = call(capfd, "run", tmp_path / "nowhere", "--json")
    assert said.code == 1
    assert "nowhere" in said.json["error"]["message"]
    assert said.json["error"]["hint"]


def test_a_malformed_width_fails_the_dry_run(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ARENA_PROVIDER_CONCURRENCY", "mock=fast")
    project = small_project(tmp_path / "p", models=ORACLE)
    said = call(capfd, "run", project, "--dry-run")
    assert said.code == 1
    assert "mock=fast" in said.err
    assert "ARENA_PROVIDER_CONCURRENCY" in said.err


def test_everything_skipped_lists_reasons_and_makes_no_run(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    project = small_project(tmp_path / "p", models="  - {key: paid, model: gpt-5.5}")
    said = call(capfd, "run", project, "--json")
    assert said.code == 1
    assert said.json["error"]["code"] == "all_skipped"
    assert "paid" in said.err
    assert call(capfd, "runs", "--json").json == {"runs": []}


def test_a_price_question_needs_a_yes(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dear = (
        "  - {key: dear, model: 'mock:oracle', card: {input_usd_per_mtok: 90000, output_usd_per_mtok: 90000}}"
    )
    project = small_project(tmp_path / "p", models=dear, more="budgets: {confirm_above_usd: 0.01}\n")
    refused = call(capfd, "run", project, "--json", "--quiet")
    assert refused.code == 1
    assert refused.json["error"]["code"] == "confirmation_needed"
    assert call(capfd, "run", project, "--json", "--quiet", "--yes").code == 0


def test_a_budget_is_a_ceiling_and_exits_3(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dear = (
        "  - {key: dear, model: 'mock:oracle', card: {input_usd_per_mtok: 1000, output_usd_per_mtok: 1000}}"
    )
    project = small_project(
        tmp_path / "p",
        models=dear,
        cases=30,
        more="budgets: {max_run_usd: 0.25}\ndefaults: {max_tokens: 100}\n",
    )
    said = call(capfd, "run", project, "--json", "--quiet", "--yes")
    assert said.code == 3
    assert said.json["status"] == "stopped_budget"
    assert 0 < said.json["completed"] < 30
    assert 0 < said.json["cost_usd"] <= 0.25
    assert any("of 30 planned calls" in note for note in said.json["notes"])


def test_resume_asks_only_what_is_missing(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dear = (
        "  - {key: dear, model: 'mock:oracle', card: {input_usd_per_mtok: 1000, output_usd_per_mtok: 1000}}"
    )
    more = "budgets: {{max_run_usd: {limit}}}\ndefaults: {{max_tokens: 100}}\n"
    project = small_project(tmp_path / "p", models=dear, cases=12, more=more.format(limit="0.21"))
    first = call(capfd, "run", project, "--json", "--quiet", "--yes")
    assert first.code == 3
    small_project(tmp_path / "p", models=dear, cases=12, more=more.format(limit="100.0"))
    again = call(capfd, "run", project, "--json", "--quiet", "--yes", "--resume", "last")
    assert again.code == 0
    assert again.json["run_id"] == first.json["run_id"]
    assert again.json["completed"] == 12
    assert 0 < first.json["completed"] < 12
    kept = [c for c in first.json["calls"] if c["status"] == "ok"]
    now = {c["case_id"]: c for c in again.json["calls"]}
    assert all(now[c["case_id"]] == c for c in kept)
    assert again.json["cost_usd"] > first.json["cost_usd"]


def test_carrying_on_is_asked_about_by_what_is_missing(
    capfd: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    card = "card: {input_usd_per_mtok: 1000, output_usd_per_mtok: 1000}"
    dear = (
        f"  - {{key: good, model: 'mock:oracle', {card}}}\n"
        f"  - {{key: ill, model: 'mock:flaky', params: {{error_status: 400}}, {card}}}"
    )
    # Each question can cost 0.1 for its answer and about as much again for its words.
    more = "budgets: {{confirm_above_usd: {above}}}\ndefaults: {{max_tokens: 100}}\nrun: {{retries: 0}}\n"

    def asked(above: str, *words: str) -> Said:
        project = small_project(tmp_path / "p", models=dear, more=more.format(above=above))
        return call(capfd, "run", project, "--json", *words)

    first = asked("0.01", "--yes")
    assert (first.code, first.json["errors"]) == (0, 4)
    rest = ("--resume", "last", "--retry-errors")
    refused = asked("0.40", *rest)
    assert (refused.code, refused.json["error"]["code"]) == (1, "confirmation_needed")
    assert "Still to ask: 4 questions." in refused.err
    assert "--limit" not in refused.err
    kept = call(capfd, "show", "last", "--json").json
    assert [c["attempts"] for c in kept["calls"]] == [c["attempts"] for c in first.json["calls"]]
    assert asked("0.40", *rest, "--yes").code == 0
    # The whole project passes this amount, what is missing does not.
    assert asked("1.00", "--quiet").json["error"]["code"] == "confirmation_needed"
    assert asked("1.00", *rest).code == 0


def test_a_complete_run_has_nothing_to_carry_on(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE)
    call(capfd, "run", project, "--quiet")
    said = call(capfd, "run", project, "--resume", "last", "--json")
    assert said.code == 1
    assert said.json["error"]["message"]


def test_what_failed_is_asked_again_only_on_demand(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    failing = "  - {key: good, model: 'mock:oracle'}\n  - {key: ill, model: 'mock:flaky', params: {PARAMS}}"
    broken, mended = (failing.replace("PARAMS", p) for p in ("error_status: 400", "accuracy: 100"))
    project = small_project(tmp_path / "p", models=broken)
    first = call(capfd, "run", project, "--json", "--quiet")
    assert first.json["errors"] == 4
    small_project(tmp_path / "p", models=mended)
    said = call(capfd, "run", project, "--resume", "last", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "nothing_missing")
    asked = ("run", project, "--resume", "last", "--retry-errors", "--json", "--quiet")
    said = call(capfd, *asked)
    assert (said.code, said.json["error"]["code"]) == (1, "resume_differs")
    again = call(capfd, *asked, "--resume-from", "new")
    assert again.json["run_id"] == first.json["run_id"]
    assert (again.json["completed"], again.json["errors"]) == (8, 0)
    kept = {(c["model_key"], c["case_id"]): c for c in again.json["calls"]}
    assert all(kept[c["model_key"], c["case_id"]] == c for c in first.json["calls"] if c["status"] == "ok")


def test_asking_failures_again_wants_a_run(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    said = call(capfd, "run", small_project(tmp_path / "p", models=ORACLE), "--retry-errors", "--json")
    assert (said.code, said.json["error"]["code"]) == (1, "retry_errors_alone")


def test_plan_options_beside_resume_are_refused(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE)
    said = call(capfd, "run", project, "--resume", "last", "--limit", "2", "--json")
    assert said.code == 1
    assert "--limit" in said.err


def test_a_damaged_store_is_a_sentence_and_stays(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    project = small_project(tmp_path / "p", models=ORACLE)
    store = tmp_path / "broken.sqlite"
    store.write_bytes(b"this is not a database, but somebody's letter" * 50)
    before = store.read_bytes()
    said = call(capfd, "run", project, "--store", store, "--json")
    assert said.code == 1
    assert str(store) in said.err
    assert store.read_bytes() == before


def test_the_report_is_written_and_named(capfd: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    hostile = "  - {key: h, model: 'mock:fixed', params: {text: '<script>alert(1)</script>'}}"
    project = small_project(tmp_path / "p", models=ORACLE + "\n" + hostile)
    said = call(capfd, "run", project, "--report")
    path = Path(said.err.split("Report: ")[1].strip())
    page = path.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    assert "http" not in page.replace("http-equiv", "")


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
def test_ctrl_c_stops_after_the_calls_in_flight(tmp_path: Path) -> None:
    slow = "  - {key: slow, model: 'mock:oracle', params: {latency_ms: 300, sleep: true}}"
    project = small_project(tmp_path / "p", models=slow, cases=100)
    environment = dict(os.environ, ARENA_HOME=str(tmp_path / "home"), PYTHONUNBUFFERED="1")
    command = [sys.executable, "-m", "arena_desktop", "run", str(project), "--json"]
    with subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        assert process.stdout is not None
        for line in process.stderr:
            if "on their way" in line:
                break
        process.send_signal(signal.SIGINT)
        output = process.stdout.read()
        process.wait(timeout=60)
    import json

    document = json.loads(output)
    assert document["status"] == "cancelled"
    assert process.returncode in (3, 130)
    assert document["completed"] + document["errors"] + document["stopped"] == 100
    assert document["completed"] < 100
    assert not [c for c in document["calls"] if c["status"] == "error"]


@pytest.mark.local_models
@pytest.mark.skipif(
    not builtin_model("smollm2-135m").installed(), reason="the extra `local` is not installed"
)
def test_real_models_answer_real_questions(capfd: pytest.CaptureFixture[str]) -> None:
    said = call(capfd, "run", LOCAL, "--json", "--quiet", "--limit", "3")
    document = said.json
    assert said.code == 0
    assert document["status"] == "completed"
    entries = [entry for entry in document["leaderboard"] if entry["status"] == "ranked"]
    assert len(entries) >= 2
    assert document["completed"] == len(entries) * 3
    assert document["errors"] == 0
    answers = [c["answer"] for c in document["calls"]]
    assert all(isinstance(text, str) and text.strip() for text in answers)
    assert len(set(answers)) > 1
    assert all(c["latency_ms"] > 0 and c["output_tokens"] > 0 for c in document["calls"])
