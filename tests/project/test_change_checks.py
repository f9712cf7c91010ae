"""How answers are marked, written into the files: only what changes, and back again."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from arena_desktop.desks import project_checks
from arena_desktop.desks.own_marks import own_tests
from arena_desktop.desks.project_checks import (
    CheckChoice,
    change_test_checks,
    change_usual_checks,
    usual_checks,
)
from arena_desktop.desks.project_files import take_back
from engine.config.saving import SavedFile
from engine.config.text_files import TextFile
from engine.domain import CheckSpec, Severity
from engine.errors import UserError, WorldError
from engine.project import Project, load_project
from engine.scoring.options import read_options
from engine.scoring.registry import CHECKS

HEAD = "# kept\nproject: p  # its name\nmodels: [{key: a, model: 'mock:oracle'}]\n"
LABELS = """\
scorers:
  default: classification  # by label
  options:
    classification: {labels: [no, yes]}
    # a comment
    numeric: {tolerance: 0.5}
"""
LISTED = """\
scorers:
  checks:
    # the words
    - {type: contains, must_pass: true}  # first
    - type: length
      max_words: 60  # short
    - my_own
"""
TESTS = """\
defaults: {tags: [t], eval_type: contains}  # shared
tests:
  - {id: one, input: Q, reference: R}
  - id: two   # with its own
    input: Q
    reference: R
    evaluator: numeric
    params: {abs_tol: 1}  # far
  - {id: three, input: Q, reference: R, checks: [{type: length, max_words: 9}, exact_match]}
"""


def opened(
    folder: Path, scorers: str = "", tests: str = "tests: [{id: one, input: Q, reference: R}]\n"
) -> Project:
    (folder / "config.yaml").write_text(HEAD + scorers, "utf-8")
    (folder / "tests.yaml").write_text(tests, "utf-8")
    return load_project(folder)


def config_of(project: Project) -> str:
    return project.config_file.read_text("utf-8").removeprefix(HEAD)


def cases_of(project: Project) -> str:
    return (project.root / "tests.yaml").read_text("utf-8")


def kept(project: Project) -> list[CheckChoice]:
    return [CheckChoice(spec, number) for number, spec in enumerate(usual_checks(project))]


def test_another_single_check_changes_one_word(tmp_path: Path) -> None:
    project = opened(tmp_path, LABELS)
    written = change_usual_checks(project, [CheckChoice(CheckSpec("contains"), 0)])
    assert config_of(project) == LABELS.replace("default: classification", "default: contains")
    assert usual_checks(load_project(tmp_path)) == (CheckSpec("contains"),)
    take_back(written)
    assert config_of(project) == LABELS


def test_options_of_a_single_check_stand_beside_it_under_the_name_they_have(tmp_path: Path) -> None:
    project = opened(tmp_path, LABELS)
    change_usual_checks(project, [CheckChoice(CheckSpec("numeric", {"abs_tol": 2, "select": "first"}), 0)])
    assert "numeric: {tolerance: 2, select: first}" in config_of(project)
    assert "# a comment\n" in config_of(project)


def test_no_block_is_needed(tmp_path: Path) -> None:
    project = opened(tmp_path)
    change_usual_checks(project, [CheckChoice(CheckSpec("classification", {"labels": ["no", "01"]}), 0)])
    (case,) = load_project(tmp_path).cases
    assert case.checks == (CheckSpec("classification"),)
    assert load_project(tmp_path).config.scorers.options == {"classification": {"labels": ["no", "01"]}}


def test_several_become_a_list(tmp_path: Path) -> None:
    project = opened(tmp_path, LABELS)
    wanted = (
        CheckSpec("classification", must_pass=True),
        CheckSpec("length", {"max_words": 5}, weight=2.0, negate=True),
        CheckSpec("contains", reference=["a", "b"]),
    )
    change_usual_checks(project, [CheckChoice(spec) for spec in wanted])
    assert config_of(project).startswith(LABELS)
    assert usual_checks(load_project(tmp_path)) == wanted


def test_options_that_other_tests_would_feel_stay_with_the_check(tmp_path: Path) -> None:
    project = opened(tmp_path, LABELS, TESTS.replace(", eval_type: contains", ""))
    change_usual_checks(project, [CheckChoice(CheckSpec("numeric", {"abs_tol": 9.5}), 0)])
    again = load_project(tmp_path)
    assert again.config.scorers.options == project.config.scorers.options
    assert again.cases[0].checks == (CheckSpec("numeric", {"abs_tol": 9.5}),)


def test_in_a_list_only_the_changed_value_is_written(tmp_path: Path) -> None:
    project = opened(tmp_path, LISTED)
    choices = kept(project)
    choices[1] = CheckChoice(replace(choices[1].spec, options={"max_words": 80}), 1)
    change_usual_checks(project, choices)
    assert config_of(project) == LISTED.replace("60", "80")


def test_a_check_is_taken_out_and_another_added_with_the_comments_kept(tmp_path: Path) -> None:
    project = opened(tmp_path, LISTED)
    choices = [c for c in kept(project) if c.origin != 1]
    change_usual_checks(project, [*choices, CheckChoice(CheckSpec("json_valid", {"lenient": True}))])
    assert config_of(project) == LISTED.replace("    - type: length\n      max_words: 60  # short\n", "") + (
        "    - type: json_valid\n      lenient: true\n"
    )


def test_checks_change_places_and_an_own_one_stays_as_it_is(tmp_path: Path) -> None:
    project = opened(tmp_path, LISTED)
    first, second, own = kept(project)
    changed = CheckChoice(replace(first.spec, must_pass=False, weight=3.0), 0)
    change_usual_checks(project, [own, changed, second])
    assert usual_checks(load_project(tmp_path)) == (own.spec, changed.spec, second.spec)


def test_one_test_is_marked_in_its_own_way_and_as_the_project_again(tmp_path: Path) -> None:
    project = opened(tmp_path, LABELS, TESTS.replace(", eval_type: contains", ""))
    before = cases_of(project)
    case = project.cases[0]
    written = change_test_checks(project, case, [CheckChoice(CheckSpec("length", {"max_words": 4}))])
    again = load_project(tmp_path)
    assert again.cases[0].checks == (CheckSpec("length", {"max_words": 4}),)
    assert again.cases[0].own_checks
    change_test_checks(again, again.cases[0], None)
    assert cases_of(project) == before
    with pytest.raises(UserError, match="changed"):
        take_back(written)


def test_a_test_keeps_the_form_of_its_check(tmp_path: Path) -> None:
    project = opened(tmp_path, "", TESTS)
    _one, two, three = project.cases
    change_test_checks(project, two, [CheckChoice(CheckSpec("numeric", {"abs_tol": 3}, must_pass=True), 0)])
    assert cases_of(project) == TESTS.replace("{abs_tol: 1}", "{abs_tol: 3, must_pass: true}")
    again = load_project(tmp_path)
    change_test_checks(again, again.cases[1], [CheckChoice(CheckSpec("length", {"max_chars": 8}), 0)])
    assert "    evaluator: length\n    params: {max_chars: 8}  # far\n" in cases_of(project)
    choices = [CheckChoice(CheckSpec("length", {"max_words": 7}), 0), CheckChoice(three.checks[1], 1)]
    change_test_checks(project, three, choices)
    assert "checks: [{type: length, max_words: 7}, exact_match]" in cases_of(project)


def test_a_test_with_one_check_gets_a_second(tmp_path: Path) -> None:
    project = opened(tmp_path, "", TESTS)
    two = project.cases[1]
    wanted = [CheckChoice(two.checks[0], 0), CheckChoice(CheckSpec("length", {"max_words": 7}))]
    change_test_checks(project, two, wanted)
    again = load_project(tmp_path).cases[1]
    assert again.checks == tuple(choice.spec for choice in wanted)


def test_all_tests_follow_the_project_where_they_are_told_to(tmp_path: Path) -> None:
    project = opened(tmp_path, LABELS, TESTS)
    forget, others = own_tests(project)
    assert ([case.id for case in forget], others) == (["one", "two", "three"], [])
    written = change_usual_checks(project, [CheckChoice(CheckSpec("exact_match"), 0)], forget)
    again = load_project(tmp_path)
    assert [case.checks for case in again.cases] == [(CheckSpec("exact_match"),)] * 3
    assert again.problems == ()
    assert cases_of(project) == (
        "defaults: {tags: [t]}  # shared\ntests:\n  - {id: one, input: Q, reference: R}\n"
        "  - id: two   # with its own\n    input: Q\n    reference: R\n"
        "  - {id: three, input: Q, reference: R}\n"
    )
    take_back(written)
    assert (config_of(project), cases_of(project)) == (LABELS, TESTS)


def test_a_head_that_says_nothing_else_goes_with_its_checks(tmp_path: Path) -> None:
    tests = (
        "defaults: {eval_type: numeric, params: {abs_tol: 2}}\n"
        "tests:\n  - {id: one, input: Q, reference: 1}\n"
    )
    project = opened(tmp_path, LABELS, tests)
    change_usual_checks(project, [CheckChoice(CheckSpec("contains"), 0)], own_tests(project)[0])
    assert cases_of(project) == "tests:\n  - {id: one, input: Q, reference: 1}\n"


def test_what_others_would_lose_through_an_alias_is_not_written(tmp_path: Path) -> None:
    tests = (
        "tests:\n  - &base {id: one, input: Q, reference: R, eval_type: numeric}\n"
        "  - {<<: *base, id: two, x-note: kept}\n"
    )
    project = opened(tmp_path, LABELS, tests)
    config = config_of(project)
    with pytest.raises(UserError, match="not written"):
        change_usual_checks(project, [CheckChoice(CheckSpec("contains"), 0)], project.cases[1:])
    assert (config_of(project), cases_of(project)) == (config, tests)


def test_cases_of_a_table_keep_their_way(tmp_path: Path) -> None:
    (tmp_path / "tests.csv").write_text("input,reference,eval_type\nA,a,contains\n", "utf-8")
    project = opened(tmp_path, LABELS)
    assert [case.file for case in own_tests(project)[1]] == ["tests.csv"]


def test_an_option_emptied_against_the_project_is_written_as_nothing(tmp_path: Path) -> None:
    scorers = LISTED.replace("scorers:\n", "scorers:\n  options: {length: {min_words: 3}}\n")
    project = opened(tmp_path, scorers)
    choices = kept(project)
    choices[1] = CheckChoice(CheckSpec("length", {"max_words": 60, "min_words": None}), 1)
    change_usual_checks(project, choices)
    assert usual_checks(load_project(tmp_path))[1].options == {"max_words": 60, "min_words": None}


def test_a_file_that_cannot_be_written_leaves_all_as_they_were(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = opened(tmp_path, LABELS, TESTS)
    before = (project.config_file.read_bytes(), cases_of(project))
    real = project_checks.save_text

    def full(file: TextFile, text: str) -> SavedFile:
        if file.path.name == "tests.yaml":
            raise WorldError("file_unwritable", "The disk is full.")
        return real(file, text)

    monkeypatch.setattr(project_checks, "save_text", full)
    with pytest.raises(WorldError):
        change_usual_checks(project, [CheckChoice(CheckSpec("contains"), 0)], own_tests(project)[0])
    assert (project.config_file.read_bytes(), cases_of(project)) == before


FORMS = ["", LABELS, LISTED, "scorers:\n  checks: [{type: contains, not: true}, length]  # c\n"]
KINDS: list[tuple[str, dict[str, Any]]] = [
    ("contains", {"mode": "any"}),
    ("classification", {"labels": ["no", "yes: sure", "012"]}),
    ("numeric", {"abs_tol": 0.25, "locale": "de"}),
    ("regex", {"pattern": "a: [#{}]\\d+"}),
    ("llm_judge", {"rubric": [{"name": "kind, and short", "weight": 2, "must_pass": True}]}),
    ("code_exec", {"tests": "assert f(1) == 2\nassert f(2) == 3"}),
    ("manual", {}),
]


@pytest.mark.parametrize("seed", range(60))
def test_whatever_is_chosen_is_read_back_and_every_step_is_undone(tmp_path: Path, seed: int) -> None:
    chance = random.Random(seed)
    project = opened(tmp_path, chance.choice(FORMS))
    for _ in range(3):
        before = config_of(project)
        choices = kept(project)
        chance.shuffle(choices)
        choices = choices[: chance.randint(0, len(choices))]
        for number, choice in enumerate(choices):
            if chance.random() < 0.5:
                choices[number] = CheckChoice(
                    replace(choice.spec, weight=chance.choice([0.5, 1.0, 3.0])), choice.origin
                )
        for _ in range(chance.randint(0 if choices else 1, 3)):
            kind, options = chance.choice(KINDS)
            spec = CheckSpec(
                kind,
                options if chance.random() < 0.7 or kind == "classification" else {},
                chance.choice([1.0, 2.0, 0.125]),
                chance.random() < 0.3,
                chance.random() < 0.3,
                chance.choice([None, None, "text: x", ["a", "b"]]),
            )
            choices.insert(chance.randint(0, len(choices)), CheckChoice(spec))
        written = change_usual_checks(project, choices)
        again = load_project(tmp_path)
        assert [in_force(again, spec) for spec in usual_checks(again)] == [
            in_force(project, choice.spec) for choice in choices
        ]
        assert not [p for p in again.problems if p.severity is Severity.ERROR]
        if chance.random() < 0.3:
            take_back(written)
            assert config_of(project) == before
        project = load_project(tmp_path)


def in_force(project: Project, spec: CheckSpec) -> tuple[Any, ...]:
    """Everything that decides the mark."""
    check = CHECKS.get(spec.type)
    options = project.config.scorers.options
    values = read_options(check, spec.options, options)[0] if check is not None else spec.options
    return spec.type, values, spec.weight, spec.must_pass, spec.negate, spec.reference


def test_a_config_in_json_stays_json(tmp_path: Path) -> None:
    text = (
        '{\n  "project": "p",\n  "models": [{"key": "a", "model": "mock:oracle"}],\n'
        '  "scorers": {"default": "contains"}\n}\n'
    )
    (tmp_path / "config.json").write_text(text, "utf-8")
    (tmp_path / "tests.yaml").write_text("tests: [{id: one, input: Q, reference: R}]\n", "utf-8")
    wanted = [CheckSpec("contains", must_pass=True), CheckSpec("classification", {"labels": ["no", "01"]})]
    written = change_usual_checks(load_project(tmp_path), [CheckChoice(spec) for spec in wanted])
    again = load_project(tmp_path)
    assert list(usual_checks(again)) == wanted
    assert json.loads((tmp_path / "config.json").read_text("utf-8"))["scorers"]["checks"][0] == {
        "type": "contains",
        "must_pass": True,
    }
    take_back(written)
    assert (tmp_path / "config.json").read_text("utf-8") == text
