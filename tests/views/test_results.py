"""Leaderboard: the sentence first; table, pictures and what-if say the same; every state is honest."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.cells import Tie
from arena_desktop.charts.data import Bar, Bars, CostPoint
from arena_desktop.context import AppContext
from arena_desktop.desks.result_desk import Result
from arena_desktop.itemmodels.lanes import ModelHead
from arena_desktop.itemmodels.leaderboard import board_rows, bracketed, leaderboard_columns, must_have_cell
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.views.chart_saving import write_chart
from arena_desktop.views.result_parts import read_result_facts
from arena_desktop.views.results import ResultsView
from arena_desktop.views.results_charts import cost_points, knows_prices, score_bars
from arena_desktop.views.results_verdict import lead_spans
from arena_desktop.widgets.strip import Message
from arena_desktop.wording.board import change_lines, run_title, why_lines
from engine.domain import RunStatus
from engine.stats.board import (
    Entry,
    EntryStatus,
    Interval,
    Leaderboard,
    MetricValue,
    Planner,
    Reason,
    Verdict,
)
from tests.views.conftest import Stored
from tests.views.run_world import CONFIG, made_tests, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


def shown_page(context: AppContext, qtbot: QtBot) -> ResultsView:
    view = ResultsView(context)
    qtbot.addWidget(view)
    view.resize(1280, 900)
    with qtbot.waitExposed(view):
        view.show()
    return view


def open_run(page: ResultsView, context: AppContext, qtbot: QtBot, run_id: str) -> ResultsView:
    context.results.open_run(run_id)
    qtbot.waitUntil(lambda: page.facts is not None and page.facts.info.run_id == run_id, timeout=10_000)
    QApplication.processEvents()
    return page


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, stored: Stored) -> ResultsView:
    """The page with the first stored run on show."""
    return open_run(shown_page(context, qtbot), context, qtbot, stored.runs[0])


def column(page: ResultsView, name: str) -> list[str]:
    section = page.rows.section_of(name)
    return [page.rows.index(row, section).data() for row in range(page.rows.rowCount())]


# ---- a real result


def test_the_sentence_is_the_verdict_of_the_stored_board(page: ResultsView, context: AppContext) -> None:
    board = context.results.result.board  # type: ignore[union-attr]
    assert board is not None
    assert board.winner == "aster"
    assert page.verdict.sentence.objectName() == "label_verdict"
    assert "Aster Large" in page.verdict.sentence.text()
    lead = page.verdict.lead.text()
    winner = next(entry for entry in board.entries if entry.model_key == "aster")
    assert f"Aster Large passed {winner.passed_cases} of your {winner.scored_cases} tests." in lead
    assert page.verdict.chip.text
    assert page.header.subtitle.text() == "Practice result. These models are pretend."


def test_the_table_says_places_scores_and_why_not(page: ResultsView) -> None:
    assert column(page, "model") == [
        "Aster Large",
        *column(page, "model")[1:3],
        "Ember Beta",
        "Grove Pro",
    ]
    assert set(column(page, "model")[1:3]) == {"Birch Mini", "Cedar Mini"}
    assert column(page, "place") == ["1", "2", "3", "–", "–"]
    assert column(page, "cost")[:3] == ["free", "free", "free"]
    assert column(page, "score")[3:] == ["–", "–"]
    assert column(page, "must") == ["Meets all", "Meets all", "Meets all", "Never answered", "No key"]
    section = page.rows.section_of("score")
    spoken = page.rows.index(0, section).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("Overall score ")
    assert "likely between" in spoken


def test_no_forbidden_word_and_a_name_for_everything(page: ResultsView) -> None:
    page.verdict.button("why").click()  # type: ignore[union-attr]
    assert forbidden(texts(page)) == []
    assert nameless(page) == []


def test_why_and_what_could_change_unfold_one_at_a_time(page: ResultsView, context: AppContext) -> None:
    board = context.results.result.board  # type: ignore[union-attr]
    why, change = page.verdict.button("why"), page.verdict.button("change")
    assert why is not None
    assert change is not None
    why.click()
    assert not page.why.isHidden()
    assert page.why.texts() == [text for _kind, text in why_lines(board)]
    assert page.why.texts()[0].startswith("Getting it right: ")
    assert "It counts 80 of 100." in page.why.texts()[0]
    # Every respect in which it is worse is said too.
    assert any(text.startswith("Speed: 0.3 s") for text in page.why.texts())
    change.click()
    assert page.why.isHidden()
    assert page.change.texts() == change_lines(board)
    change.click()
    assert page.change.isHidden()


def test_the_summary_is_copied_with_its_caution(page: ResultsView) -> None:
    button = page.verdict.button("copy")
    assert button is not None
    button.click()
    text = QApplication.clipboard().text()
    assert text.startswith("Customer replies: Run 1, ")
    assert page.verdict.sentence.text() in text
    assert text.endswith("Practice result. These models are pretend.")


def test_sliders_try_other_weights_and_spend_nothing(
    page: ResultsView, context: AppContext, stored: Stored
) -> None:
    before = column(page, "model")
    calls = context.results.store().run(stored.runs[0]).info.completed
    page.what_if.sliders["accuracy"].slider.setValue(0)
    assert page.what_if.sliders["latency"].value() == 100
    assert column(page, "model")[0] != "Aster Large"
    assert page.what_if.note.isHidden()
    assert isinstance(page.bars.view.chart, Bars)
    assert [bar.measure.text if bar.measure else "–" for bar in page.bars.view.chart.bars] == column(
        page, "score"
    )
    assert page.what_if.sentence.text().endswith(" would come first.")
    assert not page.list.label_preview.isHidden()
    assert page.rows.record(0).interval is None
    page.what_if.reset.click()
    assert column(page, "model") == before
    assert page.what_if.sentence.text() == "Aster Large stays first."
    assert page.list.label_preview.isHidden()
    assert context.results.store().run(stored.runs[0]).info.completed == calls


def test_what_would_change_a_trial_is_told_for_the_trial(page: ResultsView) -> None:
    page.what_if.sliders["accuracy"].slider.setValue(20)
    assert "instead of 20" in page.what_if.note.text() or "instead of 80" in page.what_if.note.text()


def test_the_verdict_speaks_of_the_trial_weights_while_they_are_tried(page: ResultsView) -> None:
    card, slider = page.verdict, page.what_if.sliders["accuracy"].slider
    before = (card.chip.text, card.sentence.text(), card.lead.text(), page.why.texts())
    why = card.button("why")
    slider.setValue(0)
    assert card.chip.text == "With your trial weights"
    first = page.rows.record(0).entry.label
    assert card.sentence.text() == f"Use {first} for this project."
    assert card.lead.text().startswith(f"{first} passed ")
    assert not any("Getting it right" in text and "It counts" in text for text in page.why.texts())
    assert card.button("why") is why
    card.button("copy").click()  # type: ignore[union-attr]
    assert (
        "With trial weights, not those of the project: Speed 100 of 100." in QApplication.clipboard().text()
    )
    page.what_if.reset.click()
    assert (card.chip.text, card.sentence.text(), card.lead.text(), page.why.texts()) == before
    card.button("copy").click()  # type: ignore[union-attr]
    assert "trial" not in QApplication.clipboard().text()


def test_all_pictures_follow_the_sliders(page: ResultsView, context: AppContext) -> None:
    board = context.results.result.board  # type: ignore[union-attr]
    assert board is not None
    prices = iter((1.0, 2.0, 3.0))
    priced = tuple(replace(e, cost_per_1k_usd=next(prices)) if e.composite else e for e in board.entries)
    page._show_board(replace(board, entries=priced), page.facts)  # type: ignore[arg-type]
    page.what_if.sliders["accuracy"].slider.setValue(0)
    shown = {row.entry.label: row.score for row in page.rows.rows() if row.score is not None}
    for chart in (page.bars.view.chart, page.costs.view.chart):
        points = chart.bars if isinstance(chart, Bars) else chart.points  # type: ignore[union-attr]
        drawn = {point.name: _value(point) for point in points if _value(point) is not None}
        assert drawn == {name: pytest.approx(score * 100) for name, score in shown.items()}


def _value(point: Bar | CostPoint) -> float | None:
    measure = point.measure if isinstance(point, Bar) else point.score
    return measure.value if measure is not None else None


def test_the_bracket_follows_the_order_of_the_table(page: ResultsView) -> None:
    tied = [row.key for row in page.rows.shown_rows() if row.tied]
    page.rows.sort(page.rows.section_of("model"), Qt.SortOrder.DescendingOrder)
    shown = page.rows.shown_rows()
    assert [row.key for row in shown if row.tie is not Tie.NONE] == [row.key for row in shown if row.tied]
    assert {row.key for row in shown if row.tied} == set(tied)
    assert list(shown) == bracketed(shown)


def test_weights_always_make_a_hundred(page: ResultsView) -> None:
    card = page.what_if
    own = {name: slider.value() for name, slider in card.sliders.items()}
    for place in (100, 37, 0, 63, own["accuracy"]):
        card.sliders["accuracy"].slider.setValue(place)
        places = {name: slider.value() for name, slider in card.sliders.items()}
        assert places["accuracy"] == place
        assert sum(places.values()) == 100
    # There and back again the others stand to each other as they did.
    assert places == own
    assert not card.reset.isEnabled()


def test_bars_show_the_same_figures_as_the_table(page: ResultsView) -> None:
    chart = page.bars.view.chart
    assert isinstance(chart, Bars)
    assert [bar.name for bar in chart.bars] == column(page, "model")
    assert [bar.measure.text if bar.measure else "–" for bar in chart.bars] == column(page, "score")
    assert chart.bars[0].measure is not None
    assert chart.bars[0].measure.low is not None
    assert page.bars.view.objectName() == "chart_leaderboard"
    assert page.bars.view.accessibleDescription().startswith("Aster Large: overall score ")
    page.bars.as_table.click()
    assert page.bars.as_table.text() == "Show as picture"
    # Nothing costs anything, so cost against score would say nothing.
    assert not page.costs.isVisible()


def test_a_chart_is_saved_as_picture_and_as_drawing(
    page: ResultsView, context: AppContext, tmp_path: Path
) -> None:
    said = []
    context.message_wanted.connect(said.append)
    write_chart(page.bars, tmp_path / "bars.png", context)
    write_chart(page.bars, tmp_path / "bars.svg", context)
    write_chart(page.bars, tmp_path / "no" / "bars.png", context)
    assert (tmp_path / "bars.png").read_bytes().startswith(b"\x89PNG")
    assert b"<svg" in (tmp_path / "bars.svg").read_bytes()
    assert [message.first for message in said] == [
        "The picture is saved.",
        "The picture is saved.",
        "The picture could not be saved.",
    ]


def test_a_box_that_is_not_shown_hides_no_model(page: ResultsView) -> None:
    table = page.list
    table.check_meets.setChecked(True)
    out = (Reason("gate_accuracy", {"required": 0.6}),)
    few = board(entry("one", 0.9), entry("two", None, failures=out))
    table.show_board(few, HEADS, must_haves=True, trial=False)
    some = table.rows.rowCount()
    table.show_board(few, HEADS, must_haves=False, trial=False)
    assert table.check_meets.isHidden()
    assert (some, table.rows.rowCount()) == (1, 2)


def test_only_models_that_meet_the_must_haves(page: ResultsView) -> None:
    page.list.check_meets.setChecked(True)
    assert "Grove Pro" not in column(page, "model")
    assert page.rows.rowCount() == 3
    page.list.check_meets.setChecked(False)
    page.list.bar.field.setText("birch")
    page.list.bar.apply()
    assert column(page, "model") == ["Birch Mini"]


def test_a_double_click_leads_to_the_answers_and_a_missing_key_to_its_place(
    page: ResultsView, context: AppContext, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(context.page_wanted) as wanted:
        page.table.activated_row.emit(page.rows.record(0))
    assert wanted.args == ["answers"]
    grove = next(row for row in page.rows.rows() if row.key == "grove")
    with qtbot.waitSignal(context.key_wanted) as key:
        page.table.link_clicked.emit(grove, "key")
    assert key.args == ["grove-cloud"]


def test_the_keyboard_reaches_the_controls(page: ResultsView, qtbot: QtBot) -> None:
    page.combo_run.setFocus()
    seen = set()
    for _step in range(40):
        focus = QApplication.focusWidget()
        if focus is not None:
            seen.add(focus.objectName())
        qtbot.keyClick(focus or page, Qt.Key.Key_Tab)
    wanted = {
        "combo_run",
        "button_why",
        "button_copy",
        "edit_filter",
        "table_leaderboard",
        "chart_leaderboard",
    }
    assert wanted <= seen


def test_the_runs_of_the_project_can_be_chosen(
    page: ResultsView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")
    assert page.combo_run.count() == 3
    assert page.combo_run.currentText().startswith("Run 1, ")
    index = page.combo_run.findData(stored.runs[1])
    page.combo_run.setCurrentIndex(index)
    page.combo_run.activated.emit(index)
    qtbot.waitUntil(lambda: page.facts.info.run_id == stored.runs[1], timeout=10_000)  # type: ignore[union-attr]
    assert column(page, "passed")[0].endswith(" of 24")


# ---- other states


def test_without_a_result_the_page_says_what_a_run_would_take(
    fresh: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    page = shown_page(fresh, qtbot)
    assert "No results yet." in texts(page)
    with qtbot.waitSignal(fresh.projects.examined, timeout=10_000):
        fresh.projects.open(tmp_path / "replies")
    assert page.nothing.sentence.text() == (
        "12 tests and 4 models are ready. A run would be free and ask 48 questions."
    )
    assert not page.button_run.isVisible()
    with qtbot.waitSignal(fresh.page_wanted) as wanted:
        page.nothing.button.click()
    assert wanted.args == ["run"]
    assert forbidden(texts(page)) == []


def test_the_newest_run_opens_by_itself(context: AppContext, qtbot: QtBot, stored: Stored) -> None:
    page = shown_page(context, qtbot)
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")
    qtbot.waitUntil(lambda: page.facts is not None, timeout=10_000)
    assert page.facts is not None
    assert page.facts.info.run_id == stored.runs[2]


def test_another_project_takes_the_result_away(
    page: ResultsView, context: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    other = write_project(tmp_path / "other", CONFIG.replace("Customer replies", "Invoices"), made_tests(3))
    with qtbot.waitSignal(context.projects.examined, timeout=10_000):
        context.projects.open(other)
    assert context.results.result is None
    assert "No results yet." in texts(page)


def test_a_partial_result_says_so_and_offers_to_carry_on(
    page: ResultsView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    with qtbot.waitSignal(context.projects.examined, timeout=10_000):
        context.projects.open(stored.folder)
    result = context.results.result
    assert result is not None
    info = replace(result.stored.info, status=RunStatus.CANCELLED, completed=30, errors=2)
    context.results.show(Result(replace(result.stored, info=info), result.board))
    qtbot.waitUntil(lambda: any(m.key == "partial" for m in page.strips.messages()), timeout=10_000)
    message = next(m for m in page.strips.messages() if m.key == "partial")
    assert message.first == f"Only 32 of {info.planned} questions were asked."
    assert message.text == "Places may change."
    assert [button.text for button in message.buttons] == ["Carry on"]


def test_models_without_a_place_lead_to_asking_what_is_missing(
    page: ResultsView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    def said() -> Message | None:
        return next((m for m in page.strips.messages() if m.key == "missing"), None)

    message = said()
    assert message is not None
    assert message.first == "Ember Beta answered too few tests for a place."
    assert message.buttons == ()  # its project is not open
    with qtbot.waitSignal(context.projects.examined, timeout=10_000):
        context.projects.open(stored.folder)
    result = context.results.result
    assert result is not None
    context.results.show(Result(result.stored, result.board))
    qtbot.waitUntil(lambda: bool((now := said()) and now.buttons), timeout=10_000)
    message = said()
    assert message is not None
    info = result.stored.info
    assert message.buttons[0].text == f"Ask the {info.planned - info.completed} missing ones"
    with qtbot.waitSignal(context.runs.ended, timeout=20_000):
        message.buttons[0].action()
    assert context.runs.progress.already_done == info.completed
    assert context.results.store().run(result.run_id).info.completed == info.completed


def test_a_run_without_a_board_says_so(page: ResultsView, context: AppContext, qtbot: QtBot) -> None:
    result = context.results.result
    assert result is not None
    context.results.show(Result(replace(result.stored, board=None), None))
    qtbot.waitUntil(lambda: page.empty_board.isVisible(), timeout=10_000)
    assert "This run has no result." in texts(page)


def test_a_run_under_way_shows_its_places_so_far(fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> None:
    slow = CONFIG.replace("params: {", "params: {sleep: true, ").replace("latency_ms: 320", "latency_ms: 60")
    folder = write_project(tmp_path / "slow", slow, made_tests(40))
    with qtbot.waitSignal(fresh.projects.examined, timeout=10_000):
        fresh.projects.open(folder)
    page = shown_page(fresh, qtbot)
    fresh.runs.start()
    qtbot.waitUntil(lambda: fresh.runs.progress.done > 20, timeout=10_000)
    page.live.work_out()
    qtbot.waitUntil(lambda: page.facts is not None and page.facts.result.live, timeout=10_000)
    first = next(m for m in page.strips.messages() if m.key == "live").first
    assert first.startswith("The run goes on: ")
    assert first.endswith(" of 160 answers so far.")
    assert not page.button_run.isEnabled()
    assert page.what_if.isHidden()
    fresh.runs.stop_now()
    qtbot.waitUntil(lambda: not fresh.runs.running, timeout=10_000)
    qtbot.waitUntil(lambda: page.facts is not None and not page.facts.result.live, timeout=10_000)
    assert all(m.key != "live" for m in page.strips.messages())


# ---- boards made by hand


def entry(key: str, score: float | None, **more: object) -> Entry:
    status = EntryStatus.RANKED if score is not None else EntryStatus.NO_DATA
    made = Entry(
        key,
        key.title(),
        status,
        composite=score,
        composite_interval=None if score is None else Interval(score - 0.05, score + 0.05),
        metrics={} if score is None else {"accuracy": MetricValue(score, score, 1.0, score)},
        scored_cases=50,
        passed_cases=0 if score is None else round(score * 50),
    )
    return replace(made, **more)  # type: ignore[arg-type]


def board(*entries: Entry, tied: tuple[str, ...] = (), **more: object) -> Leaderboard:
    ranked = [replace(e, rank=n) if e.composite is not None else e for n, e in enumerate(entries, start=1)]
    verdict = Verdict(7 if tied else None, "too_close" if tied else "none_ranked", tied=tied)
    made = Leaderboard(tuple(ranked), entries[0].model_key, verdict, cases=50, weights={"accuracy": 1.0})
    return replace(made, **more)  # type: ignore[arg-type]


HEADS = {key: ModelHead(key, key.title(), n) for n, key in enumerate(("one", "two", "three"))}


def test_the_bracket_stands_only_over_neighbours() -> None:
    rows = board_rows(
        board(entry("one", 0.9), entry("two", 0.88), entry("three", 0.5), tied=("one", "two")),
        HEADS,
        must_haves=False,
    )
    assert [row.tie for row in rows] == [Tie.FIRST, Tie.LAST, Tie.NONE]
    assert [row.place for row in rows] == [1, 2, 3]
    apart = board_rows(
        board(entry("one", 0.9), entry("three", 0.6), entry("two", 0.5), tied=("one", "two")),
        HEADS,
        must_haves=False,
    )
    assert [row.tie for row in apart] == [Tie.ALONE, Tie.NONE, Tie.ALONE]


def test_a_tie_is_said_to_come_from_the_weights() -> None:
    tied = board(
        entry("one", 0.9),
        entry("two", 0.88),
        tied=("one", "two"),
        weights={"accuracy": 0.6, "cost": 0.4},
    )
    assert (
        "caution",
        "On “Getting it right” it is too close to tell apart from Two. Only your weights part them.",
    ) in (why_lines(tied))


def test_without_a_winner_why_names_each_reason() -> None:
    out = entry("one", None, failures=(Reason("not_asked"),))
    none = replace(board(out), winner=None)
    assert why_lines(none) == [("caution", "One: It was not asked before the run ended.")]
    assert change_lines(none) == ["There is no first place that could change."]


def test_one_model_alone_unfolds_no_empty_list() -> None:
    alone = board(entry("one", 0.9))
    alone = replace(alone, verdict=Verdict(None, "only_one", leader="one"))
    assert change_lines(alone) == ["Another model with a place could come before it. So far there is none."]


def test_what_would_settle_it_is_said() -> None:
    planner = Planner(40, 90, trials=1)
    close = board(entry("one", 0.9), entry("two", 0.88), tied=("one", "two"))
    close = replace(close, verdict=replace(close.verdict, planner=planner))
    assert change_lines(close) == [
        "No change of a single weight puts another model first.",
        "About 40 more tests would settle it.",
    ]
    several = replace(planner, trials=3, by_trials={1: 349, 3: 175, 5: 140})
    close = replace(close, verdict=replace(close.verdict, planner=several))
    assert change_lines(close)[-1] == (
        "The same would be reached with 349 tests asked once, 140 tests asked 5 times in all."
    )


def test_unknown_is_a_dash_and_never_zero() -> None:
    row = board_rows(board(entry("one", None)), HEADS, must_haves=True)[0]
    said = {column.id: column.text(row) for column in leaderboard_columns()}
    assert said["score"] == said["place"] == said["cost"] == said["wait"] == "–"
    assert must_have_cell(row).text == "Meets all"  # type: ignore[union-attr]


def test_nothing_spent_on_a_model_without_a_priced_answer_is_not_called_free() -> None:
    refused = entry("one", None, total_cost_usd=Decimal(0))
    free = entry("two", 0.8, total_cost_usd=Decimal(0), cost_per_1k_usd=0.0)
    rows = board_rows(board(free, refused), HEADS, must_haves=False)
    spent = next(column for column in leaderboard_columns() if column.id == "spent")
    assert {row.entry.model_key: spent.text(row) for row in rows} == {"one": "–", "two": "free"}


def test_cost_against_score_appears_with_a_price() -> None:
    free = board(entry("one", 0.9, cost_per_1k_usd=0.0), entry("two", 0.8))
    assert not knows_prices(free)
    dear = board(entry("one", 0.9, cost_per_1k_usd=4.2), entry("two", 0.8))
    assert knows_prices(dear)
    points = cost_points(board_rows(dear, HEADS, must_haves=False)).points
    assert [(point.cost, point.cost_text) for point in points] == [
        (pytest.approx(0.42), "$0.42"),
        (None, "–"),
    ]
    assert len(score_bars(board_rows(dear, HEADS, must_haves=False)).bars) == 2


def test_figures_in_the_lead_are_bold() -> None:
    spans = lead_spans("It passed 45 of 50. It costs $0.42.", ("45 of 50", "$0.42", "not there"))
    assert [(span.text, span.bold) for span in spans] == [
        ("It passed ", False),
        ("45 of 50", True),
        (". It costs ", False),
        ("$0.42", True),
        (".", False),
    ]


def test_the_leaderboard_is_a_sound_model(qtbot: QtBot) -> None:
    model: ColumnTable = ColumnTable(leaderboard_columns(("toxicity",)), key=lambda row: row.key)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(board_rows(board(entry("one", 0.9), entry("two", None)), HEADS, must_haves=True))
    model.sort(3, Qt.SortOrder.AscendingOrder)
    assert tester.model() is model
    assert model.record(1).score is None


def test_a_snapshot_that_cannot_be_read_still_shows_its_board(
    qtbot, page: ResultsView, context: AppContext
) -> None:
    result = context.results.result
    assert result is not None
    newer = Result(replace(result.stored, config={"models": "damaged"}), result.board)
    facts = read_result_facts(newer)
    assert facts.config is None
    assert facts.heads["aster"].label == "Aster Large"
    page.facts = facts
    page.show_facts(facts)
    assert column(page, "model")[0] == "Aster Large"
    qtbot.waitUntil(page.what_if.isHidden)


def test_a_run_is_named_by_number_day_and_state(context: AppContext, stored: Stored) -> None:
    info = context.results.store().run(stored.runs[0]).info
    assert run_title(info).startswith("Run 1, today ")
    assert run_title(info).endswith(", complete")
