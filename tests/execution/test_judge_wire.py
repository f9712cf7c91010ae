"""Judges over real HTTP: the replies of the field cases, through the connector, to the mark."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

from engine.domain import CallDone, RunStatus, ScoreState
from engine.execution.controller import run_to_end
from engine.execution.plan import make_plan
from engine.execution.preflight import examine
from engine.execution.request import RunRequest
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.storage.rows import StoredRun
from engine.storage.store import Store
from tests.execution.test_judge import GOOD, cases
from tests.execution.worlds import make_project
from tests.providers.scripted import Answer, Scripted, case_answers, chat_body, scripted


def _run(folder: Path, server: Scripted, count: int) -> tuple[StoredRun, list[CallDone]]:
    config = {
        "models": [{"key": "m", "model": "mock:oracle", "provider": "mock"}],
        "providers": [{"id": "marker", "kind": "openai_compatible", "base_url": f"{server.url}/v1"}],
        "judge": {"model": "judge-model-2023", "provider": "marker"},
        "run": {"concurrency": 1, "retries": 2, "retry_backoff_s": 0.01},
    }
    project = make_project(folder / "project", config, cases(count))
    keys, book = KeyStore(environ={}), PriceBook.for_config(project.config, project.root)
    preflight = examine(project, keystore=keys, pricebook=book, probe=False, environ={})
    assert preflight.judge is not None, preflight.judge_skip
    plan = make_plan(project, preflight)
    run_id = run_to_end(RunRequest(project, preflight, plan, folder / "arena.sqlite", keys, book))
    with Store.open(folder / "arena.sqlite") as store:
        return store.run(run_id), store.calls(run_id)


def test_a_filtered_question_is_one_request_and_the_next_cases_go_on(tmp_path: Path, qapp) -> None:
    """FC-079: HTTP 400 content_filter is neither retried nor a wrong answer."""
    with scripted(*case_answers("http_judge_content_filter.json"), Answer(chat_body(GOOD))) as server:
        stored, calls = _run(tmp_path, server, 3)
    assert stored.info.status is RunStatus.COMPLETED
    assert len(server.asked) == 3
    scores = [call.score for call in calls if call.score is not None]
    assert [score.state for score in scores] == [ScoreState.ERRORED, ScoreState.SCORED, ScoreState.SCORED]
    assert "declined" in scores[0].reason
    assert "another judge" in scores[0].reason


def test_a_retired_judge_is_one_message_and_no_score(tmp_path: Path, qapp) -> None:
    """FC-084."""
    with scripted(*case_answers("http_judge_404.json")) as server:
        stored, calls = _run(tmp_path, server, 4)
    assert len(server.asked) == 1
    assert [call.score.score if call.score else 0 for call in calls] == [None] * 4
    (note,) = [note for note in stored.notes if note.code == "judge_stopped"]
    assert note.values["code"] == "model_unknown"
    assert "judge-model-2023" in note.values["message"]


def test_a_rate_limited_judge_waits_and_goes_on(tmp_path: Path, qapp) -> None:
    """As the models' own field case, at the judge: its request is repeated, the model's is not."""
    replies = case_answers("http_rate_limit_then_ok.json")
    refusals = [
        replace(answer, headers={"retry-after": "0.01"}) for answer in replies if answer.status == 429
    ]
    assert refusals
    with scripted(*refusals, Answer(chat_body(GOOD))) as server:
        stored, calls = _run(tmp_path, server, 2)
    assert len(server.asked) == len(refusals) + 2
    assert [call.score.score for call in calls if call.score] == [1.0, 1.0]
    assert all((call.attempts, call.throttled) == (1, 0) for call in calls)
    assert stored.lanes["mock"]["throttled"] == 0


def test_a_judge_that_takes_neither_the_form_nor_the_temperature_marks_all_the_same(
    tmp_path: Path, qapp
) -> None:
    told = [
        "response_format: json_schema is not supported by this model",
        "Unsupported value: 'temperature' does not support 0, only the default (1) value is supported.",
    ]
    refusals = [Answer({"error": {"message": text, "type": "invalid_request_error"}}, 400) for text in told]
    with scripted(*refusals, Answer(chat_body(GOOD))) as server:
        _stored, calls = _run(tmp_path, server, 2)
    assert [call.score.score for call in calls if call.score] == [1.0, 1.0]
    assert len(server.asked) == 4
    assert ["temperature" in asked.body for asked in server.asked] == [True, True, False, False]
    assert ["response_format" in asked.body for asked in server.asked] == [True, False, False, False]


def test_what_goes_over_the_wire(tmp_path: Path, qapp) -> None:
    with scripted(Answer(chat_body(GOOD))) as server:
        _run(tmp_path, server, 1)
    (asked,) = server.asked
    assert asked.body["temperature"] == 0
    assert asked.body["max_tokens"] == 512
    assert [message["role"] for message in asked.body["messages"]] == ["system", "user"]
    form = asked.body["response_format"]["json_schema"]
    assert (form["strict"], form["schema"]["required"]) == (True, ["pass", "score", "reason"])
    assert "<<<BEGIN ANSWER" in json.dumps(asked.body["messages"][1])
