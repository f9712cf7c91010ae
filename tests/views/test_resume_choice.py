"""Carrying on with a changed project asks first; what failed can be asked again from every place."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.run_desk import ResumeQuestion
from arena_desktop.dialogs.resume_choice import ResumeChoiceDialog
from arena_desktop.views.answers import AnswersView
from arena_desktop.views.history import HistoryView
from arena_desktop.views.run import RunView
from arena_desktop.views.saved_steps import can_retry, run_to_retry
from arena_desktop.wording import resume as words
from engine.domain import RunInfo
from engine.execution.resume import Difference
from tests.views.run_world import CONFIG, made_tests, run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

# Ember Beta is refused on every question; the second config lets it answer.
FEW = made_tests(4)
MENDED = CONFIG.replace("{error_status: 400, seed: e}", "{accuracy: 100, seed: e}")


def examined(context: AppContext, qtbot: QtBot, folder: Path) -> None:
    with qtbot.waitSignal(context.projects.examined):
        context.projects.open(folder)
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")


@pytest.fixture
def failed(fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> RunInfo:
    """A complete run in which all four questions to Ember Beta failed; its project is open and mended."""
    folder = write_project(tmp_path / "replies", tests=FEW)
    run_now(folder, fresh.results.path)
    write_project(folder, MENDED, FEW)
    examined(fresh, qtbot, folder)
    (info,) = fresh.results.runs
    assert info.errors == 4
    return info


def test_a_changed_project_is_asked_about_before_anything_runs(
    fresh: AppContext, failed: RunInfo, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(fresh.runs.question) as caught:
        fresh.runs.carry_on(failed.run_id, retry_errors=True)
    question: ResumeQuestion = caught.args[0]
    assert not fresh.runs.running
    assert [(d.model_key, d.what, len(d.cases)) for d in question.found] == [("ember", ("params",), 4)]
    assert question.labels["ember"] == "Ember Beta"
    with qtbot.waitSignal(fresh.runs.ended, timeout=20_000) as ended:
        fresh.runs.carry_on(question.run_id, choice="new", retry_errors=question.retry_errors)
    assert ended.args[0].run_id == failed.run_id
    assert (ended.args[0].errors, ended.args[0].completed) == (0, 16)
    assert fresh.runs.progress.done == 16
    assert fresh.results.store().runs()[0].errors == 0


def test_as_planned_asks_the_old_words_and_fails_again(
    fresh: AppContext, failed: RunInfo, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(fresh.runs.ended, timeout=20_000) as ended:
        fresh.runs.carry_on(failed.run_id, choice="snapshot", retry_errors=True)
    assert ended.args[0].errors == 4


def test_an_unchanged_project_is_not_asked_about(fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> None:
    folder = write_project(tmp_path / "replies", tests=FEW)
    run_now(folder, fresh.results.path)
    examined(fresh, qtbot, folder)
    with qtbot.assertNotEmitted(fresh.runs.question), qtbot.waitSignal(fresh.runs.ended, timeout=20_000):
        fresh.runs.carry_on(fresh.results.runs[0].run_id, retry_errors=True)
    assert fresh.runs.progress.failed == 4


def test_a_run_that_is_not_there_is_told(fresh: AppContext, failed: RunInfo, qtbot: QtBot) -> None:
    with qtbot.waitSignal(fresh.runs.failed) as caught:
        fresh.runs.carry_on("run_x")
    assert caught.args[0].code == "run_not_found"
    assert not fresh.runs.running


# ---- the question


@pytest.fixture
def window(theme: object, qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def dialog(window: QWidget) -> ResumeChoiceDialog:
    lines = words.difference_lines([Difference("a", ("system",), ("c1", "c2"))], {"a": "Aster"})
    made = ResumeChoiceDialog(window, words.changed_title(3), lines)
    made.show()
    return made


def test_the_question_says_what_changed(dialog: ResumeChoiceDialog) -> None:
    said = texts(dialog)
    assert "The project has changed since run 3 was planned." in said
    assert "Aster: other instructions, 2 tests." in said
    assert forbidden(said) == []
    assert nameless(dialog) == []


@pytest.mark.parametrize("key", [Qt.Key.Key_Escape, Qt.Key.Key_Return])
def test_escape_and_enter_ask_nothing(dialog: ResumeChoiceDialog, qtbot: QtBot, key: Qt.Key) -> None:
    with qtbot.assertNotEmitted(dialog.chosen), qtbot.waitSignal(dialog.finished):
        QTest.keyClick(dialog.button_later if key == Qt.Key.Key_Return else dialog, key)


@pytest.mark.parametrize("choice", ["snapshot", "new"])
def test_each_choice_says_which(dialog: ResumeChoiceDialog, qtbot: QtBot, choice: str) -> None:
    button = {"snapshot": dialog.button_snapshot, "new": dialog.button_new}[choice]
    with qtbot.waitSignal(dialog.chosen) as caught:
        button.click()
    assert caught.args == [choice]


def test_many_changes_are_counted() -> None:
    what = ("model", "host", "system", "prompt", "params", "gone")
    found = [Difference(key, (name,), ("c1",)) for name in what for key in "abcde"]
    lines = words.difference_lines(found, {})
    assert lines[0] == "a, b, c and 2 more: another model behind the name, 1 test."
    assert lines[-1] == "2 more changes."
    assert len(lines) == 5


# ---- where failures are asked again


def test_the_run_page_offers_what_failed(fresh: AppContext, failed: RunInfo, qtbot: QtBot) -> None:
    page = RunView(fresh)
    qtbot.addWidget(page)
    page.show()
    with qtbot.waitSignal(fresh.runs.ended, timeout=20_000):
        fresh.runs.carry_on(failed.run_id, choice="snapshot", retry_errors=True)
    assert page.foot.button_retry.isVisible()
    assert page.foot.button_retry.text() == "Try the 4 failed again"
    with qtbot.waitSignal(fresh.runs.question):
        page.foot.button_retry.click()
    with qtbot.waitSignal(fresh.runs.ended, timeout=20_000):
        fresh.runs.carry_on(failed.run_id, choice="new", retry_errors=True)
    assert not page.foot.button_retry.isVisible()
    assert page.going.failed.figure.text() == "0"
    assert page.going.done.figure.text() == "16"


def test_history_offers_what_failed(fresh: AppContext, failed: RunInfo, qtbot: QtBot) -> None:
    page = HistoryView(fresh)
    qtbot.addWidget(page)
    page.show()
    page.table.select_key(failed.run_id)
    assert page.button_retry.text() == "Try the 4 failed again"
    assert page.button_retry.isVisible()
    assert nameless(page) == []
    with qtbot.waitSignal(fresh.runs.question), qtbot.waitSignal(fresh.page_wanted):
        page.button_retry.click()


def test_only_runs_of_the_open_project_can_be_asked_again(
    fresh: AppContext, failed: RunInfo, qtbot: QtBot
) -> None:
    assert run_to_retry(fresh) == failed
    fresh.projects.close()
    assert not can_retry(fresh, failed)
    assert run_to_retry(fresh) is None


def test_answers_offer_it_beside_what_could_not_be_asked(
    fresh: AppContext, failed: RunInfo, qtbot: QtBot
) -> None:
    page = AnswersView(fresh)
    qtbot.addWidget(page)
    page.show()
    fresh.results.open_run(failed.run_id)
    qtbot.waitUntil(lambda: page.rows.total_count() > 0)
    assert not page.button_retry.isVisible()
    page.combo_show.setCurrentIndex(page.combo_show.findData("unasked"))
    page.apply_filter()
    assert page.button_retry.isVisible()
    assert page.button_retry.text() == "Try the 4 failed again"
    with qtbot.waitSignal(fresh.runs.question):
        page.button_retry.click()
