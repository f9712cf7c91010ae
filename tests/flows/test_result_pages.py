"""The result pages together: blind duel, what lies behind a board, own marks, marking and asking again."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QComboBox, QLabel, QPushButton, QSpinBox, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.dialogs.resume_choice import ResumeChoiceDialog
from arena_desktop.views.answers import AnswersView
from arena_desktop.views.duel import DuelView
from arena_desktop.views.results import ResultsView
from arena_desktop.widgets.strip import Message
from engine.domain import RunStatus
from engine.execution.events import RunFinished
from tests.flows.conftest import LONG_MS
from tests.views import insight_world
from tests.views.run_world import CONFIG, made_tests, run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")
Find = Callable[..., QWidget]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return write_project(tmp_path / "replies", tests=made_tests(12))


@pytest.fixture
def result(window: ArenaWindow, folder: Path, qtbot: QtBot) -> str:
    """A complete run on the Leaderboard, its project open; returns its id."""
    run_id = run_now(folder, window.context.results.path)
    with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    show_run(window, run_id, qtbot)
    return run_id


def show_run(window: ArenaWindow, run_id: str, qtbot: QtBot) -> ResultsView:
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(run_id)
    page = window.page("results")
    assert isinstance(page, ResultsView)
    qtbot.waitUntil(lambda: page.facts is not None and page.facts.info.run_id == run_id, timeout=LONG_MS)
    settle(window, qtbot)
    return page


def settle(window: ArenaWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.context.background.busy == 0, timeout=LONG_MS)
    QApplication.processEvents()


def message(window: ArenaWindow, key: str) -> Message | None:
    return next((m for m in window.window_strips.messages() if m.key == key), None)


def answers(window: ArenaWindow) -> AnswersView:
    page = window.page("answers")
    assert isinstance(page, AnswersView)
    return page


def press(window: ArenaWindow, page: str, name: str, qtbot: QtBot) -> None:
    button = window.page(page).findChild(QPushButton, name)
    assert button is not None, name
    assert button.isEnabled(), name
    button.click()
    settle(window, qtbot)


# ---- blind duel


def test_the_duel_is_no_section_and_escape_goes_back(window: ArenaWindow, result: str, qtbot: QtBot) -> None:
    assert "action_page_duel" not in [action.objectName() for action in window.menus.all_actions()]
    page = window.page("results")
    assert isinstance(page, ResultsView)
    blind = page.verdict.button("duel")
    assert blind is not None
    assert blind.text() == "Compare blind"
    blind.click()
    settle(window, qtbot)
    assert window.current_page() == "duel"
    assert window.rail.current() == "results"
    qtbot.keyClick(window.page("duel"), Qt.Key.Key_Escape)
    assert window.current_page() == "results"

    window.show_page("answers")
    press(window, "answers", "button_duel", qtbot)
    assert window.current_page() == "duel"
    window.rail.list.clicked.emit(window.rail.list.currentIndex())
    assert window.current_page() == "answers"


def seen(window: ArenaWindow) -> list[str]:
    """Every word that can be seen or heard in the whole window, its title, tips and menus included."""
    said = [window.windowTitle()]
    for widget in [window, *window.findChildren(QWidget)]:
        if widget.isVisible():
            said += [widget.toolTip(), widget.statusTip(), widget.whatsThis(), widget.accessibleName()]
            said += [widget.accessibleDescription(), *texts(widget)]
    return said + [f"{action.text()} {action.toolTip()}" for action in window.findChildren(QAction)]


def test_the_whole_window_names_no_model_while_names_are_hidden(
    window: ArenaWindow, result: str, qtbot: QtBot
) -> None:
    names = [name for m in window.context.results.store().run(result).models for name in (m.key, m.label)]
    assert any(name in " ".join(seen(window)) for name in names)
    window.show_page("duel")
    page = window.page("duel")
    assert isinstance(page, DuelView)
    qtbot.waitUntil(lambda: page.desk.standing.left > 0 and not page.desk.busy, timeout=LONG_MS)
    settle(window, qtbot)
    for key in (None, Qt.Key.Key_1, Qt.Key.Key_Z):
        if key is not None:
            qtbot.keyClick(QApplication.focusWidget() or page, key)
            qtbot.waitUntil(lambda: not page.desk.busy, timeout=LONG_MS)
        words = " ".join(seen(window)).casefold()
        assert [name for name in names if name.casefold() in words] == []


def test_a_window_closed_over_the_duel_opens_where_it_came_from(
    window: ArenaWindow, result: str, qtbot: QtBot
) -> None:
    window.show_page("answers")
    window.show_page("duel")
    settle(window, qtbot)
    window._keep()
    assert window.context.settings.last_page == "answers"


# ---- what lies behind a board


def test_a_line_of_the_insights_opens_exactly_its_tests(window: ArenaWindow, qtbot: QtBot) -> None:
    run_id = insight_world.write_run(window.context.results.path)
    page = show_run(window, run_id, qtbot)
    qtbot.waitUntil(lambda: page.insights.insights is not None, timeout=LONG_MS)
    found = page.insights.insights
    assert found is not None
    group = found.groups[0]
    button = page.insights.groups.findChild(QPushButton, "button_failure_groups_0")
    assert button is not None
    button.click()
    assert window.current_page() == "answers"
    view = answers(window)
    qtbot.waitUntil(lambda: view.rows.total_count() > 0, timeout=LONG_MS)
    settle(window, qtbot)
    assert {row.case.id for row in view.rows.shown_rows()} == set(group.cases)
    assert view.chip_only.isVisible()
    assert view.chip_only.text.startswith(
        "This test: " if len(group.cases) == 1 else f"These {len(group.cases)} tests: "
    )
    assert view.tests.current_record().case.id in group.cases  # type: ignore[union-attr]
    view.show_table(True)
    settle(window, qtbot)
    calls = view.call_pane.calls
    only_one = next(iter(group.by_model)) if len(group.by_model) == 1 else None
    models = 1 if only_one else len(view.pane.answer_columns())
    assert calls.shown_count() == len(group.cases) * models * insight_world.TRIALS
    view.show_table(False)
    view.button_clear.click()
    assert not view.chip_only.isVisible()
    assert view.rows.shown_count() == view.rows.total_count() == insight_world.CASES
    assert forbidden(texts(page)) == []
    assert nameless(page) == []
    assert nameless(view) == []


# ---- own marks


def test_a_mark_can_be_given_scored_undone_and_seen(window: ArenaWindow, result: str, qtbot: QtBot) -> None:
    board = window.page("results")
    assert isinstance(board, ResultsView)
    assert not board.check_own.isVisible()
    window.show_page("answers")
    view = answers(window)
    qtbot.waitUntil(lambda: bool(view.pane.answer_columns()), timeout=LONG_MS)
    settle(window, qtbot)
    column = view.pane.answer_columns()[0]
    assert not column.score.isVisible()
    column.mark.setCurrentIndex(2)
    column.mark.activated.emit(2)
    settle(window, qtbot)
    said = next(m for m in view.strips.messages() if m.key == "mark")
    assert said.first == "Marked as bad."
    assert said.text.startswith("You and the checks gave the same mark to ")
    assert column.score.isVisible()

    column.score.setValue(35)
    column.score.editingFinished.emit()
    settle(window, qtbot)
    (kept,) = window.context.results.store().own_marks(result)
    assert (kept.mark, kept.score) == ("bad", 0.35)

    window.show_page("results")
    settle(window, qtbot)
    assert board.check_own.isVisible()
    before = board.facts.result.board  # type: ignore[union-attr]
    board.check_own.setChecked(True)
    settle(window, qtbot)
    own = board.check_own.own
    assert own is not None
    assert own.marks == 1
    key = column.head.key  # type: ignore[union-attr]
    changed = next(e for e in own.board.entries if e.model_key == key)
    stored = next(e for e in before.entries if e.model_key == key)  # type: ignore[union-attr]
    assert changed.metrics["accuracy"].raw < stored.metrics["accuracy"].raw
    assert any(m.key == "own_marks" for m in board.strips.messages())
    assert forbidden(texts(board)) == []
    board.check_own.setChecked(False)
    assert board.check_own.board == before
    assert not any(m.key == "own_marks" for m in board.strips.messages())

    undo_both(window, result, qtbot)
    assert column.mark.currentIndex() == 0
    window.show_page("results")
    settle(window, qtbot)
    assert not board.check_own.isVisible()


def undo_both(window: ArenaWindow, run_id: str, qtbot: QtBot) -> None:
    window.show_page("answers")
    view = answers(window)
    for left in (("bad", None), None):
        undo = next(m for m in view.strips.messages() if m.key == "mark").buttons[0]
        assert undo.text == "Undo"
        undo.action()
        settle(window, qtbot)
        marks = [(m.mark, m.score) for m in window.context.results.store().own_marks(run_id)]
        assert marks == ([left] if left else [])
    assert next(m for m in view.strips.messages() if m.key == "mark").buttons == ()


# ---- marking again


def test_marking_again_says_what_changed(
    window: ArenaWindow, result: str, folder: Path, qtbot: QtBot
) -> None:
    write_project(folder, CONFIG, made_tests(12).replace("reference: refund", "reference: other"))
    with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    settle(window, qtbot)
    board = window.page("results")
    assert isinstance(board, ResultsView)
    window.show_page("results")
    before = board.facts.result.board  # type: ignore[union-attr]
    with qtbot.waitSignal(window.context.rescoring.done, timeout=LONG_MS):
        board.button_rescore.click()
        going = message(window, "rescore")
        assert going is not None
        assert (going.first, going.buttons[0].text) == ("Marking the answers again.", "Cancel")
        assert not board.button_rescore.isEnabled()
    settle(window, qtbot)
    done = message(window, "rescore")
    assert done is not None
    assert "marks changed." in done.first
    qtbot.waitUntil(lambda: board.facts.result.board != before, timeout=LONG_MS)  # type: ignore[union-attr]
    assert board.button_rescore.isEnabled()

    window.show_page("scoring")
    settle(window, qtbot)
    with qtbot.waitSignal(window.context.rescoring.done, timeout=LONG_MS):
        press(window, "scoring", "button_rescore", qtbot)
    again = message(window, "rescore")
    assert again is not None
    assert "No mark changed." in again.first
    assert again.buttons[0].text == "See the result"
    again.buttons[0].action()
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)


def test_marking_again_can_be_cancelled(window: ArenaWindow, result: str, qtbot: QtBot) -> None:
    window.context.rescoring.start(result)
    going = message(window, "rescore")
    assert going is not None
    going.buttons[0].action()
    settle(window, qtbot)
    cancelled = message(window, "rescore")
    assert cancelled is not None
    assert cancelled.text == "All marks are as they were."


# ---- the end of a run, and asking again


def test_the_message_about_the_end_leaves_when_that_run_is_looked_at(
    window: ArenaWindow, result: str, qtbot: QtBot
) -> None:
    finished = RunFinished(result, 9, RunStatus.COMPLETED, 48, 36, 12, 0, None, 1.0)
    window.show_page("home")
    window.context.runs.ended.emit(finished)
    assert message(window, "run_ended") is not None
    show_run(window, result, qtbot)
    assert message(window, "run_ended") is None


def test_the_menu_asks_failures_again_and_a_changed_project_is_asked_about(
    window: ArenaWindow, result: str, folder: Path, find: Find, qtbot: QtBot
) -> None:
    action = window.menus.action("action_retry_failed")
    assert action.isVisible()
    assert action.isEnabled()
    mended = CONFIG.replace("{error_status: 400, seed: e}", "{accuracy: 100, seed: e}")
    write_project(folder, mended, made_tests(12))
    with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    settle(window, qtbot)
    with qtbot.waitSignal(window.context.runs.question, timeout=LONG_MS):
        action.trigger()
    dialog = next(iter(window.findChildren(ResumeChoiceDialog)))
    said = [label.text() for label in dialog.findChildren(QLabel)]
    assert "The project has changed since run 1 was planned." in said
    assert "Ember Beta: other model settings, 12 tests." in said
    with qtbot.waitSignal(window.context.runs.ended, timeout=LONG_MS):
        dialog.button_new.click()
    assert window.context.runs.progress.done == 48
    settle(window, qtbot)
    qtbot.waitUntil(lambda: not action.isEnabled(), timeout=LONG_MS)


def test_scores_and_marks_have_their_places(window: ArenaWindow, result: str, qtbot: QtBot) -> None:
    window.show_page("answers")
    view = answers(window)
    qtbot.waitUntil(lambda: bool(view.pane.answer_columns()), timeout=LONG_MS)
    assert view.findChild(QComboBox, "combo_mark_1") is not None
    spin = view.findChild(QSpinBox, "spin_mark_score_1")
    assert spin is not None
    assert (spin.minimum(), spin.maximum(), spin.text()) == (-1, 100, "no score")
