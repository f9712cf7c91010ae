"""Everything that is written comes back as it was; what was unknown stays unknown."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path

import pytest

from engine.domain import CallStatus, CaseScore, Cell, Outcome, RunStatus, ScoreState
from engine.errors import ArenaError, UserError
from engine.storage.records import (
    TEXT_LIMIT,
    AnswerWrite,
    AttemptWrite,
    BoardRow,
    DoneWrite,
    EventWrite,
    FinishWrite,
    ScoreWrite,
    SpendWrite,
    StartedWrite,
    new_run_id,
)
from engine.storage.rows import CallFilter
from engine.storage.store import Store, default_store_path
from tests.storage import samples
from tests.storage.samples import START

CELL = Cell("alpha", samples.FULL_CASE.id, 1)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "arena.sqlite") as opened:
        yield opened


@pytest.fixture
def full(store: Store) -> Store:
    store.create_run(samples.full_head())
    return store


def test_a_run_comes_back_with_every_field(full: Store) -> None:
    head = samples.full_head()
    stored = full.run(head.run_id)
    assert stored.config == head.config
    assert stored.models == head.models
    assert stored.cases == head.cases
    assert stored.skipped == head.skipped
    assert stored.notes == head.notes
    assert stored.lanes == head.lanes
    assert (stored.seed, stored.app_version) == (7, "0.1.0")
    assert (stored.board, stored.verdict, stored.error) == (None, None, None)
    info = stored.info
    assert (info.run_id, info.project, info.project_root) == (head.run_id, head.project, head.project_root)
    assert (info.status, info.started_at, info.finished_at) == (RunStatus.RUNNING, START, None)
    assert (info.planned, info.models, info.cases, info.trials) == (2, 2, 1, 1)
    assert (info.label, info.practice, info.number) == ("old prompt", True, 1)
    assert (info.winner, info.winner_score, info.duration_s, info.deleted_at) == (None, None, None, None)
    assert info.store == full.path


def test_a_call_comes_back_with_every_field(full: Store) -> None:
    call = samples.full_call(CELL)
    full.write([DoneWrite(samples.full_head().run_id, call)])
    assert full.calls("last") == [call]
    assert full.call("last", CELL) == call


def test_the_steps_of_a_call_add_up_to_the_whole(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    assert call.answer is not None
    assert call.score is not None
    answered = AnswerWrite(
        run_id,
        CELL,
        call.answer,
        call.attempts,
        call.throttled,
        call.waited_s,
        call.started_at,
        call.finished_at,
        call.attempt_log,
    )
    full.write([StartedWrite(run_id, CELL, START), AttemptWrite(run_id, CELL, call.attempt_log[0])])
    full.write([answered])
    assert full.pending_scores(run_id) == [answered]
    assert full.calls(run_id) == [replace(call, score=None)]
    full.write([ScoreWrite(run_id, CELL, call.score, START + timedelta(seconds=11))])
    assert full.pending_scores(run_id) == []
    assert full.calls(run_id) == [call]
    full.write([DoneWrite(run_id, call)])
    assert full.calls(run_id) == [call]
    assert full.score_history(run_id, CELL) == [call.score]
    assert full.answers(run_id, CELL) == [call.answer]


def test_unknown_stays_none(store: Store) -> None:
    head = samples.head(cases=("c1",), trials=1)
    store.create_run(head)
    call = samples.plain_call(Cell("alpha", "c1", 1), None)
    store.write(
        [DoneWrite(head.run_id, call), DoneWrite(head.run_id, samples.failed_call(Cell("beta", "c1", 1)))]
    )
    read, failed = store.calls(head.run_id)
    assert read == call
    assert read.answer is not None
    assert (read.answer.cost_usd, read.answer.usage.input, read.answer.usage.output) == (None, None, None)
    assert failed == samples.failed_call(Cell("beta", "c1", 1))
    row = store.calls_page(head.run_id).rows[0]
    assert (row.cost_usd, row.input_tokens, row.score, row.passed) == (None, None, None, None)
    store.finish_run(head.run_id, replace(samples.finish(), cost_usd=None, rows=(), winner=None))
    assert store.runs()[0].cost_usd is None


@pytest.mark.parametrize(
    "amount", ["0", "0.000000000000000000001", "12345678901234567890.12", "1E-7", "-0.10"]
)
def test_money_keeps_every_digit(store: Store, amount: str) -> None:
    head = samples.head(cases=("c1",), trials=1)
    store.create_run(head)
    plain = samples.plain_call(Cell("alpha", "c1", 1))
    assert plain.answer is not None
    call = replace(plain, answer=replace(plain.answer, cost_usd=Decimal(amount)))
    spend = SpendWrite(head.run_id, "alpha", Decimal(amount), Decimal("0.5"), 3, 200, 1, "judge")
    store.write([DoneWrite(head.run_id, call), spend])
    answer = store.calls(head.run_id)[0].answer
    assert answer is not None
    assert answer.cost_usd is not None
    assert answer.cost_usd.as_tuple() == Decimal(amount).as_tuple()
    assert store.run(head.run_id).spend == (spend,)
    assert store.run(head.run_id).spend[0].spent_usd.as_tuple() == Decimal(amount).as_tuple()


def test_the_newest_account_replaces_the_one_before(store: Store) -> None:
    head = samples.head()
    store.create_run(head)
    first = SpendWrite(head.run_id, "alpha", Decimal("0.1"), Decimal("0.5"))
    later = SpendWrite(head.run_id, "alpha", Decimal("0.4"), Decimal("0.0"))
    store.write([first, later, replace(first, model_key="beta")])
    assert store.run(head.run_id).spend == (later, replace(first, model_key="beta"))
    assert store.run(head.run_id).info.cost_usd == Decimal("0.5")
    store.write([replace(later, unpriced_calls=2)])
    assert store.run(head.run_id).info.cost_usd is None
    assert store.info(head.run_id) == store.run(head.run_id).info


def test_long_answers_are_cut_and_say_by_how_much(full: Store) -> None:
    run_id = samples.full_head().run_id
    long = replace(
        samples.FULL_ANSWER, text="é" * (TEXT_LIMIT + 31), reasoning="r" * (TEXT_LIMIT + 1), notes=()
    )
    full.write([DoneWrite(run_id, replace(samples.full_call(CELL), answer=long))])
    answer = full.calls(run_id)[0].answer
    assert answer is not None
    assert answer.text == "é" * TEXT_LIMIT
    assert answer.reasoning == "r" * TEXT_LIMIT
    assert answer.notes == (("cut_in_store", {"kept": TEXT_LIMIT, "text": 31, "reasoning": 1}),)
    row = full.calls_page(run_id).rows[0]
    assert (row.length, row.preview) == (TEXT_LIMIT + 31, "é" * 200)
    assert full.answer_text(run_id, CELL) == "é" * TEXT_LIMIT


def test_broken_characters_are_replaced_everywhere(full: Store) -> None:
    run_id = samples.full_head().run_id
    call = samples.full_call(CELL)
    broken = "half \ud83d of a pair"
    assert call.score is not None
    check = replace(call.score.checks[0], reason=broken, detail={broken: [broken]})
    call = replace(
        call,
        answer=replace(samples.FULL_ANSWER, text=broken, notes=((broken, {"a": broken}),)),
        score=replace(call.score, reason=broken, checks=(check,)),
    )
    full.write([DoneWrite(run_id, call), EventWrite(run_id, START, "paused", values={"why": broken})])
    read = full.calls(run_id)[0]
    mended = "half \ufffd of a pair"
    assert read.answer is not None
    assert read.score is not None
    assert read.answer.text == mended
    assert read.answer.notes == ((mended, {"a": mended}),)
    assert read.score.checks[0].detail == {mended: [mended]}
    assert full.events(run_id)[0].values == {"why": mended}
    assert full.events(run_id, kind=full.events(run_id)[0].kind) == full.events(run_id)[:1]
    assert full.events(run_id, kind="nothing of the kind") == []


def test_numbers_that_json_cannot_hold_come_back(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    assert call.score is not None
    score = replace(call.score, metrics={"ratio": float("inf")}, checks=())
    full.write([DoneWrite(run_id, replace(call, score=score))])
    read = full.calls(run_id)[0].score
    assert read is not None
    assert read.metrics == {"ratio": float("inf")}


def test_a_finished_run_has_its_result(full: Store) -> None:
    run_id = samples.full_head().run_id
    full.write([DoneWrite(run_id, samples.full_call(CELL))])
    result = replace(samples.finish(RunStatus.CANCELLED, alpha=0.9, beta=None), error="why")
    full.write([FinishWrite(run_id, result)])
    stored = full.run(run_id)
    assert (stored.board, stored.verdict, stored.notes, stored.lanes, stored.error) == (
        result.board,
        result.verdict,
        result.notes,
        result.lanes,
        "why",
    )
    assert stored.owner is None
    info = stored.info
    assert (info.status, info.finished_at, info.cost_usd) == (
        RunStatus.CANCELLED,
        result.finished_at,
        Decimal("0.92"),
    )
    assert (info.winner, info.winner_score, info.duration_s) == ("alpha", 0.9, 300.0)
    assert (info.completed, info.errors, info.stopped) == (1, 0, 1)
    assert full.board_rows(run_id) == list(result.rows)


def test_board_rows_keep_every_field(full: Store) -> None:
    row = BoardRow(
        model_key="alpha",
        label="Alpha",
        status="incomplete",
        rank=None,
        composite=0.5,
        score=0.25,
        low=0.1,
        high=0.4,
        coverage=0.8,
        latency_p50_ms=120.0,
        latency_p95_ms=900.5,
        cost_usd=Decimal("0.10"),
        cost_per_1k_usd=4.5,
        scored_cases=8,
        passed_cases=2,
        metrics={"accuracy": 0.25, "cost": None},
    )
    full.finish_run("last", replace(samples.finish(), rows=(row,), winner=None))
    assert full.board_rows("last") == [row]


def test_scoring_again_adds_a_mark_and_costs_no_answer(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    full.write([DoneWrite(run_id, call)])
    mark = CaseScore(ScoreState.SCORED, 0.0, False, "The new check says no.")
    full.write([ScoreWrite(run_id, CELL, mark, START + timedelta(days=1), "rescore")])
    read = full.calls(run_id)[0]
    assert read == replace(call, score=mark)
    assert full.score_history(run_id, CELL) == [mark, call.score]
    page = full.calls_page(run_id).rows[0]
    assert (page.score, page.passed, page.reason) == (0.0, False, "The new check says no.")


def test_an_errored_or_open_score_has_no_number(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    mark = CaseScore(ScoreState.ERRORED, None, None, "The check failed.")
    full.write([DoneWrite(run_id, replace(call, score=mark))])
    assert full.calls(run_id)[0].score == mark
    row = full.calls_page(run_id).rows[0]
    assert (row.score_state, row.score, row.passed) == (ScoreState.ERRORED, None, None)


def test_a_better_known_answer_replaces_the_pending_one(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    early = replace(samples.FULL_ANSWER, cost_usd=None, cost_source="unknown")
    full.write([AnswerWrite(run_id, CELL, early)])
    full.write([DoneWrite(run_id, call)])
    assert full.answers(run_id, CELL) == [samples.FULL_ANSWER]


def test_asked_again_after_an_error_the_new_answer_counts(store: Store) -> None:
    head = samples.head(cases=("c1",), trials=1)
    store.create_run(head)
    cell = Cell("alpha", "c1", 1)
    store.write([DoneWrite(head.run_id, samples.failed_call(cell))])
    store.write([DoneWrite(head.run_id, samples.plain_call(cell))])
    assert store.calls(head.run_id) == [samples.plain_call(cell)]


def test_asked_again_after_a_score_the_new_answer_is_kept_beside(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    other = replace(samples.FULL_ANSWER, text="Another one.", request_id="req_2")
    full.write([DoneWrite(run_id, call)])
    beside = DoneWrite(run_id, replace(call, answer=other), counts=False)
    full.write([beside, beside, AnswerWrite(run_id, CELL, other, counts=False)])
    assert full.calls(run_id) == [call]
    assert full.answers(run_id, CELL) == [samples.FULL_ANSWER, other]


def test_an_answer_survives_being_stopped_before_it_was_scored(full: Store) -> None:
    run_id = samples.full_head().run_id
    full.write([AnswerWrite(run_id, CELL, samples.FULL_ANSWER)])
    full.write([DoneWrite(run_id, samples.stopped_call(CELL))])
    assert [write.answer for write in full.pending_scores(run_id)] == [samples.FULL_ANSWER]
    assert CELL not in [cell.cell for cell in full.unfinished(run_id)]


def test_the_same_batch_given_twice_changes_nothing(full: Store) -> None:
    run_id, call = samples.full_head().run_id, samples.full_call(CELL)
    assert call.answer is not None
    batch = [
        AnswerWrite(run_id, CELL, call.answer, finished_at=call.finished_at),
        EventWrite(run_id, START, "throttled", "openai", {"before": 3, "after": 1}),
        DoneWrite(run_id, call),
        SpendWrite(run_id, "alpha", Decimal("0.1"), Decimal(0)),
    ]
    full.write(batch)
    before = (full.calls(run_id), full.events(run_id), full.answers(run_id, CELL), full.run(run_id).spend)
    full.write(batch)
    assert (
        full.calls(run_id),
        full.events(run_id),
        full.answers(run_id, CELL),
        full.run(run_id).spend,
    ) == before
    assert full.score_history(run_id, CELL) == [call.score]


def test_events_come_in_order_and_from_a_point_on(full: Store) -> None:
    run_id = samples.full_head().run_id
    events = [EventWrite(run_id, START, kind, lane) for kind, lane in (("throttled", "a"), ("closed", None))]
    full.write(events)
    stored = full.events(run_id)
    assert [(event.kind, event.lane, event.at, event.values) for event in stored] == [
        ("throttled", "a", START, {}),
        ("closed", None, START, {}),
    ]
    assert full.events(run_id, after=stored[0].id) == stored[1:]


def test_cases_of_equal_content_are_kept_once(store: Store) -> None:
    store.create_run(samples.head("run_a"))
    store.create_run(samples.head("run_b"))
    with store.database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM case_contents").fetchone()[0] == 3
    assert store.run("run_a").cases == store.run("run_b").cases


def test_a_batch_with_an_unknown_cell_changes_nothing(full: Store) -> None:
    run_id = samples.full_head().run_id
    good = DoneWrite(run_id, samples.full_call(CELL))
    with pytest.raises(ArenaError, match="no planned call") as caught:
        full.write([good, DoneWrite(run_id, samples.plain_call(Cell("alpha", "nowhere", 1)))])
    assert caught.value.code == "cell_unknown"
    assert full.calls(run_id) == []


def test_times_without_a_zone_are_refused(full: Store) -> None:
    with pytest.raises(ValueError, match="time zone"):
        full.write([EventWrite(samples.full_head().run_id, START.replace(tzinfo=None), "paused")])


def test_filters_of_calls(store: Store) -> None:
    head = samples.head()
    store.create_run(head)
    store.write(samples.done_writes(head)[:-1])
    store.write([DoneWrite(head.run_id, samples.failed_call(Cell("beta", "c3", 2)))])
    everything = store.calls(head.run_id)
    assert [call.cell for call in everything] == [planned.cell for planned in head.cells]
    assert [call.cell for call in store.calls(head.run_id, model_key="beta", case_id="c3")] == [
        Cell("beta", "c3", 1),
        Cell("beta", "c3", 2),
    ]
    assert [call.cell for call in store.calls(head.run_id, status=CallStatus.ERROR)] == [
        Cell("beta", "c3", 2)
    ]
    assert store.calls(head.run_id, offset=3, limit=4) == everything[3:7]
    assert list(store.iter_calls(head.run_id)) == everything


def test_light_calls_have_all_that_a_board_needs(full: Store) -> None:
    call = samples.full_call(CELL)
    full.write([DoneWrite(samples.full_head().run_id, call)])
    light = next(full.iter_calls("last", texts=False))
    assert light.answer == replace(samples.FULL_ANSWER, text="", reasoning=None, notes=(), request_id=None)
    assert light.score == replace(samples.FULL_SCORE, checks=(), reason="")
    charged = tuple(a for a in call.attempt_log if a.error is not None and a.cost_usd)
    assert charged
    assert len(charged) < len(call.attempt_log)
    changed = {"answer": light.answer, "score": light.score, "attempt_log": charged}
    assert light == replace(call, **changed, started_at=None, finished_at=None)


@pytest.mark.parametrize(
    ("notes", "held"),
    [((("cut", {}), ("loading_included", {})), True), ((("told", {"text": '"loading_included"'}),), False)],
)
def test_light_calls_know_whose_time_holds_the_loading_of_its_model(full: Store, notes, held: bool) -> None:
    call = replace(samples.full_call(CELL), answer=replace(samples.FULL_ANSWER, notes=notes))
    full.write([DoneWrite(samples.full_head().run_id, call)])
    light = next(full.iter_calls("last", texts=False))
    assert light.answer.holds_loading is call.answer.holds_loading is held


def test_light_calls_follow_the_filter_and_know_failures(store: Store) -> None:
    head = samples.head(cases=tuple(f"c{number}" for number in range(1_100)))
    store.create_run(head)
    store.write(samples.done_writes(head)[:-1])
    store.write([DoneWrite(head.run_id, samples.failed_call(Cell("beta", "c1099", 2)))])
    full = store.calls(head.run_id)
    light = list(store.iter_calls(head.run_id, texts=False))
    assert [call.cell for call in light] == [call.cell for call in full]
    assert light[-1] == replace(samples.failed_call(Cell("beta", "c1099", 2)), finished_at=None)
    failed = CallFilter(statuses=(CallStatus.ERROR,))
    assert list(store.iter_calls(head.run_id, failed, texts=False)) == light[-1:]
    assert list(store.iter_calls(head.run_id, failed)) == full[-1:]


def test_marks_and_labels(full: Store) -> None:
    run_id = samples.full_head().run_id
    full.write([DoneWrite(run_id, samples.full_call(CELL))])
    full.set_mark(run_id, CELL, "bad")
    assert full.calls_page(run_id).rows[0].mark == "bad"
    full.set_mark(run_id, CELL, None)
    assert full.calls_page(run_id).rows[0].mark is None
    assert full.calls(run_id)[0].outcome is Outcome.LENGTH
    with pytest.raises(ValueError, match="good, bad"):
        full.set_mark(run_id, CELL, "maybe")
    with pytest.raises(ArenaError) as caught:
        full.set_mark(run_id, Cell("alpha", "nowhere", 1), "good")
    assert caught.value.code == "cell_unknown"
    full.set_label(run_id, "after the release")
    assert full.runs()[0].label == "after the release"


def test_run_ids_sort_by_start_in_utc() -> None:
    assert new_run_id(START).startswith("run_20261103_140507_")
    assert new_run_id(START) != new_run_id(START)


def test_the_default_place_is_below_the_home_of_the_program(tmp_path: Path) -> None:
    assert default_store_path() == tmp_path / "arena-home" / "arena.sqlite"


def test_result_replaced_after_scoring_again(full: Store) -> None:
    run_id = samples.full_head().run_id
    full.finish_run(run_id, samples.finish(alpha=0.9, beta=0.8))
    full.set_result(run_id, samples.finish(alpha=0.1, beta=0.8), config={"project": "new weights"})
    stored = full.run(run_id)
    assert (stored.info.winner, stored.info.winner_score) == ("beta", 0.8)
    assert stored.config == {"project": "new weights"}
    assert stored.info.duration_s == 300.0


def test_a_missing_run_is_named(store: Store) -> None:
    with pytest.raises(UserError, match="run_x") as caught:
        store.run("run_x")
    assert caught.value.code == "run_not_found"
    with pytest.raises(UserError) as caught:
        store.run("last")
    assert caught.value.code == "run_not_found"
    with pytest.raises(UserError) as caught:
        store.info("run_x")
    assert caught.value.code == "run_not_found"
