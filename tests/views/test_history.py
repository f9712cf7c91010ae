"""History: every saved run, opened by a double click, removed and brought back, drawn over time."""

from __future__ import annotations

import sqlite3
from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.charts.data import Lines
from arena_desktop.context import AppContext
from arena_desktop.itemmodels.history import HistoryRow, history_columns
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.views.history import HistoryView
from arena_desktop.wording import history as words
from engine.domain import RunInfo, RunStatus
from tests.views.conftest import Stored
from tests.views.setup_world import forbidden, nameless, stopped_run, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


def settle(context: AppContext, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=10_000)
    QApplication.processEvents()


def shown_page(context: AppContext, qtbot: QtBot) -> HistoryView:
    view = HistoryView(context)
    qtbot.addWidget(view)
    view.resize(1280, 800)
    with qtbot.waitExposed(view):
        view.show()
    return view


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, stored: Stored) -> HistoryView:
    """The page with the project of the stored runs open."""
    with qtbot.waitSignal(context.projects.examined, timeout=10_000):
        context.projects.open(stored.folder)
    view = shown_page(context, qtbot)
    qtbot.waitUntil(lambda: view.chart.isVisible(), timeout=10_000)
    settle(context, qtbot)
    return view


def column(page: HistoryView, name: str) -> list[str]:
    section = page.rows.section_of(name)
    return [page.rows.index(row, section).data() for row in range(page.rows.rowCount())]


def tick(page: HistoryView, row: int, *, on: bool = True) -> None:
    state = Qt.CheckState.Checked if on else Qt.CheckState.Unchecked
    page.rows.setData(page.rows.index(row, 0), state, Qt.ItemDataRole.CheckStateRole)


def test_runs_stand_newest_first_with_what_came_out(page: HistoryView) -> None:
    assert column(page, "number") == ["3", "2", "1"]
    assert column(page, "tests") == ["6", "24", "24"]
    assert column(page, "models") == ["5", "5", "5"]
    assert column(page, "state") == ["Complete, practice"] * 3
    assert column(page, "spent") == ["free"] * 3
    assert column(page, "best")[2] == "Aster Large"
    assert all(score.isdigit() for score in column(page, "score"))
    assert forbidden(texts(page)) == []
    assert nameless(page) == []


def test_a_double_click_opens_the_run(
    page: HistoryView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    pages: list[str] = []
    context.page_wanted.connect(pages.append)
    with qtbot.waitSignal(context.results.shown) as shown:
        page.table.activated_row.emit(page.rows.record(1))
    assert shown.args[0].run_id == stored.runs[1]
    assert pages == ["results"]


def test_enter_opens_the_run_too(page: HistoryView, context: AppContext, qtbot: QtBot) -> None:
    page.table.setFocus()
    page.table.select_key(page.rows.record(2).info.run_id)
    with qtbot.waitSignal(context.results.shown):
        qtbot.keyClick(page.table, Qt.Key.Key_Return)


def test_two_ticks_make_the_button_ready(page: HistoryView, context: AppContext, qtbot: QtBot) -> None:
    assert not page.button_compare.isEnabled()
    assert page.button_compare.toolTip() == "Tick two runs to compare them."
    tick(page, 0)
    tick(page, 2)
    assert page.button_compare.text() == "Compare chosen (2)"
    assert page.button_compare.isEnabled()
    with qtbot.waitSignal(context.page_wanted) as wanted:
        page.button_compare.click()
    assert wanted.args == ["compare"]
    tick(page, 1)
    assert not page.button_compare.isEnabled()
    tick(page, 1, on=False)
    assert page.button_compare.isEnabled()


def test_a_removed_run_can_be_brought_back(page: HistoryView, context: AppContext, qtbot: QtBot) -> None:
    page.table.select_key(page.rows.record(0).info.run_id)
    page.table.setFocus()
    qtbot.keyClick(page.table, Qt.Key.Key_Delete)
    settle(context, qtbot)
    assert column(page, "number") == ["2", "1"]
    message = next(m for m in page.strips.messages() if m.key == "removed")
    assert message.first == "Run 3 is removed."
    message.buttons[0].action()
    settle(context, qtbot)
    assert column(page, "number") == ["3", "2", "1"]
    assert any(m.first == "Run 3 is back." for m in page.strips.messages())


def test_removing_the_run_on_show_takes_it_from_the_result_pages(
    page: HistoryView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    with qtbot.waitSignal(context.results.shown):
        context.results.open_run(stored.runs[2])
    page.table.select_key(stored.runs[2])
    page.button_remove.click()
    settle(context, qtbot)
    assert context.results.result is None


def test_a_note_is_kept(page: HistoryView, context: AppContext, qtbot: QtBot, stored: Stored) -> None:
    page.table.select_key(stored.runs[1])
    assert page.label_note.text() == "Note for run 2"
    page.edit_note.setFocus()
    page.edit_note.setText("  old prompt ")
    qtbot.keyClick(page.edit_note, Qt.Key.Key_Return)
    settle(context, qtbot)
    assert column(page, "note") == ["", "old prompt", ""]
    assert context.results.store().run(stored.runs[1]).info.label == "old prompt"


def test_a_note_is_not_lost_by_going_to_another_row(
    page: HistoryView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    page.table.select_key(stored.runs[0])
    page.edit_note.setText("first")
    page.table.select_key(stored.runs[1])
    settle(context, qtbot)
    assert context.results.store().run(stored.runs[0]).info.label == "first"
    assert page.edit_note.text() == ""


def test_the_chart_shows_scores_over_runs_and_what_changed(page: HistoryView) -> None:
    chart = page.chart.view.chart
    assert isinstance(chart, Lines)
    assert page.chart.view.objectName() == "chart_history"
    assert [line.name for line in chart.lines][:3] == ["Aster Large", "Birch Mini", "Cedar Mini"]
    birch = chart.lines[1].points
    assert birch[1] is not None
    assert birch[1].text == "100"
    assert [change.text for change in chart.changes] == [
        "instructions changed",
        "instructions changed, 18 tests fewer",
    ]
    assert page.chart.head.title.text() == "Getting it right over time"
    assert "over 3 runs" in page.chart.view.accessibleDescription()
    page.chart.as_table.click()
    assert page.chart.as_table.text() == "Show as picture"


def test_the_filter_looks_into_every_column(page: HistoryView) -> None:
    page.filter.setText("no such run")
    assert page.rows.rowCount() == 0
    page.filter.setText("aster")
    assert page.rows.rowCount() >= 1


def test_without_runs_it_says_what_comes(fresh: AppContext, qtbot: QtBot) -> None:
    page = shown_page(fresh, qtbot)
    assert "No runs yet." in texts(page)
    assert not page.table.isVisible()
    with qtbot.waitSignal(fresh.page_wanted) as wanted:
        page.nothing.button.click()
    assert wanted.args == ["run"]
    assert forbidden(texts(page)) == []


def test_carry_on_stands_only_where_it_can(page: HistoryView, context: AppContext, stored: Stored) -> None:
    project = context.projects.project
    assert project is not None
    stopped = replace(stopped_run(project.root), run_id="run_x", number=9)
    elsewhere = replace(stopped, run_id="run_y", project_root=None)
    context.results._runs = (stopped, elsewhere)
    page._show_rows()
    assert [row.can_carry_on for row in page.rows.rows()] == [True, False]
    assert column(page, "state") == ["Interrupted", "Interrupted"]


# ---- words and model


def info(**changes: object) -> RunInfo:
    return replace(stopped_run(None), **changes)


@pytest.mark.parametrize(
    ("status", "practice", "said"),
    [
        (RunStatus.COMPLETED, False, "Complete"),
        (RunStatus.CANCELLED, False, "Stopped by you"),
        (RunStatus.STOPPED_BUDGET, False, "Stopped at your limit"),
        (RunStatus.INTERRUPTED, False, "Interrupted"),
        (RunStatus.RUNNING, False, "Running"),
        (RunStatus.COMPLETED, True, "Complete, practice"),
    ],
)
def test_each_state_has_its_word(status: RunStatus, practice: bool, said: str) -> None:
    assert words.state_text(info(status=status, practice=practice)) == said


def test_what_the_lines_say() -> None:
    bands = "The bands show where the true score most likely lies."
    assert words.over_time_sentence("A", 72, 90, 6) == f"A rose from 72 to 90 over 6 runs. {bands}"
    assert words.over_time_sentence("A", 90, 72, 6) == f"A fell from 90 to 72 over 6 runs. {bands}"
    other = words.over_time_sentence("A", 98, 100, 2, same_questions=False)
    caution = "The runs did not all ask the same; the dashed lines say what changed."
    assert other == f"A rose from 98 to 100 over 2 runs. {caution} {bands}"
    assert words.over_time_sentence("A", 90.2, 90.4, 6) == f"A stayed at 90 over 6 runs. {bands}"
    assert words.over_time_sentence("A", 90, 90, 1) == f"A had 90 of 100 in the only run so far. {bands}"
    assert words.change_text(instructions=False, tests_added=1) == "1 test added"
    assert words.change_text(instructions=True, tests_added=-2) == "instructions changed, 2 tests fewer"
    assert words.change_text(instructions=False, tests_added=0) == ""


def test_the_history_is_a_sound_model(qtbot: QtBot) -> None:
    ticked: list[tuple[str, bool]] = []
    model: ColumnTable = ColumnTable(
        history_columns(lambda row, on: ticked.append((row.info.run_id, on))), key=lambda row: row.info.run_id
    )
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows([HistoryRow(info(run_id="a"), None), HistoryRow(info(run_id="b"), None, chosen=True)])
    model.setData(model.index(0, 0), Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole)
    assert ticked == [("a", True)]
    assert model.index(1, 0).data(Qt.ItemDataRole.AccessibleTextRole) == "Run 0 chosen"
    assert model.index(0, model.section_of("best")).data() == "–"
    assert tester.model() is model


def decide_by(context: AppContext, run_id: str, metric: str, score: float) -> None:
    """Rewrites a saved run as if another metric had decided it."""
    with sqlite3.connect(context.results.path) as connection:
        connection.execute(
            "UPDATE run_details SET board = json_set(board, '$.deciding', ?)"
            " WHERE run = (SELECT id FROM runs WHERE run_id = ?)",
            (metric, run_id),
        )
        connection.execute("UPDATE runs SET winner_score = ? WHERE run_id = ?", (score, run_id))


def test_the_score_column_is_the_metric_that_decides(
    page: HistoryView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    section = page.rows.section_of("score")
    assert page.rows.headerData(section, Qt.Orientation.Horizontal) == "Getting it right"
    before = column(page, "score")[1:]
    decide_by(context, stored.runs[2], "latency", 310.0)
    context.results.list_runs("Customer replies")
    qtbot.waitUntil(lambda: page.rows.columns[section].title == "Speed", timeout=10_000)
    settle(context, qtbot)
    # The older runs were decided by another metric: they say which, are not sorted among the others,
    # and are no points of the same line.
    assert column(page, "score") == ["0.3 s", *[f"Getting it right: {score}" for score in before]]
    page.rows.sort(section, Qt.SortOrder.AscendingOrder)
    assert column(page, "number")[0] == "3"
    assert not page.chart.isVisible()


def test_raw_figures_of_the_best_can_be_shown(page: HistoryView) -> None:
    assert column(page, "passed")[0].endswith(" of 6")
    assert column(page, "cost") == ["free"] * 3
    assert all(wait.endswith(" s") for wait in column(page, "wait"))
