"""Carrying on: nothing answered is asked again, what changed is told, kills cost the calls in flight."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus, ScoreState
from engine.errors import UserError
from engine.execution.events import CallFinished, Planned, Started
from engine.execution.opening import open_run
from engine.execution.resume import differences
from engine.stats.leaderboard import board_from_json
from engine.storage.records import AnswerWrite, new_run_id
from engine.storage.store import Store
from providers.base import Request
from tests.execution.worlds import FakeService, World, make_project, reply

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
ROOT = Path(__file__).parents[2]


def _stopped_after(world: World, count: int) -> str:
    """Runs one at a time and cancels during call number `count`; returns the run id."""
    stop = threading.Event()
    service = world.service
    assert service is not None
    original = service._answer

    def answer(request: Request):
        if len(service.requests) == count:
            stop.set()
            # The call is held until the cancel has been told, so that nothing starts after it.
            assert cancelled.wait(20)
        return original(request)

    cancelled = threading.Event()
    service._answer = answer

    def on_events(events) -> None:
        if any(type(e).__name__ == "RunStopping" for e in events):
            cancelled.set()

    stored = world.run(on_events=on_events, stop=stop)
    service._answer = original
    world.events.clear()
    assert stored.info.status is RunStatus.CANCELLED
    assert stored.info.completed == count
    return stored.info.run_id


def _world(tmp_path: Path, **config) -> World:
    base = {"models": [OPEN], "run": {"concurrency": 1}}
    return World(tmp_path, {**base, **config}, cases=8, service=FakeService(lambda request: reply("0")))


def test_only_missing_cells_run(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 3)
    first = [r.messages[0].content for r in world.service.requests]
    stored = world.run(resume_from=run_id)
    assert stored.info.run_id == run_id
    assert stored.info.status is RunStatus.COMPLETED
    assert (stored.info.planned, stored.info.completed, stored.info.stopped) == (8, 8, 0)
    asked = [r.messages[0].content for r in world.service.requests]
    assert len(asked) == len(set(asked)) == 8
    assert asked[:3] == first
    (planned,) = world.of(Planned)
    assert (planned.total, planned.already_done) == (8, 3)
    assert len(world.of(Started)) == len(world.of(CallFinished)) == 5


def test_free_changes_do_not_count_as_differences(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 2)
    world.config = {
        **world.config,
        "run": {"concurrency": 3, "retries": 0, "timeout_s": 5},
        "metrics": {"weights": {"accuracy": 0.5, "latency": 0.5}},
    }
    stored = world.run(resume_from=run_id)
    assert stored.info.completed == 8
    assert stored.config["run"]["concurrency"] == 3


def test_a_changed_prompt_is_told_and_needs_a_choice(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 2)
    world.config = {**world.config, "defaults": {"system": "Be brief."}}
    with pytest.raises(UserError) as caught:
        world.run(resume_from=run_id)
    assert caught.value.code == "resume_differs"
    assert "open: system" in caught.value.message
    with Store.open(world.store_path) as store:
        (difference,) = differences(store, run_id, make_project(tmp_path / "project", world.config, 8))
    assert difference.what == ("system",)
    assert len(difference.cases) == 6
    assert world.stored().info.status is RunStatus.CANCELLED


def test_resume_from_new_asks_the_project_as_it_is(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 2)
    world.config = {**world.config, "defaults": {"system": "Be brief."}}
    stored = world.run(resume_from=run_id, resume_choice="new")
    assert stored.info.completed == 8
    assert [r.system for r in world.service.requests] == [None] * 2 + ["Be brief."] * 6


def test_resume_from_snapshot_asks_what_was_planned(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 2)
    world.config = {**world.config, "defaults": {"system": "Be brief."}}
    stored = world.run(resume_from=run_id, resume_choice="snapshot")
    assert stored.info.completed == 8
    assert {r.system for r in world.service.requests} == {None}


def test_the_stored_plan_rules_over_new_models_and_cases(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    run_id = _stopped_after(world, 2)
    world.config = {
        "models": [OPEN, {**OPEN, "key": "second", "model": "gpt-y"}],
        "run": {"concurrency": 1, "trials": 3},
    }
    world.cases = 12
    stored = world.run(resume_from=run_id)
    assert (stored.info.planned, stored.info.completed) == (8, 8)


def test_changed_checks_are_marked_again_without_a_call(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    world.service = FakeService(lambda request: reply("0 1 2"))
    run_id = _stopped_after(world, 3)
    assert [c.score.score for c in world.calls() if c.score] == [0.0, 0.0, 0.0]
    world.config = {**world.config, "scorers": {"default": "contains"}}
    world.run(resume_from=run_id)
    assert len(world.service.requests) == 8
    calls = [c for c in world.calls() if c.score]
    assert [c.score.score for c in calls] == [1.0] * 3 + [0.0] * 5
    assert {c.score.checks[0].type for c in calls} == {"contains"}
    board = board_from_json(world.stored().board)
    assert board.entries[0].metrics["accuracy"].raw == pytest.approx(3 / 8)


def test_a_complete_run_has_nothing_to_carry_on(tmp_path: Path, qapp) -> None:
    world = _world(tmp_path)
    stored = world.run()
    with pytest.raises(UserError) as caught:
        world.run(resume_from=stored.info.run_id)
    assert caught.value.code == "nothing_missing"


def test_a_run_cut_off_after_its_last_answer_still_gets_its_result(tmp_path: Path, qapp) -> None:
    """A crash between the last answer and the leaderboard: carrying on asks nothing and closes it."""
    world = _world(tmp_path)
    done = world.run()
    with Store.open(world.store_path) as store:
        connection = store.database.connection
        connection.execute("UPDATE runs SET status = 'interrupted', finished_at = NULL")
        connection.execute("UPDATE run_details SET board = NULL")
    before = len(world.service.requests)
    again = world.run(resume_from=done.info.run_id)
    assert len(world.service.requests) == before
    assert again.info.status is RunStatus.COMPLETED
    assert again.board == done.board


_CHILD = """
import sys, pathlib
sys.path.insert(0, {root!r})
from tests.execution.worlds import World
world = World(pathlib.Path({folder!r}), {{"models": [
    {{"key": "m", "model": "mock:oracle", "params": {{"latency_ms": 50, "sleep": True}}}}],
    "run": {{"concurrency": 3, "provider_concurrency": {{"mock": 3}}}}}}, cases=200)
def tell(events):
    for event in events:
        if type(event).__name__ == "CallFinished":
            print(event.done.cell.case_id, flush=True)
world.run(on_events=tell)
"""


def test_a_killed_run_costs_at_most_the_calls_in_flight(tmp_path: Path, qapp) -> None:
    code = _CHILD.format(root=str(ROOT), folder=str(tmp_path))
    env = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "ARENA_KEYRING": "memory"}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT) as child:
        assert child.stdout is not None
        told = [child.stdout.readline().strip() for _ in range(20)]
        child.send_signal(signal.SIGKILL)
        told += child.stdout.read().split()
    with Store.open(tmp_path / "arena.sqlite") as store:
        (run_id,) = store.mark_interrupted()
        info = store.run(run_id).info
        stored = {call.cell.case_id for call in store.calls(run_id) if call.status is CallStatus.OK}
    assert info.status is RunStatus.INTERRUPTED
    # What was told is stored; what is missing was never told.
    assert set(told) <= stored
    world = World(
        tmp_path,
        {
            "models": [{"key": "m", "model": "mock:oracle", "params": {"latency_ms": 50, "sleep": True}}],
            "run": {"concurrency": 3, "provider_concurrency": {"mock": 3}},
        },
        cases=200,
    )
    resumed_run = world.run(resume_from=run_id)
    assert (resumed_run.info.status, resumed_run.info.completed) == (RunStatus.COMPLETED, 200)
    assert {e.done.cell.case_id for e in world.of(CallFinished)}.isdisjoint(stored)
    assert len(world.of(CallFinished)) == 200 - len(stored)


def test_answers_without_a_mark_are_marked_on_resume(tmp_path: Path, qapp) -> None:
    """A crash between answer and mark: the answer is there, resuming marks it and asks nothing."""
    world = _world(tmp_path)
    done = world.run()
    answers = {c.cell: c.answer for c in world.calls(done.info.run_id)}
    opening = open_run(world.request(), new_run_id())
    opening.store.write(
        [AnswerWrite(opening.run_id, cell, answer) for cell, answer in answers.items() if answer]
    )
    opening.store.database.connection.execute(
        "UPDATE runs SET status = 'interrupted', owner_pid = NULL WHERE run_id = ?", (opening.run_id,)
    )
    opening.store.close()
    before = len(world.service.requests)
    world.events.clear()
    stored = world.run(resume_from=opening.run_id)
    assert len(world.service.requests) == before
    assert stored.info.completed == 8
    assert all(c.score and c.score.state is ScoreState.SCORED for c in world.calls(opening.run_id))
