"""Run: the price before, honest counts and states during, how it ended after."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from arena_desktop.cells import ProgressCell, Tone
from arena_desktop.context import AppContext
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.dialogs.confirm_cost import ConfirmCostDialog
from arena_desktop.dialogs.run_questions import RunQuestion
from arena_desktop.itemmodels.lanes import ModelHead, lane_columns, lane_rows
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.views.run import RunView
from arena_desktop.views.run_before import confirm_reasons
from arena_desktop.views.run_facts import RunChoice
from arena_desktop.views.run_going import RunGoing
from arena_desktop.views.run_strips import sandbox_message
from arena_desktop.widgets.strip import Message
from arena_desktop.wording.run_start import RunPrice, limit_sentence, price_sentence, run_button
from engine.domain import CallDone, CallError, CallStatus, Cell, Outcome, SkippedModel
from engine.execution.estimate import FREE, CostRange
from engine.execution.events import (
    CallFinished,
    Earlier,
    Event,
    LaneState,
    ModelSetAside,
    Planned,
    Preparing,
    Retrying,
    RunPaused,
    Started,
)
from tests.views.run_world import CONFIG, made_tests, progress_of, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

SLOW = CONFIG.replace("params: {", "params: {sleep: true, ").replace("latency_ms: 210", "latency_ms: 30")
PRICED = CONFIG.replace(
    "models:", "pricing: {models: {mock: {input_usd_per_mtok: 900, output_usd_per_mtok: 900}}}\nmodels:"
)


def priced(likely: str | None, high: str | None, ceiling: str | None = None, **more: object) -> RunPrice:
    low = None if likely is None else Decimal(0)
    total = CostRange(low, likely and Decimal(likely), high and Decimal(high))  # type: ignore[arg-type]
    return RunPrice(total, ceiling and Decimal(ceiling), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("price", "sentence", "button"),
    [
        (priced("0.90", "4.00", "2.00"), "About $0.90, never more than $2.00.", "Run for about $0.90"),
        (priced("0.90", "1.40"), "About $0.90, never more than $1.40.", "Run for about $0.90"),
        (RunPrice(FREE), "Free.", "Run, for free"),
        (priced("0.001", "0.004"), "Less than 1 cent.", "Run for less than 1 cent"),
        (priced("9.00", "30", "2.00"), "More than your limit of $2.00.", "Run for at most $2.00"),
        (
            priced("0.90", "4.00", "2.00", stops=False),
            "About $0.90, never more than $4.00.",
            "Run for about $0.90",
        ),
        (
            priced(None, None, "2.00", unpriced=("Grok-W",)),
            "The price of Grok-W is not known.",
            "Run, price not known…",
        ),
        (
            priced(None, None, unpriced=("A", "B")),
            "The price of 2 models is not known.",
            "Run, price not known…",
        ),
    ],
)
def test_the_price_is_said_before_anything_is_spent(price: RunPrice, sentence: str, button: str) -> None:
    assert price_sentence(price) == sentence
    assert run_button(price) == button
    assert limit_sentence(price)


def test_a_run_is_asked_about_above_a_dollar_or_without_a_price() -> None:
    def choice(price: RunPrice) -> RunChoice:
        return RunChoice(5, 20, price)

    assert confirm_reasons(choice(RunPrice(FREE))) == []
    assert confirm_reasons(choice(priced("0.20", "0.90"))) == []
    assert confirm_reasons(choice(priced("0.20", "9", "0.80"))) == []
    assert confirm_reasons(choice(priced("0.90", "1.40")))
    assert confirm_reasons(choice(priced(None, None, unpriced=("Grok-W",))))


# ---- the page


@pytest.fixture
def page(fresh: AppContext, qtbot: QtBot) -> RunView:
    """The page before any project is open."""
    view = RunView(fresh)
    qtbot.addWidget(view)
    view.resize(1280, 760)
    with qtbot.waitExposed(view):
        view.show()
    return view


def opened(page: RunView, context: AppContext, qtbot: QtBot, folder: Path) -> RunView:
    context.projects.open(folder)
    qtbot.waitUntil(lambda: page.ready.facts is not None, timeout=10_000)
    return page


@pytest.fixture
def ready(page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> RunView:
    """The page with a project that can run for free."""
    return opened(page, fresh, qtbot, tmp_path / "replies")


def state_of(rows: ColumnTable, name: str, key: str) -> str:
    column = rows.columns[rows.section_of(name)]
    return next(column.text(row) for row in rows.rows() if row.head.key == key)


def test_without_a_project_it_says_so(page: RunView) -> None:
    assert "No project is open." in texts(page)
    assert not page.foot.isVisible()


GATED = CONFIG.replace("{min_accuracy: 0.3}", "{privacy_required: [dpa]}").replace(
    "seed: b8}}", "seed: b8}, card: {privacy: {dpa: false}}}"
)


def test_models_that_break_a_must_have_are_asked_only_on_wish(
    page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(page, fresh, qtbot, write_project(tmp_path / "gated", GATED))

    def strip(key: str) -> Message:
        qtbot.waitUntil(lambda: key in {m.key for m in page.strips.messages()}, timeout=10_000)
        return next(m for m in page.strips.messages() if m.key == key)

    # Of the other one nothing is stated, which rules it out as well; it has no key besides.
    offer = next(b for b in strip("left_out").buttons if b.text == "Ask them anyway")
    assert "birch" not in {m.entry.key for m in fresh.projects.preflight.ready}  # type: ignore[union-attr]
    offer.action()
    told = strip("gated")
    assert told.first == "Birch Mini is asked although it breaks a must-have."
    assert "it will have no place" in told.text
    assert "birch" in {m.entry.key for m in fresh.projects.preflight.ready}  # type: ignore[union-attr]
    told.buttons[0].action()
    qtbot.waitUntil(lambda: "gated" not in {m.key for m in page.strips.messages()}, timeout=10_000)
    assert any(b.text == "Ask them anyway" for b in strip("left_out").buttons)


def test_another_project_begins_without_what_is_ruled_out(
    page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    opened(page, fresh, qtbot, write_project(tmp_path / "gated", GATED))
    with qtbot.waitSignal(fresh.projects.examined, timeout=10_000) as asked:
        fresh.projects.include_gated(True)
    assert asked.args[0].include_gated
    other = write_project(tmp_path / "other", GATED)
    with qtbot.waitSignal(fresh.projects.examined, timeout=10_000) as anew:
        fresh.projects.open(other)
    assert not anew.args[0].include_gated


def test_ready_says_price_counts_and_who_takes_part(ready: RunView) -> None:
    pane = ready.ready
    assert pane.label_price.text() == "Free."
    assert pane.label_counts.text() == "4 models, 12 tests: 48 questions"
    assert pane.button_run.text() == "Run, for free"
    assert pane.button_run.isEnabled()
    assert state_of(pane.rows, "questions", "aster") == "12"
    assert state_of(pane.rows, "likely", "aster") == "free"
    assert state_of(pane.rows, "likely", "grove") == "–"
    assert state_of(pane.rows, "ready", "grove") == "Needs a key"
    said = texts(ready)
    assert "Grove Pro is left out of this run. It has no access key." in said
    assert forbidden(said) == []
    assert nameless(ready) == []


def test_a_quick_look_asks_five_tests(ready: RunView) -> None:
    pane = ready.ready
    pane.choice_quick.setChecked(True)
    assert pane.label_counts.text() == "4 models, 5 tests: 20 questions"
    assert state_of(pane.rows, "questions", "aster") == "5"
    assert "Too few to decide." in pane.choice_quick.accessibleDescription()


def test_the_boxes_are_the_preferences(ready: RunView, fresh: AppContext) -> None:
    ready.ready.check_awake.setChecked(False)
    ready.ready.check_tell.setChecked(False)
    assert fresh.settings.keep_awake is False
    assert fresh.settings.notify_done is False


def test_the_plan_unfolds(ready: RunView) -> None:
    ready.ready.button_plan.click()
    assert "At most 4 questions at the same time (The practice service 4)." in ready.ready.label_plan.text()
    assert ready.ready.button_plan.text() == "Hide the plan"


def test_a_project_with_faults_does_not_run(
    page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    folder = write_project(tmp_path / "faulty", CONFIG.replace("weights:", "weigths:"))
    opened(page, fresh, qtbot, folder)
    assert page.ready.label_price.text() == "The project has faults."
    assert not page.ready.button_run.isEnabled()
    assert {row.cost for row in page.ready.rows.shown_rows()} == {None}
    with qtbot.waitSignal(fresh.page_wanted) as wanted:
        page.ready.button_faults.click()
    assert wanted.args == ["project"]


def test_without_a_model_that_can_be_asked_it_says_so(
    page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    only = CONFIG[: CONFIG.index("  - {key: aster")] + CONFIG[CONFIG.index("  - {key: grove") :]
    opened(page, fresh, qtbot, write_project(tmp_path / "none", only))
    assert page.ready.label_price.text() == "No model can be asked."
    assert not page.ready.button_run.isEnabled()


def test_a_missing_key_leads_to_the_place_where_it_is_entered(
    ready: RunView, fresh: AppContext, qtbot: QtBot
) -> None:
    row = next(row for row in ready.ready.rows.rows() if row.head.key == "grove")
    with qtbot.waitSignal(fresh.key_wanted) as wanted:
        ready.ready.table.link_clicked.emit(row, "key")
    assert wanted.args == ["grove-cloud"]


# ---- the question before money is spent


@pytest.fixture
def dear(page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> RunView:
    """The page with a project that costs several dollars."""
    return opened(page, fresh, qtbot, write_project(tmp_path / "dear", PRICED))


def question(page: RunView, qtbot: QtBot) -> ConfirmCostDialog:
    page.ready.button_run.click()
    dialog = page.findChild(ConfirmCostDialog, "dialog_confirm_cost")
    assert dialog is not None
    qtbot.waitUntil(dialog.isVisible)
    return dialog


def test_above_a_dollar_the_default_answer_spends_nothing(
    dear: RunView, fresh: AppContext, qtbot: QtBot
) -> None:
    assert dear.ready.label_price.text().startswith("About $")
    dialog = question(dear, qtbot)
    assert "never more than" in texts(dialog)[0]
    assert dialog.button_keep.isDefault()
    assert not dialog.button_pay.isDefault()
    assert forbidden(texts(dialog)) == []
    qtbot.keyClick(dialog, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: dear.findChild(ConfirmCostDialog) is None)
    assert not fresh.runs.running
    assert not fresh.results.path.exists()


def test_escape_spends_nothing(dear: RunView, fresh: AppContext, qtbot: QtBot) -> None:
    qtbot.keyClick(question(dear, qtbot), Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: dear.findChild(ConfirmCostDialog) is None)
    assert not fresh.runs.running


def test_the_paying_button_carries_the_amount_and_runs(
    dear: RunView, fresh: AppContext, qtbot: QtBot
) -> None:
    dialog = question(dear, qtbot)
    assert dialog.button_pay.text() == dear.ready.button_run.text()
    with qtbot.waitSignal(fresh.runs.ended, timeout=20_000):
        dialog.button_pay.click()
    assert dear.going.cost.figure.text().startswith("$")


# ---- a run


def test_a_run_from_press_to_end_keeps_honest_counts(ready: RunView, fresh: AppContext, qtbot: QtBot) -> None:
    going = ready.going
    seen: list[tuple[int, int]] = []

    def look(_events: tuple[Event, ...]) -> None:
        ready._refresh()
        counts = going.bar.counts()
        seen.append((sum(counts.values()), counts["done"] + counts["failed"]))

    fresh.runs.batch.connect(look)
    with qtbot.waitSignal(fresh.runs.ended, timeout=20_000):
        ready.ready.button_run.click()
    fresh.runs.batch.disconnect(look)
    assert {total for total, _over in seen} == {48}
    assert [over for _total, over in seen] == sorted(over for _total, over in seen)
    assert ready.header.title.text() == "The run is complete"
    assert going.label_answers.text().startswith("36 of 48 answers are kept.")
    assert going.done.figure.text() == "36"
    assert going.failed.figure.text() == "8"
    assert going.not_asked.figure.text() == "4"
    assert going.cost.figure.text() == "free"
    assert going.row_state("aster") == "Finished"
    assert going.row_state("ember") == "Set aside: always fails"
    assert going.row_state("grove") == "Needs a key"
    (aside,) = [message for message in ready.strips.messages() if message.key.startswith("aside_")]
    assert (aside.first, aside.buttons) == ("Ember Beta was asked no more.", ())
    assert "go on" not in aside.text
    assert forbidden(texts(ready)) == []
    assert nameless(ready) == []
    assert not ready.foot.button_cancel.isVisible()
    pages: list[str] = []
    fresh.page_wanted.connect(pages.append)
    with qtbot.waitSignal(fresh.results.shown):
        ready.foot.button_result.click()
    assert pages == ["results"]
    qtbot.waitUntil(lambda: fresh.background.busy == 0)
    ready.foot.button_again.click()
    assert ready.header.title.text() == "Ready to run"


def slow_run(page: RunView, fresh: AppContext, qtbot: QtBot, folder: Path) -> None:
    opened(page, fresh, qtbot, write_project(folder, SLOW, made_tests(40)))
    with qtbot.waitSignal(fresh.runs.began):
        page.ready.button_run.click()
    qtbot.waitUntil(lambda: fresh.runs.progress.done > 3, timeout=10_000)


def test_pause_and_continue(page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> None:
    slow_run(page, fresh, qtbot, tmp_path / "slow")
    page.foot.button_pause.click()
    assert page.foot.button_pause.text() == "Continue"
    qtbot.waitUntil(lambda: page.going.label_doing.text() == "Paused", timeout=10_000)
    qtbot.waitUntil(lambda: "aused" in page.going.row_state("aster"), timeout=10_000)
    assert page.going.eta.figure.text() == "paused"
    page.foot.button_pause.click()
    assert page.foot.button_pause.text() == "Pause"
    fresh.runs.stop_now()
    qtbot.waitUntil(lambda: not fresh.runs.running, timeout=10_000)


def press(page: RunView, qtbot: QtBot, name: str) -> None:
    page.foot.button_cancel.click()
    asked = page.findChild(RunQuestion, "dialog_cancel_run")
    assert asked is not None
    qtbot.waitUntil(asked.isVisible)
    button = asked.findChild(QPushButton, name)
    assert button is not None
    button.click()


def test_cancel_in_three_ways(page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> None:
    slow_run(page, fresh, qtbot, tmp_path / "slow")
    press(page, qtbot, "button_keep_running")
    assert fresh.runs.running
    assert not fresh.runs.stopping
    qtbot.waitUntil(lambda: page.findChild(RunQuestion) is None)
    press(page, qtbot, "button_finish_then_stop")
    assert page.foot.button_cancel.text() == "Stop now" or not fresh.runs.running
    qtbot.waitUntil(lambda: not fresh.runs.running, timeout=10_000)
    assert page.header.title.text() == "You stopped this run"
    assert int(page.going.not_asked.figure.text()) > 0


def test_a_stopped_run_can_be_carried_on(
    page: RunView, fresh: AppContext, qtbot: QtBot, tmp_path: Path
) -> None:
    slow_run(page, fresh, qtbot, tmp_path / "slow")
    run_id = fresh.runs.run_id
    fresh.runs.stop_now()
    qtbot.waitUntil(lambda: not fresh.runs.running, timeout=10_000)
    with qtbot.waitSignal(fresh.results.listed):
        fresh.results.list_runs("Customer replies")
    page.foot.button_again.click()
    message = next(m for m in page.strips.messages() if m.key == "unfinished")
    assert message.first.startswith("Run 1 stopped after ")
    assert message.text.endswith("questions are left.")
    with qtbot.waitSignal(fresh.runs.began):
        message.buttons[0].action()
    fresh.runs.stop_now()
    qtbot.waitUntil(lambda: not fresh.runs.running, timeout=10_000)
    assert fresh.runs.run_id == run_id


# ---- every state of a model, without a clock


HEADS = {
    "aster": ModelHead("aster", "Aster Large", 0, service="Anthropic"),
    "birch": ModelHead("birch", "Birch Mini", 1, service="OpenAI"),
}
LANE = LaneState("anthropic", 0, 6, 6, 10)
OTHER = LaneState("openai", 0, 4, 4, 10)


def two(lane: LaneState = LANE) -> RunProgress:
    return progress_of((lane, OTHER), (("aster", "anthropic"), ("birch", "openai")))


def finished(trial: int, status: CallStatus = CallStatus.OK) -> CallFinished:
    cell = Cell("aster", f"case-{trial}", 1)
    outcome = Outcome.COMPLETE if status is CallStatus.OK else Outcome.FAILED
    return CallFinished("run_1", 9, CallDone(cell, status, outcome))


ERROR = CallError("auth", "refused", 401)
Change = Callable[[RunProgress], None]


def told(*events: Event) -> Change:
    return lambda progress: progress.take(events)


@pytest.mark.parametrize(
    ("lane", "change", "stopping", "ended", "words"),
    [
        (LANE, told(), False, False, "Next in line"),
        (LANE, told(Started("r", 3, Cell("aster", "case-1", 1))), False, False, "Answering"),
        (replace(LANE, width=3, reason="throttled"), told(), False, False, "Slowed down"),
        (replace(LANE, closed_for_s=18.0, reason="retry_after"), told(), False, False, "Waiting 18 s"),
        (
            replace(LANE, closed_for_s=5.0, reason="offline"),
            told(),
            False,
            False,
            "Offline tries again in 5 s",
        ),
        (replace(LANE, closed_for_s=2.0, reason="limit"), told(), False, False, "Waiting for its turn"),
        (replace(LANE, reason="stopped"), told(), False, False, "Stopped"),
        (LANE, told(RunPaused("r", 3, True)), False, False, "Paused"),
        (
            LANE,
            told(Started("r", 3, Cell("aster", "case-1", 1)), RunPaused("r", 4, True)),
            False,
            False,
            "Finishing, then paused",
        ),
        (LANE, told(Started("r", 3, Cell("aster", "case-1", 1))), True, False, "Finishing"),
        (LANE, told(), True, False, "Stopped"),
        (LANE, told(), False, True, "Not finished"),
        (LANE, told(*[finished(n) for n in range(10)]), False, False, "Finished"),
        (
            LANE,
            told(*[finished(n, CallStatus.ERROR if n < 2 else CallStatus.OK) for n in range(10)]),
            False,
            False,
            "Finished, 2 failed",
        ),
        (LANE, told(ModelSetAside("r", 3, ("aster",), None, "denied", ERROR)), False, False, "Key refused"),
        (
            LANE,
            told(ModelSetAside("r", 3, ("aster",), None, "no_credit", ERROR)),
            False,
            False,
            "No credit left",
        ),
    ],
)
def test_every_state_has_its_word(
    lane: LaneState, change: Change, stopping: bool, ended: bool, words: str
) -> None:
    progress = two(lane)
    change(progress)
    column = next(column for column in lane_columns() if column.id == "state")
    row = lane_rows(progress, HEADS, stopping=stopping, ended=ended)[0]
    assert column.text(row) == words
    assert forbidden([column.spoken(row) if column.spoken else ""]) == []


def test_a_question_between_two_tries_waits_until_it_starts_again() -> None:
    progress = two()
    model, cell = progress.models["aster"], Cell("aster", "case-1", 1)
    failed = Retrying("r", 4, cell, 1, 2.0, CallError("server", "x", 500))
    done = CallFinished("r", 9, CallDone(cell, CallStatus.OK, Outcome.COMPLETE))
    seen = []
    for event in (Started("r", 3, cell), failed, Started("r", 5, cell), replace(failed, seq=6), done):
        progress.take([event])
        seen.append((model.running, model.retrying, model.waiting, model.finished))
    assert seen == [(1, 0, 9, 0), (0, 1, 10, 0), (1, 0, 9, 0), (0, 1, 10, 0), (0, 0, 9, 1)]


def test_what_is_given_up_between_two_tries_takes_no_other_off_the_way() -> None:
    progress = two()
    waits, goes = Cell("aster", "case-1", 1), Cell("aster", "case-2", 1)
    began = datetime(2026, 1, 1, tzinfo=UTC)
    progress.take(
        [
            Started("r", 3, waits),
            Retrying("r", 4, waits, 1, 2.0, CallError("server", "x", 500)),
            Started("r", 5, goes),
            CallFinished("r", 6, CallDone(waits, CallStatus.STOPPED, Outcome.FAILED, started_at=began)),
        ]
    )
    assert (progress.running, progress.stopped, progress.waiting) == (1, 1, 18)


def test_a_run_carried_on_begins_with_what_is_there() -> None:
    progress = RunProgress(lambda: 0.0)
    earlier = {"aster": Earlier(done=6, failed=1, scored=5, passed=4)}
    lanes, lane_of = {"anthropic": 6}, {"aster": "anthropic"}
    progress.take([Planned("r", 1, 10, ("aster",), 10, 1, (), lanes, lane_of, 6, 7, earlier)])
    model = progress.models["aster"]
    assert (progress.done, progress.failed, progress.waiting) == (6, 1, 3)
    assert (model.passed, model.scored) == (4, 5)
    assert progress.seconds_left() is None


def test_waiting_to_try_again_is_said() -> None:
    progress = two()
    cell = Cell("aster", "case-1", 1)
    progress.take([Started("r", 3, cell), Retrying("r", 4, cell, 1, 2.0, CallError("server", "x", 500))])
    row = lane_rows(progress, HEADS, stopping=False, ended=False)[0]
    assert row.state.text == "Waiting to try again"  # type: ignore[union-attr]
    assert row.why == "The service reported a fault of its own."


def test_lanes_are_drawn_once_and_shared() -> None:
    narrowed = replace(LANE, active=2, width=3)
    progress = progress_of((narrowed,), (("aster", "anthropic"), ("birch", "anthropic")))
    first, second = lane_rows(progress, HEADS, stopping=False, ended=False)
    assert first.lane is not None
    assert (first.lane.used, first.lane.width, first.lane.configured) == (2, 3, 6)
    assert first.lane.text == "3 of 6"
    assert second.lane is not None
    assert second.lane.text == "shares the 3"


def test_a_model_that_was_left_out_says_why() -> None:
    progress = RunProgress(lambda: 0.0)
    skip = SkippedModel("birch", "no_key", "The key is missing.", "Add it.")
    planned = Planned("r", 1, 10, ("aster",), 10, 1, (skip,), {"anthropic": 6}, {"aster": "anthropic"}, 8)
    progress.take([planned])
    row = lane_rows(progress, HEADS, stopping=False, ended=False)[1]
    assert row.left_out
    assert row.state.text == "Needs a key"  # type: ignore[union-attr]
    assert row.why == "The key is missing. Add it."


def test_the_throttle_strip_counts_down_and_leaves_by_itself(theme: object, qtbot: QtBot) -> None:
    moment = [0.0]
    progress = two(replace(LANE, width=3, closed_for_s=18.0, reason="retry_after"))
    progress.now = lambda: moment[0]
    pane = RunGoing()
    qtbot.addWidget(pane)
    pane.throttle.show_lanes(progress, HEADS, quiet=False)
    label = pane.findChild(object, "label_throttle")
    assert label.text() == (  # type: ignore[union-attr]
        "Anthropic asked us to slow down. 3 at the same time instead of 6. Next try in 18 seconds, by itself."
        " The other models keep going."
    )
    moment[0] = 17.0
    pane.throttle.show_lanes(progress, HEADS, quiet=False)
    assert "Next try in 1 second, by itself." in label.text()  # type: ignore[union-attr]
    progress.lanes["anthropic"] = LANE
    pane.throttle.show_lanes(progress, HEADS, quiet=False)
    assert pane.throttle.isHidden()
    assert label.text().strip() == ""  # type: ignore[union-attr]


def test_offline_says_that_answers_are_safe(theme: object, qtbot: QtBot) -> None:
    progress = two(replace(LANE, closed_for_s=5.0, reason="offline"))
    pane = RunGoing()
    qtbot.addWidget(pane)
    pane.throttle.show_lanes(progress, HEADS, quiet=False)
    label = pane.findChild(object, "label_throttle")
    assert "Anthropic cannot be reached. 0 answers are safe. Next try in 5 seconds" in label.text()  # type: ignore[union-attr]


def test_the_lane_table_is_a_sound_model(qtbot: QtBot) -> None:
    model: ColumnTable = ColumnTable(lane_columns(), key=lambda row: row.head.key)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(lane_rows(two(), HEADS, stopping=False, ended=False))
    model.set_rows(lane_rows(two(replace(LANE, width=3)), HEADS, stopping=False, ended=False))
    assert tester.model() is model
    assert model.rowCount() == 2


def test_done_means_the_same_above_and_in_the_table() -> None:
    progress = progress_of((LANE,), (("aster", "anthropic"),))
    progress.take([finished(n, CallStatus.ERROR if n < 3 else CallStatus.OK) for n in range(10)])
    (row,) = lane_rows(progress, HEADS, stopping=False, ended=False)
    assert (row.done, progress.done, progress.failed) == (7, 7, 3)
    columns = {column.id: column for column in lane_columns()}
    assert columns["done"].text(row) == "7 of 10"
    assert columns["done"].cell(row) == ProgressCell("7 of 10", 0.7, 0.3)  # type: ignore[misc]


@pytest.mark.parametrize(
    ("events", "first"),
    [
        ((), None),
        ((Preparing("r", 3, "sandbox", "preparing"),), "Preparing the sandbox."),
        ((Preparing("r", 3, "sandbox", "preparing"), Preparing("r", 4, "sandbox", "ready")), None),
        ((Preparing("r", 3, "sandbox", "missing", "Install it."),), "Code cannot be run here."),
    ],
)
def test_the_sandbox_says_that_it_is_prepared(events: tuple[Event, ...], first: str | None) -> None:
    progress = progress_of((LANE,))
    progress.take(events)
    message = sandbox_message(progress)
    assert (message.first if message else None) == first
    if message is not None and message.tone is Tone.WARN:
        assert message.text == "Install it."


def test_a_model_that_compares_meanings_has_a_row_and_a_missing_key_is_asked_about(tmp_path: Path) -> None:
    from arena_desktop.desks.project_desk import OpenProject
    from arena_desktop.views.run_facts import read_run_facts
    from engine.execution.preflight import examine
    from engine.keystore import KeyStore
    from engine.pricing import PriceBook
    from engine.project import load_project

    options = "method: embedding, model: openai/text-embedding-3-small"
    config = CONFIG[: CONFIG.index("scorers:")]
    config += f"scorers: {{default: similarity, options: {{similarity: {{{options}}}}}}}\n"
    project = load_project(write_project(tmp_path / "p", config, made_tests(4)))
    book = PriceBook.for_config(project.config, project.root)

    def facts(key: str | None):
        keys = KeyStore(environ={"OPENAI_API_KEY": key} if key else {})
        preflight = examine(project, keystore=keys, pricebook=book)
        found = read_run_facts(OpenProject(project, book), preflight, None)
        row = next(row for row in found.rows(quick=False) if row.head.key.startswith("embeddings: "))
        assert found.connection_of(row.head.key) == "openai"
        return row, found.whole

    row, whole = facts("k-open")
    assert row.head.label == "openai/text-embedding-3-small, compares meanings"
    assert row.questions == 4 * 4
    assert row.cost is not None
    assert (row.cost.likely or 0) > 0
    row, whole = facts(None)
    assert row.skipped is not None
    assert row.skipped.code == "no_key"
    (reason,) = confirm_reasons(whole)
    assert reason.startswith(
        "The model openai/text-embedding-3-small, which compares meanings, cannot be asked."
    )
