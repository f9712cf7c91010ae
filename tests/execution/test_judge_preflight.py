"""The judge before a run: who it is, whether it can be asked, what marking will cost."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.config.schema import Config, Judge, ModelEntry
from engine.domain import ScoreState
from engine.errors import UserError
from engine.execution.estimate import CostRange
from engine.execution.jobs import JUDGE_LANE
from engine.execution.judge_notes import family_of, judge_notes
from engine.execution.judge_rules import is_judge, judge_terms
from engine.execution.plan import make_plan
from engine.execution.preflight import Preflight, examine
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.storage.store import Store
from providers.base import Request
from tests.execution.test_judge import GOOD, JUDGE, OPEN, asked, cases, marks, service, world
from tests.execution.worlds import FakeService, World, make_project, reply

PRICE = {"input_usd_per_mtok": 1000, "output_usd_per_mtok": 2000}
PRICED = {"models": {"judge-x": PRICE}}


def look(
    tmp_path: Path, tests: Any, keys: dict[str, str] | None = None, *, trust: bool = False, **config: Any
) -> Preflight:
    project = make_project(tmp_path / "project", {"models": [OPEN], "judge": JUDGE, **config}, tests)
    environ = {"OPENAI_API_KEY": "k-open"} if keys is None else keys
    book = PriceBook.for_config(project.config, project.root)
    return examine(project, keystore=KeyStore(environ=environ), pricebook=book, trust=trust, environ={})


# ---- whether it can be asked


def test_a_judge_check_without_a_judge_keeps_the_run_from_starting(tmp_path: Path) -> None:
    preflight = look(tmp_path, cases(2), judge={})
    (problem,) = preflight.errors
    assert problem.code == "judge_missing"
    assert "`c0`" in problem.message
    assert "judge: {model:" in problem.fix
    project = make_project(tmp_path / "project", {"models": [OPEN]}, cases(2))
    with pytest.raises(UserError, match="names none"):
        make_plan(project, preflight)


def test_a_project_without_judge_checks_looks_at_no_judge(tmp_path: Path) -> None:
    preflight = look(tmp_path, 2, judge={"model": "claude-judge", "provider": "anthropic"})
    assert (preflight.judge, preflight.judge_skip, preflight.confirm) == (None, None, ())
    assert JUDGE_LANE not in preflight.lanes
    assert preflight.estimate.judge is None


def test_a_judge_without_a_key_is_a_warning_and_a_question(tmp_path: Path) -> None:
    preflight = look(tmp_path, cases(2), judge={"model": "claude-judge", "provider": "anthropic"})
    assert not preflight.errors
    assert preflight.judge is None
    assert preflight.judge_skip is not None
    assert preflight.judge_skip.code == "no_key"
    (problem,) = [p for p in preflight.problems if p.code == "judge_not_ready"]
    assert "The second AI cannot be asked" in problem.message
    assert "ANTHROPIC_API_KEY" in problem.message + problem.fix
    assert [note.code for note in preflight.confirm] == ["judge_not_ready"]


def test_a_run_all_the_same_says_in_every_mark_why_there_is_none(tmp_path: Path, qapp) -> None:
    fake = service(lambda request: GOOD)
    checks = ({"type": "contains", "weight": 1}, {"type": "llm_judge", "weight": 0})
    judge = {"model": "gemini-judge", "provider": "gemini"}
    made = world(tmp_path, fake, cases(2, *checks), judge=judge)
    stored = made.run()
    for mark in marks(made).values():
        assert (mark.state, mark.score) == (ScoreState.SCORED, 1.0)
        assert mark.checks[1].state is ScoreState.ERRORED
        assert mark.checks[1].reason_code == "judge_failed"
        assert "The judge could not be asked" in mark.checks[1].reason
    assert "judge_not_ready" in [note.code for note in stored.notes]


def test_the_key_of_the_judge_is_its_own_and_asked_about_like_any_other(tmp_path: Path) -> None:
    judge = {**JUDGE, "api_key_env": "MARKING_KEY"}
    keys = {"OPENAI_API_KEY": "k-open", "MARKING_KEY": "k-mark"}
    asked_first = look(tmp_path, cases(1), keys, judge=judge)
    assert asked_first.judge_skip is not None
    assert "MARKING_KEY" in asked_first.judge_skip.reason
    preflight = look(tmp_path, cases(1), keys, trust=True, judge=judge)
    assert preflight.judge is not None
    assert preflight.judge.settings.api_key == "k-mark"
    assert preflight.ready[0].settings.api_key == "k-open"
    assert "k-mark" not in repr(preflight)


def test_widths_of_the_judges_lane(tmp_path: Path) -> None:
    run = {"concurrency": 9, "provider_concurrency": {"openai": 5}}
    preflight = look(tmp_path, cases(1), run=run)
    assert preflight.lanes == {"openai": 5, JUDGE_LANE: 5}
    project = make_project(tmp_path / "project", {"models": [OPEN], "judge": JUDGE, "run": run}, cases(1))
    plan = make_plan(project, preflight)
    assert f"{JUDGE_LANE} 5" in plan.concurrency_text
    assert next(lane for lane in plan.lanes if lane.id == JUDGE_LANE).shares == "openai"


def test_a_local_judge_that_does_not_run_is_told_with_the_way_out(tmp_path: Path) -> None:
    connection = {"id": "here", "kind": "ollama", "base_url": "http://127.0.0.1:9/v1"}
    judge = {"model": "llama3.2", "provider": "here"}
    preflight = look(tmp_path, cases(1), providers=[connection], judge=judge)
    assert preflight.judge_skip is not None
    assert preflight.judge_skip.code == "not_reachable"
    assert [model.entry.key for model in preflight.ready] == ["open"]


@pytest.mark.parametrize(
    ("entry", "judge", "same"),
    [
        (ModelEntry(model="gpt-x"), Judge(model="GPT-x"), True),
        (ModelEntry(model="gpt-x"), Judge(model="gpt-y"), False),
        (ModelEntry(model="gpt-x"), Judge(), False),
        (ModelEntry(model="gpt-x", run="a.py:f"), Judge(model="gpt-x"), False),
        (ModelEntry(model="mock:fixed", params={"text": "a"}), Judge(model="mock:fixed"), False),
        (ModelEntry(model="mock:fixed"), Judge(model="mock:fixed"), True),
    ],
)
def test_who_is_the_judge(entry: ModelEntry, judge: Judge, same: bool) -> None:
    assert is_judge(entry, judge) is same


def test_a_judge_named_by_a_compared_models_key_is_that_model(tmp_path: Path) -> None:
    """FC-082: the judge is one of the competitors."""
    preflight = look(tmp_path, cases(1), judge={"model": "open"})
    (problem,) = [p for p in preflight.problems if p.code == "judge_takes_part"]
    assert "`open`" in problem.message or "`gpt-x`" in problem.message


def test_names_in_a_rubric_are_filled_in_or_block_the_run(tmp_path: Path, qapp) -> None:
    """FC-086."""
    rubric = (Path(__file__).parents[1] / "data/cases/rubric_with_variables.txt").read_text()
    tests = [
        {"id": "a", "input": "q", "reference": "Duero", "vars": {"topic": "rivers"}, "eval_type": "llm_judge"}
    ]
    preflight = look(tmp_path, tests, judge={**JUDGE, "rubric": rubric})
    assert ["audeince" in problem.message for problem in preflight.errors] == [True]
    fake = service(lambda request: GOOD)
    mended = {**JUDGE, "rubric": rubric.replace("{{audeince}}", "children")}
    made = world(tmp_path, fake, tests, judge=mended)
    made.run()
    (request,) = asked(fake)
    assert "must mention Duero and stay on rivers" in request.messages[0].content


def test_what_decides_a_mark_is_not_how_the_judge_is_reached() -> None:
    judge = Judge(model="m", provider="p", rubric="r")
    assert judge_terms(judge) == judge_terms(Judge(model="m", provider="p", rubric="r", api_key_env="K"))
    assert judge_terms(judge) != judge_terms(Judge(model="m", provider="p", rubric="other"))


# ---- what it costs


def _judged(tmp_path: Path, *checks: dict[str, Any], count: int = 1, **more: Any) -> tuple[CostRange, int]:
    found = look(tmp_path, cases(count, *checks), pricing=PRICED, **more).estimate
    assert found.judge is not None
    return found.judge, found.judge_calls


def test_the_estimate_counts_votes_both_orders_and_the_one_retry(tmp_path: Path) -> None:
    once, calls = _judged(tmp_path, {"type": "llm_judge"})
    assert calls == 1
    assert once.low is not None
    assert once.likely is not None
    assert once.high is not None
    assert Decimal(0) < once.low < once.likely < once.high
    voted, calls = _judged(tmp_path, {"type": "llm_judge", "votes": 3})
    assert calls == 3
    assert (voted.low, voted.high) == (3 * once.low, 3 * once.high)
    _, calls = _judged(tmp_path, {"type": "pairwise_judge"})
    assert calls == 2
    trials, calls = _judged(tmp_path, {"type": "llm_judge"}, run={"trials": 4}, count=2)
    assert calls == 8
    assert trials.likely is not None
    assert float(trials.likely) == pytest.approx(8 * float(once.likely), rel=0.01)


def test_the_highest_figure_is_never_passed(tmp_path: Path, qapp) -> None:
    """Longest answers, every reply unreadable and as long as can be: still within the estimate."""
    long = "word " * 10

    def answer(request: Request):
        judging = request.model == "judge-x"
        used = request.max_tokens or 0
        size = sum(len(m.content) for m in request.messages) + len(request.system or "")
        said = reply("Well, " * 60 if judging else long)
        return replace(said, usage=replace(said.usage, input=size // 4 + 1, output=used))

    entry = {**OPEN, "max_tokens": 10, "card": PRICE}
    config = {"models": [entry], "judge": {**JUDGE, "max_tokens": 20}, "pricing": PRICED}
    made = World(
        tmp_path, config, cases=cases(3, {"type": "llm_judge", "votes": 2}), service=FakeService(answer)
    )
    high = made.request().preflight.estimate.total.high
    stored = made.run()
    assert high is not None
    assert stored.info.cost_usd is not None
    assert Decimal(0) < stored.info.cost_usd <= high


def test_a_judge_without_a_price_makes_the_total_unknown_and_needs_a_yes(tmp_path: Path) -> None:
    entry = {**OPEN, "card": PRICE}
    preflight = look(tmp_path, cases(1), models=[entry], budgets={"max_run_usd": 1})
    found = preflight.estimate
    assert (found.total, found.judge) == (CostRange(), CostRange())
    assert found.unpriced == (JUDGE_LANE,)
    assert found.known.high is not None
    assert [note.code for note in preflight.confirm] == ["unpriced_under_ceiling"]


def test_a_free_judge_costs_nothing_and_is_counted(tmp_path: Path) -> None:
    judge = {"model": "mock:judge", "provider": "mock"}
    found = look(tmp_path, cases(5), judge=judge).estimate
    assert found.judge == CostRange(Decimal(0), Decimal(0), Decimal(0))
    assert found.judge_calls == 5


def test_answers_that_the_judge_leaves_to_others_cost_no_marking(tmp_path: Path) -> None:
    models = [OPEN, {**OPEN, "key": "own", "model": "judge-x"}]
    assert look(tmp_path, cases(3), models=models).estimate.judge_calls == 3


# ---- families


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("gpt-5.5-mini", "gpt"),
        ("gpt4o", "gpt"),
        ("o3-mini", "gpt"),
        ("openai/gpt-5.5", "gpt"),
        ("claude-opus-5", "claude"),
        ("anthropic/claude-3.5", "claude"),
        ("gemini-9", "gemini"),
        ("gemma3-270m", "gemini"),
        ("llama3.2:1b", "llama"),
        ("qwen2.5-7b", "qwen"),
        ("mixtral-8x7b", "mistral"),
        ("local-support-7b", ""),
        ("mock:flaky", ""),
        ("", ""),
    ],
)
def test_families_by_name(model: str, family: str) -> None:
    assert family_of(model) == family


def test_without_marks_of_a_judge_there_is_nothing_to_say() -> None:
    assert (
        judge_notes(Config(models=(ModelEntry(model="gpt-a", key="a"),), judge=Judge(model="gpt-a")), ())
        == ()
    )


# ---- own code that asks


SCORER = """
CALLS = []
def kind(output, reference, context):
    CALLS.append(output)
    first = context.judge("Is this kind? " + output)
    second = context.judge("Sure? " + first, system="Be brief.")
    return {"score": 1.0 if second == "yes" else 0.0, "reason": second}
SCORERS = {"kind": kind}
"""


def test_own_code_asks_the_judge_through_the_same_lane(tmp_path: Path, qapp) -> None:
    said = {"Is this": "maybe", "Sure? m": "yes"}
    fake = service(lambda request: said[request.messages[0].content[:7]])
    tests = cases(2, {"type": "kind"}, {"type": "contains"})
    made = World(tmp_path, {"models": [OPEN], "judge": JUDGE}, cases=tests, service=fake, trust=True)
    scorers = tmp_path / "project" / "scorers"
    scorers.mkdir(parents=True)
    (scorers / "kind.py").write_text(SCORER)
    stored = made.run()
    assert stored.info.completed == 2
    assert {mark.score for mark in marks(made).values()} == {1.0}
    assert len(asked(fake)) == 4
    assert stored.lanes[JUDGE_LANE]["max_in_flight"] >= 1
    with Store.open(made.store_path, read_only=True) as store:
        assert {row.purpose for row in store.run("last").spend} == {"model", "judge"}


def test_own_code_that_never_stops_asking_comes_to_an_end(tmp_path: Path, qapp) -> None:
    fake = service(lambda request: str(len(fake.requests)))
    made = World(
        tmp_path,
        {"models": [OPEN], "judge": JUDGE},
        cases=cases(1, {"type": "endless"}),
        service=fake,
        trust=True,
    )
    scorers = tmp_path / "project" / "scorers"
    scorers.mkdir(parents=True)
    (scorers / "endless.py").write_text(
        "def endless(output, reference, context):\n"
        "    said = ''\n"
        "    while True:\n"
        "        said = context.judge('again ' + said)\n"
        "SCORERS = {'endless': endless}\n"
    )
    assert made.run().info.completed == 1
    assert marks(made)["c0"].state is ScoreState.ERRORED
    assert len(asked(fake)) < 30


# ---- comparing models


def _models(*keys: str) -> list[dict[str, Any]]:
    return [{"key": key, "model": f"m-{key}", "provider": "openai"} for key in keys]


def _free(check: dict[str, Any], **more: Any) -> list[dict[str, Any]]:
    return [{"id": "c0", "input": "say 0", "checks": [check], **more}]


@pytest.mark.parametrize(
    ("keys", "check", "calls"),
    [
        ("ab", {}, 2),
        ("abc", {}, 6),
        ("abcde", {}, 20),
        ("abc", {"votes": 3}, 18),
        ("abcde", {"against": "c"}, 8),
        ("a", {}, 0),
    ],
)
def test_the_estimate_counts_each_pair_once_in_both_orders(
    tmp_path: Path, keys: str, check: dict[str, Any], calls: int
) -> None:
    tests = _free({"type": "pairwise_judge", **check})
    found = look(tmp_path, tests, models=_models(*keys), pricing=PRICED, run={"trials": 2}).estimate
    assert found.judge_calls == 2 * calls
    assert found.judge is not None
    assert found.judge.low is not None
    assert found.judge.likely is not None
    assert found.judge.high is not None
    assert found.judge.low <= found.judge.likely <= found.judge.high
    assert (found.judge.low > 0) is (calls > 0)


def test_the_highest_figure_for_pairs_is_never_passed(tmp_path: Path, qapp) -> None:
    def answer(request: Request):
        judging = request.model == "judge-x"
        size = sum(len(m.content) for m in request.messages) + len(request.system or "")
        said = reply("Well, " * 60 if judging else f"{request.model} " * 5)
        return replace(said, usage=replace(said.usage, input=size // 4 + 1, output=request.max_tokens or 0))

    models = [{**entry, "max_tokens": 10, "card": PRICE} for entry in _models("a", "b", "c")]
    config = {"models": models, "judge": {**JUDGE, "max_tokens": 20}, "pricing": PRICED}
    made = World(tmp_path, config, cases=_free({"type": "pairwise_judge"}), service=FakeService(answer))
    high = made.request().preflight.estimate.total.high
    stored = made.run()
    assert high is not None
    assert stored.info.cost_usd is not None
    assert Decimal(0) < stored.info.cost_usd <= high


@pytest.mark.parametrize(
    ("against", "words", "fix"),
    [
        ("opne", "there is no model of that key", "Did you mean `open`?"),
        ("modles", "there is no model of that key", "Did you mean `models`?"),
        ("zzz", "there is no model of that key", "Known are: `reference`, `models`, `open`, `anth`."),
        ("off", "which is switched off", "Switch it on"),
    ],
)
def test_a_wrong_name_to_compare_with_is_told_at_its_place(
    tmp_path: Path, against: str, words: str, fix: str
) -> None:
    models = [OPEN, {**OPEN, "key": "anth"}, {**OPEN, "key": "off", "enabled": False}]
    found = look(tmp_path, _free({"type": "pairwise_judge", "against": against}), models=models)
    (problem,) = found.errors
    assert (problem.file, problem.line) == ("tests.yaml", 1)
    assert problem.path == "c0.pairwise_judge.against"
    assert words in problem.message
    assert fix in problem.fix


def test_a_wrong_name_for_all_tests_is_told_once(tmp_path: Path) -> None:
    tests = [*_free({"type": "pairwise_judge"}), {**_free({"type": "pairwise_judge"})[0], "id": "c1"}]
    scorers = {"options": {"pairwise_judge": {"against": "opne"}}}
    found = look(tmp_path, tests, models=[OPEN, {**OPEN, "key": "anth"}], scorers=scorers)
    (problem,) = found.errors
    assert problem.path == "scorers.options.pairwise_judge.against"
    assert problem.file == "config.yaml"
    assert problem.line is not None


def test_to_compare_with_the_right_answer_there_must_be_one(tmp_path: Path) -> None:
    found = look(tmp_path, _free({"type": "pairwise_judge", "against": "reference"}))
    assert [problem.code for problem in found.errors] == ["reference_missing"]


def test_one_model_alone_has_nobody_to_be_compared_with(tmp_path: Path) -> None:
    found = look(tmp_path, _free({"type": "pairwise_judge"}))
    assert [p.code for p in found.problems if p.path == "c0.pairwise_judge.against"] == ["no_rivals"]
    assert not found.errors
