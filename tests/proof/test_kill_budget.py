"""Under a ceiling what was asked is on the account, also after `kill -9`, so that the ceiling holds."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from decimal import Decimal
from pathlib import Path
from threading import Event

import pytest

from engine.domain import RunStatus
from engine.execution.controller import RunController
from engine.execution.events import RunFinished, Started
from engine.storage.store import Store
from providers.base import Request
from tests.execution.worlds import FakeService, World, reply
from tests.proof.runs import MODELS, config, forge, is_over
from tests.stub import start_stub

CASES, WIDTH = 30, 4
CEILING = Decimal("0.012")

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="forks")


def test_what_was_asked_is_on_the_account_after_every_kill(tmp_path: Path) -> None:
    """The reservation of a call is durable before its request leaves."""
    rng = random.Random(7)
    store, resume, kills = tmp_path / "arena.sqlite", None, 0
    with start_stub(latency_ms=8, words=40) as stub, forge(tmp_path / "home") as made:
        settings = config(stub.url, width=WIDTH, budgets={"max_run_usd": float(CEILING)})
        for entry in settings["models"]:
            entry["max_tokens"] = 90
        for _ in range(8):
            before = int(stub.stats()["total"])
            pid = made.start(tmp_path, settings, CASES, resume)
            wanted = before + rng.randint(1, 12)
            for _ in range(600):
                if int(stub.stats()["total"]) >= wanted or is_over(pid):
                    break
                Event().wait(0.002)
            Event().wait(rng.uniform(0, 0.01))
            code = made.kill(pid)
            assert code in (0, -signal.SIGKILL)
            kills += code != 0
            asked = int(stub.stats()["total"])
            with Store.open(store) as opened:
                opened.mark_interrupted()
                stored = opened.run("last")
                resume = stored.info.run_id
                booked = sum(row.calls for row in stored.spend)
                spent = sum((row.spent_usd + row.reserved_usd for row in stored.spend), Decimal(0))
            assert booked >= asked, "a request left before its reservation was safe"
            assert spent <= CEILING
            if code == 0:
                break
        if code != 0:
            made.start(tmp_path, settings, CASES, resume)
            assert made.wait() in (0, 1)
        asked = int(stub.stats()["total"])
    assert kills >= 3
    with Store.open(store) as opened:
        stored = opened.run("last")
        assert stored.info.status in (RunStatus.STOPPED_BUDGET, RunStatus.COMPLETED)
        spent = sum((row.spent_usd + row.reserved_usd for row in stored.spend), Decimal(0))
        assert spent <= CEILING
        assert sum(row.calls for row in stored.spend) >= asked
        assert opened.check() == ()
    # What the service can have billed: at most the worst case of every request.
    assert asked * Decimal("0.00025") <= 4 * CEILING
    assert asked < len(MODELS) * CASES


class _Lock:
    """Another program that holds the write lock of the store."""

    def __init__(self, path: Path) -> None:
        code = (
            "import sqlite3, sys\n"
            "c = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
            "c.execute('BEGIN IMMEDIATE')\n"
            "print('held', flush=True)\n"
            "sys.stdin.readline()\n"
            "c.execute('ROLLBACK')\n"
        )
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        assert self._process.stdout.readline().strip() == "held"

    def let_go(self) -> None:
        self._process.communicate("\n", timeout=20)


@pytest.mark.parametrize("cancelled", [False, True])
def test_no_request_leaves_before_its_reservation_is_durable(tmp_path: Path, qtbot, cancelled: bool) -> None:
    """While the store cannot be written, nothing is asked; cancelled meanwhile, it never is."""
    first = Event()

    def answer(request: Request):
        assert first.wait(30)
        return reply("0")

    service = FakeService(answer)
    card = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 1}
    model = {"key": "open", "model": "gpt-x", "provider": "openai", "card": card, "max_tokens": 10}
    config = {"models": [model], "run": {"concurrency": 1}, "budgets": {"max_run_usd": 1}}
    world = World(tmp_path, config, 3, service)
    ends: list[RunFinished] = []
    controller = RunController(world.request())

    def take(events: tuple[object, ...]) -> None:
        world.events += events  # type: ignore[arg-type]

    controller.events.connect(take)
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    assert service.flying.acquire(timeout=20)
    lock = _Lock(world.store_path)
    first.set()
    session = controller._session
    # The first answer waits for its commit with its slot; nothing else is asked for.
    qtbot.waitUntil(lambda: service.in_flight == 0, timeout=10000)
    if cancelled:
        controller.cancel()
        qtbot.waitUntil(lambda: session.dispatcher.stopping == "cancelled", timeout=10000)
    assert len(service.requests) == 1
    lock.let_go()
    qtbot.waitUntil(lambda: bool(ends), timeout=30000)
    assert controller.wait()
    stored = world.stored()
    if cancelled:
        assert len(service.requests) == 1
        assert (stored.info.completed, stored.info.stopped) == (1, 2)
    else:
        assert stored.info.completed == 3
    world.assert_each_once()


def test_what_was_admitted_but_never_asked_costs_nothing(tmp_path: Path, qtbot) -> None:
    """Admitted while the store is locked, then cancelled: its reservation is given back."""
    service = FakeService(lambda request: reply("0"))
    card = {"input_usd_per_mtok": 1, "output_usd_per_mtok": 1}
    model = {"key": "open", "model": "gpt-x", "provider": "openai", "card": card, "max_tokens": 10}
    config = {"models": [model], "run": {"concurrency": 2}, "budgets": {"max_run_usd": 1}}
    world = World(tmp_path, config, 4, service)
    ends: list[RunFinished] = []
    controller = RunController(world.request())
    controller.events.connect(lambda events: world.events.extend(events))
    controller.finished.connect(ends.append)
    locks: list[_Lock] = []
    # The lock is taken between the entry of the run and its first reservation.
    session = controller._session
    opened = session.open
    session.open = lambda: (opened(), locks.append(_Lock(world.store_path)))[0]  # type: ignore[method-assign]
    controller.start_in_thread()
    qtbot.waitUntil(lambda: bool(locks) and len(session.dispatcher.in_flight()) == 2, timeout=20000)
    assert service.requests == []
    assert world.of(Started) == []
    controller.cancel()
    qtbot.waitUntil(lambda: session.dispatcher.stopping == "cancelled", timeout=10000)
    locks[0].let_go()
    qtbot.waitUntil(lambda: bool(ends), timeout=30000)
    assert controller.wait()
    assert service.requests == []
    stored = world.stored()
    assert (stored.info.completed, stored.info.stopped) == (0, 4)
    assert sum((row.spent_usd + row.reserved_usd for row in stored.spend), Decimal(0)) == 0
    assert {call.attempts for call in world.calls()} == {0}
    world.assert_each_once()
