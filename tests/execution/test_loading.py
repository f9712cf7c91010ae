"""A local model that is loaded while it answers: the loading is allowed for and is not its speed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from engine.domain import ScoreState
from tests.execution.worlds import FakeService, World, reply

LOCAL = {"key": "here", "model": "llama3", "provider": "ollama"}
SERVER = {"id": "ollama", "kind": "ollama", "base_url": "http://127.0.0.1:9/v1"}


TIMES = ("latency_p50_ms", "latency_p95_ms", "latency_max_ms")


class _Loads:
    """The first answer takes a minute, for the model is loaded meanwhile; all others take 20 ms."""

    def __init__(self, *, told: bool) -> None:
        self.told = told
        self.timeouts: list[float] = []

    def __call__(self, request):
        self.timeouts.append(request.timeout_s)
        if len(self.timeouts) > 1:
            return replace(reply("0"), latency_ms=20.0, first_token_ms=5.0)
        notes = (("loading_included", {}),) if self.told else ()
        return replace(reply("0"), latency_ms=60_000.0, first_token_ms=59_000.0, notes=notes)


def _run(tmp_path: Path, service: _Loads, cases: list[dict[str, object]]) -> World:
    config = {"models": [LOCAL], "connections": [SERVER], "run": {"timeout_s": 30}}
    world = World(tmp_path, config, cases, FakeService(service), probe=False)
    world.run()
    return world


def _cases(check: dict[str, object]) -> list[dict[str, object]]:
    return [{"id": f"c{n}", "input": "q", "checks": [check]} for n in range(4)]


def test_loading_is_not_counted_as_latency(tmp_path: Path, qapp) -> None:
    service = _Loads(told=True)
    world = _run(tmp_path, service, _cases({"type": "length", "max_chars": 5}))
    (entry,) = world.stored().board["entries"]
    assert {entry[name] for name in TIMES} == {20.0}
    assert entry["first_token_p50_ms"] == 5.0
    # What was measured stays with the answer, and the answer counts in everything else.
    assert world.calls()[0].answer.latency_ms == 60_000.0
    assert entry["coverage"] == 1.0


def test_an_answer_that_only_took_long_is_counted(tmp_path: Path, qapp) -> None:
    world = _run(tmp_path, _Loads(told=False), _cases({"type": "length", "max_chars": 5}))
    (entry,) = world.stored().board["entries"]
    assert entry["latency_max_ms"] == 60_000.0


def test_a_limit_of_time_cannot_decide_over_loading(tmp_path: Path, qapp) -> None:
    world = _run(tmp_path, _Loads(told=True), _cases({"type": "latency", "max_ms": 1000}))
    first, *others = [call.score for call in world.calls()]
    assert first.state is ScoreState.ERRORED
    assert first.checks[0].reason_code == "latency_unknown"
    assert {score.passed for score in others} == {True}


def test_the_first_call_alone_has_two_minutes_more(tmp_path: Path, qapp) -> None:
    service = _Loads(told=True)
    _run(tmp_path, service, _cases({"type": "length", "max_chars": 5}))
    assert service.timeouts == [150.0, 30.0, 30.0, 30.0]
