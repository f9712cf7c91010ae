"""Whole runs with a judge: real threads, a real store, and judges that behave well or badly."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.domain import CallStatus, RunStatus, ScoreState
from engine.execution.events import CallFinished, Started
from engine.execution.jobs import JUDGE_LANE
from providers.base import Request
from tests.execution.worlds import FakeService, World, reply

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
ANTH = {"key": "anth", "model": "claude-x", "provider": "anthropic"}
JUDGE = {"model": "judge-x", "provider": "openai"}
GOOD = '{"pass": true, "score": 1, "reason": "Right."}'
WRONG = '{"pass": false, "score": 0, "reason": "Wrong."}'


def cases(count: int, **check: Any) -> list[dict[str, Any]]:
    return [
        {"id": f"c{i}", "input": f"say {i}", "reference": f"{i}", "checks": [{"type": "llm_judge", **check}]}
        for i in range(count)
    ]


def service(judge: Callable[[Request], Any], model: Callable[[Request], Any] | None = None) -> FakeService:
    def answer(request: Request):
        if request.model == "judge-x":
            said = judge(request)
            return reply(said) if isinstance(said, str) else said
        said = model(request) if model else request.messages[0].content.split()[-1]
        return reply(said) if isinstance(said, str) else said

    return FakeService(answer)


def shown(request: Request) -> str:
    """The answer that the judge is shown."""
    found = re.search(r"<<<BEGIN ANSWER \w+>>>\n(.*?)\n<<<END ANSWER", request.messages[0].content, re.DOTALL)
    assert found is not None
    return found[1]


def asked(fake: FakeService, model: str = "judge-x") -> list[Request]:
    return [request for request in fake.requests if request.model == model]


def world(tmp_path: Path, fake: FakeService, count: int = 4, **more: Any) -> World:
    check = more.pop("check", {})
    config = {"models": [OPEN], "judge": JUDGE, **more}
    return World(tmp_path, config, cases=cases(count, **check), service=fake)


def test_a_judge_marks_every_answer_after_it_was_stored(tmp_path: Path, qapp) -> None:
    fake = service(lambda request: GOOD if shown(request) != "2" else WRONG)
    made = world(tmp_path, fake)
    stored = made.run()
    assert stored.info.status is RunStatus.COMPLETED
    marks = {call.cell.case_id: call.score for call in made.calls()}
    assert [marks[f"c{i}"].score for i in range(4)] == [1.0, 1.0, 0.0, 1.0]
    assert marks["c2"].checks[0].reason_code == "judge_failed_it"
    assert len(asked(fake)) == len(asked(fake, "gpt-x")) == 4
    assert len(made.of(Started)) == len(made.of(CallFinished)) == 4
    made.assert_each_once()
    assert JUDGE_LANE in stored.lanes
