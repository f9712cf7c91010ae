"""Marking a saved run again from the window, and what new releases changed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.rescore_desk import RescoreDesk
from arena_desktop.theme.switch import Theme
from arena_desktop.views.releases import ReleasesCard, RunsWanted
from arena_desktop.widgets.buttons import Button
from tests.views.run_world import close_context, make_context, run_now, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

CONFIG = """\
project: Replies
models:
  - {key: aster, model: "mock:fixed", label: Aster, params: {text: It is refund}}
  - {key: birch, model: "mock:oracle", label: Birch}
statistics: {resamples: 100}
tests: {paths: [tests.yaml]}
"""
TESTS = "tests:\n" + "".join(f"  - {{id: c{n}, input: Question {n}, reference: refund}}\n" for n in range(8))


@pytest.fixture
def context(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    made = make_context(tmp_path / "home")
    yield made
    close_context(made)


def desk_of(context: AppContext) -> RescoreDesk:
    return context.rescoring


def open_project(context: AppContext, folder: Path, qtbot: QtBot) -> None:
    with qtbot.waitSignal(context.projects.opened):
        context.projects.open(folder)


def test_the_open_project_marks_a_saved_run_again(context: AppContext, tmp_path: Path, qtbot: QtBot) -> None:
    folder = write_project(tmp_path / "project", CONFIG, TESTS)
    run_id = run_now(folder, context.results.path)
    write_project(folder, CONFIG + "scorers: {default: contains}\n", TESTS)
    open_project(context, folder, qtbot)
    desk = desk_of(context)
    told: list[tuple[int, int]] = []
    desk.progressed.connect(lambda done, total: told.append((done, total)))
    with qtbot.waitSignal(desk.done) as caught:
        desk.start(run_id)
        assert desk.running
        desk.start(run_id)
    assert not desk.running
    assert caught.args[0].changed == 8
    assert told == [(16, 16)]


def test_without_a_project_it_says_so(context: AppContext, qtbot: QtBot) -> None:
    desk = desk_of(context)
    with qtbot.waitSignal(desk.failed) as caught:
        desk.start("run_1")
    assert caught.args[0].code == "no_project"
    assert not desk.running


def test_a_run_that_is_not_there_is_told(context: AppContext, tmp_path: Path, qtbot: QtBot) -> None:
    open_project(context, write_project(tmp_path / "project", CONFIG, TESTS), qtbot)
    desk = desk_of(context)
    with qtbot.waitSignal(desk.failed) as caught:
        desk.start("run_x")
    assert caught.args[0].code == "run_not_found"


def test_a_stop_leaves_the_run_as_it_was(context: AppContext, tmp_path: Path, qtbot: QtBot) -> None:
    folder = write_project(tmp_path / "project", CONFIG, TESTS)
    run_id = run_now(folder, context.results.path)
    write_project(folder, CONFIG + "scorers: {default: contains}\n", TESTS)
    open_project(context, folder, qtbot)
    before = context.results.store().run(run_id)
    desk = desk_of(context)
    desk.start(run_id)
    desk.stop()
    assert not desk.running
    qtbot.waitUntil(lambda: context.background.busy == 0)
    assert context.results.store().run(run_id).config == before.config


@pytest.fixture
def card(context: AppContext, qtbot: QtBot) -> ReleasesCard:
    made = ReleasesCard(context)
    qtbot.addWidget(made)
    return made


def test_a_new_release_that_got_worse_is_told(
    context: AppContext, card: ReleasesCard, tmp_path: Path, qtbot: QtBot
) -> None:
    folder = write_project(tmp_path / "project", CONFIG, TESTS)
    first = run_now(folder, context.results.path)
    write_project(folder, CONFIG.replace("mock:oracle", "mock:fixed"), TESTS)
    second = run_now(folder, context.results.path)
    card.show_project("Replies")
    qtbot.waitUntil(card.isVisible)
    assert card.titles() == ["Birch stood for mock:oracle and now stands for mock:fixed."]
    assert "One new release got worse." in texts(card)
    assert "It got worse. 0 of 8 tests got better, 8 got worse. Run 1 against run 2." in texts(card)
    assert nameless(card) == []
    assert forbidden(texts(card)) == []
    button = card.findChild(Button, "button_releases_0")
    assert button is not None
    with qtbot.waitSignal(card.answers_wanted) as caught:
        button.click()
    assert caught.args == [RunsWanted(first, second, "birch", tuple(f"c{n}" for n in range(8)))]
    card.show_project(None)
    assert not card.isVisible()


def test_without_a_second_release_the_card_stays_away(
    context: AppContext, card: ReleasesCard, tmp_path: Path, qtbot: QtBot
) -> None:
    run_now(write_project(tmp_path / "project", CONFIG, TESTS), context.results.path)
    card.show_project("Replies")
    qtbot.waitUntil(lambda: context.background.busy == 0)
    assert card.changes == ()
    assert not card.isVisible()
