"""Test cases: the table, the pane, what cannot be marked, filters and empty states."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from arena_desktop.dialogs.add_tests import AddTestsDialog
from arena_desktop.dialogs.change_checks import ChangeChecksDialog
from arena_desktop.dialogs.change_test import ChangeTestDialog
from arena_desktop.itemmodels.cases import case_columns, case_rows, one_line, question_text, reference_text
from arena_desktop.itemmodels.table import ColumnTable
from arena_desktop.views.cases import CasesView
from arena_desktop.widgets.strip import Message as Strip
from engine.domain import Case
from engine.project import load_project
from providers.base import Message
from tests.views.setup_world import CONFIG, TESTS, World, forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


@pytest.fixture
def page(world: World, qtbot: QtBot) -> CasesView:
    """The page before any project is open."""
    view = CasesView(world)
    qtbot.addWidget(view)
    view.resize(1400, 740)
    with qtbot.waitExposed(view):
        view.show()
    return view


def opened(page: CasesView, world: World, qtbot: QtBot, tests: str = TESTS) -> CasesView:
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.open(world.project(CONFIG, tests))
    qtbot.waitUntil(lambda: world.background.busy == 0)
    return page


def column(page: CasesView, name: str) -> list[str]:
    section = page.rows.section_of(name)
    return [page.rows.index(row, section).data() for row in range(page.rows.rowCount())]


def test_without_a_project_it_says_so(page: CasesView) -> None:
    assert "No project is open." in texts(page)


def test_the_table_tells_question_answer_marking_and_state(
    page: CasesView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    assert column(page, "name") == ["coat", "No name", "lost", "price"]
    assert column(page, "question")[1] == "Hello, ¶ where is my parcel?"
    assert column(page, "answer") == ["refund", "delivery", "", ""]
    assert column(page, "marking")[0] == "Is the right label"
    assert column(page, "marking")[3] == "Mentions"
    assert column(page, "tags")[0] == "clothes, refund"
    assert column(page, "ok") == ["Ready", "Ready", "No right answer", "Ready"]


def test_a_strip_leads_to_the_tests_that_cannot_be_marked(
    page: CasesView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    (message,) = page.strips.messages()
    assert message.first == "1 test cannot be marked."
    assert message.text == "It has no right answer."
    message.buttons[0].action()
    assert [row.name for row in page.rows.shown_rows()] == ["lost"]
    assert page.pane.title.text() == "Test 3"
    assert any(text.startswith("This test has no right answer") for text in texts(page.pane))


def test_the_strip_goes_when_everything_is_mended(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    world.project(CONFIG, TESTS.replace("It never came.", "It never came., reference: delivery"))
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.reload()
    qtbot.waitUntil(lambda: world.background.busy == 0)
    assert page.strips.messages() == []
    assert column(page, "ok") == ["Ready"] * 4


def test_tags_and_words_filter_together(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page._tags.setCurrentIndex(page._tags.findText("parcel"))
    assert column(page, "number") == ["2", "3"]
    page.bar.field.setText("never")
    page.bar.apply()
    assert column(page, "number") == ["3"]
    page.bar.clear_filter()
    page._tags.setCurrentIndex(0)
    assert page.rows.shown_count() == 4


def test_the_pane_shows_a_test_in_full_and_steps_by_key(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.table.select_key("coat")
    assert page.pane.title.text() == "Test 1"
    assert "The coat is too small." in texts(page.pane)
    down = page.pane.findChild(object, "button_down")
    qtbot.keyClick(down, Qt.Key.Key_Space)
    assert page.pane.title.text() == "Test 2"
    assert "Hello,\nwhere is my parcel?\n" in texts(page.pane)
    page.table.select_key("price")
    assert "Mentions, must pass" in texts(page.pane)
    qtbot.keyClick(down, Qt.Key.Key_Space)
    assert page.pane.title.text() == "Test 4", "the last one stays"


def test_enter_goes_to_the_pane(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.table.select_key("coat")
    qtbot.keyClick(page.table, Qt.Key.Key_Return)
    assert page.focusWidget() is page.pane.area


def test_left_out_tests_are_grey_and_say_so(page: CasesView, world: World, qtbot: QtBot) -> None:
    config = CONFIG.replace("tests: {paths: [tests.yaml]}", "tests: {paths: [tests.yaml], tags: [refund]}")
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.open(world.project(config))
    qtbot.waitUntil(lambda: world.background.busy == 0)
    assert column(page, "ok") == ["Ready", "Left out", "Left out", "Left out"]
    assert [row.counts for row in page.rows.rows()] == [True, False, False, False]
    assert "4 tests, 3 left out" in texts(page)


def test_no_tests_is_an_invitation(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, "tests: []\n")
    assert "No test cases yet." in texts(page)
    page.card.empty_pressed.emit()
    sheet = page.findChild(AddTestsDialog)
    assert sheet is not None
    assert sheet.isVisible()
    sheet.reject()


def test_markup_in_a_test_is_shown_as_it_is(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, "tests:\n  - {id: a, input: '<b>bold</b>', reference: refund}\n")
    page.table.select_key("a")
    assert "<b>bold</b>" in texts(page.pane)


def test_every_control_has_a_name_and_no_word_is_forbidden(
    page: CasesView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    page.table.select_key("lost")
    assert nameless(page) == []
    assert forbidden(texts(page)) == []


def test_the_model_keeps_qts_rules(world: World, qtbot: QtBot) -> None:
    project = load_project(world.project())
    model = ColumnTable(case_columns(), key=lambda row: row.case.id)
    tester = QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows(case_rows(project, project.problems))
    model.sort(1)
    model.set_filter("coat")
    assert model.rowCount() == 1
    assert tester.model() is model


def test_ten_thousand_tests_make_rows_in_a_moment(world: World, tmp_path: Path) -> None:
    lines = "".join(
        f'{{"id": "t{n}", "input": "Question {n}", "reference": "refund"}}\n' for n in range(10_000)
    )
    folder = world.project(CONFIG.replace("tests.yaml", "tests.jsonl"))
    (folder / "tests.jsonl").write_text(lines, encoding="utf-8")
    rows = case_rows(load_project(folder), ())
    assert len(rows) == 10_000
    assert rows[-1].name == "t9999"


def test_a_huge_text_is_one_short_line_in_the_table() -> None:
    assert len(one_line("word " * 100_000)) == 401
    assert one_line("a\r\nb\n\nc") == "a ¶ b ¶ ¶ c"


def test_conversations_templates_and_several_answers_read_as_text() -> None:
    turns = (Message("system", "Be kind."), Message("user", "Hello"), Message("assistant", "Yes?"))
    assert question_text(Case("a", messages=turns)) == "Instructions: Be kind.\n\nPerson: Hello\n\nAI: Yes?"
    assert question_text(Case("a", vars={"days": 40})) == "days: 40"
    assert reference_text(Case("a", reference=("yes", "no"))) == "yes\nno"
    assert reference_text(Case("a", reference={"n": 1})) == '{\n "n": 1\n}'
    assert reference_text(Case("a")) == ""


def test_tests_typed_into_the_sheet_are_in_the_project(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    before = len(column(page, "name"))
    page.add_tests()
    sheet = page.findChild(AddTestsDialog)
    assert sheet is not None
    assert not sheet.button_add.isEnabled()
    question = sheet.lines.section_of("question")
    sheet.lines.setData(sheet.lines.index(0, question), "Where is my refund?")
    sheet.lines.setData(sheet.lines.index(0, question + 1), "refund")
    sheet.lines.setData(sheet.lines.index(1, question + 1), "an answer without a question")
    assert sheet.button_add.text() == "Add 1 test"
    assert "1 line has no question and is left out." in texts(sheet)
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        sheet.button_add.click()
    qtbot.waitUntil(lambda: world.background.busy == 0)
    assert len(column(page, "name")) == before + 1
    assert column(page, "question")[-1] == "Where is my refund?"
    assert world.projects.project is not None
    assert (world.projects.project.root / "tests.yaml").read_text("utf-8").startswith(TESTS)


def test_a_spreadsheet_is_pasted_below_what_is_there(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.add_tests()
    sheet = page.findChild(AddTestsDialog)
    assert sheet is not None
    QGuiApplication.clipboard().setText("Name\tRight answer\tQuestion\r\nlate\tdelivery\tStill waiting.\r\n")
    sheet.paste()
    sheet.paste()
    assert [(test.name, test.question) for test in sheet.tests] == [("late", "Still waiting.")] * 2
    assert sheet.button_add.text() == "Add 2 tests"
    assert not forbidden(texts(sheet))
    assert not nameless(sheet)
    sheet.reject()


def settled(world: World, qtbot: QtBot, doing: Callable[[], None]) -> None:
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        doing()
    qtbot.waitUntil(lambda: world.background.busy == 0)


def test_a_test_is_given_its_right_answer(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.table.select_key("lost")
    page.pane.button_change.click()
    dialog = page.findChild(ChangeTestDialog)
    assert dialog is not None
    assert dialog.question.toPlainText() == "It never came."
    dialog.question.setPlainText(" ")
    assert not dialog.button_change.isEnabled()
    dialog.question.setPlainText("It never came.")
    dialog.answer.setPlainText("delivery")
    assert not forbidden(texts(dialog))
    assert not nameless(dialog)
    settled(world, qtbot, dialog.button_change.click)
    assert "1 test cannot be marked." not in " ".join(texts(page))
    assert column(page, "answer")[2] == "delivery"


def test_a_deleted_test_comes_back(page: CasesView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    said: list[Strip] = []
    world.message_wanted.connect(said.append)
    page.table.select_key("coat")
    settled(world, qtbot, page.pane.button_delete.click)
    assert "coat" not in column(page, "name")
    assert said[-1].first == "1 test deleted."
    settled(world, qtbot, said[-1].buttons[0].action)
    assert column(page, "name")[0] == "coat"
    assert world.projects.project is not None
    assert (world.projects.project.root / "tests.yaml").read_text("utf-8") == TESTS


def test_one_test_is_marked_in_its_own_way_and_follows_again(
    page: CasesView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    page.table.select_key(page.rows.row_key(0))
    for way, kinds in ((True, ["length"]), (False, ["classification"])):
        page.pane.button_marking.click()
        dialog = page.findChildren(ChangeChecksDialog)[-1]
        assert nameless(dialog) == []
        assert dialog.combo_way is not None
        dialog.combo_way.setCurrentIndex(dialog.combo_way.findData(way))
        if way:
            (row,) = dialog.list.rows()
            row.combo.setCurrentIndex(row.combo.findData("length"))
            assert row.form is not None
            row.form.fields["max_words"].main.setValue(5)
        with qtbot.waitSignal(world.projects.examined, timeout=10_000):
            dialog.button_change.click()
        project = world.projects.project
        assert project is not None
        case = project.all_cases[0]
        assert [check.type for check in case.checks] == kinds
        assert case.own_checks is way


def test_a_conversation_can_be_marked_in_another_way(page: CasesView, world: World, qtbot: QtBot) -> None:
    tests = "tests:\n  - id: talk\n    input:\n      - {role: user, content: Hello}\n    reference: R\n"
    opened(page, world, qtbot, tests=tests)
    page.table.select_key(page.rows.row_key(0))
    assert page.pane.button_marking.isVisible()
    assert not page.pane.button_change.isVisible(), "its question is not one plain text"
