"""Nothing of a saved run is asked before its price is told: from every place, with a yes and with a no."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.desks.run_orders import terms_of
from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog
from arena_desktop.views.missing_answers import missing_message
from arena_desktop.views.result_parts import ResultFacts
from arena_desktop.views.run_before import unfinished_message
from arena_desktop.views.saved_steps import carry_on, retry
from engine.domain import RunInfo, RunStatus
from engine.storage.store import Store
from tests.flows.conftest import LONG_MS
from tests.flows.test_mark_again import question
from tests.views.run_world import CONFIG, made_tests, run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

FEW = made_tests(6)
CARD = 'pricing: {models: {"mock:flaky": {input_usd_per_mtok: 900, output_usd_per_mtok: 900}}}\n'
DEAR = CONFIG.replace("models:", CARD + "models:", 1)


def stopped(config: str) -> str:
    """Its run stops at its limit."""
    return config + "budgets: {max_run_usd: 1.20}\n"


def opened(window: ArenaWindow, qtbot: QtBot, folder: Path, config: str, later: str) -> RunInfo:
    """A run by one config is stored, and the project is open with another."""
    context = window.context
    run_now(write_project(folder, config, FEW), context.results.path)
    write_project(folder, later, FEW)
    with qtbot.waitSignal(context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    with qtbot.waitSignal(context.results.listed, timeout=LONG_MS):
        context.results.list_runs("Customer replies")
    return context.results.runs[0]


@pytest.fixture
def failed(window: ArenaWindow, qtbot: QtBot, tmp_path: Path) -> RunInfo:
    """All six questions to Ember Beta failed in the newest run of the open project, which is dear."""
    info = opened(window, qtbot, tmp_path / "replies", DEAR, DEAR)
    assert info.errors == 6
    return info


def attempts(window: ArenaWindow, run_id: str) -> int:
    with Store.open(window.context.results.path, read_only=True) as store:
        return sum(len(call.attempt_log) for call in store.iter_calls(run_id))


def run_menu(window: ArenaWindow, info: RunInfo) -> None:
    retry(window.context, info)


def run_foot(window: ArenaWindow, info: RunInfo) -> None:
    window.context.runs.carry_on(info.run_id, retry_errors=True)


@pytest.mark.parametrize("start", [run_menu, run_foot])
def test_a_no_asks_nothing_and_a_yes_only_what_is_missing(
    window: ArenaWindow, failed: RunInfo, qtbot: QtBot, start: Callable[[ArenaWindow, RunInfo], None]
) -> None:
    runs = window.context.runs
    before = attempts(window, failed.run_id)
    start(window, failed)
    dialog = question(qtbot)
    said = texts(dialog)
    assert said[0].startswith("About $")
    assert f"Run {failed.number}: 6 questions to models" in said
    assert dialog.button_pay.text().startswith("Ask 6 questions, about $")
    assert dialog.focusWidget() is dialog.button_keep
    assert (nameless(dialog), forbidden(said)) == ([], [])
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: window.findChild(ConfirmCostDialog) is None)
    assert not runs.busy
    assert attempts(window, failed.run_id) == before
    start(window, failed)
    with qtbot.waitSignal(runs.ended, timeout=LONG_MS):
        qtbot.keyClick(question(qtbot).button_pay, Qt.Key.Key_Space)
    assert runs.progress.failed == 6
    assert attempts(window, failed.run_id) == before + 6


def test_the_missing_ones_over_the_leaderboard_ask_first(
    window: ArenaWindow, failed: RunInfo, qtbot: QtBot
) -> None:
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(failed.run_id)
    result = window.context.results.result
    assert result is not None
    message = missing_message(window.context, ResultFacts(result, None))
    assert message is not None
    message.buttons[0].action()
    dialog = question(qtbot)
    assert not window.context.runs.running
    dialog.reject()


def test_carrying_on_counts_what_was_spent_under_the_same_limit(
    window: ArenaWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    raised = DEAR + "budgets: {max_run_usd: 12.00}\n"
    info = opened(window, qtbot, tmp_path / "replies", stopped(DEAR), raised)
    assert info.status is RunStatus.STOPPED_BUDGET
    message = unfinished_message(window.context)
    assert message is not None
    home = window.page("home")
    for press in (
        message.buttons[0].action,
        lambda: carry_on(window.context, info),
        lambda: home._carry_on(info),  # type: ignore[attr-defined]
    ):
        with qtbot.waitSignal(window.context.runs.price_question, timeout=LONG_MS) as asked:
            press()
        dialog = question(qtbot)
        order = asked.args[0]
        assert order.rest.before > 0
        assert terms_of(order).most == min(order.rest.expected.total.high, 12 - order.rest.before)
        assert any(text.startswith("Your limit of $12.00 counts the $") for text in texts(dialog))
        dialog.reject()
        qtbot.waitUntil(lambda: window.findChild(ConfirmCostDialog) is None)
        assert not window.context.runs.busy
    with Store.open(window.context.results.path, read_only=True) as store:
        assert store.run(info.run_id).info.status is RunStatus.STOPPED_BUDGET


def test_practice_is_free_and_is_not_asked_about(window: ArenaWindow, qtbot: QtBot, tmp_path: Path) -> None:
    info = opened(window, qtbot, tmp_path / "replies", CONFIG, CONFIG)
    runs = window.context.runs
    with qtbot.assertNotEmitted(runs.price_question), qtbot.waitSignal(runs.ended, timeout=LONG_MS):
        retry(window.context, info)
    assert runs.progress.failed == 6


def test_after_the_choice_how_to_go_on_the_price_is_asked_about(
    window: ArenaWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    mended = DEAR.replace("{error_status: 400, seed: e}", "{accuracy: 100, seed: e}")
    info = opened(window, qtbot, tmp_path / "replies", DEAR, mended)
    runs = window.context.runs
    with qtbot.waitSignal(runs.question, timeout=LONG_MS):
        runs.carry_on(info.run_id, retry_errors=True)
    with qtbot.waitSignal(runs.price_question, timeout=LONG_MS):
        runs.carry_on(info.run_id, retry_errors=True, choice="new")
    dialog = question(qtbot)
    with qtbot.waitSignal(runs.ended, timeout=LONG_MS) as ended:
        dialog.button_pay.click()
    assert (ended.args[0].errors, ended.args[0].completed) == (0, 24)


def test_in_the_line_it_waits_with_the_terms_of_the_rest(
    window: ArenaWindow, failed: RunInfo, qtbot: QtBot, find: Callable[..., QWidget]
) -> None:
    runs = window.context.runs
    runs._turns.checking = 99  # something is being looked at: what is ordered now waits
    with qtbot.waitSignal(runs.price_question, timeout=LONG_MS) as asked:
        retry(window.context, failed)
    order = asked.args[0]
    question(qtbot).button_pay.click()
    (entry,) = runs.waiting.entries
    assert entry.agreed == terms_of(order)
    assert entry.agreed.most == order.rest.expected.total.high
    whole = terms_of(replace(order, rest=None)).most
    assert whole is not None
    assert entry.agreed.most < whole
    assert find("label_waiting_1").text().startswith(f"Customer replies, the rest of run {failed.number}")  # type: ignore[attr-defined]
    runs._turns.checking = None
    with qtbot.waitSignal(runs.ended, timeout=LONG_MS):
        runs._turns.start_next()
    assert runs.progress.failed == 6
