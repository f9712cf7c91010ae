"""Services of a run: questions at the same time, changed while it goes on, and every state in words."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.run_progress import RunProgress
from arena_desktop.views.run import RunView
from arena_desktop.views.run_lanes import LaneControls
from arena_desktop.views.run_strips import RunOffers, ThrottleStrips, limit_message, set_aside_messages
from arena_desktop.widgets.fields import Spin
from arena_desktop.widgets.labels import Label, LeadLabel
from arena_desktop.wording import run as words
from arena_desktop.wording.reasons import aside_cause
from arena_desktop.wording.run_lanes import lane_sentence
from engine.domain import CallError, Cell
from engine.execution.events import BudgetChanged, LaneState, ModelSetAside, Planned
from engine.execution.jobs import JUDGE_LANE
from tests.views.run_world import CONFIG, made_tests, progress_of, write_project
from tests.views.setup_world import forbidden, nameless
from tests.views.test_run import HEADS, LANE, OTHER, two

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

SLOW = CONFIG.replace("params: {", "params: {sleep: true, ")


@pytest.mark.parametrize(
    ("lane", "left", "said"),
    [
        (LANE, 0.0, "0 of 6 in use; 10 wait"),
        (replace(LANE, active=2, waiting=0), 0.0, "2 of 6 in use"),
        (
            replace(LANE, active=3, width=3, reason="throttled"),
            0.0,
            "3 of 3 in use; asked us to slow down: 6 → 3, one more each quiet minute",
        ),
        (
            replace(LANE, width=3, reason="retry_after"),
            60.0,
            "0 of 3 in use; asked us to slow down: 6 → 3, next one in 60 seconds",
        ),
        (
            replace(LANE, reason="retry_after"),
            18.0,
            "0 of 6 in use; asked us to slow down, next one in 18 seconds",
        ),
        (
            replace(LANE, reason="offline"),
            5.0,
            "0 of 6 in use; cannot be reached, tried again in 5 seconds",
        ),
        (replace(LANE, reason="offline"), 0.0, "0 of 6 in use; cannot be reached, being tried now"),
        (replace(LANE, reason="limit"), 2.0, "0 of 6 in use; keeps to its limit, next one in 2 seconds"),
        (
            replace(LANE, reason="stopped"),
            0.0,
            "0 of 6 in use; stopped: it gets no more questions in this run",
        ),
    ],
)
def test_each_state_of_a_service_has_its_words(lane: LaneState, left: float, said: str) -> None:
    assert lane_sentence(lane, left) == said
    assert forbidden([said]) == []


@pytest.fixture
def controls(theme: object, qtbot: QtBot) -> LaneControls:
    made = LaneControls()
    qtbot.addWidget(made)
    made.show_lanes(two(), HEADS, going=True)
    made.set_open(True)
    made.show()
    return made


def test_the_widths_are_in_the_head_and_changed_by_keyboard(controls: LaneControls, qtbot: QtBot) -> None:
    assert controls.head.text() == "At most 8 at the same time: Anthropic 6, OpenAI 4"
    field = controls.findChild(Spin, "spin_lane_1")
    assert field.accessibleName() == "Questions at the same time to Anthropic"
    assert (field.value(), field.minimum(), field.maximum()) == (6, 1, 8)
    with qtbot.waitSignal(controls.width_wanted) as wanted:
        qtbot.keyClick(field, Qt.Key.Key_Up)
    assert wanted.args == ["anthropic", 7]
    # Until the run has it, the old width must not jump back into the field.
    field.clearFocus()
    controls.show_lanes(two(), HEADS, going=True)
    assert field.value() == 7
    controls.show_lanes(two(replace(LANE, width=7, configured=7)), HEADS, going=True)
    controls.show_lanes(two(replace(LANE, width=5, configured=5)), HEADS, going=True)
    assert field.value() == 5
    state = controls.findChild(Label, "label_lane_state_1")
    assert state.text() == "0 of 5 in use; 10 wait"
    assert nameless(controls) == []
    controls.show_lanes(two(), HEADS, going=False)
    assert controls.isHidden()
    controls.begin()
    qtbot.waitUntil(lambda: controls.findChild(Spin, "spin_lane_1") is None)


def test_the_marking_ai_has_a_line_of_its_own(theme: object, qtbot: QtBot) -> None:
    made = LaneControls()
    qtbot.addWidget(made)
    judge = LaneState(JUDGE_LANE, 1, 2, 2, 0)
    made.show_lanes(progress_of((LANE, OTHER, judge), (("aster", "anthropic"),)), HEADS, going=True)
    assert "The second AI 2" in made.head.text()


def test_a_changed_width_reaches_the_run(fresh: AppContext, qtbot: QtBot, tmp_path: Path) -> None:
    page = RunView(fresh)
    qtbot.addWidget(page)
    with qtbot.waitExposed(page):
        page.show()
    fresh.projects.open(write_project(tmp_path / "slow", SLOW, made_tests(40)))
    qtbot.waitUntil(lambda: page.ready.facts is not None, timeout=10_000)
    page.ready.button_run.click()
    qtbot.waitUntil(lambda: fresh.runs.progress.done > 1, timeout=10_000)
    page.going.lanes.set_open(True)
    field = page.going.lanes.findChild(Spin, "spin_lane_1")
    qtbot.keyClick(field, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: fresh.runs.progress.lanes["mock"].configured == 3, timeout=10_000)
    fresh.runs.stop_now()
    qtbot.waitUntil(lambda: not fresh.runs.running, timeout=10_000)


def test_without_the_internet_it_is_said_once(theme: object, qtbot: QtBot) -> None:
    strips = ThrottleStrips()
    qtbot.addWidget(strips)
    progress = two(replace(LANE, closed_for_s=5.0, reason="offline"))
    progress.lanes["openai"] = replace(OTHER, closed_for_s=9.0, reason="offline")
    strips.show_lanes(progress, HEADS, quiet=False)
    said = [label.text() for label in strips.findChildren(LeadLabel) if label.text().strip()]
    assert said == [
        "There is no internet connection. The run waits. 0 answers are safe."
        " Next try in 5 seconds, by itself."
    ]
    progress.lanes["openai"] = OTHER
    strips.show_lanes(progress, HEADS, quiet=False)
    said = [label.text() for label in strips.findChildren(LeadLabel) if label.text().strip()]
    assert said == ["Anthropic cannot be reached. 0 answers are safe. Next try in 5 seconds, by itself."]


# ---- who gets no more questions


ERROR = CallError("auth", "refused", 401)
CODES = {
    "denied": ("Key refused", "The access key was refused.", ["Check the key…", "Ask it again"]),
    "no_credit": ("No credit left", "The account has no credit left.", ["Ask it again"]),
    "model_unknown": ("Model not known", "The service does not know this model.", ["Ask it again"]),
    "same_failure": ("Set aside: always fails", "Its first questions all failed.", ["Ask it again"]),
    "asked_to_slow_down": ("Set aside: too slow", "For a quarter of an hour", ["Ask it again"]),
    "unreachable": ("Set aside: not reached", "The service could not be reached.", ["Ask it again"]),
    "wait_too_long": ("Set aside: long wait", "The service asks to wait long. Carry on", ["Ask it again"]),
    "day_quota": ("Quota used up", "Its quota for the day is used up. Carry on", ["Ask it again"]),
    "budget_model": ("Reached its limit", "The limit per model is reached.", []),
}


@pytest.mark.parametrize("code", CODES)
def test_every_reason_has_words_and_a_next_step(code: str) -> None:
    asked: list[object] = []
    progress = two()
    progress.take([ModelSetAside("r", 3, ("aster",), None, code, ERROR)])
    (message,) = set_aside_messages(progress, HEADS, RunOffers(asked.append, asked.append))
    chip, cause, buttons = CODES[code]
    assert words.set_aside_chip(code) == chip
    assert message.first == "Aster Large gets no more questions."
    assert message.text.startswith(cause)
    assert message.text.endswith("The others go on.")
    assert [button.text for button in message.buttons] == buttons
    for button in message.buttons:
        button.action()
    assert asked == (["anthropic", ("aster",)] if code == "denied" else [("aster",)] if buttons else [])
    progress.offered_again(["aster"])
    assert set_aside_messages(progress, HEADS, RunOffers(asked.append, asked.append)) == []


def test_every_reason_of_the_engine_has_its_words() -> None:
    """The codes are those that the documentation of the event lists."""
    listed = (ModelSetAside.__doc__ or "").split("`code`:")[1].split(".")[0]
    assert {code.strip() for code in listed.split(",")} == set(CODES)


def test_a_wait_names_its_end() -> None:
    until = datetime(2024, 5, 3, 14, 5, tzinfo=UTC)
    assert aside_cause("day_quota", until).startswith("Its quota for the day is used up. Carry on after: ")
    assert aside_cause("day_quota").endswith("Carry on later.")


# ---- money and tries


def test_tries_and_money_set_aside_are_said() -> None:
    assert words.more_line(0, Decimal(0), free=False) == ""
    assert words.more_line(1, Decimal("0.12"), free=False) == (
        "1 waits for another try. Up to $0.12 more is set aside for questions on their way."
    )
    assert words.more_line(3, Decimal("0.12"), free=True) == "3 wait for another try."
    assert words.awake_line(None) == ""
    assert words.awake_line(True) == "The computer stays awake."
    assert "the run waits until it wakes" in words.awake_line(False)


def test_a_limit_that_only_warns_is_said_when_it_is_passed() -> None:
    progress = two()
    assert limit_message(progress) is None
    progress.take([BudgetChanged("r", 3, Decimal("0.90"), Decimal(0), Decimal(1))])
    assert limit_message(progress) is None
    progress.take([BudgetChanged("r", 4, Decimal("1.10"), Decimal(0), Decimal(1))])
    message = limit_message(progress)
    assert message is not None
    assert f"{message.first} {message.text}" == (
        "The run has passed your limit. It goes on, because the project says so."
    )


def test_a_run_that_asks_some_again_counts_these_only() -> None:
    progress = RunProgress(lambda: 0.0)
    again = (Cell("aster", "c1", 1), Cell("aster", "c2", 1))
    lanes, lane_of = {"anthropic": 6}, {"aster": "anthropic", "birch": "anthropic"}
    models = ("aster", "birch")
    progress.take([Planned("r", 1, 2, models, 10, 1, (), lanes, lane_of, 6, 0, {}, again)])
    assert (progress.total, progress.waiting) == (2, 2)
    assert {key: model.planned for key, model in progress.models.items()} == {"aster": 2}
