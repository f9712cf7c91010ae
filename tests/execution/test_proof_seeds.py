"""The rules of the runner and of the per-provider concurrency, one whole run for each, named after it."""

from __future__ import annotations

import random
import threading
from pathlib import Path

import pytest

from engine.domain import CallStatus, RunStatus, ScoreState
from engine.errors import UserError
from engine.execution.controller import RunController, ThreadPoolExecutor, run_to_end
from engine.execution.events import CallFinished, Planned, QueueChanged, RunFinished, Started, Throttled
from engine.execution.plan import make_plan
from engine.execution.preflight import examine
from engine.execution.retry import Failure, RetryPolicy, retry_delay_s
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.stats.board import EntryStatus
from engine.stats.leaderboard import board_from_json
from providers.base import ErrorKind, ProviderError, Reply, Request
from tests.execution.worlds import FakeService, World, make_project, models, reply

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
ANTH = {"key": "anth", "model": "claude-x", "provider": "anthropic"}
NO_KEY = {"key": "gem", "model": "gemini-9", "provider": "gemini"}


def test_preflight_skip(tmp_path: Path, qapp) -> None:
    """A missing key skips the model, spends nothing on it, and leaves it on the board with its reason."""
    service = FakeService(lambda request: reply("0"))
    world = World(tmp_path, {"models": [OPEN, NO_KEY]}, service=service)
    stored = world.run()
    assert {request.model for request in service.requests} == {"gpt-x"}
    assert stored.info.status is RunStatus.COMPLETED
    (planned,) = world.of(Planned)
    assert (planned.total, [s.model_key for s in planned.skipped]) == (3, ["gem"])
    row = next(e for e in board_from_json(stored.board).entries if e.model_key == "gem")
    assert row.status is EntryStatus.NO_DATA
    (line,) = row.failures
    assert "GEMINI_API_KEY" in str(line)


def test_all_skipped(tmp_path: Path) -> None:
    """No empty leaderboard: an error that lists every reason and its fix, and no run row."""
    world = World(tmp_path, {"models": [NO_KEY, {**NO_KEY, "key": "gem2", "model": "gemini-8"}]})
    with pytest.raises(UserError) as caught:
        world.request()
    assert caught.value.code == "all_skipped"
    told = caught.value.message + caught.value.hint
    assert "gem:" in told or "gem " in told
    assert "gem2" in told
    assert "GEMINI_API_KEY" in told or "key" in told
    assert not world.store_path.exists()


def test_full_jitter_bounds() -> None:
    """uniform(0, min(60, backoff * 2**attempt)): every draw inside, and the whole range is used."""
    rng, failure, policy = random.Random(7), Failure(ErrorKind.UNKNOWN, "", 500), RetryPolicy(9, 2.0)
    for attempt, ceiling in enumerate([2, 4, 8, 16, 32, 60, 60, 60]):
        draws = [retry_delay_s(failure, attempt, policy, rng) for _ in range(2000)]
        assert 0 <= min(draws) < 0.02 * ceiling
        assert 0.98 * ceiling < max(draws) <= ceiling
        assert sum(draws) / len(draws) == pytest.approx(ceiling / 2, rel=0.05)


def test_unknown_retryable(tmp_path: Path, qapp) -> None:
    """What nobody can classify is asked again, as often as the retries allow."""
    left = [2]

    def answer(request: Request):
        if left[0]:
            left[0] -= 1
            raise LookupError("whatever this is")
        return reply("0")

    world = World(
        tmp_path,
        {"models": [OPEN], "run": {"retries": 2, "retry_backoff_s": 0.01}},
        cases=1,
        service=FakeService(answer),
    )
    world.run()
    (call,) = world.calls()
    assert (call.status, call.attempts) == (CallStatus.OK, 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_401_one_attempt(status: int, tmp_path: Path, qapp) -> None:
    """A bad key, or anything else that asking again cannot mend, is one request and no wait."""
    kind = {401: ErrorKind.AUTH, 403: ErrorKind.AUTH, 404: ErrorKind.NOT_FOUND}.get(
        status, ErrorKind.BAD_REQUEST
    )

    def answer(request: Request):
        raise ProviderError(kind, "no", status=status)

    service = FakeService(answer)
    world = World(tmp_path, {"models": [OPEN], "run": {"retries": 5}}, cases=1, service=service)
    world.run()
    (call,) = world.calls()
    assert len(service.requests) == 1
    assert (call.status, call.attempts) == (CallStatus.ERROR, 1)
    assert call.error is not None
    assert call.error.status == status


def test_scorer_raise_named(tmp_path: Path, qapp) -> None:
    """A scorer that raises marks that score with its name; the answer stays and the run goes on."""
    folder = tmp_path / "project"
    (folder / "scorers").mkdir(parents=True)
    (folder / "scorers" / "mine.py").write_text(
        "def grumpy(output, reference, context):\n"
        "    if '1' in str(reference):\n"
        "        raise RuntimeError('today I do not want to')\n"
        "    return 1.0\n"
        "\n"
        "SCORERS = {'grumpy': grumpy}\n"
    )
    cases = [
        {"id": f"c{i}", "input": f"say {i}", "reference": f"{i}", "eval_type": "grumpy"} for i in range(3)
    ]
    world = World(tmp_path, models("m"), cases=cases, trust=True)
    run = world.run()
    assert (run.info.status, run.info.completed, run.info.errors) == (RunStatus.COMPLETED, 3, 0)
    calls = {call.cell.case_id: call for call in world.calls()}
    bad = calls["c1"].score
    assert bad is not None
    assert bad.state is ScoreState.ERRORED
    assert bad.score is None
    assert "grumpy" in {check.type for check in bad.checks}
    assert "today I do not want to" in bad.checks[0].reason
    assert calls["c1"].answer is not None
    for case in ("c0", "c2"):
        score = calls[case].score
        assert score is not None
        assert score.state is ScoreState.SCORED


def test_fail_fast(tmp_path: Path, qapp) -> None:
    """The first failed call ends the run: nothing queued is started; what is in flight is kept."""
    both = threading.Barrier(2)

    def answer(request: Request):
        both.wait(20)
        if request.messages[0].content == "say 0":
            raise ProviderError(ErrorKind.BAD_REQUEST, "bad", status=400)
        assert told.wait(20)
        return reply("1")

    told = threading.Event()

    def on_events(events) -> None:
        if any(isinstance(e, CallFinished) and e.done.status is CallStatus.ERROR for e in events):
            told.set()

    service = FakeService(answer)
    config = {
        "models": [OPEN],
        "run": {"fail_fast": True, "concurrency": 2, "provider_concurrency": {"openai": 2}},
    }
    world = World(tmp_path, config, cases=40, service=service)
    stored = world.run(on_events=on_events)
    assert stored.info.status is RunStatus.FAILED_FAST
    assert len(service.requests) == 2
    assert (stored.info.completed, stored.info.errors, stored.info.stopped) == (1, 1, 38)
    world.assert_each_once()


class _BreaksAt:
    """An executor that breaks when it is handed its third attempt."""

    capacity = 1

    def __init__(self, work, concurrency, error: BaseException) -> None:
        self._work, self._error, self._left = work, error, 2

    def start(self, ticket) -> None:
        if not self._left:
            raise self._error
        self._left -= 1
        self._work(ticket)

    def stop_now(self) -> None:
        self._left = 0

    def close(self, timeout_s: float) -> bool:
        return True


@pytest.mark.parametrize("error", [RuntimeError("the machine room is on fire"), KeyboardInterrupt()])
def test_abort_row_closed(error: BaseException, tmp_path: Path, qtbot) -> None:
    """Whatever escapes: the row is closed as aborted with what there is, connectors are closed."""
    service = FakeService(lambda request: reply("0"))
    world = World(tmp_path, {"models": [OPEN]}, cases=9, service=service)
    controller = RunController(world.request(), lambda work, concurrency: _BreaksAt(work, concurrency, error))
    ends: list[RunFinished] = []
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    qtbot.waitUntil(lambda: bool(ends), timeout=20000)
    assert controller.wait()
    assert controller.failure is error
    stored = world.stored()
    assert stored.info.status is RunStatus.ABORTED
    assert stored.info.finished_at is not None
    assert stored.info.completed == 2
    assert stored.board is not None
    assert service.closed == 1


class _Breaks:
    """A whole pool behind an executor that breaks when it is handed its third attempt."""

    def __init__(self, work, concurrency) -> None:
        self._pool = ThreadPoolExecutor(work, concurrency)
        self._left = 2
        self.capacity, self.close = concurrency, self._pool.close
        self.stopping = threading.Event()

    def start(self, ticket) -> None:
        if not self._left:
            raise RuntimeError("broken")
        self._left -= 1
        self._pool.start(ticket)

    def stop_now(self) -> None:
        self.stopping.set()


@pytest.mark.parametrize("budgets", [{}, {"max_calls": 100}])
@pytest.mark.parametrize("check", ["exact_match", "regex"])
def test_abort_keeps_what_is_under_way(budgets: dict[str, int], check: str, tmp_path: Path, qtbot) -> None:
    """Answers that arrive while the run is being closed are paid for, so they are stored and marked."""
    executors: list[_Breaks] = []

    def answer(request: Request) -> Reply:
        assert executors[0].stopping.wait(20)
        return reply("0")

    config = {"models": [OPEN], "run": {"concurrency": 3}, "budgets": budgets}
    tests = [
        {"id": f"c{n}", "input": "q", "reference": "0", "checks": [{"type": check, "pattern": "0"}]}
        if check == "regex"
        else {"id": f"c{n}", "input": "q", "reference": "0"}
        for n in range(9)
    ]
    world = World(tmp_path, config, tests, service=FakeService(answer))
    request = world.request()

    def make(work, concurrency) -> _Breaks:
        executors.append(_Breaks(work, concurrency))
        return executors[0]

    controller = RunController(request, make)
    ends: list[RunFinished] = []
    controller.events.connect(lambda events: world.events.extend(events))
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    qtbot.waitUntil(lambda: bool(ends), timeout=20000)
    assert controller.wait()
    stored = world.stored()
    assert stored.info.status is RunStatus.ABORTED
    assert stored.info.completed == 2
    assert [call.score.passed for call in world.calls()] == [True, True]
    world.assert_each_once()


def test_abort_of_a_broken_listener_is_raised_again(tmp_path: Path, qapp) -> None:
    """An exception in the caller's own loop closes the run and reaches the caller unchanged."""
    world = World(tmp_path, {"models": [OPEN]}, cases=9, service=FakeService(lambda request: reply("0")))
    controller = RunController(world.request())
    controller.abort(KeyError("mine"))
    done: list[RunFinished] = []
    controller.finished.connect(done.append)
    controller.start_in_thread()
    assert controller.wait()
    assert isinstance(controller.failure, KeyError)
    assert world.stored().info.status is RunStatus.ABORTED


@pytest.mark.parametrize("value", ["openai=0", "openai=x", "openai", "=3", "openai=2.5", "openai=-1"])
def test_malformed_width(value: str, tmp_path: Path) -> None:
    """A malformed width fails the plan, the dry run included, and says what is wrong with which item."""
    project = make_project(tmp_path / "project", {"models": [OPEN]})
    keys = KeyStore(environ={"OPENAI_API_KEY": "k"})
    preflight = examine(
        project,
        keystore=keys,
        pricebook=PriceBook.for_config(project.config, project.root),
        environ={"ARENA_PROVIDER_CONCURRENCY": f"anthropic=2,{value}"},
    )
    with pytest.raises(UserError) as caught:
        make_plan(project, preflight)
    assert caught.value.code == "bad_provider_concurrency"
    assert value in caught.value.message


def test_total_counts_trials(tmp_path: Path, qapp) -> None:
    """planned and the total of the progress are models x cases x trials, each trial a call of its own."""
    service = FakeService(lambda request: reply("0"))
    world = World(tmp_path, {"models": [OPEN, ANTH], "run": {"trials": 3}}, cases=4, service=service)
    stored = world.run()
    (planned,) = world.of(Planned)
    assert planned.total == stored.info.planned == len(service.requests) == 24
    assert {event.total for event in world.of(QueueChanged)} == {24}
    assert {call.cell.trial for call in world.calls()} == {1, 2, 3}


def test_abort_while_queued(tmp_path: Path, qapp) -> None:
    """Cells that still wait for their lane's slot are finished once, as stopped, and never started."""
    flying = threading.Event()

    def answer(request: Request):
        flying.set()
        assert request.stop_event is not None
        assert request.stop_event.wait(20)
        raise ProviderError(ErrorKind.CANCELLED, "stopped")

    stop_now = threading.Event()

    def on_events(events) -> None:
        if flying.is_set():
            stop_now.set()

    config = {"models": [OPEN], "run": {"concurrency": 10, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, cases=12, service=FakeService(answer))
    stored = world.run(on_events=on_events, stop_now=stop_now)
    assert len(world.of(Started)) == 1
    assert len(world.of(CallFinished)) == 12
    assert {event.done.status for event in world.of(CallFinished)} == {CallStatus.STOPPED}
    assert (stored.info.status, stored.info.stopped) == (RunStatus.CANCELLED, 12)
    last = world.of(QueueChanged)[-1]
    assert (last.queued, last.running, last.finished) == (0, 0, 12)
    world.assert_each_once()


def test_started_means_the_slot_is_held(tmp_path: Path, qapp) -> None:
    """A call queued behind a width of one is not reported as started."""
    held = threading.Event()
    seen: list[int] = []

    def answer(request: Request):
        assert held.wait(20)
        return reply("0")

    def on_events(events) -> None:
        seen.append(len(world.of(Started)))
        if any(isinstance(e, QueueChanged) and e.running == 1 for e in events):
            held.set()

    config = {"models": [OPEN], "run": {"concurrency": 10, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, cases=5, service=FakeService(answer))
    world.run(on_events=on_events)
    assert seen[0] == 1
    assert len(world.of(Started)) == 5


def test_halving_once_per_window(tmp_path: Path, qapp) -> None:
    """Four refusals in one burst are one halving; the cells are tagged and come through."""
    lock, refused = threading.Lock(), [4]

    def answer(request: Request):
        with lock:
            if refused[0]:
                refused[0] -= 1
                raise ProviderError(ErrorKind.RATE_LIMIT, "slow down", status=429, retry_after_s=0.01)
        return reply("0")

    config = {
        "models": [OPEN],
        "run": {"retries": 0, "concurrency": 4, "provider_concurrency": {"openai": 4}},
    }
    world = World(tmp_path, config, cases=6, service=FakeService(answer))
    stored = world.run()
    cuts = [e for e in world.of(Throttled) if e.after < e.before]
    assert [(e.before, e.after) for e in cuts] == [(4, 2)]
    assert stored.info.completed == 6
    assert sum(call.throttled for call in world.calls()) == 4
    assert {call.attempts for call in world.calls()} == {1}


def test_connect_timeout_throttles(tmp_path: Path, qapp) -> None:
    """A connect timeout narrows the lane as a 429 does."""
    left = [1]

    def answer(request: Request):
        if left[0]:
            left[0] -= 1
            raise ProviderError(ErrorKind.CONNECT_TIMEOUT, "no connection in time")
        return reply("0")

    config = {"models": [OPEN], "run": {"concurrency": 1, "provider_concurrency": {"openai": 1}}}
    world = World(tmp_path, config, cases=2, service=FakeService(answer))
    stored = world.run()
    assert stored.lanes["openai"]["throttled"] == 1
    assert stored.info.completed == 2


def test_run_to_end_gives_the_id(tmp_path: Path, qapp) -> None:
    """The driver without a window returns when everything is stored."""
    world = World(tmp_path, models("m"), cases=2)
    assert world.stored(run_to_end(world.request())).info.completed == 2
