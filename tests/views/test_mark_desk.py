"""The desk of own marks: kept in order, undone, told, and the board that follows marks made by hand."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.mark_desk import MarkDesk
from arena_desktop.theme.switch import Theme
from engine.domain import Cell
from engine.errors import WorldError
from engine.stats.own_marks import OwnView
from engine.storage.store import Store
from tests.views import duel_world
from tests.views.run_world import close_context, make_context, run_now, write_project

A, B = Cell("aster", "mail-00", 1), Cell("birch", "mail-00", 1)


@pytest.fixture
def context(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    made = make_context(tmp_path / "home")
    yield made
    close_context(made)


def opened(context: AppContext, qtbot: QtBot, run_id: str) -> MarkDesk:
    desk = MarkDesk(context.background, context.results)
    with qtbot.waitSignal(desk.changed):
        desk.load(run_id)
    return desk


@pytest.fixture
def desk(context: AppContext, qtbot: QtBot) -> MarkDesk:
    return opened(context, qtbot, duel_world.write_run(context.results.path))


def settle(desk: MarkDesk, qtbot: QtBot) -> dict[Cell, OwnView]:
    qtbot.waitUntil(lambda: not desk.busy)
    assert desk.book is not None
    return dict(desk.book.own)


def test_marks_are_kept_in_the_order_given(desk: MarkDesk, context: AppContext, qtbot: QtBot) -> None:
    for mark in ("good", "bad", None, "good"):
        desk.give(A, mark)
    desk.give(B, "bad", 0.3)
    assert settle(desk, qtbot) == {A: OwnView(True), B: OwnView(False, 0.3)}
    kept = {mark.cell: (mark.mark, mark.score) for mark in context.results.store().own_marks("run_1")}
    assert kept == {A: ("good", None), B: ("bad", 0.3)}


def test_undo_goes_back_step_by_step(desk: MarkDesk, qtbot: QtBot) -> None:
    assert not desk.can_undo
    desk.give(A, "good", 0.9)
    desk.give(A, "bad")
    desk.give(B, "good")
    settle(desk, qtbot)
    seen = []
    while desk.can_undo:
        desk.undo()
        seen.append(settle(desk, qtbot))
    assert seen == [{A: OwnView(False)}, {A: OwnView(True, 0.9)}, {}]
    desk.undo()
    assert settle(desk, qtbot) == {}


def test_another_run_has_marks_of_its_own(desk: MarkDesk, context: AppContext, qtbot: QtBot) -> None:
    desk.give(A, "good")
    settle(desk, qtbot)
    duel_world.write_run(context.results.path, run_id="run_2")
    with qtbot.waitSignal(desk.changed) as caught:
        desk.load("run_2")
    assert caught.args[0].own == {}
    assert not desk.can_undo


def test_a_mark_that_cannot_be_kept_is_told_and_not_remembered(
    desk: MarkDesk, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_args: object) -> None:
        raise WorldError("store_locked", "The history is in use.")

    desk.give(A, "good")
    settle(desk, qtbot)
    with monkeypatch.context() as broken:
        broken.setattr(Store, "set_mark", locked)
        with qtbot.waitSignal(desk.failed):
            desk.give(B, "good")
        with qtbot.waitSignal(desk.failed):
            desk.undo()
    assert settle(desk, qtbot) == {A: OwnView(True)}
    desk.undo()
    assert settle(desk, qtbot) == {}


def test_the_board_follows_a_mark_made_by_hand(context: AppContext, tmp_path: Path, qtbot: QtBot) -> None:
    tests = "tests:\n" + "".join(
        f"  - {{id: c{n}, input: Question {n}, reference: refund, checks: [{{type: manual}}]}}\n"
        for n in range(3)
    )
    config = (
        "project: By hand\nmodels: [{key: aster, model: 'mock:oracle'}, {key: birch, model: 'mock:oracle'}]\n"
        "tests: {paths: [tests.yaml]}\nstatistics: {resamples: 100}\n"
    )
    run_id = run_now(write_project(tmp_path / "project", config, tests), context.results.path)
    desk = opened(context, qtbot, run_id)
    with qtbot.waitSignal(desk.board_changed) as caught:
        for n in range(3):
            desk.give(Cell("aster", f"c{n}", 1), "bad")
            desk.give(Cell("birch", f"c{n}", 1), "good")
    assert caught.args == [run_id]
    assert context.results.store().runs()[0].winner == "birch"
