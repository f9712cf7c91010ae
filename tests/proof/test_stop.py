"""Cancel while nothing completes: at once in the signals, and no process is left waiting for a socket."""

from __future__ import annotations

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus
from engine.execution.controller import RunController
from engine.execution.events import Event, RunFinished, RunStopping
from engine.storage.store import Store
from tests.execution.worlds import World
from tests.proof.runs import ROOT, cases, config


class Silent:
    """Takes every connection, reads what comes and never says a word."""

    def __init__(self) -> None:
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
        self.taken = threading.Semaphore(0)
        self._held: list[socket.socket] = []
        self._thread = threading.Thread(target=self._take, daemon=True)
        self._thread.start()

    def _take(self) -> None:
        while True:
            try:
                connection = self._socket.accept()[0]
            except OSError:
                return
            first = connection.recv(65536)
            if first.startswith(b"GET "):
                # The look at the models before a run; only the calls get no answer.
                body = b'{"object": "list", "data": []}'
                head = f"HTTP/1.1 200 OK\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
                connection.sendall(head.encode() + body)
                connection.close()
            else:
                self._held.append(connection)
                self.taken.release()

    def hung_up(self) -> int:
        """How many of the connections that got no answer the other side has ended."""
        ended = 0
        for connection in self._held:
            connection.settimeout(10)
            with contextlib.suppress(ConnectionError):
                while connection.recv(65536):
                    continue  # the rest of a question
            ended += 1
        return ended

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._held:
            connection.close()
        self._thread.join(5)


@pytest.fixture
def silent() -> Iterator[Silent]:
    server = Silent()
    yield server
    server.close()


def _settings(server: Silent, width: int) -> dict[str, object]:
    return config(server.url, models=("m",), width=width, run={"timeout_s": 600})


def test_cancel_is_effective_within_a_tenth_of_a_second_in_the_signals(
    tmp_path: Path, silent: Silent, qtbot
) -> None:
    """All eight calls hang in real sockets. The moment is taken when the signal is emitted."""
    told: list[tuple[float, Event]] = []
    ends: list[tuple[float, RunFinished]] = []
    world = World(tmp_path, _settings(silent, 8), cases(40))
    controller = RunController(world.request())

    def take(events: tuple[Event, ...]) -> None:
        told.extend((time.monotonic(), event) for event in events)

    controller.events.connect(take)
    controller.finished.connect(lambda finished: ends.append((time.monotonic(), finished)))
    controller.start_in_thread()
    for _ in range(8):
        assert silent.taken.acquire(timeout=30)
    delays = []
    asked = time.monotonic()
    controller.cancel()
    qtbot.waitUntil(lambda: any(isinstance(e, RunStopping) for _, e in told), timeout=10000)
    delays.append(next(at for at, e in told if isinstance(e, RunStopping)) - asked)
    assert not ends
    asked = time.monotonic()
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    delays.append(ends[0][0] - asked)
    assert controller.wait()
    assert ends[0][1].status is RunStatus.CANCELLED
    assert ends[0][1].stopped == 40
    # 0.1 s for the engine and 0.1 s for the batch, with room for a machine that is busy.
    assert delays[0] < 2.0
    assert delays[1] < 10.0
    assert silent.hung_up() == 8, "the sockets were cut, not merely forgotten"
    assert {c.status for c in world.calls()} == {CallStatus.STOPPED}


def test_the_dispatcher_stops_in_the_same_step_that_reads_the_wish(
    tmp_path: Path, silent: Silent, qtbot
) -> None:
    """Without any clock: between the wish and the event nothing else is waited for."""
    world = World(tmp_path, _settings(silent, 4), cases(20))
    controller = RunController(world.request())
    ends: list[RunFinished] = []
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    for _ in range(4):
        assert silent.taken.acquire(timeout=30)
    session = controller._session
    controller.cancel()
    qtbot.waitUntil(lambda: session.dispatcher.stopping == "cancelled", timeout=5000)
    assert session.dispatcher.counts().running == 4
    assert session.dispatcher.counts().queued == 0
    controller.cancel()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()


_CHILD = """
import json, sys, threading, time, pathlib
from tests.execution.worlds import World
folder, settings, count, way = json.loads(sys.argv[1])
stop, stop_now = threading.Event(), threading.Event()
world = World(pathlib.Path(folder), settings, count)
def listen():
    for line in sys.stdin:
        {"cancel": stop, "now": stop_now}[line.strip()].set()
threading.Thread(target=listen, daemon=True).start()
def tell(events):
    for event in events:
        print(type(event).__name__, flush=True)
world.run(on_events=tell, stop=stop, stop_now=stop_now)
print("stored", flush=True)
"""


@pytest.mark.parametrize("impolite", [False, True])
def test_the_process_can_leave_at_once_after_stop_now(tmp_path: Path, silent: Silent, impolite: bool) -> None:
    """Hanging sockets are cut; own code that ignores the stop is left behind after two seconds."""
    if impolite:
        (tmp_path / "project").mkdir()
        (tmp_path / "project" / "bot.py").write_text(
            "import time\ndef answer(prompt):\n    time.sleep(600)\n    return 'late'\n"
        )
        settings: dict[str, object] = {"models": [{"key": "bot", "run": "bot.py:answer"}]}
    else:
        settings = _settings(silent, 8)
    child_code = _CHILD.replace("count)", "count, trust=True)") if impolite else _CHILD
    work = json.dumps([str(tmp_path), settings, cases(20), "now"])
    env = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "ARENA_KEYRING": "memory"}
    command = [sys.executable, "-c", child_code, work]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT
    ) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        while child.stdout.readline().strip() != "Started":
            assert child.poll() is None
        if not impolite:
            for _ in range(8):
                assert silent.taken.acquire(timeout=30)
        child.stdin.write("now\n")
        child.stdin.flush()
        asked = time.monotonic()
        code = child.wait(60)
        took = time.monotonic() - asked
        rest = child.stdout.read()
    assert code == 0
    assert "stored" in rest
    # At most two seconds for threads that do not come back, then the way out; never the 600 s.
    assert took < 15
    with Store.open(tmp_path / "arena.sqlite") as store:
        info = store.run("last").info
        assert (info.status, info.stopped) == (RunStatus.CANCELLED, 20)


def test_after_cancel_the_process_waits_no_longer_than_the_timeout(tmp_path: Path, silent: Silent) -> None:
    """Cancelled once, what is in flight is awaited, but not beyond the time that one answer may take."""
    settings = config(silent.url, models=("m",), width=4, run={"timeout_s": 2, "retries": 5})
    work = json.dumps([str(tmp_path), settings, cases(20), "cancel"])
    env = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "ARENA_KEYRING": "memory"}
    command = [sys.executable, "-c", _CHILD, work]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT
    ) as child:
        assert child.stdin is not None
        for _ in range(4):
            assert silent.taken.acquire(timeout=60)
        asked = time.monotonic()
        child.stdin.write("cancel\n")
        child.stdin.flush()
        assert child.wait(60) == 0
        took = time.monotonic() - asked
    # Two seconds of the timeout and the way out, with room for a machine that is busy; five
    # retries of two seconds each would take longer.
    assert took < 10
    with Store.open(tmp_path / "arena.sqlite") as store:
        info = store.run("last").info
        assert (info.status, info.completed) == (RunStatus.CANCELLED, 0)
        assert info.stopped + info.errors == 20


def test_a_waiting_retry_ends_at_once(tmp_path: Path, qapp) -> None:
    """FC-127: a provider that always says "wait a minute": cancelling ends the run without it."""
    from providers.base import ErrorKind, ProviderError, Request
    from tests.execution.worlds import FakeService

    def answer(request: Request):
        raise ProviderError(ErrorKind.RATE_LIMIT, "slow down", status=429, retry_after_s=60)

    stop = threading.Event()

    def on_events(events: tuple[Event, ...]) -> None:
        if any(type(event).__name__ == "Retrying" for event in events):
            stop.set()

    service = FakeService(answer)
    model = {"key": "open", "model": "gpt-x", "provider": "openai"}
    world = World(tmp_path, {"models": [model]}, cases=5, service=service)
    began = time.monotonic()
    stored = world.run(on_events=on_events, stop=stop)
    assert time.monotonic() - began < 20
    asked = len(service.requests)
    assert stored.info.status is RunStatus.CANCELLED
    assert stored.info.stopped == 5
    assert len(service.requests) == asked <= 3
    world.assert_each_once()
