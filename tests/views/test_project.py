"""Project: values as text, must-haves with who states them, faults with their place, the file pane."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from arena_desktop.dialogs.change_project import ChangeProjectDialog
from arena_desktop.views.project import ProjectView
from arena_desktop.views.setup_parts import SHOWN_CHARACTERS, ValueText
from arena_desktop.wording.must_haves import must_haves, words_of
from arena_desktop.wording.setup import asking_rows, day_words, limit_rows, shares, weights_sentence
from engine.config.schema import Budgets, Config, Constraints, RunSettings
from engine.domain import Problem, Severity
from tests.views.setup_world import CONFIG, World, forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")
PRIVATE = CONFIG.replace(
    "constraints:", "constraints:\n  privacy_required: [training_opt_out]\n  required_features: [vision]"
)


@pytest.fixture
def page(world: World, qtbot: QtBot) -> ProjectView:
    """The page before any project is open."""
    view = ProjectView(world)
    qtbot.addWidget(view)
    view.resize(1040, 740)
    with qtbot.waitExposed(view):
        view.show()
    return view


def opened(page: ProjectView, world: World, qtbot: QtBot, config: str = CONFIG) -> ProjectView:
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.open(world.project(config))
    return page


def test_without_a_project_it_says_so_and_leads_home(page: ProjectView, world: World, qtbot: QtBot) -> None:
    assert "No project is open." in texts(page)
    assert not page.button_show_file.isVisible()
    qtbot.mouseClick(page._nothing.button, Qt.MouseButton.LeftButton)
    assert world.pages == ["home"]


def test_the_general_part_is_text_that_can_be_copied(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    found = texts(page)
    for text in (
        "Customer replies",
        "Answer customer emails about refunds.",
        "You answer mails from customers. Be short.",
        "42 characters",
        "$5.00",
        "Stop and keep what we have",
    ):
        assert text in found
    assert page.findChildren(QLineEdit) == [], "nothing looks like a field that cannot be used"
    flags = page._name.label.textInteractionFlags()
    assert flags & Qt.TextInteractionFlag.TextSelectableByKeyboard
    assert page._name.label.textFormat() == Qt.TextFormat.PlainText


def test_must_haves_say_how_many_models_state_them(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, PRIVATE)
    found = texts(page)
    assert "Must not train on our data" in found
    assert "2 of 3 models state this" in found, (
        "practice models stay here; the switched-off one is not counted"
    )
    assert "Must be able to read pictures" in found
    assert "At least 60 out of 100 right" in found
    assert "No more than $2.00 per 100 answers" in found
    assert found.count("measured in a run") == 2


def test_no_must_haves_is_a_sentence(page: ProjectView, world: World, qtbot: QtBot) -> None:
    config = CONFIG.replace("  min_accuracy: 0.6\n", "").replace("  max_cost_per_1k_calls_usd: 20\n", "")
    opened(page, world, qtbot, config.replace("constraints:\n", ""))
    assert "No must-haves yet: every model may take part." in texts(page)


def test_faults_are_listed_with_place_and_what_to_do(page: ProjectView, world: World, qtbot: QtBot) -> None:
    config = CONFIG.replace("budgets: {max_run_usd: 5", "weigths: 3\nbudgets: {max_run_usd: many")
    opened(page, world, qtbot, config)
    assert page.faults.isVisible()
    found = texts(page)
    assert any(text.startswith("config.yaml:") for text in found)
    assert any("weigths" in text for text in found)
    fault = next(problem for problem in world.projects.project.problems if problem.line is not None)
    page._on_show_place(fault)
    assert page.pane.isVisible()
    assert page.pane.text.lit_line() == fault.line
    assert page.pane.text.textCursor().blockNumber() + 1 == fault.line


def test_a_fault_of_a_test_speaks_of_the_test_and_not_of_the_file(
    page: ProjectView, world: World, qtbot: QtBot
) -> None:
    fault = Problem(
        Severity.ERROR, "The check `x` needs it.", "Write a `reference`.", code="reference_missing"
    )
    page.faults.set_problems([fault])
    page.show()
    said = texts(page.faults)
    assert any(text.startswith("This test has no right answer") for text in said)
    assert any(text.startswith("Write what a good answer says") for text in said)
    assert not any("`" in text for text in said)


def test_a_sound_project_lists_no_faults(page: ProjectView, world: World, qtbot: QtBot) -> None:
    tests = "tests:\n  - {id: a, input: Q, reference: refund}\n"
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.open(world.project(CONFIG, tests))
    assert not page.faults.isVisible()


def test_the_settings_file_can_be_shown_and_closed_by_key(
    page: ProjectView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    qtbot.mouseClick(page.button_show_file, Qt.MouseButton.LeftButton)
    assert page.pane.isVisible()
    assert page.pane.text.toPlainText() == CONFIG
    assert page.pane.text.isReadOnly()
    assert page.button_show_file.text() == "Hide the settings file"
    qtbot.keyClick(page.pane.text, Qt.Key.Key_Escape)
    assert not page.pane.isVisible()
    assert page.button_show_file.text() == "Show the settings file"


def test_reading_again_shows_what_was_changed_elsewhere(
    page: ProjectView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    page.show_file()
    world.project(CONFIG.replace("project: Customer replies", "project: Parcels"))
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.reload()
    assert page._name.text == "Parcels"
    assert "project: Parcels" in page.pane.text.toPlainText()


def test_a_file_that_is_gone_is_said(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    world.projects.project.config_file.unlink()
    page.show_file()
    assert page.strips.messages()[0].first == "The file cannot be read."
    assert not page.pane.isVisible()


def test_narrow_windows_put_the_pane_below(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.set_narrow(True)
    assert page._splitter.orientation() == Qt.Orientation.Vertical
    page.set_narrow(False)
    assert page._splitter.orientation() == Qt.Orientation.Horizontal


def test_closing_the_project_empties_the_page(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    world.projects.close()
    assert "No project is open." in texts(page)
    assert "Customer replies" not in texts(page)


def test_every_control_has_a_name_and_no_word_is_forbidden(
    page: ProjectView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot, PRIVATE)
    page.show_file()
    assert nameless(page) == []
    words = [text for text in texts(page) if text != page.pane.text.toPlainText()]
    assert forbidden(words) == []


def test_a_very_long_text_is_cut_until_it_is_asked_for(qtbot: QtBot, world: World) -> None:
    value = ValueText("x" * (SHOWN_CHARACTERS + 500))
    qtbot.addWidget(value)
    assert len(value.label.text()) == SHOWN_CHARACTERS + 1
    assert "4500" in value._more.text().replace(",", "")
    value._more.click()
    assert len(value.label.text()) == SHOWN_CHARACTERS + 500


def test_markup_of_a_project_is_shown_as_it_is(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, CONFIG.replace("You answer mails", "<b>You</b> answer <img src=x> mails"))
    assert "<b>You</b> answer <img src=x> mails from customers. Be short." in texts(page)


# ---- words


def test_all_kinds_of_must_haves_have_words() -> None:
    limits = Constraints(
        min_accuracy=0.8,
        max_error_rate=0.05,
        max_cost_per_1k_calls_usd=Decimal(5),
        max_latency_p95_ms=6200,
        required_features=("json_mode",),
        min_context_tokens=128_000,
        privacy_required=("zdr", "on_prem", "dpa"),
    )
    sentences = [item.sentence for item in must_haves(Config(constraints=limits))]
    assert sentences == [
        "Must not keep our data",
        "Must run on our own computers",
        "Must have signed a data-protection contract",
        "Must be able to answer in a fixed form",
        f"Must read about {words_of(128_000)} words at once",
        "At least 80 out of 100 right",
        "At most 5 out of 100 questions may fail",
        "No more than $0.50 per 100 answers",
        "19 of 20 answers within 6.2 s",
    ]


def test_limits_that_are_not_set_are_said_and_never_zero() -> None:
    assert limit_rows(Budgets())[0] == ("Stop a run at", "No limit")
    assert limit_rows(Budgets())[2][1] == "Never asks"
    assert limit_rows(Budgets(max_run_usd=Decimal(0)))[0][1] == "free"
    assert limit_rows(Budgets(on_exceed="warn"))[3][1] == "Carry on and warn"


def test_how_questions_are_asked_reads_plainly() -> None:
    rows = dict(asking_rows(RunSettings(trials=3, retries=0, fail_fast=True)))
    assert rows["Each question is asked"] == "3 times"
    assert rows["Give up on an answer after"] == "2 minutes"
    assert rows["After a failure, try"] == "Not again"
    assert rows["When a question fails for good"] == "Stop the run"


def test_shares_are_whole_and_make_a_hundred() -> None:
    listed = shares({"accuracy": 1, "cost": 1, "latency": 1})
    assert sum(points for _metric, _name, points in listed) == 100
    assert sorted(points for _metric, _name, points in listed) == [33, 33, 34]
    assert shares({"accuracy": 0.0}) == []


@pytest.mark.parametrize(
    ("weights", "sentence"),
    [
        ({"accuracy": 1}, "Only one thing counts: getting it right."),
        ({"accuracy": 2, "cost": 2}, "These count the same: getting it right and low cost."),
        (
            {"latency": 15, "accuracy": 60, "cost": 25},
            "What matters most is getting it right, then low cost, then speed.",
        ),
        ({}, "Nothing has a weight yet."),
    ],
)
def test_what_matters_most_is_a_sentence(weights: dict[str, float], sentence: str) -> None:
    assert weights_sentence(weights) == sentence


def test_a_day_of_another_year_names_it() -> None:
    assert day_words(date(2019, 6, 24)) == "24 Jun 2019"


def test_the_form_writes_only_what_is_different(page: ProjectView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.button_change.click()
    form = page.findChild(ChangeProjectDialog)
    assert form is not None
    assert form.values() == {}
    assert not forbidden(texts(form))
    assert not nameless(form)
    form.edit_name.setText(" ")
    assert not form.button_change.isEnabled()
    form.edit_name.setText("Replies")
    form.spin_right.setValue(75)
    form.spin_limit.set_amount(None)
    assert form.values() == {
        ("project",): "Replies",
        ("constraints", "min_accuracy"): 0.75,
        ("budgets", "max_run_usd"): None,
    }
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        form.button_change.click()
    assert "Replies" in texts(page)
    assert "At least 75 out of 100 right" in texts(page)
    assert "No limit" in texts(page)
