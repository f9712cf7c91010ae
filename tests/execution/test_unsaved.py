"""Results that the store could not take: kept, saved in their place later or in another file."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus
from engine.errors import WorldError
from engine.execution.controller import RunController
from engine.execution.events import RunFinished
from engine.storage.store import Store
from tests.execution.worlds import FakeService, World, reply

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
_FULL = "CREATE TRIGGER full BEFORE INSERT ON answers BEGIN SELECT RAISE(FAIL, 'full'); END"


def _statement(world: World, statement: str) -> None:
    with Store.open(world.store_path) as store:
        store.database.connection.execute(statement)


@pytest.fixture
def failed(tmp_path: Path, qtbot) -> tuple[World, RunController]:
    """A run whose store takes nothing from the second answer on."""
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 1}}, cases=6)

    def answer(request):
        if len(world.service.requests) == 2:
            _statement(world, _FULL)
        return reply("0")

    world.service = FakeService(answer)
    controller = RunController(world.request())
    ends: list[RunFinished] = []
    controller.events.connect(lambda events: world.events.extend(events))
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    qtbot.waitUntil(lambda: bool(ends), timeout=20000)
    assert controller.wait()
    assert ends[0].status is RunStatus.ABORTED
    assert ends[0].unsaved > 0
    assert len(world.service.requests) == 2
    return world, controller


def test_saved_in_its_place_once_there_is_room_and_carried_on(failed: tuple[World, RunController]) -> None:
    """In the same program, without a restart: the run is not held by an owner that is done with it."""
    world, controller = failed
    assert not controller.save_again()  # still no room
    _statement(world, "DROP TRIGGER full")
    assert controller.save_again()
    stored = world.stored()
    assert (stored.info.status, stored.info.completed) == (RunStatus.ABORTED, 2)
    stored = world.run(resume_from=stored.info.run_id)
    assert (stored.info.status, stored.info.completed) == (RunStatus.COMPLETED, 6)
    assert len(world.service.requests) == 6


def test_saved_in_another_file_at_the_second_try(failed: tuple[World, RunController], tmp_path: Path) -> None:
    """A place where nothing can be made costs nothing: all is kept for the next one."""
    _, controller = failed
    with pytest.raises(WorldError):
        controller.rescue(failed[0].store_path / "a file is no folder.sqlite")
    other = tmp_path / "other.sqlite"
    assert controller.rescue(other) > 0
    with Store.open(other) as store:
        calls = store.calls(store.resolve("last"))
    assert [call.status for call in calls].count(CallStatus.OK) == 2


def test_a_run_that_is_saved_says_so(tmp_path: Path, qapp) -> None:
    world = World(tmp_path, {"models": [OPEN]}, service=FakeService())
    world.run()
    assert world.finished.unsaved == 0
