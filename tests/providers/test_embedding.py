"""Embeddings through the real SDKs against the protocol stub, scripted servers and local models."""

from __future__ import annotations

import base64
import math
import struct
import threading
from array import array
from collections.abc import Callable
from typing import Any

import pytest

from providers import registry
from providers.base import ConnectionSettings, ErrorKind, Provider, ProviderError, Usage
from providers.builtin import missing_part
from providers.embedding import NO_EMBEDDINGS, Embedded, EmbedRequest, embed
from providers.mock_embed import practice_vector
from tests.providers.conftest import KEY, question
from tests.providers.scripted import Answer, scripted
from tests.stub import StubServer, start_stub

Connect = Callable[..., Provider]
TEXTS = ("the red fox", "a fox, red", "blue")
WAYS = ("openai", "openai_compatible", "ollama", "lmstudio", "llamacpp", "vllm", "openrouter", "gemini")


def ask(texts: tuple[str, ...] = TEXTS, model: str = "vec-small", **more: Any) -> EmbedRequest:
    return EmbedRequest(model, texts, **{"timeout_s": 20.0, **more})


def refusal(provider: Provider, request: EmbedRequest) -> ProviderError:
    with pytest.raises(ProviderError) as caught:
        embed(provider, request)
    return caught.value


def alike(left: array[float], right: array[float]) -> float:
    return math.sumprod(left, right) if hasattr(math, "sumprod") else sum(map(float.__mul__, left, right))


@pytest.mark.parametrize("kind", WAYS)
def test_every_kind_of_connection_makes_them_in_order_with_its_usage(
    stub: StubServer, connect: Connect, kind: str
) -> None:
    found = embed(connect(kind, stub.url), ask())
    one = embed(connect(kind, stub.url), ask(("blue",)))
    assert [len(vector) for vector in found.vectors] == [16, 16, 16]
    assert found.vectors[2] == one.vectors[0]
    assert sum(found.vectors[0]) == 3.0
    assert found.usage == Usage(input=2 + 2 + 1, output=0)
    assert found.latency_ms > 0


@pytest.mark.parametrize("kind", ["openai", "gemini"])
@pytest.mark.parametrize(
    ("status", "means"),
    [
        (401, ErrorKind.AUTH),
        (404, ErrorKind.NOT_FOUND),
        (429, ErrorKind.RATE_LIMIT),
        (500, ErrorKind.UNKNOWN),
        (529, ErrorKind.OVERLOADED),
    ],
)
def test_every_status_means_what_it_means_for_an_answer_and_is_one_request(
    stub: StubServer, connect: Connect, kind: str, status: int, means: ErrorKind
) -> None:
    model = f"error-{status}-vec-{kind}"
    error = refusal(connect(kind, stub.url), ask(model=model))
    assert (error.kind, error.status) == (means, status)
    assert KEY not in error.message
    assert stub.stats()["by_model"][model] == 1


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_a_wait_that_the_server_names_is_kept(connect: Connect, kind: str) -> None:
    with start_stub(rate_limit=0.5, burst=1) as server:
        provider = connect(kind, server.url)
        embed(provider, ask())
        error = refusal(provider, ask())
    assert error.kind is ErrorKind.RATE_LIMIT
    assert 0 < (error.retry_after_s or 0) <= 2


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_the_deadline_and_stop_end_a_server_that_never_answers(connect: Connect, kind: str) -> None:
    with scripted(Answer(mode="hang")) as server:
        provider = connect(kind, server.url)
        assert refusal(provider, ask(timeout_s=0.2)).kind is ErrorKind.TIMEOUT
        stop = threading.Event()
        stop.set()
        assert refusal(provider, ask(stop_event=stop)).kind is ErrorKind.CANCELLED


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_the_key_goes_to_its_host_in_the_vendors_header(connect: Connect, kind: str) -> None:
    body = {"data": [{"embedding": [1]}], "embeddings": [{"values": [1]}]}
    with scripted(Answer(body)) as server:
        embed(connect(kind, server.url), ask(("x",)))
    headers = {name.lower(): value for name, value in server.asked[0].headers.items()}
    assert headers.get("x-goog-api-key" if kind == "gemini" else "authorization", "").endswith(KEY)
    assert KEY not in server.asked[0].path + str(server.asked[0].body)


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_no_redirect_is_followed_with_a_key(connect: Connect, kind: str) -> None:
    with scripted(Answer({})) as other:
        with scripted(Answer({}, 307, {"Location": f"{other.url}/v1/embeddings"})) as server:
            assert refusal(connect(kind, server.url), ask(("x",))).code == "redirect"
        assert other.asked == []


def test_only_the_models_own_params_are_sent(connect: Connect) -> None:
    with scripted(Answer({"data": [{"embedding": [1, 2]}]})) as server:
        provider = connect("openai_compatible", server.url, params={"temperature": 0.2})
        found = embed(provider, ask(("x",), params={"dimensions": 2}))
    assert server.asked[0].path == "/v1/embeddings"
    assert server.asked[0].body == {"model": "vec-small", "input": ["x"], "dimensions": 2}
    assert found.usage == Usage(input=1, output=0, estimated=True)


def test_gemini_gets_one_request_per_text_and_its_own_params(connect: Connect) -> None:
    with scripted(Answer({"embeddings": [{"values": [1, 0]}, {"values": [0, 1]}]})) as server:
        for model in ("gemini-embedding-001", "gemini-embedding-2"):
            request = ask(("x", "y"), model, params={"output_dimensionality": 2})
            assert len(embed(connect("gemini", server.url), request).vectors) == 2
    for asked in server.asked:
        assert asked.path.endswith(":batchEmbedContents")
        assert [one["content"]["parts"][0]["text"] for one in asked.body["requests"]] == ["x", "y"]
        assert asked.body["requests"][0]["outputDimensionality"] == 2
    with scripted(Answer({})) as server:
        error = refusal(connect("gemini", server.url), ask(("x",), params={"no_such": 1}))
    assert (error.code, server.asked) == ("bad_params", [])


PACKED = base64.b64encode(struct.pack("<2f", 0.5, -2.0)).decode()


def test_packed_numbers_are_read(connect: Connect) -> None:
    with scripted(Answer({"data": [{"embedding": PACKED}]})) as server:
        found = embed(connect("openai", server.url), ask(("x",)))
    assert list(found.vectors[0]) == [0.5, -2.0]


@pytest.mark.parametrize(
    "data",
    [
        [],
        [{"embedding": [1.0]}],
        [{"embedding": [1.0]}, {"embedding": [1.0, 2.0]}],
        [{"embedding": [1.0]}, {"embedding": []}],
        [{"embedding": [1.0]}, {"embedding": None}],
        [{"embedding": [1.0]}, {"embedding": ["1"]}],
        [{"embedding": [1.0]}, {"embedding": "not base64!"}],
        [{"embedding": [1.0]}, {"embedding": [float("nan")]}],
        [{"embedding": [1.0]}, {"embedding": [float("inf")]}],
        [{"embedding": [1.0], "index": 0}, {"embedding": [1.0], "index": 0}],
        [{"embedding": [1.0], "index": 0}, {"embedding": [1.0], "index": 7}],
        [{"embedding": [1.0], "index": 0}, {"embedding": [1.0], "index": {}}],
        "text",
        {"0": [1.0]},
    ],
)
def test_a_reply_that_does_not_hold_what_was_asked_for_is_an_error(connect: Connect, data: object) -> None:
    with scripted(Answer({"data": data})) as server:
        error = refusal(connect("openai", server.url), ask(("x", "y")))
    assert (error.kind, error.code) == (ErrorKind.BAD_REPLY, "unreadable")


@pytest.mark.parametrize("kind", ["openai", "gemini"])
def test_an_error_inside_a_success_and_a_web_page_are_told(connect: Connect, kind: str) -> None:
    page = Answer("<html>Sign in</html>", content_type="text/html")
    with scripted(Answer({"error": {"message": "no"}}), page) as server:
        provider = connect(kind, server.url)
        first, second = (refusal(provider, ask(("x",))) for _ in range(2))
    assert first.kind in (ErrorKind.UNKNOWN, ErrorKind.BAD_REPLY)
    assert second.code == "html_page"


def test_a_server_started_without_embeddings_is_not_asked_again(connect: Connect) -> None:
    told = {"error": {"code": 501, "message": "This server does not support embeddings."}}
    with scripted(Answer(told, 501)) as server:
        error = refusal(connect("llamacpp", server.url), ask(("x",)))
    assert (error.kind, error.code, error.should_retry) == (ErrorKind.BAD_REQUEST, NO_EMBEDDINGS, False)
    assert "does not support embeddings" in error.message


@pytest.mark.parametrize("kind", ["anthropic", "callable"])
def test_kinds_without_embeddings_say_so_and_the_registry_knows_it(connect: Connect, kind: str) -> None:
    error = refusal(connect(kind), ask(("x",)))
    assert (error.code, error.should_retry) == (NO_EMBEDDINGS, False)
    assert not registry.KINDS[kind].embeds


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("text-embedding-3-small", "openai"),
        ("gemini-embedding-001", "gemini"),
        ("nomic-embed-text", "ollama"),
        ("mock:embedding", "mock"),
    ],
)
def test_names_tell_their_kind(name: str, kind: str) -> None:
    assert registry.infer_kind(name) == kind


# ---- the practice connection


def test_practice_vectors_are_of_length_one_repeatable_and_follow_the_words() -> None:
    near, far = "The cat sat on the mat", "Quarterly revenue rose sharply"
    base = practice_vector("A cat sits on a mat")
    assert math.isclose(alike(base, base), 1.0)
    assert base == practice_vector("A cat sits on a mat")
    assert alike(base, practice_vector(near)) > 0.4 > alike(base, practice_vector(far)) + 0.2
    assert all(
        math.isclose(math.hypot(*practice_vector(text)), 1.0) for text in ("", " ", "!!", "é", "\ud800")
    )
    assert math.isclose(alike(practice_vector("Straße"), practice_vector("STRASSE")), 1.0)
    assert practice_vector("東京") != practice_vector("大阪")


def test_practice_embeddings_fail_wait_and_slow_down_as_answers_do(connect: Connect) -> None:
    def practice(**params: Any) -> Embedded:
        return embed(connect("mock"), ask(("x",), "mock:embedding", params=params))

    assert practice().usage == Usage(input=1, output=0)
    for params, kind in (({"error_status": 503}, ErrorKind.UNKNOWN), ({"rate_limit_after": 0}, "rate_limit")):
        with pytest.raises(ProviderError) as caught:
            practice(**params)
        assert caught.value.kind == kind
    stop = threading.Event()
    stop.set()
    slow = ask(("x",), "mock:embedding", params={"sleep": True, "latency_ms": 9000}, stop_event=stop)
    assert refusal(connect("mock"), slow).kind is ErrorKind.CANCELLED


def test_the_practice_model_for_embeddings_answers_nothing_and_is_not_offered(connect: Connect) -> None:
    provider = connect("mock")
    with pytest.raises(ProviderError, match="answers no questions"):
        provider.complete(question("mock:embedding"))
    assert "mock:embedding" not in [model.id for model in provider.list_models()]


# ---- real weights


@pytest.mark.local_models
@pytest.mark.skipif(missing_part("smollm2-135m") is not None, reason="the extra `local` is not installed")
def test_a_real_model_on_this_computer_finds_the_nearer_text() -> None:
    provider = registry.create(ConnectionSettings("b", "builtin"))
    try:
        texts = ("The cat sat on the mat.", "A cat is sitting on a mat.", "def f(x): return x + 1")
        found = embed(provider, ask(texts, "smollm2-135m", timeout_s=60))
    finally:
        provider.close()
    base, near, far = found.vectors
    assert alike(base, near) / math.hypot(*near) > alike(base, far) / math.hypot(*far)
    assert found.usage.input is not None
    assert not found.usage.estimated
