"""Windows on the calls: sorted and filtered by the database, the same as sorting them all here."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from engine.domain import CallDone, CallStatus, Case, Cell, Outcome, ScoreState
from engine.storage.records import DoneWrite
from engine.storage.rows import CallFilter, CallOrder, CallRow
from engine.storage.store import Store
from providers.base import Message, Usage
from tests.storage import samples

HEAD = replace(
    samples.head(cases=("c1", "c2", "c3"), trials=2),
    cases=(
        Case(id="c1", input='Is 50% of "it" a_b enough?', reference="yes", fingerprint="1"),
        Case(
            id="c2",
            messages=(Message("user", "Where is my parcel?"),),
            reference=["Lost", "Gone"],
            fingerprint="2",
        ),
        Case(id="c3", input="Angry customer", reference={"mood": "furious"}, fingerprint="3"),
    ),
)
CELLS = [planned.cell for planned in HEAD.cells]


def call(number: int, cell: Cell) -> CallDone:
    """Calls that differ in everything; every fifth knows nothing, one failed."""
    if number == 10:
        return samples.failed_call(cell)
    made = samples.plain_call(cell, [1.0, 0.0, 0.5, None][number % 4], text=f"answer {number}")
    assert made.answer is not None
    if number % 5 == 0:
        return made
    usage = Usage(input=100 - number, output=number)
    answer = replace(
        made.answer, usage=usage, latency_ms=float(number * 37 % 11), cost_usd=Decimal(number) / 7
    )
    return replace(made, answer=answer, attempts=number % 3 + 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "arena.sqlite") as opened:
        opened.create_run(HEAD)
        # The last cell stays planned.
        opened.write([DoneWrite(HEAD.run_id, call(n, cell)) for n, cell in enumerate(CELLS)][:-1])
        yield opened


def rows(store: Store, chosen: CallFilter = CallFilter(), order: CallOrder = CallOrder()) -> list[CallRow]:  # noqa: B008 - frozen
    return store.call_rows(store.call_ids(HEAD.run_id, chosen, order))


def found(store: Store, **filters: Any) -> list[Cell]:
    return [row.cell for row in rows(store, CallFilter(**filters))]


def test_a_page_has_every_call_with_what_is_known_of_it(store: Store) -> None:
    page = store.calls_page(HEAD.run_id)
    assert (page.total, page.matching) == (12, 12)
    assert [row.cell for row in page.rows] == CELLS
    row = page.rows[2]
    assert (row.state, row.status, row.outcome) == ("done", CallStatus.OK, Outcome.COMPLETE)
    assert (row.score_state, row.score, row.passed, row.reason) == (ScoreState.SCORED, 0.5, True, "said so")
    assert (row.preview, row.length, row.latency_ms) == ("answer 2", 8, 8.0)
    assert (row.input_tokens, row.output_tokens, row.cost_usd) == (98, 2, Decimal(2) / 7)
    assert (row.attempts, row.throttled, row.error_kind, row.mark) == (3, 0, None, None)
    failed, planned = page.rows[10], page.rows[11]
    assert (failed.error_kind, failed.error_message, failed.score_state) == (
        "auth",
        "The key was refused.",
        None,
    )
    assert (planned.state, planned.status, planned.length, planned.preview) == ("planned", None, None, "")


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize(
    ("by", "key"),
    [
        ("plan", lambda row: row.position),
        ("model", lambda row: row.cell.model_key),
        ("case", lambda row: row.cell.case_id),
        ("trial", lambda row: row.cell.trial),
        ("status", lambda row: row.status),
        ("outcome", lambda row: row.outcome),
        ("score", lambda row: row.score),
        ("latency", lambda row: row.latency_ms),
        ("cost", lambda row: row.cost_usd),
        ("tokens", lambda row: None if row.input_tokens is None else row.input_tokens + row.output_tokens),
        ("attempts", lambda row: row.attempts),
    ],
)
def test_orders(store: Store, by: str, key: Callable[[CallRow], Any], descending: bool) -> None:
    plain = rows(store)
    known = [row for row in plain if key(row) is not None]
    unknown = [row for row in plain if key(row) is None]
    # Equal ones keep plan order in both directions, unknown ones come last.
    expected = sorted(known, key=key, reverse=descending)
    assert rows(store, order=CallOrder(by, descending)) == expected + unknown


def test_pages_put_together_are_the_whole(store: Store) -> None:
    order, chosen = CallOrder("score", descending=True), CallFilter(models=("alpha", "beta"))
    whole = rows(store, chosen, order)
    pages = [store.calls_page(HEAD.run_id, chosen, order, offset=start, limit=5) for start in range(0, 12, 5)]
    assert [row for page in pages for row in page.rows] == whole
    assert {(page.matching, page.total) for page in pages} == {(12, 12)}
    plain = [store.calls_page(HEAD.run_id, order=order, offset=start, limit=5) for start in range(0, 12, 5)]
    assert [row for page in plain for row in page.rows] == whole
    assert store.calls_page(HEAD.run_id, offset=50).rows == ()


def test_an_order_that_does_not_exist_is_a_mistake(store: Store) -> None:
    with pytest.raises(ValueError, match="latency"):
        rows(store, order=CallOrder("c.id; DROP TABLE runs"))


def test_filters_by_column(store: Store) -> None:
    assert found(store, models=("beta",)) == [cell for cell in CELLS if cell.model_key == "beta"]
    assert found(store, models=("beta",), cases=("c1", "c3")) == [
        cell for cell in CELLS if cell.model_key == "beta" and cell.case_id in ("c1", "c3")
    ]
    assert found(store, models=("nobody",)) == []
    assert found(store, statuses=(CallStatus.ERROR,)) == [CELLS[10]]
    assert found(store, outcomes=(Outcome.FAILED, Outcome.LENGTH)) == [CELLS[10]]
    assert found(store, state=ScoreState.UNSCORED) == [CELLS[3], CELLS[7]]
    assert found(store, passed=False) == [CELLS[1], CELLS[5], CELLS[9]]
    assert found(store, passed=True) == [CELLS[n] for n in (0, 2, 4, 6, 8)]
    page = store.calls_page(HEAD.run_id, CallFilter(passed=True), limit=2)
    assert (len(page.rows), page.matching, page.total) == (2, 5, 12)


@pytest.mark.parametrize(
    ("text", "cases"),
    [
        ("50%", ["c1"]),
        ('"IT"', ["c1"]),
        ("a_b", ["c1"]),
        ("aXb", []),
        ("parcel", ["c2"]),
        ("gone", ["c2"]),
        ("furious", ["c3"]),
        ("C2", ["c2"]),
        ("mood", []),
        ("content", []),
        ("user", []),
    ],
)
def test_text_is_found_in_the_question_and_taken_as_it_is(store: Store, text: str, cases: list[str]) -> None:
    assert sorted({cell.case_id for cell in found(store, text=text)}) == cases


def test_text_is_found_in_answers_and_errors(store: Store) -> None:
    assert found(store, text="ANSWER 7") == [CELLS[7]]
    assert found(store, text="key was") == [CELLS[10]]


def test_where_models_differ(tmp_path: Path) -> None:
    head = samples.head(cases=("same", "differ", "wavers"), trials=3)
    scores = {
        ("alpha", "same"): (1, 1, 0),
        ("beta", "same"): (1, 0, 1),
        ("alpha", "differ"): (1, 1, 0),
        ("beta", "differ"): (0, 0, 1),
        ("alpha", "wavers"): (0, 1, 0),
        ("beta", "wavers"): (0, 0, 0),
    }
    with Store.open(tmp_path / "differ.sqlite") as store:
        store.create_run(head)
        store.write(
            [
                DoneWrite(head.run_id, samples.plain_call(Cell(model, case, trial), float(score)))
                for (model, case), marks in scores.items()
                for trial, score in enumerate(marks, 1)
            ]
        )
        page = store.calls_page(head.run_id, CallFilter(differ=True))
        assert {row.cell.case_id for row in page.rows} == {"differ"}
        assert page.matching == 6
        marks = {(mark.model_key, mark.case_id): mark for mark in store.case_marks(head.run_id)}
        mark = marks["alpha", "same"]
        assert (mark.trials, mark.scored, mark.passed, mark.errors, mark.score) == (
            3,
            3,
            2,
            0,
            pytest.approx(2 / 3),
        )
        assert list(marks)[:2] == [("alpha", "same"), ("beta", "same")]


def test_marked_calls(store: Store) -> None:
    store.set_mark(HEAD.run_id, CELLS[4], "good")
    assert found(store, marked=True) == [CELLS[4]]


def test_rows_that_are_gone_are_left_out(store: Store) -> None:
    ids = store.call_ids(HEAD.run_id)
    assert [row.cell for row in store.call_rows([ids[3], 10**9, ids[1]])] == [CELLS[3], CELLS[1]]
    assert store.call_rows([]) == []
