"""The second AI that marks on Scoring: what is told of it, what can be changed, what marking again costs."""

from __future__ import annotations

import pytest
import yaml
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from arena_desktop.desks.project_settings import change_settings
from arena_desktop.dialogs.change_judge import ChangeJudgeDialog
from arena_desktop.views.scoring import ScoringView
from arena_desktop.wording import judge_setup as words
from engine.config.schema import Config, Judge
from engine.project import Project, load_project
from tests.views.run_world import run_now
from tests.views.setup_world import World, forbidden, nameless, texts

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support propagateSizeHints")

CONFIG = """\
# kept
project: Judged
models: [{key: m, model: "mock:oracle"}]
providers: [{id: gate, kind: openai_compatible, base_url: "http://127.0.0.1:9/v1"}]
judge:
  model: big  # the best one
  provider: gate
  votes: 3
  rubric:
    - {name: true to the facts, weight: 3, must_pass: true, description: No invention}
    - kind
scorers: {default: llm_judge, options: {llm_judge: {threshold: 0.7}}}
tests: {paths: [tests.yaml]}
"""
TESTS = "tests:\n  - {id: a, input: Q, reference: R}\n"


@pytest.fixture
def page(scoring_page: ScoringView) -> ScoringView:
    return scoring_page


def opened(world: World, qtbot: QtBot, config: str = CONFIG) -> Project:
    with qtbot.waitSignal(world.projects.examined, timeout=10_000):
        world.projects.open(world.project(config, TESTS))
    project = world.projects.project
    assert project is not None
    return project


def dialog(project: Project, qtbot: QtBot) -> ChangeJudgeDialog:
    made = ChangeJudgeDialog(project.config)
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_card_tells_everything_that_decides(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(world, qtbot)
    found = texts(page.judge)
    assert "big, asked over gate" in found
    assert "3 times" in found
    assert "70 of 100" in found
    assert "true to the facts, counts 3, must pass\nkind, counts 1" in found
    assert nameless(page.judge) == []
    assert forbidden(found) == []


def test_a_judge_without_a_key_says_so_with_a_way_to_enter_it(
    page: ScoringView, world: World, qtbot: QtBot
) -> None:
    opened(world, qtbot, CONFIG.replace("provider: gate", "provider: openai"))
    assert page.judge.chip.text == "Not ready"
    assert page.judge.label_state.text().startswith("It cannot be asked now: ")
    with qtbot.waitSignal(world.key_wanted) as caught:
        qtbot.mouseClick(page.judge.button_key, Qt.MouseButton.LeftButton)
    assert caught.args == ["openai@api.openai.com"]


def test_a_project_that_needs_none_shows_no_card(page: ScoringView, world: World, qtbot: QtBot) -> None:
    opened(
        world,
        qtbot,
        'project: Plain\nmodels: [{key: m, model: "mock:oracle"}]\ntests: {paths: [tests.yaml]}\n',
    )
    assert not page.judge.isVisible()


def test_a_judge_that_is_missing_is_asked_for(page: ScoringView, world: World, qtbot: QtBot) -> None:
    config = 'project: P\nmodels: [{key: m, model: "mock:oracle"}]\nscorers: {default: llm_judge}\n'
    opened(world, qtbot, config + "tests: {paths: [tests.yaml]}\n")
    assert page.judge.isVisible()
    assert page.judge.label_state.text() == words.none_sentence()


def test_a_change_writes_only_what_is_different(world: World, qtbot: QtBot) -> None:
    project = opened(world, qtbot)
    form = dialog(project, qtbot)
    assert form.values() == {}
    form.edit_model.setText("bigger")
    form.spin_votes.setValue(5)
    form.spin_pass.setValue(80)
    form.criteria.rows()[1].edit_name.setText("very kind")
    form.criteria.rows()[1].check_must.setChecked(True)
    change_settings(project, form.values())
    text = project.config_file.read_text()
    assert "# kept" in text
    assert "model: bigger  # the best one" in text
    config = load_project(project.root).config
    assert (config.judge.model, config.judge.votes, words.pass_share(config)) == ("bigger", 5, 0.8)
    first, second = config.judge.rubric or ()
    assert (first.name, first.weight, first.must_pass, first.description) == (
        "true to the facts",
        3,
        True,
        "No invention",
    )
    assert (second.name, second.must_pass) == ("very kind", True)


def test_words_instead_of_criteria_and_the_other_way_round(world: World, qtbot: QtBot) -> None:
    project = opened(world, qtbot)
    form = dialog(project, qtbot)
    form.edit_rubric.setPlainText("Be fair: it's a must")
    assert not form.button_change.isEnabled()
    for row in form.criteria.rows():
        row.removed.emit(row)
    assert form.button_change.isEnabled()
    change_settings(project, form.values())
    assert load_project(project.root).config.judge.rubric == "Be fair: it's a must"


def test_faults_keep_it_from_being_written(world: World, qtbot: QtBot) -> None:
    form = dialog(opened(world, qtbot), qtbot)
    form.criteria.rows()[1].edit_name.setText("true to the facts")
    assert not form.button_change.isEnabled()
    assert "Two criteria have the same name. Rename one." in texts(form)
    form.criteria.rows()[1].edit_name.setText("kind")
    assert form.button_change.isEnabled()
    form.edit_model.setText(" ")
    assert not form.button_change.isEnabled()
    assert nameless(form) == []


def test_by_keyboard_alone(page: ScoringView, world: World, qtbot: QtBot) -> None:
    project = opened(world, qtbot)
    page.judge.button_change.setFocus()
    qtbot.keyClick(page.judge.button_change, Qt.Key.Key_Space)
    dialogs = [w for w in QApplication.topLevelWidgets() if isinstance(w, ChangeJudgeDialog)]
    (form,) = [w for w in dialogs if w.isVisible()]
    qtbot.keyClicks(form.edit_model, "ger")
    with qtbot.waitSignal(world.projects.opened, timeout=10_000):
        qtbot.keyClick(form.edit_model, Qt.Key.Key_Return)
    assert yaml.safe_load(project.config_file.read_text())["judge"]["model"] in ("ger", "bigger")


def test_a_mark_instead_of_a_share_is_understood(world: World, qtbot: QtBot) -> None:
    config = CONFIG.replace("{threshold: 0.7}", "{pass_mark: 6, scale: 10}")
    project = opened(world, qtbot, config)
    assert words.pass_share(project.config) == pytest.approx(0.6)
    form = dialog(project, qtbot)
    form.spin_pass.setValue(90)
    change_settings(project, form.values())
    assert words.pass_share(load_project(project.root).config) == pytest.approx(0.9)
    assert words.pass_share(Config("p", ())) == 0.5


def test_the_price_stands_beside_the_button_and_then_how_far_it_is(
    page: ScoringView, world: World, qtbot: QtBot
) -> None:
    slow = "params: {{latency_ms: 120, sleep: true}}"
    judge = 'judge: {{model: "mock:judge", provider: mock, rubric: {}, ' + slow + "}}\n"
    start = 'project: P\nmodels: [{key: m, model: "mock:oracle"}]\nscorers: {default: llm_judge}\n'
    end = "run: {provider_concurrency: {mock: 1}}\ntests: {paths: [tests.yaml]}\n"
    tests = "tests:\n" + "".join(f"  - {{id: a{n}, input: Q, reference: R}}\n" for n in range(4))
    run_now(world.project(start + judge.format("Old") + end, tests), world.results.path)
    with qtbot.waitSignal(world.rescoring.looked, timeout=10_000):
        world.projects.open(world.project(start + judge.format("New") + end, tests))
        qtbot.waitUntil(lambda: world.projects.current is not None, timeout=10_000)
        world.results.list_runs("P")
    again = page.again
    assert again.label_price.text() == "The second AI has to be asked about 4 answers. Free."
    qtbot.mouseClick(again.button_rescore, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: again.button_rescore.text() == "Stop marking", timeout=10_000)
    assert again.label_price.text().endswith("of 4 answers.")
    with qtbot.waitSignal(world.rescoring.done, timeout=10_000):
        qtbot.mouseClick(again.button_rescore, Qt.MouseButton.LeftButton)
        assert again.button_rescore.text() == "Stop now"
    qtbot.waitUntil(lambda: again.button_rescore.text() == "Mark run 1 again", timeout=10_000)
    qtbot.waitUntil(lambda: world.background.busy == 0, timeout=10_000)


def test_a_pretend_model_that_marks_is_said_to_be_pretend() -> None:
    config = Config("p", (), judge=Judge("mock:judge"))
    assert ("Model", "A practice model, pretend (mock:judge)") in words.rows(config)
