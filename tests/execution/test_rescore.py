"""Marking the answers of a saved run anew: what changes, what stays, what is said."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.domain import Cell, Note, RunStatus, ScoreState
from engine.errors import Cancelled, UserError
from engine.execution.rescore import Rescored, Tools, rescore
from engine.execution.stored_board import stored_input
from engine.project import Project, config_from_snapshot, load_project
from engine.scoring import with_mark
from engine.scoring.seams import JudgeReply, JudgeRequest
from engine.stats.board import EntryStatus
from engine.stats.board_json import board_from_json
from engine.stats.leaderboard import build_board
from engine.storage import codec
from engine.storage.codec import Shape
from engine.storage.records import DoneWrite, ScoreWrite
from engine.storage.store import Store
from providers.base import Request
from tests.execution.worlds import FakeService, World, reply
from tests.storage import samples

MODELS = [
    {"key": "plain", "model": "gpt-plain", "provider": "openai"},
    {"key": "wordy", "model": "gpt-wordy", "provider": "openai"},
]
CASES = [
    {"id": "c0", "input": "say 0", "reference": "0"},
    {"id": "c1", "input": "say 1", "reference": "1"},
    {"id": "c2", "input": "say 2", "reference": "2"},
]


def answer(request: Request) -> Any:
    """`plain` says just the number, `wordy` a sentence with it."""
    number = request.messages[-1].content.split()[-1]
    return reply(number if request.model == "gpt-plain" else f"The answer is {number}.")


def world(tmp_path: Path, *, cases: list[dict[str, Any]] = CASES, **config: Any) -> World:
    made = World(tmp_path, {"models": MODELS, **config}, cases=cases, service=FakeService(answer))
    made.run()
    return made


def changed(made: World, *, cases: list[dict[str, Any]] | None = None, **config: Any) -> Project:
    """The project with other files than the run was made with."""
    folder = made.root / "project"
    (folder / "config.yaml").write_text(yaml.safe_dump({"project": "demo", **made.config, **config}))
    if cases is not None:
        (folder / "tests.yaml").write_text(yaml.safe_dump(cases))
    return load_project(folder)


def again(made: World, project: Project, **tools: Any) -> Rescored:
    with Store.open(made.store_path) as store:
        return rescore(store, "last", project, Tools(**tools))


def passed(made: World) -> dict[str, list[bool | None]]:
    marks: dict[str, list[bool | None]] = {}
    for call in made.calls():
        marks.setdefault(call.cell.model_key, []).append(call.score.passed if call.score else None)
    return marks


def test_a_new_check_marks_stored_answers_without_asking_a_model(tmp_path: Path) -> None:
    made = world(tmp_path)
    assert passed(made) == {"plain": [True] * 3, "wordy": [False] * 3}
    asked = len(made.service.requests)
    result = again(made, changed(made, scorers={"default": "contains"}))
    assert len(made.service.requests) == asked
    assert (result.answers, result.changed, result.unmarked) == (6, 3, 0)
    assert passed(made) == {"plain": [True] * 3, "wordy": [True] * 3}
    stored = made.stored()
    board = board_from_json(stored.board)
    assert board == result.board
    assert {entry.model_key: entry.passed_cases for entry in board.entries} == {"plain": 3, "wordy": 3}
    assert result.before is not None
    assert {entry.model_key: entry.passed_cases for entry in result.before.entries} == {
        "plain": 3,
        "wordy": 0,
    }


def test_earlier_marks_stay_as_history(tmp_path: Path) -> None:
    made = world(tmp_path)
    again(made, changed(made, scorers={"default": "contains"}))
    with Store.open(made.store_path) as store:
        history = store.score_history("last", Cell("wordy", "c0", 1))
        quiet = store.score_history("last", Cell("plain", "c0", 1))
    assert [score.passed for score in history] == [True, False]
    assert [score.checks[0].type for score in history] == ["contains", "exact_match"]
    assert [score.checks[0].type for score in quiet] == ["contains", "exact_match"]


def test_scoring_twice_adds_nothing(tmp_path: Path) -> None:
    made = world(tmp_path)
    project = changed(made, scorers={"default": "contains"})
    again(made, project)
    second = again(made, project)
    assert (second.answers, second.changed) == (6, 0)
    with Store.open(made.store_path) as store:
        assert len(store.score_history("last", Cell("wordy", "c0", 1))) == 2
    assert [note.code for note in made.stored().notes].count("rescored") == 1


def test_settings_are_those_of_now_and_what_was_asked_stays(tmp_path: Path) -> None:
    made = world(tmp_path, defaults={"system": "Be brief."}, run={"seed": 5})
    project = changed(
        made,
        scorers={"default": "contains"},
        defaults={"system": "Be long."},
        metrics={"weights": {"accuracy": 1, "tokens": 1}},
        constraints={"min_accuracy": 0.5},
        run={"seed": 6, "trials": 3},
    )
    again(made, project)
    config = config_from_snapshot(made.stored().config)
    assert config.scorers.default == "contains"
    assert dict(config.metrics.weights) == {"accuracy": 1, "tokens": 1}
    assert config.constraints.min_accuracy == 0.5
    assert config.defaults.system == "Be brief."
    assert (config.run.seed, config.run.trials) == (5, 1)
    assert [check.type for case in made.stored().cases for check in case.checks] == ["contains"] * 3


def test_a_new_must_have_rules_a_model_out(tmp_path: Path) -> None:
    made = world(tmp_path)
    result = again(made, changed(made, constraints={"min_accuracy": 0.5}))
    status = {entry.model_key: entry.status for entry in result.board.entries}
    assert status == {"plain": EntryStatus.RANKED, "wordy": EntryStatus.FAILED}
    assert result.changed == 0
    with Store.open(made.store_path) as store:
        assert [(row.model_key, row.status) for row in store.board_rows("last")] == [
            ("plain", "ranked"),
            ("wordy", "failed"),
        ]
        assert store.runs()[0].winner == "plain"


def test_a_fact_declared_later_opens_a_gate(tmp_path: Path) -> None:
    gate = {"privacy_required": ["dpa"]}
    made = world(tmp_path)
    strict = again(made, changed(made, constraints=gate))
    assert {entry.status for entry in strict.board.entries} == {EntryStatus.FAILED}
    facts = [{**model, "card": {"privacy": {"dpa": True}}} for model in MODELS]
    told = again(made, changed(made, constraints=gate, models=facts))
    assert {entry.status for entry in told.board.entries} == {EntryStatus.RANKED}


def test_the_stored_board_is_the_one_that_the_stored_run_gives(tmp_path: Path) -> None:
    made = world(tmp_path)
    result = again(made, changed(made, scorers={"default": "contains"}))
    with Store.open(made.store_path) as store:
        assert build_board(stored_input(store, "last")) == result.board


def test_a_corrected_right_answer_counts(tmp_path: Path) -> None:
    made = world(tmp_path)
    cases = [{**CASES[0], "reference": "zero"}, *CASES[1:]]
    result = again(made, changed(made, cases=cases))
    assert result.changed == 1
    assert passed(made)["plain"] == [False, True, True]
    assert made.stored().cases[0].reference == "zero"


def test_answers_to_another_question_keep_their_marks(tmp_path: Path) -> None:
    made = world(tmp_path)
    cases = [{**CASES[0], "input": "say it backwards 0", "reference": "nothing"}, *CASES[1:]]
    result = again(made, changed(made, cases=cases))
    assert result.asked_otherwise == ("c0",)
    assert (result.answers, result.changed) == (4, 0)
    assert made.stored().cases[0].input == "say 0"
    assert passed(made)["plain"] == [True] * 3


def test_a_test_that_is_gone_keeps_its_marks_and_a_new_one_is_no_part(tmp_path: Path) -> None:
    made = world(tmp_path)
    cases = [*CASES[1:], {"id": "new", "input": "say 9", "reference": "9"}]
    result = again(made, changed(made, cases=cases, scorers={"default": "contains"}))
    assert result.gone == ("c0",)
    assert passed(made)["wordy"] == [False, True, True]
    assert [case.id for case in made.stored().cases] == ["c0", "c1", "c2"]


def test_a_filter_of_the_project_does_not_make_tests_gone(tmp_path: Path) -> None:
    made = world(tmp_path)
    result = again(made, changed(made, tests={"paths": ["tests.yaml"], "limit": 1}))
    assert result.gone == ()
    assert result.answers == 6


JUDGED = [{**case, "checks": [{"type": "contains"}, {"type": "llm_judge"}]} for case in CASES]


class Judge:
    """A second model that gives one verdict and counts how often it was asked."""

    def __init__(self, good: bool = True) -> None:
        self.good, self.asked = good, 0

    def __call__(self, request: JudgeRequest) -> JudgeReply:
        self.asked += 1
        return JudgeReply('{"pass": true}' if self.good else '{"pass": false}')


def judged(tmp_path: Path, judge: Judge) -> tuple[World, Project]:
    """A run whose judge marks were made once."""
    made = world(tmp_path)
    project = changed(made, cases=JUDGED)
    again(made, project, judge=judge)
    return made, project


def test_a_new_judge_check_without_a_judge_waits_and_is_said(tmp_path: Path) -> None:
    made = world(tmp_path)
    result = again(made, changed(made, cases=JUDGED))
    assert result.waiting == {"judge": 6}
    assert result.kept == {}
    first = made.calls()[0]
    assert first.score is not None
    assert first.score.passed is True
    assert first.score.checks[1].state is ScoreState.UNSCORED
    assert first.score.checks[1].reason_code == "waits_judge"


def test_a_judge_that_is_handed_in_marks_every_answer_once(tmp_path: Path) -> None:
    judge = Judge()
    made, project = judged(tmp_path, judge)
    assert judge.asked == 6
    assert {call.score.score for call in made.calls() if call.score} == {1.0}
    again(made, project, judge=judge)
    assert judge.asked == 6


def test_a_judges_marks_stay_without_a_judge_even_when_its_terms_change(tmp_path: Path) -> None:
    judge = Judge(good=False)
    made, project = judged(tmp_path, judge)
    unchanged = again(made, project)
    assert (unchanged.kept, unchanged.changed) == ({}, 0)
    stricter = again(made, changed(made, judge={"rubric": "Is it kind?"}))
    assert stricter.kept == {"judge": 6}
    assert stricter.changed == 0
    assert judge.asked == 6
    assert made.stored().notes[-1].values["kept_judge"] == 6


def test_new_terms_ask_the_judge_again(tmp_path: Path) -> None:
    made, _ = judged(tmp_path, Judge(good=False))
    second = Judge()
    result = again(made, changed(made, judge={"rubric": "Is it kind?"}), judge=second)
    assert second.asked == 6
    assert result.changed == 6


def test_new_weights_of_checks_need_no_judge(tmp_path: Path) -> None:
    made, _ = judged(tmp_path, Judge(good=False))
    cases = [{**case, "checks": [{"type": "contains", "weight": 3}, {"type": "llm_judge"}]} for case in CASES]
    result = again(made, changed(made, cases=cases))
    assert result.kept == {}
    assert {call.score.score for call in made.calls() if call.score} == {0.75}


def test_paid_marks_survive_a_stop_and_are_not_paid_again(tmp_path: Path) -> None:
    made = world(tmp_path)
    project = changed(made, cases=JUDGED)
    judge = Judge()
    with pytest.raises(Cancelled):
        again(made, project, judge=judge, should_stop=lambda: judge.asked >= 4)
    assert judge.asked == 4
    again(made, project, judge=judge)
    assert judge.asked == 6


def test_a_stop_without_a_judge_changes_nothing(tmp_path: Path) -> None:
    made = world(tmp_path)
    before, calls = made.stored(), made.calls()
    looks = iter(range(100))
    with pytest.raises(Cancelled):
        again(made, changed(made, scorers={"default": "contains"}), should_stop=lambda: next(looks) > 3)
    assert made.stored() == before
    assert made.calls() == calls


def test_a_persons_score_stays(tmp_path: Path) -> None:
    cases = [{**case, "checks": [{"type": "manual"}]} for case in CASES]
    made = world(tmp_path, cases=cases)
    cell = Cell("plain", "c0", 1)
    with Store.open(made.store_path) as store:
        call = store.call("last", cell)
        assert call is not None
        assert call.score is not None
        mark = with_mark(call.score, 0, 0.8, "Kind and short.")
        run_id = store.resolve("last")
        store.write([ScoreWrite(run_id, cell, mark, samples.START, "rescore")])
    result = again(made, changed(made, metrics={"weights": {"accuracy": 1, "tokens": 1}}))
    assert result.changed == 0
    (kept,) = [call.score for call in made.calls() if call.cell == cell]
    assert kept is not None
    assert (kept.score, kept.checks[0].reason) == (0.8, "Kind and short.")
    assert result.unmarked == 5


def test_own_code_that_may_not_run_leaves_its_marks(tmp_path: Path) -> None:
    made = world(tmp_path)
    folder = made.root / "project" / "scorers"
    folder.mkdir()
    (folder / "own.py").write_text(
        "from engine.scoring.custom import scorer\n\n"
        '@scorer("kind")\ndef kind(*args, **kwargs):\n    return 1.0\n'
    )
    project = changed(made, cases=[{**case, "checks": [{"type": "kind"}]} for case in CASES])
    refused = again(made, project)
    assert (refused.waiting, refused.unmarked) == ({"own_code": 6}, 6)
    trusted = again(made, project, trusted=True)
    assert (trusted.waiting, trusted.unmarked) == ({}, 0)
    later = again(made, project)
    assert (later.kept, later.changed, later.unmarked) == ({"own_code": 6}, 0, 0)


def test_failed_calls_are_left_alone(tmp_path: Path) -> None:
    made = world(tmp_path)
    with Store.open(made.store_path) as store:
        run_id = store.resolve("last")
        failed = samples.failed_call(Cell("plain", "c0", 1))
        with store.database.transaction() as connection:
            connection.execute("UPDATE cells SET answer = NULL, status = NULL WHERE id = 1")
        store.write([DoneWrite(run_id, failed)])
    result = again(made, changed(made, scorers={"default": "contains"}))
    assert result.answers == 5
    entry = next(entry for entry in result.board.entries if entry.model_key == "plain")
    assert entry.errors == 1


def test_notes_of_the_run_stay_and_those_of_the_board_are_new(tmp_path: Path) -> None:
    made = world(tmp_path, metrics={"weights": {"accuracy": 1, "cost": 1}})
    with Store.open(made.store_path) as store:
        stored = store.run("last")
        with store.database.transaction() as connection:
            notes = (*stored.notes, Note("set_aside", {"models": ["wordy"], "code": "no_credit"}))
            connection.execute("UPDATE run_details SET notes = ?", (codec.dump(Shape.NOTES, notes),))
    assert "cost_unknown" in [note.code for note in made.stored().notes]
    again(made, changed(made, metrics={"weights": {"accuracy": 1}}))
    codes = [note.code for note in made.stored().notes]
    assert codes == ["set_aside", "rescored"]


def test_progress_is_told(tmp_path: Path) -> None:
    made = world(tmp_path)
    told: list[tuple[int, int]] = []
    again(made, changed(made), progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (6, 6)


def test_status_counts_and_times_of_the_run_stay(tmp_path: Path) -> None:
    made = world(tmp_path)
    before = made.stored().info
    again(made, changed(made, scorers={"default": "contains"}))
    after = made.stored().info
    assert replace(after, winner=before.winner, winner_score=before.winner_score) == before


def test_a_run_that_goes_on_is_refused(tmp_path: Path) -> None:
    made = world(tmp_path)
    project = changed(made)
    with Store.open(tmp_path / "other.sqlite") as store:
        store.create_run(samples.head())
        assert store.runs()[0].status is RunStatus.RUNNING
        with pytest.raises(UserError) as caught:
            rescore(store, "last", project)
    assert caught.value.code == "run_in_use"


def test_a_project_with_faults_is_refused(tmp_path: Path) -> None:
    made = world(tmp_path)
    project = changed(made, scorers={"defualt": "contains"})
    assert not project.ok
    with pytest.raises(UserError) as caught:
        again(made, project)
    assert caught.value.code == "project_faults"
    assert "defualt" in caught.value.message


def test_measures_that_came_with_the_answer_stay(tmp_path: Path) -> None:
    made = world(tmp_path)
    cell = Cell("plain", "c0", 1)
    with Store.open(made.store_path) as store:
        call = store.call("last", cell)
        assert call is not None
        assert call.score is not None
        told = replace(call.score, metrics={**call.score.metrics, "pages_read": 4.0})
        store.write([ScoreWrite(store.resolve("last"), cell, told, samples.START, "run")])
    again(made, changed(made, scorers={"default": "contains"}))
    (score,) = [call.score for call in made.calls() if call.cell == cell]
    assert score is not None
    assert score.metrics["pages_read"] == 4.0
