"""Marking a saved run again by embeddings: what is asked, what it costs, what stays as it was."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

from engine.domain import RunStatus, ScoreState
from tests.execution.test_embed_run import LANE, OPEN, PRICE, SMALL, marks, service, texts
from tests.execution.test_mark_again import Marked, changed, looked
from tests.execution.worlds import World

VEC = {"key": "vec", "model": "text-embedding-3-small", "provider": "openai", "enabled": False}
CASES = [{"id": f"c{i}", "input": f"say {i}", "reference": f"right {i}"} for i in range(3)]


def by(**options: Any) -> dict[str, Any]:
    return {"scorers": {"default": "similarity", "options": {"similarity": options}}}


def ran(tmp_path: Path, fake: Any, **config: Any) -> World:
    made = World(tmp_path, {"models": [OPEN, VEC], **config}, cases=CASES, service=fake)
    assert made.run().info.status is RunStatus.COMPLETED
    return made


def test_from_words_to_meaning_asks_for_vectors_and_no_model(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path, service(answer=lambda request: "wholly different"), **by(method="lexical"))
    assert {mark.score for mark in marks(made).values()} == {0.0}
    fake = service()
    found = looked(made, changed(made, **by(method="embedding", model=SMALL), pricing=PRICE), fake)
    assert (found.asks, found.answers) == (True, 3)
    assert found.cost.high is not None
    done = Marked(qtbot, found).wait()
    assert done.status is RunStatus.COMPLETED
    assert fake.requests == []
    assert texts(fake) == {"wholly different": 1, "right 0": 1, "right 1": 1, "right 2": 1}
    assert all(mark.state is ScoreState.SCORED and (mark.score or 0) < 0.75 for mark in marks(made).values())
    spend = {row.model_key: row.spent_usd for row in made.stored().spend}
    assert spend[LANE] == Decimal(4)


def test_the_same_terms_are_not_paid_for_twice_and_other_settings_are(tmp_path: Path, qtbot) -> None:
    first = service()
    made = ran(tmp_path, first, **by(method="embedding", model="vec"))
    assert len(texts(first)) == 3
    same = looked(made, changed(made, metrics={"weights": {"accuracy": 1}}), service())
    assert (same.asks, same.calls) == (False, 0)
    fake = service()
    found = looked(made, changed(made, models=[OPEN, {**VEC, "params": {"dimensions": 9}}]), fake)
    assert found.asks
    Marked(qtbot, found).wait()
    assert fake.requests == []
    assert len(texts(fake)) == 3
    assert {tuple(request.params.items()) for request in fake.embeds} == {(("dimensions", 9),)}


def test_without_a_key_old_marks_stay(tmp_path: Path, qtbot) -> None:
    made = ran(tmp_path, service(), **by(method="lexical"))
    before = {key: mark.score for key, mark in marks(made).items()}
    fake = service()
    found = looked(made, changed(made, **by(method="embedding", model=SMALL)), fake, key=False)
    if found.asks:
        Marked(qtbot, found).wait()
    assert fake.embeds == []
    assert {key: mark.score for key, mark in marks(made).items()} == before
