"""Scores from elsewhere."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from engine.errors import UserError
from engine.stats.score_rows import read_rows
from engine.stats.verdict_file import file_verdict_json, verdict_from_rows

EX1 = {
    "A": "010 110 111 111 111 111 100 111 111 111 011 111",
    "B": "000 111 101 111 111 000 000 011 111 111 000 001",
}
EX10 = {
    "A": " ".join("11111111111111111100"),
    "B": " ".join("11111111111111110011"),
    "C": " ".join("11111111110000000000"),
    "D": " ".join("11111000000000000011"),
}


def rows_of(patterns: dict[str, str]) -> list[dict]:
    return [
        {"model": model, "case": f"c{n}", "trial": trial, "score": int(digit)}
        for model, text in patterns.items()
        for n, word in enumerate(text.split())
        for trial, digit in enumerate(word, start=1)
    ]


def write_csv(path: Path, rows: list[dict], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize("kind", ["csv", "json", "jsonl", "tsv"])
def test_example_1_from_any_file(tmp_path: Path, kind: str) -> None:
    rows, path = rows_of(EX1), tmp_path / f"scores.{kind}"
    if kind in ("csv", "tsv"):
        write_csv(path, rows, "," if kind == "csv" else "\t")
    elif kind == "json":
        path.write_text(json.dumps(rows), encoding="utf-8")
    else:
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    result = verdict_from_rows(path, 0.05)
    document = file_verdict_json(result, "A is better.", lambda pair: f"{pair.a} and {pair.b}")
    json.dumps(document, allow_nan=False)
    assert list(document) == ["models", "pairs", "tied", "row", "sentence", "planner"]
    assert (document["row"], document["tied"], document["sentence"]) == (4, ["A"], "A is better.")
    (pair,) = document["pairs"]
    expected = {"delta": 0.277778, "se": 0.107256, "t": 2.589849, "df": 11, "p": 0.025145, "p_holm": 0.025145,
                "flip": 12 / 256, "units": 12, "differing": 8, "row": 4}  # fmt: skip
    assert {name: pair[name] for name in expected} == pytest.approx(expected, abs=5e-7)
    assert pair["ci95"] == pytest.approx({"low": 0.041708, "high": 0.513847}, abs=6e-7)
    assert pair["sentence"] == "A and B"
    a, b = document["models"]
    assert (a["key"], a["mean"]) == ("A", pytest.approx(30 / 36))
    assert a["interval"] == pytest.approx({"low": 0.639500, "high": 0.933744}, abs=5e-7)
    assert b["interval"] == pytest.approx({"low": 0.314086, "high": 0.773358}, abs=5e-7)
    assert {int(t): n for t, n in document["planner"]["by_trials"].items()}[1] == 28
    assert document["planner"]["total_cases"] == 15


def test_example_10(tmp_path: Path) -> None:
    result = verdict_from_rows(write_csv(tmp_path / "s.csv", rows_of(EX10)), 0.05)
    assert result.verdict.tied == ("A", "B")
    assert result.verdict.row == 3
    assert len(result.board.pairs) == 6


def test_margin_counts(tmp_path: Path) -> None:
    path = write_csv(tmp_path / "s.csv", rows_of(EX1))
    assert verdict_from_rows(path, 0.5).verdict.row == 5
    with pytest.raises(UserError, match="margin"):
        verdict_from_rows(path, 1.5)


def test_groups_and_weights_are_read(tmp_path: Path) -> None:
    rows = [{**row, "group": f"g{int(row['case'][1:]) // 2}", "weight": 2} for row in rows_of(EX1)]
    result = verdict_from_rows(write_csv(tmp_path / "s.csv", rows))
    assert result.board.pairs[0].unit_count == 6


def test_errors_and_blanks_are_no_wrong_answers(tmp_path: Path) -> None:
    rows = [{"model": m, "case": n, "score": 1, "status": "ok"} for m in "AB" for n in range(20)]
    rows[0] = {"model": "A", "case": 0, "score": 0, "status": "error"}
    rows[1] = {"model": "A", "case": 1, "score": "", "status": ""}
    result = verdict_from_rows(write_csv(tmp_path / "s.csv", rows))
    a = next(entry for entry in result.board.entries if entry.model_key == "A")
    assert (a.deciding_mean, a.errors, a.scored_cases, result.unscored) == (1.0, 1, 18, 1)


def test_few_answers_lead_nothing(tmp_path: Path) -> None:
    rows = [{"model": "few", "case": n, "score": 1} for n in range(2)]
    rows += [{"model": "many", "case": n, "score": int(n > 0)} for n in range(10)]
    result = verdict_from_rows(write_csv(tmp_path / "s.csv", rows))
    assert (result.verdict.row, result.verdict.code, result.verdict.leader) == (None, "only_one", "many")
    assert len(result.board.pairs) == 1


def test_all_errors(tmp_path: Path) -> None:
    rows = [{"model": m, "case": 1, "score": "", "status": "error"} for m in "AB"]
    result = verdict_from_rows(write_csv(tmp_path / "s.csv", rows))
    assert (result.verdict.row, result.verdict.code) == (None, "none_ranked")
    assert file_verdict_json(result, "", lambda pair: "")["models"][0]["mean"] is None


def test_not_a_number_is_unscored(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('[{"model": "a", "case": 1, "score": NaN}, {"model": "b", "case": 1, "score": 1}]')
    result = verdict_from_rows(path)
    assert [entry.model_key for entry in result.board.entries] == ["b", "a"]
    assert result.unscored == 1


def test_decimal_commas_in_semicolon_files(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    path.write_text("model;case;score\na;1;0,5\n", encoding="utf-8")
    assert [row.score for row in read_rows(path)] == [0.5]


def test_booleans_and_words(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    path.write_text('[{"model": "a", "case": 1, "score": true}, {"model": "a", "case": 2, "score": "false"}]')
    assert [row.score for row in read_rows(path)] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "row", "column", "words"),
    [
        ("model,case,score\na,1,good\n", 2, "score", "not a number"),
        ("model,case,score\na,1,1\na,2,80\n", 3, "score", "outside 0 to 1"),
        ("model,case,score\n,1,1\n", 2, "model", "empty"),
        ("model,case,trial,score\na,1,0,1\n", 2, "trial", "whole number"),
        ("model,case,trial,score\na,1,1.5,1\n", 2, "trial", "whole number"),
        ("model,case,score,weight\na,1,1,-2\n", 2, "weight", "not a weight"),
        ("model,case,score,status\na,1,1,done\n", 2, "status", "not a status"),
        ("model,case,score\na,1,1\na,1,0\n", 3, "trial", "already in row 2"),
        ("model,case,score,group\na,1,1,x\nb,1,0,y\n", 3, "group", "has x in row 2"),
        ("model,case,score\na,1\n", 2, None, "2 cells"),
        ("model,score\na,1\n", 1, "case", "no column case"),
        ("model,case,score,score\na,1,1,1\n", 1, "score", "twice"),
        ("model,case,score\n", None, None, "no rows"),
        ("", None, None, "empty"),
        ('[{"model": "a", "case": 1}]', 1, "score", "no score"),
        ("[1]", 1, None, "not a map"),
        ('{"a": 1}', None, None, "no list"),
        ('[{"model": ]', None, None, "not JSON"),
    ],
)
def test_faults_name_row_and_column(
    tmp_path: Path, text: str, row: int | None, column: str | None, words: str
) -> None:
    path = tmp_path / "scores.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        read_rows(path)
    assert (caught.value.details["row"], caught.value.details["column"]) == (row, column)
    assert words in caught.value.message
    assert caught.value.message.startswith("scores.csv")
    for name, value in (("row", row), ("column", column)):
        assert value is None or f"{name} {value}" in caught.value.message


def test_json_lines_name_the_line(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text('{"model": "a", "case": 1, "score": 1}\n\n{"model": \n', encoding="utf-8")
    with pytest.raises(UserError, match="row 3"):
        read_rows(path)


def test_a_missing_or_binary_file_is_told(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="cannot be read"):
        read_rows(tmp_path / "none.csv")
    path = tmp_path / "s.csv"
    path.write_bytes(b"model,case,score\n\xff\xfe\xfa,1,1\n")
    with pytest.raises(UserError, match="UTF-8"):
        read_rows(path)
