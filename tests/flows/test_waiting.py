"""A second run while one goes on: it waits, starts by itself, can be taken back, nothing is lost unsaid."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.desks.run_orders import Wait
from arena_desktop.widgets.strip import Message
from engine.domain import RunInfo, RunStatus
from engine.storage.store import Store
from tests.flows.conftest import LONG_MS
from tests.flows.test_sample import child, top_level
from tests.views.run_world import CONFIG, made_tests, write_project

Find = Callable[..., QWidget]

SLOW = CONFIG.replace("params: {", "params: {sleep: true, ")
QUICK = CONFIG.replace("project: Customer replies", "project: Support triage")


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path]:
    """Customer replies, which takes a while, and Support triage, which does not."""
    return (
        write_project(tmp_path / "replies", SLOW, made_tests(60)),
        write_project(tmp_path / "triage", QUICK, made_tests(6)),
    )


def opened(window: ArenaWindow, qtbot: QtBot, folder: Path) -> None:
    with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    window.show_page("run")
    page = window.page("run")
    qtbot.waitUntil(lambda: page.ready.facts is not None, timeout=LONG_MS)  # type: ignore[attr-defined]


def going(window: ArenaWindow, qtbot: QtBot, folder: Path) -> None:
    """A run of the slow project, under way."""
    opened(window, qtbot, folder)
    window.page("run").ready.button_run.click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: window.context.runs.progress.done > 2, timeout=LONG_MS)


def ordered(window: ArenaWindow, qtbot: QtBot, folders: tuple[Path, Path]) -> None:
    """Customer replies runs, Support triage waits."""
    going(window, qtbot, folders[0])
    opened(window, qtbot, folders[1])
    window.page("run").ready.button_run.click()  # type: ignore[attr-defined]
    assert len(window.context.runs.waiting) == 1


def stored(window: ArenaWindow) -> list[RunInfo]:
    with Store.open(window.context.results.path) as store:
        return store.runs()


def write_prices(folder: Path, usd_per_mtok: int) -> None:
    card = f"{{input_usd_per_mtok: {usd_per_mtok}, output_usd_per_mtok: {usd_per_mtok}}}"
    (folder / "prices.yaml").write_text(f'"mock:flaky": {card}\n', encoding="utf-8")


def message(window: ArenaWindow, key: str) -> Message | None:
    return next((m for m in window.window_strips.messages() if m.key == key), None)


def test_a_run_of_another_project_waits_and_starts_by_itself(
    window: ArenaWindow, folders: tuple[Path, Path], find: Find, qtbot: QtBot
) -> None:
    runs, page = window.context.runs, None
    going(window, qtbot, folders[0])
    opened(window, qtbot, folders[1])
    page = window.page("run")
    assert page.header.title.text() == "Ready to run"
    assert find("label_other_run").text().startswith("Customer replies is running, ")  # type: ignore[attr-defined]
    assert find("button_run", QPushButton).text() == "Run in turn, free"  # type: ignore[attr-defined]
    assert (
        window.windowTitle().startswith("Support triage") or " % Customer replies - " in window.windowTitle()
    )

    qtbot.keyClick(find("button_run"), Qt.Key.Key_Space)
    (entry,) = runs.waiting.entries
    assert entry.order.name == "Support triage"
    assert page.header.title.text() == "Running"
    assert find("label_waiting_title").text() == "1 run waits its turn"  # type: ignore[attr-defined]
    said = find("label_waiting_1").text()  # type: ignore[attr-defined]
    assert said == "Support triage, 4 models, 6 tests: 24 questions, free"
    qtbot.waitUntil(lambda: "1 waits" in window.status.run.words.text(), timeout=LONG_MS)
    assert window.status.run.words.text().startswith("Customer replies: Running")

    # What is changed in the project now belongs to the next order, not to this one.
    write_project(folders[1], QUICK, made_tests(3))
    with qtbot.waitSignal(runs.began, timeout=LONG_MS) as began:
        runs.stop_now()
    assert began.args[0].project.config.project == "Support triage"
    assert len(began.args[0].plan.cases) == 6
    assert not runs.waiting.entries
    qtbot.waitUntil(lambda: not runs.busy, timeout=LONG_MS)
    triage, replies = stored(window)
    assert (triage.project, triage.status) == ("Support triage", RunStatus.COMPLETED)
    assert (replies.project, replies.status) == ("Customer replies", RunStatus.CANCELLED)
    # The person stayed on Run and is in that project: they see its result.
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)
    qtbot.waitUntil(lambda: window.context.results.result is not None, timeout=LONG_MS)
    assert window.context.results.result.run_id == triage.run_id


def test_removed_and_brought_back_by_keyboard(
    window: ArenaWindow, folders: tuple[Path, Path], find: Find, qtbot: QtBot
) -> None:
    ordered(window, qtbot, folders)
    remove = find("button_remove_waiting_1", QPushButton)
    assert remove.accessibleName() == "Remove Support triage from the waiting runs"
    qtbot.keyClick(remove, Qt.Key.Key_Space)
    waiting = window.context.runs.waiting
    assert not waiting.entries
    told = message(window, "runs_removed")
    assert told is not None
    assert told.first == "Support triage will not run."
    told.buttons[0].action()
    assert [entry.order.name for entry in waiting.entries] == ["Support triage"]
    waiting.remove_all()


@pytest.mark.parametrize("drops", [False, True])
def test_cancel_says_what_comes_next_and_can_drop_it(
    window: ArenaWindow, folders: tuple[Path, Path], find: Find, qtbot: QtBot, drops: bool
) -> None:
    ordered(window, qtbot, folders)
    runs = window.context.runs
    qtbot.mouseClick(find("button_cancel", QPushButton), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: child("button_stop_now") is not None, timeout=LONG_MS)
    dialog = child("button_stop_now").window()  # type: ignore[union-attr]
    assert "1 more run waits. Support triage starts next, by itself." in dialog.informativeText()  # type: ignore[attr-defined]
    box = dialog.findChild(QCheckBox, "check_drop_waiting")
    assert not box.isChecked()
    box.setChecked(drops)
    qtbot.mouseClick(child("button_stop_now"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not runs.busy, timeout=LONG_MS)
    assert len(stored(window)) == (1 if drops else 2)
    assert (message(window, "runs_removed") is not None) == drops


def test_closing_says_what_becomes_of_those_that_wait(
    window: ArenaWindow, folders: tuple[Path, Path], qtbot: QtBot
) -> None:
    ordered(window, qtbot, folders)
    window.close()
    qtbot.waitUntil(lambda: top_level("dialog_close_run") is not None, timeout=LONG_MS)
    dialog = top_level("dialog_close_run")
    told = "1 more run waits. It starts only if the program keeps running; closing drops it."
    assert told in dialog.informativeText()  # type: ignore[union-attr]
    qtbot.mouseClick(child("button_stop_and_close"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not window.isVisible(), timeout=LONG_MS)
    assert [run.project for run in stored(window)] == ["Customer replies"]


def test_what_got_dearer_waits_for_an_answer_and_lets_the_next_one_go(
    window: ArenaWindow, folders: tuple[Path, Path], tmp_path: Path, find: Find, qtbot: QtBot
) -> None:
    runs = window.context.runs
    dear = QUICK.replace("models:", "pricing: {path: prices.yaml}\nmodels:", 1)
    folder = write_project(tmp_path / "dear", dear.replace("Support triage", "Dear"), made_tests(6))
    write_prices(folder, 1)
    going(window, qtbot, folders[0])
    opened(window, qtbot, folder)
    window.page("run").ready.button_run.click()  # type: ignore[attr-defined]
    (entry,) = runs.waiting.entries
    agreed = entry.agreed.most
    assert agreed is not None
    assert 0 < agreed < 1
    opened(window, qtbot, folders[1])
    window.page("run").ready.button_run.click()  # type: ignore[attr-defined]
    write_prices(folder, 1_000)

    window.show_page("home")
    with qtbot.waitSignal(runs.waiting.held, timeout=LONG_MS):
        runs.stop_now()
    with qtbot.waitSignal(runs.began, timeout=LONG_MS) as began:
        pass
    assert began.args[0].project.config.project == "Support triage"
    qtbot.waitUntil(lambda: not runs.busy, timeout=LONG_MS)
    (entry,) = runs.waiting.entries
    assert entry.wait is Wait.ASKS
    told = message(window, f"held_{entry.number}")
    assert told is not None
    assert told.first == "Dear waits for your answer."
    assert "It was up to" in told.text
    # Closing now asks first: it would drop it.
    window.close()
    qtbot.waitUntil(lambda: child("button_keep_open") is not None, timeout=LONG_MS)
    qtbot.mouseClick(child("button_keep_open"), Qt.MouseButton.LeftButton)
    assert window.isVisible()

    told.buttons[0].action()
    qtbot.waitUntil(lambda: child("button_pay") is not None, timeout=LONG_MS)
    pay = child("button_pay")
    assert pay.text().startswith("Run for at most $")  # type: ignore[union-attr]
    with qtbot.waitSignal(runs.ended, timeout=LONG_MS):
        qtbot.mouseClick(pay, Qt.MouseButton.LeftButton)
    assert [run.project for run in stored(window)] == ["Dear", "Support triage", "Customer replies"]
    assert message(window, f"held_{entry.number}") is None


def test_an_answer_is_asked_again_without_leaving_the_page(
    window: ArenaWindow, folders: tuple[Path, Path], find: Find, qtbot: QtBot
) -> None:
    runs = window.context.runs
    opened(window, qtbot, folders[1])
    window.page("run").ready.button_run.click()  # type: ignore[attr-defined]
    qtbot.waitUntil(lambda: window.current_page() == "results", timeout=LONG_MS)
    window.show_page("answers")
    qtbot.waitUntil(lambda: child("button_ask_again_1") is not None, timeout=LONG_MS)
    with qtbot.waitSignal(runs.ended, timeout=LONG_MS):
        qtbot.keyClick(child("button_ask_again_1"), Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: child("combo_versions_1") is not None, timeout=LONG_MS)
    told = message(window, "asked_again")
    assert told is not None
    assert told.first == "1 question was asked again."
    assert told.text.startswith("An answer that was there goes on counting")
    assert window.current_page() == "answers"
    (run,) = stored(window)
    assert run.status is RunStatus.COMPLETED


def test_the_result_pages_show_no_other_projects_run(
    window: ArenaWindow, folders: tuple[Path, Path], qtbot: QtBot
) -> None:
    """Support triage is open and was run before; Customer replies goes on."""
    context = window.context
    opened(window, qtbot, folders[1])
    with qtbot.waitSignal(context.runs.ended, timeout=LONG_MS):
        context.runs.start()
    (before,) = stored(window)
    going(window, qtbot, folders[0])
    with qtbot.waitSignal(context.projects.examined, timeout=LONG_MS):
        window.open_project(folders[1])
    with qtbot.waitSignal(context.results.shown, timeout=LONG_MS):
        window.show_page("results")
    qtbot.waitUntil(lambda: context.results.result is not None, timeout=LONG_MS)
    assert context.results.result.run_id == before.run_id
    page = window.page("results")
    page.live.work_out()  # type: ignore[attr-defined] - as its clock does
    qtbot.waitUntil(lambda: context.background.busy == 0, timeout=LONG_MS)
    assert context.results.result.run_id == before.run_id
    assert page.button_run.isEnabled()  # type: ignore[attr-defined]
