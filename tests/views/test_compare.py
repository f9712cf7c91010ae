"""Compare: only what is the same in both runs is compared, and how sure it is stands beside it."""

from __future__ import annotations

from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QStackedWidget
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.views.answers import AnswersView
from arena_desktop.views.compare import BETTER, WORSE, CompareView
from arena_desktop.views.history import HistoryView
from arena_desktop.wording import compare as words
from engine.stats.board import Interval, PairResult
from engine.stats.compare import Comparison, ModelChange, SideFigures
from tests.views.conftest import Stored
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


def settle(context: AppContext, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=10_000)
    QApplication.processEvents()


def shown_page(context: AppContext, qtbot: QtBot) -> CompareView:
    view = CompareView(context)
    qtbot.addWidget(view)
    view.resize(1280, 900)
    with qtbot.waitExposed(view):
        view.show()
    return view


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, stored: Stored) -> CompareView:
    """The first stored run with the second: other instructions, a better Birch."""
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")
    view = shown_page(context, qtbot)
    view.choose(stored.runs[0], stored.runs[1])
    qtbot.waitUntil(lambda: view.table.isVisible(), timeout=10_000)
    settle(context, qtbot)
    return view


def column(page: CompareView, name: str) -> list[str]:
    section = page.rows.section_of(name)
    return [page.rows.index(row, section).data() for row in range(page.rows.rowCount())]


def test_the_better_model_is_named_first(page: CompareView) -> None:
    assert page.verdict.sentence.text().startswith("Birch Mini got better")
    assert page.verdict.chip.text == "A real difference"
    assert "of the 24 tests both runs share" in page.verdict.lead.text()
    assert column(page, "model") == ["Aster Large", "Birch Mini", "Cedar Mini", "Ember Beta", "Grove Pro"]
    assert column(page, "after")[1] == "24 of 24"
    assert column(page, "change")[0] == "same on every test"
    assert column(page, "change")[1].endswith("better, 0 worse")
    assert column(page, "change")[3] == "not marked in both runs"
    assert column(page, "before")[3] == "–"
    assert forbidden(texts(page)) == []
    assert nameless(page) == []


def test_it_says_what_else_changed(
    page: CompareView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    first = next(m for m in page.strips.messages() if m.key == "shared").first
    assert first == "The instructions changed between these runs."
    page.choose(stored.runs[0], stored.runs[2])
    settle(context, qtbot)
    message = next(m for m in page.strips.messages() if m.key == "shared")
    assert message.first == "Only the 6 shared tests are compared."
    assert message.text == "What differs: 18 tests were asked only before."


def test_the_tests_that_moved_are_listed_for_the_chosen_model(page: CompareView) -> None:
    assert page.label_moved.text() == "Tests that changed for Birch Mini"
    assert page.combo_moved.currentData() == BETTER
    rows = page.moved_rows.rows()
    assert rows
    assert all(row.before is False and row.after is True for row in rows)
    assert page.moved_rows.index(0, 3).data() == "Fail"
    assert page.moved_rows.index(0, 4).data() == "Pass"
    page.combo_moved.setCurrentIndex(page.combo_moved.findData(WORSE))
    page.combo_moved.activated.emit(0)
    assert page.label_none.text() == "No test got worse."
    assert not page.moved_card.isVisible()
    page.table.select_key("aster")
    assert page.label_moved.text() == "Tests that changed for Aster Large"


def test_swap_turns_better_into_worse(
    page: CompareView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    page.button_swap.click()
    settle(context, qtbot)
    assert page.combo_before.currentData() == stored.runs[1]
    assert page.verdict.sentence.text().startswith("Birch Mini got worse")
    assert column(page, "before")[1] == "24 of 24"


def test_the_newest_two_are_compared_by_themselves(context: AppContext, qtbot: QtBot, stored: Stored) -> None:
    page = shown_page(context, qtbot)
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")
    settle(context, qtbot)
    assert (page.combo_before.currentData(), page.combo_after.currentData()) == (
        stored.runs[1],
        stored.runs[2],
    )
    assert page.table.isVisible()


def test_one_and_the_same_run_is_not_compared(page: CompareView, stored: Stored) -> None:
    page.choose(stored.runs[0], stored.runs[0])
    assert page.nothing.heading.text() == "This is one and the same run."
    assert not page.table.isVisible()


def test_runs_without_a_shared_test_are_not_compared(
    page: CompareView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    found = page._compared
    assert found is not None
    from dataclasses import replace

    from engine.stats.board import Reason

    none = replace(found.found, problem=Reason("no_shared_cases"), shared=())
    page._on_compared(replace(found, found=none))
    assert page.nothing.heading.text() == "These two runs share no test."
    assert not page.table.isVisible()


def test_after_one_run_it_says_what_comes(fresh: AppContext, qtbot: QtBot) -> None:
    page = shown_page(fresh, qtbot)
    assert page.nothing.heading.text() == "After two runs you can see what changed."
    assert not page.combo_before.isVisible()
    assert forbidden(texts(page)) == []


def test_a_test_leads_to_the_answers(
    page: CompareView, context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    pages: list[str] = []
    context.page_wanted.connect(pages.append)
    with qtbot.waitSignal(context.results.shown) as shown:
        page.button_answers.click()
    assert shown.args[0].run_id == stored.runs[1]
    assert pages == ["answers"]


def test_from_history_to_compare_to_answers(context: AppContext, qtbot: QtBot, stored: Stored) -> None:
    window = QStackedWidget()
    qtbot.addWidget(window)
    views = {
        "history": HistoryView(context),
        "compare": CompareView(context),
        "answers": AnswersView(context),
    }
    for view in views.values():
        window.addWidget(view)
    context.page_wanted.connect(lambda name: window.setCurrentWidget(views[name]))
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")
    settle(context, qtbot)
    history, compare, answers = views["history"], views["compare"], views["answers"]
    for row in (1, 2):
        history.rows.setData(
            history.rows.index(row, 0), Qt.CheckState.Checked, Qt.ItemDataRole.CheckStateRole
        )
    history.button_compare.click()
    settle(context, qtbot)
    assert compare.verdict.sentence.text().startswith("Birch Mini got better")
    moved = compare.moved_rows.record(0)
    compare.moved.activated_row.emit(moved)
    qtbot.waitUntil(lambda: answers.pane.isVisible(), timeout=10_000)
    settle(context, qtbot)
    assert answers.pane.question.text() == moved.question


# ---- words


def pair(row: int, delta: float) -> PairResult:
    interval = Interval(delta - 0.1, delta + 0.1)
    return PairResult(
        "after", "before", delta, 0.05, 2.0, 40.0, 0.03, 0.03, None, interval, interval, 48.0, 9, row
    )


def change(key: str, row: int, delta: float, better: int = 0, worse: int = 0) -> ModelChange:
    before = SideFigures(0.7, 48, 34, 1900.0, {"cost": 4.2})
    after = SideFigures(0.7 + delta, 48, 34 + better - worse, 1700.0, {"cost": 4.0})
    ids = tuple(f"case-{n}" for n in range(better + worse))
    return ModelChange(key, before, after, pair(row, delta), ids[:better], ids[better:])


NAMES = {"one": "One", "two": "Two", "three": "Three"}


def compared(*changes: ModelChange, **more: object) -> Comparison:
    shared = tuple(f"case-{n}" for n in range(48))
    return Comparison(shared, (), (), (), changes, **more)  # type: ignore[arg-type]


def test_the_largest_real_change_leads_and_the_others_follow() -> None:
    found = compared(
        change("one", 4, 0.15, 8, 1), change("two", 4, -0.12, 1, 7), change("three", 7, 0.02, 2, 1)
    )
    said = words.compare_words(found, NAMES, {"one": (3, 1)})
    assert said.headline == "One got better, and moved from place 3 to 1."
    assert said.lead == (
        "It passed 41 of the 48 tests both runs share, and 34 before. Two got worse."
        " The other one is too close to call."
    )
    assert (said.chip, said.kind) == ("A real difference", "good")


def test_too_close_is_never_called_better() -> None:
    said = words.compare_words(compared(change("one", 7, 0.1, 5, 0)), NAMES, {})
    assert said.headline == "No change is large enough to be sure of it."
    assert said.chip == "Too close to call"
    assert "better" in said.lead
    assert words.change_words(change("one", 7, 0.1, 5, 0)) == ("too close to call", "text2")


def test_nothing_that_moved_is_not_called_too_close() -> None:
    said = words.compare_words(compared(change("one", 7, 0.0)), NAMES, {})
    assert (said.chip, said.headline) == (
        "No difference seen",
        "Every model passed the same tests as before.",
    )
    assert said.lead == "48 tests are in both runs."


def test_the_same_is_said_to_be_the_same() -> None:
    said = words.compare_words(compared(change("one", 6, 0.0)), NAMES, {})
    assert said.headline == "Nothing changed."
    assert words.change_words(change("one", 6, 0.0)) == ("same on every test", "text2")


def test_where_less_is_better_the_direction_turns() -> None:
    lower = change("one", 4, -0.3, 9, 0)
    cheaper = replace(lower, less_is_better=True)
    assert words.got_better(cheaper)
    assert not words.got_better(lower)
    assert words.change_words(cheaper)[1] == "good"
    assert words.change_words(lower)[1] == "bad"


def test_differences_of_cost_and_wait_in_words() -> None:
    assert words.cost_change(4.2, 4.0) == "$0.02 less"
    assert words.cost_change(4.0, 4.3) == "$0.03 more"
    assert words.cost_change(4.0, 4.01) == "same"
    assert words.cost_change(0.0, 0.0) == "free"
    assert words.cost_change(None, 4.0) == "–"
    assert words.wait_change(1900.0, 1700.0) == "0.2 s faster"
    assert words.wait_change(1700.0, 1900.0) == "0.2 s slower"
    assert words.wait_change(1700.0, 1720.0) == "same"
    assert words.wait_change(None, 1.0) == "–"


def test_nothing_marked_is_said() -> None:
    none = ModelChange("one", SideFigures(None, 0, 0, None), SideFigures(None, 0, 0, None), None)
    said = words.compare_words(compared(none), NAMES, {})
    assert said.headline == "No model has marked answers in both runs."
    assert words.change_words(none)[0] == "not marked in both runs"
    assert words.passed_of(none.before) == "–"


def test_what_changed_between_the_runs_is_listed() -> None:
    found = Comparison(("a", "b"), ("c",), ("d", "e"), ("f",), instructions_changed=True)
    assert words.shared_sentence(found) == (
        "Only the 2 shared tests are compared.",
        "What differs: 1 test was asked only now, 2 tests were asked only before, 1 test was changed,"
        " the instructions changed.",
    )
    assert words.shared_sentence(compared()) == ("", "")
