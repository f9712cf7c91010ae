"""Whole runs with a check that compares by embeddings: real threads, a real store, services good and bad."""

from __future__ import annotations

import random
import threading
from array import array
from collections import Counter
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.domain import CallStatus, CaseScore, RunStatus, ScoreState
from engine.execution.events import CallFinished, ModelSetAside, Started, Throttled
from engine.storage.store import Store
from providers.base import ErrorKind, ProviderError, Request, Usage
from providers.embedding import Embedded, EmbedRequest
from providers.mock_embed import practice_vector
from tests.execution.worlds import FakeService, World, reply
from tests.stub import StubServer, start_stub

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
ANTH = {"key": "anth", "model": "claude-x", "provider": "anthropic"}
SMALL = "openai/text-embedding-3-small"
LANE = f"embeddings: {SMALL}"
PRICE = {"models": {"text-embedding-3-small": {"input_usd_per_mtok": 1_000_000}}}


def compared(count: int, model: str = SMALL, **options: Any) -> list[dict[str, Any]]:
    check = {"type": "similarity", "method": "embedding", "model": model, **options}
    return [
        {"id": f"c{i}", "input": f"say {i}", "reference": f"right {i}", "checks": [check]}
        for i in range(count)
    ]


def embedded(request: EmbedRequest, used: int | None = 1) -> Embedded:
    usage = Usage(used and used * len(request.texts), 0)
    return Embedded(tuple(map(practice_vector, request.texts)), usage=usage)


def service(
    embed: Callable[[EmbedRequest], Embedded] = embedded,
    answer: Callable[[Request], str] = lambda request: request.messages[0].content.replace("say", "right"),
) -> FakeService:
    return FakeService(lambda request: reply(answer(request)), embed)


def world(tmp_path: Path, fake: FakeService | None, tests: list[dict[str, Any]], **more: Any) -> World:
    return World(tmp_path, {"models": [OPEN], **more}, cases=tests, service=fake)


def marks(made: World) -> dict[str, CaseScore]:
    return {call.cell.case_id: call.score for call in made.calls() if call.score is not None}


def texts(fake: FakeService) -> Counter[str]:
    return Counter(text for request in fake.embeds for text in request.texts)


def codes(made: World) -> list[str]:
    return [check.reason_code for mark in marks(made).values() for check in mark.checks]


# ---- marks


def test_answers_are_marked_by_their_vectors_and_stored_before_they_are_asked(tmp_path: Path, qapp) -> None:
    stored_before: list[bool] = []

    def embed(request: EmbedRequest) -> Embedded:
        with Store.open(made.store_path, read_only=True) as store:
            kept = {write.answer.text for write in store.pending_scores("last")}
        stored_before.append(bool(kept & set(request.texts)))
        return embedded(request)

    fake = service(embed, lambda r: "right 0" if r.messages[0].content == "say 0" else f"other {r.messages}")
    made = world(tmp_path, fake, compared(3))
    assert made.run().info.status is RunStatus.COMPLETED
    found = marks(made)
    assert (found["c0"].score, found["c0"].passed) == (pytest.approx(1.0), True)
    assert (found["c1"].state, found["c1"].passed) == (ScoreState.SCORED, False)
    assert all(stored_before)
    assert len(made.of(Started)) == len(made.of(CallFinished)) == 3
    made.assert_each_once()


def test_each_distinct_text_is_asked_once_however_many_answers_there_are(tmp_path: Path, qapp) -> None:
    fake = service(answer=lambda r: f"{r.model} {r.messages[0].content}")
    made = world(tmp_path, fake, compared(4), models=[OPEN, ANTH], run={"trials": 3, "concurrency": 8})
    assert made.run().info.status is RunStatus.COMPLETED
    assert len(fake.requests) == 24
    assert set(texts(fake).values()) == {1}
    assert len(texts(fake)) == 4 + 2 * 4
    assert all(call.score is not None and call.score.state is ScoreState.SCORED for call in made.calls())


def test_what_the_service_is_sent(tmp_path: Path, qapp) -> None:
    fake = service()
    vec = {"key": "vec", "model": "vec-1", "provider": "openai", "enabled": False, "timeout_s": 7}
    made = world(tmp_path, fake, compared(1, "vec"), models=[OPEN, {**vec, "params": {"dimensions": 8}}])
    made.run()
    (request,) = fake.embeds
    assert (request.model, request.texts, dict(request.params)) == ("vec-1", ("right 0",), {"dimensions": 8})
    assert request.timeout_s == 7


def test_an_empty_answer_asks_nothing(tmp_path: Path, qapp) -> None:
    fake = service(answer=lambda request: "<think>hm</think>")
    made = world(tmp_path, fake, compared(2))
    made.run()
    assert fake.embeds == []
    assert {mark.score for mark in marks(made).values()} == {0.0}


def test_the_practice_connections_mark_without_a_key(tmp_path: Path, qapp) -> None:
    models = [
        {"key": "good", "model": "mock:oracle"},
        {"key": "bad", "model": "mock:fixed", "params": {"text": "?"}},
    ]
    made = world(tmp_path, None, compared(2, "mock:embedding"), models=models)
    assert made.run().info.status is RunStatus.COMPLETED
    scores = {call.cell.model_key: call.score.score for call in made.calls() if call.score}
    assert scores["good"] == pytest.approx(1.0)
    assert scores["bad"] is not None
    assert scores["bad"] < 0.3
    note = next(note for note in made.stored().notes if note.code == "embed_cost")
    assert (note.values["usd"], note.values["model"]) == ("0", "mock:embedding")


def test_beside_a_judge_each_is_asked_for_its_own(tmp_path: Path, qapp) -> None:
    def answer(request: Request) -> str:
        return '{"pass": true}' if request.model == "judge-x" else "right 0"

    fake = service(answer=answer)
    made = world(tmp_path, fake, compared(2), judge={"model": "judge-x", "provider": "openai"})
    made.cases = [{**case, "checks": [*case["checks"], {"type": "llm_judge"}]} for case in compared(2)]  # type: ignore[union-attr]
    made.run()
    for mark in marks(made).values():
        assert [check.state for check in mark.checks] == [ScoreState.SCORED] * 2
        assert (mark.checks[0].detail.get("judge_calls"), mark.checks[1].detail["judge_calls"]) == (None, 1)
    assert {row.model_key for row in made.stored().spend if row.purpose == "judge"} == {"marking AI", LANE}


# ---- failures


@pytest.mark.parametrize(
    "error",
    [
        ProviderError(ErrorKind.BAD_REQUEST, "Too long.", status=400),
        ProviderError(ErrorKind.BLOCKED, "Blocked.", status=200),
        ValueError("in the connector with sk-proj-abcdefghijklmnopqrstuvwx in it"),
    ],
)
def test_a_failure_is_an_errored_mark_with_the_checks_name_and_never_0(
    tmp_path: Path, qapp, error: Exception
) -> None:
    def embed(request: EmbedRequest) -> Embedded:
        raise error

    fake = service(embed)
    made = world(tmp_path, fake, compared(2), run={"retries": 0})
    assert made.run().info.status is RunStatus.COMPLETED
    for mark in marks(made).values():
        assert (mark.state, mark.score) == (ScoreState.ERRORED, None)
        assert (mark.checks[0].type, mark.checks[0].reason_code) == ("similarity", "embedding_failed")
        assert "abcdefghijkl" not in mark.reason
    assert {call.status for call in made.calls()} == {CallStatus.OK}
    assert len(fake.requests) == 2


def test_a_failure_that_may_pass_is_tried_again_and_asks_no_model_again(tmp_path: Path, qapp) -> None:
    failed: set[tuple[str, ...]] = set()

    def embed(request: EmbedRequest) -> Embedded:
        if request.texts not in failed:
            failed.add(request.texts)
            raise ProviderError(ErrorKind.UNKNOWN, "Broken.", status=503)
        return embedded(request)

    fake = service(embed)
    made = world(tmp_path, fake, compared(3), run={"retry_backoff_s": 0})
    made.run()
    assert {mark.state for mark in marks(made).values()} == {ScoreState.SCORED}
    assert (len(fake.requests), len(fake.embeds)) == (3, 6)


def test_slowing_down_narrows_its_own_lane_only(tmp_path: Path, qapp) -> None:
    once = threading.Event()

    def embed(request: EmbedRequest) -> Embedded:
        if not once.is_set():
            once.set()
            raise ProviderError(ErrorKind.RATE_LIMIT, "Slow down.", status=429, retry_after_s=0.01)
        return embedded(request)

    made = world(tmp_path, service(embed), compared(3))
    assert made.run().info.status is RunStatus.COMPLETED
    assert {event.lane for event in made.of(Throttled)} == {LANE}
    assert {mark.state for mark in marks(made).values()} == {ScoreState.SCORED}


def test_a_refused_key_stops_it_alone_and_carrying_on_asks_only_for_what_is_missing(
    tmp_path: Path, qapp
) -> None:
    good = threading.Event()

    def embed(request: EmbedRequest) -> Embedded:
        if not good.is_set():
            raise ProviderError(ErrorKind.AUTH, "Refused.", status=401)
        return embedded(request)

    fake = service(embed)
    made = world(tmp_path, fake, compared(6))
    stored = made.run()
    assert {mark.state for mark in marks(made).values()} == {ScoreState.ERRORED}
    (aside,) = made.of(ModelSetAside)
    assert (aside.lane, aside.code) == (LANE, "denied")
    assert "judge_stopped" in [note.code for note in stored.notes]
    good.set()
    made.run(resume_from=stored.info.run_id)
    assert {mark.state for mark in marks(made).values()} == {ScoreState.SCORED}
    assert len(fake.requests) == 6


def test_a_model_without_a_key_says_in_every_mark_why_there_is_none(tmp_path: Path, qapp) -> None:
    fake = service()
    made = world(tmp_path, fake, compared(2, "gemini/gemini-embedding-001"))
    stored = made.run()
    assert stored.info.status is RunStatus.COMPLETED
    assert fake.embeds == []
    for mark in marks(made).values():
        assert mark.state is ScoreState.ERRORED
        assert "GEMINI_API_KEY" in mark.reason
    assert "embedder_not_ready" in [note.code for note in stored.notes]


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0]])
def test_vectors_that_cannot_be_compared_are_errored(tmp_path: Path, qapp, bad: list[float]) -> None:
    fake = service(lambda request: Embedded(tuple(array("d", bad) for _ in request.texts)))
    made = world(tmp_path, fake, compared(1))
    made.run()
    assert marks(made)["c0"].state is ScoreState.ERRORED


# ---- money


def test_it_is_paid_under_the_ceiling_from_an_account_of_its_own(tmp_path: Path, qapp) -> None:
    fake = service(answer=lambda request: "another")
    made = world(tmp_path, fake, compared(2), pricing=PRICE)
    stored = made.run()
    spend = {row.model_key: row for row in stored.spend}
    # Two right answers and the one answer that all give, one dollar each.
    assert spend[LANE].spent_usd == 3
    assert spend[LANE].purpose == "judge"
    note = next(note for note in stored.notes if note.code == "embed_cost")
    assert (Decimal(str(note.values["usd"])), note.values["model"]) == (3, SMALL)


def test_a_ceiling_without_room_asks_nothing_and_the_answer_is_kept(tmp_path: Path, qapp) -> None:
    prices = {"models": {**PRICE["models"], "gpt-x": {"input_usd_per_mtok": 0, "output_usd_per_mtok": 0}}}
    fake = service()
    made = world(tmp_path, fake, compared(2), pricing=prices, budgets={"max_run_usd": 5})
    stored = made.run()
    assert fake.embeds == []
    assert stored.info.status is RunStatus.STOPPED_BUDGET
    assert sum(row.spent_usd + row.reserved_usd for row in stored.spend) <= 5
    assert all(call.score is None for call in made.calls())
    made.config["budgets"] = {"max_run_usd": 10_000}
    made.run(resume_from=stored.info.run_id)
    assert {mark.state for mark in marks(made).values()} == {ScoreState.SCORED}
    assert len(fake.requests) == 2


def test_usage_that_is_not_reported_stays_reserved(tmp_path: Path, qapp) -> None:
    def embed(request: EmbedRequest) -> Embedded:
        return Embedded(tuple(map(practice_vector, request.texts)), usage=Usage(4, 0, estimated=True))

    made = world(tmp_path, service(embed), compared(1), pricing=PRICE, budgets={"max_run_usd": 1_000_000})
    stored = made.run()
    spend = {row.model_key: row for row in stored.spend}
    assert spend[LANE].spent_usd == 0
    assert spend[LANE].reserved_usd > 0


# ---- stopping


def test_stop_now_leaves_answers_for_carrying_on(tmp_path: Path, qapp) -> None:
    waiting, go = threading.Event(), threading.Event()

    def embed(request: EmbedRequest) -> Embedded:
        waiting.set()
        while not go.wait(0.005):
            if request.stop_event is not None and request.stop_event.is_set():
                raise ProviderError(ErrorKind.CANCELLED, "Stopped.")
        return embedded(request)

    fake = service(embed)
    made = world(tmp_path, fake, compared(4))

    def stop_when_asked() -> bool:
        return waiting.is_set()

    stored = _stopped(made, stop_when_asked)
    assert stored.info.status is RunStatus.CANCELLED
    unmarked = [call for call in made.calls() if call.status is CallStatus.OK and call.score is None]
    assert unmarked
    asked = len(fake.requests)
    go.set()
    made.run(resume_from=stored.info.run_id)
    assert {mark.state for mark in marks(made).values()} == {ScoreState.SCORED}
    assert len(marks(made)) == 4
    assert len(fake.requests) == asked + (4 - asked)


def _stopped(made: World, when: Callable[[], bool]) -> Any:
    """Runs until a condition holds, then stops now."""
    from engine.execution.controller import RunController

    controller = RunController(made.request())
    ends: list[Any] = []
    controller.finished.connect(ends.append)
    controller.start_in_thread()
    from PySide6.QtCore import QCoreApplication, QDeadlineTimer, QEventLoop

    deadline = QDeadlineTimer(15_000)
    told = False
    while not ends and not deadline.hasExpired():
        QCoreApplication.processEvents(QEventLoop.ProcessEventsFlag.AllEvents, 20)
        if not told and when():
            told = True
            controller.stop_now()
    assert ends
    return made.stored()


# ---- a real server


@pytest.fixture(scope="module")
def stub() -> Any:
    with start_stub() as server:
        yield server


@pytest.mark.parametrize(("kind", "path"), [("openai_compatible", "/v1"), ("gemini", "")])
def test_over_the_wire(tmp_path: Path, qapp, stub: StubServer, kind: str, path: str) -> None:
    made = _through(tmp_path, f"{stub.url}{path}", kind, "${file:key.txt}")
    assert made.run().info.status is RunStatus.COMPLETED
    assert [mark.score for mark in marks(made).values()] == [pytest.approx(1.0)] * 3
    assert "key-of-the-stub" in stub.stats()["keys_seen"]


def test_a_vendors_key_goes_to_no_other_host(tmp_path: Path, qapp, stub: StubServer) -> None:
    stub.reset()
    made = _through(tmp_path, f"{stub.url}/v1", "openai_compatible", "${env:OPENAI_API_KEY}")
    assert made.run().info.status is RunStatus.COMPLETED
    assert {mark.state for mark in marks(made).values()} == {ScoreState.ERRORED}
    assert all("goes to api.openai.com only" in mark.reason for mark in marks(made).values())
    assert stub.stats()["total"] == 0


def _through(tmp_path: Path, url: str, kind: str, key: str) -> World:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "key.txt").write_text("key-of-the-stub")
    (tmp_path / "project" / "key.txt").chmod(0o600)
    server = {"id": "here", "kind": kind, "base_url": url, "api_key_ref": key}
    models = [{"key": "good", "model": "mock:oracle"}]
    return world(tmp_path, None, compared(3, "here/vec-small"), models=models, providers=[server])


# ---- many at once


@pytest.mark.parametrize("seed", range(6))
def test_pairs_votes_and_vectors_of_one_answer_come_in_any_order(tmp_path: Path, qapp, seed: int) -> None:
    """Some requests fail and come back, some answers are equal; each cell still ends once with all marks."""
    rng, lock = random.Random(seed), threading.Lock()

    def unlucky() -> None:
        with lock:
            luck = rng.random()
        if luck < 0.15:
            raise ProviderError(ErrorKind.UNKNOWN, "Broken.", status=503)

    def embed(request: EmbedRequest) -> Embedded:
        unlucky()
        return embedded(request)

    def answer(request: Request) -> str:
        unlucky()
        if request.model != "judge-x":
            with lock:
                return f"one of {rng.randrange(3)}"
        return '{"winner": "A"}' if '"winner"' in (request.system or "") else '{"pass": true}'

    fake = service(embed, answer)
    tests = compared(4)
    for case in tests:
        case["checks"] = [*case["checks"], {"type": "pairwise_judge"}, {"type": "llm_judge", "votes": 2}]
    models = [{"key": key, "model": f"m-{key}", "provider": "openai"} for key in "abc"]
    run = {"trials": 2, "retries": 20, "retry_backoff_s": 0, "concurrency": 6}
    judge = {"model": "judge-x", "provider": "openai"}
    made = world(tmp_path, fake, tests, models=models, run=run, judge=judge)
    assert made.run().info.status is RunStatus.COMPLETED
    calls = made.calls()
    assert len(calls) == 24
    for call in calls:
        assert call.score is not None
        assert [check.state for check in call.score.checks] == [ScoreState.SCORED] * 3
    assert set(texts(fake)) == {f"right {i}" for i in range(4)} | {f"one of {i}" for i in range(3)}
    made.assert_each_once()
