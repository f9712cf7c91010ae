"""Asking single questions again from the Answers page: the first answer counts, the new one is beside it."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QItemSelectionModel, Qt
from PySide6.QtWidgets import QMenu, QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog
from arena_desktop.dialogs.rest_question import ask_about_rest
from arena_desktop.views.answer_column import AnswerColumn
from arena_desktop.views.answers import AnswersView
from arena_desktop.wording import ask_again as words
from engine.domain import CallStatus, Cell, RunInfo
from tests.views.conftest import Stored
from tests.views.run_world import CONFIG, close_context, make_context, run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts
from tests.views.test_answers import settle, show, shown_page

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

PRICED = CONFIG.replace(
    "models:",
    'pricing: {models: {"mock:flaky": {input_usd_per_mtok: 90, output_usd_per_mtok: 90}}}\nmodels:',
    1,
)


def opened(context: AppContext, qtbot: QtBot, folder: Path) -> None:
    with qtbot.waitSignal(context.projects.examined, timeout=10_000):
        context.projects.open(folder)
    with qtbot.waitSignal(context.results.listed, timeout=10_000):
        context.results.list_runs("Customer replies")


@pytest.fixture
def page(context: AppContext, qtbot: QtBot, stored: Stored) -> AnswersView:
    """The newest run of an open project."""
    opened(context, qtbot, stored.folder)
    return shown_page(context, qtbot, stored.runs[0])


def column(page: AnswersView, key: str) -> AnswerColumn:
    return next(c for c in page.pane.answer_columns() if c.head is not None and c.head.key == key)


def ended(context: AppContext, qtbot: QtBot, run_id: str) -> None:
    """The run that asks again is over and read anew, as the window does it."""
    qtbot.waitUntil(lambda: not context.runs.running and context.runs.progress.status is not None)
    with qtbot.waitSignal(context.results.shown, timeout=10_000):
        context.results.open_run(run_id)
    settle(context, qtbot)


def info(context: AppContext, run_id: str) -> RunInfo:
    return context.results.store().run(run_id).info


def test_one_answer_asked_again_by_keyboard(
    page: AnswersView, context: AppContext, stored: Stored, qtbot: QtBot
) -> None:
    before = info(context, stored.runs[0])
    first = column(page, "aster")
    assert first.versions.combo.isHidden()
    assert first.versions.button.accessibleName() == "Ask Aster Large again"
    said = first.view.answer()
    with qtbot.waitSignal(context.runs.began, timeout=10_000) as began:
        qtbot.keyClick(first.versions.button, Qt.Key.Key_Space)
    assert began.args[0].again == (Cell("aster", "case-00", 1),)
    ended(context, qtbot, stored.runs[0])
    assert context.runs.progress.total == 1
    after = info(context, stored.runs[0])
    assert (after.completed, after.errors, after.status) == (before.completed, before.errors, before.status)

    first = column(page, "aster")
    assert first.view.answer() == said
    combo = first.versions.combo
    assert [combo.itemText(i) for i in range(combo.count())] == ["The answer that counts", "The other answer"]
    assert column(page, "birch").versions.combo.isHidden()
    combo.setCurrentIndex(1)
    combo.activated.emit(1)
    assert first.why.text().startswith("This answer does not count. ")
    assert not first.mark.isEnabled()
    combo.setCurrentIndex(0)
    combo.activated.emit(0)
    assert first.view.answer() == said
    assert first.mark.isEnabled()
    assert forbidden(texts(page)) == []
    assert nameless(page) == []


def test_chosen_rows_of_the_table_are_asked_again(
    page: AnswersView, context: AppContext, stored: Stored, qtbot: QtBot
) -> None:
    show(page, "unasked")
    page.show_table(True)
    settle(context, qtbot)
    pane = page.call_pane
    button = pane.findChild(QPushButton, "button_ask_again")
    assert button is not None
    assert not button.isEnabled()
    selection, model = pane.table.selectionModel(), pane.calls
    for row in (0, 2):
        flag = QItemSelectionModel.SelectionFlag.Select | QItemSelectionModel.SelectionFlag.Rows
        selection.select(model.index(row, 0), flag)
    assert button.text() == "Ask these 2 again"
    chosen = tuple(call.cell for call in pane.chosen_calls())
    before = info(context, stored.runs[0])
    never_asked = sum(call.status is CallStatus.STOPPED for call in pane.chosen_calls())
    menu = QMenu()
    pane.table.fill_row_menu(menu, pane.chosen_calls()[0])
    assert "Ask these 2 again" in [action.text() for action in menu.actions()]
    with qtbot.waitSignal(context.runs.began, timeout=10_000) as began:
        button.click()
    assert began.args[0].again == chosen
    ended(context, qtbot, stored.runs[0])
    # They fail for good: asked, failed again, and nothing else of the run is another one.
    assert context.runs.progress.failed == 2
    after = info(context, stored.runs[0])
    assert (after.completed, after.errors) == (before.completed, before.errors + never_asked)


def test_without_its_project_it_says_what_is_needed(
    context: AppContext, qtbot: QtBot, stored: Stored
) -> None:
    page = shown_page(context, qtbot, stored.runs[0])
    column(page, "aster").versions.button.click()
    message = next(m for m in page.strips.messages() if m.key == "again")
    assert message.first == "To ask again, open the project Customer replies first."
    assert not context.runs.running
    with qtbot.waitSignal(context.projects.examined, timeout=10_000):
        message.buttons[0].action()


def asked(page: AnswersView, qtbot: QtBot) -> ConfirmCostDialog:
    """The question after one answer is asked again."""
    column(page, "aster").versions.button.click()
    qtbot.waitUntil(lambda: page.findChild(ConfirmCostDialog) is not None, timeout=10_000)
    return page.findChild(ConfirmCostDialog)


def test_what_costs_is_asked_about_first(theme: object, qtbot: QtBot, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "dear", PRICED)
    run_id = run_now(folder, tmp_path / "arena.sqlite", limit=2)
    context = make_context(tmp_path / "home", tmp_path / "arena.sqlite")
    try:
        opened(context, qtbot, folder)
        page = shown_page(context, qtbot, run_id)
        context.runs.price_question.connect(lambda order: ask_about_rest(page, context.runs, order))
        dialog = asked(page, qtbot)
        said = texts(dialog)
        assert "Ask this question again?" in said
        assert any(text.startswith("About $") for text in said)
        assert "One has an answer, and that goes on counting. The new one can be seen beside it." in said
        assert dialog.button_keep.text() == "Do not ask"
        assert dialog.button_pay.text().startswith("Ask 1 question, about $")
        assert forbidden(said) == []
        qtbot.keyClick(dialog, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda: page.findChild(ConfirmCostDialog) is None)
        assert not context.runs.running
        before = info(context, run_id).cost_usd
        dialog = asked(page, qtbot)
        with qtbot.waitSignal(context.runs.ended, timeout=10_000):
            dialog.button_pay.click()
        after = info(context, run_id).cost_usd
        assert before is not None
        assert after is not None
        assert after > before
    finally:
        close_context(context)


@pytest.mark.parametrize(
    ("done", "failed", "first", "text"),
    [
        (1, 0, "1 question was asked again.", "An answer that was there goes on counting"),
        (0, 1, "1 question was asked again.", "It was not answered. What was there before stays."),
        (0, 3, "3 questions were asked again.", "None was answered. What was there before stays."),
        (2, 1, "3 questions were asked again.", "1 was not answered."),
    ],
)
def test_what_came_of_it_is_said(done: int, failed: int, first: str, text: str) -> None:
    said = words.asked_again(done, failed)
    assert said[0] == first
    assert text in said[1]
