"""The form of an answer: asked for in each vendor's way, left out where it is refused, never in the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from providers.answer_form import LEFT_OUT
from providers.base import ErrorKind, Provider
from tests.providers.conftest import failure, question
from tests.providers.scripted import Answer, case_answers, chat_body, scripted

Connect = Callable[..., Provider]
SCHEMA = {
    "type": "object",
    "properties": {"pass": {"type": "boolean"}},
    "required": ["pass"],
    "additionalProperties": False,
}
CLAUDE = {"model": "m", "content": [{"type": "text", "text": "{}"}], "stop_reason": "end_turn"}
GEMINI = {
    "candidates": [{"content": {"parts": [{"text": "{}"}]}, "finishReason": "STOP"}],
    "modelVersion": "m",
}
CHAT = chat_body("{}", model="m")


def chat_refusal(message: str) -> Answer:
    return Answer({"error": {"message": message, "type": "invalid_request_error", "param": None}}, 400)


def claude_refusal(message: str) -> Answer:
    return Answer({"type": "error", "error": {"type": "invalid_request_error", "message": message}}, 400)


def gemini_refusal(message: str) -> Answer:
    return Answer({"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}}, 400)


def form_of(kind: str, body: dict[str, Any]) -> Any:
    """The schema in a request as it came in; None where there is none."""
    if kind == "gemini":
        config = body.get("generationConfig", {})
        return config.get("responseJsonSchema", config.get("response_json_schema"))
    if kind == "anthropic":
        return body.get("output_config", {}).get("format", {}).get("schema")
    return body.get("response_format", {}).get("json_schema", {}).get("schema")


VENDORS = [
    (
        "openai",
        CHAT,
        chat_refusal("'response_format' of type 'json_schema' is not supported."),
    ),
    ("openai_compatible", CHAT, chat_refusal("Invalid schema: guided decoding is switched off")),
    ("anthropic", CLAUDE, claude_refusal("output_config.format: Extra inputs are not permitted")),
    ("gemini", GEMINI, gemini_refusal("JSON mode is not enabled for models/m")),
]


@pytest.mark.parametrize(("kind", "reply", "refusal"), VENDORS, ids=[vendor[0] for vendor in VENDORS])
def test_it_is_asked_for_and_left_out_where_it_is_refused(
    connect: Connect, kind: str, reply: Any, refusal: Answer
) -> None:
    with scripted(Answer(reply)) as server:
        connect(kind, server.url).complete(question("m", answer_schema=SCHEMA))
    assert form_of(kind, server.asked[0].body) == SCHEMA
    with scripted(refusal, Answer(reply)) as server:
        provider = connect(kind, server.url)
        first = provider.complete(question("m", answer_schema=SCHEMA))
        again = provider.complete(question("m", answer_schema=SCHEMA))
    assert [form_of(kind, asked.body) for asked in server.asked] == [SCHEMA, None, None]
    assert (first.text, again.text) == ("{}", "{}")
    assert LEFT_OUT in first.notes


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini"])
def test_a_question_without_a_form_sends_none(connect: Connect, kind: str) -> None:
    reply = {"openai": CHAT, "anthropic": CLAUDE, "gemini": GEMINI}[kind]
    with scripted(Answer(reply)) as server:
        connect(kind, server.url).complete(question("m"))
    assert form_of(kind, server.asked[0].body) is None


def test_what_the_project_says_itself_goes_first(connect: Connect) -> None:
    own = {"response_format": {"type": "json_object"}}
    with scripted(Answer(CHAT)) as server:
        connect("openai", server.url).complete(question("m", params=own, answer_schema=SCHEMA))
    assert server.asked[0].body["response_format"] == {"type": "json_object"}
    refusal = claude_refusal("This model does not support structured outputs")
    with scripted(refusal, Answer(CLAUDE)) as server:
        effort = {"output_config": {"effort": "low"}}
        connect("anthropic", server.url).complete(question("m", params=effort, answer_schema=SCHEMA))
    assert [asked.body["output_config"].get("effort") for asked in server.asked] == ["low", "low"]
    assert "format" not in server.asked[1].body["output_config"]


def test_a_refused_form_does_not_change_how_others_ask_for_json(connect: Connect) -> None:
    with scripted(VENDORS[0][2], Answer(CHAT)) as server:
        provider = connect("openai_compatible", server.url)
        provider.complete(question("m", answer_schema=SCHEMA))
        provider.complete(question("m", params={"response_format": {"type": "json_object"}}))
    assert server.asked[2].body["response_format"] == {"type": "json_object"}


def test_form_temperature_and_length_may_all_be_refused(connect: Connect) -> None:
    refusals = [
        chat_refusal("Unsupported value: 'temperature', only the default (1) is supported."),
        chat_refusal("'max_tokens' is not supported. Use 'max_completion_tokens' instead."),
        chat_refusal("response_format json_schema is not supported by this model"),
    ]
    with scripted(*refusals, Answer(CHAT)) as server:
        asked = question("m", answer_schema=SCHEMA, temperature=0.0, max_tokens=9)
        assert connect("openai_compatible", server.url).complete(asked).text == "{}"
    last = server.asked[-1].body
    assert "temperature" not in last
    assert "response_format" not in last
    assert last["max_completion_tokens"] == 9


def test_another_refusal_is_not_taken_for_one_of_the_form(connect: Connect) -> None:
    """A filtered question is asked once."""
    with scripted(*case_answers("http_judge_content_filter.json")[:1]) as server:
        error = failure(connect("openai_compatible", server.url), question("m", answer_schema=SCHEMA))
    assert len(server.asked) == 1
    assert error.kind is ErrorKind.BLOCKED
    with scripted(gemini_refusal("The input token count exceeds the maximum")) as server:
        failure(connect("gemini", server.url), question("m", answer_schema=SCHEMA))
    assert len(server.asked) == 1
