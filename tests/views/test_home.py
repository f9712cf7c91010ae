"""Home: beginning, carrying on, and the list of recent projects, by keyboard too."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.dialogs.new_project import NewProjectDialog, folder_name, free_folder
from arena_desktop.itemmodels.recent import Best
from arena_desktop.settings import RecentProject
from arena_desktop.views.home import HomeView
from arena_desktop.views.home_facts import HomeFacts, missing_calls, read_facts, rest_cost, unfinished_runs
from arena_desktop.widgets.strip import MessageStrip
from engine.domain import RunStatus
from engine.new_project import job_types
from engine.stats.board import Entry, EntryStatus, Leaderboard, Verdict
from engine.stats.board_json import board_to_json
from engine.storage.store import Store
from tests.storage import samples
from tests.views.setup_world import World, forbidden, nameless, shown, stopped_run, texts

# The offscreen platform says this of every window with a layout.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


@pytest.fixture
def home(world: World, qtbot: QtBot) -> HomeView:
    """The page as a window of its own."""
    view = HomeView(world)
    qtbot.addWidget(view)
    view.resize(1040, 740)
    with qtbot.waitExposed(view):
        view.show()
    qtbot.waitUntil(lambda: world.background.busy == 0)
    return view


def remember(world: World, *names: str, there: bool = True) -> list[Path]:
    """Puts projects on the list, the last one first."""
    folders = []
    for name in names:
        folder = world.project(name=name) if there else world.folder / name
        used = datetime(2026, 11, 3, 14, 5, tzinfo=UTC).isoformat()
        world.settings.remember_project(RecentProject(str(folder), name.title(), "", used))
        folders.append(folder)
    return folders


def refreshed(home: HomeView, world: World, qtbot: QtBot) -> None:
    home.refresh()
    qtbot.waitUntil(lambda: world.background.busy == 0)


def test_first_start_shows_three_buttons_and_says_what_the_sample_gives(home: HomeView) -> None:
    cards = [home.card_sample, home.card_new, home.card_open]
    assert all(isinstance(card, QPushButton) and card.isVisible() for card in cards)
    assert "No projects yet. The sample shows what you get in 15 seconds." in texts(home)
    assert not home.table.isVisible()
    assert not home.filter.isVisible()
    assert home.focusWidget() is home.card_sample


def test_enter_on_the_first_card_opens_the_sample(home: HomeView, world: World, qtbot: QtBot) -> None:
    qtbot.keyClick(home.card_sample, Qt.Key.Key_Return)
    assert world.samples_opened == ["support-triage"]


def test_the_second_sample_is_offered_where_it_is_there(home: HomeView, world: World, qtbot: QtBot) -> None:
    assert home.button_local.isVisible()
    qtbot.mouseClick(home.button_local, Qt.MouseButton.LeftButton)
    assert world.samples_opened == ["local-models"]
    del world.samples["local-models"]
    refreshed(home, world, qtbot)
    assert not home.button_local.isVisible()


def test_the_sample_with_a_second_ai_stands_beside_it(home: HomeView, world: World, qtbot: QtBot) -> None:
    assert home.button_judge.isVisible()
    assert home.button_judge.accessibleDescription().startswith("For answers in free words")
    qtbot.mouseClick(home.button_judge, Qt.MouseButton.LeftButton)
    assert world.samples_opened == ["judge-demo"]
    del world.samples["judge-demo"]
    refreshed(home, world, qtbot)
    assert not home.button_judge.isVisible()
    assert home.button_local.isVisible()


def test_a_chosen_folder_is_opened_and_its_place_kept(home: HomeView, world: World, qtbot: QtBot) -> None:
    folder = world.project()
    home.choose_folder = lambda _title: str(folder)
    with qtbot.waitSignal(world.projects.opened):
        qtbot.mouseClick(home.card_open, Qt.MouseButton.LeftButton)
    assert world.projects.project.root == folder
    assert world.settings.last_folder == str(folder.parent)
    assert [row.name for row in home.rows.rows()] == ["Customer replies"]


def test_giving_up_the_choice_opens_nothing(home: HomeView, world: World, qtbot: QtBot) -> None:
    home.choose_folder = lambda _title: ""
    qtbot.mouseClick(home.card_open, Qt.MouseButton.LeftButton)
    assert world.background.busy == 0
    assert world.projects.project is None


def drop(view: HomeView, *paths: Path) -> None:
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    event = QDropEvent(
        QPointF(10, 10),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    view.dropEvent(event)


def test_a_dropped_folder_opens_and_anything_else_is_explained(
    home: HomeView, world: World, qtbot: QtBot
) -> None:
    drop(home, world.folder / "picture.png")
    assert home.strips.messages()[0].first == "Only a project folder can be opened here."
    with qtbot.waitSignal(world.projects.opened):
        drop(home, world.project())
    assert home.strips.messages() == []


def test_recents_show_folder_result_and_day(home: HomeView, world: World, qtbot: QtBot) -> None:
    folders = remember(world, "alpha", "beta")
    best = {
        str(folders[0]): Best("Claude", 0, "45 of 50 tests"),
        str(folders[1]): Best(chip="Too close to call"),
    }
    refreshed(home, world, qtbot)
    home._on_read(HomeFacts({str(f): True for f in folders}, best))
    assert [row.name for row in home.rows.rows()] == ["Beta", "Alpha"]
    shown_texts = texts(home)
    assert "Claude 45 of 50 tests" in shown_texts
    assert "Too close to call" in shown_texts
    assert not home.empty.isVisible()


def test_the_filter_hides_rows_and_can_be_cleared(home: HomeView, world: World, qtbot: QtBot) -> None:
    remember(world, "alpha", "beta")
    refreshed(home, world, qtbot)
    qtbot.keyClicks(home.filter, "alp")
    assert home.rows.shown_count() == 1
    qtbot.keyClicks(home.filter, "zzz")
    assert home.rows.shown_count() == 0
    home.rows.set_filter("")
    assert home.filter.text() == ""
    assert home.rows.shown_count() == 2


def test_enter_in_the_list_opens_the_project(home: HomeView, world: World, qtbot: QtBot) -> None:
    (folder,) = remember(world, "alpha")
    refreshed(home, world, qtbot)
    home.table.select_key(str(folder))
    with qtbot.waitSignal(world.projects.opened):
        qtbot.keyClick(home.table, Qt.Key.Key_Return)
    assert world.projects.project.root == folder


def test_a_missing_project_is_grey_and_can_be_found_or_removed(
    home: HomeView, world: World, qtbot: QtBot
) -> None:
    (gone,) = remember(world, "gone", there=False)
    refreshed(home, world, qtbot)
    row = home.rows.record(0)
    assert not row.found
    assert "Find it…, Remove from list" in texts(home)
    home.choose_folder = lambda _title: str(world.folder)
    home._on_link(row, "find")
    assert home.strips.messages()[0].key == "find", "a folder without a config is explained"
    home.choose_folder = lambda _title: str(world.project(name="moved"))
    with qtbot.waitSignal(world.projects.opened):
        home._on_link(row, "find")
    assert str(gone) not in [item.path for item in world.settings.recent()]
    assert world.projects.project.root == world.folder / "moved"


def test_removing_can_be_undone_and_touches_no_folder(home: HomeView, world: World, qtbot: QtBot) -> None:
    (folder,) = remember(world, "alpha")
    refreshed(home, world, qtbot)
    home.table.select_key(str(folder))
    qtbot.keyClick(home.table, Qt.Key.Key_Delete)
    assert world.settings.recent() == []
    assert folder.is_dir()
    message = home.strips.messages()[0]
    message.buttons[0].action()
    assert [item.path for item in world.settings.recent()] == [str(folder)]


def test_a_stopped_run_is_offered_with_what_is_left(home: HomeView, world: World) -> None:
    folder = world.project()
    home._on_read(HomeFacts(unfinished=(stopped_run(folder),)))
    (strip,) = shown(home._unfinished, MessageStrip)
    assert strip.message.first.startswith("Customer replies stopped after 412 of 750 questions, today")
    assert strip.message.text == "The rest costs about $3.38."
    assert [button.text for button in strip.message.buttons] == ["See what is there", "Carry on"]


def test_carrying_on_opens_the_project_first_and_then_goes_on(
    home: HomeView, world: World, qtbot: QtBot
) -> None:
    folder = world.project()
    home._on_read(HomeFacts(unfinished=(stopped_run(folder),)))
    (strip,) = shown(home._unfinished, MessageStrip)
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        strip.message.buttons[1].action()
    assert world.runs.carried == ["run_1"]
    assert world.pages == ["run"]


def test_a_run_of_a_folder_that_is_gone_can_only_be_seen(home: HomeView, world: World) -> None:
    home._on_read(HomeFacts(unfinished=(stopped_run(world.folder / "gone"),)))
    (strip,) = shown(home._unfinished, MessageStrip)
    assert [button.text for button in strip.message.buttons] == ["See what is there"]
    assert strip.message.text == "Its folder is not where it was, so it cannot go on."


def test_what_goes_on_or_waits_already_is_not_offered_again(home: HomeView, world: World) -> None:
    facts = HomeFacts(unfinished=(stopped_run(world.project()),))
    world.runs.running = True
    home._on_read(facts)
    assert home._unfinished.isVisible()  # it would wait its turn
    world.runs.taken = {"run_1"}
    home._on_read(facts)
    assert not home._unfinished.isVisible()


def test_a_damaged_store_is_said_and_the_page_still_works(home: HomeView, world: World, qtbot: QtBot) -> None:
    remember(world, "alpha")
    world.results.path.write_bytes(b"this is no store" * 500)
    refreshed(home, world, qtbot)
    assert [message.key for message in home.strips.messages()] == ["store"]
    assert home.rows.total_count() == 1
    world.results.path.unlink()


@pytest.mark.parametrize(
    ("changes", "wanted"),
    [
        ({}, True),
        ({"status": RunStatus.CANCELLED}, True),
        ({"status": RunStatus.STOPPED_BUDGET}, True),
        ({"status": RunStatus.COMPLETED}, False),
        ({"status": RunStatus.RUNNING}, False),
        ({"completed": 738}, False),
    ],
)
def test_only_stopped_runs_with_questions_left_are_offered(changes: dict[str, object], wanted: bool) -> None:
    assert bool(unfinished_runs([stopped_run(Path("a"), **changes)])) is wanted


def test_a_newer_run_of_the_same_project_takes_the_place_of_a_stopped_one() -> None:
    newer = stopped_run(Path("a"), run_id="run_2", status=RunStatus.COMPLETED)
    older, other = stopped_run(Path("a")), stopped_run(Path("b"), run_id="run_3")
    assert [run.run_id for run in unfinished_runs([newer, older, other])] == ["run_3"]


def test_the_rest_costs_what_the_answers_before_cost_and_unknown_stays_unknown() -> None:
    run = stopped_run(None, planned=20, completed=9, errors=1, cost_usd=Decimal("1.50"))
    assert missing_calls(run) == 10
    assert rest_cost(run) == Decimal("1.50")
    assert rest_cost(stopped_run(None, cost_usd=None)) is None
    assert rest_cost(stopped_run(None, completed=0, errors=0)) is None


def test_nothing_is_made_by_looking(world: World) -> None:
    facts = read_facts([str(world.folder), str(world.folder / "gone")], None)
    assert facts.found == {str(world.folder): True, str(world.folder / "gone"): False}
    assert not world.results.path.exists()


def finished(
    store: Store, folder: Path, number: int, board: object, status: RunStatus = RunStatus.COMPLETED
) -> None:
    """Puts a finished run of a project into the store."""
    head = replace(samples.head(f"run_2026110{number}_140507_aaaaaa"), project_root=folder)
    store.create_run(head)
    store.finish_run(head.run_id, replace(samples.finish(alpha=0.9), board=board, status=status))


def board_of(row: int) -> dict[str, Any]:
    """A board on which beta, the second model of the project, comes first."""
    beta = Entry("beta", "Beta", EntryStatus.RANKED, rank=1, passed_cases=45, scored_cases=50)
    return board_to_json(Leaderboard((beta,), "beta", Verdict(row, "better", "beta", "beta", "alpha")))


@pytest.mark.parametrize(
    ("board", "words", "index"),
    [
        (board_of(4), "Beta 45 of 50 tests", 1),
        (board_of(7), "Too close to call", None),
        (board_of(1), "Not enough tests", None),
        (board_of(2), "Practically the same", None),
    ],
)
def test_the_newest_result_of_a_project_is_read_from_the_store(
    world: World, board: dict[str, Any], words: str, index: int | None
) -> None:
    folder = world.project()
    with Store.open(world.results.path) as store:
        finished(store, folder, 3, board)
        facts = read_facts([str(folder)], lambda: store)
    best = facts.best[str(folder)]
    assert (best.text, best.index) == (words, index)


def test_a_run_that_stopped_does_not_hide_the_result_before_it(world: World) -> None:
    folder = world.project()
    with Store.open(world.results.path) as store:
        finished(store, folder, 2, board_of(4))
        finished(store, folder, 3, board_of(1), RunStatus.CANCELLED)
        assert read_facts([str(folder)], lambda: store).best[str(folder)].name == "Beta"


def test_a_result_that_cannot_be_read_is_left_out(world: World) -> None:
    folder = world.project()
    with Store.open(world.results.path) as store:
        finished(store, folder, 2, {"format": 999})
        assert read_facts([str(folder)], lambda: store).best == {}
        finished(store, folder, 1, board_of(4))
        assert read_facts([str(folder)], lambda: store).best[str(folder)].name == "Beta"


def test_every_control_has_a_name_and_no_word_is_forbidden(
    home: HomeView, world: World, qtbot: QtBot
) -> None:
    remember(world, "alpha")
    refreshed(home, world, qtbot)
    home._on_read(HomeFacts(unfinished=(stopped_run(world.project()),)))
    assert nameless(home) == []
    assert forbidden(texts(home)) == []


# ---- the new-project dialog


@pytest.fixture
def dialog(world: World, qtbot: QtBot) -> NewProjectDialog:
    """The dialog, with the test's folder as the place."""
    world.settings.last_folder = str(world.folder)
    made = NewProjectDialog(world)
    qtbot.addWidget(made)
    with qtbot.waitExposed(made):
        made.show()
    return made


def test_every_step_has_a_preset_and_enter_makes_the_project(
    dialog: NewProjectDialog, world: World, qtbot: QtBot
) -> None:
    assert dialog.job.id == "sort"
    assert dialog.edit_name.text() == job_types()[0].title
    with qtbot.waitSignal(dialog.made, timeout=10_000) as made:
        qtbot.keyClick(dialog.edit_name, Qt.Key.Key_Return)
    folder = made.args[0]
    assert folder == world.folder / job_types()[0].title
    with qtbot.waitSignal(world.projects.opened):
        world.projects.open(folder)
    assert world.projects.project.ok
    # Its tests are examples, so they are what comes next; opening it again is no news.
    assert world.pages == ["cases"]
    with qtbot.waitSignal(world.projects.opened):
        world.projects.open(folder)
    assert world.pages == ["cases"]


def test_the_name_follows_the_job_until_one_is_typed(dialog: NewProjectDialog, qtbot: QtBot) -> None:
    dialog._group.button(3).click()
    assert dialog.edit_name.text() == "Calculate a number"
    dialog.edit_name.clear()
    qtbot.keyClicks(dialog.edit_name, "Bills")
    dialog._group.button(1).click()
    assert dialog.edit_name.text() == "Bills"


def test_a_name_that_is_none_is_said_beside_the_field(
    dialog: NewProjectDialog, world: World, qtbot: QtBot
) -> None:
    dialog.edit_name.setText(" /// ")
    assert "Give it a name with at least one letter or figure." in texts(dialog)
    dialog.create()
    assert world.background.busy == 0


def test_a_place_that_cannot_be_written_is_said_below_it(
    dialog: NewProjectDialog, world: World, qtbot: QtBot
) -> None:
    blocked = world.folder / "file"
    blocked.write_text("not a folder", encoding="utf-8")
    dialog.edit_folder.setText(str(blocked))
    dialog.create()
    qtbot.waitUntil(lambda: world.background.busy == 0)
    assert dialog.isVisible()
    assert any("cannot be written" in text for text in texts(dialog))
    assert dialog.button_create.isEnabled()


def test_the_dialog_names_its_controls_and_speaks_plainly(dialog: NewProjectDialog) -> None:
    assert nameless(dialog) == []
    assert forbidden(texts(dialog)) == []
    assert len(dialog._jobs) == 8


def test_names_become_folders_that_every_system_takes(tmp_path: Path) -> None:
    assert folder_name('a/b: "c"?') == "a b c"
    assert folder_name("con") == "con project"
    assert folder_name("..") == ""
    assert len(folder_name("x" * 300)) == 80
    (tmp_path / "Bills").mkdir()
    assert free_folder(tmp_path, "Bills") == tmp_path / "Bills", "an empty folder will do"
    (tmp_path / "Bills" / "a.txt").write_text("a", encoding="utf-8")
    assert free_folder(tmp_path, "Bills") == tmp_path / "Bills 2"


def test_cards_stand_below_each_other_where_their_titles_would_not_fit(home: HomeView) -> None:
    assert home.card_new.y() == home.card_sample.y()
    home.resize(520, 740)
    shown(home)
    assert home.card_new.y() > home.card_sample.y()
