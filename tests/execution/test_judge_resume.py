"""A judge when the run ends early: what is paid for is marked, or stays stored for carrying on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from engine.domain import CallStatus, RunStatus, ScoreState
from engine.execution import departures
from engine.execution.controller import RunController
from engine.execution.departures import Departures
from engine.execution.events import CallFinished, RunFinished, RunStopping, Scored
from engine.execution.rescore import rescore
from engine.storage.records import SpendWrite
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_judge import GOOD, PRICE, WRONG, asked, cases, gone, marks, service, shown, world
from tests.execution.worlds import FakeService, World

ROOT = Path(__file__).parents[2]


class Held:
    """A judge that waits until it is let go or told to stop."""

    def __init__(self, *, polite: bool = True) -> None:
        self.let_go = threading.Event()
        self.waiting = threading.Semaphore(0)
        self._polite = polite

    def __call__(self, request: Request) -> str:
        self.waiting.release()
        while not self.let_go.wait(0.01):
            if self._polite and request.stop_event is not None and request.stop_event.is_set():
                raise ProviderError(ErrorKind.CANCELLED, "stopped")
        return GOOD


def begin(made: World) -> tuple[RunController, list[RunFinished]]:
    ends: list[RunFinished] = []
    controller = RunController(made.request())
    controller.events.connect(lambda events: made.events.extend(events))
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    return controller, ends


def _slow(tmp_path: Path, held: Held, count: int = 12, **more: Any) -> tuple[World, FakeService]:
    fake = service(held)
    run = {"concurrency": 2, "provider_concurrency": {"openai": 1}}
    return world(tmp_path, fake, cases(count), run=run, **more), fake


def test_cancel_lets_the_judge_finish_what_is_paid_for(tmp_path: Path, qtbot) -> None:
    held = Held()

    def model(request: Request) -> str:
        """The sixth answer comes only when the judge's do: some questions are left to be given up."""
        if request.messages[0].content == "say 5":
            held.let_go.wait(10)
        return request.messages[0].content.split()[-1]

    run = {"concurrency": 2, "provider_concurrency": {"openai": 1}}
    fake = service(held, model)
    made = world(tmp_path, fake, cases(12), run=run)
    controller, ends = begin(made)
    assert held.waiting.acquire(timeout=10)
    qtbot.waitUntil(lambda: len(asked(fake, "gpt-x")) >= 4, timeout=10000)
    controller.cancel()
    qtbot.waitUntil(lambda: bool(made.of(RunStopping)), timeout=5000)
    assert not ends
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert ends[0].status is RunStatus.CANCELLED
    answered = [call for call in made.calls() if call.status is CallStatus.OK]
    assert 4 <= len(answered) < 12
    assert all(call.score is not None and call.score.score == 1.0 for call in answered)
    assert len(asked(fake)) == len(answered) == len(asked(fake, "gpt-x"))
    made.assert_each_once()


def test_stopping_now_leaves_answers_unmarked_and_carrying_on_asks_only_the_judge(
    tmp_path: Path, qtbot
) -> None:
    held = Held()
    made, fake = _slow(tmp_path, held, count=4)
    controller, ends = begin(made)
    assert held.waiting.acquire(timeout=10)
    qtbot.waitUntil(lambda: len(asked(fake, "gpt-x")) == 4, timeout=10000)
    qtbot.waitUntil(lambda: len(_stored(made)) == 4, timeout=10000)
    controller.cancel()
    controller.cancel()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert (ends[0].status, ends[0].completed, ends[0].stopped) == (RunStatus.CANCELLED, 4, 0)
    assert marks(made) == {}
    finished = made.of(CallFinished)
    assert [event.done.status for event in finished] == [CallStatus.OK] * 4
    assert all(event.done.score is None for event in finished)
    made.assert_each_once()

    made.service = service(lambda request: GOOD)
    made.events.clear()
    stored = made.run(resume_from=made.stored().info.run_id)
    assert (stored.info.status, stored.info.completed) == (RunStatus.COMPLETED, 4)
    assert len(asked(made.service)) == 4
    assert asked(made.service, "gpt-x") == []
    assert {mark.score for mark in marks(made).values()} == {1.0}
    assert len(made.of(Scored)) == 4


def _stored(made: World) -> list[str]:
    with Store.open(made.store_path, read_only=True) as store:
        return [write.cell.case_id for write in store.pending_scores("last")]


def test_a_judge_that_does_not_come_back_is_left_behind(tmp_path: Path, qtbot) -> None:
    held = Held(polite=False)
    made, _ = _slow(tmp_path, held, count=2)
    controller, ends = begin(made)
    assert held.waiting.acquire(timeout=10)
    qtbot.waitUntil(lambda: len(_stored(made)) == 2, timeout=10000)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert (ends[0].status, ends[0].completed) == (RunStatus.CANCELLED, 2)
    assert marks(made) == {}
    made.assert_each_once()
    held.let_go.set()
    from engine.execution.controller import LEFT_BEHIND

    assert LEFT_BEHIND.pop().waitForDone(10000)
    assert len(_stored(made)) == 2


def test_fail_fast_starts_no_judge(tmp_path: Path, qapp) -> None:
    failed = threading.Event()

    def model(request: Request) -> str:
        if request.messages[0].content == "say 1":
            failed.set()
            raise ProviderError(ErrorKind.BAD_REQUEST, "bad", status=400)
        return "ok"

    def judge(request: Request) -> str:
        assert failed.wait(20)
        return GOOD

    fake = service(judge, model)
    run = {"fail_fast": True, "concurrency": 2, "provider_concurrency": {"openai": 1}}
    made = world(tmp_path, fake, cases(9), run=run)
    stored = made.run()
    assert stored.info.status is RunStatus.FAILED_FAST
    assert len(asked(fake)) <= 1
    made.assert_each_once()


def test_an_escaped_error_keeps_answers_that_wait_for_their_judge(tmp_path: Path, qtbot) -> None:
    held = Held()
    made, _ = _slow(tmp_path, held, count=3)
    controller, ends = begin(made)
    assert held.waiting.acquire(timeout=10)
    qtbot.waitUntil(lambda: len(_stored(made)) == 3, timeout=10000)
    controller.abort(RuntimeError("something else broke"))
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert ends[0].status is RunStatus.ABORTED
    made.service = service(lambda request: GOOD)
    made.run(resume_from=made.stored().info.run_id)
    assert {mark.score for mark in marks(made).values()} == {1.0}
    assert asked(made.service, "gpt-x") == []


_CHILD = """
import sys, pathlib
sys.path.insert(0, {root!r})
from tests.execution.test_judge_resume import killed_world
made = killed_world(pathlib.Path({folder!r}), 60000)
def tell(events):
    for event in events:
        if type(event).__name__ == "Answered":
            print(event.cell.case_id, flush=True)
made.run(on_events=tell)
"""


def killed_world(folder: Path, judge_ms: int) -> World:
    """Quick models and a judge that takes a minute, or none."""
    config = {
        "models": [{"key": "m", "model": "mock:oracle", "provider": "mock"}],
        "judge": {
            "model": "mock:judge",
            "provider": "mock",
            "params": {"latency_ms": judge_ms, "sleep": True},
        },
        "run": {"concurrency": 4},
    }
    return World(folder, config, cases=cases(6))


def test_a_kill_between_answer_and_mark_loses_nothing(tmp_path: Path, qapp) -> None:
    code = _CHILD.format(root=str(ROOT), folder=str(tmp_path))
    env = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "ARENA_KEYRING": "memory"}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT) as child:
        assert child.stdout is not None
        told = [child.stdout.readline().strip() for _ in range(6)]
        child.send_signal(signal.SIGKILL)
    assert sorted(told) == [f"c{i}" for i in range(6)]
    with Store.open(tmp_path / "arena.sqlite") as store:
        (run_id,) = store.mark_interrupted()
        assert len(store.pending_scores(run_id)) == 6
    made = killed_world(tmp_path, 0)
    stored = made.run(resume_from=run_id)
    assert (stored.info.status, stored.info.completed) == (RunStatus.COMPLETED, 6)
    assert {mark.score for mark in marks(made).values()} == {1.0}
    assert not made.of(CallFinished)


# ---- marks that are made again


def test_a_changed_rubric_is_judged_anew_and_other_marks_stay(tmp_path: Path, qapp) -> None:
    tests = [*cases(2), {"id": "plain", "input": "say 7", "reference": "7"}, *cases(4)[3:]]
    fake = service(lambda request: GOOD, lambda r: r.messages[0].content.split()[-1])
    made = world(tmp_path, fake, tests)
    stored = made.run()
    before = len(asked(fake))
    with Store.open(made.store_path) as store:
        # As after a kill: one call is missing.
        store.database.connection.execute(
            "UPDATE cells SET state = 'planned', status = NULL, answer = NULL WHERE id = "
            "(SELECT max(id) FROM cells)"
        )
    judge = {**made.config["judge"], "rubric": "Is it kind?"}
    made.config = {**made.config, "judge": judge}
    made.service = second = service(lambda r: WRONG if "kind" in r.messages[0].content else GOOD)
    stored = made.run(resume_from=stored.info.run_id)
    assert before == 3
    assert [mark.score for mark in marks(made).values()].count(0.0) == 3
    assert marks(made)["plain"].score == 1.0
    assert (len(asked(second)), len(asked(second, "gpt-x"))) == (3, 1)
    assert stored.config["judge"]["rubric"] == "Is it kind?"


def test_marks_that_were_kept_for_want_of_a_judge_are_made_when_the_run_is_carried_on(
    tmp_path: Path, qapp
) -> None:
    """Scoring anew without the judge took over the new settings, so they no longer tell what has changed."""
    made = world(tmp_path, service(lambda request: GOOD), cases(4))
    stored = made.run()
    with Store.open(made.store_path) as store:
        store.database.connection.execute(
            "UPDATE cells SET state = 'planned', status = NULL, answer = NULL WHERE id = "
            "(SELECT max(id) FROM cells)"
        )
    judge = {**made.config["judge"], "rubric": "Is it kind?"}
    made.config = {**made.config, "judge": judge}
    with Store.open(made.store_path) as store:
        kept = rescore(store, stored.info.run_id, made.request().project)
    assert kept.kept == {"judge": 3}
    made.service = second = service(lambda request: WRONG)
    made.run(resume_from=stored.info.run_id)
    assert {mark.score for mark in marks(made).values()} == {0.0}
    assert (len(asked(second)), len(asked(second, "gpt-x"))) == (4, 1)


def test_marks_that_mean_the_same_are_not_paid_for_twice(tmp_path: Path, qapp) -> None:
    """Another check of the case has changed: the judge's mark is taken over."""
    checks = ({"type": "exact_match"}, {"type": "llm_judge"})
    fake = service(lambda request: gone(request) if shown(request) == "2" else GOOD)
    made = world(tmp_path, fake, cases(3, *checks), run={"concurrency": 1, "retries": 0})
    stored = made.run()
    assert marks(made)["c2"].state is ScoreState.ERRORED
    made.cases = cases(3, {"type": "contains"}, {"type": "llm_judge"})
    made.service = second = service(lambda request: GOOD)
    made.run(resume_from=stored.info.run_id)
    assert [shown(request) for request in asked(second)] == ["2"]
    assert all(mark.checks[0].type == "contains" for mark in marks(made).values())
    assert {mark.score for mark in marks(made).values()} == {1.0}


def test_a_question_that_never_left_reserves_nothing(tmp_path: Path, qtbot, monkeypatch) -> None:
    """Stopped now, between its reservation and its departure."""
    booked = threading.Event()
    commits = Departures.committed

    def committed(self: Departures, write: SpendWrite) -> None:
        if write.purpose == "judge":
            booked.set()
        else:
            commits(self, write)

    monkeypatch.setattr(Departures, "committed", committed)
    monkeypatch.setattr(departures, "LEFT_BEHIND_S", 0.0)
    made = world(
        tmp_path,
        service(lambda request: GOOD),
        cases(1),
        budgets={"max_run_usd": 1000},
        pricing={"models": {"judge-x": PRICE, "gpt-x": PRICE}},
    )
    controller, ends = begin(made)
    qtbot.waitUntil(booked.is_set, timeout=10000)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    (account,) = [row for row in made.stored().spend if row.purpose == "judge"]
    assert (account.spent_usd, account.reserved_usd) == (0, 0)
    assert asked(made.service) == []
