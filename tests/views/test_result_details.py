"""Details of a leaderboard: the score taken apart adds up, tags, pairs, and what no result tells."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from arena_desktop.theme.switch import Theme
from arena_desktop.views.result_details import ResultDetails
from arena_desktop.wording import exact as words
from engine.config.schema import MetricRule
from engine.domain import Case
from engine.stats.board import Entry, EntryStatus
from engine.stats.leaderboard import build_board
from engine.stats.metrics import reading
from engine.stats.reweigh import reweighed
from engine.storage.store import Store
from tests.stats.builders import board_input, config_with, scored
from tests.views.conftest import Stored
from tests.views.setup_world import nameless

WEIGHTS = {"accuracy": 0.55, "cost": 0.25, "latency": 0.2}
CONFIG = config_with(WEIGHTS, rules={"cost": MetricRule(target=2.0), "latency": MetricRule(target=800.0)})


def data():
    """Two priced models and one without a price, over tagged tests."""
    cases = tuple(Case(id=f"c{n}", tags=("odd",) if n % 2 else ("even", "<b>")) for n in range(6))
    calls = []
    for key, right, cost in (("a", 5, "0.00006"), ("b", 4, "0.001"), ("c", 3, None)):
        calls += [scored(key, f"c{n}", 1, float(n < right), cost=cost, latency=190.0) for n in range(6)]
    return board_input(calls, cases=cases, config=CONFIG)


@pytest.fixture
def details(theme: Theme, qtbot: QtBot) -> ResultDetails:
    view = ResultDetails()
    qtbot.addWidget(view)
    view.resize(1000, 900)
    view.show_board(build_board(data()), CONFIG)
    view.show()
    return view


def test_it_is_closed_and_costs_nothing_until_it_is_opened(details: ResultDetails) -> None:
    assert not details.is_open()
    assert not hasattr(details, "terms")
    QTest.keyClick(details.head, Qt.Key.Key_Space)
    assert details.is_open()
    assert nameless(details) == []


def test_the_terms_add_up_to_the_score(details: ResultDetails) -> None:
    details.set_open(True)
    rows = details.terms.cells()
    # .8333, cost $0.06 against $2 (0.97) and 190 ms against 800 (0.7625) make 0.853.
    assert rows[0] == ("Getting it right", "83 of 100", "as measured", "83.3", "55.0", "45.8")
    assert rows[1][1:3] == ("less than 1 cent per 100 answers", "100 at nothing, 0 at $0.20 per 100 answers")
    assert rows[1][3:] == ("97.0", "25.0", "24.3")
    assert rows[2][1:] == ("0.2 s", "100 at nothing, 0 at 0.8 s", "76.3", "20.0", "15.3")
    assert rows[3] == ("Overall score", "–", "–", "–", "100.0", "85.3")
    assert abs(sum(float(row[5]) for row in rows[:-1]) - 85.3) < 0.15


def test_an_unknown_measure_says_where_its_weight_went(details: ResultDetails) -> None:
    details.set_open(True)
    details.combo_model.setCurrentIndex(details.combo_model.findData("c"))
    details.combo_model.activated.emit(details.combo_model.currentIndex())
    rows = details.terms.cells()
    assert rows[1][1:] == ("not measured", "100 at nothing, 0 at $0.20 per 100 answers", "–", "0.0", "–")
    assert [row[4] for row in rows] == ["73.3", "0.0", "26.7", "100.0"]
    assert "“Low cost” was not measured for this model" in details.terms.sentence.text()


def test_cost_of_a_right_answer_stands_beside_the_cost_of_all(details: ResultDetails) -> None:
    details.set_open(True)
    assert "One right answer cost $0.000072; 1,000 answers cost $0.06." in details.terms.sentence.text()


def test_free_answers_are_said_to_be_free_without_a_price() -> None:
    free = Entry("a", "A", EntryStatus.RANKED, cost_per_1k_usd=0.0, cost_per_correct_usd=0.0)
    assert words.cost_sentence(free) == "Its answers are free."


def test_tags_name_the_best_other_model(details: ResultDetails) -> None:
    details.set_open(True)
    assert details.tags.cells() == [
        ("<b>", "100 of 100", "67 of 100, B"),
        ("even", "100 of 100", "67 of 100, B"),
        ("odd", "67 of 100", "67 of 100, B"),
    ]
    bare = board_input(data().calls, config=CONFIG)
    details.show_board(build_board(bare), CONFIG)
    assert details.tags.isHidden()


def test_every_pair_is_there_in_exact_figures(details: ResultDetails) -> None:
    details.set_open(True)
    rows = details.pairs.cells()
    assert [row[:3] for row in rows] == [("A", "B", "0.167"), ("A", "C", "0.333"), ("B", "C", "0.167")]
    assert rows[0][6:] == ("1 of 6", "Not enough tests")
    assert "over all 3 pairs" in details.pairs.sentence.text()


def test_another_board_keeps_the_model_that_was_chosen(details: ResultDetails) -> None:
    details.set_open(True)
    details.combo_model.setCurrentIndex(details.combo_model.findData("b"))
    config = replace(CONFIG, metrics=replace(CONFIG.metrics, weights={"cost": 1.0}))
    details.show_board(build_board(replace(data(), config=config)), config)
    assert details.combo_model.currentData() == "b"
    assert [row[0] for row in details.terms.cells()] == ["Low cost", "Overall score"]


@pytest.mark.parametrize(
    ("rule", "said"),
    [
        (MetricRule(normalize="minmax"), "100 for the best of this run, 0 for the last"),
        (MetricRule(target=0.5), "100 from 50 of 100 on"),
        (MetricRule(), "as measured"),
    ],
)
def test_how_a_value_is_put_on_its_scale(rule: MetricRule, said: str) -> None:
    assert words.scale_words(reading("accuracy", {"accuracy": rule})) == said


@pytest.mark.parametrize(
    ("usd", "said"),
    [
        (None, "–"),
        (0.0, "free"),
        (0.5, "$0.50"),
        (0.0123, "$0.012"),
        (0.000072, "$0.000072"),
        (12.0, "$12.00"),
    ],
)
def test_small_money_tells_something(usd: float | None, said: str) -> None:
    assert words.small_money(usd) == said


@pytest.mark.parametrize(("trials", "count"), [(1, 3), (3, 2)])
def test_something_always_stays_untold(trials: int, count: int) -> None:
    said = words.cannot_tell(build_board(replace(data(), trials=trials)))
    assert len(said) == count
    assert "your 6 tests" in said[0]


def test_other_weights_leave_the_pairs_alone(details: ResultDetails, monkeypatch: pytest.MonkeyPatch) -> None:
    details.set_open(True)
    asked: list[object] = []
    monkeypatch.setattr(words, "pairs_table", lambda board: asked.append(board) or ((), []))
    shown = reweighed(build_board(data()), CONFIG, {"accuracy": 1.0})
    details.show_board(shown, CONFIG)
    assert asked == []
    assert [row[0] for row in details.terms.cells()] == ["Getting it right", "Overall score"]
    fewer = board_input([call for call in data().calls if call.cell.model_key != "c"], config=CONFIG)
    details.show_board(build_board(fewer), CONFIG)
    assert len(asked) == 1


def test_the_report_says_what_it_cannot_tell(tmp_path: Path, stored: Stored) -> None:
    from arena_desktop.reports.page import write_report

    with Store.open(stored.store) as store:
        page = write_report(store, stored.runs[0], tmp_path / "report.html").read_text(encoding="utf-8")
    assert "What this cannot tell you" in page
    assert "This speaks of your 24 tests" in page
    assert "24 tests, asked once each, 5 models" in page
