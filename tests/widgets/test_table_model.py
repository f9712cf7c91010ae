"""The generic table model, with no window."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import QModelIndex, QPersistentModelIndex, Qt

from arena_desktop.cells import Role, ScoreCell
from arena_desktop.itemmodels.text_table import text_table
from tests.widgets.people import ROWS, Model, make_table

UP, DOWN = Qt.SortOrder.AscendingOrder, Qt.SortOrder.DescendingOrder


def names(table) -> list[str]:
    return [row.name for row in table.shown_rows()]


def test_keeps_the_rules_of_qt_models(qtmodeltester) -> None:
    table = make_table()
    qtmodeltester.check(table)
    table.set_filter("a")
    table.sort(2, DOWN)
    table.set_rows(ROWS[:2])
    qtmodeltester.check(table)


def test_an_empty_table_keeps_the_rules_too(qtmodeltester) -> None:
    qtmodeltester.check(make_table(()))


def test_roles_say_what_is_shown_spoken_and_drawn() -> None:
    table = make_table()
    score = table.index(0, 2)
    assert score.data() == "88"
    assert score.data(Qt.ItemDataRole.AccessibleTextRole) == "Overall score 88 of 100"
    assert score.data(Role.CELL) == ScoreCell(88.0, text="88")
    assert score.data(Role.SORT) == 88.0
    assert score.data(Role.RECORD) is ROWS[0]
    assert table.index(3, 0).data(Role.MUTED) is True
    assert table.index(0, 0).data(Role.MUTED) is False


def test_unknown_is_a_dash_and_never_zero() -> None:
    table = make_table()
    assert table.index(1, 2).data() == "–"
    assert table.index(1, 2).data(Role.SORT) is None


@pytest.mark.parametrize(
    ("order", "expected"),
    [(UP, ["Delta", "Alpha", "Gamma", "Beta"]), (DOWN, ["Gamma", "Alpha", "Delta", "Beta"])],
)
def test_unknown_stays_last_in_both_directions(order: Qt.SortOrder, expected: list[str]) -> None:
    table = make_table()
    table.sort(2, order)
    assert names(table) == expected


def test_original_order_comes_back() -> None:
    table = make_table()
    table.sort(1, DOWN)
    assert names(table) == ["Gamma", "Delta", "Beta", "Alpha"]
    assert table.sorted_by() == ("model", DOWN)
    table.sort(-1)
    assert names(table) == ["Alpha", "Beta", "Gamma", "Delta"]
    assert table.sorted_by() is None


def test_sorting_carries_persistent_indexes_along() -> None:
    table = make_table()
    kept = QPersistentModelIndex(table.index(0, 1))
    table.sort(2, UP)
    assert kept.data() == "Alpha"
    assert kept.row() == 1


def test_filter_needs_every_word_in_any_column(qtbot) -> None:
    table = make_table()
    with qtbot.waitSignal(table.counts_changed) as counted:
        table.set_filter("NO beta")
    assert counted.args == [1, 4]
    assert names(table) == ["Beta"]
    table.set_filter("")
    assert table.shown_count() == 4


def test_filter_and_sort_hold_together_when_rows_change() -> None:
    table = make_table()
    table.sort(2, DOWN)
    table.set_predicate(lambda row: not row.out)
    assert names(table) == ["Gamma", "Alpha", "Beta"]
    table.set_rows([replace(row, score=99.0) if row.key == "a" else row for row in ROWS])
    assert names(table) == ["Alpha", "Gamma", "Beta"]


def test_same_keys_change_values_without_a_reset(qtbot) -> None:
    table = make_table()
    fresh = [replace(row, cost=5.0) for row in ROWS]
    with qtbot.assertNotEmitted(table.modelReset), qtbot.waitSignal(table.dataChanged):
        table.set_rows(fresh)
    assert table.index(0, 3).data() == "$5.00"
    with qtbot.waitSignal(table.modelReset):
        table.set_rows(fresh[1:])


def test_a_changed_record_is_found_by_its_new_words() -> None:
    table = make_table()
    table.set_filter("fresh")
    assert table.shown_count() == 0
    assert table.replace(replace(ROWS[0], note="fresh"))
    table.set_filter("")
    table.set_filter("fresh")
    assert names(table) == ["Alpha"]
    assert not table.replace(Model("nobody", "x", None))


def test_editing_goes_through_the_column_and_may_be_refused() -> None:
    table = make_table()
    note = table.index(0, 4)
    assert table.flags(note) & Qt.ItemFlag.ItemIsEditable
    assert table.setData(note, "watch this")
    assert table.record(0).note == "watch this"
    assert not table.setData(note, "  ")
    assert table.record(0).note == "watch this"
    assert not table.setData(table.index(0, 1), "no")


def test_check_boxes_are_data() -> None:
    table = make_table()
    box = table.index(2, 0)
    assert Qt.CheckState(box.data(Qt.ItemDataRole.CheckStateRole)) == Qt.CheckState.Unchecked
    assert table.setData(box, Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    assert table.record(2).chosen


def test_heads_come_from_the_columns() -> None:
    table = make_table()
    across = Qt.Orientation.Horizontal
    assert [table.headerData(n, across) for n in range(1, 5)] == [
        "Model",
        "Overall score",
        "Cost per 100",
        "Note",
    ]
    assert table.headerData(0, Qt.Orientation.Vertical) is None
    assert table.columnCount(table.index(0, 0)) == 0
    assert table.data(QModelIndex()) is None


def test_ten_thousand_rows_sort_in_a_moment(benchmark_clock) -> None:
    rows = tuple(Model(str(n), f"Model {n * 7919 % 10_000}", float(n * 31 % 997)) for n in range(10_000))
    table = make_table(rows)
    with benchmark_clock(0.1):
        table.sort(2, DOWN)
    assert table.record(0).score == 996.0


def test_text_tables_sort_figures_by_size() -> None:
    table = text_table(["Model", "Cost"], [["b", "$10.00"], ["a", "$9.50"], ["c", "free"]])
    table.sort(1, UP)
    assert [table.index(row, 1).data() for row in range(3)] == ["$9.50", "$10.00", "free"]
