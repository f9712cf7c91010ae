"""Asking again what failed for good: only that, under the same run, and what comes now counts."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus
from engine.errors import UserError
from engine.execution.events import CallFinished, Earlier, Planned
from engine.execution.resume import differences
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_resume import OPEN, _world
from tests.execution.worlds import World, make_project, reply

BAD = ("say 2", "say 5")


def _failing(world: World) -> list[str]:
    """Two of eight questions are refused for good; the returned list says which were asked later."""
    service = world.service
    assert service is not None
    refusing, asked = list(BAD), []

    def answer(request: Request):
        text = request.messages[0].content
        asked.append(text)
        if text in refusing:
            raise ProviderError(ErrorKind.BAD_REQUEST, "No.", status=400)
        return reply(text.split()[-1])

    service._answer = answer
    stored = world.run()
    assert (stored.info.completed, stored.info.errors) == (6, 2)
    assert stored.info.status is RunStatus.COMPLETED
    refusing.clear()
    asked.clear()
    world.events.clear()
    return asked


def test_only_what_failed_is_asked_again_and_counts(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    asked = _failing(world)
    before = world.stored()
    after = world.run(resume_from=before.info.run_id, retry_errors=True)
    assert sorted(asked) == sorted(BAD)
    assert after.info.run_id == before.info.run_id
    assert (after.info.completed, after.info.errors, after.info.planned) == (8, 0, 8)
    assert {call.status for call in world.calls()} == {CallStatus.OK}
    assert all(call.score is not None and call.score.passed for call in world.calls())
    # The failed requests stay in the log of their call.
    assert [len(c.attempt_log) for c in world.calls() if c.cell.case_id in ("c2", "c5")] == [2, 2]
    (planned,) = world.of(Planned)
    assert (planned.total, planned.already_done) == (8, 6)
    assert planned.earlier == {"open": Earlier(done=6, failed=0, scored=6, passed=6)}
    assert len(world.of(CallFinished)) == 2


def test_what_fails_again_is_a_failure_again(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    _failing(world)

    def refuse(request: Request):
        raise ProviderError(ErrorKind.BAD_REQUEST, "Still no.", status=400)

    world.service._answer = refuse
    after = world.run(resume_from="last", retry_errors=True)
    assert (after.info.completed, after.info.errors) == (6, 2)
    assert [c.error.message for c in world.calls() if c.error] == ["Still no."] * 2


def test_without_the_wish_a_failure_is_final(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    _failing(world)
    with pytest.raises(UserError) as caught:
        world.run(resume_from=world.stored().info.run_id)
    assert caught.value.code == "nothing_missing"


def test_nothing_failed_means_nothing_to_ask(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    done = world.run()
    with pytest.raises(UserError) as caught:
        world.run(resume_from=done.info.run_id, retry_errors=True)
    assert caught.value.code == "nothing_missing"


def test_a_changed_project_is_told_for_the_failed_ones_too(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    _failing(world)
    run_id = world.stored().info.run_id
    world.config = {**world.config, "models": [OPEN], "defaults": {"system": "Be brief."}}
    project = make_project(tmp_path / "project", world.config, 8)
    with Store.open(world.store_path) as store:
        assert differences(store, run_id, project) == ()
        (found,) = differences(store, run_id, project, retry_errors=True)
    assert (found.what, found.cases) == (("system",), ("c2", "c5"))
    with pytest.raises(UserError) as caught:
        world.run(resume_from=run_id, retry_errors=True)
    assert caught.value.code == "resume_differs"
    world.run(resume_from=run_id, resume_choice="new", retry_errors=True)
    assert [request.system for request in world.service.requests] == [None] * 8 + ["Be brief."] * 2
