"""Asking single calls of a saved run again: only these, and an answer that was there goes on counting."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain import CallStatus, Cell, RunStatus
from engine.errors import UserError
from engine.execution.events import CallFinished, Planned, RunFinished
from engine.execution.resume import differences
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_judge import GOOD, WRONG, cases, service, world
from tests.execution.test_resume import _stopped_after, _world
from tests.execution.test_retry_errors import BAD, _failing
from tests.execution.worlds import World, make_project, reply


def _again(world: World, *cases: str) -> tuple[Cell, ...]:
    return tuple(Cell("open", case, 1) for case in cases)


def _done(world: World) -> str:
    """A run of eight right answers."""
    service = world.service
    assert service is not None
    service._answer = lambda request: reply(request.messages[0].content.split()[-1])
    stored = world.run()
    world.events.clear()
    service.requests.clear()
    return stored.info.run_id


def test_an_answer_goes_on_counting_and_the_new_one_is_kept_beside_it(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _done(world)
    before = world.stored()
    world.service._answer = lambda request: reply("something else")
    after = world.run(resume_from=run_id, again=_again(world, "c3"))
    assert [request.messages[0].content for request in world.service.requests] == ["say 3"]
    assert after.info.status is RunStatus.COMPLETED
    assert (after.info.completed, after.info.errors, after.info.stopped) == (8, 0, 0)
    call = next(call for call in world.calls() if call.cell.case_id == "c3")
    assert call.answer is not None
    assert call.answer.text == "3"
    assert call.score is not None
    assert call.score.passed
    with Store.open(world.store_path) as store:
        kept = store.marked_answers(run_id, call.cell)
        assert [answer for answer, _mark in kept] == store.answers(run_id, call.cell)
    assert [(answer.text, mark and mark.passed) for answer, mark in kept] == [
        ("3", True),
        ("something else", False),
    ]
    assert after.board is not None
    assert after.board["entries"] == before.board["entries"]
    (planned,) = world.of(Planned)
    assert (planned.total, planned.already_done, planned.again) == (1, 0, _again(world, "c3"))
    assert len(world.of(CallFinished)) == 1
    world.assert_each_once()


def test_what_is_asked_again_is_paid_for(tmp_path: Path, qapp) -> None:
    world = _world(
        tmp_path,
        pricing={"models": {"gpt-x": {"input_usd_per_mtok": 1000, "output_usd_per_mtok": 1000}}},
        budgets={"max_run_usd": 10},
    )
    run_id = _done(world)
    before = world.stored().info.cost_usd
    after = world.run(resume_from=run_id, again=_again(world, "c3", "c4")).info.cost_usd
    assert before is not None
    assert after is not None
    assert after == before / 8 * 10


def test_of_the_failed_ones_only_the_chosen_is_asked_and_counts(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    asked = _failing(world)
    run_id = world.stored().info.run_id
    after = world.run(resume_from=run_id, again=_again(world, "c2"))
    assert asked == [BAD[0]]
    assert (after.info.completed, after.info.errors) == (7, 1)
    assert after.info.status is RunStatus.COMPLETED
    states = {call.cell.case_id: call.status for call in world.calls()}
    assert states["c2"] is CallStatus.OK
    assert states["c5"] is CallStatus.ERROR


def test_an_unfinished_run_stays_as_it_was_but_for_what_is_asked(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 3)
    world.service.requests.clear()
    after = world.run(resume_from=run_id, again=_again(world, "c0", "c6"))
    assert sorted(request.messages[0].content for request in world.service.requests) == ["say 0", "say 6"]
    assert after.info.status is RunStatus.CANCELLED
    assert (after.info.completed, after.info.stopped) == (4, 4)
    finished = world.of(RunFinished)[-1]
    assert finished.status is RunStatus.COMPLETED
    # Nothing answered is asked again when the whole run is carried on.
    world.service.requests.clear()
    whole = world.run(resume_from=run_id)
    assert len(world.service.requests) == 4
    assert (whole.info.status, whole.info.completed) == (RunStatus.COMPLETED, 8)


def test_a_failure_leaves_the_answer_that_is_there(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _done(world)

    def refuse(request: Request):
        raise ProviderError(ErrorKind.BAD_REQUEST, "No.", status=400)

    world.service._answer = refuse
    after = world.run(resume_from=run_id, again=_again(world, "c1"))
    assert (after.info.completed, after.info.errors) == (8, 0)
    call = next(call for call in world.calls() if call.cell.case_id == "c1")
    assert (call.status, call.answer.text) == (CallStatus.OK, "1")
    # The request that failed stays in the log of its call.
    assert [attempt.error.message for attempt in call.attempt_log if attempt.error] == ["No."]


def test_changed_checks_want_the_run_marked_again_first(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _done(world)
    world.config = {**world.config, "scorers": {"default": "contains"}}
    with pytest.raises(UserError) as caught:
        world.run(resume_from=run_id, again=_again(world, "c1"))
    assert caught.value.code == "marks_differ"
    assert world.stored().info.status is RunStatus.COMPLETED
    assert world.service.requests == []


def test_a_model_that_is_gone_is_said_and_nothing_is_asked(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _done(world)
    with pytest.raises(UserError) as caught:
        world.run(resume_from=run_id, again=(Cell("other", "c1", 1),))
    assert caught.value.code == "model_skipped"
    assert world.service.requests == []


def test_only_a_change_of_what_is_asked_again_is_told(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _done(world)
    tests = [{"id": f"c{i}", "input": f"say {i}", "reference": f"{i}"} for i in range(8)]
    tests[2]["input"] = "tell 2"
    project = make_project(tmp_path / "project", world.config, tests)
    with Store.open(world.store_path) as store:
        assert differences(store, run_id, project, again=_again(world, "c1")) == ()
        (found,) = differences(store, run_id, project, again=_again(world, "c1", "c2"))
    assert (found.what, found.cases) == (("prompt",), ("c2",))


def test_a_judge_marks_the_new_answer_and_leaves_the_old_mark_alone(tmp_path: Path, qapp) -> None:
    says = [GOOD]
    fake = service(lambda request: says[0])
    made = world(tmp_path, fake, cases(2))
    first = made.run()
    (before,) = [call for call in made.calls() if call.cell.case_id == made.calls()[0].cell.case_id]
    says[0] = WRONG
    made.events.clear()
    after = made.run(resume_from=first.info.run_id, again=(before.cell,))
    assert after.info.status is RunStatus.COMPLETED
    (now,) = [call for call in made.calls() if call.cell == before.cell]
    assert (now.answer, now.score) == (before.answer, before.score)
    with Store.open(made.store_path) as store:
        kept = store.marked_answers(first.info.run_id, before.cell)
    assert [mark.score for _answer, mark in kept if mark is not None] == [1.0, 0.0]
    made.assert_each_once()
