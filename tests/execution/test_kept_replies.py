"""What a judge has said before a mark was complete is stored, and not paid for twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from engine.domain import RunStatus
from engine.execution.kept_replies import JUDGE_REPLY
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request
from tests.execution.test_judge import JUDGE, asked, cases, marks, service, world
from tests.execution.test_judge_resume import begin
from tests.execution.test_mark_again import Marked, changed, looked
from tests.execution.test_pairs import by_order, says, scores
from tests.execution.test_pairs import world as pair_world
from tests.execution.worlds import World

SAID = '{"pass": true, "score": 1, "reason": "Right."}'
VOTES = {**JUDGE, "votes": 3}
ONE = {"concurrency": 1, "provider_concurrency": {"openai": 1}}


class Stuck:
    """Answers like `inner` until `stuck` says that this question gets no reply before it is cut."""

    def __init__(self, inner: Callable[[Request], str], stuck: Callable[[Request, int], bool]) -> None:
        self._inner, self._stuck = inner, stuck
        self._count = 0
        self.is_stuck = threading.Event()

    def __call__(self, request: Request) -> str:
        self._count += 1
        if not self._stuck(request, self._count):
            return self._inner(request)
        self.is_stuck.set()
        assert request.stop_event is not None
        request.stop_event.wait(10)
        raise ProviderError(ErrorKind.CANCELLED, "stopped")


def cut(made: World, stuck: Stuck, qtbot: Any) -> str:
    """Runs until the judge is stuck, and stops at once. Returns the run's id."""
    controller, ends = begin(made)
    qtbot.waitUntil(stuck.is_stuck.is_set, timeout=10000)
    controller.stop_now()
    qtbot.waitUntil(lambda: bool(ends), timeout=10000)
    assert controller.wait()
    return made.stored().info.run_id


def kept(made: World) -> int:
    with Store.open(made.store_path) as store:
        return len([event for event in store.events("last") if event.kind == JUDGE_REPLY])


def test_votes_that_were_given_are_not_asked_for_again(tmp_path: Path, qtbot) -> None:
    stuck = Stuck(lambda request: SAID, lambda request, count: count == 3)
    made = world(tmp_path, service(stuck), cases(1), judge=VOTES, run=ONE)
    run_id = cut(made, stuck, qtbot)
    assert kept(made) == 2
    made.service = service(lambda request: SAID)
    assert made.run(resume_from=run_id).info.status is RunStatus.COMPLETED
    assert len(asked(made.service)) == 1
    check = marks(made)["c0"].checks[0]
    assert (check.score, len(check.detail["votes"]), check.detail["judge_calls"]) == (1.0, 3, 3)


def test_a_mark_that_waits_for_other_models_keeps_what_the_judge_said_of_it(tmp_path: Path, qtbot) -> None:
    """The last comparison hangs: three marks of their own were given by then."""
    compare = by_order("abc")

    def judge(request: Request) -> str:
        return compare(request) if "ANSWER A" in request.messages[0].content else SAID

    stuck = Stuck(judge, lambda request, count: count == 9)
    tests = [{"id": "c0", "input": "say 0", "checks": [{"type": "llm_judge"}, {"type": "pairwise_judge"}]}]
    made = pair_world(tmp_path, service(stuck, says), "abc", tests, run=ONE)
    run_id = cut(made, stuck, qtbot)
    made.service = service(judge, says)
    assert made.run(resume_from=run_id).info.status is RunStatus.COMPLETED
    assert len(asked(made.service)) == 1
    assert {score.score for score in marks(made).values()} <= {1.0, 0.75, 0.5}
    assert set(scores(made).values()) == {1.0}


def test_another_judge_is_asked_for_all_of_its_votes(tmp_path: Path, qtbot) -> None:
    stuck = Stuck(lambda request: SAID, lambda request, count: count == 3)
    made = world(tmp_path, service(stuck), cases(1), judge={**VOTES, "params": {"top_p": 0.5}}, run=ONE)
    run_id = cut(made, stuck, qtbot)
    made.config = {**made.config, "judge": VOTES}
    made.service = service(lambda request: SAID)
    made.run(resume_from=run_id)
    assert len(asked(made.service)) == 3


def test_marking_again_goes_on_where_it_was_cut_and_starts_anew_after_a_mark(tmp_path: Path, qtbot) -> None:
    made = world(tmp_path, service(lambda request: SAID), cases(1), judge=VOTES, run=ONE)
    made.run()
    project = changed(made, judge={**VOTES, "rubric": "Is it kind?"})
    stuck = Stuck(lambda request: SAID, lambda request, count: count == 3)
    session = Marked(qtbot, looked(made, project, service(stuck)))
    qtbot.waitUntil(stuck.is_stuck.is_set, timeout=10000)
    session.controller.stop_now()
    session.wait()
    fake = service(lambda request: SAID)
    found = looked(made, project, fake)
    assert found.calls == 1
    Marked(qtbot, found).wait()
    assert len(asked(fake)) == 1
    # A mark was made of those replies; what is asked next is another mark's.
    made.config = {**made.config, "judge": {**VOTES, "rubric": "Is it short?"}}
    assert looked(made, changed(made), fake).calls == 3


def test_stored_replies_that_are_none_are_passed_over(tmp_path: Path, qtbot) -> None:
    stuck = Stuck(lambda request: SAID, lambda request, count: count == 3)
    made = world(tmp_path, service(stuck), cases(1), judge=VOTES, run=ONE)
    run_id = cut(made, stuck, qtbot)
    with Store.open(made.store_path) as store:
        store.database.connection.execute(
            "UPDATE events SET data = replace(data, '\"complete\"', '\"made up\"') WHERE kind = ?",
            (JUDGE_REPLY,),
        )
    made.service = service(lambda request: SAID)
    assert made.run(resume_from=run_id).info.status is RunStatus.COMPLETED
    assert len(asked(made.service)) == 3
