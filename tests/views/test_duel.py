"""Blind duel: no name before the reveal, keys for everything, votes kept, a result that is honest."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible, QAction, QGuiApplication
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.blind_names import covered, telling_names
from arena_desktop.theme.switch import Theme
from arena_desktop.views.duel import _NOTHING, _RESULT, _VOTING, DuelView
from arena_desktop.wording.duel import result_words
from engine.errors import WorldError
from engine.stats.duels import LEFT, Choice, duel_result
from engine.storage.records import RunModel
from engine.storage.store import Store
from tests.views import duel_world
from tests.views.duel_world import MODELS
from tests.views.run_world import close_context, make_context
from tests.views.setup_world import cells_of, forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

SECRETS = tuple(word for model in MODELS for word in (model.key, model.label, model.model))


@pytest.fixture
def context(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    made = make_context(tmp_path / "home")
    duel_world.write_run(made.results.path)
    yield made
    close_context(made)


@pytest.fixture
def page(context: AppContext, qtbot: QtBot) -> DuelView:
    return opened(context, qtbot)


def opened(context: AppContext, qtbot: QtBot, run_id: str = "run_1") -> DuelView:
    view = DuelView(context)
    qtbot.addWidget(view)
    view.resize(1000, 760)
    view.show()
    qtbot.waitExposed(view)
    context.results.open_run(run_id)
    qtbot.waitUntil(lambda: view.desk.run_id == run_id and not view.desk.busy)
    QApplication.processEvents()
    return view


def settle(page: DuelView, qtbot: QtBot) -> None:
    qtbot.waitUntil(lambda: not page.desk.busy)
    QApplication.processEvents()


def press(page: DuelView, qtbot: QtBot, key: Qt.Key) -> None:
    target = QApplication.focusWidget() or page
    qtbot.keyClick(target, key)
    settle(page, qtbot)


def stored_choices(context: AppContext, run_id: str = "run_1") -> list[str]:
    return [vote.choice for vote in context.results.store().votes(run_id)]


def shown_texts(page: DuelView) -> tuple[str, str]:
    return page.left.view.answer(), page.right.view.answer()


def everything_said(page: QWidget) -> list[str]:
    """All texts of all widgets, hidden ones too, and what they say to assistive tools."""
    said: list[str] = []
    for widget in [page, *page.findChildren(QWidget)]:
        said += [widget.objectName(), widget.toolTip(), widget.whatsThis(), widget.statusTip()]
        said += [widget.windowTitle(), widget.accessibleName(), widget.accessibleDescription()]
        if isinstance(widget, QLabel | QAbstractButton | QLineEdit):
            said.append(widget.text())
        if isinstance(widget, QTextEdit | QPlainTextEdit):
            said += [widget.toPlainText(), widget.toHtml() if isinstance(widget, QTextEdit) else ""]
        if isinstance(widget, QAbstractItemView) and widget.model() is not None:
            said += cells_of(widget.model())
        for name in widget.dynamicPropertyNames():
            said.append(str(own_property(widget, bytes(name.data()).decode())))
        interface = QAccessible.queryAccessibleInterface(widget)
        if interface is not None:
            kinds = (QAccessible.Text.Name, QAccessible.Text.Description, QAccessible.Text.Value)
            said += [interface.text(kind) for kind in (*kinds, QAccessible.Text.Help)]
    for action in page.findChildren(QAction):
        said += [action.text(), action.toolTip(), action.iconText()]
    return said


def own_property(widget: QWidget, name: str) -> object:
    # Qt and PySide keep handles of their own there, which Python cannot hold.
    return None if name.startswith(("_q_", "_PySide")) else widget.property(name)


def copied(page: DuelView, qtbot: QtBot) -> list[str]:
    """What Copy puts on the clipboard, wherever the focus is."""
    found = []
    for edit in page.findChildren(QTextEdit):
        edit.selectAll()
        edit.copy()
        data = QGuiApplication.clipboard().mimeData()
        found += [data.text(), data.html()]
    for view in page.findChildren(QAbstractItemView):
        view.selectAll()
        qtbot.keyClick(view, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
        found.append(QGuiApplication.clipboard().text())
    return found


def leaks(said: list[str]) -> list[str]:
    return [text for text in said for secret in SECRETS if secret.casefold() in text.casefold()]


# ---- nothing is given away


def test_no_name_key_or_id_anywhere_before_the_reveal(page: DuelView, qtbot: QtBot) -> None:
    QGuiApplication.clipboard().clear()
    for key in (Qt.Key.Key_1, Qt.Key.Key_2, Qt.Key.Key_0, Qt.Key.Key_S, Qt.Key.Key_Z, Qt.Key.Key_1):
        assert page.stack.currentIndex() == _VOTING
        assert leaks(everything_said(page)) == []
        assert leaks(copied(page, qtbot)) == []
        press(page, qtbot, key)
    assert leaks([page.desk.run_id, page.window().windowTitle()]) == []


def test_the_walk_would_find_a_name(page: DuelView, qtbot: QtBot) -> None:
    for place in (page.left.view.setToolTip, page.setWindowTitle, page.keys.setAccessibleName):
        place("Aster Large")
        assert leaks(everything_said(page)) != []
        place("")


def test_names_appear_with_the_reveal_and_go_with_the_next_vote(page: DuelView, qtbot: QtBot) -> None:
    press(page, qtbot, Qt.Key.Key_1)
    press(page, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)
    said = texts(page)
    assert "Aster Large" in said or "Birch Mini" in said
    button = page.verdict.button("go_on")
    assert button is not None
    button.click()
    settle(page, qtbot)
    assert page.stack.currentIndex() == _VOTING
    assert leaks(everything_said(page)) == []


def test_an_empty_page_and_a_page_without_pairs_give_nothing_away(context: AppContext, qtbot: QtBot) -> None:
    duel_world.write_run(context.results.path, run_id="run_one", models=MODELS[:1])
    view = opened(context, qtbot, "run_one")
    assert view.stack.currentIndex() == _NOTHING
    assert view.nothing.heading.text() == "There are no two answers to choose between."
    assert leaks(everything_said(view)) == []


# ---- keyboard


@pytest.mark.parametrize(
    ("key", "choice"),
    [
        (Qt.Key.Key_1, "left"),
        (Qt.Key.Key_Left, "left"),
        (Qt.Key.Key_2, "right"),
        (Qt.Key.Key_Right, "right"),
        (Qt.Key.Key_0, "tie"),
        (Qt.Key.Key_Down, "tie"),
        (Qt.Key.Key_S, "skip"),
    ],
)
def test_every_choice_has_its_keys(
    page: DuelView, context: AppContext, qtbot: QtBot, key: Qt.Key, choice: str
) -> None:
    press(page, qtbot, key)
    assert stored_choices(context) == [choice]


@pytest.mark.parametrize("where", ["left", "right", "question", "button"])
def test_the_keys_work_wherever_the_focus_is(
    page: DuelView, context: AppContext, qtbot: QtBot, where: str
) -> None:
    places: dict[str, QWidget] = {
        "left": page.left.view.edit,
        "right": page.right.view.edit,
        "question": page.question.question.edit,
        "button": page.choices["tie"],
    }
    places[where].setFocus()
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Down, Qt.Key.Key_2, Qt.Key.Key_S):
        press(page, qtbot, key)
    assert stored_choices(context) == ["left", "tie", "right", "skip"]
    press(page, qtbot, Qt.Key.Key_Z)
    assert stored_choices(context) == ["left", "tie", "right"]
    press(page, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)


def test_undo_brings_the_same_two_answers_back_on_the_same_sides(
    page: DuelView, context: AppContext, qtbot: QtBot
) -> None:
    before = [shown_texts(page)]
    for key in (Qt.Key.Key_1, Qt.Key.Key_0, Qt.Key.Key_S):
        press(page, qtbot, key)
        before.append(shown_texts(page))
    assert len(set(before)) == 4
    for wanted in before[-2::-1]:
        press(page, qtbot, Qt.Key.Key_Z)
        assert shown_texts(page) == wanted
    assert stored_choices(context) == []
    press(page, qtbot, Qt.Key.Key_Z)
    assert shown_texts(page) == before[0]
    assert not page.button_undo.isVisible()


def test_the_buttons_do_the_same(page: DuelView, context: AppContext, qtbot: QtBot) -> None:
    for choice in ("right", "tie", "skip", "left"):
        page.choices[choice].click()
        settle(page, qtbot)
    page.button_undo.click()
    settle(page, qtbot)
    assert stored_choices(context) == ["right", "tie", "skip"]
    page.button_stop.click()
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)


def test_a_second_key_before_the_next_answers_are_there_is_no_vote(
    page: DuelView, context: AppContext, qtbot: QtBot
) -> None:
    page.choose("left")
    page.choose("right")
    page.desk.undo()
    page.desk.stop()
    settle(page, qtbot)
    assert stored_choices(context) == ["left"]
    assert page.stack.currentIndex() == _VOTING


def test_escape_closes_a_message_first(page: DuelView, qtbot: QtBot) -> None:
    page._on_failed(WorldError("store_locked", "The history is busy.", hint="Try again."))
    press(page, qtbot, Qt.Key.Key_1)
    page._on_failed(WorldError("store_locked", "The history is busy.", hint="Try again."))
    press(page, qtbot, Qt.Key.Key_Escape)
    assert page.stack.currentIndex() == _VOTING
    press(page, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)


# ---- progress, result


def test_progress_is_told_in_words(page: DuelView, qtbot: QtBot) -> None:
    subtitle = page.header.subtitle
    assert subtitle.text().startswith("Names are hidden.")
    said = []
    for _ in range(7):
        press(page, qtbot, Qt.Key.Key_1)
        said.append(subtitle.text())
    assert said[0] == "1 vote so far. 5 more and they can begin to tell something."
    assert said[4] == "5 votes so far. One more and they can begin to tell something."
    assert said[6] == "7 votes so far. 17 more pairs can be shown. Stop any time."


def test_stopping_needs_a_vote(page: DuelView, qtbot: QtBot) -> None:
    assert not page.button_stop.isEnabled()
    press(page, qtbot, Qt.Key.Key_1)
    assert page.button_stop.isEnabled()


def test_the_result_says_that_few_votes_tell_nothing(page: DuelView, qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_1, Qt.Key.Key_2):
        press(page, qtbot, key)
    press(page, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)
    assert page.verdict.sentence.text() == "Too few votes to tell."
    assert page.verdict.lead.text() == "2 votes tell nothing yet. At least 4 more would be needed."
    assert page.header.title.text() == "Your blind votes"


def test_the_table_shows_chances_ranges_and_counts(page: DuelView, context: AppContext, qtbot: QtBot) -> None:
    by_text = {
        duel_world.text_of(model, number).strip(): MODELS[model].key
        for model in range(3)
        for number in range(8)
    }
    for _ in range(24):
        # The person likes Cedar best, whatever the side.
        left = by_text[page.left.view.answer()]
        right = by_text[page.right.view.answer()]
        press(page, qtbot, Qt.Key.Key_1 if (left == "cedar") >= (right == "cedar") else Qt.Key.Key_2)
    assert page.nothing.heading.text() == "All pairs have been shown."
    assert leaks(everything_said(page)) == []
    page.button_stop.click()
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)
    assert page.verdict.sentence.text() == "You prefer the answers of Cedar Mini."
    first = page.rows.rows()[0]
    assert (first.name, first.preference.wins, first.preference.losses) == ("Cedar Mini", 16, 0)
    cells = cells_of(page.table.model())
    assert "Cedar Mini" in cells
    assert "16" in cells
    copy = page.verdict.button("copy")
    assert copy is not None
    copy.click()
    assert QGuiApplication.clipboard().text().startswith("You prefer the answers of Cedar Mini.\n24 votes")


def votes(wins: int, losses: int, skips: int = 0) -> list[Choice]:
    from engine.domain import Cell

    def one(choice: str, number: int) -> Choice:
        return Choice(Cell("aster", f"c{number}", 1), Cell("birch", f"c{number}", 1), choice)

    chosen = ["left"] * wins + ["right"] * losses + ["skip"] * skips
    return [one(choice, number) for number, choice in enumerate(chosen)]


@pytest.mark.parametrize(
    ("given", "headline", "lead"),
    [
        (votes(0, 0, 1), "You have not voted yet.", "Without votes nothing can be said."),
        (
            votes(7, 5),
            "Too close to call after 12 votes.",
            "Aster is ahead of Birch, but not by enough. About 280 more votes would settle a gap this size.",
        ),
        (
            votes(6, 6, 2),
            "Too close to call after 12 votes.",
            "Aster and Birch are level. More votes may never settle a gap this size."
            " 2 skipped pairs do not count.",
        ),
        (
            votes(16, 4, 1),
            "You prefer the answers of Aster.",
            "20 votes tell Aster and Birch apart. You would prefer an answer of Aster in about 80 of 100"
            " pairs, likely 57 to 92. One skipped pair does not count.",
        ),
    ],
)
def test_the_sentence_says_no_more_than_the_votes(given: list[Choice], headline: str, lead: str) -> None:
    said = result_words(duel_result(given), {"aster": "Aster", "birch": "Birch"})
    assert (said.headline, said.lead) == (headline, lead)


# ---- kept


def test_a_duel_is_taken_up_where_it_was_left(page: DuelView, context: AppContext, qtbot: QtBot) -> None:
    for key in (Qt.Key.Key_1, Qt.Key.Key_S):
        press(page, qtbot, key)
    seen = shown_texts(page)
    page.hide()
    again = opened(context, qtbot)
    assert shown_texts(again) == seen
    assert again.header.subtitle.text().startswith("1 vote so far.")
    assert not again.button_undo.isEnabled()
    press(again, qtbot, Qt.Key.Key_Z)
    assert stored_choices(context) == ["left", "skip"]


def test_votes_before_the_reveal_are_sealed_by_it(page: DuelView, context: AppContext, qtbot: QtBot) -> None:
    press(page, qtbot, Qt.Key.Key_1)
    press(page, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)
    page.desk.go_on()
    settle(page, qtbot)
    press(page, qtbot, Qt.Key.Key_Z)
    assert stored_choices(context) == ["left"]


def test_each_run_has_its_own_duel(page: DuelView, context: AppContext, qtbot: QtBot) -> None:
    press(page, qtbot, Qt.Key.Key_1)
    duel_world.write_run(context.results.path, run_id="run_2")
    context.results.open_run("run_2")
    qtbot.waitUntil(lambda: page.desk.run_id == "run_2" and not page.desk.busy)
    assert page.header.subtitle.text().startswith("Names are hidden.")
    assert stored_choices(context, "run_2") == []


def test_a_vote_that_cannot_be_kept_is_said_and_not_counted(
    page: DuelView, context: AppContext, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def locked(*_args: object) -> None:
        raise WorldError("store_locked", "The history is in use.", hint="Try again in a moment.")

    seen = shown_texts(page)
    with monkeypatch.context() as broken:
        broken.setattr(Store, "add_vote", locked)
        press(page, qtbot, Qt.Key.Key_1)
    assert "The history is in use. Try again in a moment." in texts(page)
    assert shown_texts(page) == seen
    press(page, qtbot, Qt.Key.Key_2)
    assert stored_choices(context) == ["right"]
    assert "The history is in use. Try again in a moment." not in texts(page)


# ---- the page itself


def test_thinking_before_an_answer_is_not_shown(context: AppContext, qtbot: QtBot) -> None:
    with Store.open(context.results.path) as store, store.database.transaction() as connection:
        connection.execute("UPDATE answers SET text = '<think>I am Aster.</think>' || text")
    view = opened(context, qtbot)
    assert "think" not in view.left.view.answer()
    assert leaks(everything_said(view)) == []


def retell(context: AppContext, change: str, *values: object) -> None:
    with Store.open(context.results.path) as store, store.database.transaction() as connection:
        connection.execute(f"UPDATE answers SET text = {change}", values)


def test_an_answer_that_names_its_model_does_not_tell(context: AppContext, qtbot: QtBot) -> None:
    retell(context, "'I am Aster Large (aster-large-2026-05-01). ' || text || ' Yours, BIRCH mini.'")
    view = opened(context, qtbot)
    assert view.left.view.answer().startswith("I am [name hidden] ([name hidden]). ")
    assert view.left.view.answer().endswith("Yours, [name hidden].")
    assert leaks(everything_said(view)) == []
    assert leaks(copied(view, qtbot)) == []


@pytest.mark.parametrize(
    ("model", "said", "shown"),
    [
        ("claude-sonnet-4", "I am Claude 3.5 Sonnet, made by Anthropic.", "I am X, made by X."),
        ("openai/gpt-5.5-mini", "As ChatGPT (GPT-4o mini by OpenAI)", "As X (X by X)"),
        ("qwen2.5-7b", "Qwen2.5 says: qwen-2.5-7b", "X says: X"),
        ("mock:flaky", "A flaky crust", "A flaky crust"),
        ("command-r-plus", "Run the command. I am command-r-plus", "Run the command. I am X"),
        ("gemini-2.5-flash", "twin stars of Gemini", "twin stars of X"),
        ("m", "m is a letter", "m is a letter"),
    ],
)
def test_which_names_are_covered(model: str, said: str, shown: str) -> None:
    names = telling_names([RunModel("fast", "Fast", model, "p")])
    assert covered(said, names, "X") == shown
    assert covered("A fast answer", names, "X") == "A fast answer"


def test_long_answers_that_only_begin_alike_meet(context: AppContext, qtbot: QtBot) -> None:
    long = "word " * 60
    with Store.open(context.results.path) as store, store.database.transaction() as connection:
        connection.execute(
            "UPDATE answers SET text = ? || CASE WHEN id % 3 = 0 THEN 'x' ELSE 'y' END, preview = ?,"
            " length = ?",
            (long, long[:200], len(long) + 1),
        )
    view = opened(context, qtbot)
    left, right = shown_texts(view)
    assert left != right
    assert {left[-1], right[-1]} == {"x", "y"}
    assert view.desk.standing.left == 2 * 8


def test_the_right_answer_is_folded_away(page: DuelView) -> None:
    assert not page.question.wanted.is_open()
    page.question.wanted.set_open(True)
    assert page.question.reference.text() == "No refund after 30 days; offer a voucher."


def states(page: DuelView, qtbot: QtBot) -> Iterator[str]:
    yield "voting"
    press(page, qtbot, Qt.Key.Key_1)
    yield "later"
    press(page, qtbot, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: page.stack.currentIndex() == _RESULT)
    yield "result"


@pytest.mark.parametrize("check", [nameless, lambda page: forbidden(texts(page))])
def test_names_and_words_in_every_state(
    page: DuelView, qtbot: QtBot, check: Callable[[DuelView], list[str]]
) -> None:
    for state in states(page, qtbot):
        assert check(page) == [], state


@pytest.mark.parametrize("width", [640, 960, 1600])
def test_the_page_is_never_wider_than_its_window(page: DuelView, qtbot: QtBot, width: int) -> None:
    page.set_narrow(width < 1100)
    page.resize(width, 640)
    QApplication.processEvents()
    assert page.scroll.widget().width() <= page.scroll.viewport().width()
    assert page.left.isVisible()
    assert LEFT in page.choices
