"""Marking a saved run again by a judge, from the window: price, progress, a stop, how it ended."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.rescore_desk import RescoreDesk
from arena_desktop.theme.switch import Theme
from arena_desktop.wording import mark_again as words
from engine.domain import RunStatus
from engine.storage.store import Store
from tests.views.run_world import close_context, make_context, run_now, write_project

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

CONFIG = """\
project: Replies
models:
  - {{key: birch, model: "mock:oracle", label: Birch}}
judge: {{model: "mock:judge", provider: mock, rubric: {rubric}, params: {{{params}}}}}
statistics: {{resamples: 100}}
tests: {{paths: [tests.yaml]}}
{more}
"""
PRICED = 'pricing: {models: {"mock:judge": {input_usd_per_mtok: 1000, output_usd_per_mtok: 1000}}}'
TESTS = "tests:\n" + "".join(
    f"  - {{id: c{n}, input: Question {n}, reference: refund, eval_type: llm_judge}}\n" for n in range(4)
)


def config(rubric: str, more: str = "", params: str = "") -> str:
    return CONFIG.format(rubric=rubric, more=more, params=params)


@pytest.fixture
def context(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    made = make_context(tmp_path / "home")
    yield made
    close_context(made)


@pytest.fixture
def desk(context: AppContext) -> RescoreDesk:
    return context.rescoring


def prepared(context: AppContext, folder: Path, qtbot: QtBot, now: str) -> str:
    """A run by the rubric "Old", and the project with other settings open."""
    run_id = run_now(write_project(folder, config("Old"), TESTS), context.results.path)
    write_project(folder, now, TESTS)
    with qtbot.waitSignal(context.projects.opened):
        context.projects.open(folder)
    return run_id


def test_a_free_judge_is_asked_at_once(
    context: AppContext, desk: RescoreDesk, tmp_path: Path, qtbot: QtBot
) -> None:
    run_id = prepared(context, tmp_path / "project", qtbot, config("New"))
    told: list[tuple[int, int]] = []
    desk.progressed.connect(lambda done, total: told.append((done, total)))
    with qtbot.waitSignal(desk.done) as caught:
        desk.start(run_id)
    assert not desk.running
    assert caught.args[0].unmarked == 0
    assert desk.ended_as is RunStatus.COMPLETED
    assert told[0] == (0, 4)
    assert told[-1] == (4, 4)
    assert words.ended_sentence(desk.ended_as) == ""
    with Store.open(context.results.path, read_only=True) as store:
        assert store.run(run_id).config["judge"]["rubric"] == "New"


def test_a_price_is_told_first_and_a_no_changes_nothing(
    context: AppContext, desk: RescoreDesk, tmp_path: Path, qtbot: QtBot
) -> None:
    run_id = prepared(context, tmp_path / "project", qtbot, config("New", PRICED))
    with qtbot.waitSignal(desk.priced) as caught:
        desk.start(run_id)
    found = caught.args[0]
    assert desk.running
    assert not desk.asking
    assert words.price_sentence(found).startswith("About $")
    assert "never more than $" in words.price_sentence(found)
    assert words.counts_sentence(found) == (
        "4 questions to the second AI about 4 answers that are saved. No model is asked again."
    )
    assert words.reasons(found)[0].startswith("At least $")
    assert words.pay_button(found).startswith("Mark for about $")
    assert words.before_sentence(found).startswith("The second AI has to be asked about 4 answers. About $")
    assert desk.decline() == run_id
    assert not desk.running
    with Store.open(context.results.path, read_only=True) as store:
        assert store.run(run_id).config["judge"]["rubric"] == "Old"
    with qtbot.waitSignal(desk.done) as caught:
        desk.start_free(run_id)
    assert caught.args[0].kept == {"judge": 4}


def test_a_yes_asks_and_tells_what_it_spends(
    context: AppContext, desk: RescoreDesk, tmp_path: Path, qtbot: QtBot
) -> None:
    run_id = prepared(context, tmp_path / "project", qtbot, config("New", PRICED))
    with qtbot.waitSignal(desk.priced):
        desk.start(run_id)
    with qtbot.waitSignal(desk.done):
        desk.go_on()
    assert desk.progress is not None
    assert desk.progress.marked == 4
    assert desk.progress.spent_usd is not None
    assert desk.progress.spent_usd > 0
    with Store.open(context.results.path, read_only=True) as store:
        assert store.run(run_id).info.cost_usd == desk.progress.spent_usd


def test_a_stop_keeps_what_is_marked(
    context: AppContext, desk: RescoreDesk, tmp_path: Path, qtbot: QtBot
) -> None:
    slow = config("New", "run: {provider_concurrency: {mock: 1}}", "latency_ms: 120, sleep: true")
    run_id = prepared(context, tmp_path / "project", qtbot, slow)

    def stop_once(done: int, _total: int) -> None:
        if done and desk.progress is not None and not desk.progress.stopping:
            desk.stop()

    desk.progressed.connect(stop_once)
    with qtbot.waitSignal(desk.done, timeout=20_000) as caught:
        desk.start(run_id)
    kept = caught.args[0].kept.get("judge", 0)
    assert 0 < kept < 4
    assert desk.ended_as is RunStatus.CANCELLED
    assert words.ended_sentence(desk.ended_as) == "You stopped it. Mark again to make the rest."


def test_the_price_can_be_had_without_starting(
    context: AppContext, desk: RescoreDesk, tmp_path: Path, qtbot: QtBot
) -> None:
    run_id = prepared(context, tmp_path / "project", qtbot, config("New", PRICED))
    with qtbot.waitSignal(desk.looked) as caught:
        desk.look(run_id)
    assert caught.args[0].answers == 4
    assert not desk.running


def test_how_far_it_is_in_words() -> None:
    from decimal import Decimal

    assert words.going_sentence(3, 9, None, slowed=False) == "3 of 9 answers."
    assert words.going_sentence(3, 9, Decimal("1.5"), slowed=True) == (
        "3 of 9 answers. Spent $1.50 so far. Its service asks us to slow down."
    )
    assert "limit" in words.ended_sentence(RunStatus.STOPPED_BUDGET)
