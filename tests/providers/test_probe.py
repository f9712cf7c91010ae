"""What is known before anything is spent, and what the settings page asks."""

from __future__ import annotations

import importlib.util
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from providers import checkup, registry
from providers.base import ConnectionSettings, ErrorKind, ModelInfo, ProviderError
from providers.checkup import ModelLists, check, discover
from providers.probe import probe
from tests.providers.conftest import KEY
from tests.providers.scripted import Answer, chat_body, scripted
from tests.stub import StubServer

LISTING = {"data": [{"id": "llama3:latest"}, {"id": "/models/qwen2.5-q4.gguf"}, {"id": "phi"}]}


def settings(kind: str, url: str | None = None, **more: object) -> ConnectionSettings:
    return ConnectionSettings("c", kind, base_url=url, **{"api_key": KEY, **more})  # type: ignore[arg-type]


def test_what_a_local_server_serves_decides() -> None:
    with scripted(Answer(LISTING)) as server:
        asked = ("llama3", "ollama/phi", "qwen2.5-q4", "mistral")
        found = registry.preflight(settings("ollama", server.url, headers={"X-Team": "a"}), asked, 5)
        assert [a.path for a in server.asked] == ["/v1/models"]
        assert server.asked[0].headers["x-team"] == "a"
        assert server.asked[0].headers["authorization"] == f"Bearer {KEY}"
    assert [found[m] for m in asked[:3]] == [None, None, None]
    skip = found["mistral"]
    assert skip is not None
    code, reason, fix = skip
    assert code == "not_served"
    assert "llama3:latest" in reason
    assert fix == "Download it with: ollama pull mistral"


def test_for_other_kinds_a_model_that_is_not_listed_is_a_warning() -> None:
    with scripted(Answer(LISTING)) as server:
        found = probe(settings("openai_compatible", server.url), ("phi", "mistral"), 5)
    assert dict(found.skips) == {"phi": None, "mistral": None}
    assert list(found.warnings) == ["mistral"]
    assert found.served == ("llama3:latest", "/models/qwen2.5-q4.gguf", "phi")


def test_many_served_models_are_named_in_part() -> None:
    with scripted(Answer({"data": [{"id": f"m{n}"} for n in range(30)]})) as server:
        skip = registry.preflight(settings("lmstudio", server.url), ("x",), 5)["x"]
    assert skip is not None
    assert "m5 and more" in skip[1]
    assert "m6" not in skip[1]


def test_a_server_that_is_not_there_is_said_with_its_fix() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        skip = registry.preflight(settings("ollama", url), ("x",), 5)["x"]
    assert skip is not None
    assert (skip[0], skip[2]) == ("not_reachable", "Start Ollama, or run: ollama serve")


@pytest.mark.parametrize(
    "answer", [Answer({}, 500), Answer("no json"), Answer({"data": []}), Answer({}, 401)]
)
def test_a_server_that_lists_nothing_usable_is_taken_as_fine(answer: Answer) -> None:
    with scripted(answer) as server:
        assert registry.preflight(settings("ollama", server.url), ("x",), 5) == {"x": None}


def test_a_server_that_hangs_is_given_up_on_in_time() -> None:
    with scripted(Answer(mode="hang")) as server:
        skip = registry.preflight(settings("ollama", server.url), ("x",), 0.3)["x"]
    assert skip is not None
    assert skip[0] == "not_reachable"


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini", "groq", "mock", "callable"])
def test_services_elsewhere_are_not_asked(kind: str) -> None:
    assert registry.preflight(settings(kind), ("x", "y"), 5) == {"x": None, "y": None}


@pytest.mark.parametrize(
    ("given", "code", "words"),
    [
        (settings("litellm"), "not_built", "not built into this program"),
        (settings("acme"), "not_built", "unknown kind"),
        (settings("openai_compatible", "htp://x"), "not_built", "cannot be used"),
    ],
)
def test_what_cannot_be_built_skips_its_models(given: ConnectionSettings, code: str, words: str) -> None:
    skip = registry.preflight(given, ("x",), 5)["x"]
    assert skip is not None
    assert skip[0] == code
    assert words in skip[1]


@pytest.mark.parametrize("kind", ["openai", "anthropic", "gemini", "ollama"])
def test_a_missing_sdk_is_found_before_the_run(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    skip = registry.preflight(settings(kind), ("x",), 5)["x"]
    assert skip is not None
    assert skip[0] == "extra_missing"
    assert "pip install" in skip[1]


def test_builtin_models_that_are_unknown_or_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    found = registry.preflight(settings("builtin"), ("smollm2-135m", "llama-70b"), 5)
    missing, unknown = found["smollm2-135m"], found["llama-70b"]
    assert missing is not None
    assert unknown is not None
    assert (missing[0], unknown[0]) == ("extra_missing", "not_served")
    assert "start.py" in missing[2]
    assert "smollm2-135m" in unknown[2]


def test_check_lists_and_asks_for_one_token(stub: StubServer) -> None:
    found = check(settings("openai", stub.url + "/v1"), "stub-small")
    assert found.ok
    assert found.base_url is None
    assert found.models[0].id == "stub-small"
    assert "6 models" in found.sentence


def test_check_finds_the_address_that_works() -> None:
    with scripted(Answer("404 page not found", 404), Answer(LISTING)) as server:
        found = check(settings("openai_compatible", f"{server.url}/api/"))
        assert [a.path for a in server.asked] == ["/api/models", "/api/v1/models"]
    assert (found.ok, found.base_url) == (True, f"{server.url}/api/v1")
    assert found.base_url in found.sentence


def test_check_of_a_service_without_a_list_asks_the_model() -> None:
    with scripted(Answer("no list", 404), Answer(chat_body())) as server:
        found = check(settings("openai_compatible", f"{server.url}/v1"), "alpha-small")
        assert server.asked[1].body["max_tokens"] == 1
    assert (found.ok, found.models) == (True, ())


def test_check_says_what_is_wrong_without_the_key() -> None:
    with scripted(Answer({"error": {"message": f"bad key {KEY}"}}, 401)) as server:
        found = check(settings("openai_compatible", server.url))
        assert len(server.asked) == 1
    assert not found.ok
    assert found.error is not None
    assert found.error.kind is ErrorKind.AUTH
    assert KEY not in found.sentence


def test_servers_on_their_usual_ports_are_discovered(monkeypatch: pytest.MonkeyPatch) -> None:
    with scripted(Answer(LISTING)) as here, scripted(Answer({}, 500)) as broken:
        ports = [int(server.url.rpartition(":")[2]) for server in (here, broken)]
        monkeypatch.setattr(checkup, "_USUAL_PORTS", (("ollama", ports[0]), ("lmstudio", ports[1])))
        found = discover(2.0)
    assert [(s.kind, s.base_url) for s in found] == [("ollama", f"http://127.0.0.1:{ports[0]}/v1")]


def test_lists_are_kept_for_a_day(tmp_path: Path) -> None:
    now = [datetime(2026, 12, 1, tzinfo=UTC)]
    clock: Callable[[], datetime] = lambda: now[0]  # noqa: E731
    file = tmp_path / "caches" / "models.json"
    with scripted(Answer(LISTING)) as server:
        given = settings("openai_compatible", server.url)
        first = ModelLists(file, clock).get(given)
        now[0] += timedelta(hours=23)
        kept = ModelLists(file, clock).get(given)
        assert len(server.asked) == 1
        refreshed = ModelLists(file, clock).get(given, refresh=True)
        assert len(server.asked) == 2
        now[0] += timedelta(hours=25)
        ModelLists(file, clock).get(given)
        assert len(server.asked) == 3
    assert kept == first
    assert kept.asked_at == datetime(2026, 12, 1, tzinfo=UTC)
    assert refreshed.asked_at == datetime(2026, 12, 1, 23, tzinfo=UTC)
    assert kept.models[2] == ModelInfo("phi")
    assert KEY not in file.read_text()


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"x": 1}', '{"openai_compatible http://127.0.0.1:9": {"asked_at": "x"}}']
)
def test_a_damaged_cache_is_an_empty_one(tmp_path: Path, text: str) -> None:
    file = tmp_path / "models.json"
    file.write_text(text)
    with pytest.raises(ProviderError) as caught:
        ModelLists(file).get(settings("openai_compatible", "http://127.0.0.1:9"))
    assert caught.value.kind is ErrorKind.CONNECT
