"""Answers: tests beside each other, plain text only, marks of one's own, all calls as one table."""

from __future__ import annotations

from array import array
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication, QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.itemmodels.call_cells import one_line
from arena_desktop.itemmodels.call_columns import call_columns
from arena_desktop.itemmodels.call_pages import PAGE
from arena_desktop.itemmodels.calls import CallsTable
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.views.answer_marks import expected_marks, only_here_marks
from arena_desktop.views.answer_pane import AnswerPane, CaseAnswers
from arena_desktop.views.answers import AnswersView
from arena_desktop.widgets.answer_view import MarkKind
from arena_desktop.wording import answers as words
from engine.cases.identity import with_ids
from engine.domain import Answer, CallDone, CallError, CallStatus, Case, CaseScore, Cell, Outcome, ScoreState
from engine.storage.rows import CallOrder, CallRow
from providers.base import Message
from tests.views.conftest import Stored
from tests.views.run_world import CONFIG, close_context, make_context, run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


def shown_page(context: AppContext, qtbot: QtBot, run_id: str) -> AnswersView:
    view = AnswersView(context)
    qtbot.addWidget(view)
    view.resize(1280, 800)
    with qtbot.waitExposed(view):
        view.show()
    context.results.open_run(run_id)
    qtbot.waitUntil(lambda: view.rows.total_count() > 0, timeout=10_000)
    settle(context, qtbot)
    return view


def settle(context: AppContext, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=10_000)
    QApplication.processEvents()


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, stored: Stored) -> AnswersView:
    """The page with the first stored run on show."""
    return shown_page(context, qtbot, stored.runs[0])


def ids(page: AnswersView) -> list[str]:
    return [row.case.id for row in page.rows.shown_rows()]


def show(page: AnswersView, key: str) -> None:
    page.combo_show.setCurrentIndex(page.combo_show.findData(key))
    page.apply_filter()


# ---- side by side


def test_the_first_test_is_on_show_with_every_answer(page: AnswersView) -> None:
    assert len(ids(page)) == 24
    assert page.pane.question.text() == "Question number 0 of a customer?"
    assert page.pane.reference.text() == "refund"
    columns = page.pane.answer_columns()
    # The model without a key was never in the run.
    assert [column.name.text() for column in columns] == [
        "Aster Large",
        "Birch Mini",
        "Cedar Mini",
        "Ember Beta",
    ]
    assert columns[0].chip.text in ("Pass", "Fail")
    assert columns[0].figures.text().startswith("0.3 s")
    assert columns[3].chip.text == "No answer"
    assert "It is not counted as wrong." in columns[3].why.text()
    assert not columns[3].mark.isEnabled()


def test_the_list_marks_each_model_and_speaks_it(page: AnswersView) -> None:
    index = page.rows.index(0, 0)
    spoken = index.data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("1, case-00. Aster Large ")
    assert spoken.endswith("Ember Beta no answer")


def test_names_words_and_texts_are_sound(page: AnswersView) -> None:
    assert forbidden(texts(page)) == []
    assert nameless(page) == []


@pytest.mark.parametrize("key", ["differ", "failed", "passed", "unasked"])
def test_each_choice_shows_its_tests(
    page: AnswersView, context: AppContext, stored: Stored, key: str
) -> None:
    marks: dict[str, list[bool | None]] = {}
    for item in context.results.store().case_marks(stored.runs[0]):
        if item.model_key != "grove":
            passed = None if not item.scored else item.passed * 2 >= item.scored
            marks.setdefault(item.case_id, []).append(passed)
    wanted = {
        "differ": {case for case, found in marks.items() if {True, False} <= set(found)},
        "failed": {case for case, found in marks.items() if False in found},
        "passed": {case for case, found in marks.items() if False not in found and True in found},
        "unasked": {case for case, found in marks.items() if None in found},
    }
    show(page, key)
    assert set(ids(page)) == wanted[key]
    assert page.count.text() == f"{len(wanted[key])} of 24 shown"
    assert page.button_clear.isVisible()
    page.button_clear.click()
    assert len(ids(page)) == 24


def test_the_filter_finds_questions_at_once_and_answers_in_the_store(
    page: AnswersView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    page.filter.setText("number 7 of")
    page.apply_filter()
    settle(context, qtbot)
    assert ids(page) == ["case-07"]
    # Only an answer says this: the pretend model's wrong answer.
    page.filter.setText("I am not sure")
    page.apply_filter()
    settle(context, qtbot)
    store = context.results.store()
    said = {c.cell.case_id for c in store.calls(stored.runs[0]) if c.answer and "not sure" in c.answer.text}
    assert said
    assert set(ids(page)) == said
    page.filter.setText("no such text anywhere")
    page.apply_filter()
    settle(context, qtbot)
    assert ids(page) == []


@pytest.mark.parametrize("as_table", [False, True])
def test_an_empty_list_leads_back_to_everything(
    page: AnswersView, context: AppContext, qtbot: QtBot, as_table: bool
) -> None:
    if as_table:
        page.button_table.click()
    page.filter.setText("no such text anywhere")
    page.apply_filter()
    settle(context, qtbot)
    clear = next(
        button
        for button in page.stack.currentWidget().findChildren(QPushButton)
        if button.isVisible() and button.text() == "Clear the filter"
    )
    clear.click()
    settle(context, qtbot)
    assert page.filter.text() == ""
    assert page.count.text() == ("96 of 96 shown" if as_table else "24 of 24 shown")


def test_a_test_is_read_once_and_again_only_when_there_is_something_new(
    page: AnswersView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    read: list[str] = []
    asked = context.results.read

    def count(work: Any, done: Any, failed: Any, *, name: str, run_id: str = "") -> object:
        read.append(name)
        return asked(work, done, failed, name=name, run_id=run_id)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context.results, "read", count)
        page.filter.setText("number 1 of")
        page.apply_filter()
        page.clear_filter()
        settle(context, qtbot)
        assert "answers of a test" in read
        read.clear()
        for _time in range(2):
            page.tests.select_key("case-03")
            page.apply_filter()
        settle(context, qtbot)
        assert read.count("answers of a test") == 1
        context.results.open_run(stored.runs[0])
        settle(context, qtbot)
        settle(context, qtbot)
        assert read.count("answers of a test") == 2
        # While the table is on show nobody looks at a single test.
        page.show_table(True)
        page.tests.select_key("case-05")
        settle(context, qtbot)
        assert read.count("answers of a test") == 2
        page.show_table(False)
        settle(context, qtbot)
    assert read.count("answers of a test") == 3
    assert page.pane.question.text() == "Question number 5 of a customer?"


def test_steps_and_keys(page: AnswersView, context: AppContext, qtbot: QtBot) -> None:
    page.button_down.click()
    settle(context, qtbot)
    assert page.pane.question.text() == "Question number 1 of a customer?"
    assert page.label_at.text() == "2 of 24"
    page.button_up.click()
    page.tests.setFocus()
    qtbot.keyClick(page.tests, Qt.Key.Key_Down)
    settle(context, qtbot)
    assert page.label_at.text() == "2 of 24"
    qtbot.keyClick(page.tests, Qt.Key.Key_Right)
    assert [column.at for column in page.pane.answer_columns()] == [False, True, False, False]
    qtbot.keyClick(page.tests, Qt.Key.Key_Left)
    assert page.pane.answer_columns()[0].at


def test_a_mark_of_ones_own_is_kept_and_found_again(
    page: AnswersView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    page.tests.setFocus()
    qtbot.keyClick(page.tests, Qt.Key.Key_G)
    settle(context, qtbot)
    column = page.pane.answer_columns()[0]
    assert column.mark.currentData() == "good"
    row = context.results.store().calls_page(stored.runs[0], limit=1).rows[0]
    assert (row.cell, row.mark) == (Cell("aster", "case-00", 1), "good")
    show(page, "marked")
    assert ids(page) == ["case-00"]
    again = shown_page(context, qtbot, stored.runs[0])
    assert again.pane.answer_columns()[0].mark.currentData() == "good"
    show(again, "marked")
    assert ids(again) == ["case-00"]


def test_hidden_names_do_not_leak(page: AnswersView, context: AppContext, qtbot: QtBot) -> None:
    page.check_blind.setChecked(True)
    names = [column.name.text() for column in page.pane.answer_columns()]
    assert names == ["Answer A", "Answer B", "Answer C", "Answer D"]
    said = texts(page.splitter)
    assert not any(model in text for text in said for model in ("Aster", "Birch", "Cedar", "Ember"))
    orders = set()
    for _step in range(6):
        heads = [column.head.key for column in page.pane.answer_columns() if column.head is not None]
        assert sorted(heads) == ["aster", "birch", "cedar", "ember"]
        orders.add(tuple(heads))
        page.button_down.click()
        settle(context, qtbot)
    assert len(orders) > 1
    page.check_blind.setChecked(False)
    assert page.pane.answer_columns()[0].name.text() == "Aster Large"


def test_everything_is_copied_as_text(page: AnswersView) -> None:
    page.pane.button_copy.click()
    text = QApplication.clipboard().text()
    assert text.startswith("Question\nQuestion number 0 of a customer?\n\nWhat a good answer says\nrefund")
    assert "Ember Beta (No answer)" in text
    assert any(m.first == "Question and answers are copied." for m in page.strips.messages())


def test_a_model_cannot_speak_html(theme: object, qtbot: QtBot, tmp_path: Path) -> None:
    nasty = '<b>bold</b><img src="http://127.0.0.1:9/x.png"><a href="javascript:1">go</a>'
    config = CONFIG.replace(
        "params: {accuracy: 97, latency_ms: 320, seed: a}", "params: {mode: fixed, text: 'X'}"
    )
    config = config.replace("text: 'X'", f"text: '{nasty}'")
    store = tmp_path / "arena.sqlite"
    run_id = run_now(write_project(tmp_path / "nasty", config), store, limit=2)
    context = make_context(tmp_path / "home", store)
    try:
        page = shown_page(context, qtbot, run_id)
        view = page.pane.answer_columns()[0].view
        assert view.edit.toPlainText() == nasty
        assert "<b>" not in view.edit.toHtml().split("<body", 1)[1].replace("&lt;b&gt;", "")
        page.close()
    finally:
        close_context(context)


# ---- all calls


def test_all_calls_as_one_table_sorted_and_filtered_by_the_store(
    page: AnswersView, context: AppContext, qtbot: QtBot
) -> None:
    page.button_table.click()
    settle(context, qtbot)
    assert page.call_pane.calls.rowCount() == 96
    assert page.count.text() == "96 of 96 shown"
    assert page.call_pane.calls.index(0, 0).data() == "Aster Large"
    page.call_pane.table.sort_by("wait", Qt.SortOrder.DescendingOrder)
    settle(context, qtbot)
    assert page.call_pane.calls.index(0, 0).data() == "Aster Large"
    assert page.call_pane.calls.index(95, 0).data() == "Ember Beta"
    page.call_pane.table.sort_by(None)
    show(page, "unasked")
    settle(context, qtbot)
    assert page.call_pane.calls.rowCount() == 24
    assert {page.call_pane.calls.index(row, 3).data() for row in range(24)} <= {"No answer", "Not asked"}
    assert forbidden(texts(page)) == []
    assert nameless(page) == []
    page.call_pane.table.activated_row.emit(page.call_pane.calls.record(2))
    settle(context, qtbot)
    assert page.stack.currentIndex() == 0
    assert page.pane.question.text() == "Question number 2 of a customer?"


def row(number: int) -> CallRow:
    return CallRow(
        position=number,
        cell=Cell("one", f"case-{number}", 1),
        state="done",
        status=CallStatus.OK,
        outcome=Outcome.COMPLETE,
        score_state=ScoreState.SCORED,
        score=1.0,
        passed=True,
        reason="fits",
        preview="an answer\non two lines",
        length=20,
        latency_ms=100.0,
        input_tokens=1,
        output_tokens=1,
        cost_usd=None,
        attempts=1,
        throttled=0,
        error_kind=None,
        error_message=None,
        mark=None,
    )


@pytest.fixture
def long_table(qtbot: QtBot) -> CallsTable:
    """100,000 calls of which only the first window is here."""
    model = CallsTable(call_columns({"one": ModelHead("one", "One", 0)}, trials=1))
    model.set_calls(array("q", range(1, 100_001)), 100_000, [row(n) for n in range(1, PAGE + 1)])
    return model


def test_the_call_table_reads_only_what_it_shows(long_table: CallsTable) -> None:
    asked: list[tuple[int, int]] = []
    long_table.rows_wanted.connect(lambda start, end: asked.append((start, end)))
    assert long_table.rowCount() == 100_000
    assert long_table.index(3, 1).data() == "case-4"
    assert asked == []
    assert long_table.index(50_003, 0).data() == "…"
    assert long_table.index(50_003, 1).data() == ""
    # However often it is painted, a window is asked for once.
    assert asked == [(50_000, 50_200)]
    long_table.take_rows(50_000, [row(n) for n in range(50_001, 50_201)])
    assert long_table.index(50_003, 1).data() == "case-50004"
    assert long_table.row_of(50_004) == 50_003
    assert long_table.row_of(7_000_000) == -1


def test_rows_of_an_order_that_is_over_are_dropped(long_table: CallsTable) -> None:
    assert long_table.record(400) is None
    long_table.set_calls(array("q", [9, 8, 7]), 3, [row(9), row(8), row(7)])
    long_table.take_rows(0, [row(n) for n in range(1, 4)])
    assert long_table.index(0, 1).data() == "case-9"


def test_sorting_and_filtering_are_asked_of_the_store(long_table: CallsTable) -> None:
    orders: list[CallOrder] = []
    long_table.order_wanted.connect(orders.append)
    wait = next(n for n in range(long_table.columnCount()) if long_table.column_at(n).id == "wait")
    long_table.sort(wait, Qt.SortOrder.DescendingOrder)
    assert orders == [CallOrder("latency", True)]
    assert long_table.sorted_by() == ("wait", Qt.SortOrder.DescendingOrder)
    long_table.sort(-1)
    assert orders[-1] == CallOrder()
    filters: list[str] = []
    long_table.filter_wanted.connect(filters.append)
    long_table.set_filter("parcel")
    assert filters == ["parcel"]


def test_the_call_table_is_a_sound_model(qtbot: QtBot) -> None:
    model = CallsTable(call_columns({}, trials=2))
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_calls(array("q", [1, 2, 3]), 3, [row(n) for n in (1, 2, 3)])
    model.set_calls(array("q"), 3)
    assert tester.model() is model


# ---- words and marks


def done(text: str = "refund", **more: object) -> CallDone:
    made = CallDone(
        Cell("one", "a", 1),
        CallStatus.OK,
        Outcome.COMPLETE,
        Answer(text, Outcome.COMPLETE, latency_ms=1900.0),
        CaseScore(ScoreState.SCORED, 1.0, True, "It fits."),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def test_each_outcome_has_its_word() -> None:
    assert words.verdict_word(done()) == ("Pass", "good")
    assert words.verdict_word(done(score=CaseScore(ScoreState.SCORED, 0.0, False))) == ("Fail", "bad")
    assert words.verdict_word(done(score=None)) == ("Not marked", "neutral")
    assert words.verdict_word(done(score=CaseScore(ScoreState.ERRORED))) == ("Could not be marked", "warn")
    failed = done(status=CallStatus.ERROR, answer=None, score=None, error=CallError("timeout", "slow"))
    assert words.verdict_word(failed) == ("No answer", "warn")
    assert words.why(failed) == "It gave no answer in time. It is not counted as wrong."
    assert words.verdict_word(None) == ("Not asked", "neutral")
    assert words.why(done(outcome=Outcome.LENGTH)).endswith("cut off at its longest length.")
    assert words.figures(done()) == "1.9 s   cost not known"


def test_questions_and_right_answers_of_every_form() -> None:
    talk = Case(
        "a", messages=(Message("user", "Hello"), Message("assistant", "Yes?"), Message("user", "Bye"))
    )
    assert words.question_of(talk) == "Asked: Hello\nAnswered: Yes?\nAsked: Bye"
    assert words.reference_of(Case("a", reference=["one", "two"])) == "one or two"
    assert words.reference_of(Case("a", reference={"a": 1})) == '{\n  "a": 1\n}'
    assert words.reference_of(Case("a")) == ""
    assert words.title_of(Case("a", metadata={"name": "Angry customer"})) == "Angry customer"


def test_a_test_without_a_name_is_called_by_how_its_question_begins() -> None:
    cases, _problems = with_ids([Case("", "Where is\nmy parcel?"), Case("", "x" * 80), Case("late", "Late?")])
    assert [words.title_of(case) for case in cases] == ["Where is my parcel?", "x" * 48 + "…", "late"]
    twins, _problems = with_ids([Case("", "Again?"), Case("", "Again?")])
    assert [words.title_of(case) for case in twins] == ["Again?", "Again?"]
    # Twelve digits that somebody chose are a name.
    assert words.title_of(Case("0123456789ab", "Where?")) == "0123456789ab"


def test_marks_stand_on_what_a_good_answer_says_and_on_what_only_one_says() -> None:
    text = "We offer a Refund. Please enclose the original receipt with label."
    found = expected_marks(text, Case("a", reference="refund"))
    assert [(text[m.start : m.end], m.kind) for m in found] == [("Refund", MarkKind.EXPECTED)]
    only = only_here_marks(text, ["We offer a refund today."])
    assert [text[m.start : m.end] for m in only] == ["Please enclose the original receipt with label."]
    assert only_here_marks("One sentence only", ["another"]) == []
    assert only_here_marks(text, [""]) == []


def test_an_answer_in_a_cell_is_one_line() -> None:
    assert one_line("first\n\n  second") == "first ¶ second"
    assert one_line("x" * 500).endswith("…")
    assert len(one_line("x" * 500)) == 161


def test_the_answers_of_many_models_follow_one_by_one(theme: object, qtbot: QtBot) -> None:
    heads = tuple(ModelHead(f"m{n}", f"Model {n}", n) for n in range(9))
    calls = {
        Cell(head.key, "a", 1): replace(
            done(f"said by {head.key} and by nobody else here"), cell=Cell(head.key, "a", 1)
        )
        for head in heads
    }
    pane = AnswerPane()
    qtbot.addWidget(pane)
    pane.show_case(CaseAnswers("run", Case("a", input="Why?", reference="m7"), heads, 1, calls))
    assert len(pane.answer_columns()) < len(heads)
    # Nobody has to wait for the columns to copy everything, or to jump to a model.
    pane.copy()
    text = QApplication.clipboard().text()
    assert all(f"Model {n} (Pass)" in text and f"said by m{n} and" in text for n in range(9))
    pane.point_at("m8")
    qtbot.waitUntil(lambda: len(pane.answer_columns()) == len(heads))
    assert [column.head.key for column in pane.answer_columns() if column.head] == [h.key for h in heads]
    assert pane.answer_columns()[8].at
    assert pane.answer_columns()[8].view.answer() == "said by m8 and by nobody else here"
    pane.show_case(CaseAnswers("run", Case("b", input="Why?"), heads[:2], 1, {}))
    assert len(pane.answer_columns()) == 2
