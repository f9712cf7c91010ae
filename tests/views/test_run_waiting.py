"""What waits, in words and rules: when a person is asked again, and the list itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.run_orders import Change, Resume, RunOrder, Terms, Wait, changes, terms_of
from arena_desktop.desks.waiting_runs import WaitingRuns
from arena_desktop.views.run_waiting import RunLine
from arena_desktop.widgets.labels import Label
from arena_desktop.wording import run_queue as words
from engine.domain import Cell, Note, RunStatus
from engine.errors import UserError
from engine.execution.plan import make_plan
from tests.execution.worlds import World
from tests.views.run_world import CONFIG, close_context, made_tests, make_context, write_project
from tests.views.setup_world import forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

ASK = (Note("above", {"high": "2", "limit": "1"}),)


def terms(most: str | None, **more: object) -> Terms:
    return Terms(None if most is None else Decimal(most), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("agreed", "now", "found"),
    [
        (terms("0.40"), terms("0.40"), ()),
        (terms("0.40"), terms("0.30"), ()),
        (terms("0.40"), terms("0.90"), ()),  # it would not have been asked about when ordered
        (terms("0.40"), terms("1.10"), (Change.DEARER,)),
        (terms("0.40"), terms("0.90", questions=ASK), (Change.DEARER,)),
        (terms("2.00", questions=ASK), terms("2.00", questions=ASK), ()),
        (terms("0.40"), terms(None, unpriced=("a",)), (Change.PRICE_UNKNOWN,)),
        (terms(None, unpriced=("a",)), terms(None, unpriced=("a",)), ()),
        (terms(None, unpriced=("a",)), terms("9.00"), ()),
        (terms("0", trusted=True), terms("0"), (Change.TRUST,)),
        (terms("0"), terms("0", trusted=True), ()),
        (terms("0.40", trusted=True), terms("4.00"), (Change.DEARER, Change.TRUST)),
    ],
)
def test_a_person_is_asked_again_only_for_what_got_worse(
    agreed: Terms, now: Terms, found: tuple[Change, ...]
) -> None:
    assert changes(agreed, now) == found
    assert len(words.change_sentences(agreed, now, found)) == len(found)
    assert forbidden(words.change_sentences(agreed, now, found)) == []


@pytest.fixture
def context(theme: object, tmp_path: Path, qtbot: QtBot) -> Iterator[AppContext]:
    """A project that can run is open; nothing runs."""
    write_project(tmp_path / "replies", CONFIG, made_tests(12))
    made = make_context(tmp_path / "home")
    with qtbot.waitSignal(made.projects.examined, timeout=10_000):
        made.projects.open(tmp_path / "replies")
    yield made
    close_context(made)


@pytest.fixture
def order(context: AppContext) -> RunOrder:
    return context.runs.order()


@pytest.fixture
def line(context: AppContext, qtbot: QtBot) -> Iterator[RunLine]:
    page = QWidget()
    qtbot.addWidget(page)
    made = RunLine(context.runs)
    QVBoxLayout(page).addWidget(made)
    page.show()
    yield made
    page.hide()


def held(waiting: WaitingRuns, number: int, wait: Wait) -> None:
    entry = waiting.find(number)
    assert entry is not None
    now = replace(entry.agreed, most=Decimal(4))
    error = UserError("all_skipped", "No model can be asked.", hint="Add a key.")
    asks = {"changes": (Change.DEARER,), "now": now}
    waiting.replace(replace(entry, wait=wait, **(asks if wait is Wait.ASKS else {"error": error})))


def test_the_terms_of_a_quick_look_hold_what_compares_meanings(tmp_path: Path, qapp: object) -> None:
    check = {"type": "similarity", "method": "embedding", "model": "openai/nobody-knows-its-price"}
    tests = [{"id": f"c{n}", "input": "say", "reference": "x", "checks": [check]} for n in range(9)]
    made = World(tmp_path, {"models": [{"key": "a", "model": "mock:oracle"}]}, cases=tests, probe=False)
    asked = made.request()
    few = replace(asked.project, cases=asked.project.cases[:5])
    whole = RunOrder(asked.project, asked.pricebook, asked.preflight, asked.plan)
    quick = replace(whole, project=few, plan=make_plan(few, asked.preflight))
    assert terms_of(quick).unpriced == terms_of(whole).unpriced != ()
    assert terms_of(quick).most is None


def test_the_terms_of_a_quick_look_are_those_of_its_tests(context: AppContext, order: RunOrder) -> None:
    quick = context.runs.order(quick=True)
    assert (order.plan.planned, quick.plan.planned) == (48, 20)
    assert terms_of(quick).most == 0
    assert terms_of(order).models == ("aster", "birch", "cedar", "ember")


def test_first_come_first_served_and_who_is_held_lets_others_go(order: RunOrder) -> None:
    waiting = WaitingRuns()
    first, second, third = (waiting.add(order) for _ in range(3))
    assert waiting.next_up() == first
    held(waiting, first.number, Wait.ASKS)
    assert waiting.next_up() == second
    gone = waiting.remove([second.number, third.number])
    assert waiting.next_up() is None
    waiting.put_back(gone)
    assert [entry.number for entry in waiting.entries] == [1, 2, 3]
    waiting.agree(first.number)
    again = waiting.next_up()
    assert again is not None
    assert again.number == first.number
    assert again.agreed.most == Decimal(4)
    waiting.drop()
    assert len(waiting) == 0


def test_the_list_says_what_waits_and_why_not(
    context: AppContext, order: RunOrder, line: RunLine, qtbot: QtBot
) -> None:
    waiting = context.runs.waiting
    assert not line.isVisible()
    context.runs._turns.checking = 99  # something is about to start: nothing of this list may
    numbers = [waiting.add(order).number for _ in range(4)]
    held(waiting, numbers[1], Wait.ASKS)
    held(waiting, numbers[2], Wait.CANNOT)
    assert line.isVisible()
    assert line.title.text() == "4 runs wait their turn"

    def said() -> list[str]:
        return [line.findChild(Label, f"label_waiting_state_{n}").text() for n in (1, 2, 3, 4)]

    # Rows of before are deleted by the event loop.
    qtbot.waitUntil(lambda: said()[1] == "Needs your answer")
    assert said() == ["Next", "Needs your answer", "Cannot start", "Waits its turn"]
    assert line.findChild(QPushButton, "button_decide_2") is not None
    assert line.findChild(QPushButton, "button_look_again_3") is not None
    state = line.findChild(Label, "label_waiting_state_3")
    assert state.toolTip() == "No model can be asked. Add a key."
    assert forbidden(texts(line)) == []
    assert nameless(line) == []
    # Removing by keyboard keeps the focus in the list, at the next one.
    remove = line.findChild(QPushButton, "button_remove_waiting_1")
    remove.setFocus()
    qtbot.keyClick(remove, Qt.Key.Key_Space)
    assert [entry.number for entry in waiting.entries] == numbers[1:]
    qtbot.waitUntil(lambda: line.focusWidget() is line.findChild(QPushButton, "button_remove_waiting_1"))
    waiting.drop()
    assert not line.isVisible()
    context.runs._turns.checking = None


def test_what_is_asked_of_a_saved_run_is_named(order: RunOrder) -> None:
    def said(resume: Resume) -> str:
        return words.order_line(replace(order, resume=resume), Decimal("0.4"))

    cells = (Cell("aster", "case-00", 1),)
    assert words.order_line(order, Decimal(0)) == "Customer replies, 4 models, 12 tests: 48 questions, free"
    assert said(Resume("r")) == "Customer replies, the rest of a run, up to $0.40"
    assert said(Resume("r", number=3, missing=34)) == (
        "Customer replies, the rest of run 3, 34 questions, up to $0.40"
    )
    assert said(Resume("r", again=cells, number=3, missing=1)) == (
        "Customer replies, 1 question of run 3 again, up to $0.40"
    )
    assert words.at_most(None) == "price not known"


def test_the_same_is_not_taken_twice(context: AppContext, order: RunOrder, qtbot: QtBot) -> None:
    context.runs._turns.checking = 99
    context.runs.waiting.add(replace(order, resume=Resume("run_1")))
    assert context.runs.has("run_1")
    with qtbot.waitSignal(context.runs.failed) as failed:
        context.runs.carry_on("run_1")
    assert failed.args[0].code == "waits_already"
    context.runs.waiting.drop()
    context.runs._turns.checking = None


def test_a_run_that_cannot_start_any_more_says_why_and_can_try_again(
    context: AppContext, order: RunOrder, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = context.runs
    calls: list[str] = []

    def look(self: RunOrder, *_more: object) -> RunOrder:
        calls.append(self.name)
        if len(calls) == 1:
            raise UserError("all_skipped", "No model can be asked.", hint="Add a key.")
        return self

    monkeypatch.setattr(RunOrder, "looked_at_anew", look)
    with qtbot.waitSignal(runs.waiting.held, timeout=10_000) as told:
        runs.waiting.add(order)
        runs._turns.start_next()
    entry = told.args[0]
    assert entry.wait is Wait.CANNOT
    assert words.held_sentence(entry) == "Customer replies could not start."
    assert words.held_text(entry) == "No model can be asked. Add a key."
    assert not runs.busy
    # What is ordered now need not wait for one that is held.
    with qtbot.waitSignal(runs.ended, timeout=20_000):
        runs.waiting.look_again(entry.number)
    assert len(calls) == 2
    assert runs.progress.status is RunStatus.COMPLETED
    assert len(runs.waiting) == 0
