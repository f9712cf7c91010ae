"""Marking a saved run again by a judge: what it will cost, what is asked, what stays when it ends early."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import yaml

from arena_desktop.desks.marking_controller import MarkingController
from engine.domain import Cell, RunStatus, ScoreState
from engine.errors import UserError, WorldError
from engine.execution.candidates import Means
from engine.execution.events import BudgetChanged, Event, RunFinished, Scored, Throttled
from engine.execution.jobs import JUDGE_LANE
from engine.execution.mark_again import MarkAgain, look
from engine.execution.rescore import CUT_OFF, Rescored
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import Project, load_project
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_judge import (
    GOOD,
    JUDGE,
    OPEN,
    PRICE,
    WRONG,
    asked,
    cases,
    codes,
    marks,
    service,
    shown,
)
from tests.execution.worlds import FakeService, World, reply

ROOT = Path(__file__).parents[2]
CARD = {"pricing": {"models": {"judge-x": PRICE, "gpt-x": PRICE}}}


def ran(tmp_path: Path, tests: list[dict[str, Any]] | None = None, **config: Any) -> World:
    """A finished run, marked by a judge that likes everything unless `judge` says otherwise."""
    fake = config.pop("fake", None) or service(lambda request: GOOD)
    config = {"models": [OPEN], "judge": JUDGE, **config}
    made = World(tmp_path, config, cases=cases(4) if tests is None else tests, service=fake)
    made.run()
    return made


def changed(made: World, **config: Any) -> Project:
    folder = made.root / "project"
    (folder / "config.yaml").write_text(yaml.safe_dump({"project": "demo", **made.config, **config}))
    return load_project(folder)


def looked(
    made: World, project: Project, fake: FakeService, *, key: bool = True, trust: bool = False
) -> MarkAgain:
    keys = KeyStore(environ={"OPENAI_API_KEY": "k-open"} if key else {})
    book = PriceBook.for_config(project.config, project.root)
    with Store.open(made.store_path) as store:
        return look(
            store,
            store.resolve("last"),
            project,
            Means(keys, book, trust, environ={}),
            make_provider=fake.make,
        )


def scores(made: World) -> dict[str, float | None]:
    return {key: mark.score for key, mark in marks(made).items()}


class Marked:
    """A session of marking from its start to its end."""

    def __init__(self, qtbot: Any, found: MarkAgain) -> None:
        self.events: list[Event] = []
        self.ends: list[RunFinished] = []
        self._qtbot = qtbot
        self.controller = MarkingController(found)
        self.controller.events.connect(lambda events: self.events.extend(events))
        self.controller.finished.connect(self.ends.append)
        self.controller.start_in_thread()

    def wait(self) -> Marked:
        self._qtbot.waitUntil(lambda: bool(self.ends), timeout=10000)
        assert self.controller.wait()
        return self

    @property
    def status(self) -> RunStatus:
        return self.ends[0].status

    @property
    def rescored(self) -> Rescored:
        assert self.controller.rescored is not None, self.ends
        return self.controller.rescored


def test_a_new_rubric_asks_the_judge_and_no_model(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    project = changed(made, judge={**JUDGE, "rubric": "Is it kind?"})
    fake = service(lambda r: WRONG if "kind" in r.messages[0].content else GOOD)
    found = looked(made, project, fake)
    assert (found.asks, found.answers, found.calls) == (True, 4, 4)
    assert fake.requests == []
    done = Marked(qtbot, found).wait()
    assert done.status is RunStatus.COMPLETED
    assert (len(asked(fake)), asked(fake, "gpt-x")) == (4, [])
    assert {mark.score for mark in marks(made).values()} == {0.0}
    assert (done.rescored.changed, done.rescored.unmarked, dict(done.rescored.kept)) == (4, 0, {})
    stored = made.stored()
    assert stored.info.status is RunStatus.COMPLETED
    assert stored.config["judge"]["rubric"] == "Is it kind?"
    assert CUT_OFF not in codes(made)
    assert codes(made).count("rescored") == 1
    with Store.open(made.store_path) as store:
        history = store.score_history("last", Cell("open", "c0", 1))
    assert [score.score for score in history] == [0.0, 1.0]
    assert len([event for event in done.events if isinstance(event, Scored)]) == 4


def test_marks_by_the_same_terms_ask_for_nothing(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    found = looked(made, changed(made, metrics={"weights": {"accuracy": 1}}), service(lambda r: GOOD))
    assert (found.asks, found.answers, found.calls, found.cost.high) == (False, 0, 0, Decimal(0))


def test_the_price_is_told_before_and_the_cost_is_kept_after(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path, **CARD)
    before = made.stored()
    cost_before = before.info.cost_usd
    spent_before = next(row for row in before.spend if row.model_key == JUDGE_LANE).spent_usd
    project = changed(made, judge={**JUDGE, "votes": 3}, budgets={"confirm_above_usd": 0.001})
    fake = service(lambda r: GOOD)
    found = looked(made, project, fake)
    assert (found.answers, found.calls) == (4, 12)
    low, likely, high = found.cost.low, found.cost.likely, found.cost.high
    assert low is not None
    assert likely is not None
    assert high is not None
    assert Decimal(0) < low < likely < high
    assert [note.code for note in found.confirm] == ["above"]
    done = Marked(qtbot, found).wait()
    assert len(asked(fake)) == 12
    row = next(row for row in made.stored().spend if row.model_key == JUDGE_LANE)
    more = row.spent_usd - spent_before
    # Each fake reply is charged for five tokens in and five out.
    assert more == 12 * Decimal("0.01")
    assert cost_before is not None
    assert made.stored().info.cost_usd == cost_before + more
    assert row.calls == 16
    (note,) = [note for note in made.stored().notes if note.code == "judge_cost"]
    assert (note.values["calls"], Decimal(note.values["usd"])) == (16, row.spent_usd)
    assert any(isinstance(event, BudgetChanged) for event in done.events)


def test_a_judge_without_a_price_is_not_free(tmp_path: Path) -> None:
    made = ran(tmp_path)
    project = changed(made, judge={**JUDGE, "rubric": "New"}, budgets={"max_run_usd": 1})
    found = looked(made, project, service(lambda r: GOOD))
    assert (found.cost.high, found.unpriced) == (None, (JUDGE_LANE,))
    assert [note.code for note in found.confirm] == ["unpriced_under_ceiling"]


def test_a_ceiling_holds_and_the_rest_keeps_its_marks(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path, **CARD)
    spent = made.stored().info.cost_usd
    assert spent is not None
    ceiling = spent + Decimal(3)
    rubric = {**JUDGE, "rubric": "Is it kind?", "max_tokens": 20}
    project = changed(made, judge=rubric, budgets={"max_run_usd": float(ceiling)}, run={"concurrency": 1})
    fake = service(lambda r: reply(WRONG, tokens=400))
    done = Marked(qtbot, looked(made, project, fake)).wait()
    assert done.status is RunStatus.STOPPED_BUDGET
    asked_for = len(asked(fake))
    assert 0 < asked_for < 4
    assert made.stored().info.cost_usd is not None
    assert made.stored().info.cost_usd <= ceiling
    found = list(scores(made).values())
    assert (found.count(0.0), found.count(1.0)) == (asked_for, 4 - asked_for)
    assert dict(done.rescored.kept) == {"judge": 4 - asked_for}
    assert made.stored().info.status is RunStatus.COMPLETED
    # Carrying on asks only for what is left.
    free = changed(made, judge=rubric)
    rest = looked(made, free, fake)
    assert rest.answers == 4 - asked_for
    Marked(qtbot, rest).wait()
    assert len(asked(fake)) == 4
    assert {mark.score for mark in marks(made).values()} == {0.0}


def test_a_cancel_keeps_what_is_marked_and_finishes_what_is_begun(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    held, waiting = threading.Event(), threading.Semaphore(0)

    def judge(request: Request) -> str:
        if shown(request) != "0":
            waiting.release()
            assert held.wait(20)
        return WRONG

    fake = service(judge)
    run = {"concurrency": 2, "provider_concurrency": {"openai": 1}}
    project = changed(made, judge={**JUDGE, "votes": 2, "rubric": "New"}, run=run)
    marking = Marked(qtbot, looked(made, project, fake))
    assert waiting.acquire(timeout=10)
    marking.controller.cancel()
    qtbot.wait(50)
    held.set()
    marking.wait()
    assert marking.status is RunStatus.CANCELLED
    assert [shown(request) for request in asked(fake)] == ["0", "0", "1", "1"]
    assert scores(made) == {
        "c0": 0.0,
        "c1": 0.0,
        "c2": 1.0,
        "c3": 1.0,
    }
    assert dict(marking.rescored.kept) == {"judge": 2}
    assert CUT_OFF not in codes(made)
    assert (marking.ends[0].completed, marking.ends[0].stopped) == (2, 2)
    assert looked(made, project, fake).answers == 2


def test_stopping_now_leaves_the_marks_that_are_not_made(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    waiting = threading.Semaphore(0)

    def judge(request: Request) -> str:
        waiting.release()
        assert request.stop_event is not None
        assert request.stop_event.wait(20)
        raise ProviderError(ErrorKind.CANCELLED, "stopped")

    project = changed(made, judge={**JUDGE, "rubric": "New"})
    marking = Marked(qtbot, looked(made, project, service(judge)))
    assert waiting.acquire(timeout=10)
    marking.controller.stop_now()
    marking.wait()
    assert marking.status is RunStatus.CANCELLED
    assert {mark.score for mark in marks(made).values()} == {1.0}


def test_a_judge_that_cannot_be_asked_takes_no_mark_away(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)

    def denied(request: Request) -> str:
        raise ProviderError(ErrorKind.AUTH, "no", status=401)

    project = changed(made, judge={**JUDGE, "rubric": "New"})
    done = Marked(qtbot, looked(made, project, service(denied))).wait()
    assert {(mark.state, mark.score) for mark in marks(made).values()} == {(ScoreState.SCORED, 1.0)}
    assert dict(done.rescored.kept) == {"judge": 4}
    assert "judge_stopped" in codes(made)
    again = looked(made, project, service(lambda r: GOOD))
    assert again.answers == 4
    Marked(qtbot, again).wait()
    assert "judge_stopped" not in codes(made)


def test_without_the_judges_key_nothing_is_asked_and_the_reason_is_known(tmp_path: Path) -> None:
    made = ran(tmp_path)
    project = changed(made, judge={**JUDGE, "rubric": "New"})
    found = looked(made, project, service(lambda r: GOOD), key=False)
    assert not found.asks
    skip = found.request.preflight.judge_skip
    assert skip is not None
    assert (skip.code, skip.fix != "") == ("no_key", True)


def test_slowing_down_and_retries_are_those_of_a_run(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    first = threading.Event()

    def judge(request: Request) -> str:
        if not first.is_set():
            first.set()
            raise ProviderError(ErrorKind.RATE_LIMIT, "slow", status=429, retry_after_s=0.0)
        return GOOD

    project = changed(made, judge={**JUDGE, "rubric": "New"})
    done = Marked(qtbot, looked(made, project, service(judge))).wait()
    assert done.status is RunStatus.COMPLETED
    assert any(isinstance(event, Throttled) and event.lane == JUDGE_LANE for event in done.events)
    assert done.rescored.unmarked == 0


def test_a_run_is_marked_by_one_program_at_a_time(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    held, waiting = threading.Event(), threading.Semaphore(0)

    def judge(request: Request) -> str:
        waiting.release()
        assert held.wait(20)
        return GOOD

    project = changed(made, judge={**JUDGE, "rubric": "New"})
    found = looked(made, project, service(judge))
    marking = Marked(qtbot, found)
    assert waiting.acquire(timeout=10)
    assert CUT_OFF in codes(made)
    with Store.open(made.store_path) as store:
        run_id = store.resolve("last")
        for forbidden in (store.reopen_run, lambda name: store.delete([name])):
            with pytest.raises(UserError) as caught:
                forbidden(run_id)
            assert caught.value.code == "run_in_use"
            assert "marked again" in caught.value.message
    second = Marked(qtbot, found).wait()
    assert second.ends[0].error is not None
    assert "marked again" in second.ends[0].error
    held.set()
    assert marking.wait().status is RunStatus.COMPLETED
    with Store.open(made.store_path) as store:
        store.delete([run_id])


def test_a_new_check_by_a_judge_is_made_for_a_run_that_had_none(tmp_path: Path, qtbot) -> None:
    plain = [{"id": f"c{i}", "input": f"say {i}", "reference": f"{i}"} for i in range(3)]
    made = ran(tmp_path, plain, judge={})
    folder = made.root / "project"
    both = [{**case, "checks": [{"type": "contains"}, {"type": "llm_judge"}]} for case in plain]
    (folder / "tests.yaml").write_text(yaml.safe_dump(both))
    fake = service(lambda r: '{"score": 0.5}')
    project = changed(
        made, judge={**JUDGE, "provider": "second"}, providers=[{"id": "second", "kind": "openai"}]
    )
    done = Marked(qtbot, looked(made, project, fake)).wait()
    assert done.rescored.unmarked == 0
    assert {mark.score for mark in marks(made).values()} == {0.75}
    assert [connection["id"] for connection in made.stored().config["connections"]].count("second") == 1


def test_answers_to_another_question_keep_their_marks(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path)
    tests = cases(4)
    tests[0] = {**tests[0], "input": "say something else"}
    (made.root / "project" / "tests.yaml").write_text(yaml.safe_dump(tests[:3]))
    fake = service(lambda r: WRONG)
    done = Marked(qtbot, looked(made, changed(made, judge={**JUDGE, "rubric": "New"}), fake)).wait()
    assert len(asked(fake)) == 2
    assert (done.rescored.asked_otherwise, done.rescored.gone) == (("c0",), ("c3",))
    assert scores(made) == {
        "c0": 1.0,
        "c1": 0.0,
        "c2": 0.0,
        "c3": 1.0,
    }


# ---- a kill

_CHILD = """
import sys, pathlib
sys.path.insert(0, {root!r})
from tests.execution.test_mark_again import killed_marking
killed_marking(pathlib.Path({folder!r}))
"""


def slow_judge(rubric: str, *, slow: bool) -> dict[str, Any]:
    params = {"latency_ms": 60, "sleep": True} if slow else {}
    return {"judge": {"model": "mock:judge", "provider": "mock", "rubric": rubric, "params": params}}


def of_practice(folder: Path) -> World:
    model = {"key": "m", "model": "mock:oracle", "provider": "mock"}
    config = {"models": [model], **slow_judge("Old", slow=False)}
    return World(folder, config, cases=cases(12))


def killed_marking(folder: Path) -> None:
    """Marks a run again one answer at a time and tells each that is stored."""
    from PySide6.QtCore import QCoreApplication

    app = QCoreApplication([])
    made = of_practice(folder)
    run = {"concurrency": 1, "provider_concurrency": {"mock": 1}}
    controller = MarkingController(
        practice_look(made, changed(made, **slow_judge("New", slow=True), run=run))
    )

    def tell(events: tuple[Event, ...]) -> None:
        for event in events:
            if isinstance(event, Scored):
                sys.stdout.write(f"{event.cell.case_id}\n")
                sys.stdout.flush()

    controller.events.connect(tell)
    controller.start_in_thread()
    app.exec()


def practice_look(made: World, project: Project) -> MarkAgain:
    book = PriceBook.for_config(project.config, project.root)
    with Store.open(made.store_path) as store:
        return look(store, store.resolve("last"), project, Means(KeyStore(environ={}), book, environ={}))


def test_a_kill_keeps_what_is_marked_and_only_the_rest_is_asked_again(tmp_path: Path, qtbot) -> None:
    made = of_practice(tmp_path)
    made.run()
    code = _CHILD.format(root=str(ROOT), folder=str(tmp_path))
    env = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "ARENA_KEYRING": "memory"}
    command = [sys.executable, "-c", code]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT) as child:
        assert child.stdout is not None
        told = {child.stdout.readline().strip() for _ in range(3)}
        child.send_signal(signal.SIGKILL)
        told |= set(child.stdout.read().split())
    assert CUT_OFF in codes(made)
    assert made.stored().info.status is RunStatus.COMPLETED
    project = changed(made, **slow_judge("New", slow=True), run={"concurrency": 4})
    found = practice_look(made, project)
    assert 12 - len(told) - 1 <= found.answers <= 12 - len(told)
    done = Marked(qtbot, found).wait()
    assert (done.status, done.rescored.unmarked) == (RunStatus.COMPLETED, 0)
    assert CUT_OFF not in codes(made)
    assert practice_look(made, project).answers == 0


# ---- a store that takes no more


@pytest.fixture
def full(tmp_path: Path, qtbot) -> tuple[World, Project, Marked]:
    """A marking whose store takes nothing from before its first mark on."""
    made = ran(tmp_path)
    held, waiting = threading.Event(), threading.Semaphore(0)

    def judge(request: Request) -> str:
        waiting.release()
        assert held.wait(20)
        return WRONG

    project = changed(made, judge={**JUDGE, "rubric": "New"})
    marking = Marked(qtbot, looked(made, project, service(judge)))
    assert waiting.acquire(timeout=10)
    with Store.open(made.store_path) as store:
        execute = store.database.connection.execute
        for table, when in (("scores", "INSERT"), ("runs", "UPDATE")):
            execute(
                f"CREATE TRIGGER full_{table} BEFORE {when} ON {table} BEGIN SELECT RAISE(FAIL, 'full'); END"
            )
    held.set()
    marking.wait()
    assert marking.status is RunStatus.ABORTED
    assert marking.ends[0].error
    assert marking.ends[0].unsaved > 0
    assert marking.controller.rescored is None
    return made, project, marking


def room_again(store_path: Path) -> None:
    with Store.open(store_path) as store:
        for table in ("scores", "runs"):
            store.database.connection.execute(f"DROP TRIGGER IF EXISTS full_{table}")


def test_a_full_disk_ends_it_with_a_sentence_and_it_can_be_done_again(
    full: tuple[World, Project, Marked], qtbot
) -> None:
    made, project, _marking = full
    room_again(made.store_path)
    assert {mark.score for mark in marks(made).values()} == {1.0}
    assert CUT_OFF in codes(made)
    again = Marked(qtbot, looked(made, project, service(lambda r: WRONG))).wait()
    assert (again.status, again.rescored.changed) == (RunStatus.COMPLETED, 4)
    assert CUT_OFF not in codes(made)


def test_marks_in_memory_are_saved_in_their_place_once_there_is_room(
    full: tuple[World, Project, Marked],
) -> None:
    made, project, marking = full
    spent = made.stored().info.cost_usd
    assert not marking.controller.save_again()
    room_again(made.store_path)
    assert marking.controller.save_again()
    assert marking.controller.rescored.changed >= 1
    new = [mark for mark in marks(made).values() if mark.score == 0.0]
    assert len(new) == marking.controller.rescored.changed
    assert CUT_OFF not in codes(made)
    cost = made.stored().info.cost_usd
    assert (cost is None) == (spent is None)
    assert spent is None or cost > spent
    # What is paid for is not asked for again.
    assert looked(made, project, service(lambda r: WRONG)).answers == 4 - len(new)


def test_marks_in_memory_are_saved_with_their_run_in_another_file(
    full: tuple[World, Project, Marked], tmp_path: Path
) -> None:
    made, _project, marking = full
    with pytest.raises(WorldError):
        marking.controller.rescue(made.store_path / "a file is no folder.sqlite")
    other = tmp_path / "other.sqlite"
    assert marking.controller.rescue(other) > 0
    with Store.open(other) as store:
        stored = store.run("last")
        kept = [call.score.score for call in store.calls("last") if call.score]
    assert kept.count(0.0) == marking.controller.rescored.changed >= 1
    assert stored.config["judge"]["rubric"] == "New"
    assert CUT_OFF not in [note.code for note in stored.notes]
    assert {mark.score for mark in marks(made).values()} == {1.0}
