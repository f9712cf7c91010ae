"""Field cases about services and money: whole runs with real connectors against the prepared replies."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from engine.domain import CallStatus, RunStatus
from engine.execution.controller import RunController
from engine.execution.events import Event, ModelSetAside, RunFinished, Throttled
from tests.proof.keyed import KeyedWorld, MovableClock, posts
from tests.proof.runs import cases
from tests.providers.scripted import Answer, case_answers, chat_body

KEY = "test-key-0123456789"


def _connection(name: str, kind: str, url: str) -> dict[str, str]:
    return {"id": name, "kind": kind, "base_url": url, "api_key": "${env:SOME_KEY}"}


def _world(root: Path, kind: str, url: str, count: int, **run: Any) -> KeyedWorld:
    config = {
        "providers": [_connection("p", kind, url)],
        "models": [{"key": "m", "model": "alpha-small", "provider": "p"}],
        "run": {"concurrency": 1, "retry_backoff_s": 0.01, **run},
    }
    return KeyedWorld(root, config, cases(count), environ={"SOME_KEY": KEY})


def _asked(server: Any) -> int:
    return len([asked for asked in server.asked if asked.method == "POST"])


def test_fc108_no_money_left_is_not_a_rate_limit(tmp_path: Path, qapp) -> None:
    """A 429 that means "no credit" is never asked again; after the second in a row nobody is."""
    with posts(*case_answers("http_insufficient_quota.json")) as server:
        world = _world(tmp_path, "openai", server.url, 12, retries=5)
        stored = world.run()
        assert _asked(server) == 2
    assert (stored.info.errors, stored.info.stopped) == (2, 10)
    assert {call.attempts for call in world.calls() if call.status is CallStatus.ERROR} == {1}
    assert world.of(Throttled) == []
    (aside,) = world.of(ModelSetAside)
    assert aside.code == "no_credit"
    assert aside.error is not None
    assert "billing" in aside.error.message.lower() or "credit" in aside.error.message.lower()


def test_fc108_a_real_rate_limit_waits_and_answers(tmp_path: Path, qapp) -> None:
    with posts(*case_answers("http_rate_limit_then_ok.json")) as server:
        world = _world(tmp_path, "openai", server.url, 1, retries=0)
        began = time.monotonic()
        stored = world.run()
        assert _asked(server) == 2
    assert stored.info.completed == 1
    assert time.monotonic() - began >= 0.9
    (call,) = world.calls()
    assert (call.attempts, call.throttled) == (1, 1)


def test_fc109_the_wait_of_gemini_is_in_the_body(tmp_path: Path, qapp) -> None:
    with posts(*case_answers("http_gemini_429_minute.json")) as server:
        world = _world(tmp_path, "gemini", server.url, 1, retries=0)
        began = time.monotonic()
        stored = world.run()
    assert stored.info.completed == 1
    assert time.monotonic() - began >= 2.4


def test_fc109_a_day_quota_stops_its_service_and_others_go_on(tmp_path: Path, qtbot) -> None:
    ends: list[RunFinished] = []
    clock = MovableClock()
    with posts(*case_answers("http_gemini_429_day.json")) as day, posts(Answer(chat_body())) as fine:
        config = {
            "providers": [_connection("gem", "gemini", day.url), _connection("other", "openai", fine.url)],
            "models": [
                {"key": "free", "model": "gemini-9", "provider": "gem"},
                {"key": "paid", "model": "gpt-x", "provider": "other"},
            ],
            "run": {"retries": 2, "provider_concurrency": {"gem": 1, "other": 1}},
        }
        world = KeyedWorld(tmp_path, config, cases(4), environ={"SOME_KEY": KEY})
        controller = RunController(world.request(clock=clock.clock()))

        def take(events: tuple[Event, ...]) -> None:
            world.events += events

        controller.events.connect(take)
        controller.finished.connect(ends.append)
        controller.start_in_thread()

        def over() -> bool:
            clock.pass_time(1.0)  # whatever is to be waited for is over soon
            return bool(ends)

        qtbot.waitUntil(over, timeout=60000)
        assert controller.wait()
        assert _asked(day) == 2
        assert _asked(fine) == 4
    calls = {key: [c for c in world.calls() if c.cell.model_key == key] for key in ("free", "paid")}
    assert all(call.status is CallStatus.OK for call in calls["paid"])
    assert all(call.status is CallStatus.STOPPED for call in calls["free"])
    assert [event.code for event in world.of(ModelSetAside)] == ["day_quota"]


def test_fc112_three_attempts_are_three_requests(tmp_path: Path, qapp) -> None:
    """One layer owns the retries: the SDKs' own are off, and the details count what was sent."""
    for kind in ("openai", "anthropic", "gemini", "openai_compatible"):
        with posts(*case_answers("http_always_500.json")) as server:
            world = _world(tmp_path / kind, kind, server.url, 1, retries=2)
            world.root.mkdir()
            world.run()
            assert _asked(server) == 3, kind
        (call,) = world.calls()
        assert (call.status, call.attempts, len(call.attempt_log)) == (CallStatus.ERROR, 3, 3)


def test_fc115_a_proxy_of_the_environment_does_not_stand_before_this_computer(
    tmp_path: Path, qapp, monkeypatch
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    with posts(Answer(chat_body())) as server:
        world = _world(tmp_path, "openai_compatible", server.url, 2)
        assert world.run().info.completed == 2


def test_fc120_a_second_run_asks_again_and_pays_again(tmp_path: Path, qapp) -> None:
    """There is no cache of answers: no free answers, no fake speed, every repeat is a request."""
    with posts(Answer(chat_body())) as server:
        world = _world(tmp_path, "openai", server.url, 1, trials=3)
        first = world.run()
        assert _asked(server) == 3
        second = world.run()
        assert _asked(server) == 6
    assert first.info.run_id != second.info.run_id
    assert all(call.answer and call.answer.latency_ms > 0 for call in world.calls())
    assert second.info.status is RunStatus.COMPLETED


def test_a_dripping_server_ends_at_the_total_deadline(tmp_path: Path, qapp) -> None:
    """An SDK's own timeout is per read: a byte now and then outlives it. Ours is the whole answer's."""
    drip = Answer(chat_body(), mode="drip")
    with posts(drip) as server:
        world = _world(tmp_path, "openai", server.url, 1, retries=0, timeout_s=0.5)
        began = time.monotonic()
        world.run()
        assert time.monotonic() - began < 15
    (call,) = world.calls()
    assert call.status is CallStatus.ERROR
    assert call.error is not None
    assert call.error.kind == "timeout"


def test_a_cut_connection_is_asked_again_and_its_reservation_stays(tmp_path: Path, qapp) -> None:
    """Nobody knows what a cut answer cost: under a ceiling it counts as the worst case."""
    cut, whole = Answer(chat_body("x" * 4000), mode="cut"), Answer(chat_body())
    with posts(cut, whole) as server:
        world = _world(tmp_path, "openai", server.url, 1, retries=1)
        world.config["models"][0]["card"] = {"input_usd_per_mtok": 10, "output_usd_per_mtok": 10}
        world.config["budgets"] = {"max_run_usd": 5}
        stored = world.run()
        assert stored.info.completed == 1
    (call,) = world.calls()
    assert call.attempts == 2
    (row,) = stored.spend
    assert row.reserved_usd > 0
    assert any(note.code == "cost_up_to" for note in stored.notes)
