"""Comparisons of models when a run ends early: no verdict is lost, none is paid for twice."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml

from engine.domain import Cell, RunStatus, ScoreState
from engine.execution.events import RunStopping
from engine.execution.rescore import rescore
from engine.project import load_project
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_judge import asked, service
from tests.execution.test_judge_resume import Held, begin
from tests.execution.test_mark_again import Marked, looked
from tests.execution.test_pairs import by_order, checks, comparing, says, scores, sides, verdict_events, world
from tests.execution.worlds import FakeService, World

ROOT = Path(__file__).parents[2]
BEST_FIRST = {"a": 1.0, "b": 0.5, "c": 0.0}

_CHILD = """
import sys
sys.path.insert(0, {root!r})
from PySide6.QtCore import QCoreApplication
app = QCoreApplication([])
from pathlib import Path
from tests.execution.test_pair_resume import killing_world
killing_world(Path({folder!r})).run()
"""


def by_key(made: World) -> dict[str, float | None]:
    return {key[0]: score for key, score in scores(made).items()}


def killing_world(folder: Path) -> World:
    """A run whose process is killed while the judge answers its ninth question."""
    log = folder / "asked.jsonl"
    steady = by_order("abc")

    def judge(request: Request) -> str:
        with log.open("a") as file:
            file.write(json.dumps(sides(request)) + "\n")
        if len(log.read_text().splitlines()) >= 9:
            os.kill(os.getpid(), 9)
        return steady(request)

    run = {"concurrency": 2, "provider_concurrency": {"openai": 2}}
    return world(folder, service(judge, says), "abc", comparing(3), run=run)


def test_a_kill_costs_at_most_the_questions_under_way(tmp_path: Path, qapp) -> None:
    code = _CHILD.format(root=str(ROOT), folder=str(tmp_path))
    env = {**os.environ, "ARENA_HOME": str(tmp_path / "home"), "ARENA_KEYRING": "memory"}
    child = subprocess.run([sys.executable, "-c", code], env=env, cwd=ROOT, check=False, timeout=60)
    assert child.returncode == -9
    before = [tuple(json.loads(line)) for line in (tmp_path / "asked.jsonl").read_text().splitlines()]
    with Store.open(tmp_path / "arena.sqlite") as store:
        (run_id,) = store.mark_interrupted()
    kept = len(verdict_events(killing_world(tmp_path)))
    assert len(before) - 2 <= kept < len(before)
    made = world(tmp_path, service(by_order("abc"), says), "abc", comparing(3))
    stored = made.run(resume_from=run_id)
    assert stored.info.status is RunStatus.COMPLETED
    assert len(asked(made.service)) == 18 - kept
    told = Counter([*before, *(sides(request) for request in asked(made.service))])
    assert len(told) == 18
    assert sum(told.values()) <= 18 + 2
    assert by_key(made) == BEST_FIRST


def test_cancel_lets_the_judge_finish_the_pairs_that_are_there(tmp_path: Path, qtbot) -> None:
    held = Held()

    def judge(request: Request) -> str:
        held(request)
        return by_order("abc")(request)

    run = {"concurrency": 2, "provider_concurrency": {"openai": 1}}
    made = world(tmp_path, service(judge, says), "abc", comparing(6), run=run)
    controller, ends = begin(made)
    assert held.waiting.acquire(timeout=10)
    controller.cancel()
    qtbot.waitUntil(lambda: bool(made.of(RunStopping)), timeout=5000)
    held.let_go.set()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    assert ends[0].status is RunStatus.CANCELLED
    first = len(asked(made.service))
    answered = {request.messages[0].content for request in made.service.requests}
    assert len(answered) < 18
    made.service = service(by_order("abc"), says)
    stored = made.run(resume_from=made.stored().info.run_id)
    assert stored.info.status is RunStatus.COMPLETED
    assert first + len(asked(made.service)) == 36
    assert by_key(made) == BEST_FIRST
    assert len({key for key, score in scores(made).items() if score is not None}) == 18


def test_stopping_now_leaves_marks_open_and_carrying_on_asks_what_is_missing(tmp_path: Path, qtbot) -> None:
    held = Held()
    made = world(tmp_path, service(held, says), "abc", comparing(2), run={"concurrency": 2})
    controller, ends = begin(made)
    assert held.waiting.acquire(timeout=10)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    made.assert_each_once()
    assert verdict_events(made) == []
    made.service = service(by_order("abc"), says)
    stored = made.run(resume_from=made.stored().info.run_id)
    assert stored.info.status is RunStatus.COMPLETED
    assert len(asked(made.service)) == 12
    assert by_key(made) == BEST_FIRST


def _missing(made: World, **cells: str) -> None:
    """As after a kill: these cells, by model, are planned, or failed for good; nothing is there of them."""
    with Store.open(made.store_path) as store:
        for key, state in cells.items():
            status = "error" if state == "done" else None
            store.database.connection.execute(
                "UPDATE cells SET state = ?, status = ?, answer = NULL, current_score = NULL "
                "WHERE model = (SELECT id FROM run_models WHERE model_key = ?)",
                (state, status, key),
            )


@pytest.mark.timeout(20)  # it did so for ever
@pytest.mark.parametrize("only", [False, True])
def test_an_answer_whose_rivals_all_failed_earlier_waits_for_nobody(tmp_path: Path, qapp, only: bool) -> None:
    made = world(tmp_path, service(by_order("abc"), says), "abc", comparing(1))
    run_id = made.run().info.run_id
    _missing(made, a="done", b="done", c="planned")
    made.service = service(by_order("abc"), says)
    again = (Cell("c", "c0", 1),) if only else ()
    stored = made.run(resume_from=run_id, again=again)
    assert stored.info.status is RunStatus.COMPLETED
    assert asked(made.service) == []
    mark = checks(made)["c", "c0", 1]
    assert (mark.state, mark.reason_code) == (ScoreState.ERRORED, "no_pair")


def _missing_last(made: World) -> None:
    """As after a kill: the last call is missing."""
    with Store.open(made.store_path) as store:
        store.database.connection.execute(
            "UPDATE cells SET state = 'planned', status = NULL, answer = NULL, current_score = NULL "
            "WHERE id = (SELECT max(id) FROM cells)"
        )


def test_a_missing_answer_meets_those_that_are_there(tmp_path: Path, qapp) -> None:
    """Its words are others now, so that what was said of the old ones does not count."""
    made = world(tmp_path, service(by_order("abc"), says), "abc", comparing(2))
    stored = made.run()
    _missing_last(made)
    made.service = service(by_order("cab"), lambda request: f"{says(request)} anew")
    stored = made.run(resume_from=stored.info.run_id)
    assert stored.info.status is RunStatus.COMPLETED
    assert {frozenset(text.split()[0] for text in sides(r)) for r in asked(made.service)} == {
        frozenset(("m-c", "m-a")),
        frozenset(("m-c", "m-b")),
    }
    assert len(asked(made.service)) == 4
    assert {key[0]: score for key, score in scores(made).items() if key[1] == "c1"} == {
        "a": 0.5,
        "b": 0.0,
        "c": 1.0,
    }
    assert {key[0]: score for key, score in scores(made).items() if key[1] == "c0"} == BEST_FIRST


def test_another_rubric_compares_anew_and_another_weight_does_not(tmp_path: Path, qapp) -> None:
    made = world(tmp_path, service(by_order("abc"), says), "abc", comparing(2))
    stored = made.run()
    _missing_last(made)
    made.cases = comparing(2, {"type": "pairwise_judge", "weight": 2})
    made.service = service(by_order("abc"), says)
    stored = made.run(resume_from=stored.info.run_id)
    assert asked(made.service) == []
    _missing_last(made)
    made.cases = comparing(2, {"type": "pairwise_judge", "rubric": "Be kind."})
    made.service = service(by_order("cba"), says)
    made.run(resume_from=stored.info.run_id)
    assert len(asked(made.service)) == 12
    assert by_key(made) == {"a": 0.0, "b": 0.5, "c": 1.0}


def test_models_instead_of_a_baseline_ask_only_the_other_pairs(tmp_path: Path, qapp) -> None:
    made = world(tmp_path, service(by_order("abc"), says), "abc", comparing(2, _against("b")))
    stored = made.run()
    assert len(asked(made.service)) == 8
    _missing_last(made)
    made.cases = comparing(2, _against("models"))
    made.service = service(by_order("abc"), says)
    made.run(resume_from=stored.info.run_id)
    assert len(asked(made.service)) == 4
    assert by_key(made) == BEST_FIRST


def _against(key: str) -> dict[str, Any]:
    return {"type": "pairwise_judge", "against": key}


def test_an_answer_asked_again_beside_its_own_meets_the_stored_ones(tmp_path: Path, qapp) -> None:
    made = world(tmp_path, service(by_order("abc"), says), "abc", comparing(2))
    stored = made.run()
    before = scores(made)
    made.service = service(by_order("cab"), lambda request: f"{says(request)} anew")
    made.run(resume_from=stored.info.run_id, again=(Cell("c", "c0", 1),))
    assert len(asked(made.service)) == 4
    assert scores(made) == before


def test_a_model_that_cannot_run_any_more_is_still_met(tmp_path: Path, qapp) -> None:
    def model(request: Request) -> str:
        if request.model == "m-a":
            raise ProviderError(ErrorKind.UNKNOWN, "down", status=500)
        return says(request)

    made = world(tmp_path, service(by_order("abc"), model), "abc", comparing(1), run={"retries": 0})
    stored = made.run()
    made.config["models"][1]["enabled"] = False
    made.service = service(by_order("abc"), says)
    made.run(resume_from=stored.info.run_id, retry_errors=True, resume_choice="new")
    assert len(asked(made.service)) == 4
    assert scores(made)["a", "c0", 1] == 1.0
    assert scores(made)["c", "c0", 1] == 0.0


def test_an_own_code_judge_that_never_answers_keeps_no_run_open(tmp_path: Path, qapp) -> None:
    def judge(request: Request) -> str:
        raise ZeroDivisionError("in the connector")

    fake: FakeService = service(judge, says)
    made = world(tmp_path, fake, "abc", comparing(2), run={"retries": 0})
    assert made.run().info.completed == 6
    assert {check.state for check in checks(made).values()} == {ScoreState.ERRORED}


# ---- a saved run marked again


def _run_and_change(tmp_path: Path, check: dict[str, Any], judge=None) -> tuple[World, Any]:
    made = world(tmp_path, service(judge or by_order("abc"), says), "abc", comparing(2))
    made.run()
    (made.root / "project/tests.yaml").write_text(yaml.safe_dump(comparing(2, check)))
    return made, load_project(made.root / "project")


def test_marking_again_by_the_same_terms_asks_for_nothing(tmp_path: Path, qtbot) -> None:
    made, project = _run_and_change(tmp_path, {"type": "pairwise_judge"})
    found = looked(made, project, service(by_order("cba"), says))
    assert (found.asks, found.calls) == (False, 0)


def test_marking_again_by_another_rubric_compares_anew(tmp_path: Path, qtbot) -> None:
    made, project = _run_and_change(tmp_path, {"type": "pairwise_judge", "rubric": "Be kind."})
    fake = service(by_order("cba"), says)
    found = looked(made, project, fake)
    assert (found.answers, found.calls) == (6, 12)
    marking = Marked(qtbot, found).wait()
    assert marking.status is RunStatus.COMPLETED
    assert len(asked(fake)) == 12
    assert by_key(made) == {"a": 0.0, "b": 0.5, "c": 1.0}
    assert looked(made, project, fake).calls == 0


def test_marking_again_with_more_votes_asks_only_for_those(tmp_path: Path, qtbot) -> None:
    made, project = _run_and_change(tmp_path, {"type": "pairwise_judge", "votes": 3})
    fake = service(by_order("cba"), says)
    found = looked(made, project, fake)
    assert found.calls == 24
    Marked(qtbot, found).wait()
    assert len(asked(fake)) == 24
    assert by_key(made) == {"a": 0.0, "b": 0.5, "c": 1.0}


def test_marking_again_from_the_verdicts_that_are_there_asks_nobody(tmp_path: Path, qtbot) -> None:
    made, project = _run_and_change(tmp_path, _against("c"))
    fake = service(by_order("cba"), says)
    found = looked(made, project, fake)
    assert (found.asks, found.calls) == (True, 0)
    Marked(qtbot, found).wait()
    assert asked(fake) == []
    assert by_key(made) == {"a": 1.0, "b": 1.0, "c": 0.0}


def test_marking_again_asks_anew_where_no_verdict_could_be_read(tmp_path: Path, qtbot) -> None:
    def judge(request: Request) -> str:
        return "Hm." if {text[2] for text in sides(request)} == {"a", "b"} else by_order("abc")(request)

    made, project = _run_and_change(tmp_path, {"type": "pairwise_judge"}, judge)
    fake = service(by_order("abc"), says)
    found = looked(made, project, fake)
    assert found.calls == 4
    Marked(qtbot, found).wait()
    assert by_key(made) == BEST_FIRST


def test_scoring_anew_for_free_keeps_what_a_judge_said_of_pairs(tmp_path: Path, qtbot) -> None:
    made, project = _run_and_change(tmp_path, {"type": "pairwise_judge", "rubric": "Be kind."})
    before = scores(made)
    with Store.open(made.store_path) as store:
        found = rescore(store, store.resolve("last"), project)
    assert dict(found.kept) == {"judge": 6}
    assert scores(made) == before


def test_a_cancelled_marking_keeps_its_verdicts(tmp_path: Path, qtbot) -> None:
    made, project = _run_and_change(tmp_path, {"type": "pairwise_judge", "rubric": "Be kind."})
    held = Held()

    def judge(request: Request) -> str:
        held(request)
        return by_order("cba")(request)

    fake = service(judge, says)
    marking = Marked(qtbot, looked(made, project, fake))
    assert held.waiting.acquire(timeout=10)
    marking.controller.cancel()
    held.let_go.set()
    assert marking.wait().status is RunStatus.CANCELLED
    first = len(asked(fake))
    second = service(by_order("cba"), says)
    found = looked(made, project, second)
    assert first + found.calls == 12
    Marked(qtbot, found).wait()
    assert first + len(asked(second)) == 12
    assert by_key(made) == {"a": 0.0, "b": 0.5, "c": 1.0}
