"""Whole runs in which a judge compares the answers of several models with each other."""

from __future__ import annotations

import json
import random
import threading
from collections import Counter
from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from engine.domain import CallStatus, CheckResult, RunStatus, ScoreState
from engine.execution.pair_records import PAIR_VERDICT
from engine.stats.judged_pairs import Pair, pair_report, votes_of
from engine.stats.votes import bradley_terry
from engine.storage.store import Store
from providers.base import ErrorKind, Finish, ProviderError, Reply, Request, Usage
from tests.execution.test_judge import JUDGE, PRICE, asked, service, shown
from tests.execution.worlds import FakeService, World, reply

PAIRWISE = {"type": "pairwise_judge"}


def entries(*keys: str) -> list[dict[str, Any]]:
    return [{"key": key, "model": f"m-{key}", "provider": "openai"} for key in keys]


def comparing(count: int, check: dict[str, Any] | None = None, **more: Any) -> list[dict[str, Any]]:
    return [{"id": f"c{i}", "input": f"say {i}", "checks": [check or PAIRWISE], **more} for i in range(count)]


def says(request: Request) -> str:
    """A model's answer: its name and the question."""
    return f"{request.model} {request.messages[0].content}"


def by_order(order: str) -> Callable[[Request], str]:
    """A judge that finds the models better from first to last, whatever comes first."""

    def judge(request: Request) -> str:
        first, second = (order.index(shown(request, f"ANSWER {side}")[2]) for side in "AB")
        return json.dumps({"winner": "A" if first < second else "B" if second < first else "tie"})

    return judge


def always(winner: str) -> Callable[[Request], str]:
    return lambda request: json.dumps({"winner": winner})


def world(
    tmp_path: Path,
    fake: FakeService,
    keys: str = "abc",
    tests: list[dict[str, Any]] | None = None,
    **more: Any,
) -> World:
    config = {"models": entries(*keys), "judge": JUDGE, **more}
    return World(tmp_path, config, cases=tests or comparing(2), service=fake)


def checks(made: World) -> dict[tuple[str, str, int], CheckResult]:
    return {
        (call.cell.model_key, call.cell.case_id, call.cell.trial): call.score.checks[0]
        for call in made.calls()
        if call.score is not None and call.score.checks
    }


def scores(made: World) -> dict[tuple[str, str, int], float | None]:
    return {key: check.score for key, check in checks(made).items()}


def sides(request: Request) -> tuple[str, str]:
    return shown(request, "ANSWER A"), shown(request, "ANSWER B")


# ---- who is asked, how often


@pytest.mark.parametrize(
    ("keys", "trials", "votes"), [("ab", 1, 1), ("abc", 2, 1), ("abcde", 1, 1), ("abc", 1, 3)]
)
def test_each_pair_is_asked_once_in_both_orders(
    tmp_path: Path, qapp, keys: str, trials: int, votes: int
) -> None:
    fake = service(by_order("abcde"), says)
    check = {**PAIRWISE, "votes": votes}
    made = world(tmp_path, fake, keys, comparing(2, check), run={"trials": trials})
    assert made.run().info.status is RunStatus.COMPLETED
    count = len(keys)
    questions = Counter(sides(request) for request in asked(fake))
    assert len(asked(fake)) == 2 * trials * count * (count - 1) * votes
    assert set(questions.values()) == {trials * votes}
    assert all((second, first) in questions for first, second in questions)
    for (key, _, _), score in scores(made).items():
        assert score == pytest.approx(1 - keys.index(key) / (count - 1))
    made.assert_each_once()


def test_what_the_judge_is_sent_names_no_model(tmp_path: Path, qapp) -> None:
    fake = service(always("tie"), lambda request: f"words of {len(request.model)}{request.model[-1]}")
    made = world(tmp_path, fake, "ab", comparing(1))
    made.run()
    for request in asked(fake):
        text = f"{request.system} {request.messages[0].content}"
        assert "m-a" not in text
        assert "m-b" not in text


def test_a_baseline_is_met_by_all_and_meets_all(tmp_path: Path, qapp) -> None:
    fake = service(by_order("bac"), says)
    made = world(tmp_path, fake, "abc", comparing(2, {**PAIRWISE, "against": "a"}))
    made.run()
    assert len(asked(fake)) == 2 * 2 * 2
    assert {key[0]: score for key, score in scores(made).items()} == {"a": 0.5, "b": 1.0, "c": 0.0}


def test_the_right_answer_is_the_default_where_there_is_one(tmp_path: Path, qapp) -> None:
    fake = service(lambda r: json.dumps({"winner": "A" if sides(r)[0] == "right" else "B"}), says)
    tests = [*comparing(1, reference="right"), {**comparing(1)[0], "id": "free"}]
    made = world(tmp_path, fake, "ab", tests)
    made.run()
    assert {k: v for k, v in scores(made).items() if k[1] == "c0"} == {
        ("a", "c0", 1): 0.0,
        ("b", "c0", 1): 0.0,
    }
    assert checks(made)["a", "c0", 1].reason_code == "pair_right"
    assert checks(made)["a", "free", 1].detail["pairs"][0]["rival"] == "b"


def test_models_may_meet_although_there_is_a_right_answer(tmp_path: Path, qapp) -> None:
    fake = service(by_order("ab"), says)
    made = world(tmp_path, fake, "ab", comparing(1, {**PAIRWISE, "against": "models"}, reference="right"))
    made.run()
    assert scores(made) == {("a", "c0", 1): 1.0, ("b", "c0", 1): 0.0}


# ---- verdicts


def test_a_judge_that_always_prefers_the_first_answer_decides_nothing(tmp_path: Path, qapp) -> None:
    fake = service(always("A"), says)
    made = world(tmp_path, fake, "abcd", comparing(2))
    made.run()
    assert set(scores(made).values()) == {0.5}
    (note,) = [note for note in made.stored().notes if note.code == "judge_flips"]
    assert note.values == {"flipped": 12, "pairs": 12}
    assert {check.metrics["judge_flips"] for check in checks(made).values()} == {1.0}
    assert all(check.passed for check in checks(made).values())


def test_a_judge_that_loves_length_is_told_with_its_figures(tmp_path: Path, qapp) -> None:
    def judge(request: Request) -> str:
        first, second = sides(request)
        return json.dumps({"winner": "A" if len(first) > len(second) else "B"})

    fake = service(judge, lambda r: f"{says(r)} " + "word " * {"a": 1, "b": 9, "c": 40}[r.model[-1]])
    made = world(tmp_path, fake, "abc", comparing(5))
    made.run()
    assert {key[0]: score for key, score in scores(made).items()} == {"a": 0.0, "b": 0.5, "c": 1.0}
    codes = [note.code for note in made.stored().notes]
    assert "judge_likes_length" in codes


def test_the_same_words_tie_without_a_question(tmp_path: Path, qapp) -> None:
    def model(request: Request) -> str:
        return "m-c" if request.model == "m-c" else "m-a says"

    fake = service(by_order("abc"), model)
    made = world(tmp_path, fake, "abc", comparing(1))
    made.run()
    assert len(asked(fake)) == 4
    assert scores(made) == {("a", "c0", 1): 0.75, ("b", "c0", 1): 0.75, ("c", "c0", 1): 0.0}
    pairs = {pair["rival"]: pair for pair in checks(made)["a", "c0", 1].detail["pairs"]}
    assert (pairs["b"]["result"], pairs["b"]["how"]) == ("tie", "same")


def empty_or_failing(request: Request) -> Reply:
    kinds = {"m-e": Finish.EMPTY, "m-r": Finish.REFUSED}
    if request.model == "m-f":
        raise ProviderError(ErrorKind.BAD_REQUEST, "no", status=400)
    text = {"m-e": "", "m-r": "I cannot."}.get(request.model, says(request))
    return Reply(text, kinds.get(request.model, Finish.COMPLETE), "fake", Usage(5, 5), latency_ms=1.0)


def test_no_answer_loses_without_a_question_and_a_failed_call_makes_no_pair(tmp_path: Path, qapp) -> None:
    fake = service(by_order("ab"), empty_or_failing)
    made = world(tmp_path, fake, "aberf", comparing(1))
    made.run()
    found = checks(made)
    assert len(asked(fake)) == 2
    assert {key[0]: check.score for key, check in found.items()} == {"a": 1.0, "b": 2 / 3, "e": 0.0, "r": 0.0}
    assert found["a", "c0", 1].detail["left_out"] == [{"rival": "f", "why": "absent"}]
    assert [pair["how"] for pair in found["a", "c0", 1].detail["pairs"]] == [
        "judged",
        "no_answer",
        "no_answer",
    ]
    assert [call.status for call in made.calls() if call.cell.model_key == "f"] == [CallStatus.ERROR]


def test_an_answer_that_meets_nobody_is_errored_not_lost(tmp_path: Path, qapp) -> None:
    fake = service(by_order("af"), empty_or_failing)
    made = world(tmp_path, fake, "af", comparing(2))
    assert (made.run().info.completed, made.stored().info.errors) == (2, 2)
    for check in checks(made).values():
        assert (check.state, check.score, check.reason_code) == (ScoreState.ERRORED, None, "no_pair")
    assert asked(fake) == []


def test_an_unreadable_verdict_is_asked_once_more_then_its_pair_is_left_out(tmp_path: Path, qapp) -> None:
    steady = by_order("abc")

    def judge(request: Request) -> str:
        both = {text[2] for text in sides(request)}
        return "Hm." if both == {"a", "b"} else steady(request)

    fake = service(judge, says)
    made = world(tmp_path, fake, "abc", comparing(1))
    made.run()
    assert len(asked(fake)) == 4 + 4
    found = checks(made)
    assert scores(made) == {("a", "c0", 1): 1.0, ("b", "c0", 1): 1.0, ("c", "c0", 1): 0.0}
    assert found["a", "c0", 1].detail["left_out"] == [{"rival": "b", "why": "judge_unreadable"}]
    assert "One comparison could not be made." in found["a", "c0", 1].reason


def test_the_judge_itself_meets_nobody(tmp_path: Path, qapp) -> None:
    models = [*entries("a", "b"), {"key": "own", "model": "judge-x", "provider": "openai"}]

    def answer(request: Request) -> Reply:
        marking = "<<<BEGIN" in request.messages[0].content
        return reply(by_order("ab")(request) if marking else says(request))

    fake = FakeService(answer)
    made = world(tmp_path, fake, models=models)
    made.run()
    assert checks(made)["own", "c0", 1].reason_code == "judge_is_candidate"
    assert checks(made)["a", "c0", 1].score == 1.0
    assert len([r for r in fake.requests if "<<<BEGIN" in r.messages[0].content]) == 4


def test_the_order_in_which_answers_come_changes_no_mark(tmp_path: Path, qapp) -> None:
    found = []
    for seed in range(4):
        rng, lock = random.Random(seed), threading.Lock()
        left = {key: threading.Event() for key in "abcd"}
        order = rng.sample("abcd", 4)

        def model(request: Request, order=order, left=left, lock=lock) -> str:
            key = request.model[-1]
            place = order.index(key)
            if place:
                assert left[order[place - 1]].wait(20)
            left[key].set()
            return says(request)

        fake = service(by_order("cabd"), model)
        run = {"concurrency": 8, "provider_concurrency": {"openai": 8}}
        made = world(tmp_path / str(seed), fake, "abcd", comparing(1), run=run)
        (tmp_path / str(seed)).mkdir()
        made.run()
        assert len(asked(fake)) == 12
        told = checks(made)
        found.append({key: (check.score, check.reason, check.detail["pairs"]) for key, check in told.items()})
    assert found[0] == found[1] == found[2] == found[3]


def test_a_mark_may_need_a_comparison_and_a_rubric(tmp_path: Path, qapp) -> None:
    def judge(request: Request) -> str:
        if "ANSWER A" in request.messages[0].content:
            return by_order("ab")(request)
        return '{"score": 0.5}'

    fake = service(judge, says)
    tests = [
        {**comparing(1)[0], "checks": [PAIRWISE, {"type": "llm_judge"}, {"type": "length", "max_words": 9}]}
    ]
    made = world(tmp_path, fake, "ab", tests)
    made.run()
    totals = {call.cell.model_key: call.score.score for call in made.calls() if call.score}
    assert totals == {"a": pytest.approx(2.5 / 3), "b": pytest.approx(1.5 / 3)}
    assert len(asked(fake)) == 4


# ---- money, stopping, carrying on


def verdict_events(made: World) -> list[dict[str, Any]]:
    with Store.open(made.store_path) as store:
        return [dict(e.values) for e in store.events(store.resolve("last")) if e.kind == PAIR_VERDICT]


def test_a_ceiling_in_the_middle_keeps_every_verdict_and_carrying_on_asks_only_the_rest(
    tmp_path: Path, qapp
) -> None:
    steady = by_order("abc")
    fake = service(lambda request: reply(steady(request), tokens=500), says)
    free = {"input_usd_per_mtok": 0, "output_usd_per_mtok": 0}
    prices = {"models": {"judge-x": PRICE, **{f"m-{key}": free for key in "abc"}}}
    more = {"pricing": prices, "run": {"concurrency": 1}}
    made = world(tmp_path, fake, "abc", comparing(2), budgets={"max_run_usd": 6}, **more)
    stored = made.run()
    assert stored.info.status is RunStatus.STOPPED_BUDGET
    first = len(asked(fake))
    assert 0 < first < 12
    assert len(verdict_events(made)) == first
    made.config["budgets"] = {"max_run_usd": 1000}
    made.service = service(by_order("abc"), says)
    stored = made.run(resume_from=stored.info.run_id)
    assert stored.info.status is RunStatus.COMPLETED
    assert first + len(asked(made.service)) == 12
    told = Counter((e["case"], e["first"], e["second"]) for e in verdict_events(made))
    assert len(told) == 12
    assert set(told.values()) == {1}
    assert {key[0]: score for key, score in scores(made).items()} == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_a_rival_that_comes_later_changes_the_marks_of_the_others(tmp_path: Path, qapp) -> None:
    down = [True]

    def model(request: Request) -> str:
        if down[0] and request.model == "m-a":
            raise ProviderError(ErrorKind.AUTH, "no key", status=401)
        return says(request)

    fake = service(by_order("abc"), model)
    made = world(tmp_path, fake, "abc", comparing(3))
    stored = made.run()
    before = scores(made)
    assert {before["b", f"c{i}", 1] for i in range(3)} == {1.0}
    assert len(asked(fake)) == 6
    down[0] = False
    made.service = service(by_order("abc"), model)
    stored = made.run(resume_from=stored.info.run_id, retry_errors=True)
    assert stored.info.status is RunStatus.COMPLETED
    assert len(asked(made.service)) == 12
    assert {key[0]: score for key, score in scores(made).items()} == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_a_judge_that_could_not_be_asked_is_asked_again_for_those_pairs_alone(tmp_path: Path, qapp) -> None:
    def judge(request: Request) -> str:
        if {text[2] for text in sides(request)} == {"a", "b"}:
            raise ProviderError(ErrorKind.BAD_REQUEST, "no", status=400)
        return by_order("abc")(request)

    fake = service(judge, says)
    made = world(tmp_path, fake, "abc", comparing(1), run={"retries": 0})
    stored = made.run()
    assert checks(made)["a", "c0", 1].detail["left_out"] == [{"rival": "b", "why": "judge_failed"}]
    made.service = service(by_order("abc"), says)
    made.run(resume_from=stored.info.run_id)
    assert {frozenset(text[2] for text in sides(r)) for r in asked(made.service)} == {frozenset("ab")}
    assert {key[0]: score for key, score in scores(made).items()} == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_a_retired_judge_leaves_answers_without_a_mark_and_carrying_on_marks_them(
    tmp_path: Path, qapp
) -> None:
    def gone(request: Request) -> str:
        raise ProviderError(ErrorKind.NOT_FOUND, "model: judge-x", status=404)

    made = world(tmp_path, service(gone, says), "abc", comparing(3))
    stored = made.run()
    assert stored.info.status is RunStatus.COMPLETED
    assert {(c.state, c.reason_code) for c in checks(made).values()} == {(ScoreState.ERRORED, "judge_failed")}
    made.service = service(by_order("abc"), says)
    made.run(resume_from=stored.info.run_id)
    assert asked(made.service, "m-a") == []
    assert len(asked(made.service)) == 18
    assert {key[0]: score for key, score in scores(made).items()} == {"a": 1.0, "b": 0.5, "c": 0.0}


def test_every_pair_names_its_rival_once(tmp_path: Path, qapp) -> None:
    made = world(tmp_path, service(by_order("abcd"), says), "abcd", comparing(1))
    made.run()
    found = {
        frozenset((key[0], pair["rival"]))
        for key, check in checks(made).items()
        for pair in check.detail["pairs"]
    }
    assert found == {frozenset(pair) for pair in combinations("abcd", 2)}


# ---- the ranking


def _ex_7(request: Request) -> str:
    """Who wins on which test: A-B 14 to 6, A-C 15 to 3 and 2 ties, B-C 11 to 7 and 2 ties."""
    one, two = (text.split() for text in sides(request))
    number, (a, b) = int(one[-1]), sorted((one[0][-1], two[0][-1]))
    wins, ties = {"ab": (14, 0), "ac": (15, 2), "bc": (11, 2)}[a + b]
    if number >= wins and number < wins + ties:
        return json.dumps({"winner": "tie"})
    better = a if number < wins else b
    return json.dumps({"winner": "A" if one[0][-1] == better else "B"})


def test_the_strengths_of_the_worked_example_come_out_of_a_run(tmp_path: Path, qapp) -> None:
    run = {"concurrency": 8, "provider_concurrency": {"openai": 8}}
    made = world(tmp_path, service(_ex_7, says), "abc", comparing(20), run=run)
    made.run()
    assert len(asked(made.service)) == 120
    with Store.open(made.store_path) as store:
        stored = store.judged_pairs(store.resolve("last"))
    assert len(stored) == 60
    pairs = [Pair(p.cell, p.rival, p.result, p.votes, p.flips) for p in stored]
    strengths = bradley_terry(votes_of(pairs))
    theta = {"a": 0.740570, "b": -0.149102, "c": -0.591468}
    error = {"a": 0.235289, "b": 0.219230, "c": 0.219376}
    assert dict(strengths.theta) == {key: pytest.approx(value, abs=5e-7) for key, value in theta.items()}
    assert dict(strengths.se) == {key: pytest.approx(value, abs=5e-7) for key, value in error.items()}
    assert strengths.gap("a", "b") == (pytest.approx(0.889672, abs=5e-7), pytest.approx(0.398396, abs=5e-7))
    report = pair_report(pairs)
    assert report is not None
    assert (report.votes, report.flipped, report.unasked) == (60, 0, 0)
