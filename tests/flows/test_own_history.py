"""A project that keeps its runs itself: all pages read them, and the user's own history stays as it was."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from arena_desktop.arena_window import ArenaWindow
from arena_desktop.desks.duel_desk import DuelDesk
from arena_desktop.desks.mark_desk import MarkDesk
from arena_desktop.desks.result_desk import Result
from arena_desktop.views.home_facts import read_facts
from engine.domain import Cell, RunInfo, RunStatus
from engine.storage.known_stores import known_stores
from engine.storage.store import Store
from tests.flows.conftest import LONG_MS
from tests.views.run_world import CONFIG, made_tests, run_now, write_project

OWN = CONFIG + "output: {db: runs/own.sqlite}\n"


def settle(window: ArenaWindow, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: window.context.background.busy == 0, timeout=LONG_MS)


def opened(window: ArenaWindow, qtbot: QtBot, folder: Path) -> None:
    with qtbot.waitSignal(window.context.projects.examined, timeout=LONG_MS):
        window.open_project(folder)
    settle(window, qtbot)


def ran(window: ArenaWindow, qtbot: QtBot) -> str:
    """A run of the open project, from the button to its end."""
    runs = window.context.runs
    window.show_page("run")
    page = window.page("run")
    qtbot.waitUntil(lambda: page.ready.facts is not None, timeout=LONG_MS)  # type: ignore[attr-defined]
    with qtbot.waitSignal(runs.ended, timeout=LONG_MS) as caught:
        page.ready.button_run.click()  # type: ignore[attr-defined]
    settle(window, qtbot)
    return str(caught.args[0].run_id)


def kept(path: Path) -> list[RunInfo]:
    with Store.open(path, read_only=True) as store:
        return store.runs()


@pytest.fixture
def world(window: ArenaWindow, tmp_path: Path, qtbot: QtBot) -> tuple[Path, str, str]:
    """The project's history, a run in the user's history from before, and one that the project keeps."""
    folder = write_project(tmp_path / "replies", CONFIG, made_tests(6))
    earlier = run_now(folder, window.context.results.path)
    write_project(folder, OWN, made_tests(6))
    opened(window, qtbot, folder)
    return folder / "runs" / "own.sqlite", earlier, ran(window, qtbot)


def test_a_run_is_kept_in_the_project_and_all_pages_read_it(
    window: ArenaWindow, world: tuple[Path, str, str], qtbot: QtBot
) -> None:
    own, earlier, run_id = world
    context = window.context
    assert [(run.run_id, run.number) for run in kept(own)] == [(run_id, 2)]
    assert [run.run_id for run in kept(context.results.path)] == [earlier]
    assert [run.run_id for run in context.results.runs] == [run_id, earlier]
    assert context.results.result is not None
    assert context.results.result.run_id == run_id
    for page in ("results", "answers", "history", "compare"):
        window.show_page(page)
        settle(window, qtbot)
    history = window.page("history")
    assert history.table.model().rowCount() == 2  # type: ignore[attr-defined]
    compared = window.page("compare")._compared  # type: ignore[attr-defined]
    assert {compared.before.run_id, compared.after.run_id} == {earlier, run_id}
    assert len(compared.found.shared) == 6


def test_marks_votes_and_marking_again_go_to_its_file(
    window: ArenaWindow, world: tuple[Path, str, str], qtbot: QtBot
) -> None:
    own, _earlier, run_id = world
    context = window.context
    before = context.results.path.read_bytes()
    marks = MarkDesk(context.background, context.results)
    with qtbot.waitSignal(marks.changed):
        marks.load(run_id)
    marks.give(Cell("aster", "case-00", 1), "bad")
    qtbot.waitUntil(lambda: not marks.busy)
    duel = DuelDesk(context.background, context.results)
    with qtbot.waitSignal(duel.shown):
        duel.open(run_id)
    with qtbot.waitSignal(duel.shown):
        duel.choose("tie")
    write_project(own.parent.parent, OWN.replace("0.3}", "0.9}"), made_tests(6))
    opened(window, qtbot, own.parent.parent)
    with qtbot.waitSignal(context.rescoring.done, timeout=LONG_MS):
        context.rescoring.start(run_id)
    settle(window, qtbot)
    with Store.open(own, read_only=True) as store:
        assert [(m.cell.model_key, m.mark) for m in store.own_marks(run_id)] == [("aster", "bad")]
        assert len(store.votes(run_id)) == 1
        assert store.run(run_id).config["constraints"]["min_accuracy"] == 0.9
    assert context.results.path.read_bytes() == before


def test_it_is_removed_restored_and_found_again_without_its_project(
    window: ArenaWindow, world: tuple[Path, str, str], qtbot: QtBot
) -> None:
    own, earlier, run_id = world
    results = window.context.results
    results.shelf().delete([run_id])
    with qtbot.waitSignal(results.listed):
        results.list_runs("Customer replies")
    assert [run.run_id for run in results.runs] == [earlier]
    results.shelf().restore([run_id])
    assert known_stores() == [own]
    other = write_project(own.parent.parent.parent / "other", CONFIG.replace("Customer replies", "Other"))
    opened(window, qtbot, other)
    with qtbot.waitSignal(results.listed):
        results.list_runs("Customer replies")
    assert [run.run_id for run in results.runs] == [earlier]
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(run_id)
    assert isinstance(results.result, Result)
    assert results.result.stored.info.store == own
    with qtbot.waitSignal(results.listed):
        results.list_runs("Customer replies")
    assert [run.run_id for run in results.runs] == [earlier]


def test_what_was_cut_off_is_carried_on_in_its_file(
    window: ArenaWindow, world: tuple[Path, str, str], qtbot: QtBot
) -> None:
    own, _earlier, run_id = world
    context = window.context
    with Store.open(own) as store, store.database.transaction() as connection:
        connection.execute("UPDATE runs SET status = 'running', owner_pid = -1, finished_at = NULL")
        connection.execute(
            "UPDATE cells SET state = 'planned', status = NULL, answer = NULL, current_score = NULL"
            " WHERE trial = 1 AND id % 3 = 0"
        )
        connection.execute("UPDATE runs SET completed = completed - 6")
    with qtbot.waitSignal(context.results.listed):
        context.results.list_runs("Customer replies")
    assert context.results.runs[0].status is RunStatus.INTERRUPTED
    folder = str(own.parent.parent)
    facts = read_facts([folder], context.results.store)
    assert [run.run_id for run in facts.unfinished] == [run_id]
    assert facts.best[folder]
    with qtbot.waitSignal(context.runs.ended, timeout=LONG_MS) as caught:
        context.runs.carry_on(run_id)
    settle(window, qtbot)
    assert (caught.args[0].run_id, caught.args[0].status) == (run_id, RunStatus.COMPLETED)
    assert [(run.run_id, run.status) for run in kept(own)] == [(run_id, RunStatus.COMPLETED)]


def test_a_file_that_speaks_of_another_project_is_not_believed(
    window: ArenaWindow, world: tuple[Path, str, str], tmp_path: Path
) -> None:
    own, _earlier, run_id = world
    mine = write_project(tmp_path / "mine", CONFIG)
    with Store.open(own) as store, store.database.transaction() as connection:
        connection.execute(
            "UPDATE runs SET project_root = ?, status = 'interrupted', completed = 0 WHERE run_id = ?",
            (str(mine), run_id),
        )
    facts = read_facts([str(mine)], window.context.results.store)
    assert facts.best == {}
    assert facts.unfinished == ()


def test_a_damaged_file_is_told_and_hides_nothing(
    window: ArenaWindow, world: tuple[Path, str, str], qtbot: QtBot
) -> None:
    own, earlier, _run_id = world
    context = window.context
    context.results.close()
    whole = own.read_bytes()
    own.write_bytes(whole[:100] + b"\xff" * 8000)
    with qtbot.waitSignals([context.results.failed, context.results.listed]):
        context.results.list_runs("Customer replies")
    assert [run.run_id for run in context.results.runs] == [earlier]
    (told,) = [m for m in window.window_strips.messages() if m.key == "results"]
    assert str(own) in told.first
    begin = told.buttons[0]
    before = context.results.path.read_bytes()
    assert window._repair is not None
    with qtbot.waitSignal(window._repair.renewed, timeout=LONG_MS):
        begin.action()
    settle(window, qtbot)
    assert context.results.path.read_bytes() == before
    assert [path.name for path in own.parent.glob("own.damaged-*")]


def test_a_run_that_waited_is_found_though_its_project_is_closed(
    window: ArenaWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    context = window.context
    slow = CONFIG.replace("params: {", "params: {sleep: true, ")
    opened(window, qtbot, write_project(tmp_path / "slow", slow, made_tests(40)))
    context.runs.start()
    qtbot.waitUntil(lambda: context.runs.progress.done > 0, timeout=LONG_MS)
    own = OWN.replace("Customer replies", "Own")
    opened(window, qtbot, write_project(tmp_path / "own", own, made_tests(4)))
    context.runs.start()
    assert len(context.runs.waiting) == 1
    opened(window, qtbot, tmp_path / "slow")
    with qtbot.waitSignal(context.runs.began, timeout=LONG_MS):
        context.runs.stop_now()
    with qtbot.waitSignal(context.runs.ended, timeout=LONG_MS) as caught:
        pass
    run_id = caught.args[0].run_id
    assert [run.run_id for run in kept(tmp_path / "own" / "runs" / "own.sqlite")] == [run_id]
    with qtbot.waitSignal(window.run_opened, timeout=LONG_MS):
        window.open_run(run_id)
    settle(window, qtbot)


def test_a_project_behind_a_link_is_still_the_one_its_runs_speak_of(
    window: ArenaWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    real = write_project(tmp_path / "real", OWN, made_tests(4))
    link = tmp_path / "link"
    link.symlink_to(real)
    opened(window, qtbot, link)
    ran(window, qtbot)
    assert read_facts([str(link)], window.context.results.store).best[str(link)]


def test_reports_are_written_into_the_project_and_said(
    window: ArenaWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    config = CONFIG + "output: {dir: reports, formats: [json, html]}\n"
    folder = write_project(tmp_path / "replies", config, made_tests(4))
    opened(window, qtbot, folder)
    with qtbot.waitSignal(window._reports.written, timeout=LONG_MS) as caught:
        run_id = ran(window, qtbot)
    files = caught.args[0]
    assert sorted(path.name for path in (folder / "reports").iterdir()) == sorted(p.name for p in files)
    assert run_id in next(p for p in files if p.suffix == ".json").read_text(encoding="utf-8")
    (told,) = [m for m in window.window_strips.messages() if m.key == "project_reports"]
    assert told.first == "2 reports are in the project."
    assert str(files[0]) in told.text


def test_a_report_that_cannot_be_written_is_said(window: ArenaWindow, tmp_path: Path, qtbot: QtBot) -> None:
    config = CONFIG + "output: {dir: taken/reports}\n"
    folder = write_project(tmp_path / "replies", config, made_tests(4))
    (folder / "taken").write_text("", encoding="utf-8")
    opened(window, qtbot, folder)
    ran(window, qtbot)
    (told,) = [m for m in window.window_strips.messages() if m.key == "project_reports"]
    assert "could not be written" in told.first
    assert "The run itself is saved." in told.text
