"""Whole runs through the controller: every rule of the run's life with real threads and a real store."""

from __future__ import annotations

import json
import threading
import time
from decimal import Decimal
from pathlib import Path

import pytest

from engine.domain import CallStatus, Outcome, RunStatus, ScoreState
from engine.errors import UserError
from engine.execution.controller import RunController, run_to_end
from engine.execution.events import (
    BudgetChanged,
    CallFinished,
    ModelSetAside,
    Planned,
    QueueChanged,
    Retrying,
    RunFinished,
    RunPaused,
    RunStopping,
    Started,
    Throttled,
)
from engine.execution.request import RunRequest
from engine.stats.board import EntryStatus
from engine.stats.leaderboard import board_from_json
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request, Usage
from tests.execution.worlds import FakeService, World, models, reply

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
ANTH = {"key": "anth", "model": "claude-x", "provider": "anthropic"}
PRICE = {"input_usd_per_mtok": 1000, "output_usd_per_mtok": 1000}


def test_a_practice_run_ends_with_a_stored_verdict(tmp_path: Path, qapp) -> None:
    world = World(tmp_path, models("a", "b") | {"run": {"trials": 2}}, cases=6)
    stored = world.run()
    assert stored.info.status is RunStatus.COMPLETED
    assert (stored.info.planned, stored.info.completed, stored.info.errors) == (24, 24, 0)
    assert stored.board is not None
    board = board_from_json(stored.board)
    assert {entry.status for entry in board.entries} == {EntryStatus.RANKED}
    assert board.verdict.row is not None
    (planned,) = world.of(Planned)
    assert planned.total == 24
    assert len(world.of(Started)) == len(world.of(CallFinished)) == 24
    world.assert_each_once()
    assert world.finished.cost_usd == 0


def test_every_call_is_durable_before_its_event(tmp_path: Path, qapp) -> None:
    world = World(tmp_path, models("a"), cases=20)
    seen: list[bool] = []

    def look(events) -> None:
        finished = [e.done.cell for e in events if isinstance(e, CallFinished)]
        if finished:
            with Store.open(world.store_path, read_only=True) as store:
                run_id = store.resolve("last")
                seen.extend(store.call(run_id, cell) is not None for cell in finished)

    world.run(on_events=look)
    assert len(seen) == 20
    assert all(seen)


def test_a_model_without_a_key_is_skipped_and_stays_on_the_board(tmp_path: Path, qapp) -> None:
    config = models("practice")
    config["models"].append({"key": "gem", "model": "gemini-9", "provider": "gemini"})
    stored = World(tmp_path, config).run()
    assert [s.code for s in stored.skipped] == ["no_key"]
    assert stored.info.planned == 3
    assert stored.board is not None
    row = next(e for e in board_from_json(stored.board).entries if e.model_key == "gem")
    assert row.status is EntryStatus.NO_DATA
    assert len(row.failures) == 1


def test_all_skipped_lists_reasons_and_makes_no_run(tmp_path: Path) -> None:
    world = World(tmp_path, {"models": [{"key": "gem", "model": "gemini-9"}]})
    with pytest.raises(UserError) as caught:
        world.request()
    assert caught.value.code == "all_skipped"
    assert "gem" in caught.value.message
    assert not world.store_path.exists()


def test_two_models_and_one_slow_lane(tmp_path: Path, qapp) -> None:
    """The slow lane holds one slot; the fast lane finishes while it is still at its first call."""
    gate = threading.Event()
    fast_done = threading.Event()
    fast: list[str] = []

    def answer(request: Request):
        if request.model == "claude-x":
            assert fast_done.wait(20)
        else:
            fast.append(request.messages[0].content)
            if len(fast) == 8:
                fast_done.set()
        return reply()

    config = {
        "models": [OPEN, ANTH],
        "run": {"concurrency": 3, "provider_concurrency": {"anthropic": 1, "openai": 2}},
    }
    service = FakeService(answer)
    world = World(tmp_path, config, cases=8, service=service)
    stored = world.run()
    assert stored.info.completed == 16
    assert stored.lanes["anthropic"]["max_in_flight"] == 1
    assert stored.lanes["openai"]["max_in_flight"] <= 2
    assert service.most_in_flight <= 3
    assert not gate.is_set()


def test_a_cell_behind_a_width_of_one_is_not_reported_as_started(tmp_path: Path, qapp) -> None:
    config = {"models": [OPEN], "run": {"concurrency": 4, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, cases=4, service=FakeService())
    world.run()
    going = 0
    for event in world.events:
        if isinstance(event, Started):
            going += 1
            assert going == 1
        elif isinstance(event, CallFinished):
            going -= 1


def test_queue_counts_never_lie(tmp_path: Path, qapp) -> None:
    world = World(tmp_path, models("a", "b", latency_ms=5, sleep=True), cases=30)
    world.run()
    counts = world.of(QueueChanged)
    assert counts
    for event in counts:
        assert event.queued == event.total - event.finished - event.running >= 0
    assert counts[-1].finished == counts[-1].total == 60


def test_a_refused_key_is_one_attempt_and_stops_the_connection(tmp_path: Path, qapp) -> None:
    def answer(request: Request):
        if request.model == "gpt-x":
            raise ProviderError(ErrorKind.AUTH, "The key was refused.", status=401)
        return reply("0")

    config = {
        "models": [OPEN, ANTH],
        "run": {"concurrency": 2, "provider_concurrency": {"openai": 1, "anthropic": 1}},
    }
    service = FakeService(answer)
    world = World(tmp_path, config, cases=30, service=service)
    stored = world.run()
    assert len([r for r in service.requests if r.model == "gpt-x"]) == 2
    assert stored.info.status is RunStatus.COMPLETED
    assert (stored.info.completed, stored.info.errors, stored.info.stopped) == (30, 2, 28)
    failed = [c for c in world.calls() if c.status is CallStatus.ERROR]
    assert all(c.attempts == 1 and c.error and c.error.status == 401 for c in failed)
    assert [e.code for e in world.of(ModelSetAside)] == ["denied"]
    assert "set_aside" in [note.code for note in stored.notes]


def test_a_failed_call_is_retried_and_its_attempts_are_kept(tmp_path: Path, qapp) -> None:
    left = [2]

    def answer(request: Request):
        if left[0]:
            left[0] -= 1
            raise ProviderError(ErrorKind.UNKNOWN, "boom", status=500)
        return reply("0")

    config = {"models": [OPEN], "run": {"retry_backoff_s": 0.01, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, cases=1, service=FakeService(answer))
    world.run()
    (call,) = world.calls()
    assert (call.status, call.attempts, call.throttled) == (CallStatus.OK, 3, 0)
    assert [a.error.status if a.error else None for a in call.attempt_log] == [500, 500, None]
    assert len(world.of(Retrying)) == 2


def test_a_throttled_call_is_tagged_and_uses_no_retry(tmp_path: Path, qapp) -> None:
    left = [2]

    def answer(request: Request):
        if left[0]:
            left[0] -= 1
            raise ProviderError(ErrorKind.RATE_LIMIT, "slow down", status=429, retry_after_s=0.01)
        return reply("0")

    config = {"models": [OPEN], "run": {"retries": 0, "provider_concurrency": {"openai": 2}}}
    world = World(tmp_path, config, cases=1, service=FakeService(answer))
    stored = world.run()
    (call,) = world.calls()
    assert (call.status, call.attempts, call.throttled) == (CallStatus.OK, 1, 2)
    assert stored.lanes["openai"]["throttled"] == 2
    throttled = world.of(Throttled)
    assert (throttled[0].before, throttled[0].after) == (2, 1)


def test_an_unexpected_exception_of_a_connector_is_a_failure_and_no_lost_cell(tmp_path: Path, qapp) -> None:
    def answer(request: Request):
        raise ZeroDivisionError("in the connector with k-open in it")

    config = {"models": [OPEN], "run": {"retries": 0}}
    world = World(tmp_path, config, cases=3, service=FakeService(answer))
    stored = world.run()
    assert stored.info.errors == 3
    for call in world.calls():
        assert call.error is not None
        assert "ZeroDivisionError" in call.error.message


def test_a_check_that_fails_marks_that_score_and_names_itself(tmp_path: Path, qapp) -> None:
    """A pattern that runs into its time limit: the answer stays, the other case is marked."""
    cases = [
        {"id": "bad", "input": "x", "eval_type": "regex", "params": {"pattern": "(x+x+)+y"}},
        {"id": "good", "input": "x", "reference": "x"},
    ]
    hard = "x" * 5000
    config = {"models": [{"key": "m", "model": "mock:fixed", "params": {"text": hard}}]}
    world = World(tmp_path, config, cases=cases)
    stored = world.run()
    assert stored.info.status is RunStatus.COMPLETED
    calls = {call.cell.case_id: call for call in world.calls()}
    bad = calls["bad"].score
    assert bad is not None
    assert bad.state is ScoreState.ERRORED
    assert (bad.checks[0].type, bad.checks[0].reason_code) == ("regex", "pattern_too_slow")
    good = calls["good"].score
    assert good is not None
    assert good.state is ScoreState.SCORED
    assert all(call.answer is not None and call.answer.text == hard for call in calls.values())


def test_fail_fast_stops_and_pays_for_nothing_queued(tmp_path: Path, qapp) -> None:
    def answer(request: Request):
        raise ProviderError(ErrorKind.BAD_REQUEST, "bad", status=400)

    config = {"models": [OPEN], "run": {"fail_fast": True, "concurrency": 1}}
    service = FakeService(answer)
    world = World(tmp_path, config, cases=50, service=service)
    stored = world.run()
    assert stored.info.status is RunStatus.FAILED_FAST
    assert len(service.requests) == 1
    assert (stored.info.errors, stored.info.stopped) == (1, 49)
    assert any(note.code == "stopped_early" for note in stored.notes)
    world.assert_each_once()


def test_a_blocked_answer_counts_as_an_error_with_its_own_outcome(tmp_path: Path, qapp) -> None:
    def answer(request: Request):
        raise ProviderError(ErrorKind.BLOCKED, "blocked by the provider")

    world = World(tmp_path, {"models": [OPEN]}, cases=1, service=FakeService(answer))
    world.run()
    (call,) = world.calls()
    assert (call.status, call.outcome, call.attempts) == (CallStatus.ERROR, Outcome.BLOCKED, 1)


def test_a_run_with_failed_calls_says_how_many(tmp_path: Path, qapp) -> None:
    data = json.loads((Path(__file__).parents[1] / "data/cases/run_with_hidden_errors.json").read_text())
    errors = list(data["errors"])
    asked = [0]

    def answer(request: Request):
        asked[0] += 1
        if asked[0] % 5 == 0 and errors:
            error = errors.pop()
            raise ProviderError(ErrorKind.BAD_REQUEST, error["message"], status=error["status"])
        return reply("0")

    config = {"models": [OPEN], "run": {"concurrency": 1}}
    world = World(tmp_path, config, cases=data["ok"] + 3, service=FakeService(answer))
    stored = world.run()
    assert (stored.info.status, stored.info.completed, stored.info.errors) == (RunStatus.COMPLETED, 12, 3)
    assert (world.finished.completed, world.finished.errors) == (12, 3)
    row = board_from_json(stored.board).entries[0]
    assert (row.answered, row.planned, row.errors) == (12, 15, 3)


def test_repeats_are_requests_of_their_own_and_a_new_run_asks_again(tmp_path: Path, qapp) -> None:
    data = json.loads((Path(__file__).parents[1] / "data/cases/cache_two_runs.json").read_text())
    service = FakeService(lambda request: reply("0"))
    config = {"models": [OPEN], "run": {"trials": data["repeat"]}}
    world = World(tmp_path, config, cases=1, service=service)
    world.run()
    assert len(service.requests) == data["repeat"]
    world.events.clear()
    world.run()
    assert len(service.requests) == 2 * data["repeat"]


# ---- stopping


class Held:
    """A service whose calls wait until they are let go or stopped."""

    def __init__(self, polite: bool = True) -> None:
        self.let_go = threading.Event()
        self.polite = polite
        self.service = FakeService(self._answer)

    def _answer(self, request: Request):
        while not self.let_go.wait(0.01):
            if self.polite and request.stop_event is not None and request.stop_event.is_set():
                raise ProviderError(ErrorKind.CANCELLED, "stopped")
        return reply("0")


def _begin(world: World, qtbot) -> tuple[RunController, list[RunFinished]]:
    ends: list[RunFinished] = []
    controller = RunController(world.request())
    controller.events.connect(lambda events: world.events.extend(events))
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    return controller, ends


def test_cancel_awaits_and_records_what_is_in_flight(tmp_path: Path, qtbot) -> None:
    held = Held()
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 3}}, cases=20, service=held.service)
    controller, ends = _begin(world, qtbot)
    for _ in range(3):
        assert held.service.flying.acquire(timeout=10)
    controller.cancel()
    qtbot.waitUntil(lambda: bool(world.of(RunStopping)), timeout=5000)
    assert not ends
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert ends[0].status is RunStatus.CANCELLED
    assert (ends[0].completed, ends[0].stopped) == (3, 17)
    assert len(held.service.requests) == 3
    assert held.service.closed == 1
    world.assert_each_once()
    assert len(world.of(CallFinished)) == 20


def test_cancel_takes_effect_at_once_though_nothing_completes(tmp_path: Path, qtbot) -> None:
    held = Held()
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 2}}, cases=5, service=held.service)
    controller, ends = _begin(world, qtbot)
    assert held.service.flying.acquire(timeout=10)
    asked = time.monotonic()
    controller.cancel()
    qtbot.waitUntil(lambda: bool(world.of(RunStopping)), timeout=5000)
    # A tenth of a second to take effect and one to be told, with room for a loaded machine.
    assert time.monotonic() - asked < 1.0
    assert not ends
    controller.cancel()
    qtbot.waitUntil(lambda: bool(ends), timeout=5000)
    assert controller.wait()
    assert world.stored().info.stopped == 5


def test_stop_now_leaves_threads_behind_that_do_not_come_back(tmp_path: Path, qtbot) -> None:
    held = Held(polite=False)
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 2}}, cases=5, service=held.service)
    controller, ends = _begin(world, qtbot)
    for _ in range(2):
        assert held.service.flying.acquire(timeout=10)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert ends[0].status is RunStatus.CANCELLED
    assert ends[0].stopped == 5
    world.assert_each_once()
    held.let_go.set()
    from engine.execution.controller import LEFT_BEHIND

    assert LEFT_BEHIND.pop().waitForDone(10000)


def test_launch_misses_no_event_of_who_connects_after_it(tmp_path: Path, qtbot) -> None:
    world = World(tmp_path, models("a"), cases=2)
    controller = RunController.launch(world.request())
    run_id = controller.run_id
    controller.events.connect(lambda events: world.events.extend(events))
    qtbot.waitUntil(lambda: bool(world.of(RunFinished)), timeout=10000)
    assert controller.wait()
    assert isinstance(world.events[0], Planned)
    assert {event.run_id for event in world.events} == {run_id}
    assert world.finished.completed == 2


def test_an_answer_after_stop_now_is_kept_though_its_cell_is_told_as_stopped(tmp_path: Path, qtbot) -> None:
    """Two calls ignore the stop; one comes back late, while the other is still being given up."""
    held = Held(polite=False)
    slow = threading.Event()

    def answer(request: Request):
        assert (slow if request.messages[0].content == "say 1" else held.let_go).wait(30)
        return reply("0")

    held.service._answer = answer
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 2}}, cases=2, service=held.service)
    controller, ends = _begin(world, qtbot)
    for _ in range(2):
        assert held.service.flying.acquire(timeout=10)
    controller.stop_now()
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    slow.set()
    calls = {call.cell.case_id: call for call in world.calls()}
    assert calls["c0"].status is CallStatus.OK
    assert calls["c1"].status is CallStatus.STOPPED
    from engine.execution.controller import LEFT_BEHIND

    assert LEFT_BEHIND.pop().waitForDone(10000)


def test_pause_starts_nothing_and_go_on_finishes(tmp_path: Path, qtbot) -> None:
    held = Held()
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 1}}, cases=4, service=held.service)
    controller, ends = _begin(world, qtbot)
    assert held.service.flying.acquire(timeout=10)
    controller.pause()
    qtbot.waitUntil(lambda: bool(world.of(RunPaused)), timeout=5000)
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(world.of(CallFinished)), timeout=5000)
    assert len(held.service.requests) == 1
    controller.resume_run()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert ends[0].completed == 4


def test_widths_change_while_the_run_goes_on(tmp_path: Path, qtbot) -> None:
    held = Held()
    config = {"models": [OPEN], "run": {"concurrency": 4, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, cases=8, service=held.service)
    controller, ends = _begin(world, qtbot)
    assert held.service.flying.acquire(timeout=10)
    controller.set_width("openai", 3)
    for _ in range(2):
        assert held.service.flying.acquire(timeout=10)
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert held.service.most_in_flight == 3


def test_stop_event_of_the_synchronous_driver(tmp_path: Path, qapp) -> None:
    held = Held()
    stop, stop_now = threading.Event(), threading.Event()
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 1}}, cases=5, service=held.service)

    def on_events(events) -> None:
        if any(isinstance(e, Started) for e in events):
            stop.set()
        if any(isinstance(e, RunStopping) and e.reason == "cancelled" for e in events):
            stop_now.set()

    stored = world.run(on_events=on_events, stop=stop, stop_now=stop_now)
    assert stored.info.status is RunStatus.CANCELLED
    assert stored.info.stopped == 5


# ---- money


def _priced(**more) -> dict:
    entry = {**OPEN, "card": PRICE, "max_tokens": 10}
    return {"models": [entry], **more}


def test_a_budget_is_a_ceiling_with_calls_in_flight(tmp_path: Path, qapp) -> None:
    """10 tokens in and out at $1,000 per million are one cent; the worst case is some 8 cents."""
    config = _priced(
        run={"concurrency": 8, "provider_concurrency": {"openai": 8}}, budgets={"max_run_usd": 0.30}
    )
    service = FakeService(lambda request: reply("0", tokens=5))
    world = World(tmp_path, config, cases=60, service=service)
    stored = world.run()
    assert stored.info.status is RunStatus.STOPPED_BUDGET
    assert stored.info.cost_usd is not None
    assert stored.info.cost_usd <= Decimal("0.30")
    assert stored.info.completed == len(service.requests) >= 4
    for event in world.of(BudgetChanged):
        assert (event.spent_usd or 0) + event.reserved_usd <= Decimal("0.30")
    assert stored.info.completed + stored.info.stopped == 60
    assert all(request.max_tokens == 10 for request in service.requests)


def test_a_run_with_a_ceiling_always_sends_a_length(tmp_path: Path, qapp) -> None:
    config = {"models": [{**OPEN, "card": PRICE}], "budgets": {"max_run_usd": 100}}
    service = FakeService(lambda request: reply("0"))
    World(tmp_path, config, cases=1, service=service).run()
    assert service.requests[0].max_tokens == 1024


def test_spend_is_stored_and_a_resumed_run_goes_on_under_the_same_ceiling(tmp_path: Path, qapp) -> None:
    config = _priced(run={"concurrency": 1}, budgets={"max_run_usd": 0.30})
    service = FakeService(lambda request: reply("0", tokens=5))
    world = World(tmp_path, config, cases=60, service=service)
    stored = world.run()
    before = len(service.requests)
    assert {row.model_key: row.spent_usd for row in stored.spend} == {"open": Decimal("0.01") * before}
    again = world.run(resume_from=stored.info.run_id)
    assert again.info.status is RunStatus.STOPPED_BUDGET
    assert len(service.requests) == before


def test_a_failed_attempt_that_was_charged_is_part_of_what_its_model_cost(tmp_path: Path, qapp) -> None:
    """A reply that cannot be read was billed all the same; the leaderboard and the run say one sum."""

    def answer(request):
        if len(service.requests) == 1:
            raise ProviderError(ErrorKind.BAD_REPLY, "odd", status=200, usage=Usage(5, 5))
        return reply("0", tokens=5)

    service = FakeService(answer)
    stored = World(tmp_path, _priced(run={"concurrency": 1}), cases=2, service=service).run()
    assert len(service.requests) == 3
    (entry,) = stored.board["entries"]
    assert Decimal(entry["total_cost_usd"]) == stored.info.cost_usd == Decimal("0.03")


def test_unknown_cost_is_unknown_and_never_zero(tmp_path: Path, qapp) -> None:
    world = World(tmp_path, {"models": [OPEN]}, cases=2, service=FakeService())
    stored = world.run()
    assert stored.info.cost_usd is None
    assert world.finished.cost_usd is None


# ---- abort


def test_an_escaped_exception_closes_the_run_as_aborted_and_is_raised_again(tmp_path: Path, qapp) -> None:
    class Broken:
        """An executor that breaks at its fourth attempt."""

        def __init__(self, work, concurrency) -> None:
            self._work = work
            self._left = 3
            self.capacity = 1

        def start(self, ticket) -> None:
            self._left -= 1
            if self._left < 0:
                raise RuntimeError("the machine room is on fire")
            self._work(ticket)

        def stop_now(self) -> None:
            self._left = 0

        def close(self, timeout_s: float) -> bool:
            return True

    world = World(tmp_path, models("a"), cases=10)
    controller = RunController(world.request(), Broken)
    ends: list[RunFinished] = []
    from PySide6.QtCore import QEventLoop, Qt

    loop = QEventLoop()
    controller.finished.connect(ends.append)
    controller.finished.connect(loop.quit, Qt.ConnectionType.QueuedConnection)
    controller.start_in_thread()
    loop.exec()
    assert controller.wait()
    assert isinstance(controller.failure, RuntimeError)
    stored = world.stored()
    assert stored.info.status is RunStatus.ABORTED
    assert stored.info.finished_at is not None
    assert stored.info.completed == 3
    assert stored.board is not None
    assert "on fire" in (stored.error or "")


def test_run_to_end_raises_what_kept_the_run_from_opening(tmp_path: Path, qapp) -> None:
    world = World(tmp_path, models("a"))
    request = world.request()
    world.store_path.write_text("this is not a database, whatever its name says. " * 40)
    with pytest.raises(Exception, match="store|file|history") as caught:
        run_to_end(request)
    assert getattr(caught.value, "code", "").startswith("store")


def test_batches_are_bounded_also_when_thousands_of_cells_end_at_once(tmp_path: Path, qtbot) -> None:
    held = Held()
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 1}}, cases=5000, service=held.service)
    sizes: list[int] = []
    controller = RunController(world.request())
    controller.events.connect(lambda events: (sizes.append(len(events)), world.events.extend(events)))
    controller.start_in_thread()
    assert held.service.flying.acquire(timeout=10)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(world.of(RunFinished)), timeout=30000)
    assert controller.wait()
    assert max(sizes) <= 2000
    assert len(world.of(CallFinished)) == 5000
    assert world.finished.stopped == 5000
    world.assert_each_once()


def test_a_failing_store_stops_the_run_and_everything_can_be_saved_elsewhere(tmp_path: Path, qtbot) -> None:
    """The disk is full after the run began: it stops with a sentence and nothing paid for is lost."""
    held = Held()
    world = World(tmp_path, {"models": [OPEN], "run": {"concurrency": 2}}, cases=6, service=held.service)
    controller, ends = _begin(world, qtbot)
    for _ in range(2):
        assert held.service.flying.acquire(timeout=10)
    with Store.open(world.store_path) as store:
        store.database.connection.execute(
            "CREATE TRIGGER full BEFORE INSERT ON answers BEGIN SELECT RAISE(FAIL, 'full'); END"
        )
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=20000)
    assert controller.wait()
    assert ends[0].status is RunStatus.ABORTED
    assert ends[0].error
    other = tmp_path / "rescued.sqlite"
    assert controller.rescue(other) > 0
    with Store.open(other) as store:
        saved = store.calls(store.resolve("last"))
        assert store.run("last").info.status is RunStatus.ABORTED
    assert len([c for c in saved if c.status is CallStatus.OK]) == 2


def test_a_run_that_cannot_be_prepared_does_not_stay_running(tmp_path: Path, qapp) -> None:
    def no_executor(work, concurrency):
        raise RuntimeError("no threads left")

    world = World(tmp_path, models("a"))
    controller = RunController(world.request(), no_executor)
    ends: list[RunFinished] = []
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    assert controller.wait()
    assert isinstance(controller.failure, RuntimeError)
    assert ends[0].status is RunStatus.ABORTED
    stored = world.stored()
    assert stored.info.status is RunStatus.ABORTED
    assert "no threads left" in (stored.error or "")


def test_clients_are_built_once_per_connection_and_closed(tmp_path: Path, qapp) -> None:
    service = FakeService()
    config = {"models": [OPEN, {**OPEN, "key": "other", "system": "Be brief."}, ANTH]}
    World(tmp_path, config, cases=5, service=service).run()
    assert sorted(s.id for s in service.made) == ["anthropic", "openai"]
    assert service.closed == 2


def test_request_fields(tmp_path: Path, qapp) -> None:
    service = FakeService()
    entry = {**OPEN, "system": "Be brief.", "temperature": 0.5, "timeout_s": 7}
    World(tmp_path, {"models": [entry]}, cases=1, service=service).run()
    (request,) = service.requests
    assert isinstance(request, Request)
    assert (request.system, request.temperature, request.timeout_s) == ("Be brief.", 0.5, 7)
    assert request.stop_event is not None
    assert isinstance(World(tmp_path / "x", models("a")).root, Path)
    assert RunRequest.__dataclass_params__.frozen
