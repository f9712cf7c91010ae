"""The form of a judge's reply: what the words ask for, as a schema that a reader of replies accepts."""

from __future__ import annotations

import json

import jsonschema
import pytest

from engine.config.schema import Judge
from engine.domain import Answer, Case, CheckSpec, Outcome
from engine.scoring.base import CheckFault, ScoringContext
from engine.scoring.judge_reply import parse_judge_reply, parse_winner
from engine.scoring.judge_schema import reply_schema, sent_texts
from engine.scoring.score import run_check
from engine.scoring.seams import JudgeReply, JudgeRequest

CRITERIA = ({"name": "rules", "must_pass": True}, {"name": "says it kindly"})


def requests(**options: object) -> list[JudgeRequest]:
    asked: list[JudgeRequest] = []

    def note(request: JudgeRequest) -> JudgeReply:
        asked.append(request)
        return JudgeReply('{"score": 1}')

    context = ScoringContext(judge=note, judge_settings=Judge())
    spec = CheckSpec(str(options.pop("type", "llm_judge")), options=options)
    run_check(spec, Answer("Lyon", Outcome.COMPLETE), Case(id="c", input="Q", reference="Paris"), context)
    return asked


def test_a_mark_with_criteria() -> None:
    (request, *_) = requests(rubric=list(CRITERIA))
    schema = reply_schema(request)
    assert schema is not None
    jsonschema.Draft202012Validator.check_schema(schema)
    good = {"pass": True, "score": 1, "reason": "r", "criteria": {"rules": 1, "says it kindly": 0.5}}
    jsonschema.validate(good, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"pass": True, "score": 1, "reason": "r"}, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**good, "score": "1"}, schema)
    assert parse_judge_reply(json.dumps(good)).score == 1.0
    assert json.dumps(schema) in sent_texts(request)


def test_every_object_names_all_its_keys_and_no_more() -> None:
    """What vendors with strict forms demand."""

    def objects(value: object) -> list[dict[str, object]]:
        if not isinstance(value, dict):
            return []
        inner = [found for child in value.values() for found in objects(child)]
        return [value, *inner] if value.get("type") == "object" else inner

    for request in (requests()[0], requests(rubric=list(CRITERIA))[0], requests(type="pairwise_judge")[0]):
        found = objects(reply_schema(request))
        assert found
        for item in found:
            assert item["additionalProperties"] is False
            assert item["required"] == list(item["properties"])  # type: ignore[call-overload]


def test_a_comparison() -> None:
    (request, *_) = requests(type="pairwise_judge")
    schema = reply_schema(request)
    assert schema is not None
    for winner in ("A", "B", "tie"):
        reply = {"winner": winner, "reason": "r"}
        jsonschema.validate(reply, schema)
        assert parse_winner(json.dumps(reply))[0] == winner
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({"winner": "C", "reason": "r"}, schema)


def test_own_code_gets_the_reply_it_asks_for() -> None:
    assert reply_schema(JudgeRequest("Say yes or no.", "", purpose="own")) is None
    assert sent_texts(JudgeRequest("Say yes or no.", "s", purpose="own")) == ("s", "Say yes or no.")


def test_a_must_pass_criterion_is_never_taken_for_met() -> None:
    from engine.scoring.judge_prompt import read_rubric

    criteria = read_rubric(list(CRITERIA)).criteria
    with pytest.raises(CheckFault) as caught:
        parse_judge_reply('{"pass": true, "score": 1}', criteria=criteria)
    assert caught.value.code == "judge_wrong_type"
