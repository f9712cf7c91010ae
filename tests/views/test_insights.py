"""What lies behind a board: causes counted, wavering and telling tests, own marks, links to answers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.context import AppContext
from arena_desktop.desks.result_desk import Result
from arena_desktop.theme.switch import Theme
from arena_desktop.views.insights import AnswersWanted, InsightsSection
from arena_desktop.widgets.buttons import Button
from arena_desktop.widgets.labels import Label
from arena_desktop.wording.insights import flaky_words, group_caption, group_title, groups_caption
from engine.errors import WorldError
from engine.stats.board_json import board_from_json
from engine.stats.failure_groups import Detail, Failing, FailureGroup
from engine.storage.rows import FlakyCase
from engine.storage.store import Store
from tests.views import duel_world, insight_world
from tests.views.run_world import close_context, make_context
from tests.views.setup_world import forbidden, nameless, shown, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


@pytest.fixture
def context(theme: Theme, tmp_path: Path) -> Iterator[AppContext]:
    made = make_context(tmp_path / "home")
    yield made
    close_context(made)


def stored(context: AppContext) -> Result:
    run = context.results.store().run("last")
    return Result(run, board_from_json(run.board) if run.board else None)


def opened(context: AppContext, qtbot: QtBot) -> InsightsSection:
    section = InsightsSection(context)
    qtbot.addWidget(section)
    section.resize(1000, 900)
    section.show()
    section.show_result(stored(context))
    qtbot.waitUntil(lambda: section.insights is not None)
    QApplication.processEvents()
    return section


@pytest.fixture
def section(context: AppContext, qtbot: QtBot) -> InsightsSection:
    insight_world.write_run(context.results.path)
    return opened(context, qtbot)


def labels(section: InsightsSection) -> list[str]:
    return [label.text() for label in shown(section, Label)]


def test_causes_are_counted_largest_first(section: InsightsSection, context: AppContext) -> None:
    assert section.groups.titles() == [
        "The second AI did not pass it",
        "The answer was cut off at its longest length: the second AI did not pass it",
        "It gave no answer in time",
        "The model refused to answer",
        "Could not be marked: the second AI gave no clear mark",
    ]
    said = labels(section)
    assert "40 answers" in said
    assert "4 questions" in said
    assert "on 16 tests · Cedar Mini 22, Birch Mini 10, Aster Large 8" in said
    assert "52 answers or questions failed, for 5 causes." in said
    failed = list(context.results.store().failed_calls("run_1"))
    assert len(failed) == 52


def test_every_line_leads_to_its_answers(section: InsightsSection, qtbot: QtBot) -> None:
    for name, wanted in (
        (
            "button_failure_groups_2",
            AnswersWanted("It gave no answer in time", ("mail-05", "mail-16"), "cedar"),
        ),
        ("button_telling_tests_0", AnswersWanted("Mail 4", ("mail-04",))),
        ("button_wavering_tests_1", AnswersWanted("Mail 7", ("mail-07",), "birch")),
    ):
        button = section.findChild(Button, name)
        assert button is not None
        with qtbot.waitSignal(section.answers_wanted) as caught:
            button.click()
        assert caught.args == [wanted]
    with qtbot.waitSignal(section.answers_wanted) as caught:
        section.marks.show_marked.click()
    assert caught.args[0].case_ids == tuple(f"mail-{n:02d}" for n in range(10))


def test_telling_and_wavering_tests_say_their_figures(section: InsightsSection) -> None:
    said = labels(section)
    assert "Tests that tell Aster Large and Birch Mini apart" in said
    assert "They differ on 9 of 23 tests." in said
    assert "Aster Large 100, Birch Mini 0" in said
    assert "Birch Mini: right 1 of 2 times" in said
    assert section.flaky.titles() == ["Mail 1", "Mail 7", "Mail 13", "Mail 19"]


def test_the_first_lines_show_and_the_rest_on_demand(section: InsightsSection) -> None:
    assert section.telling.more.text() == "Show 4 more"
    assert len(section.telling.titles()) == 9
    before = len(shown(section.telling, Button))
    section.telling.more.click()
    assert len(shown(section.telling, Button)) == before + 4 - 1


def test_agreement_stands_beside_the_judges_figures(section: InsightsSection) -> None:
    said = section.marks.label.text().splitlines()
    assert said == [
        "You and the second AI gave the same mark to 25 of 28 answers, likely 73 to 96 of 100.",
        "Beyond what luck gives, that is 77 of 100, likely 53 to 100.",
        "The second AI was kinder than you on 2 of these answers and stricter on 1.",
        "The second AI passed 92 of 136 answers. Put right by your marks, about 65 of 100 pass,"
        " likely 48 to 83.",
    ]
    assert "about 86 of 100 (67 to 100)" in labels(section)
    assert "Also called" in section.marks.label.toolTip()


def test_without_marks_it_says_how_to_begin(context: AppContext, qtbot: QtBot) -> None:
    insight_world.write_run(context.results.path, marks=0)
    section = opened(context, qtbot)
    assert section.marks.label.text().startswith("You have not marked an answer yet.")
    assert not section.marks.show_marked.isVisible()


def test_few_marks_claim_nothing(context: AppContext, qtbot: QtBot) -> None:
    insight_world.write_run(context.results.path, marks=4)
    section = opened(context, qtbot)
    assert section.marks.label.text().splitlines() == [
        "You and the second AI gave the same mark to 4 of 4 answers.",
        "Mark 6 more and it can begin to tell something.",
    ]


def test_a_run_with_one_trial_says_that_wavering_cannot_be_seen(context: AppContext, qtbot: QtBot) -> None:
    duel_world.write_run(context.results.path)
    section = opened(context, qtbot)
    assert "Each question was asked once, so it cannot be seen which answers waver." in labels(section)
    assert section.flaky.titles() == []


def test_a_run_under_way_shows_nothing_yet(section: InsightsSection, context: AppContext) -> None:
    result = stored(context)
    section.show_result(Result(result.stored, result.board, live=True))
    assert section.insights is None
    assert not section.groups.isVisible()
    section.show_result(None)
    assert not section.marks.isVisible()


def test_a_store_that_cannot_be_read_is_a_message(
    section: InsightsSection, context: AppContext, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged(*_args: object) -> None:
        raise WorldError("store_damaged", "The history is damaged.", hint="Begin a new one.")

    monkeypatch.setattr(Store, "flaky_cases", damaged)
    with qtbot.waitSignal(section.desk.failed):
        section.show_result(stored(context))
    assert "The history is damaged. Begin a new one." in texts(section)


def test_names_and_words(section: InsightsSection) -> None:
    assert nameless(section) == []
    assert forbidden(texts(section)) == []


def test_narrow_puts_the_cards_below_each_other(section: InsightsSection) -> None:
    assert section.flaky.y() == section.telling.y()
    section.set_narrow(True)
    section.resize(640, 1200)
    QApplication.processEvents()
    assert section.flaky.y() > section.telling.y()


NAMES = {key: f"Model {key.upper()}" for key in "abcdef"}


def group(kind: Failing, code: str, **more: object) -> FailureGroup:
    values = {"count": 3, "cases": ("c0", "c1"), "by_model": {"a": 2, "b": 1}, **more}
    return FailureGroup(kind, code, **values)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("found", "title"),
    [
        (group(Failing.WRONG, "wrong_label", check="classification"), "It names the wrong label"),
        (group(Failing.WRONG, "own_code", sample="The greeting is missing."), "The greeting is missing"),
        (group(Failing.WRONG, ""), "It is not right"),
        (group(Failing.EMPTY, "only_reasoning"), "The answer held only its thinking"),
        (group(Failing.EMPTY, "no_answer"), "The answer was empty"),
        (group(Failing.FAILED, "auth", status=401), "The access key was not accepted"),
        (group(Failing.FAILED, "unknown", status=503), "The service reported a fault of its own"),
        (
            group(Failing.UNMARKED, "pattern_bad", sample="The pattern has a fault."),
            "Could not be marked: the pattern has a fault",
        ),
        (group(Failing.UNMARKED, ""), "Could not be marked: the check could not decide"),
    ],
)
def test_titles_of_groups(found: FailureGroup, title: str) -> None:
    assert group_title(found) == title


def test_captions_name_models_and_what_is_common() -> None:
    found = group(
        Failing.WRONG,
        "wrong_label",
        details=(Detail("swap", "billing", "refund", 2), Detail("swap", "other", "refund", 1)),
    )
    assert group_caption(found, NAMES) == (
        "on 2 tests · Model A 2, Model B 1"
        " · “billing” instead of “refund” 2 times; “other” instead of “refund” once"
    )
    field = Detail("field", "total", "", 3)
    many = group(Failing.WRONG, "x", by_model=dict.fromkeys("abcdef", 1), details=(field,))
    assert group_caption(many, NAMES) == (
        "on 2 tests · Model A 1, Model B 1, Model C 1, Model D 1, 2 more models · “total” 3 times"
    )


def test_wavering_scores_that_are_no_passes() -> None:
    case = FlakyCase("run_1", "c0", "a", 3, 0.2, 0.9, 0.5)
    assert flaky_words(case, NAMES) == "Model A: between 20 and 90 of 100, 50 on average"
    whole = FlakyCase("run_1", "c0", "a", 3, 0.0, 1.0, 2 / 3)
    assert flaky_words(whole, NAMES) == "Model A: right 2 of 3 times"


def test_a_count_of_one_is_singular_and_only_what_failed_is_named() -> None:
    answers = FailureGroup(Failing.WRONG, "wrong_label", 9, ("a",), dict.fromkeys("vwxyz", 1))
    assert group_caption(answers, {}).endswith("y 1, 1 more model")
    assert groups_caption((answers,)) == "9 answers failed, all for one cause."
    asked = FailureGroup(Failing.FAILED, "server", 1, ("a",), {"v": 1}, status=500)
    assert groups_caption((asked,)) == "One question failed."
    assert groups_caption((answers, asked)) == "10 answers or questions failed, for 2 causes."


def test_what_was_cut_off_says_what_is_wrong_with_it() -> None:
    cut = [FailureGroup(Failing.CUT_OFF, code, 2, ("a",), {"v": 2}) for code in ("wrong_label", "no_label")]
    assert [group_title(group) for group in cut] == [
        "The answer was cut off at its longest length: it names the wrong label",
        "The answer was cut off at its longest length: it names none of the labels",
    ]
