"""Sleep, a lost network, two accounts at one vendor, redirects: whole runs with real connectors."""

from __future__ import annotations

import socket
import threading
from pathlib import Path
from typing import Any

import pytest

from engine.domain import CallStatus, RunStatus
from engine.execution.controller import RunController
from engine.execution.events import CallFinished, Event, ModelSetAside, RunFinished, Throttled
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.worlds import FakeService, reply
from tests.proof.keyed import KeyedWorld, MovableClock
from tests.proof.runs import cases
from tests.providers.scripted import Answer, Asked, Scripted, chat_body, scripted
from tests.stub import start_stub


def _begin(world: KeyedWorld, **more: Any) -> tuple[RunController, list[RunFinished]]:
    ends: list[RunFinished] = []
    controller = RunController(world.request(**more))

    def take(events: tuple[Event, ...]) -> None:
        world.events += events

    controller.events.connect(take)
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    return controller, ends


def _reasons(world: KeyedWorld) -> list[tuple[str, str]]:
    return [(event.lane, event.reason) for event in world.of(Throttled)]


def test_sleep_during_a_run(tmp_path: Path, qtbot) -> None:
    """The lid is closed for an hour: cut calls cost no retry, a probe finds the network, all is answered."""
    asleep, cut = threading.Event(), threading.Event()

    def answer(request: Request):
        if not asleep.is_set():
            assert cut.wait(30)
            raise ProviderError(ErrorKind.CONNECT, "the connection was cut")
        return reply("0")

    service = FakeService(answer)
    model = {"key": "open", "model": "gpt-x", "provider": "openai"}
    config = {"models": [model], "run": {"retries": 0, "concurrency": 3}}
    time = MovableClock()
    world = KeyedWorld(tmp_path, config, 8, service, environ={"OPENAI_API_KEY": "k"})
    controller, ends = _begin(world, clock=time.clock())
    for _ in range(3):
        assert service.flying.acquire(timeout=20)
    time.sleep(3600)
    qtbot.waitUntil(lambda: ("openai", "offline") in _reasons(world), timeout=20000)
    asleep.set()
    cut.set()
    qtbot.waitUntil(lambda: service.in_flight == 0, timeout=20000)
    time.pass_time(6)  # the first probe comes after five seconds
    qtbot.waitUntil(lambda: bool(ends), timeout=30000)
    assert controller.wait()
    assert ends[0].status is RunStatus.COMPLETED
    assert (ends[0].completed, ends[0].errors) == (8, 0)
    assert _reasons(world) == [("openai", "offline"), ("openai", "online")]
    assert {call.attempts for call in world.calls()} == {1}
    world.assert_each_once()


def test_names_are_gone_on_all_lanes(tmp_path: Path, qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    """No name can be found any more: remote lanes wait without an error, the local one goes on."""
    resolve = socket.getaddrinfo
    back = threading.Event()
    lost = threading.Event()

    def look_up(host: str, port: int, *rest: Any) -> Any:
        if not str(host).endswith(".invalid"):
            return resolve(host, port, *rest)
        if not back.is_set():
            lost.set()
            raise socket.gaierror(socket.EAI_NONAME, "no such name")
        return resolve("127.0.0.1", port, socket.AF_INET, socket.SOCK_STREAM)

    with start_stub(latency_ms=5) as stub:
        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        port = stub.url.rpartition(":")[2]
        hosts = {"one": "one.invalid", "two": "two.invalid", "here": "127.0.0.1"}
        config = {
            "providers": [
                {"id": name, "kind": "openai_compatible", "base_url": f"http://{host}:{port}/v1"}
                for name, host in hosts.items()
            ],
            "models": [{"key": name, "model": f"stub-{name}", "provider": name} for name in hosts],
            "run": {"retries": 0, "concurrency": 6},
        }
        time = MovableClock()
        world = KeyedWorld(tmp_path, config, cases(6))
        controller, ends = _begin(world, clock=time.clock())
        qtbot.waitUntil(
            lambda: {("one", "offline"), ("two", "offline")} <= set(_reasons(world)), timeout=20000
        )
        # The lane of this computer is not held up by the others.
        qtbot.waitUntil(lambda: len(world.of(CallFinished)) >= 6, timeout=20000)
        assert {event.done.cell.model_key for event in world.of(CallFinished)} == {"here"}
        assert not ends
        back.set()
        time.pass_time(6)
        qtbot.waitUntil(lambda: bool(ends), timeout=30000)
        assert controller.wait()
        assert stub.stats()["by_status"] == {"200": 18}
    assert ends[0].status is RunStatus.COMPLETED
    assert (ends[0].completed, ends[0].errors, ends[0].stopped) == (18, 0, 0)
    assert {call.attempts for call in world.calls()} == {1}
    assert {("one", "online"), ("two", "online")} <= set(_reasons(world))
    world.assert_each_once()


class Accounts(Scripted):
    """A vendor that knows two keys; one of them is refused."""

    def __init__(self, refused: str) -> None:
        self.refused = refused
        super().__init__([Answer(chat_body("ANSWER 1"))])

    def next(self, asked: Asked) -> Answer:
        super().next(asked)
        if self.refused and self.refused in asked.headers.get("authorization", ""):
            return Answer({"error": {"message": "Incorrect API key", "code": "invalid_api_key"}}, 401)
        return Answer(chat_body("ANSWER 1", model=asked.body["model"]))


@pytest.mark.parametrize("refused", ["", "key-two"])
def test_two_accounts_at_one_vendor_in_one_run(tmp_path: Path, qapp, refused: str) -> None:
    """Each model is asked with the key of its own connection, in a lane of its own."""
    server = Accounts(refused)
    try:
        config = {
            "providers": [
                {
                    "id": name,
                    "kind": "openai",
                    "base_url": f"{server.url}/v1",
                    "api_key": f"${{env:ACCOUNT_{name.upper()}}}",
                }
                for name in ("one", "two")
            ],
            "models": [
                {"key": "first", "model": "gpt-x", "provider": "one"},
                {"key": "second", "model": "gpt-x", "provider": "two"},
            ],
            "run": {"provider_concurrency": {"one": 2, "two": 1}},
        }
        environ = {"ACCOUNT_ONE": "key-one", "ACCOUNT_TWO": "key-two"}
        world = KeyedWorld(tmp_path, config, cases(5), environ=environ)
        stored = world.run()
    finally:
        server.stop()
    sent = [asked.headers["authorization"] for asked in server.asked if asked.method == "POST"]
    assert set(stored.lanes) == {"one", "two"}
    by_model = {key: [c for c in world.calls() if c.cell.model_key == key] for key in ("first", "second")}
    assert all(call.status is CallStatus.OK for call in by_model["first"])
    assert sent.count("Bearer key-one") == 5
    if refused:
        # The second account's key is refused twice and left alone; the first does not notice.
        assert sent.count("Bearer key-two") == 2
        assert [event.model_keys for event in world.of(ModelSetAside)] == [("second",)]
    else:
        assert sent.count("Bearer key-two") == 5
        assert stored.info.completed == 10
    assert stored.lanes["two"]["max_in_flight"] == 1
    assert stored.lanes["one"]["max_in_flight"] <= 2


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_to_another_host_carries_no_key(tmp_path: Path, qapp, status: int) -> None:
    """All three SDKs in one run: the other host is never asked, and the call says what happened."""
    secrets = {"OPENAI_K": "key-open", "ANTHROPIC_K": "key-anth", "GEMINI_K": "key-gem"}
    with scripted(Answer(chat_body())) as target:
        elsewhere = target.url.replace("127.0.0.1", "localhost")
        with scripted(Answer({}, status, {"location": f"{elsewhere}/v1/chat/completions"})) as server:
            kinds = {"openai": "OPENAI_K", "anthropic": "ANTHROPIC_K", "gemini": "GEMINI_K"}
            config = {
                "providers": [
                    {"id": kind, "kind": kind, "base_url": server.url, "api_key": f"${{env:{name}}}"}
                    for kind, name in kinds.items()
                ],
                "models": [{"key": kind, "model": "m", "provider": kind} for kind in kinds],
            }
            world = KeyedWorld(tmp_path, config, cases(1), environ=secrets)
            world.run()
            asked = [a for a in server.asked if a.method == "POST"]
        assert target.asked == []
    assert len(asked) == 3
    calls = world.calls()
    assert [call.status for call in calls] == [CallStatus.ERROR] * 3
    for call in calls:
        assert call.attempts == 1
        assert call.error is not None
        assert call.error.status == status
        assert not any(secret in call.error.message for secret in secrets.values())
