"""Field cases about Qt, threads and stopping, each named after its number."""

from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path

import shiboken6
from PySide6.QtCore import QObject, QSettings, Slot

from arena_desktop.app import create
from arena_desktop.background import Background
from arena_desktop.context import AppContext
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.settings import Settings
from arena_desktop.store_repair import StoreRepair
from arena_desktop.widgets.strip import Message
from engine.domain import CallStatus, Cell, RunStatus
from engine.execution.controller import RunController, ThreadPoolExecutor
from engine.execution.events import CallFinished, Event, Planned, RunFinished
from engine.execution.jobs import Job, JobKind, Tally
from engine.execution.messages import Ticket
from engine.keystore import KeyStore
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.worlds import FakeService, World, models, reply
from tests.proof.runs import ROOT

CASES = Path(__file__).parents[1] / "data" / "cases"
OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}


def test_fc122_a_thousand_tiny_tasks_twenty_times_with_garbage_collection() -> None:
    """No runnable owns a signal, so none is destroyed on a thread of the pool."""
    lock, done = threading.Lock(), [0]
    ticket = Ticket(Job(1, JobKind.CALL, 0, Cell("m", "c", 1), "a", "m", 1, 0), Tally())

    def work(_ticket: Ticket) -> None:
        with lock:
            done[0] += 1

    for _ in range(20):
        executor = ThreadPoolExecutor(work, 4)
        for number in range(1000):
            executor.start(ticket)
            if number % 250 == 0:
                gc.collect()
        assert executor.close(30)
        del executor
        gc.collect()
    assert done[0] == 20_000


class _View(QObject):
    """Stands for a page that follows a run."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[Event] = []

    @Slot(object)
    def take(self, events: tuple[Event, ...]) -> None:
        self.seen += events


def test_fc123_results_that_come_after_the_view_is_gone_go_to_the_store(tmp_path: Path, qtbot) -> None:
    held = threading.Event()

    def answer(request: Request):
        assert held.wait(30)
        return reply("0")

    service = FakeService(answer)
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 2}}, 6, service)
    controller = RunController(world.request())
    view, ends = _View(), []
    controller.events.connect(view.take)
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    assert service.flying.acquire(timeout=20)
    qtbot.waitUntil(lambda: bool(view.seen), timeout=10000)
    shiboken6.delete(view)
    held.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=20000)
    assert controller.wait()
    assert world.stored().info.completed == 6


_WINDOW = """
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from arena_desktop.app import create
app, window = create([], Path(sys.argv[1]))
window.show()
context = window.context
window.open_project(Path(sys.argv[2]))
def begin(*_):
    if context.projects.preflight is not None and not context.runs.running:
        context.runs.start()
context.projects.examined.connect(begin)
def leave(events):
    if any(type(e).__name__ == "Started" for e in events):
        print("leaving", flush=True)
        context.runs.batch.disconnect(leave)
        window.close()
        from arena_desktop.dialogs.run_questions import Choice
        window._run_bar._on_close_chosen(Choice.STOP)
context.runs.batch.connect(leave)
sys.exit(app.exec())
"""


def test_fc124_quitting_in_the_middle_of_hanging_calls(tmp_path: Path) -> None:
    """A practice model that sleeps for five minutes: the window closes, exit code 0, no process left."""
    project = tmp_path / "project"
    project.mkdir()
    (project / "config.yaml").write_text(
        "project: slow\nmodels:\n"
        "  - {key: m, model: 'mock:oracle', params: {latency_ms: 300000, sleep: true}}\n"
        "tests: {paths: [tests.yaml]}\n"
    )
    (project / "tests.yaml").write_text(
        "- {id: a, input: x, reference: x}\n- {id: b, input: y, reference: y}\n"
    )
    env = {
        **os.environ,
        "ARENA_KEYRING": "memory",
        "QT_QPA_PLATFORM": "offscreen",
        "PYTHONPATH": str(ROOT),
    }
    command = [sys.executable, "-c", _WINDOW, str(tmp_path / "home"), str(project)]
    done = subprocess.run(
        command, env=env, cwd=ROOT, capture_output=True, text=True, timeout=100, check=False
    )
    assert "leaving" in done.stdout, done.stderr
    assert done.returncode == 0, done.stderr
    for word in ("Destroyed while thread", "Traceback", "Segmentation"):
        assert word not in done.stderr
    (path,) = (tmp_path / "home").rglob("arena.sqlite")
    with Store.open(path) as store:
        assert store.run("last").info.status is RunStatus.CANCELLED


def test_fc125_a_cancelled_queue_settles_every_task_once(tmp_path: Path, qapp) -> None:
    """50 cases, two at once, cancelled after three: fifty are settled, and a new run can start."""
    stop, told = threading.Event(), threading.Event()
    service = FakeService()

    def answer(request: Request):
        if len(service.requests) > 3:
            stop.set()
            assert told.wait(20)
        return reply("0")

    service._answer = answer

    def on_events(events) -> None:
        if any(type(event).__name__ == "RunStopping" for event in events):
            told.set()

    config = {"models": [OPEN], "run": {"concurrency": 2, "provider_concurrency": {"openai": 2}}}
    world = World(tmp_path, config, 50, service)
    stored = world.run(on_events=on_events, stop=stop)
    info = stored.info
    assert info.status is RunStatus.CANCELLED
    assert info.completed + info.stopped == 50
    assert info.completed == len(service.requests) <= 5
    world.assert_each_once()
    assert len(world.of(CallFinished)) == 50
    world.events.clear()
    service._answer = lambda request: reply("0")
    assert world.run().info.completed == 50


def test_fc126_run_and_cancel_two_hundred_times(tmp_path: Path, qtbot) -> None:
    """References are dropped only when the thread is over: no crash, no thread left."""
    world = World(tmp_path, models("a"), cases=2)
    request = world.request()
    before = threading.active_count()
    ends: list[RunFinished] = []
    for number in range(200):
        controller = RunController(request)
        controller.finished.connect(ends.append)
        controller.start_in_thread()
        if number % 2:
            controller.cancel()
        if number % 3 == 0:
            controller.stop_now()
        qtbot.waitUntil(lambda: len(ends) > number, timeout=20000)  # noqa: B023
        assert controller.wait()
        del controller
        if number % 50 == 0:
            gc.collect()
    assert {finished.status for finished in ends} <= {RunStatus.COMPLETED, RunStatus.CANCELLED}
    assert all(finished.planned == finished.completed + finished.stopped for finished in ends)
    qtbot.waitUntil(lambda: threading.active_count() <= before + 4, timeout=10000)


def test_fc128_totals_of_a_carried_on_run_cover_both_parts(tmp_path: Path, qapp) -> None:
    """Cancelled at case 7 of 10: what was paid for has totals, and carrying on makes them whole."""
    stop, told = threading.Event(), threading.Event()
    service = FakeService()

    def answer(request: Request):
        if len(service.requests) == 7:
            stop.set()
            assert told.wait(20)
        return reply("0")

    def on_events(events) -> None:
        if any(type(event).__name__ == "RunStopping" for event in events):
            told.set()

    service._answer = answer
    card = {"input_usd_per_mtok": 1000, "output_usd_per_mtok": 1000}
    world = World(tmp_path, {"models": [{**OPEN, "card": card}], "run": {"concurrency": 1}}, 10, service)
    part = world.run(on_events=on_events, stop=stop)
    assert part.board is not None
    assert (part.info.completed, part.info.stopped) == (7, 3)
    assert str(part.info.cost_usd) == "0.07"
    assert any(note.code == "stopped_early" for note in part.notes)
    whole = world.run(resume_from=part.info.run_id)
    assert (whole.info.completed, whole.info.stopped) == (10, 0)
    assert str(whole.info.cost_usd) == "0.10"
    assert len(service.requests) == 10


def test_fc129_twenty_thousand_results_come_in_batches_that_are_quickly_taken(tmp_path: Path, qtbot) -> None:
    """20 models x 1,000 cases that all end at once: the thread that draws is never held up for long."""
    held = threading.Event()

    def answer(request: Request):
        held.set()
        assert request.stop_event is not None
        assert request.stop_event.wait(30)
        raise ProviderError(ErrorKind.CANCELLED, "stopped")

    entries = [{**OPEN, "key": f"m{number}"} for number in range(20)]
    world = World(tmp_path, {"models": entries, "run": {"concurrency": 1}}, 1000, FakeService(answer))
    progress = RunProgress(time.monotonic)
    sizes, costs, ends = [], [], []

    def take(events: tuple[Event, ...]) -> None:
        began = time.thread_time()
        progress.take(events)
        costs.append(time.thread_time() - began)
        sizes.append(len(events))

    controller = RunController(world.request())
    controller.events.connect(take)
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    assert held.wait(20)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=60000)
    assert controller.wait()
    assert sum(sizes) >= 20_000
    assert max(sizes) <= 2_000
    # Counted in time of the processor, so that a busy machine does not matter.
    assert max(costs) < 0.1
    assert progress.stopped == 20_000


def test_fc130_off_stays_off_and_a_list_of_one_stays_a_list(tmp_path: Path) -> None:
    path = tmp_path / "settings.ini"
    shutil.copyfile(CASES / "settings.ini", path)
    settings = Settings(path)
    raw = QSettings(str(path), QSettings.Format.IniFormat)
    assert raw.value("warn_before_run") == "false"
    assert settings.read("warn_before_run", True) is False
    parallel = settings.read("parallel", 1)
    assert (parallel, type(parallel)) == (4, int)
    for value in (True, False, 0, 7, 0.5, "", "off"):
        settings.write("plain", value)
        settings.sync()
        again = Settings(path).read("plain", type(value)())
        assert (again, type(again)) == (value, type(value))
        settings.reset("plain")
    for listed in ([], ["only-one-project"], [True, None, 1.5], None):
        settings.write_json("listed", listed)
        settings.sync()
        assert Settings(path).read_json("listed") == listed
    # A list written as plain text by something else is no list, and no crash.
    assert settings.read_json("recent") is None


def test_fc134_the_program_starts_with_a_damaged_history_and_begins_a_new_one(tmp_path: Path, qtbot) -> None:
    home = tmp_path / "home"
    home.mkdir()
    damaged = (CASES / "history_damaged.db").read_bytes()
    (home / "arena.sqlite").write_bytes(damaged)
    context = AppContext(Settings(home / "settings.ini"), Background(), KeyStore(), home / "arena.sqlite")
    said: list[Message] = []
    context.message_wanted.connect(said.append)
    repair = StoreRepair(context)
    context.results.list_runs(None)
    qtbot.waitUntil(lambda: bool(said), timeout=20000)
    (button,) = said[0].buttons
    assert (home / "arena.sqlite").read_bytes() == damaged, "nothing is touched before a yes"
    with qtbot.waitSignal(repair.renewed, timeout=20000) as renewed:
        button.action()
    made = renewed.args[0]
    assert made.set_aside.read_bytes() == damaged
    assert str(made.set_aside) in said[-1].text
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=20000)
    assert context.results.store().check() == ()
    assert context.background.close()
    context.results.close()
    world = World(tmp_path / "new", models("a"), cases=2)
    world.root.mkdir()
    shutil.copyfile(home / "arena.sqlite", world.store_path)
    assert world.run().info.completed == 2


def test_fc134_the_window_opens_over_a_damaged_history(tmp_path: Path, qtbot) -> None:
    home = tmp_path / "home"
    home.mkdir()
    shutil.copyfile(CASES / "history_damaged.db", home / "arena.sqlite")
    _app, window = create([], home)
    window.show()
    qtbot.waitExposed(window)
    failed: list[object] = []
    window.context.results.failed.connect(failed.append)
    window.context.results.list_runs(None)
    qtbot.waitUntil(lambda: bool(failed), timeout=20000)
    assert failed[0].code == "store_damaged"  # type: ignore[attr-defined]
    window.close()
    window.deleteLater()


def test_fc119_ten_calls_of_a_tenth_under_one_dollar(tmp_path: Path, qapp) -> None:
    """The case's figures through a whole run: 0.10 a call, a limit of 1.00, eight at once."""
    case = json.loads((CASES / "budget_parallel.json").read_text())
    assert case

    def answer(request: Request):
        return replace(reply("0"), cost_usd=None)

    # 5 tokens in and 5 out at $10,000 per million are ten cents; the worst case is the same.
    card = {"input_usd_per_mtok": 0, "output_usd_per_mtok": 20_000}
    entry = {**OPEN, "card": card, "max_tokens": 5}
    config = {
        "models": [entry],
        "run": {"concurrency": 8, "provider_concurrency": {"openai": 8}},
        "budgets": {"max_run_usd": 1.0},
    }
    world = World(tmp_path, config, 40, FakeService(answer))
    stored = world.run()
    assert stored.info.status is RunStatus.STOPPED_BUDGET
    assert stored.info.completed == 10
    assert str(stored.info.cost_usd) in ("1", "1.0", "1.00")


def test_fc121_failures_by_cause_are_in_the_summary(tmp_path: Path, qapp) -> None:
    data = json.loads((CASES / "run_with_hidden_errors.json").read_text())
    errors = list(data["errors"])

    def answer(request: Request):
        if int(request.messages[0].content.split()[1]) % 5 == 4 and errors:
            error = errors.pop()
            raise ProviderError(ErrorKind.BAD_REQUEST, error["message"], status=error["status"])
        return reply("0")

    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 1}}, 15, FakeService(answer))
    stored = world.run()
    assert (stored.info.completed, stored.info.errors) == (12, 3)
    failed = [c for c in world.calls() if c.status is CallStatus.ERROR]
    assert {c.error.message for c in failed if c.error} <= {e["message"] for e in data["errors"]}
    (planned,) = world.of(Planned)
    assert planned.total == 15
