"""Choosing how answers are marked: no check and no setting is forgotten, nothing untouched is changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QCheckBox, QComboBox, QWidget
from pytestqt.qtbot import QtBot

from arena_desktop.desks.check_faults import test_faults as faults_in_tests
from arena_desktop.desks.project_checks import CheckChoice
from arena_desktop.dialogs.change_checks import ChangeChecksDialog, Scope
from arena_desktop.dialogs.change_margin import COVERAGE, MARGIN, ChangeMarginDialog
from arena_desktop.dialogs.check_editors import has_field
from arena_desktop.dialogs.check_fields import Area, FilePick, Kept, Line, Number, Pick, Rubric, Tick
from arena_desktop.dialogs.check_options import CheckOptions
from arena_desktop.wording import check_choice as words
from engine.domain import CheckSpec
from engine.project import Project, load_project
from engine.scoring.base import CheckType, Option
from engine.scoring.options import COMMON
from engine.scoring.registry import CHECKS
from tests.flows import audit
from tests.views.setup_world import forbidden

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONFIG = """\
project: Marking
models: [{key: one, model: "mock:oracle"}, {key: two, model: "mock:oracle"}]
providers: [{id: gate, kind: openai_compatible, base_url: "http://127.0.0.1:9/v1"}]
judge: {model: big, provider: gate}
"""
SCORERS = "scorers: {default: classification, options: {classification: {labels: [refund, other]}}}\n"
TESTS = """\
tests:
  - {id: a, input: Q1, reference: refund}
  - {id: b, input: Q2, reference: other}
  - {id: c, input: Q3, reference: 12, checks: [{type: numeric, abs_tol: 0.123456789}, my_own]}
"""


def opened(folder: Path, scorers: str = SCORERS, tests: str = TESTS) -> Project:
    (folder / "config.yaml").write_text(CONFIG + scorers, "utf-8")
    (folder / "tests.yaml").write_text(tests, "utf-8")
    (folder / "shape.json").write_text('{"type": "object"}', "utf-8")
    return load_project(folder)


def shown(qtbot: QtBot, scope: Scope, tester: QWidget | None = None) -> ChangeChecksDialog:
    dialog = ChangeChecksDialog(scope, tester)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    return dialog


def form(qtbot: QtBot, check: CheckType, own: dict[str, Any], project: Project) -> CheckOptions:
    made = CheckOptions(check, own, project, 1)
    qtbot.addWidget(made)
    return made


def enter(field: QWidget, value: Any) -> None:
    """What a person would do to give a value."""
    if isinstance(field, Tick):
        field.box.setChecked(value)
    elif isinstance(field, Pick):
        field.combo.setCurrentIndex(field.combo.findData(value))
    elif isinstance(field, Number):
        field.spin.setValue(value * field._scale)
    elif isinstance(field, Rubric):
        field.area.setPlainText(value)
    elif isinstance(field, Area):
        field.area.setPlainText("\n".join(value) if isinstance(value, list) else value)
    else:
        assert isinstance(field, Line)
        field.edit.setText(value)


def another(check: CheckType, option: Option) -> Any:
    """A value that is not the usual one, as the file would have it."""
    special = {"schema": "shape.json", "against": "models", "locale": "de", "model": "gate/m"}
    if option.name in special:
        return special[option.name]
    if option.kind == "bool":
        return not option.default
    if option.kind == "choice":
        return next(choice for choice in option.choices if choice != option.default)
    if option.kind == "texts":
        return ["one", "two"]
    if option.kind in ("int", "number"):
        low = option.minimum or 0
        high = option.maximum if option.maximum is not None else low + 10
        value = next(
            round(v, 3) for v in (low + (high - low) / 2, low + (high - low) / 4) if v != option.default
        )
        return int(value) if option.kind == "int" or value == int(value) else value
    return "some text"


EVERY = [
    pytest.param(check, option, id=f"{check.name}-{option.name}")
    for check in CHECKS.values()
    for option in (*check.options, *COMMON)
]


@pytest.mark.parametrize("check", CHECKS.values(), ids=list(CHECKS))
def test_every_check_has_words_and_a_field_for_every_setting(
    check: CheckType, tmp_path: Path, qtbot: QtBot
) -> None:
    assert check.title
    assert words.kind_sentence(check)
    made = form(qtbot, check, {}, opened(tmp_path))
    without = {name for kind, name in words.NOT_OFFERED if kind == check.name}
    assert set(made.fields) | without == {option.name for option in (*check.options, *COMMON)}
    assert not set(made.fields) & without
    assert not any(isinstance(field, Kept) for field in made.fields.values())
    assert audit.nameless(made) == []
    assert (
        forbidden([*(words.option_title(check, o) for o in check.options), words.kind_sentence(check)]) == []
    )


def test_what_has_no_field_has_a_reason_and_is_there() -> None:
    for (kind, name), reason in words.NOT_OFFERED.items():
        assert name in {option.name for option in CHECKS[kind].options}
        assert reason
    assert set(words.FIRST) <= set(CHECKS)
    invented = Option("new", "map")
    assert not has_field(CHECKS["contains"], invented), "a kind without a field is found by these tests"


@pytest.mark.parametrize(("check", "option"), EVERY)
def test_a_setting_is_given_and_taken_back(
    check: CheckType, option: Option, tmp_path: Path, qtbot: QtBot
) -> None:
    if (check.name, option.name) in words.NOT_OFFERED:
        return
    project, value = opened(tmp_path, "scorers: {default: contains}\n"), another(check, option)
    made = form(qtbot, check, {}, project)
    assert made.options() == {}
    field = made.fields[option.name]
    before = field.value()
    enter(field, value)
    assert made.options() == {option.name: value}
    given = form(qtbot, check, {option.name: value}, project)
    assert given.options() == {option.name: value}, "what is not touched stays"
    if before is not None and not isinstance(field, Area | Line):
        enter(given.fields[option.name], before)
        assert given.options() == {}, "the usual value needs no line in the file"


def test_spelling_digits_and_what_nobody_knows_are_kept(tmp_path: Path, qtbot: QtBot) -> None:
    own = {"tolerance": 0.123456789012, "x-note": 1, "select": "first"}
    made = form(qtbot, CHECKS["numeric"], own, opened(tmp_path))
    enter(made.fields["select"], "only")
    assert made.options() == {**own, "select": "only"}
    enter(made.fields["abs_tol"], 2.5)
    assert made.options() == {"tolerance": 2.5, "x-note": 1, "select": "only"}


@pytest.mark.parametrize(
    ("kind", "own"),
    [
        ("json_schema", {"schema": {"type": "object"}}),
        ("regex", {"pattern": "a\nb"}),
        ("code_exec", {"tests": ["assert 1", "assert 2"]}),
        ("llm_judge", {"rubric": [{"name": "a", "x-note": 1}]}),
    ],
)
def test_what_a_field_cannot_show_stays_in_the_file(
    kind: str, own: dict[str, Any], tmp_path: Path, qtbot: QtBot
) -> None:
    made = form(qtbot, CHECKS[kind], own, opened(tmp_path))
    (field,) = [field for field in made.fields.values() if isinstance(field, Kept)]
    assert "In the settings file, and kept as it is" in audit.words(made) or field.value() == next(
        iter(own.values())
    )
    assert made.options() == own


def test_criteria_have_weights_and_must_pass(tmp_path: Path, qtbot: QtBot) -> None:
    own = {"rubric": [{"name": "true", "weight": 3, "must_pass": True}, "kind"]}
    made = form(qtbot, CHECKS["llm_judge"], own, opened(tmp_path))
    field = made.fields["rubric"]
    assert isinstance(field, Rubric)
    first, second = field.criteria.rows()
    assert (first.edit_name.text(), first.spin_weight.value(), first.check_must.isChecked()) == (
        "true",
        3,
        True,
    )
    assert made.options() == own
    second.check_must.setChecked(True)
    assert made.options()["rubric"][1] == {"name": "kind", "weight": 1, "must_pass": True}
    field.area.setPlainText("Also words")
    assert made.show_faults([])
    assert "Empty one of the two" in field.main.accessibleDescription()


def test_the_model_that_compares_meanings_is_asked_for_where_it_is_needed(
    tmp_path: Path, qtbot: QtBot
) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path, "scorers: {default: similarity}\n")))
    (row,) = dialog.list.rows()
    assert row.form is not None
    field = row.form.fields["model"]
    assert not field.isVisible()
    enter(row.form.fields["method"], "embedding")
    assert field.isVisible()
    assert not dialog.button_change.isEnabled()
    assert "Name the model" in field.main.accessibleDescription()
    enter(field, "gate/small")
    assert dialog.button_change.isEnabled()


def test_a_pattern_is_looked_at_while_it_is_typed(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path, "scorers: {default: regex}\n")))
    (row,) = dialog.list.rows()
    assert row.form is not None
    field = row.form.fields["pattern"]
    enter(field, "(unclosed")
    assert "cannot be used at character" in field.main.accessibleDescription()
    assert not dialog.button_change.isEnabled()
    enter(field, r"\d+")
    assert field.main.accessibleDescription() == ""
    assert dialog.choices() == [CheckChoice(CheckSpec("regex", {"pattern": r"\d+"}), 0)]


def test_a_file_is_named_from_the_project_and_must_be_there(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path, "scorers: {default: json_schema}\n")))
    (row,) = dialog.list.rows()
    assert row.form is not None
    field = row.form.fields["schema"]
    assert isinstance(field, FilePick)
    assert field.main.accessibleDescription() == "This must be given."
    field.set_path(tmp_path / "shape.json")
    assert field.value() == "shape.json"
    assert dialog.button_change.isEnabled()
    field.set_path(tmp_path.parent / "else.json")
    assert "outside the project" in field.main.accessibleDescription()
    assert not dialog.button_change.isEnabled()


def test_a_check_without_any_limit_is_no_check(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path, "scorers: {default: contains}\n")))
    (row,) = dialog.list.rows()
    row.combo.setCurrentIndex(row.combo.findData("length"))
    assert row.form is not None
    field = row.form.fields["max_words"]
    assert field.main.accessibleDescription() == "Give at least one of these limits."
    assert not dialog.button_change.isEnabled()
    enter(row.form.fields["min_chars"], 3)
    assert field.main.accessibleDescription() == ""
    assert dialog.button_change.isEnabled()


def test_a_slip_in_the_file_keeps_nothing_else_from_being_changed(tmp_path: Path, qtbot: QtBot) -> None:
    tests = "tests: [{id: a, input: Q, reference: R, checks: [{type: numeric, selct: first}]}]\n"
    project = opened(tmp_path, tests=tests)
    dialog = shown(qtbot, Scope(project, project.all_cases[0]))
    (row,) = dialog.list.rows()
    assert row.form is not None
    assert any("Did you mean `select`?" in text for text in audit.words(dialog))
    enter(row.form.fields["abs_tol"], 2)
    assert dialog.button_change.isEnabled()
    assert row.choice().spec.options == {"selct": "first", "abs_tol": 2}


def test_tests_that_could_not_be_marked_so_are_told(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path)))
    (row,) = dialog.list.rows()
    assert dialog.list.note == ""
    row.combo.setCurrentIndex(row.combo.findData("numeric"))
    dialog.look_now()
    assert dialog.list.note.startswith("2 of 2 tests could not be marked so. The first: ")
    assert dialog.button_change.isEnabled(), "a test can be mended afterwards"
    project = load_project(tmp_path)
    blank = [*project.cases, *load_project(tmp_path).cases[:1]]
    assert faults_in_tests([CheckSpec("length", {"max_words": 1})], blank, project).missing == 0


def test_labels_are_there_where_right_answers_are_few(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path, "scorers: {default: contains}\n")))
    (row,) = dialog.list.rows()
    row.combo.setCurrentIndex(row.combo.findData("classification"))
    assert row.choice().spec.options == {"labels": ["12", "other", "refund"]}
    row.combo.setCurrentIndex(row.combo.findData("contains"))
    assert row.choice().spec == CheckSpec("contains")


def test_another_kind_and_back_loses_nothing(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path)))
    (row,) = dialog.list.rows()
    assert row.form is not None
    enter(row.form.fields["labels"], ["a", "b"])
    for kind in ("length", "classification"):
        row.combo.setCurrentIndex(row.combo.findData(kind))
    assert row.choice().spec.options == {"labels": ["a", "b"]}


def test_checks_are_added_ordered_and_removed_by_keyboard(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path)))
    with qtbot.waitActive(dialog):
        dialog.activateWindow()
    qtbot.keyClick(dialog.list.button_add, Qt.Key.Key_Space)
    first, second = dialog.list.rows()
    assert QApplication.focusWidget() is second.combo
    second.check_must.setChecked(True)
    second.spin_weight.setValue(2)
    second.check_not.setChecked(True)
    wanted = CheckSpec("contains", {}, 2.0, must_pass=True, negate=True)
    assert second.choice().spec == wanted
    second.button_up.setFocus()
    qtbot.keyClick(second.button_up, Qt.Key.Key_Space)
    assert dialog.list.rows() == (second, first)
    assert QApplication.focusWidget() is second.combo, "the button that was pressed can do no more"
    stops, stuck = audit.tab_round(second.combo, 60)
    assert stuck is None
    order = [stop for stop in stops if isinstance(stop, QComboBox)]
    assert order.index(second.combo) < order.index(first.combo)
    qtbot.keyClick(first.button_remove, Qt.Key.Key_Space)
    assert dialog.choices() == [CheckChoice(wanted)]
    assert not second.button_remove.isVisible(), "one check must stay"


def test_an_own_check_and_an_exact_figure_stay_as_they_are(tmp_path: Path, qtbot: QtBot) -> None:
    project = opened(tmp_path)
    case = project.all_cases[2]
    dialog = shown(qtbot, Scope(project, case))
    assert [choice.spec for choice in dialog.choices() or ()] == list(case.checks)
    assert not dialog.is_changed()
    assert "Own check: my_own" in [row.combo.currentText() for row in dialog.list.rows()]
    assert any("stay in the file as they are" in text for text in audit.words(dialog))


def test_one_test_goes_by_the_project_or_its_own_way(tmp_path: Path, qtbot: QtBot) -> None:
    project = opened(tmp_path)
    dialog = shown(qtbot, Scope(project, project.all_cases[0]))
    assert dialog.combo_way is not None
    assert dialog.combo_way.currentText() == "As the project says: Is the right label"
    assert dialog.choices() is None
    assert not dialog.button_change.isEnabled()
    dialog.combo_way.setCurrentIndex(1)
    assert dialog.choices() == [CheckChoice(CheckSpec("classification"), 0)]
    assert dialog.button_change.isEnabled()
    with qtbot.waitSignal(dialog.changed) as caught:
        dialog.button_change.click()
    assert caught.args == [[CheckChoice(CheckSpec("classification"), 0)], False]


def test_other_tests_can_be_made_to_follow(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path)))
    box = dialog.findChild(QCheckBox, "check_own_too")
    assert box is not None
    assert box.text() == "Also for the test that has its own way of marking"
    assert not box.isChecked()
    assert not dialog.button_change.isEnabled()
    box.setChecked(True)
    assert dialog.button_change.isEnabled()
    only = shown(
        qtbot,
        Scope(opened(tmp_path, tests=TESTS.replace("tests:", "defaults: {eval_type: contains}\ntests:"))),
    )
    assert only.check_own is not None
    assert only.check_own.isChecked(), "otherwise nothing would change"
    assert "There is none now." in " ".join(audit.words(only))


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (("more.json",), "1 test in more.json cannot be changed here and keeps its own way of marking."),
        (
            ("more.json", "rest.csv"),
            "2 tests in 2 files cannot be changed here and keep their own way of marking.",
        ),
    ],
)
def test_tests_in_other_kinds_of_files_are_told_by_the_name_of_their_file(
    names: tuple[str, ...], said: str, tmp_path: Path, qtbot: QtBot
) -> None:
    opened(tmp_path)
    (tmp_path / "more.json").write_text('[{"id": "j", "input": "Q", "eval_type": "manual"}]', "utf-8")
    (tmp_path / "rest.csv").write_text("id,input,eval_type\nk,Q,manual\n", "utf-8")
    paths = ", ".join(("tests.yaml", *names))
    (tmp_path / "config.yaml").write_text(f"{CONFIG}{SCORERS}tests: {{paths: [{paths}]}}\n", "utf-8")
    dialog = shown(qtbot, Scope(load_project(tmp_path)))
    assert said in audit.words(dialog)


def test_the_gap_that_matters_is_changed_alone(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = ChangeMarginDialog(opened(tmp_path).config)
    dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose, False)
    qtbot.addWidget(dialog)
    dialog.show()
    assert audit.nameless(dialog) == []
    assert dialog.values() == {}
    dialog.spin_margin.setValue(2.5)
    assert dialog.values() == {MARGIN: 0.025}
    assert "less than 2.5 points" in " ".join(audit.words(dialog))
    dialog.spin_coverage.setValue(80)
    with qtbot.waitSignal(dialog.changed) as caught:
        dialog.button_change.click()
    assert caught.args == [{MARGIN: 0.025, COVERAGE: 0.8}]


def test_something_has_to_count(tmp_path: Path, qtbot: QtBot) -> None:
    dialog = shown(qtbot, Scope(opened(tmp_path)))
    dialog.list.button_add.click()
    for row in dialog.list.rows():
        row.spin_weight.setValue(0)
    dialog.look_now()
    assert dialog.list.note.startswith("Every check counts 0.")
    assert not dialog.button_change.isEnabled()
