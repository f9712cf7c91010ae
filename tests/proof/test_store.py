"""What can happen to the history file while a run goes on."""

from __future__ import annotations

import platform
import shutil
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus
from engine.execution.controller import RunController
from engine.execution.events import CallFinished, Event, RunFinished
from engine.storage.owner import start_mark
from engine.storage.records import Owner
from engine.storage.store import Store
from providers.base import Request
from tests.execution.worlds import FakeService, World, reply
from tests.proof.runs import config, forge
from tests.storage import samples
from tests.stub import start_stub
from tests.views.run_world import close_context, make_context

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_two_programs_carry_out_their_runs_in_one_store(tmp_path: Path) -> None:
    """Both write at the same time; neither waits for the other, neither loses anything."""
    with start_stub(latency_ms=10) as stub, forge(tmp_path / "h1") as one, forge(tmp_path / "h2") as two:
        settings = config(stub.url, width=4, run={"trials": 2})
        for made in (one, two):
            made.start(tmp_path, settings, 20)
        assert [one.wait(), two.wait()] == [0, 0]
        assert stub.stats()["by_status"] == {"200": 160}
    with Store.open(tmp_path / "arena.sqlite") as store:
        runs = store.runs()
        assert sorted(info.number for info in runs) == [1, 2]
        for info in runs:
            assert (info.status, info.completed, info.errors) == (RunStatus.COMPLETED, 80, 0)
            assert len({call.cell for call in store.calls(info.run_id)}) == 80
            assert store.run(info.run_id).board is not None
        assert store.check() == ()


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_the_program_that_starts_second_leaves_the_run_of_the_first_alone(tmp_path: Path) -> None:
    with start_stub(latency_ms=100) as stub, forge(tmp_path / "home") as made:
        made.start(tmp_path, config(stub.url, width=2), 8)
        while stub.stats()["total"] < 3:
            threading.Event().wait(0.02)
        with Store.open(tmp_path / "arena.sqlite") as store:
            assert store.mark_interrupted() == []
            (info,) = store.runs()
            assert info.status is RunStatus.RUNNING
        assert made.wait() == 0
    with Store.open(tmp_path / "arena.sqlite") as store:
        assert store.run("last").info.completed == 16


class _Stepwise:
    """A service whose later calls wait until the disaster has happened."""

    def __init__(self, free: int) -> None:
        self.happened = threading.Event()
        self._free = free
        self.service = FakeService(self._answer)

    def _answer(self, request: Request):
        if len(self.service.requests) > self._free:
            assert self.happened.wait(30)
        return reply("0")


def _begin(world: World) -> tuple[RunController, list[RunFinished]]:
    ends: list[RunFinished] = []
    controller = RunController(world.request())

    def take(events: tuple[Event, ...]) -> None:
        world.events += events

    controller.events.connect(take)
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    return controller, ends


def _answered(path: Path) -> int:
    with Store.open(path) as store:
        return len([c for c in store.calls(store.resolve("last")) if c.status is CallStatus.OK])


@pytest.mark.skipif(sys.platform == "win32", reason="an open file cannot be deleted there")
@pytest.mark.parametrize("replaced", [False, True])
def test_the_folder_of_the_store_is_deleted_during_a_run(tmp_path: Path, qtbot, replaced: bool) -> None:
    """SQLite would write on into the deleted file: instead the run stops, and all is saved elsewhere."""
    steps = _Stepwise(free=4)
    world = World(tmp_path / "gone", {"models": [OPEN], "run": {"concurrency": 2}}, 12, steps.service)
    world.root.mkdir()
    controller, ends = _begin(world)
    qtbot.waitUntil(lambda: len(world.of(CallFinished)) == 4, timeout=20000)
    shutil.rmtree(world.root)
    if replaced:
        world.root.mkdir()
        Store.open(world.store_path).close()
    steps.happened.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=30000)
    assert controller.wait()
    (finished,) = ends
    assert finished.status is RunStatus.ABORTED
    assert finished.error is not None
    assert "deleted or replaced" in finished.error
    told = [e.done.cell for e in world.of(CallFinished) if e.done.status is CallStatus.OK]
    target = tmp_path / "rescued.sqlite"
    assert controller.rescue(target) > 0
    asked = len(world.service.requests) if world.service else 0
    assert asked < 12
    assert _answered(target) == asked
    with Store.open(target) as store:
        stored = {c.cell for c in store.calls(store.resolve("last")) if c.status is CallStatus.OK}
        assert set(told) <= stored
        assert store.run("last").info.status is RunStatus.ABORTED
        assert store.check() == ()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    if sys.platform != "linux":
        pytest.skip("needs a file system of its own")
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("this system does not let us mount a small file system")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def test_the_disk_fills_up_during_a_run(small_disk: Path, tmp_path: Path, qtbot) -> None:
    """The run stops with a sentence; what was saved stays whole, the rest is saved on another disk."""
    steps = _Stepwise(free=3)
    world = World(small_disk, {"models": [OPEN], "run": {"concurrency": 2}}, 30, steps.service)
    world.service = FakeService(lambda request: _long(steps._answer(request)))
    steps.service = world.service
    controller, ends = _begin(world)
    qtbot.waitUntil(lambda: len(world.of(CallFinished)) >= 3, timeout=20000)
    left = shutil.disk_usage(small_disk).free
    with (small_disk / "film.bin").open("wb") as film:
        film.write(b"x" * max(0, left - 16_384))
    steps.happened.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=30000)
    assert controller.wait()
    assert ends[0].status is RunStatus.ABORTED
    assert ends[0].error is not None
    assert "disk is full" in ends[0].error
    target = tmp_path / "other" / "rescued.sqlite"
    assert controller.rescue(target) > 0
    assert _answered(target) == len(world.service.requests)
    connection = sqlite3.connect(f"file:{world.store_path}?mode=ro", uri=True)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


def _long(answer):
    return replace(answer, text="a long answer " * 2000)


def test_another_program_holds_the_lock_and_no_result_is_lost(tmp_path: Path, qtbot) -> None:
    """FC-132: a write lock held from outside during a run delays it and costs nothing."""
    steps = _Stepwise(free=2)
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 2}}, 6, steps.service)
    controller, ends = _begin(world)
    qtbot.waitUntil(lambda: len(world.of(CallFinished)) == 2, timeout=20000)
    code = (
        "import sqlite3, sys\n"
        "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "c.execute('BEGIN IMMEDIATE')\n"
        "print('held', flush=True)\n"
        "sys.stdin.readline()\n"
        "c.execute('ROLLBACK')\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code, str(world.store_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as holder:
        assert holder.stdin is not None
        assert holder.stdout is not None
        assert holder.stdout.readline().strip() == "held"
        steps.happened.set()
        # Both calls in flight are answered; nothing more starts, because neither is durable.
        qtbot.waitUntil(lambda: len(steps.service.requests) == 4 and not steps.service.in_flight)
        assert not ends
        assert len(world.of(CallFinished)) == 2
        holder.stdin.write("\n")
        holder.stdin.flush()
        holder.wait(10)
    qtbot.waitUntil(lambda: bool(ends), timeout=30000)
    assert controller.wait()
    assert ends[0].status is RunStatus.COMPLETED
    assert ends[0].completed == 6
    world.assert_each_once()


def test_a_run_whose_program_died_meanwhile_is_interrupted_when_runs_are_listed(
    tmp_path: Path, qtbot
) -> None:
    """The window is open all the time; the other program is killed behind its back."""
    context = make_context(tmp_path / "home")
    with qtbot.waitSignal(context.results.listed, timeout=20000):
        context.results.list_runs(None)
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        owner = Owner(other.pid, start_mark(other.pid) or "", platform.node())
        with Store.open(context.results.path) as store:
            store.create_run(replace(samples.head(), owner=owner))
        with qtbot.waitSignal(context.results.listed, timeout=20000) as listed:
            context.results.list_runs(None)
        assert [run.status for run in listed.args[0]] == [RunStatus.RUNNING]
        other.kill()
    with qtbot.waitSignal(context.results.listed, timeout=20000) as listed:
        context.results.list_runs(None)
    assert [run.status for run in listed.args[0]] == [RunStatus.INTERRUPTED]
    close_context(context)
