"""Every field case about CSV, YAML, templates and data files has the outcome that users need."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from engine.config.yaml_text import compose
from engine.domain import Severity
from engine.project import Project, case_from_json, case_to_json, load_project, snapshot
from engine.prompts import build_prompt
from tests.project.folders import CASES, MODELS, codes, field_cases, only, project

TEMPLATES = {"template_spaced_header.csv": "Tell me about {{ topic }} in one word."}


def _load(root: Path, name: str) -> Project:
    template = TEMPLATES.get(name)
    config = MODELS + (f"defaults: {{prompt: '{template}'}}\n" if template else "")
    return project(root, {"tests" + Path(name).suffix: (CASES / name).read_bytes()}, config)


def _as_config(root: Path, name: str, change: Callable[[str], str] = lambda text: text) -> Project:
    text = change((CASES / name).read_text(encoding="utf-8"))
    return project(root, {"config.yaml": text, "tests.yaml": "tests: [{id: a, input: Say ok}]\n"})


_COUNTED = [
    row
    for row in field_cases()
    if row.get("cases") is not None and row["verdict"] in ("load", "load_or_reject", "warn")
]


@pytest.mark.parametrize("row", _COUNTED, ids=lambda row: row["file"])
def test_what_can_be_read_is_read_whole(row: dict[str, object], tmp_path: Path) -> None:
    loaded = _load(tmp_path, str(row["file"]))
    assert len(loaded.cases) == row["cases"]
    assert loaded.ok
    for case in loaded.cases:
        text = json.dumps(case_to_json(case), ensure_ascii=False)
        assert "\ufeff" not in text
        assert "\ufffd" not in text
        assert "\\u0000" not in text
        assert case_from_json(json.loads(text)) == case


def test_every_field_case_of_the_index_is_tested_here() -> None:
    here = Path(__file__).read_text(encoding="utf-8")
    counted = {row["file"] for row in _COUNTED}
    assert [
        row["file"] for row in field_cases() if row["file"] not in counted and row["file"] not in here
    ] == []


def test_fc001_the_byte_order_mark_is_no_part_of_the_header(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_bom_excel.csv")
    assert loaded.files[0].columns == ("input", "expected")
    assert [case.reference for case in loaded.cases] == ["4", "6"]


def test_fc002_a_quoted_header_behind_the_mark_loses_its_quotes(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_bom_quoted_header.csv")
    assert loaded.files[0].columns == ("input", "expected")
    assert loaded.cases[0].input == "Name the capital of Peru, please"


def test_fc004_the_separator_hint_is_used_and_lines_still_count(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_sep_hint.csv")
    assert loaded.files[0].columns == ("input", "expected")
    assert (loaded.files[0].delimiter, loaded.cases[0].line) == (";", 3)


def test_fc005_the_assumed_code_page_is_said(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_cp1252.csv")
    assert loaded.cases[1].reference == "12 €"
    assert loaded.cases[1].input == "Combien coûte l’entrée en € ?"
    warning = only(loaded.problems, "encoding_assumed")
    assert warning.severity is Severity.WARNING
    assert "Windows-1252" in warning.message
    assert loaded.files[0].encoding == "cp1252"


def test_fc006_utf_16_with_tabs_is_clean_text(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_utf16_tabs.csv")
    assert (loaded.cases[0].id, loaded.cases[0].input) == ("1", "Grüße auf Englisch?")
    assert (loaded.files[0].encoding, loaded.files[0].delimiter) == ("utf-16", "\t")


def test_fc007_line_breaks_in_a_cell_stay(tmp_path: Path) -> None:
    first, second = _load(tmp_path, "csv_crlf_in_cell.csv").cases
    assert first.input.split("\n") == ["Summarise:", "- rain", "- wind"]
    assert (first.line, second.line, second.reference) == (2, 5, "ok")


def test_fc008_unquoted_json_is_a_named_row(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_unquoted_json.csv")
    fault = only(loaded.problems, "row_length")
    assert (fault.file, fault.line) == ("tests.csv", 2)
    assert "4 cells, the header has 3" in fault.message
    assert [case.id for case in loaded.cases] == ["r2"]


def test_fc010_leading_zeros_stay(tmp_path: Path) -> None:
    case = _load(tmp_path, "csv_leading_zeros.csv").cases[0]
    assert (case.id, case.reference) == ("007", "00420")


def test_fc011_a_number_that_a_spreadsheet_shortened_is_a_warning(tmp_path: Path) -> None:
    warning = only(_load(tmp_path, "csv_scientific_damage.csv").problems, "shortened_number")
    assert (warning.severity, warning.line, warning.column) == (Severity.WARNING, 2, 3)
    assert "expected" in warning.message


def test_fc012_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_duplicate_header.csv")
    fault = only(loaded.problems, "duplicate_column")
    assert "column 2" in fault.message
    assert "column 3" in fault.message
    assert loaded.cases == ()


@pytest.mark.parametrize(
    ("name", "cells"), [("csv_row_too_long.csv", "5 cells"), ("csv_row_too_short.csv", "1 cell")]
)
def test_fc013_fc014_odd_rows_are_named_and_the_others_stay(name: str, cells: str, tmp_path: Path) -> None:
    loaded = _load(tmp_path, name)
    fault = only(loaded.problems, "row_length")
    assert str(fault).startswith(f"tests.csv:2: The row has {cells}, the header has 3.")
    assert [case.id for case in loaded.cases] == ["2"]
    assert not loaded.ok


def test_fc015_padding_is_skipped_and_counted(tmp_path: Path) -> None:
    assert only(_load(tmp_path, "csv_padding.csv").problems, "blank_rows").message.startswith("3 blank rows")


def test_fc017_a_very_long_cell_is_whole(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_long_cell.csv")
    assert len(loaded.cases[0].input) > 131_072
    assert only(loaded.problems, "long_cell").line == 2


def test_fc018_a_single_column_says_what_is_missing(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_single_column.csv")
    assert [case.reference for case in loaded.cases] == [None, None]
    assert only(loaded.problems, "no_reference_column").severity is Severity.WARNING


@pytest.mark.parametrize(
    ("name", "code", "words"),
    [
        ("csv_header_only.csv", "no_cases", "There are no test cases"),
        ("csv_zero_bytes.csv", "empty_file", "The file is empty"),
    ],
)
def test_fc019_nothing_in_the_file_is_an_error(name: str, code: str, words: str, tmp_path: Path) -> None:
    loaded = _load(tmp_path, name)
    assert words in only(loaded.problems, code).message
    assert not loaded.ok


def test_fc020_the_same_id_twice_names_both_rows(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "csv_duplicate_ids.csv")
    fault = only(loaded.problems, "duplicate_id")
    assert "tests.csv:2" in fault.message
    assert "tests.csv:3" in fault.message
    assert not loaded.ok
    assert len({case.id for case in loaded.cases}) == len(loaded.cases)


@pytest.mark.parametrize(
    ("name", "references"),
    [
        ("yaml_norway.yaml", ["no", "NO", "on"]),
        ("yaml_dates.yaml", ["2026-02-28", "2026-02-28 09:15:00"]),
        ("yaml_numbers.yaml", ["1.10", "0123", "1_000"]),
        ("yaml_block_scalar.yaml", ["first line\nsecond line\n"]),
    ],
)
def test_fc023_to_fc034_text_is_as_it_is_written(name: str, references: list[str], tmp_path: Path) -> None:
    assert [case.reference for case in _load(tmp_path, name).cases] == references


def test_fc027_a_key_written_twice_names_both_lines(tmp_path: Path) -> None:
    fault = only(_as_config(tmp_path, "yaml_duplicate_keys.yaml").problems, "duplicate_key")
    assert "`models`" in fault.message
    assert "line 2" in fault.message
    assert "line 6" in fault.message


def test_fc028_overriding_a_merged_key_is_legal(tmp_path: Path) -> None:
    loaded = _as_config(
        tmp_path,
        "yaml_merge_override.yaml",
        lambda text: text.replace("max_output", "max_tokens").replace("name: ", "name: mock:"),
    )
    assert loaded.ok, [str(problem) for problem in loaded.problems]
    large = loaded.config.models[1]
    assert (large.model, large.temperature, large.max_tokens) == ("mock:alpha-large", 1, 200)


def test_fc029_tabs_are_explained(tmp_path: Path) -> None:
    fault = only(_as_config(tmp_path, "yaml_tabs.yaml").problems, "tab_indent")
    assert fault.line == 3
    assert "token" not in str(fault)


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("yaml_unquoted_placeholder.yaml", 'prompt: "{{ input }}"'),
        ("yaml_unquoted_placeholder2.yaml", 'prompt: "{{input}} please"'),
    ],
)
def test_fc030_a_placeholder_without_quotes_shows_the_right_line(
    name: str, line: str, tmp_path: Path
) -> None:
    fault = only(_as_config(tmp_path, name).problems, "unquoted_placeholder")
    assert fault.line == 2
    assert line in fault.fix


def test_fc031_an_alias_bomb_is_refused_at_once() -> None:
    text = (CASES / "yaml_alias_bomb.yaml").read_text(encoding="utf-8")
    started = time.process_time()
    document = compose(text, "config.yaml")
    assert time.process_time() - started < 1
    assert document.root is None
    assert [problem.code for problem in document.problems] == ["alias_bomb"]


def test_fc032_one_anchor_for_many_cases_is_harmless(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "yaml_many_cases_one_anchor.yaml")
    assert loaded.cases[599].metadata["settings"] == {"check": "exact", "weight": 1}


def test_fc033_text_beyond_ascii_is_unchanged(tmp_path: Path) -> None:
    loaded = _as_config(
        tmp_path,
        "yaml_utf8_nonascii.yaml",
        lambda text: text.replace("prompt: ", "defaults:\n  prompt: ") + MODELS,
    )
    assert loaded.config.project == "Vergleich – 比較 🚀"
    prompt = build_prompt(loaded.cases[0], loaded.config.models[0], loaded.config)
    assert prompt.messages[0].content == "Übersetze ins Japanische: Say ok → 日本語"
    assert json.loads(json.dumps(snapshot(loaded)))["project"] == "Vergleich – 比較 🚀"


def test_fc035_dashes_in_a_prompt_split_nothing(tmp_path: Path) -> None:
    def change(text: str) -> str:
        name, prompt = text.split("prompt: |\n")
        indented = "".join(f"  {line}" for line in prompt.splitlines(keepends=True))
        return f"{name}defaults:\n  prompt: |\n{indented}{MODELS}"

    loaded = _as_config(tmp_path, "yaml_dashes_in_prompt.yaml", change)
    prompt = build_prompt(loaded.cases[0], loaded.config.models[0], loaded.config)
    text = prompt.messages[0].content
    assert text.split("\n---\n") == ["Rewrite the part after the line.", "Say ok", "Keep the words.\n"]


def _with_template(root: Path, name: str, tests: str) -> Project:
    template = (CASES / name).read_text(encoding="utf-8")
    config = {"models": [{"model": "mock:oracle"}], "defaults": {"prompt": template}}
    return project(root, {"config.json": json.dumps(config), "tests.yaml": tests})


def test_fc037_json_in_a_template_stays_json(tmp_path: Path) -> None:
    loaded = _with_template(tmp_path, "template_with_json.txt", "tests: [{input: What is it?}]")
    prompt = build_prompt(loaded.cases[0], loaded.config.models[0], loaded.config)
    assert prompt.messages[0].content.strip() == (
        'Answer with JSON like {"title": "", "price": {"value": 0}}\nQuestion: What is it?'
    )


def test_fc038_a_mistyped_name_is_found_before_the_run(tmp_path: Path) -> None:
    tests = "tests: [{id: a, input: Hi, vars: {language: French}}, {id: b, input: Bye, vars: {language: no}}]"
    loaded = _with_template(tmp_path, "template_typo.txt", tests)
    fault = only(loaded.problems, "undefined_variable")
    assert "`{{langauge}}`" in fault.message
    assert "2 tests" in fault.message
    assert "a, b" in fault.message
    assert "`{{language}}`" in fault.fix
    assert not loaded.ok


def test_fc039_blanks_and_case_in_names_do_not_matter(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "template_spaced_header.csv")
    prompt = build_prompt(loaded.cases[0], loaded.config.models[0], loaded.config)
    assert prompt.messages[0].content == "Tell me about rivers in one word."
    assert loaded.cases[0].reference == "water"


def test_fc040_a_blank_question_is_left_out_and_said(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "template_blank_prompt.csv")
    assert only(loaded.problems, "blank_prompt").line == 2
    assert [case.id for case in loaded.cases] == ["2"]
    assert loaded.ok


def test_fc041_checks_of_another_tool_are_never_ignored(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "json_foreign_keys.json")
    fault = only(loaded.problems, "foreign_format")
    assert "`vars`" in fault.message
    assert "`assert`" in fault.message
    assert loaded.cases == ()
    assert not loaded.ok


def test_fc042_a_broken_line_is_named_by_its_number(tmp_path: Path) -> None:
    loaded = _load(tmp_path, "jsonl_broken_line.jsonl")
    assert [(problem.code, problem.line) for problem in loaded.problems] == [
        ("bad_json", 3),
        ("not_a_case", 4),
    ]
    assert [case.id for case in loaded.cases] == ["a"]


def test_fc043_the_mark_before_json_lines_is_dropped(tmp_path: Path) -> None:
    assert _load(tmp_path, "jsonl_bom.jsonl").cases[0].id == "a"


def test_fc045_a_whole_array_under_the_wrong_ending_is_read(tmp_path: Path) -> None:
    assert [case.id for case in _load(tmp_path, "json_array_named.jsonl").cases] == ["a", "b"]


def test_fc149_a_key_in_the_file_is_refused_and_never_repeated(tmp_path: Path) -> None:
    loaded = _as_config(
        tmp_path, "yaml_with_key.yaml", lambda text: text.replace("alpha-small", "mock:oracle")
    )
    fault = only(loaded.problems, "literal_key")
    assert (fault.line, fault.path) == (4, "providers.openai.api_key")
    assert "key store" in fault.fix
    assert "sk-test" not in json.dumps(snapshot(loaded)) + "".join(map(str, loaded.problems)) + repr(
        loaded.config
    )


def test_a_csv_without_an_input_column_names_the_columns(tmp_path: Path) -> None:
    loaded = project(tmp_path, {"tests.csv": "Frage,Antwort\nWas?,Das\n"})
    assert "`Frage`, `Antwort`" in only(loaded.problems, "no_input_column").message
    assert "no_cases" not in codes(loaded)


def test_the_config_may_be_named_directly(tmp_path: Path) -> None:
    project(
        tmp_path, {"arena.json": json.dumps({"models": ["mock:oracle"]}), "tests.json": '[{"input": "x"}]'}
    )
    assert load_project(tmp_path / "arena.json").ok
