"""CSV and TSV: what is found out about a table, and what is said about odd rows."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.cases.build import BuildSettings
from engine.cases.reading import CaseFile, read_case_file
from engine.cases.table import parse_table
from engine.domain import CheckSpec


def read(root: Path, text: str, name: str = "t.csv", *, needs_input: bool = True) -> CaseFile:
    (root / name).write_bytes(text.encode())
    return read_case_file(root / name, name, BuildSettings(root, "exact_match", needs_input))


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_out(delimiter: str) -> None:
    text = delimiter.join(["id", "input", "reference"]) + "\n" + delimiter.join(["1", "a, b; c", "d"]) + "\n"
    if delimiter in ",;":
        text = text.replace("a, b; c", '"a, b; c"')
    table = parse_table(text, "t.csv")
    assert (table.delimiter, table.rows[0].cells, table.problems) == (delimiter, ("1", "a, b; c", "d"), ())


def test_a_tsv_keeps_commas(tmp_path: Path) -> None:
    table = parse_table("a, b\tc, d\n1, 2\t3, 4\n", "t.tsv")
    assert (table.header, table.rows[0].cells) == (("a, b", "c, d"), ("1, 2", "3, 4"))


def test_prompts_in_a_single_column_may_hold_commas(tmp_path: Path) -> None:
    file = read(tmp_path, 'input\nSay hi, then bye\n"Two\nlines"\n')
    assert [case.input for case in file.cases] == ["Say hi, then bye", "Two\nlines"]
    assert file.delimiter is None


def test_single_quotes_around_everything() -> None:
    table = parse_table("'id','input'\n'1','a, ''b'''\n", "t.csv")
    assert (table.header, table.rows[0].cells, table.quote) == (("id", "input"), ("1", "a, 'b'"), "'")


def test_quotes_after_a_blank() -> None:
    table = parse_table('id, input\n1, "a, b"\n2, "c"\n', "t.csv")
    assert [row.cells for row in table.rows] == [("1", "a, b"), ("2", "c")]


def test_old_line_ends() -> None:
    assert [row.line for row in parse_table("input,reference\ra,b\rc,d\r", "t.csv").rows] == [2, 3]


def test_a_quote_that_is_never_closed_is_one_fault(tmp_path: Path) -> None:
    file = read(tmp_path, 'id,input,expected\n1,a,b\n2,"b,c\n3,c,d\n4,d,e\n')
    assert [(problem.code, problem.line) for problem in file.problems] == [("open_quote", 3)]
    assert [case.id for case in file.cases] == ["1"]


def test_text_in_a_column_without_a_name_is_a_fault(tmp_path: Path) -> None:
    file = read(tmp_path, "input,,reference\na,,b\nc,stray,d\n")
    assert [(problem.code, problem.line) for problem in file.problems] == [("unnamed_column", 3)]
    assert len(file.cases) == 1


def test_columns_become_fields_or_variables(tmp_path: Path) -> None:
    text = (
        "Question,Expected,ID,Tags,weight,eval_type,params,Customer Name,name,checks\n"
        'q,007,a,"x; y",2,contains,"{""mode"": ""any""}",Ann,Bob,\n'
        'r,,,,,,,,,"[{""type"": ""regex"", ""pattern"": ""a+""}]"\n'
    )
    first, second = read(tmp_path, text).cases
    assert (first.input, first.reference, first.id, first.tags, first.weight) == (
        "q",
        "007",
        "a",
        ("x", "y"),
        2,
    )
    assert first.checks == (CheckSpec("contains", {"mode": "any"}),)
    assert first.vars == {"Customer Name": "Ann", "name": "Bob"}
    assert (second.reference, second.id, second.vars) == (None, "", {"Customer Name": "", "name": ""})
    assert second.checks == (CheckSpec("regex", {"pattern": "a+"}),)


def test_of_two_names_for_one_field_the_first_in_rank_counts(tmp_path: Path) -> None:
    case = read(tmp_path, "text,answer,prompt,expected\nt,a,p,e\n").cases[0]
    assert (case.input, case.reference, case.vars) == ("p", "e", {"text": "t", "answer": "a"})


@pytest.mark.parametrize("cell", ["null", "~", "true", "2024-01-02", "1E5", "00", "=1+1", " padded "])
def test_every_cell_is_text(cell: str, tmp_path: Path) -> None:
    case = read(tmp_path, f"input,reference\nq,{cell}\n").cases[0]
    assert case.reference == cell


def test_rows_switched_off(tmp_path: Path) -> None:
    file = read(tmp_path, "input,enabled\na,TRUE\nb,FALSE\nc,\n")
    assert ([case.input for case in file.cases], file.off) == (["a", "c"], 1)


@pytest.mark.parametrize(
    ("text", "code", "column"),
    [("input,weight\na,heavy\n", "bad_value", 2), ('input,params\na,"{x"\n', "bad_json", 2)],
)
def test_a_fault_in_a_cell_names_row_and_column(text: str, code: str, column: int, tmp_path: Path) -> None:
    problems = [problem for problem in read(tmp_path, text).problems if problem.code == code]
    assert [(problem.line, problem.column) for problem in problems] == [(2, column)]


def test_columns_may_feed_a_prompt_instead_of_an_input(tmp_path: Path) -> None:
    file = read(tmp_path, "Topic,expected\nrivers,water\n", needs_input=False)
    assert (file.cases[0].vars, file.problems) == ({"Topic": "rivers"}, ())


_CELLS = st.text(
    st.characters(blacklist_categories=["Cs"], blacklist_characters="\r\x00\x1f\ufeff"), max_size=12
)


@given(st.lists(st.tuples(_CELLS, _CELLS), min_size=1, max_size=6), st.sampled_from([",", ";", "\t"]))
def test_what_a_spreadsheet_writes_is_read_back(rows: list[tuple[str, str]], delimiter: str) -> None:
    filled = [(first or "x", second) for first, second in rows]
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, quoting=csv.QUOTE_ALL)
    writer.writerow(["input", "reference"])
    writer.writerows(filled)
    table = parse_table(stream.getvalue(), "t.csv")
    kept = [row for row in filled if any(cell.strip() for cell in row)]
    assert [row.cells for row in table.rows] == kept


@given(st.text(max_size=80))
def test_no_text_makes_the_table_fail(text: str) -> None:
    table = parse_table(text, "t.csv")
    assert all(len(row.cells) == len(table.header) for row in table.rows)
