"""Scoring: ways of marking in words, the live tester, what matters, how sure it has to be."""

from __future__ import annotations

import threading

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QBoxLayout
from pytestqt.qtbot import QtBot

from arena_desktop.dialogs.change_weights import ChangeWeightsDialog
from arena_desktop.views.check_tester import Marking, can_be_tried, marking_title
from arena_desktop.views.scoring import ScoringView, ShareBar, markings
from arena_desktop.wording.setup import coverage_sentence, margin_sentence, option_value
from engine.domain import CheckSpec
from engine.project import load_project
from engine.scoring.registry import CHECKS
from engine.scoring.sandbox import SandboxState
from engine.scoring.seams import SandboxRequest, SandboxResult
from tests.views.setup_world import CONFIG, TESTS, World, forbidden, nameless, shown, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")


@pytest.fixture
def page(scoring_page: ScoringView) -> ScoringView:
    return scoring_page


def opened(
    page: ScoringView, world: World, qtbot: QtBot, config: str = CONFIG, tests: str = TESTS
) -> ScoringView:
    with qtbot.waitSignal(world.projects.opened, timeout=10_000):
        world.projects.open(world.project(config, tests))
    return page


def tried(page: ScoringView, world: World, qtbot: QtBot, answer: str) -> tuple[str, str]:
    """Chip and reason after an answer was typed."""
    tester = page._tester
    tester.answer.setPlainText(answer)
    tester.try_now()
    qtbot.waitUntil(lambda: world.background.busy == 0, timeout=10_000)
    return tester.chip.text, tester._reason.text()


def choose(page: ScoringView, title: str) -> None:
    page._tester._check.setCurrentIndex(page._tester._check.findText(title))


def test_without_a_project_it_says_so(page: ScoringView) -> None:
    assert "No project is open." in texts(page)


def test_ways_of_marking_are_in_words_with_their_options(
    page: ScoringView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    found = texts(page)
    assert "Is the right label" in found
    assert CHECKS["classification"].rule in found
    assert "refund, delivery" in found
    assert "3 tests" in found
    assert "Mentions" in found
    assert "Must pass" in found


def test_a_second_ai_is_marked_as_costing_extra_and_not_offered_to_try(
    page: ScoringView, world: World, qtbot: QtBot
) -> None:
    tests = "tests:\n  - {id: a, input: Q, checks: [{type: llm_judge}]}\n"
    opened(page, world, qtbot, CONFIG, tests)
    assert "Costs extra" in texts(page)
    offered = [page._tester._check.itemText(n) for n in range(page._tester._check.count())]
    assert "A second AI marks the answers" not in offered
    assert "Is exactly" in offered


def test_the_tester_marks_at_once_by_the_code_of_a_run(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    assert page._tester.right.toPlainText() == "refund", "the first right answer is there already"
    chip, reason = tried(page, world, qtbot, "I think refund.")
    assert chip == "Pass"
    assert "refund" in reason
    chip, reason = tried(page, world, qtbot, "delivery")
    assert chip == "Fail"
    chip, reason = tried(page, world, qtbot, "refund or delivery")
    assert chip == "Fail"


def test_typing_alone_is_enough(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    qtbot.keyClicks(page._tester.answer, "refund")
    qtbot.waitUntil(lambda: page._tester.chip.text == "Pass", timeout=10_000)


def test_an_empty_answer_asks_for_one(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    tried(page, world, qtbot, "refund")
    tried(page, world, qtbot, "  ")
    assert page._tester._reason.text() == "Type an answer to see its mark."
    assert not page._tester.chip.isVisible()


def test_a_check_that_cannot_decide_gives_no_mark(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    choose(page, "Is the right number")
    page._tester.right.setPlainText("no figure")
    chip, reason = tried(page, world, qtbot, "12")
    assert chip == "No mark"
    assert reason


def test_several_accepted_answers_stay_several(page: ScoringView, world: World, qtbot: QtBot) -> None:
    tests = "tests:\n  - {id: a, input: Q, reference: [nine, '9'], checks: [{type: exact_match}]}\n"
    opened(page, world, qtbot, CONFIG, tests)
    assert page._tester.right.toPlainText() == "nine\n9"
    assert tried(page, world, qtbot, "9")[0] == "Pass"


def test_choosing_a_test_takes_its_right_answer(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page._tester._test.setCurrentIndex(1)
    assert page._tester.right.toPlainText() == "delivery"
    assert "Question: Hello, ¶ where is my parcel?" in texts(page)


def test_weights_are_shares_with_a_sentence(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    found = texts(page)
    assert "What matters most is getting it right, then low cost, then speed." in found
    bars = [bar.accessibleName() for bar in shown(page, ShareBar)]
    assert bars == ["Getting it right: 60 of 100", "Low cost: 25 of 100", "Speed: 15 of 100"]
    assert "The verdict compares the models on “Getting it right”." in found


def test_the_gap_that_does_not_matter_is_a_sentence(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    assert "A gap of less than 5 points of 100 does not matter to you." in texts(page)
    assert margin_sentence(0.025).startswith("A gap of less than 2.5 points")
    assert coverage_sentence(0.9).endswith("at least 90 of 100 tests.")


def test_switched_off_statistics_are_said(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot, CONFIG + "statistics: {enabled: false}\n")
    assert any(text.startswith("The project has switched this off") for text in texts(page))


def test_narrow_windows_stack_the_cards(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.set_narrow(True)
    assert page._columns.direction() == QBoxLayout.Direction.TopToBottom
    page.set_narrow(False)
    assert page._columns.direction() == QBoxLayout.Direction.LeftToRight


def test_every_control_has_a_name_and_no_word_is_forbidden(
    page: ScoringView, world: World, qtbot: QtBot
) -> None:
    opened(page, world, qtbot)
    tried(page, world, qtbot, "refund")
    assert nameless(page) == []
    assert forbidden(texts(page)) == []


def test_tab_leaves_the_text_fields(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page._tester.right.setFocus()
    qtbot.keyClick(page._tester.right, Qt.Key.Key_Tab)
    assert page.focusWidget() is page._tester.answer


def test_a_project_without_tests_shows_its_default(world: World) -> None:
    project = load_project(world.project(CONFIG, "tests: []\n"))
    assert [(item.name, item.tests) for item in markings(project)] == [("classification", 0)]


def test_checks_that_differ_only_in_their_right_answer_are_one_way(world: World) -> None:
    tests = "tests:\n" + "".join(
        f"  - {{id: t{n}, input: Q, checks: [{{type: contains, reference: word{n}}}]}}\n" for n in range(5)
    )
    (only,) = markings(load_project(world.project(CONFIG, tests)))
    assert only.tests == 5


def test_all_titles_and_options_have_words() -> None:
    for check in CHECKS.values():
        assert marking_title(Marking(CheckSpec(check.name), 1))[0].isupper()
        for option in check.options:
            assert option.title, f"{check.name}.{option.name}"
            for choice in option.choices:
                assert option_value(option, choice) != choice, f"{choice} of {check.name} has no words"
    turned = marking_title(Marking(CheckSpec("contains", negate=True), 1))
    assert turned == "Mentions, it must not"
    assert marking_title(Marking(CheckSpec("my_scorer"), 1)) == "Own check: my_scorer"


def test_settings_are_shown_in_the_unit_of_their_words(page: ScoringView, world: World, qtbot: QtBot) -> None:
    checks = """
      - {type: json_match, lenient: true, ignore_keys: [id, at]}
      - {type: contains, threshold: 0.5}
      - {type: numeric, rel_tol: 0.02, locale: de}
      - {type: latency, max_ms: 1500}
      - {type: cost, max_usd: 0.002}
      - {type: pairwise_judge, against: reference, rubric: [{name: kind}, brief]}
"""
    tests = f"tests:\n  - id: a\n    input: Q\n    reference: '1'\n    checks:{checks}"
    opened(page, world, qtbot, CONFIG, tests)
    found = texts(page)
    assert forbidden(found) == []
    for title, value in (
        ("Small slips in the JSON are fine, such as extra commas", "Yes"),
        ("Fields that do not count", "id, at"),
        ("Passes from, of 100", "50"),
        ("May be off by, of 100", "2"),
        ("How numbers are written", "1.234,5 as in German"),
        ("Longest wait, in seconds", "1.5"),
        ("Highest price of an answer", "$0.002"),
        ("Compared with", "The right answer"),
        ("What it looks at", "kind, brief"),
    ):
        assert found[found.index(title) + 1] == value


def test_paid_and_hand_marking_are_not_tried() -> None:
    assert not any(
        can_be_tried(Marking(CheckSpec(name), 1)) for name in ("llm_judge", "manual", "cost", "own")
    )
    assert can_be_tried(Marking(CheckSpec("semantic"), 1)), "an alias counts as its check"


class SlowSandbox:
    """Is ready only after it was prepared; says what it was given to run."""

    def __init__(self) -> None:
        self.state, self.reason = SandboxState.UNPREPARED, ""
        self.go_on, self.sources = threading.Event(), []

    def prepare(self) -> SandboxState:
        self.state = SandboxState.PREPARING
        assert self.go_on.wait(10)
        self.state = SandboxState.READY
        return self.state

    def __call__(self, request: SandboxRequest) -> SandboxResult:
        self.sources.append(request.source)
        return SandboxResult(1, "", "AssertionError: 3 is not 4")


def test_code_is_tried_in_the_sandbox_that_is_prepared_meanwhile(
    page: ScoringView, world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena_desktop.views.check_tester.is_installed", lambda: True)
    slow, tester = SlowSandbox(), page._tester
    tester.make_sandbox = lambda: slow  # type: ignore[assignment,return-value]
    tests = (
        "tests:\n  - {id: one, input: Write add., eval_type: code_exec, reference: 'assert add(1) == 4'}\n"
    )
    opened(page, world, qtbot, tests=tests)
    choose(page, "The code works")
    tester.answer.setPlainText("def add(a): return 3")
    tester.try_now()
    assert tester._reason.text().startswith("Preparing the sandbox.")
    assert slow.sources == []
    slow.go_on.set()
    qtbot.waitUntil(lambda: tester.chip.text == "Fail", timeout=10_000)
    assert tester._reason.text() == "The code does not work: AssertionError: 3 is not 4."
    assert "def add(a): return 3" in slow.sources[0]


def test_without_the_sandbox_the_tester_says_how_to_get_it(
    page: ScoringView, world: World, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("arena_desktop.views.check_tester.is_installed", lambda: False)
    opened(page, world, qtbot, tests="tests:\n  - {id: one, input: Write add., eval_type: code_exec}\n")
    choose(page, "The code works")
    chip, reason = tried(page, world, qtbot, "x = 1")
    assert chip == "No mark"
    assert "pip install" in reason


def test_what_matters_most_is_changed_in_the_project(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(page, world, qtbot)
    page.button_weights.click()
    dialog = page.findChild(ChangeWeightsDialog)
    assert dialog is not None
    assert not forbidden(texts(dialog))
    assert not nameless(dialog)
    dialog.sliders.sliders["accuracy"].slider.setValue(80)
    assert sum(dialog.sliders.shares().values()) == 100
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        dialog.button_change.click()
    project = world.projects.project
    assert project is not None
    assert project.config.metrics.weights == {"accuracy": 0.8, "cost": 0.13, "latency": 0.07}
    assert "80" in texts(page)


def test_comparing_by_meaning_shows_its_model_and_is_not_offered_to_try(
    page: ScoringView, world: World, qtbot: QtBot
) -> None:
    model = "openai/text-embedding-3-small"
    check = f"{{type: similarity, method: embedding, model: {model}, threshold: 0.8}}"
    tests = f"tests:\n  - {{id: a, input: Q, reference: R, checks: [{check}]}}\n"
    opened(page, world, qtbot, CONFIG, tests)
    found = texts(page)
    for words in ("Asks a model", "Compared by", "Meaning", "The model that compares meanings", model, "80"):
        assert words in found
    assert "Costs extra" not in found
    offered = [page._tester._check.itemData(n) for n in range(page._tester._check.count())]
    assert not any(marking.options.get("method") == "embedding" for marking in offered)
    assert nameless(page) == []
