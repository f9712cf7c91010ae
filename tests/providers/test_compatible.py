"""Field cases of servers that speak chat completions, answered by a scripted server."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pytest

from providers.base import ErrorKind, Finish, Message, Provider, Request, Usage
from tests.providers.conftest import KEY, failure, question
from tests.providers.scripted import Answer, case_answers, chat_body, scripted

Connect = Callable[..., Provider]
KIND = "openai_compatible"


def test_renamed_token_limit_is_learned_once(connect: Connect) -> None:
    with scripted(*case_answers("http_max_tokens_unsupported.json")) as server:
        provider = connect(KIND, server.url)
        reply = provider.complete(question(max_tokens=50))
        assert len(server.asked) == 2
        again = provider.complete(question(max_tokens=50))
    bodies = [asked.body for asked in server.asked]
    assert [("max_tokens" in b, b.get("max_completion_tokens")) for b in bodies] == [
        (True, None),
        (False, 50),
        (False, 50),
    ]
    assert reply.text == "ok"
    assert reply.notes == (("parameter_renamed", {"name": "max_tokens", "to": "max_completion_tokens"}),)
    assert again.notes == reply.notes


def test_temperature_is_left_out_and_said(connect: Connect) -> None:
    with scripted(*case_answers("http_temperature_unsupported.json")) as server:
        reply = connect(KIND, server.url).complete(question(temperature=0.0))
        assert len(server.asked) == 2
    assert "temperature" not in server.asked[1].body
    assert reply.notes == (("parameter_left_out", {"name": "temperature", "value": 0.0}),)


def test_two_refused_parameters_are_learned_one_after_the_other(connect: Connect) -> None:
    refusals = case_answers("http_max_tokens_unsupported.json")[:1]
    with scripted(*refusals, *case_answers("http_temperature_unsupported.json")) as server:
        reply = connect(KIND, server.url).complete(question(temperature=0.0, max_tokens=9))
        assert len(server.asked) == 3
    assert [name for name, _ in reply.notes] == ["parameter_renamed", "parameter_left_out"]


def test_a_server_that_always_refuses_is_not_asked_for_ever(connect: Connect) -> None:
    refusals = case_answers("http_max_tokens_unsupported.json")[:1]
    with scripted(*refusals) as server:
        error = failure(connect(KIND, server.url), question(max_tokens=9))
        assert len(server.asked) == 2
    assert (error.kind, error.status) == (ErrorKind.BAD_REQUEST, 400)


def test_a_parameter_that_was_not_sent_is_never_the_reason_to_ask_again(connect: Connect) -> None:
    with scripted(*case_answers("http_temperature_unsupported.json")) as server:
        error = failure(connect(KIND, server.url), question())
        assert len(server.asked) == 1
    assert error.status == 400


def test_clashing_parameters_are_one_request_and_a_plain_message(connect: Connect) -> None:
    with scripted(*case_answers("http_temperature_top_p.json")) as server:
        error = failure(connect(KIND, server.url), question(temperature=1.0, params={"top_p": 0.9}))
        assert len(server.asked) == 1
    assert error.kind is ErrorKind.BAD_REQUEST
    assert "cannot both be specified" in error.message


def test_only_what_was_set_is_sent(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as server:
        connect(KIND, server.url).complete(question())
    assert server.asked[0].body == {
        "model": "alpha-small",
        "messages": [{"role": "user", "content": "Capital of Portugal?"}],
    }


def test_json_mode_falls_back_for_the_whole_server(connect: Connect) -> None:
    wish = {"response_format": {"type": "json_object"}}
    with scripted(*case_answers("http_lmstudio_json_object.json")) as server:
        provider = connect(KIND, server.url)
        reply = provider.complete(question(params=wish))
        assert len(server.asked) == 2
        provider.complete(question("another-model", params=wish))
        assert len(server.asked) == 3
    assert reply.text == '{"ok": true}'
    assert ("json_mode_replaced", {"by": "schema"}) in reply.notes
    assert {asked.body["response_format"]["type"] for asked in server.asked[1:]} == {"json_schema"}


def test_json_mode_falls_back_to_words_where_schemas_are_unknown_too(connect: Connect) -> None:
    refusal = Answer({"error": {"message": "response_format is not supported by this model"}}, 400)
    with scripted(refusal, Answer(chat_body("{}"))) as server:
        schema = {"name": "a", "schema": {"type": "object", "required": ["day"]}}
        wish = {"response_format": {"type": "json_schema", "json_schema": schema}}
        reply = connect(KIND, server.url).complete(question(params=wish))
    assert "response_format" not in server.asked[1].body
    assert "JSON" in server.asked[1].body["messages"][-1]["content"]
    assert "'day'" in server.asked[1].body["messages"][-1]["content"]
    assert ("json_mode_replaced", {"by": "instruction"}) in reply.notes


def test_null_content_is_no_answer_and_reasoning_is_not_one(connect: Connect) -> None:
    with scripted(*case_answers("http_openai_content_null.json")) as server:
        reply = connect(KIND, server.url).complete(question())
    assert (reply.text, reply.finish, reply.reasoning) == ("", Finish.EMPTY, "2+2 is 4")
    assert ("only_reasoning", {}) in reply.notes
    assert reply.usage.output == 9


def test_content_in_parts(connect: Connect) -> None:
    with scripted(*case_answers("http_content_parts.json")) as server:
        reply = connect(KIND, server.url).complete(question())
    assert (reply.text, reply.finish, reply.reasoning) == ("Lisbon", Finish.COMPLETE, "hm, Rome?")


def test_usage_that_is_missing_is_estimated_and_marked(connect: Connect) -> None:
    with scripted(*case_answers("http_no_usage.json")) as server:
        reply = connect(KIND, server.url).complete(question())
    assert reply.usage == Usage(input=5, output=1, estimated=True)
    assert ("usage_estimated", {}) in reply.notes


@pytest.mark.parametrize(
    ("usage", "expected"),
    [
        ({"prompt_tokens": 0, "completion_tokens": 0}, Usage(input=5, output=1, estimated=True)),
        ({"prompt_tokens": 7}, Usage(input=7, output=1, estimated=True)),
        ({"prompt_tokens": "7", "completion_tokens": -1}, Usage(input=5, output=1, estimated=True)),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 900,
                "total_tokens": 1000,
                "completion_tokens_details": {"reasoning_tokens": 800},
                "prompt_tokens_details": {"cached_tokens": 64},
            },
            Usage(input=100, output=900, cache_read=64, reasoning=800),
        ),
        (
            {
                "prompt_tokens": 100,
                "completion_tokens": 100,
                "total_tokens": 1000,
                "completion_tokens_details": {"reasoning_tokens": 800},
            },
            Usage(input=100, output=900, reasoning=800),
        ),
    ],
)
def test_usage_means_one_thing(connect: Connect, usage: dict[str, Any], expected: Usage) -> None:
    with scripted(Answer(chat_body(usage=usage))) as server:
        assert connect(KIND, server.url).complete(question()).usage == expected


def test_a_reported_cost_is_kept_exactly(connect: Connect) -> None:
    usage = {"prompt_tokens": 9, "completion_tokens": 1, "cost": 0.00012345}
    with scripted(Answer(chat_body(usage=usage))) as server:
        assert connect("openrouter", server.url).complete(question()).cost_usd == Decimal("0.00012345")


@pytest.mark.parametrize(
    ("asked", "answered", "differs"),
    [
        ("alpha-small", "alpha-small-2024-08-06", False),
        ("llama3.2", "llama3.2:latest", False),
        ("org/alpha-small", "Alpha-Small", False),
        ("qwen2.5", "/models/qwen2.5-q4_k_m.gguf", False),
        ("gpt-4", "gpt-4o", True),
        ("gpt-4o", "gpt-4o-mini", True),
        ("alpha-small", "beta", True),
        ("alpha-small", None, False),
    ],
)
def test_another_model_answering_is_said(
    connect: Connect, asked: str, answered: str | None, differs: bool
) -> None:
    with scripted(Answer(chat_body(model=answered))) as server:
        reply = connect(KIND, server.url).complete(question(asked))
    assert (("model_differs", {"asked": asked, "answered": answered}) in reply.notes) is differs


def test_a_prompt_that_was_cut_is_said(connect: Connect) -> None:
    usage = {"prompt_tokens": 2048, "completion_tokens": 1}
    with scripted(Answer(chat_body(usage=usage))) as server:
        provider = connect(KIND, server.url)
        cut = provider.complete(question(text="word " * 20_000))
        whole = provider.complete(question(text="word " * 1_600))
    assert ("prompt_cut", {"counted": 2048, "expected": 25_000}) in cut.notes
    assert whole.notes == ()


@pytest.mark.parametrize(
    ("choice", "finish", "text"),
    [
        ({"finish_reason": "length"}, Finish.LENGTH, "ok"),
        (
            {"finish_reason": "stop", "message": {"refusal": "I can't help."}, "text": None},
            Finish.REFUSED,
            "I can't help.",
        ),
        ({"finish_reason": "length", "text": ""}, Finish.EMPTY, ""),
        ({"finish_reason": "stop", "text": " \n"}, Finish.EMPTY, " \n"),
        ({"finish_reason": None}, Finish.COMPLETE, "ok"),
        ({"finish_reason": "eos_token"}, Finish.COMPLETE, "ok"),
    ],
)
def test_how_an_answer_ended(connect: Connect, choice: dict[str, Any], finish: Finish, text: str) -> None:
    given = dict(choice)
    with scripted(Answer(chat_body(given.pop("text", "ok"), **given))) as server:
        reply = connect(KIND, server.url).complete(question())
    assert (reply.finish, reply.text) == (finish, text)


def test_a_filtered_answer_is_blocked_and_its_tokens_counted(connect: Connect) -> None:
    with scripted(Answer(chat_body("Par", finish_reason="content_filter"))) as server:
        error = failure(connect(KIND, server.url), question())
    assert (error.kind, error.should_retry, error.usage) == (
        ErrorKind.BLOCKED,
        False,
        Usage(input=9, output=1),
    )


@pytest.mark.parametrize(
    ("case", "kind", "status", "code", "words"),
    [
        ("http_insufficient_quota.json", ErrorKind.QUOTA, 429, "no_credit", "Check billing"),
        ("http_model_404.json", ErrorKind.NOT_FOUND, 404, "", "alpha-2023"),
        ("http_no_models_loaded.json", ErrorKind.NOT_FOUND, 404, "no_models_loaded", "Load or download"),
        ("http_system_role.json", ErrorKind.BAD_REQUEST, 500, "system_role", "in front of the question"),
        ("http_judge_content_filter.json", ErrorKind.BLOCKED, 400, "blocked", "filtered"),
        ("http_judge_404.json", ErrorKind.NOT_FOUND, 404, "", "judge-model-2023"),
    ],
)
def test_refusals_that_asking_again_cannot_mend(
    connect: Connect, case: str, kind: ErrorKind, status: int, code: str, words: str
) -> None:
    with scripted(*case_answers(case)) as server:
        error = failure(connect(KIND, server.url), question(system="Be brief."))
        assert len(server.asked) == 1
    assert (error.kind, error.status, error.code, error.should_retry) == (kind, status, code, False)
    assert words in error.message


def test_always_500_is_one_request_per_attempt(connect: Connect) -> None:
    with scripted(*case_answers("http_always_500.json")) as server:
        provider = connect(KIND, server.url)
        errors = [failure(provider, question()) for _ in range(3)]
        assert len(server.asked) == 3
    assert {(e.kind, e.status, e.should_retry) for e in errors} == {(ErrorKind.UNKNOWN, 500, None)}


def test_a_rate_limit_keeps_its_wait_and_then_answers(connect: Connect) -> None:
    with scripted(*case_answers("http_rate_limit_then_ok.json")) as server:
        provider = connect(KIND, server.url)
        error = failure(provider, question())
        assert (error.kind, error.status, error.retry_after_s) == (ErrorKind.RATE_LIMIT, 429, 1.0)
        assert provider.complete(question()).text == "ok"
        assert len(server.asked) == 2


def test_a_loading_model_is_waited_for_and_not_measured(connect: Connect) -> None:
    with scripted(*case_answers("http_loading_then_ok.json")) as server:
        provider = connect(KIND, server.url)
        for _ in range(2):
            error = failure(provider, question())
            assert (error.kind, error.code, error.retry_after_s) == (
                ErrorKind.OVERLOADED,
                "model_loading",
                2.0,
            )
        assert provider.complete(question()).text == "ok"
        assert len(server.asked) == 3


def test_a_stream_whose_last_piece_has_no_choices(connect: Connect) -> None:
    with scripted(*case_answers("sse_usage_chunk.txt")) as server:
        reply = connect(KIND, server.url).complete(question(params={"stream": True}))
    assert server.asked[0].body["stream_options"] == {"include_usage": True}
    assert (reply.text, reply.usage, reply.finish) == ("Lisbon", Usage(input=8, output=2), Finish.COMPLETE)
    assert reply.first_token_ms is not None
    assert reply.first_token_ms <= reply.latency_ms


def test_an_error_inside_a_stream_leaves_no_fragment(connect: Connect) -> None:
    events = (
        'data: {"choices":[{"index":0,"delta":{"content":"Par"}}]}\n\n'
        'data: {"error":{"message":"Provider overloaded","code":529}}\n\n'
    )
    with scripted(Answer(events, content_type="text/event-stream")) as server:
        error = failure(connect(KIND, server.url), question(params={"stream": True}))
    assert (error.kind, error.status) == (ErrorKind.OVERLOADED, 529)


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        ({"error": {"message": "Upstream failed", "code": 502}}, ErrorKind.UNKNOWN, 502),
        ({"error": {"message": "slow down", "code": "429"}}, ErrorKind.RATE_LIMIT, 429),
        ({"error": "model 'x' not found, try pulling it first"}, ErrorKind.NOT_FOUND, 200),
        ({"error": {"message": "Sorry", "type": "server_error"}}, ErrorKind.UNKNOWN, 500),
        ({"error": "sorry"}, ErrorKind.UNKNOWN, 200),
        ({"choices": []}, ErrorKind.BAD_REPLY, 200),
        ({}, ErrorKind.BAD_REPLY, 200),
        ([1, 2], ErrorKind.BAD_REPLY, 200),
        ("not json", ErrorKind.BAD_REPLY, 200),
        ('{"choices": [', ErrorKind.BAD_REPLY, 200),
        ("", ErrorKind.BAD_REPLY, 200),
    ],
)
def test_a_success_that_is_none(connect: Connect, body: Any, kind: ErrorKind, status: int) -> None:
    with scripted(Answer(body)) as server:
        error = failure(connect(KIND, server.url), question())
        assert len(server.asked) == 1
    assert (error.kind, error.status) == (kind, status)
    assert error.message


@pytest.mark.parametrize(
    ("status", "kind", "final"),
    [
        (200, ErrorKind.BAD_REPLY, False),
        (403, ErrorKind.BAD_REPLY, False),
        (404, ErrorKind.NOT_FOUND, False),
        (503, ErrorKind.UNKNOWN, None),
        (504, ErrorKind.TIMEOUT, None),
    ],
)
def test_a_web_page_is_not_a_model(
    connect: Connect, status: int, kind: ErrorKind, final: bool | None
) -> None:
    page = Answer("<!DOCTYPE html><html><body>Sign in</body></html>", status, content_type="text/html")
    with scripted(page) as server:
        error = failure(connect(KIND, server.url), question())
    assert (error.kind, error.status, error.code, error.should_retry) == (kind, status, "html_page", final)
    assert "web page" in error.message
    assert "<" not in error.message


@pytest.mark.parametrize(
    ("body", "status", "kind"),
    [
        ({"detail": "Not authenticated"}, 401, ErrorKind.AUTH),
        ({"error": {"message": "no", "code": "invalid_api_key"}}, 401, ErrorKind.AUTH),
        ({"message": "forbidden"}, 403, ErrorKind.AUTH),
        (
            {"object": "error", "message": "The model `x` does not exist.", "code": 404},
            404,
            ErrorKind.NOT_FOUND,
        ),
        ({"error": {"message": "x", "code": "model_not_found"}}, 400, ErrorKind.NOT_FOUND),
        ({"detail": [{"loc": ["body"], "msg": "bad"}]}, 422, ErrorKind.BAD_REQUEST),
        ("plain words", 413, ErrorKind.BAD_REQUEST),
        (b"\xff\xfe", 400, ErrorKind.BAD_REQUEST),
        ("", 402, ErrorKind.QUOTA),
        ("", 408, ErrorKind.TIMEOUT),
        ("", 409, ErrorKind.UNKNOWN),
        ("", 425, ErrorKind.UNKNOWN),
        ({"error": {"message": "requests per day exceeded"}}, 429, ErrorKind.RATE_LIMIT),
        ("", 500, ErrorKind.UNKNOWN),
        ("", 529, ErrorKind.OVERLOADED),
    ],
)
def test_every_status_in_every_shape(connect: Connect, body: Any, status: int, kind: ErrorKind) -> None:
    with scripted(Answer(body, status)) as server:
        error = failure(connect(KIND, server.url), question())
        assert len(server.asked) == 1
    assert (error.kind, error.status) == (kind, status)
    assert error.day_quota is ("per day" in str(body))


def test_the_servers_own_word_on_retrying_is_kept(connect: Connect) -> None:
    with scripted(Answer({}, 500, {"x-should-retry": "false", "x-request-id": "r-7"})) as server:
        error = failure(connect(KIND, server.url), question())
    assert (error.should_retry, error.request_id) == (False, "r-7")


def test_an_echoed_key_is_not_repeated(connect: Connect) -> None:
    body = {"error": {"message": f"Incorrect API key provided: {KEY}. Header was Bearer {KEY}"}}
    with scripted(Answer(body, 401)) as server:
        error = failure(connect(KIND, server.url), question())
    assert KEY not in f"{error} {error.message} {error.args}"
    assert len(error.message) <= 500


@pytest.mark.parametrize("tail", ["", "/", "/v1", "/v1/", "/v1/chat/completions"])
def test_any_form_of_the_address_reaches_the_same_place(connect: Connect, tail: str) -> None:
    with scripted(Answer(chat_body())) as server:
        connect(KIND, server.url + tail).complete(question())
    assert server.asked[0].path == "/v1/chat/completions"


@pytest.mark.parametrize(
    ("kind", "prefix", "model", "sent"),
    [
        ("ollama", None, "ollama/llama3", "llama3"),
        ("ollama", None, "local/llama3", "llama3"),
        ("vllm", None, "org/model", "org/model"),
        ("openrouter", None, "openrouter/org/model", "org/model"),
        ("openrouter", None, "openrouter/auto", "openrouter/auto"),
        (KIND, "team/", "alpha", "team/alpha"),
        (KIND, "team/", "team/alpha", "team/alpha"),
    ],
)
def test_the_name_that_is_sent(
    connect: Connect, kind: str, prefix: str | None, model: str, sent: str
) -> None:
    with scripted(Answer(chat_body())) as server:
        connect(kind, server.url, model_prefix=prefix).complete(question(model))
    assert server.asked[-1].body["model"] == sent


def test_conversations_and_instructions_and_params(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as server:
        turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
        provider = connect(KIND, server.url, params={"top_p": 0.5, "seed": 1})
        provider.complete(Request("m", turns, system="s", params={"seed": 2}, max_tokens=3, temperature=0.5))
    body = server.asked[0].body
    assert [m["role"] for m in body["messages"]] == ["system", "user", "assistant", "user"]
    assert (body["top_p"], body["seed"], body["max_tokens"], body["temperature"]) == (0.5, 2, 3, 0.5)


def test_ollama_loads_before_it_is_measured(connect: Connect) -> None:
    loaded = Answer({"model": "llama3", "done": True, "done_reason": "load"})
    with scripted(loaded, Answer(chat_body())) as server:
        provider = connect("ollama", server.url)
        reply = provider.complete(question("llama3"))
        provider.complete(question("llama3"))
    assert [asked.path for asked in server.asked] == ["/api/generate", *["/v1/chat/completions"] * 2]
    assert server.asked[0].body == {"model": "llama3"}
    assert ("loading_included", {}) not in reply.notes


def test_a_server_that_cannot_be_asked_to_load_says_that_loading_may_be_included(connect: Connect) -> None:
    with scripted(Answer("404 page not found", 404), Answer(chat_body())) as server:
        provider = connect("ollama", server.url)
        first = provider.complete(question("llama3"))
        second = provider.complete(question("llama3"))
    assert ("loading_included", {}) in first.notes
    assert ("loading_included", {}) not in second.notes


def test_lm_studio_is_asked_to_load_only_what_is_not_loaded(connect: Connect) -> None:
    listing = {
        "models": [{"key": "a", "loaded_instances": [{"id": "a"}]}, {"key": "b", "loaded_instances": []}]
    }
    loaded = Answer({"status": "loaded"})
    with scripted(
        Answer(listing), Answer(chat_body()), Answer(listing), loaded, Answer(chat_body())
    ) as server:
        provider = connect("lmstudio", server.url)
        provider.complete(question("a"))
        provider.complete(question("b"))
    assert [(asked.method, asked.path) for asked in server.asked] == [
        ("GET", "/api/v1/models"),
        ("POST", "/v1/chat/completions"),
        ("GET", "/api/v1/models"),
        ("POST", "/api/v1/models/load"),
        ("POST", "/v1/chat/completions"),
    ]


def test_llama_cpp_is_waited_for_while_it_loads(connect: Connect) -> None:
    loading = Answer({"error": {"message": "Loading model", "code": 503}}, 503)
    with scripted(loading, Answer({"status": "ok"}), Answer(chat_body())) as server:
        reply = connect("llamacpp", server.url).complete(question())
    assert [asked.path for asked in server.asked] == ["/health", "/health", "/v1/chat/completions"]
    assert ("loading_included", {}) not in reply.notes


@pytest.mark.parametrize(
    "body",
    [
        {"data": [{"id": "a", "context_length": 4096, "name": "Alpha"}, {"id": "b"}]},
        {"models": [{"name": "a", "context_window": 4096, "display_name": "Alpha"}, {"model": "b"}]},
        [{"id": "a", "max_model_len": 4096, "displayName": "Alpha"}, "b", 7, {}],
    ],
)
def test_model_lists_of_every_shape(connect: Connect, body: Any) -> None:
    with scripted(Answer(body)) as server:
        found = connect(KIND, server.url, headers={"X-Team": "a"}).list_models()
    assert [m.id for m in found] == ["a", "b"]
    assert (found[0].display_name, found[0].context_tokens) == ("Alpha", 4096)
    assert (server.asked[0].path, server.asked[0].headers["x-team"]) == ("/v1/models", "a")
    assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"


def test_openai_uses_its_own_name_for_the_token_limit(connect: Connect) -> None:
    with scripted(Answer(chat_body())) as server:
        connect("openai", server.url).complete(question(max_tokens=7))
        connect("openai", server.url).complete(question(max_tokens=7, params={"token_param": "max_tokens"}))
        connect("openai", server.url).complete(question(temperature=0.0, params={"send_temperature": False}))
    assert server.asked[0].body["max_completion_tokens"] == 7
    assert server.asked[1].body["max_tokens"] == 7
    assert "temperature" not in server.asked[2].body
    assert "send_temperature" not in server.asked[2].body
