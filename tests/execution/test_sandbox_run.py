"""Runs whose answers are code: the sandbox is made ready beside the run, and its state is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.domain import ScoreState
from engine.execution.events import Preparing
from engine.scoring import sandbox
from engine.scoring.sandbox import SandboxState
from tests.execution.worlds import FakeService, World, models, reply

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
TESTS = [
    {
        "id": "double",
        "input": "Write double(x).",
        "checks": [{"type": "code_exec", "tests": "assert double(4) == 8"}],
    }
]


def _world(tmp_path: Path, code: str) -> World:
    fake = FakeService(lambda request: reply(f"```python\n{code}\n```"))
    return World(tmp_path, {"models": [OPEN]}, cases=TESTS, service=fake)


@pytest.mark.skipif(not sandbox.is_installed(), reason="the extra `sandbox` is not installed")
def test_code_is_marked_in_the_sandbox_and_its_preparing_is_told(tmp_path: Path, qapp) -> None:
    made = _world(tmp_path, "def double(x):\n    return 2 * x")
    made.run()
    (call,) = made.calls()
    assert call.score is not None
    assert (call.score.state, call.score.score) == (ScoreState.SCORED, 1.0)
    states = [(event.what, event.state) for event in made.of(Preparing)]
    assert states == [("sandbox", "preparing"), ("sandbox", "ready")]


def test_a_sandbox_that_is_not_installed_is_said_and_loses_no_answer(
    tmp_path: Path, qapp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "is_installed", lambda: False)
    made = _world(tmp_path, "def double(x):\n    return 2 * x")
    stored = made.run()
    assert stored.info.completed == 1
    (call,) = made.calls()
    assert call.score is not None
    assert (call.score.state, call.score.checks[0].reason_code) == (ScoreState.ERRORED, "sandbox_missing")
    (note,) = [note for note in stored.notes if note.code == "not_prepared"]
    assert note.values["state"] == SandboxState.MISSING.value
    assert "Install" in note.values["reason"]


def test_a_run_without_code_prepares_nothing(tmp_path: Path, qapp) -> None:
    config: dict[str, Any] = models("a")
    made = World(tmp_path, config, cases=2)
    made.run()
    assert made.of(Preparing) == []
