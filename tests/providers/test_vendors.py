"""The three SDKs, streaming and not, against the protocol stub and against field cases."""

from __future__ import annotations

import json
import zlib
from collections.abc import Callable
from typing import Any

import pytest

from providers.base import ErrorKind, Finish, Message, Provider, ProviderError, Request, Usage
from tests.providers.conftest import KEY, failure, question
from tests.providers.scripted import Answer, case_answers, scripted
from tests.stub import StubServer, start_stub

Connect = Callable[..., Provider]
VENDORS = ("openai", "anthropic", "gemini")


@pytest.fixture(params=VENDORS)
def vendor(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(params=[False, True], ids=["whole", "stream"])
def params(request: pytest.FixtureRequest) -> dict[str, Any]:
    return {"stream": True} if request.param else {}


def test_answers_usage_and_model(
    stub: StubServer, connect: Connect, vendor: str, params: dict[str, Any]
) -> None:
    reply = connect(vendor, stub.url).complete(question("stub-small", params=params, max_tokens=200))
    crc = zlib.crc32(b"stub-small\0Capital of Portugal?")
    assert reply.text.startswith(f"ANSWER {crc:08x} ")
    assert reply.finish is Finish.COMPLETE
    assert reply.model_reported == "stub-small"
    assert reply.usage == Usage(input=5, output=len(reply.text) // 4)
    assert reply.request_id or vendor == "anthropic"
    assert reply.notes == ()
    assert (reply.first_token_ms is not None) == bool(params)
    assert 0 < (reply.first_token_ms or 0.001) <= reply.latency_ms


def test_the_whole_text_arrives_in_a_stream(stub: StubServer, connect: Connect, vendor: str) -> None:
    text = "one two\nthree  four \U0001f642 five"
    reply = connect(vendor, stub.url).complete(question("stub-echo", text, params={"stream": True}))
    assert reply.text == text


@pytest.mark.parametrize(
    ("status", "kind", "should_retry"),
    [
        (400, ErrorKind.BAD_REQUEST, None),
        (401, ErrorKind.AUTH, False),
        (403, ErrorKind.AUTH, False),
        (404, ErrorKind.NOT_FOUND, False),
        (408, ErrorKind.TIMEOUT, None),
        (429, ErrorKind.RATE_LIMIT, None),
        (500, ErrorKind.UNKNOWN, None),
        (503, ErrorKind.UNKNOWN, None),
        (529, ErrorKind.OVERLOADED, None),
    ],
)
def test_every_status_is_one_request_and_one_meaning(
    stub: StubServer,
    connect: Connect,
    vendor: str,
    params: dict[str, Any],
    status: int,
    kind: ErrorKind,
    should_retry: bool | None,
) -> None:
    model = f"error-{status}-{vendor}-{len(params)}"
    error = failure(connect(vendor, stub.url), question(model, params=params))
    assert (error.kind, error.status, error.should_retry) == (kind, status, should_retry)
    assert f"stub error {status}" in error.message
    assert stub.stats()["by_model"][model] == 1


def test_a_rate_limit_carries_its_wait(connect: Connect, vendor: str) -> None:
    with start_stub(rate_limit=0.5, burst=1) as limited:
        provider = connect(vendor, limited.url)
        provider.complete(question())
        error = failure(provider, question())
    assert (error.kind, error.status) == (ErrorKind.RATE_LIMIT, 429)
    assert error.retry_after_s is not None
    assert 1.0 < error.retry_after_s <= 2.0


def test_a_slow_answer_ends_at_the_total_deadline(
    stub: StubServer, connect: Connect, vendor: str, params: dict[str, Any]
) -> None:
    provider = connect(vendor, stub.url)
    provider.complete(question("stub-small"))
    error = failure(provider, question("slow-20000", params=params, timeout_s=0.4))
    assert error.kind is ErrorKind.TIMEOUT


def test_a_cut_stream_is_no_answer(stub: StubServer, connect: Connect, vendor: str) -> None:
    error = failure(connect(vendor, stub.url), question("stub-cut", params={"stream": True}))
    assert (error.kind, error.code) == (ErrorKind.UNKNOWN, "connection_cut")


def test_the_key_is_sent_and_a_wrong_one_is_refused(connect: Connect, vendor: str) -> None:
    with start_stub(require_key=KEY) as locked:
        assert connect(vendor, locked.url).complete(question()).text
        error = failure(connect(vendor, locked.url, api_key="sk-wrong-0000"), question())
        models = connect(vendor, locked.url).list_models()
        with pytest.raises(ProviderError) as refused:
            connect(vendor, locked.url, api_key="sk-wrong-0000").list_models()
    assert (error.kind, error.status) == (ErrorKind.AUTH, 401)
    assert [m.id for m in models][:2] == ["stub-small", "stub-large"]
    assert refused.value.kind is ErrorKind.AUTH


@pytest.mark.parametrize("body", ["<html>Sign in</html>", "not json", "[]", "{}", '{"x": ', ""])
def test_a_success_that_is_none(connect: Connect, vendor: str, body: str) -> None:
    kind = "text/html" if body.startswith("<") else "application/json"
    with scripted(Answer(body, content_type=kind)) as server:
        error = failure(connect(vendor, server.url), question())
        assert len(server.asked) == 1
    assert error.kind is ErrorKind.BAD_REPLY
    assert ("web page" in error.message) == body.startswith("<")


def test_many_threads_share_one_connection(stub: StubServer, connect: Connect, vendor: str) -> None:
    from concurrent.futures import ThreadPoolExecutor

    provider = connect(vendor, stub.url, width=8)
    with ThreadPoolExecutor(8) as pool:
        replies = list(
            pool.map(lambda n: provider.complete(question("stub-echo", f"question {n}")).text, range(24))
        )
    assert replies == [f"question {n}" for n in range(24)]


@pytest.mark.parametrize(
    ("case", "finish", "text", "note"),
    [
        ("http_anthropic_refusal.json", Finish.REFUSED, "", None),
        ("http_anthropic_thinking_then_text.json", Finish.COMPLETE, "Lisbon", None),
        ("http_anthropic_thinking_only.json", Finish.EMPTY, "", "tokens_used_up_thinking"),
    ],
)
def test_anthropic_field_cases(
    connect: Connect, case: str, finish: Finish, text: str, note: str | None
) -> None:
    with scripted(*case_answers(case)) as server:
        reply = connect("anthropic", server.url).complete(question("alpha-large"))
        assert len(server.asked) == 1
    assert (reply.finish, reply.text) == (finish, text)
    assert [name for name, _ in reply.notes] == ([note] if note else [])
    assert reply.usage.input is not None
    assert "Rome" not in reply.text


def test_anthropic_counts_a_refusals_input(connect: Connect) -> None:
    with scripted(*case_answers("http_anthropic_refusal.json")) as server:
        assert connect("anthropic", server.url).complete(question("alpha-large")).usage == Usage(31, 0)


def test_anthropic_overloaded_inside_a_stream(connect: Connect) -> None:
    with scripted(*case_answers("sse_overloaded.txt")) as server:
        error = failure(connect("anthropic", server.url), question(params={"stream": True}))
    assert (error.kind, error.status) == (ErrorKind.OVERLOADED, 529)


def test_anthropic_request_and_cached_tokens(connect: Connect) -> None:
    body = {
        "model": "claude-x",
        "content": [{"type": "text", "text": "ok"}],
        "stop_reason": "max_tokens",
        "usage": {
            "input_tokens": 10,
            "cache_read_input_tokens": 100,
            "cache_creation_input_tokens": 5,
            "output_tokens": 7,
            "output_tokens_details": {"thinking_tokens": 3},
        },
    }
    with scripted(Answer(body, 200, {"request-id": "req_1"})) as server:
        turns = (Message("system", "inside"), Message("user", "q"))
        request = Request("claude-x", turns, system="first", temperature=0.0, params={"top_k": 3})
        reply = connect("anthropic", server.url + "/v1/").complete(request)
    assert server.asked[0].path == "/v1/messages"
    assert server.asked[0].body == {
        "model": "claude-x",
        "messages": [{"role": "user", "content": "q"}],
        "system": "first\n\ninside",
        "max_tokens": 1024,
        "temperature": 0.0,
        "top_k": 3,
    }
    assert reply.usage == Usage(input=115, output=7, cache_read=100, cache_write=5, reasoning=3)
    assert (reply.finish, reply.request_id) == (Finish.LENGTH, "req_1")


def test_anthropic_streams_long_outputs(stub: StubServer, connect: Connect) -> None:
    reply = connect("anthropic", stub.url).complete(question("stub-small", max_tokens=20_000))
    assert reply.first_token_ms is not None


@pytest.mark.parametrize(
    "message",
    [
        "`temperature` is deprecated for this model.",
        "temperature: Extra inputs are not permitted",
        "`temperature` may only be set to 1 when thinking is enabled.",
    ],
)
def test_anthropic_leaves_out_what_a_family_rejects_and_says_so(connect: Connect, message: str) -> None:
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    ok = {"model": "m", "content": [{"type": "text", "text": "ok"}], "stop_reason": "end_turn"}
    with scripted(Answer(refusal, 400), Answer(ok)) as server:
        provider = connect("anthropic", server.url)
        reply = provider.complete(question("m", temperature=0.0))
        provider.complete(question("m", temperature=0.0))
        assert len(server.asked) == 3
    assert [("temperature" in asked.body) for asked in server.asked] == [True, False, False]
    assert ("parameter_left_out", {"name": "temperature", "value": 0.0}) in reply.notes
    assert reply.usage.estimated


def test_anthropic_does_not_repair_a_clash(connect: Connect) -> None:
    with scripted(*case_answers("http_temperature_top_p.json")) as server:
        request = question("m", temperature=1.0, params={"top_p": 0.9})
        assert failure(connect("anthropic", server.url), request).kind is ErrorKind.BAD_REQUEST
        assert len(server.asked) == 1


def test_anthropic_without_credit(connect: Connect) -> None:
    message = "Your credit balance is too low to access the Anthropic API."
    refusal = {"type": "error", "error": {"type": "invalid_request_error", "message": message}}
    with scripted(Answer(refusal, 400)) as server:
        error = failure(connect("anthropic", server.url), question())
    assert (error.kind, error.code) == (ErrorKind.QUOTA, "no_credit")


def test_gemini_blocked_prompt(connect: Connect) -> None:
    with scripted(*case_answers("http_gemini_prompt_blocked.json")) as server:
        error = failure(connect("gemini", server.url), question())
        assert len(server.asked) == 1
    assert (error.kind, error.should_retry, error.usage) == (ErrorKind.BLOCKED, False, Usage(13, 0))
    assert "PROHIBITED_CONTENT" in error.message


def test_gemini_minute_and_day(connect: Connect) -> None:
    with scripted(*case_answers("http_gemini_429_minute.json")) as server:
        provider = connect("gemini", server.url)
        error = failure(provider, question())
        assert (error.kind, error.retry_after_s, error.day_quota) == (ErrorKind.RATE_LIMIT, 2.4, False)
        assert provider.complete(question()).text == "ok"
        assert len(server.asked) == 2
    with scripted(*case_answers("http_gemini_429_day.json")) as server:
        error = failure(connect("gemini", server.url), question())
    assert (error.kind, error.retry_after_s, error.day_quota) == (ErrorKind.RATE_LIMIT, 1.0, True)


def test_gemini_refuses_a_bad_key_with_status_400(connect: Connect) -> None:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}]
    error = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": details}
    with scripted(Answer({"error": error}, 400)) as server:
        assert failure(connect("gemini", server.url), question()).kind is ErrorKind.AUTH


def gemini_body(parts: list[dict[str, Any]], reason: str, **usage: int) -> dict[str, Any]:
    candidate: dict[str, Any] = {"finishReason": reason}
    if parts:
        candidate["content"] = {"role": "model", "parts": parts}
    return {"candidates": [candidate], "usageMetadata": {"promptTokenCount": 9, **usage}, "futureField": 1}


def test_gemini_thinking_that_ate_the_answer(connect: Connect) -> None:
    body = gemini_body([], "MAX_TOKENS", thoughtsTokenCount=256, totalTokenCount=265)
    with scripted(Answer(body)) as server:
        reply = connect("gemini", server.url).complete(question("gamma", max_tokens=256))
    assert (reply.finish, reply.usage) == (Finish.EMPTY, Usage(9, 256, reasoning=256))
    assert ("tokens_used_up_thinking", {}) in reply.notes


def test_gemini_thoughts_are_not_the_answer(connect: Connect) -> None:
    parts = [{"text": "Rome?", "thought": True}, {"text": "Lis"}, {"text": "bon"}, {"inlineData": {}}]
    body = gemini_body(parts, "STOP", candidatesTokenCount=2, thoughtsTokenCount=5, cachedContentTokenCount=4)
    with scripted(Answer(body)) as server:
        reply = connect("gemini", server.url).complete(question("gamma"))
    assert (reply.text, reply.reasoning) == ("Lisbon", "Rome?")
    assert reply.usage == Usage(9, 7, cache_read=4, reasoning=5)


@pytest.mark.parametrize("reason", ["SAFETY", "RECITATION", "PROHIBITED_CONTENT"])
@pytest.mark.parametrize("stream", [False, True])
def test_gemini_blocked_answer(connect: Connect, reason: str, stream: bool) -> None:
    body = gemini_body([{"text": "Par"}], reason, candidatesTokenCount=1)
    event = Answer(f"data: {json.dumps(body)}\n\n", content_type="text/event-stream")
    with scripted(event if stream else Answer(body)) as server:
        error = failure(connect("gemini", server.url), question("gamma", params={"stream": stream}))
    assert (error.kind, error.usage) == (ErrorKind.BLOCKED, Usage(9, 1))
    assert reason in error.message


def test_gemini_request(connect: Connect) -> None:
    body = gemini_body([{"text": "ok"}], "STOP", candidatesTokenCount=1)
    with scripted(Answer(body)) as server:
        turns = (Message("user", "a"), Message("assistant", "b"), Message("user", "c"))
        request = Request(
            "models/gamma", turns, system="s", max_tokens=5, temperature=0.0, params={"top_p": 0.5}
        )
        connect("gemini", server.url + "/v1beta/").complete(request)
    asked = server.asked[0]
    assert asked.path == "/v1beta/models/gamma:generateContent"
    assert [turn["role"] for turn in asked.body["contents"]] == ["user", "model", "user"]
    assert asked.body["systemInstruction"]["parts"] == [{"text": "s"}]
    assert asked.body["generationConfig"] == {"maxOutputTokens": 5, "temperature": 0.0, "topP": 0.5}
    assert asked.headers["x-goog-api-key"] == KEY
    assert "key=" not in asked.path


def test_gemini_params_it_does_not_know_are_named_before_asking(connect: Connect) -> None:
    with scripted(Answer({})) as server:
        error = failure(connect("gemini", server.url), question("gamma", params={"nonsense": 1}))
        assert server.asked == []
    assert (error.kind, error.code) == (ErrorKind.BAD_REQUEST, "bad_params")
    assert "nonsense" in error.message


def test_gemini_lists_what_can_answer(connect: Connect) -> None:
    first = {
        "models": [
            {
                "name": "models/gamma",
                "displayName": "Gamma",
                "inputTokenLimit": 1000,
                "supportedGenerationMethods": ["generateContent"],
            },
            {"name": "models/embed", "supportedGenerationMethods": ["embedContent"]},
        ],
        "nextPageToken": "p2",
    }
    with scripted(Answer(first), Answer({"models": [{"name": "models/delta"}]})) as server:
        found = connect("gemini", server.url).list_models()
    assert [(m.id, m.display_name, m.context_tokens) for m in found] == [
        ("gamma", "Gamma", 1000),
        ("delta", None, None),
    ]
    assert "pageToken=p2" in server.asked[1].path


ODD_NAMES = [
    "we#ird",
    "what?now",
    "a&b=c",
    "50%",
    "two words",
    "tail:v2",
    "né",
    "x%23y",
    "plus+sign",
    '"q"',
    "a;b",
]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_a_models_name_arrives_whole_whatever_is_in_it(
    stub: StubServer, connect: Connect, vendor: str, params: dict[str, Any], name: str
) -> None:
    model = f"{name}-{vendor}-{len(params)}"
    reply = connect(vendor, stub.url).complete(question(model, params=params))
    assert reply.finish is Finish.COMPLETE
    assert stub.stats()["by_model"][model] == 1
    assert reply.notes == ()


def test_a_name_that_would_lead_to_another_address_is_refused(stub: StubServer, connect: Connect) -> None:
    before = stub.stats()["total"]
    error = failure(connect("gemini", stub.url), question("../../other"))
    assert (error.kind, error.code) == (ErrorKind.BAD_REQUEST, "cannot_send")
    assert stub.stats()["total"] == before
