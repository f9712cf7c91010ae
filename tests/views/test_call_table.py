"""The table of all calls: reads what is looked at, keeps what is chosen, copies what is not here."""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.itemmodels.call_columns import call_columns
from arena_desktop.itemmodels.call_pages import PAGE, CallPages
from arena_desktop.itemmodels.calls import CallsTable
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.views.answers import AnswersView
from arena_desktop.widgets.table import ArenaTable
from arena_desktop.widgets.table_selection import chosen_rows, ranges_of, row_ranges
from engine.errors import UserError
from engine.storage.rows import CallRow
from tests.views.conftest import Stored
from tests.views.test_answers import row, settle, shown_page

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

MANY = 100_000


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, stored: Stored) -> AnswersView:
    """The page with the table of the first stored run on show."""
    view = shown_page(context, qtbot, stored.runs[0])
    view.show_table(True)
    settle(context, qtbot)
    return view


@pytest.fixture
def table(qtbot: QtBot, theme: object) -> ArenaTable:
    """100,000 calls in a table, with a store that answers at once."""
    view = ArenaTable("table_many", "Calls")
    model = CallsTable(call_columns({"one": ModelHead("one", "One", 0)}, trials=1), parent=view)
    model.rows_wanted.connect(
        lambda start, end: model.take_rows(start, [row(number) for number in model.ids(start, end)])
    )
    model.set_calls(array("q", range(1, MANY + 1)), MANY)
    view.setModel(model)
    qtbot.addWidget(view)
    view.resize(900, 400)
    view.show()
    return view


def reversed_calls(view: ArenaTable) -> None:
    model: Any = view.model()
    model.set_calls(array("q", range(MANY, 0, -1)), MANY)


# ---- pages


def pages() -> tuple[CallPages, list[tuple[int, int]], list[int]]:
    asked: list[tuple[int, int]] = []
    entered: list[int] = []
    made = CallPages(lambda start, end: asked.append((start, end)), entered.append)
    made.set(array("q", range(1, 10_001)), [row(number) for number in range(1, PAGE + 1)])
    return made, asked, entered


def rows_of(made: CallPages, start: int) -> list[CallRow]:
    return [row(number) for number in made.ids(start, start + PAGE)]


def test_a_page_that_was_given_up_is_asked_for_again() -> None:
    made, asked, _entered = pages()
    assert made.record(500) is None
    assert made.record(501) is None
    assert asked == [(400, 600)]
    made.give_up(400)
    assert made.record(500) is None
    assert asked == [(400, 600), (400, 600)]
    assert made.take(400, rows_of(made, 400))
    assert made.record(500) == row(501)


def test_pages_are_told_when_they_are_entered_and_the_oldest_leave() -> None:
    made, asked, entered = pages()
    for page in range(30):
        made.record(page * PAGE)
        made.take(page * PAGE, rows_of(made, page * PAGE))
    assert entered == list(range(30))
    asked.clear()
    assert made.record(29 * PAGE) is not None
    assert made.record(5 * PAGE) is None
    assert asked == [(5 * PAGE, 6 * PAGE)]


def test_a_page_beyond_the_ends_is_never_asked_for() -> None:
    made, asked, _entered = pages()
    for page in (-1, 0, 50, 51):
        made.ask(page)
    assert asked == []
    made.ask(49)
    assert asked == [(9_800, 10_000)]


def test_newer_figures_of_the_same_calls_leave_what_is_here_until_they_come() -> None:
    made, asked, _entered = pages()
    made.record(300)
    made.take(200, rows_of(made, 200))
    asked.clear()
    made.renew([replace(row(number), reason="newer") for number in range(1, PAGE + 1)])
    assert made.record(0).reason == "newer"
    assert made.record(300) == row(301)
    assert asked == [(200, 400)]
    assert not made.all_here([0, 300])
    made.take(200, [replace(call, reason="newer") for call in rows_of(made, 200)])
    assert made.record(300).reason == "newer"
    assert made.all_here([0, 300])


def test_rows_are_found_by_their_numbers_whatever_their_count() -> None:
    made, _asked, _entered = pages()
    made.set(array("q", [9, 3, 7, 1]), ())
    assert made.rows_of([1, 9, 4]) == [0, 3]
    assert made.rows_of([*range(2, 100)]) == [0, 1, 2]


# ---- what is chosen


def test_a_hundred_thousand_chosen_rows_stay_chosen_in_another_order(table: ArenaTable) -> None:
    table.selectAll()
    reversed_calls(table)
    assert row_ranges(table.selectionModel()) == [range(MANY)]


def test_chosen_and_current_rows_move_with_the_order(table: ArenaTable) -> None:
    table.select_key(11)
    flag = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
    for number in (12, 50_000):
        table.selectionModel().select(table.model().index(table.rows.row_of(number), 0), flag)
    reversed_calls(table)
    assert [table.rows.row_key(at) for at in chosen_rows(table.selectionModel())] == [50_000, 12, 11]
    assert table.rows.row_key(table.currentIndex().row()) == 11
    # A filter takes some of them away.
    table.model().set_calls(array("q", [12, 99]), MANY)
    assert [table.rows.row_key(at) for at in chosen_rows(table.selectionModel())] == [12]


def test_the_place_in_the_table_stays_when_only_figures_are_newer(table: ArenaTable) -> None:
    bar = table.verticalScrollBar()
    bar.setValue(bar.maximum() // 2)
    place, current = bar.value(), table.rows.row_key(table.currentIndex().row())
    resets: list[None] = []
    table.model().modelReset.connect(lambda: resets.append(None))
    table.model().set_calls(array("q", range(1, MANY + 1)), MANY)
    assert resets == []
    assert (bar.value(), table.rows.row_key(table.currentIndex().row())) == (place, current)


def test_ranges_join_rows_that_touch() -> None:
    assert ranges_of([1, 2, 3, 7, 9, 10]) == [range(1, 4), range(7, 8), range(9, 11)]
    assert ranges_of([]) == []


# ---- copying


def test_calls_that_are_not_here_are_copied_whole(table: ArenaTable) -> None:
    model: Any = table.model()
    asked: list[tuple[Any, ...]] = []
    model.texts_wanted.connect(lambda *told: asked.append(told))
    table.selectAll()
    table.copy(with_head=True)
    ids, line, make, take = asked[0]
    assert list(ids) == list(range(1, MANY + 1))
    take(make([line(row(number)) for number in range(1, 1_001)]))
    lines = QApplication.clipboard().text().split("\r\n")
    assert len(lines) == 1_001
    assert lines[0].startswith("Model\tTest\t")
    assert lines[1_000].split("\t")[:2] == ["One", "case-1000"]
    assert "…" not in lines[1_000]


def test_the_page_copies_from_the_store(page: AnswersView, context: AppContext, qtbot: QtBot) -> None:
    view, model = page.call_pane.table, page.call_pane.calls
    QApplication.clipboard().clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CallPages, "all_here", lambda *_asked: False)
        view.selectAll()
        view.copy()
        settle(context, qtbot)
    late = QApplication.clipboard().text()
    assert len(late.split("\r\n")) == 96
    view.copy()
    # Once they are here, they are copied at once, and say the same.
    assert model.rowCount() == 96
    assert QApplication.clipboard().text() == late


# ---- the page


def test_only_the_last_pages_passed_are_read(page: AnswersView, context: AppContext, qtbot: QtBot) -> None:
    pane = page.call_pane
    store = context.results.store()
    read: list[int] = []

    def answer(ids: Sequence[int]) -> list[CallRow]:
        read.append(ids[0])
        return [row(number) for number in ids]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store, "call_rows", answer)
        pane.calls.set_calls(array("q", range(1, MANY + 1)), MANY)
        pane._ahead.stop()
        for place in range(0, MANY, 2_000):
            pane.calls.record(place)
        qtbot.waitUntil(lambda: pane.calls.here(98_000) is not None)
        settle(context, qtbot)
        pane._ahead.stop()
    # The first was on its way when the others came.
    assert len(read) <= 5
    assert 98_001 in read


def test_the_pages_beside_are_read_ahead(page: AnswersView, context: AppContext, qtbot: QtBot) -> None:
    pane = page.call_pane
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context.results.store(), "call_rows", lambda ids: [row(number) for number in ids])
        pane.calls.set_calls(array("q", range(1, MANY + 1)), MANY)
        pane.table.scrollTo(pane.calls.index(50_100, 0), pane.table.ScrollHint.PositionAtCenter)
        qtbot.waitUntil(lambda: pane.calls.here(50_200) is not None and pane.calls.here(49_800) is not None)
        assert pane.calls.here(50_400) is None
        settle(context, qtbot)


def test_the_order_and_the_widths_are_remembered(
    page: AnswersView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    view = page.call_pane.table
    view.sort_by("wait", Qt.SortOrder.DescendingOrder)
    view.hide_column("score", False)
    settle(context, qtbot)
    # Other columns of the same names keep the order; a run of another kind may have them too.
    page.call_pane.calls.set_columns(call_columns({}, trials=2))
    assert view.rows.sorted_by() == ("wait", Qt.SortOrder.DescendingOrder)
    page.hide()
    again = shown_page(context, qtbot, stored.runs[0])
    assert again.call_pane.table.rows.sorted_by() == ("wait", Qt.SortOrder.DescendingOrder)
    assert not again.call_pane.table.isColumnHidden(6)


def test_the_model_keeps_the_rules_of_qt(qtbot: QtBot) -> None:
    model = CallsTable(call_columns({}, trials=2))
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    ids = array("q", [1, 2, 3])
    model.set_calls(ids, 3, [row(n) for n in (1, 2, 3)])
    model.set_calls(array("q", ids), 3, [replace(row(n), reason="newer") for n in (1, 2, 3)])
    model.set_calls(array("q", [3, 1]), 3)
    model.take_rows(0, [row(3), row(1)])
    model.set_calls(array("q"), 0)
    assert tester.model() is model


def test_chosen_calls_that_are_not_here_count_too(page: AnswersView) -> None:
    pane = page.call_pane
    pane.table.selectAll()
    assert pane.chosen_count() == 96
    whole = pane.chosen_calls()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pane.calls, "here", lambda at: None if at % 2 else whole[at])
        assert pane.chosen_calls() == whole


def test_a_page_that_cannot_be_read_is_said_and_asked_for_again(
    page: AnswersView, context: AppContext, qtbot: QtBot
) -> None:
    pane = page.call_pane
    faults = [UserError("damaged", "The history cannot be read.")]

    def answer(ids: Sequence[int]) -> list[CallRow]:
        if faults:
            raise faults.pop()
        return [row(number) for number in ids]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(context.results.store(), "call_rows", answer)
        pane.calls.set_calls(array("q", range(1, MANY + 1)), MANY)
        pane.calls.record(70_000)
        qtbot.waitUntil(lambda: any(m.first == "The history cannot be read." for m in page.strips.messages()))
        settle(context, qtbot)
        pane.calls.record(70_000)
        qtbot.waitUntil(lambda: pane.calls.here(70_000) is not None)
        settle(context, qtbot)
