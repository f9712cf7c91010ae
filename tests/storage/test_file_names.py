"""Model names are not file names: the field's list, and any text at all."""

from __future__ import annotations

import json
from pathlib import Path, PureWindowsPath

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.storage.file_names import file_name

NAMES = json.loads(
    (Path(__file__).parents[1] / "data" / "cases" / "file_names.json").read_text(encoding="utf-8")
)


def fit(name: str) -> None:
    """Fails where a system could refuse or misread the name."""
    assert name
    assert name == name.strip(" .")
    assert len(name.encode()) <= 130
    assert not set(name) & set('<>:"/\\|?*')
    assert all(sign.isprintable() or sign == " " for sign in name if ord(sign) < 0xA0)
    assert PureWindowsPath(name).name == name
    assert name.partition(".")[0].rstrip().lower() not in ("con", "prn", "aux", "nul", "com1", "lpt9")


def test_the_names_of_the_field_get_files_of_their_own(tmp_path: Path) -> None:
    made: list[str] = []
    for name in NAMES:
        made.append(file_name(name, made))
        fit(made[-1])
        (tmp_path / made[-1]).write_text(name, encoding="utf-8")
    assert len({name.casefold() for name in made}) == len(NAMES)
    assert [path.parent for path in tmp_path.iterdir()] == [tmp_path] * len(NAMES)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("llama3:8b", "llama3-8b"),
        ("../../etc/passwd", "-..-etc-passwd"),
        ("CON", "_CON"),
        ("nul.txt", "_nul.txt"),
        ("console", "console"),
        ("x.", "x"),
        ("  ", "unnamed"),
        ("re\u0301sume\u0301–比較", "résumé–比較"),
        ("gpt\u202e4", "gpt-4"),
        ("a", "a"),
    ],
)
def test_names_stay_readable(text: str, name: str) -> None:
    assert file_name(text) == name


def test_names_that_differ_only_in_case_stay_apart() -> None:
    assert file_name("a", ["A"]) == "a-2"
    assert file_name("a", ["A", "a-2"]) == "a-3"


def test_long_names_that_begin_alike_stay_apart() -> None:
    assert file_name("m" * 300) != file_name("m" * 301)


@given(st.text(max_size=300), st.lists(st.text(max_size=8), max_size=4))
def test_any_text_has_a_name(text: str, taken: list[str]) -> None:
    name = file_name(text, taken)
    fit(name)
    assert name.casefold() not in {other.casefold() for other in taken}
