"""Models for embeddings before a run: who they are, whether they can be asked, what they cost."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.execution.plan import make_plan
from engine.execution.preflight import Preflight, examine
from engine.keystore import KeyStore
from engine.pricing import PriceBook
from tests.execution.worlds import make_project

OPEN = {"key": "open", "model": "gpt-x", "provider": "openai"}
SMALL = "openai/text-embedding-3-small"
LANE = f"embeddings: {SMALL}"


def some(count: int, model: str = SMALL, **more: Any) -> list[dict[str, Any]]:
    check = {"type": "similarity", "method": "embedding", "model": model, **more}
    return [
        {"id": f"c{i}", "input": f"say {i}", "reference": "x" * 400, "checks": [check]} for i in range(count)
    ]


def look(tmp_path: Path, cases: Any, keys: dict[str, str] | None = None, **config: Any) -> Preflight:
    project = make_project(tmp_path / "project", {"models": [OPEN], **config}, cases)
    environ = {"OPENAI_API_KEY": "k-open"} if keys is None else keys
    book = PriceBook.for_config(project.config, project.root)
    return examine(project, keystore=KeyStore(environ=environ), pricebook=book, environ={})


def test_it_has_its_key_its_lane_and_its_list_price(tmp_path: Path) -> None:
    preflight = look(tmp_path, some(2), run={"provider_concurrency": {"openai": 2}})
    (model,) = preflight.embedders
    assert (model.entry.key, model.lane, model.settings.api_key) == (LANE, LANE, "k-open")
    assert model.price is not None
    assert (model.price.input_usd_per_mtok, model.price.output_usd_per_mtok) == (Decimal("0.02"), 0)
    assert preflight.lanes == {"openai": 2, LANE: 2}
    assert not preflight.problems
    assert preflight.confirm == ()
    project = make_project(tmp_path / "project", {"models": [OPEN]}, some(2))
    lane = next(lane for lane in make_plan(project, preflight).lanes if lane.id == LANE)
    assert (lane.marks, lane.shares) == (True, "openai")


def test_a_project_that_compares_otherwise_looks_at_none(tmp_path: Path) -> None:
    preflight = look(tmp_path, some(2, method="fuzzy"), {})
    assert (preflight.embedders, preflight.embedder_skips, preflight.estimate.judge) == ((), (), None)


@pytest.mark.parametrize("model", ["gemini/gemini-embedding-001", "openai/text-embedding-3-small"])
def test_a_missing_key_is_a_warning_with_its_fix_and_a_question(tmp_path: Path, model: str) -> None:
    preflight = look(tmp_path, some(2, model), {}, models=[{"key": "m", "model": "mock:oracle"}])
    assert not preflight.errors
    assert preflight.embedders == ()
    (skip,) = preflight.embedder_skips
    assert (skip.model_key, skip.code) == (f"embeddings: {model}", "no_key")
    (problem,) = [p for p in preflight.problems if p.code == "embedder_not_ready"]
    assert f"`{model}`" in problem.message
    assert model.split("/")[0].upper() in f"{problem.message} {problem.fix}"
    (note,) = preflight.confirm
    assert (note.code, note.values["model"]) == ("embedder_not_ready", model)


def test_each_right_answer_is_paid_once_and_each_answer_once(tmp_path: Path) -> None:
    price = {"models": {"text-embedding-3-small": {"input_usd_per_mtok": 1_000_000}}}
    preflight = look(tmp_path, some(3), pricing=price, run={"trials": 2}, defaults={"max_tokens": 50})
    found = preflight.estimate.by_marker[LANE]
    # The same right answer of 100 tokens in all tests; 6 answers of 50 tokens as the shortest.
    assert found.low == 100 + 6 * 50
    assert found.high is not None
    assert found.high >= 400 + 6 * 50
    assert preflight.estimate.marker_calls == {LANE: 6}
    assert preflight.estimate.judge == found


def test_an_unknown_price_is_unknown_for_the_whole(tmp_path: Path) -> None:
    server = [{"id": "office", "kind": "openai_compatible", "base_url": "http://10.0.0.9/v1"}]
    preflight = look(tmp_path, some(2, "office/bge"), providers=server)
    assert preflight.estimate.by_marker["embeddings: office/bge"].likely is None
    assert preflight.estimate.judge is not None
    assert preflight.estimate.judge.high is None
    assert preflight.estimate.total.high is None
    assert "embeddings: office/bge" in preflight.estimate.unpriced


def test_the_practice_model_is_free_and_always_there(tmp_path: Path) -> None:
    preflight = look(tmp_path, some(2, "mock:embedding"), {}, models=[{"key": "m", "model": "mock:oracle"}])
    assert [model.entry.key for model in preflight.embedders] == ["embeddings: mock:embedding"]
    assert preflight.estimate.total.high == 0
    assert not preflight.problems


def test_a_model_of_the_project_that_is_switched_off_lends_its_settings(tmp_path: Path) -> None:
    vec = {"key": "vec", "model": "text-embedding-3-large", "provider": "openai", "enabled": False}
    preflight = look(tmp_path, some(1, "vec"), models=[OPEN, {**vec, "params": {"dimensions": 64}}])
    (model,) = preflight.embedders
    assert (model.entry.model, dict(model.entry.params)) == ("text-embedding-3-large", {"dimensions": 64})
    assert [ready.entry.key for ready in preflight.ready] == ["open"]
