"""The sample with a judge: it loads without a fault, and its marks are those of its known truth."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import pytest

from engine.domain import CallDone, CheckResult
from engine.execution.controller import run_to_end
from engine.execution.plan import make_plan
from engine.execution.preflight import examine
from engine.execution.request import RunRequest
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from engine.project import load_project
from engine.storage.store import Store
from providers.mock import draw

SAMPLE = Path(__file__).parents[2] / "projects" / "judge-demo"


def _quick_copy(folder: Path) -> Path:
    """The sample without its pretended waiting."""
    folder.mkdir()
    for name in ("config.yaml", "tests.yaml"):
        text = (SAMPLE / name).read_text(encoding="utf-8")
        (folder / name).write_text(text.replace("sleep: true", "sleep: false"), encoding="utf-8")
    return folder


def _run(folder: Path, store_path: Path) -> tuple[list[CallDone], dict[str, dict[str, object]]]:
    project = load_project(_quick_copy(folder))
    assert project.problems == ()
    keys, book = KeyStore(environ={}), PriceBook.for_config(project.config, project.root)
    preflight = examine(project, keystore=keys, pricebook=book, environ={})
    assert preflight.problems == ()
    assert preflight.confirm == ()
    assert preflight.estimate.total.high == 0
    plan = make_plan(project, preflight)
    run_id = run_to_end(RunRequest(project, preflight, plan, store_path, keys, book))
    with Store.open(store_path) as store:
        stored = store.run(run_id)
        return store.calls(run_id), {note.code: dict(note.values) for note in stored.notes}


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory, qapp) -> tuple[list[CallDone], dict]:
    folder = tmp_path_factory.mktemp("judge-demo")
    return _run(folder / "project", folder / "arena.sqlite")


ACCURACY = {"heron": 92, "ibis": 74, "jay": 45}


def _is_right(call: CallDone) -> bool:
    key = call.cell.model_key
    return draw("mock:flaky", key, call.cell.case_id, 1) < ACCURACY[key]


def _vote_is_right(call: CallDone, vote: int) -> bool:
    asked = f"{call.cell.model_key}|{call.cell.case_id}|{vote}"
    return draw("mock:judge", "wren", asked, 1) < 90


def _check(call: CallDone) -> CheckResult:
    assert call.score is not None
    (check,) = call.score.checks
    return check


def test_every_mark_is_what_the_truth_and_the_judges_errors_make_of_it(outcome) -> None:
    calls, _ = outcome
    marked = [call for call in calls if _check(call).type == "llm_judge"]
    assert len(marked) == 60
    for call in marked:
        yes = [_is_right(call) is _vote_is_right(call, vote) for vote in (1, 2, 3)]
        assert _check(call).passed is (sum(yes) >= 2), call.cell
        assert _check(call).score == pytest.approx(sum(yes) / 3)


def _judged_pairs(calls: list[CallDone]) -> list[tuple[CallDone, CallDone]]:
    """Pairs that the judge is asked about: one is right, the other is not. In the order of their keys."""
    met = [call for call in calls if "pairs" in _check(call).detail]
    pairs = [(a, b) for a, b in combinations(met, 2) if a.cell.case_id == b.cell.case_id]
    return [(a, b) for a, b in pairs if _is_right(a) is not _is_right(b)]


def _pair_vote_is_right(first: CallDone, second: CallDone, vote: int) -> bool:
    asked = f"{first.cell.model_key}|{second.cell.model_key}|{first.cell.case_id}|{vote}"
    return draw("mock:judge", "wren", asked, 1) < 90


def test_models_against_each_other_are_what_the_truth_and_the_judges_errors_make_of_it(outcome) -> None:
    calls, _ = outcome
    met = _judged_pairs(calls)
    assert len([call for call in calls if "pairs" in _check(call).detail]) == 12
    assert met
    for first, second in met:
        votes = _pair_vote_is_right(first, second, 1), _pair_vote_is_right(second, first, 2)
        wanted = "tie" if votes[0] is not votes[1] else "win" if _is_right(first) is votes[0] else "loss"
        (pair,) = (p for p in _check(first).detail["pairs"] if p["rival"] == second.cell.model_key)
        assert pair["result"] == wanted
        assert len(pair["votes"]) == 1


def test_its_cautions_hold_the_true_figures(outcome) -> None:
    calls, notes = outcome
    marked = [call for call in calls if _check(call).type == "llm_judge"]
    votes = [{_vote_is_right(call, vote) for vote in (1, 2, 3)} for call in marked]
    assert notes["judge_votes_split"]["split"] == sum(len(vote) == 2 for vote in votes) > 0
    compared = [call for call in calls if _check(call).type == "pairwise_judge"]
    alone = [call for call in compared if "pairs" not in _check(call).detail]
    flips = [not _is_right(c) and _vote_is_right(c, 1) is not _vote_is_right(c, 2) for c in alone]
    met = _judged_pairs(calls)
    turned = [_pair_vote_is_right(a, b, 1) is not _pair_vote_is_right(b, a, 2) for a, b in met]
    assert notes["judge_flips"] == {"flipped": sum(flips) + sum(turned), "pairs": 12 + len(met)}
    assert notes["judge_cost"] == {"usd": "0", "calls": 204 + 2 * len(met)}
    assert "judge_likes_length" not in notes
