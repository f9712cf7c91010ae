"""Cases from YAML, JSON and JSON lines: fields, checks, messages, ids."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine.cases.build import BuildSettings
from engine.cases.checks import check_from
from engine.cases.identity import fingerprint, with_ids
from engine.cases.reading import CaseFile, read_case_file
from engine.domain import Case, CheckSpec, Severity
from providers.base import Message


def read(root: Path, text: str, name: str = "tests.yaml", *, check: str = "exact_match") -> CaseFile:
    (root / name).write_text(text, encoding="utf-8")
    return read_case_file(root / name, name, BuildSettings(root, check, needs_input=True))


def one(root: Path, text: str) -> Case:
    file = read(root, f"- input: q\n{text}")
    assert file.problems == (), [str(problem) for problem in file.problems]
    return file.cases[0]


@pytest.mark.parametrize("name", ["input", "prompt", "question", "text", "messages"])
@pytest.mark.parametrize("answer", ["reference", "expected", "answer", "target", "gold"])
def test_aliases(name: str, answer: str, tmp_path: Path) -> None:
    case = read(tmp_path, f"- {name}: a\n  {answer}: b\n").cases[0]
    assert (case.input, case.reference) == ("a", "b")


def test_the_first_name_with_a_value_wins(tmp_path: Path) -> None:
    case = read(tmp_path, "- {text: t, prompt: p, input: null, gold: g, expected: ~, answer: a}\n").cases[0]
    assert (case.input, case.reference) == ("p", "a")


def test_text_fields_are_as_written_and_json_is_typed(tmp_path: Path) -> None:
    case = one(
        tmp_path,
        "  id: 007\n  reference: [no, 012]\n  tags: [1.50, 2024-01-02]\n"
        "  vars: {a: 012, b: [1.0, no], c: null}\n"
        "  group: 1e3\n  context: 0x1\n  metadata: {n: 012}\n  own: [1, no]\n",
    )
    assert (case.id, case.reference, case.tags) == ("007", ["no", "012"], ("1.50", "2024-01-02"))
    assert case.vars == {"a": "012", "b": ["1.0", "no"], "c": ""}
    assert (case.group, case.context) == ("1e3", "0x1")
    assert case.metadata == {"n": 12, "own": [1, "no"]}


def test_a_reference_that_is_compared_as_json_is_typed(tmp_path: Path) -> None:
    assert one(tmp_path, "  eval_type: json_match\n  reference: [1, 2.50, no]\n").reference == [1, 2.5, "no"]
    assert one(tmp_path, "  reference: {a: 1, b: no}\n").reference == {"a": 1, "b": "no"}
    assert one(tmp_path, "  eval_type: json_match\n  reference: 012\n").reference == "012"


def test_eval_type_with_params_is_one_check(tmp_path: Path) -> None:
    case = one(tmp_path, "  scorer: classification\n  options: {labels: [no, 012], weight: 2, not: true}\n")
    assert case.checks == (CheckSpec("classification", {"labels": ["no", "012"]}, weight=2, negate=True),)
    assert one(tmp_path, "  params: {case_sensitive: true}\n").checks == (
        CheckSpec("exact_match", {"case_sensitive": True}),
    )


def test_a_list_of_checks(tmp_path: Path) -> None:
    case = one(
        tmp_path,
        "  checks:\n    - {type: regex, pattern: 012, must_pass: true}\n    - contains\n"
        "    - {type: json_match, reference: {a: 1}, options: {mode: subset}, not: true, weight: 0.5}\n",
    )
    assert case.checks == (
        CheckSpec("regex", {"pattern": "012"}, must_pass=True),
        CheckSpec("contains"),
        CheckSpec("json_match", {"mode": "subset"}, weight=0.5, negate=True, reference={"a": 1}),
    )


def test_a_check_given_as_an_object() -> None:
    data = {"type": "numeric", "reference": "3", "abs_tol": 0.1, "weight": 2, "must_pass": True, "not": False}
    assert check_from(data) == CheckSpec("numeric", {"abs_tol": 0.1}, 2.0, True, False, "3")
    with pytest.raises(ValueError, match="`weight` must be a number"):
        check_from({"type": "numeric", "weight": -1})


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("checks: [{pattern: x}]", "[0].checks[0]"),
        ("checks: [[x]]", "[0].checks[0]"),
        ("checks: [{type: regex, must_pass: maybe}]", "[0].checks[0]"),
        ("checks: [{type: regex, weight: heavy}]", "[0].checks[0]"),
        ("params: {not: 3}", "[0].params"),
    ],
)
def test_bad_checks_have_their_place(text: str, path: str, tmp_path: Path) -> None:
    problems = read(tmp_path, f"- {{input: q, {text}}}\n").problems
    assert [(problem.code, problem.path) for problem in problems] == [("bad_check", path)]


def test_defaults_of_a_file(tmp_path: Path) -> None:
    text = (
        "defaults: {vars: {lang: en, tone: kind}, tags: [all], weight: 2, eval_type: contains, own: 1}\n"
        "tests:\n  - {input: a}\n  - {input: b, vars: {tone: cold}, tags: [b], weight: 0, checks: [regex]}\n"
    )
    first, second = read(tmp_path, text).cases
    assert (first.vars, first.tags, first.weight) == ({"lang": "en", "tone": "kind"}, ("all",), 2)
    assert first.checks == (CheckSpec("contains"),)
    assert first.metadata == {"own": 1}
    assert (second.vars, second.tags, second.weight) == ({"tone": "cold", "lang": "en"}, ("b",), 0)
    assert second.checks == (CheckSpec("regex"),)


@pytest.mark.parametrize("key", ["tests", "cases", "test_cases"])
def test_the_list_may_stand_under_three_names(key: str, tmp_path: Path) -> None:
    assert len(read(tmp_path, f"{key}: [{{input: a}}]\n").cases) == 1


def test_cases_that_are_switched_off_are_not_even_checked(tmp_path: Path) -> None:
    text = "- {input: a}\n- {enabled: false, weight: x}\n- {skip: true}\n- {skip: false, input: b}\n"
    file = read(tmp_path, text)
    assert ([case.input for case in file.cases], file.off, file.problems) == (["a", "b"], 2, ())


def test_messages(tmp_path: Path) -> None:
    case = read(
        tmp_path,
        "- input:\n  - {role: developer, content: Be kind.}\n"
        "  - {role: user, content: [{type: text, text: a}, {type: text, text: 007}]}\n",
    ).cases[0]
    assert case.messages == (Message("system", "Be kind."), Message("user", "a\n007"))
    assert case.input == ""


@pytest.mark.parametrize(
    "text",
    [
        "- input: [{role: user}]",
        "- input: [{content: a}]",
        "- input: [{role: robot, content: a}]",
        "- input: [hello]",
        "- input: [{role: user, content: {a: 1}}]",
        "- input: []",
        "- input: {a: 1}",
        "- input: [{role: user, content: [{type: image}]}]",
        "- reference: a",
        "- just text",
        "- [a]",
    ],
)
def test_what_cannot_be_asked_is_an_error_with_a_line(text: str, tmp_path: Path) -> None:
    file = read(tmp_path, text + "\n- input: good\n")
    assert [case.input for case in file.cases] == ["good"]
    assert [(problem.severity, problem.line) for problem in file.problems] == [(Severity.ERROR, 1)]
    assert file.problems[0].fix


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("weight: -1", "weight"),
        ("weight: heavy", "weight"),
        ("weight: .nan", "weight"),
        ("weight: true", "weight"),
        ("max_tokens: 1.5", "max_tokens"),
        ("max_tokens: -1", "max_tokens"),
        ("temperature: hot", "temperature"),
        ("tags: {a: 1}", "tags"),
        ("vars: [a]", "vars"),
        ("id: [a]", "id"),
        ("metadata: x", "metadata"),
    ],
)
def test_values_that_do_not_fit_are_errors(text: str, field: str, tmp_path: Path) -> None:
    problems = read(tmp_path, f"- {{input: q, {text}}}\n").problems
    assert [(problem.code, problem.path) for problem in problems] == [("bad_value", f"[0].{field}")]


def test_zero_tokens_mean_the_default(tmp_path: Path) -> None:
    case = one(tmp_path, "  max_tokens: 0\n  temperature: 0\n")
    assert (case.max_tokens, case.temperature) == (None, 0.0)


def test_a_name_that_is_nearly_known_is_a_warning_and_kept(tmp_path: Path) -> None:
    file = read(tmp_path, "- {input: q, refrence: a, colour: red, x-tags: b}\n")
    assert [(problem.code, problem.path) for problem in file.problems] == [("near_name", "[0].refrence")]
    assert "`reference`" in file.problems[0].fix
    assert file.cases[0].metadata == {"refrence": "a", "colour": "red", "x-tags": "b"}


def test_files_of_a_case_stay_inside_the_folder_and_exist(tmp_path: Path) -> None:
    root = tmp_path / "project"
    root.mkdir()
    (root / "a.png").write_bytes(b"1")
    (tmp_path / "secret.png").write_bytes(b"2")
    (root / "link.png").symlink_to(tmp_path / "secret.png")
    file = read(root, "- {input: q, images: [a.png, ../secret.png, link.png], files: gone.txt}\n")
    assert file.cases[0].images == ("a.png",)
    assert [problem.code for problem in file.problems] == ["path_outside", "path_outside", "file_missing"]


def test_json_lines_skip_blank_lines_and_comments(tmp_path: Path) -> None:
    text = '// note\n\n{"input": "a", "reference": 1.50}\r\n  {"input": "b", "input": "c"}\n'
    file = read(tmp_path, text, "tests.ndjson")
    assert [(case.input, case.reference, case.line) for case in file.cases][:1] == [("a", "1.50", 3)]
    assert [(problem.code, problem.line) for problem in file.problems] == [("duplicate_key", 4)]


def test_one_pretty_printed_object_is_one_case(tmp_path: Path) -> None:
    assert read(tmp_path, '{\n "input": "a"\n}\n', "t.jsonl").cases[0].input == "a"
    assert len(read(tmp_path, '{\n "tests": [{"input": "a"}, {"input": "b"}]\n}\n', "t.jsonl").cases) == 2


@pytest.mark.parametrize("text", ["# nothing\n", "tests: []\n", "tests:\n", "[]\n"])
def test_a_file_without_cases_says_so(text: str, tmp_path: Path) -> None:
    assert [problem.code for problem in read(tmp_path, text).problems] == ["no_cases"]


@pytest.mark.parametrize("text", ["just text\n", "a: 1\n", "tests: {a: 1}\n", "tests: words\n"])
def test_a_file_of_another_shape_is_refused(text: str, tmp_path: Path) -> None:
    file = read(tmp_path, text)
    assert file.cases == ()
    assert file.problems[0].severity is Severity.ERROR


def test_ids_come_from_the_content_and_not_from_the_place(tmp_path: Path) -> None:
    rows = ["{input: a}", "{input: b, reference: x}", "{input: b, reference: y}", "{input: a, vars: {v: 1}}"]
    first, _ = with_ids(read(tmp_path, "".join(f"- {row}\n" for row in rows)).cases)
    second, _ = with_ids(read(tmp_path, "".join(f"- {row}\n" for row in reversed(rows))).cases)
    assert [case.id for case in first] == [case.id for case in reversed(second)]
    assert len({case.id for case in first}) == 4
    assert all(len(case.id) == 12 and int(case.id, 16) >= 0 for case in first)


def test_equal_contents_get_numbers_and_a_warning(tmp_path: Path) -> None:
    cases, problems = with_ids(read(tmp_path, "- input: a\n- input: a\n- input: a\n").cases)
    base = cases[0].id
    assert [case.id for case in cases] == [base, f"{base}-2", f"{base}-3"]
    assert [problem.code for problem in problems] == ["equal_cases", "equal_cases"]
    assert "tests.yaml:1" in problems[0].message


def test_a_derived_id_never_meets_an_explicit_one(tmp_path: Path) -> None:
    base = with_ids(read(tmp_path, "- input: a\n").cases)[0][0].id
    cases, problems = with_ids(read(tmp_path, f"- input: a\n- {{input: b, id: {base}}}\n").cases)
    assert ([case.id for case in cases], problems) == ([f"{base}-2", base], ())


@pytest.mark.parametrize(
    "change",
    [
        "reference: b",
        "context: c",
        "vars: {a: 1}",
        "eval_type: regex",
        "max_tokens: 5",
        "temperature: 1",
        "checks: [{type: exact_match, weight: 2}]",
        "params: {case_sensitive: true}",
    ],
)
def test_a_fingerprint_follows_all_that_could_change_a_mark(change: str, tmp_path: Path) -> None:
    plain = fingerprint(read(tmp_path, "- {input: q}\n").cases[0], tmp_path)
    assert fingerprint(read(tmp_path, f"- {{input: q, {change}}}\n").cases[0], tmp_path) != plain
    same = read(tmp_path, "# moved\n\n- {tags: [t], input: q, id: x, weight: 3, note: n}\n").cases[0]
    assert fingerprint(same, tmp_path) == plain


def test_a_fingerprint_follows_the_bytes_of_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one")
    case = read(tmp_path, "- {input: q, files: a.txt}\n").cases[0]
    before = fingerprint(case, tmp_path)
    (tmp_path / "a.txt").write_text("two")
    assert fingerprint(case, tmp_path) != before
